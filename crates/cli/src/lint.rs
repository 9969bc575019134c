//! `headroom lint`: contradictions in files of trainers and launch commands.

use std::fs;
use std::io::Write;

use headroom_core::gpu;
use headroom_files::finding::{Finding, Fix, Language, Severity};
use headroom_files::import::{File, finding_value, import};
use headroom_files::lint::{fixed, lint};
use serde_json::{Value, json};

use crate::import::{print_finding, read_files};
use crate::json as output;
use crate::outcome::{Failure, Outcome};

/// What `lint` takes.
#[derive(clap::Args)]
pub(crate) struct LintOptions {
    /// Files of trainers, launch scripts, DeepSpeed or accelerate files, config.json; - for standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The GPU that the run is meant for: also finds what it lacks.
    #[arg(long, value_name = "GPU")]
    gpu: Option<String>,
    /// Writes the corrected files.
    #[arg(long)]
    fix: bool,
    /// Prints everything as JSON.
    #[arg(long)]
    json: bool,
}

/// Prints what is wrong; an error-level finding makes the exit code 1.
pub(crate) fn run(options: &LintOptions, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if let Some(name) = &options.gpu
        && gpu::resolve(name).is_err()
    {
        return Err(Failure::BadInput(format!("--gpu {name}: no GPU of the catalogue; `headroom gpus` lists them")));
    }
    let files = read_files(&options.files)?;
    let findings = lint(&import(&files), options.gpu.as_deref());
    if options.json {
        let values: Vec<Value> = findings.iter().map(|finding| value(finding, &files)).collect();
        output::write(&json!({ "findings": values }), out)?;
    } else {
        for finding in &findings {
            print_finding(finding, &files, out)?;
        }
    }
    if options.fix {
        correct(&files, &findings)?;
    }
    let wrong = findings.iter().any(|finding| finding.kind.severity() == Severity::Error);
    Ok(if wrong { Outcome::Faulty } else { Outcome::Fine })
}

/// A finding with the edits that correct it.
fn value(finding: &Finding, files: &[File]) -> Value {
    let mut value = finding_value(finding, files, Language::English);
    if let (Value::Object(object), Some(fix)) = (&mut value, &finding.fix) {
        let edits = fix.edits.iter().filter_map(|edit| {
            let file = files.get(edit.file)?;
            Some(json!({ "file": file.name, "from": edit.span.start, "to": edit.span.end, "text": edit.text }))
        });
        object.insert("edits".to_owned(), edits.collect());
        let fields = fix.fields.iter().map(|(field, value)| json!({ "field": field, "value": value }));
        object.insert("plan_changes".to_owned(), fields.collect());
    }
    value
}

fn correct(files: &[File], findings: &[Finding]) -> Result<(), Failure> {
    let fixes: Vec<&Fix> = findings.iter().filter_map(|finding| finding.fix.as_ref()).collect();
    for (place, file) in files.iter().enumerate().filter(|(_, file)| file.name != "-") {
        let text = fixed(&file.text, place, &fixes);
        if text != file.text {
            fs::write(&file.name, text)
                .map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", file.name)))?;
        }
    }
    Ok(())
}
