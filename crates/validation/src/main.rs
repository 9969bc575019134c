//! Writes the report on the kept cases and the table of measured steps; with `--check`, says whether they are up to date.
//! With `golden`, does so for the answers to thousands of plans, or with `--only` to those of one origin, and prints what moved and by how much; with `plans`, prints links to
//! plans drawn at random; with `programs`, the bytes that files of recorded programs change.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use headroom_validation::golden::{self, Moved};
use headroom_validation::{Kept, Reasons, folder, programs, report, speed, table};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => run(false),
        ["--check"] => run(true),
        ["golden"] => record(None),
        ["golden", "--only", origin] => record(Some(origin)),
        ["plans", count] => match count.parse() {
            Ok(count) => {
                print(&(golden::drawn(count).join("\n") + "\n"));
                Ok(())
            }
            Err(_) => Err(format!("plans takes a whole number, and `{count}` is none.")),
        },
        ["programs", before, now, names @ ..] => compare(Path::new(before), Path::new(now), names),
        ["golden", "--check"] => check(1),
        ["golden", "--check", "--every", count] => match count.parse() {
            Ok(count) => check(count),
            Err(_) => Err(format!("--every takes a whole number, and `{count}` is none.")),
        },
        other => Err(format!(
            "`{}` is not known here: give nothing, --check, golden [--only ORIGIN], golden --check [--every N], plans N, or programs BEFORE NOW FILE...",
            other.join(" ")
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "validation: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Most lines that are printed: the rest is counted.
const SHOWN: usize = 60;

/// Writes the golden files anew, or that of one kind of origin alone, and says what moved in them.
fn record(only: Option<&str>) -> Result<(), String> {
    let is_of = |origin: &str| only.is_none_or(|only| origin.split(' ').next() == Some(only));
    let asked: Vec<_> = golden::asked(1)?.into_iter().filter(|asked| is_of(&asked.origin)).collect();
    let mut answers = golden::answer_all(&asked);
    let recorded = golden::read().unwrap_or_default();
    let (before, others): (Vec<_>, Vec<_>) = recorded.into_iter().partition(|answered| is_of(&answered.origin));
    print(&told(&golden::moved(&before, &answers)));
    answers.extend(others);
    let bytes = golden::write(&answers)?;
    print(&format!("{} plans written, {bytes} bytes.\n", answers.len()));
    Ok(())
}

/// Fails when an answer to each `every`th plan is not what the golden files have.
fn check(every: usize) -> Result<(), String> {
    let recorded = golden::read()?;
    let answers = golden::answer_all(&golden::asked(every)?);
    let moved = golden::moved(&recorded, &answers);
    if moved.is_empty() {
        print(&format!("{} of {} plans are answered as recorded.\n", answers.len(), recorded.len()));
        return Ok(());
    }
    print(&told(&moved));
    Err("answers moved: where that is meant, run `cargo xtask golden` and give the reason in the commit.".to_owned())
}

/// Prints what the files `names` of two folders of programs differ in.
fn compare(before: &Path, now: &Path, names: &[&str]) -> Result<(), String> {
    for name in names {
        let read = |folder: &Path| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
        };
        let said = programs::differences(&read(before)?, &read(now)?).map_err(|why| format!("{name}: {why}"))?;
        print(&said);
    }
    Ok(())
}

/// What moved, the largest changes first, and a count by kind of line.
fn told(moved: &[Moved]) -> String {
    let mut largest: Vec<&Moved> = moved.iter().collect();
    largest.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut said = String::new();
    for one in largest.iter().take(SHOWN) {
        let by = if one.share.is_finite() { format!("{:.3} %", one.share * 100.0) } else { "new or gone".to_owned() };
        said.push_str(&format!("{} ({by}): {}\n", one.about, one.origin));
        said.push_str(&format!("  before {}\n  now    {}\n  #{}\n", one.before, one.after, one.key));
    }
    let mut kinds: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for one in moved {
        let kind = kinds.entry(&one.about).or_default();
        *kind = (kind.0 + 1, kind.1.max(one.share));
    }
    for (about, (count, share)) in kinds {
        said.push_str(&format!("{count} moved: {about}, at most {:.3} %\n", share * 100.0));
    }
    said
}

/// A terminal that went away does not change what was found.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn run(check: bool) -> Result<(), String> {
    let folder = folder();
    let kept = Kept::read()?;
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
    print(&said);
    Ok(())
}
