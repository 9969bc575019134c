//! `headroom diagnose`: what the text of a failure or of a monitor, or a memory snapshot, states and what is behind it.

use std::io::Write;
use std::path::Path;

use headroom_core::job::Job;
use headroom_core::units::bytes_text;
use headroom_files::diagnose::{Asked, Diagnosis, diagnose, readings};
use headroom_files::finding::Language;

use crate::input::{bad_plan, one_line, read_bytes, read_plan, read_text};
use crate::json;
use crate::layout::{Align, Table};
use crate::outcome::{Failure, Outcome};

/// What `diagnose` takes.
#[derive(clap::Args)]
pub(crate) struct DiagnoseOptions {
    /// Log, traceback, nvidia-smi, memory_summary() or pickled memory snapshot, - for standard input; texts of one failure together.
    /// Last, the plan of the run may stand: JSON file, JSON text, link or its fragment.
    #[arg(value_name = "FILE... [PLAN]", required = true)]
    given: Vec<String>,
    /// Prints everything as JSON.
    #[arg(long)]
    json: bool,
    /// Speaks Chinese.
    #[arg(long)]
    chinese: bool,
}

/// Prints the figures and the findings.
pub(crate) fn run(options: &DiagnoseOptions, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let (files, plan) = parted(&options.given);
    let bytes = match files {
        [only] => read_bytes(only)?,
        several => several.iter().map(|file| read_text(file)).collect::<Result<Vec<_>, _>>()?.join("\n").into_bytes(),
    };
    let job = match plan {
        Some(plan) => Some(Job::resolve(&read_plan(plan)?).map_err(|problems| bad_plan(&problems))?),
        None => None,
    };
    let name = files.join(", ");
    let found = diagnose(&bytes, job.as_ref()).map_err(|error| Failure::BadInput(format!("{name}: {error}")))?;
    if found.readings.is_empty() {
        let fix = "give the whole message with the lines around it";
        return Err(Failure::BadInput(format!("{name}: no failure and no figure of memory in it; {fix}")));
    }
    let language = if options.chinese { Language::Chinese } else { Language::English };
    answer(&found, options.json, language, out)
}

/// The texts of a failure, and the plan where the last of what is given is none of them: no file, or one that states nothing.
fn parted(given: &[String]) -> (&[String], Option<&String>) {
    match given {
        [files @ .., last] if !files.is_empty() => {
            let is_text = Path::new(last).is_file() && read_bytes(last).is_ok_and(|bytes| !readings(&bytes).is_empty());
            if is_text { (given, None) } else { (files, Some(last)) }
        }
        _ => (given, None),
    }
}

/// Writes a diagnosis. Without a plan the text is explained by itself, and what is missing is named.
pub(crate) fn answer(
    found: &Diagnosis,
    as_json: bool,
    language: Language,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    if as_json {
        json::write(&found.to_json(language), out)?;
    } else {
        print(found, language, out)?;
        if let Some(asked) = &found.asked {
            print_asked(asked, language, out)?;
        }
    }
    Ok(if found.asked.is_some() { Outcome::Incomplete } else { Outcome::Fine })
}

/// What the text says of the run, and what has to be given with it.
fn print_asked(asked: &Asked, language: Language, out: &mut dyn Write) -> Result<(), Failure> {
    let said = asked.said(language);
    writeln!(out, "\nmissing: {}\n  {}", one_line(&said.what), one_line(&said.fix))?;
    for text in asked.gpu_said(language).into_iter().chain(asked.trainer_said(language)) {
        writeln!(out, "  {}", one_line(&text))?;
    }
    if asked.gpus.len() > 1 {
        let ids: Vec<&str> = asked.gpus.iter().map(|gpu| gpu.id.as_ref()).collect();
        writeln!(out, "  gpu: {}", ids.join(", "))?;
    }
    Ok(())
}

fn print(found: &Diagnosis, language: Language, out: &mut dyn Write) -> Result<(), Failure> {
    for reading in &found.readings {
        writeln!(out, "{}, line {}", reading.format.name(), reading.line)?;
        let mut table = Table::new(&[Align::Left, Align::Right]);
        for (name, figure) in reading.figures() {
            // Figures of memory are named after their unit in JSON.
            let (name, said) = match name.strip_suffix("_bytes") {
                Some(name) => (name, bytes_text(figure)),
                None => (name, figure.to_string()),
            };
            table.row([format!("  {}", name.replace('_', " ")), said]);
        }
        table.write(out)?;
    }
    for finding in &found.findings {
        let said = finding.said(language);
        writeln!(out, "\n{}: {}", finding.severity.name(), one_line(&said.what))?;
        if !said.fix.is_empty() {
            writeln!(out, "  {}", one_line(&said.fix))?;
        }
    }
    Ok(())
}
