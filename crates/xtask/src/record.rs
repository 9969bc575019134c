//! `cargo xtask record`: models recorded as programs, by their own code in transformers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checkout;
use crate::exports::of_python;
use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::python::{self, Environment, Holds};
use crate::setup::{self, Toolbox};
use crate::size;
use crate::validate;

/// The releases that programs are recorded with.
const RECORDER: Environment = Environment {
    name: "record",
    packages: &["transformers==5.23.0", "flash-linear-attention==0.6.0"],
    holds: Holds::Torch,
};

/// Packages with kernels that are recorded from their Python.
const UNCOMPILED: [&str; 2] = ["causal-conv1d==1.7.0", "mamba-ssm==2.3.2.post1"];

/// Classes that `--check` records where none is named: a minute at most each.
const CHECKED: [&str; 4] = ["bert", "distilbert", "falcon_h1", "qwen3_vl_moe"];

/// Records `model_types`, or every class with a causal language model, into `static/programs`, and prints what changed, in bytes too.
pub(crate) fn record(model_types: &[&str], newest: bool) -> Result<()> {
    let (root, python) = (checkout::root(), python(newest)?);
    let (programs, before) = (root.join("static/programs"), root.join("target/record/before"));
    copy(&programs, &before)?;
    let recorded = families(&python, &root, &programs, model_types);
    // Of several classes some may have been recorded before one could not be.
    let found = changed(&before, &programs)?;
    if newest && !found.is_empty() {
        of_release_alone(&root, (&before, &programs), &found)?;
    }
    tell(&before, &programs, &changed(&before, &programs)?)?;
    recorded?;
    if model_types.is_empty() {
        record_examples(&python, &root)?;
    }
    Ok(())
}

/// Leaves as they were those of the files `changed` that a newer release of transformers does not change, and the recorder alone does,
/// which has learned more since they were recorded: found by recording them with the release that programs are of, too.
fn of_release_alone(root: &Path, (before, now): (&Path, &Path), changed: &[String]) -> Result<()> {
    // A class that is new in the newer release the other does not have.
    let changed: Vec<&String> = changed.iter().filter(|name| before.join(name).exists()).collect();
    let model_types: Vec<&str> = changed.iter().filter_map(|name| name.strip_suffix(".json")).collect();
    if model_types.is_empty() {
        return Ok(());
    }
    println!("with the release that programs are recorded with:");
    families(&python(false)?, root, now, &model_types)?;
    for (name, model_type) in changed.into_iter().zip(model_types) {
        let text = |folder: &Path| fs::read_to_string(folder.join(name)).map_err(failed("read", &folder.join(name)));
        if releases(&text(now)?).is_subset(&releases(&text(before)?)) {
            fs::copy(before.join(name), now.join(name)).map_err(failed("copied", &before.join(name)))?;
            println!(
                "{model_type}: the newer release changes nothing, and the file stays; recorded today it is another program \
                 under either: `cargo xtask record {model_type}`"
            );
        }
    }
    Ok(())
}

/// The releases of transformers that the programs of a file are of, as they stand there.
fn releases(text: &str) -> BTreeSet<&str> {
    let after = text.split("\"versions\":{\"transformers\":\"").skip(1);
    after.filter_map(|rest| rest.split('"').next()).collect()
}

/// Fails where `model_types` recorded anew, a few small classes where none is named, are other programs than those in the repository.
pub(crate) fn check(model_types: &[&str]) -> Result<()> {
    let (root, python) = (checkout::root(), python(false)?);
    let mut tests = of_python(&python, &root);
    tests.args([
        "-m",
        "unittest",
        "headroom.record.test_aligned",
        "headroom.record.test_classes",
        "headroom.record.test_folders",
        "headroom.record.test_loops",
        "headroom.record.test_versions",
    ]);
    process::run(&mut tests, "the lines above say which test fails.")?;
    let (programs, now) = (root.join("static/programs"), root.join("target/record/now"));
    copy(&programs, &now)?;
    families(&python, &root, &now, if model_types.is_empty() { &CHECKED } else { model_types })?;
    let changed = changed(&programs, &now)?;
    if changed.is_empty() {
        return Ok(());
    }
    tell(&programs, &now, &changed)?;
    Err(Failure::new(format!(
        "{} would be recorded otherwise: where that is meant, run `cargo xtask record` and give the reason in the commit.",
        changed.join(", ")
    )))
}

/// Python with everything that recording needs.
fn python(newest: bool) -> Result<PathBuf> {
    let uv = python::uv()?;
    let python = RECORDER.python(&uv, newest)?;
    RECORDER.add_uncompiled(&uv, &python, &UNCOMPILED)?;
    Ok(python)
}

