//! `headroom import`: files of trainers and launch commands as a plan.

use std::io::Write;

use headroom_core::plan::{GpuChoice, Plan};
use headroom_core::units::bytes_text;
use headroom_files::diagnose::{Diagnosis, diagnose};
use headroom_files::finding::{Finding, Language};
use headroom_files::import::{File, Import, Kind, import};

use crate::input::{one_line, read_text};
use crate::json;
use crate::outcome::{Failure, Outcome};

/// What `import` takes.
#[derive(clap::Args)]
pub(crate) struct ImportOptions {
    /// Files of trainers, launch scripts, DeepSpeed or accelerate files, config.json; - for standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Prints everything as JSON.
    #[arg(long)]
    json: bool,
}

/// Reads the files that the caller names.
pub(crate) fn read_files(names: &[String]) -> Result<Vec<File>, Failure> {
    names.iter().map(|name| Ok(File { name: name.clone(), text: read_text(name)? })).collect()
}

/// Prints the plan that the files make.
pub(crate) fn run(options: &ImportOptions, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let files = read_files(&options.files)?;
    let imported = import(&files);
    if let Some(found) = failure_alone(&imported, &files) {
        return crate::diagnose::answer(&found, options.json, Language::English, out);
    }
    // A model's config.json is a model, though none of its keys is a field.
    if imported.understood.is_empty() && imported.plan.model == Plan::default().model {
        return Err(no_plan(&imported, &files));
    }
    if options.json {
        json::write(&imported.to_value(&files, Language::English), out)?;
    } else {
        print(&imported, &files, out)?;
    }
    Ok(if imported.has_plan() && imported.missing.is_empty() { Outcome::Fine } else { Outcome::Incomplete })
}

/// What failed, where the files state a failure or figures of memory and no setting: no plan can be made of them.
fn failure_alone(imported: &Import, files: &[File]) -> Option<Diagnosis> {
    if !imported.understood.is_empty() {
        return None;
    }
    let found = files.iter().filter_map(|file| diagnose(file.text.as_bytes(), None).ok());
    found.into_iter().find(|found| !found.readings.is_empty())
}

/// Why files of which no key sets a field make no plan: what each was taken for, and what a plan would have to be told.
fn no_plan(imported: &Import, files: &[File]) -> Failure {
    let taken_for = |(file, kind): (&File, &Kind)| match diagnose(file.text.as_bytes(), None) {
        Ok(Diagnosis { readings, .. }) if !readings.is_empty() => {
            let what = readings.first().map_or("", |reading| reading.format.name());
            let name = &file.name;
            format!("{name} is {what} and no setting; `headroom diagnose {name}` explains it")
        }
        _ if *kind == Kind::Unknown => format!("{} is nothing that is known here", file.name),
        _ => format!("{} was read as {} and sets no field", file.name, kind.name()),
    };
    let files: Vec<String> = files.iter().zip(&imported.kinds).map(taken_for).collect();
    Failure::BadInput(format!(
        "no plan: {}; missing: model, gpu, method, per_device_train_batch_size, max_length; \
         give a trainer's file, a script or the launch command",
        files.join("; ")
    ))
}

fn print(imported: &Import, files: &[File], out: &mut dyn Write) -> Result<(), Failure> {
    let name = |file: usize| files.get(file).map_or("", |file| file.name.as_str());
    let (trainer, version) = &imported.trainer;
    writeln!(out, "{trainer} {}", version.as_deref().unwrap_or(""))?;
    for told in &imported.understood {
        let line = format!("{}:{}: {} -> {} = {}", name(told.file), told.span.line, told.key, told.field, told.value);
        writeln!(out, "  {}", one_line(&line))?;
    }
    if !imported.not_expressible.is_empty() {
        writeln!(out, "Affects memory, not modelled:")?;
    }
    for listed in &imported.not_expressible {
        let why = listed.topic.said(Language::English);
        let size = listed.bytes.map_or_else(String::new, |bytes| format!(", {}", bytes_text(bytes)));
        let line =
            format!("{}:{}: {}: {} ({why}{size})", name(listed.file), listed.span.line, listed.key, listed.value);
        writeln!(out, "  {}", one_line(&line))?;
    }
    if !imported.unknown.is_empty() {
        writeln!(out, "Unknown to Headroom, may affect memory:")?;
    }
    for unknown in &imported.unknown {
        let line = format!("{}:{}: {}: {}", name(unknown.file), unknown.span.line, unknown.key, unknown.value);
        writeln!(out, "  {}", one_line(&line))?;
    }
    writeln!(out, "Keys that need no memory: {}", imported.ignored)?;
    for finding in &imported.findings {
        print_finding(finding, files, out)?;
    }
    if !imported.has_plan() {
        writeln!(out, "No plan: nothing in these files says what trains or how.")?;
        return Ok(());
    }
    let is_told = imported.understood.iter().any(|told| told.field == "gpu" || told.field.starts_with("gpu."));
    if let (false, GpuChoice::Catalogue(id)) = (is_told || imported.missing.contains(&"gpu"), &imported.plan.gpu) {
        writeln!(out, "No file says which GPU it is: the plan has the default, gpu = \"{id}\".")?;
    }
    if !imported.missing.is_empty() {
        writeln!(out, "Missing, and to be given: {}", imported.missing.join(", "))?;
    }
    write!(out, "{}", imported.plan_json())?;
    Ok(())
}

/// Prints a finding with its line.
pub(crate) fn print_finding(finding: &Finding, files: &[File], out: &mut dyn Write) -> Result<(), Failure> {
    let said = finding.said(Language::English);
    let place =
        finding.file.and_then(|file| files.get(file)).map(|file| format!("{}:{}: ", file.name, finding.span.line));
    let severity = finding.kind.severity().name();
    let line = format!("{}{severity}: {} {}", place.unwrap_or_default(), said.what, said.fix);
    writeln!(out, "{}", one_line(&line))?;
    Ok(())
}
