//! `headroom export`: a plan as files that the real tools run.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use headroom_core::plan;
use headroom_files::export::{self, Format, Refused};
use headroom_text::Language;

use crate::estimate;
use crate::outcome::{Failure, Outcome};

fn format() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.iter().map(|format| format.name());
    // The parser lets no other name through.
    PossibleValuesParser::new(names).map(|name: String| Format::from_name(&name).unwrap_or(Format::All))
}

/// What `export` takes.
#[derive(clap::Args)]
pub(crate) struct ExportOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    plan: Option<String>,
    /// What to write: the files of a trainer, one kind of file, or everything of the plan's own trainer.
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = "all")]
    to: Format,
    /// Folder for the files; without it they are printed, several with their names between.
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
    /// Writes one archive, files.zip, into the folder.
    #[arg(long, requires = "out")]
    zip: bool,
}

/// Writes the files.
pub(crate) fn run(options: &ExportOptions, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let plan = estimate::plan_from(options.plan.as_deref())?;
    let exported = export::export(&plan, options.to, Language::English).map_err(|refused| refusal(&refused))?;
    match &options.out {
        Some(folder) if options.zip => {
            let path = Path::new(folder).join("files.zip");
            write_file(&path, &export::zip(&exported.files))?;
            writeln!(out, "{}", path.display())?;
        }
        Some(folder) => {
            for file in &exported.files {
                let path = Path::new(folder).join(&file.name);
                write_file(&path, file.text.as_bytes())?;
                writeln!(out, "{}", path.display())?;
            }
        }
        None => {
            for file in &exported.files {
                if exported.files.len() > 1 {
                    writeln!(out, "==> {} <==", file.name)?;
                }
                write!(out, "{}", file.text)?;
            }
        }
    }
    for name in &exported.unsaid {
        let value = plan::field(name).map_or_else(String::new, |field| field.text(&plan));
        eprintln!("headroom: {name}={value} is not in these files");
    }
    Ok(Outcome::Fine)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    written.map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", path.display())))
}

fn refusal(refused: &Refused) -> Failure {
    Failure::BadInput(match refused {
        Refused::NoSuchTask(trainer) => {
            format!("{} has no trainer for the plan's task; choose another --to", trainer.name())
        }
        Refused::QuantisedFsdp2(trainer) => format!(
            "distributed.framework: {} refuses a quantised base under fsdp2 for this task; take fsdp1, deepspeed or ddp",
            trainer.name()
        ),
        Refused::Nothing(format) => format!("the plan has nothing to write as {}; choose another --to", format.name()),
    })
}