/// Records classes into the files of a folder.
fn families(python: &Path, root: &Path, folder: &Path, model_types: &[&str]) -> Result<()> {
    let mut recorder: Command = of_python(python, root);
    // Classes go through sets of names in the order of their hashes (Gemma's, `for layer_type in set(...)`), and what they make so has numbers.
    recorder.env("PYTHONHASHSEED", "0");
    recorder.args(["-m", "headroom.record.families", "--out"]).arg(folder).args(model_types);
    process::run(&mut recorder, "the lines above say which class could not be recorded, and why.")
}

/// The model of one's own of `docs/own-models.md`, one whose layers run again, and a folder with code of its own, whose programs the
/// tests estimate.
fn record_examples(python: &Path, root: &Path) -> Result<()> {
    let mut recorder = of_python(python, root);
    recorder.args(["-m", "headroom.record"]).arg(root.join("tests/programs/folders/loop_moe"));
    recorder.arg("--out").arg(root.join("tests/programs/own/loop_moe.json"));
    process::run(&mut recorder, "the line above says why the folder cannot be recorded.")?;
    for (module, name) in [("docs/own-model/tiny_gpt.py", "tiny_gpt"), ("tests/programs/modules/looped.py", "looped")] {
        let mut recorder = of_python(python, root);
        recorder.args(["-m", "headroom.record"]).arg(root.join(module));
        recorder.arg("--out").arg(root.join(format!("tests/programs/own/{name}.json")));
        process::run(&mut recorder, "the line above says what that module lacks.")?;
        let beside = root.join(format!("tests/programs/own/{name}.config.json"));
        fs::remove_file(&beside).map_err(failed("removed", &beside))?;
    }
    Ok(())
}

fn failed(done: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let path = path.display().to_string();
    move |error| Failure::new(format!("{path} cannot be {done}: {error}."))
}

/// Names of the files of a folder, in order; none where there is no such folder.
fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = files.filter_map(|file| file.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// Makes `to` a copy of the folder of files `from`.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).map_err(failed("removed", to))?;
    }
    fs::create_dir_all(to).map_err(failed("made", to))?;
    for name in names(from) {
        fs::copy(from.join(&name), to.join(&name)).map_err(failed("copied", &from.join(&name)))?;
    }
    Ok(())
}

/// The files of `now` that are not as they are in `before`, or not there.
fn changed(before: &Path, now: &Path) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for name in names(now) {
        let text = fs::read(now.join(&name)).map_err(failed("read", &now.join(&name)))?;
        if fs::read(before.join(&name)).ok() != Some(text) {
            changed.push(name);
        }
    }
    Ok(changed)
}

/// Prints what the files that changed change in bytes of estimates, and what they weigh.
///
/// # Errors
/// One weighs more than a page may fetch.
fn tell(before: &Path, now: &Path, changed: &[String]) -> Result<()> {
    let (known, new): (Vec<&String>, Vec<&String>) = changed.iter().partition(|name| before.join(name).exists());
    for name in new {
        println!("{name} is new: there is nothing to compare its estimates with");
    }
    if changed.is_empty() {
        println!("no program changed");
        return Ok(());
    }
    if !known.is_empty() {
        let mut command = validate::command(&["programs"])?;
        command.arg(before).arg(now).args(&known);
        process::run(&mut command, "the lines above say why nothing is compared.")?;
    }
    let mut toolbox = Toolbox::default();
    setup::for_weighing(&mut toolbox)?;
    size::check_programs(&toolbox, now, changed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn files_that_differ_or_are_new_are_found_and_others_are_not() {
        let folder = std::env::temp_dir().join(format!("headroom-record-{}", std::process::id()));
        let (one, other) = (folder.join("one"), folder.join("other"));
        fs::create_dir_all(&one).unwrap();
        for name in ["bert.json", "gpt2.json", "llama.json"] {
            fs::write(one.join(name), name).unwrap();
        }
        copy(&one, &other).unwrap();
        assert_eq!(changed(&one, &other).unwrap(), Vec::<String>::new());
        fs::write(other.join("gpt2.json"), "otherwise").unwrap();
        fs::write(other.join("bloom.json"), "new").unwrap();
        assert_eq!(changed(&one, &other).unwrap(), ["bloom.json", "gpt2.json"]);
        // A copy holds nothing of what was there before.
        copy(&one, &other).unwrap();
        assert_eq!(names(&other), ["bert.json", "gpt2.json", "llama.json"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn releases_are_read_off_the_text_of_a_file() {
        let path = checkout::root().join("static/programs/bert.json");
        let text = fs::read_to_string(path).unwrap();
        let known = RECORDER.packages.iter().find_map(|package| package.strip_prefix("transformers=="));
        assert_eq!(releases(&text), known.into_iter().collect());
        let both = text.replace("5.23.0", "5.24.0") + &text;
        assert_eq!(releases(&both).len(), 2);
        assert!(releases("{}").is_empty());
    }

    #[test]
    fn the_check_records_classes_that_are_there() {
        let programs = names(&checkout::root().join("static/programs"));
        assert!(CHECKED.iter().all(|name| programs.contains(&format!("{name}.json"))));
    }
}
