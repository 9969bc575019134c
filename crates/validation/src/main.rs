//! Writes the report on the kept cases and the table of measured steps; with `--check`, says whether they are up to date.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use headroom_validation::{Kept, Reasons, folder, report, speed, table};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => run(false),
        ["--check"] => run(true),
        other => Err(format!("`{}` is not known here: give nothing, or --check.", other.join(" "))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "validation: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(check: bool) -> Result<(), String> {
    let folder = folder();
    let kept = Kept::read(&folder)?;
    let path = folder.join("reasons.json");
    let text = fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let reasons = Reasons::read(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    let times = speed::kept(&folder)?;
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/accuracy/cases.txt");
    let files: [(PathBuf, String); 3] = [
        (folder.join("REPORT.md"), report::markdown(&kept, &reasons, times.as_ref())),
        (folder.join("report.svg"), report::picture(&kept)),
        (cases, headroom_core::accuracy::write(&table::table(&kept))),
    ];
    for (path, text) in files {
        if check {
            let found = fs::read_to_string(&path).unwrap_or_default();
            if found != text {
                return Err(format!("{} is out of date: run `cargo xtask validate`.", path.display()));
            }
        } else {
            fs::write(&path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        }
    }
    let verb = if check { "are up to date" } else { "written" };
    let mut said =
        format!("{} cases in {} files; report, picture and table {verb}.\n", kept.compared.len(), kept.files.len());
    report::open_bars(&kept).iter().for_each(|line| said.push_str(&format!("not met: {line}\n")));
    if times.is_some_and(|times| !times.overall.is_met()) {
        said.push_str("not met: step times beside published ones\n");
    }
    // A terminal that went away does not change what was written.
    let _ = std::io::stdout().write_all(said.as_bytes());
    Ok(())
}
