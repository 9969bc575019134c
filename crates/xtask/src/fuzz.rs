//! `cargo xtask fuzz`: the readers of files under libFuzzer, each for some minutes, and what it found worth keeping in
//! `tests/files/fuzz`, which the suite reads again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;

/// As `headroom_files::fuzz::READERS` has them.
const READERS: [&str; 8] = ["yaml", "toml", "json", "python", "shell", "whole", "diagnose", "snapshot"];
/// Longest input, bytes.
const LONGEST: u64 = 4096;
/// What makes rustc count the edges that an input reaches, on stable Rust and without sanitizers.
const INSTRUMENTED: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                            -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                            -Cllvm-args=-sanitizer-coverage-trace-compares";
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs `reader`, or every reader, for `minutes` each.
pub(crate) fn fuzz(reader: Option<&str>, minutes: u64) -> Result<()> {
    if let Some(name) = reader.filter(|name| !READERS.contains(name)) {
        return Err(Failure::new(format!("`{name}` is no reader; these are: {}.", READERS.join(", "))));
    }
    let root = checkout::root();
    let target = root.join("target/fuzz");
    let mut build = checkout_cargo(&root);
    build.args(["build", "--release", "--target", TARGET]).env("RUSTFLAGS", INSTRUMENTED);
    build.env("CARGO_TARGET_DIR", &target);
    process::run(&mut build, "libFuzzer needs a C++ compiler; the lines above say what else is missing.")?;
    let program = target.join(TARGET).join("release/headroom-fuzz");
    for name in READERS.iter().filter(|name| reader.is_none_or(|wanted| wanted == **name)) {
        let corpus = target.join("corpus").join(name);
        let kept = target.join("kept").join(name);
        gather(&root, name, &corpus)?;
        let of = |arguments: &[String]| {
            let mut command = Command::new(&program);
            command.env("HEADROOM_READER", name).args(arguments).args([
                format!("-max_len={LONGEST}"),
                "-timeout=10".to_owned(),
                "-rss_limit_mb=2048".to_owned(),
                "-verbosity=0".to_owned(),
                "-print_final_stats=1".to_owned(),
                format!("-artifact_prefix={}/found-{name}-", target.display()),
            ]);
            command
        };
        println!("{name}: {minutes} minutes");
        let fix = "the input named above breaks the reader: fix it, and keep the input as a test.";
        process::run(&mut of(&[format!("-max_total_time={}", minutes * 60), text(&corpus)]), fix)?;
        let fresh = |_| Failure::new(format!("{} cannot be made anew.", kept.display()));
        if kept.exists() {
            fs::remove_dir_all(&kept).map_err(fresh)?;
        }
        fs::create_dir_all(&kept).map_err(fresh)?;
        process::run(&mut of(&["-merge=1".to_owned(), text(&kept), text(&corpus)]), fix)?;
        pack(&kept, &packed(&root, name))?;
    }
    Ok(())
}

fn checkout_cargo(root: &Path) -> Command {
    let mut command = Command::new(checkout::cargo());
    command.current_dir(root.join("crates/fuzz"));
    command
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn packed(root: &Path, reader: &str) -> PathBuf {
    root.join("tests/files/fuzz").join(format!("{reader}.inputs"))
}

/// The kept inputs and the files of the corpus of the tests, each as a file of its own.
fn gather(root: &Path, reader: &str, corpus: &Path) -> Result<()> {
    let failed = |path: &Path| Failure::new(format!("{} cannot be read or written.", path.display()));
    fs::create_dir_all(corpus).map_err(|_| failed(corpus))?;
    let mut inputs = fs::read(packed(root, reader)).map(|bytes| unpack(&bytes)).unwrap_or_default();
    let mut folders = vec![root.join("tests/files")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|_| failed(&folder))?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|ending| ending != "inputs") {
                let mut bytes = fs::read(&path).map_err(|_| failed(&path))?;
                bytes.truncate(usize::try_from(LONGEST).unwrap_or(usize::MAX));
                inputs.push(bytes);
            }
        }
    }
    for (place, input) in inputs.iter().enumerate() {
        let path = corpus.join(format!("seed-{place}"));
        fs::write(&path, input).map_err(|_| failed(&path))?;
    }
    Ok(())
}

/// Inputs in one file: each its length as four bytes, the lowest first, then itself.
fn pack(folder: &Path, file: &Path) -> Result<()> {
    let failed = || Failure::new(format!("{} cannot be written.", file.display()));
    let mut inputs: Vec<Vec<u8>> =
        fs::read_dir(folder).map_err(|_| failed())?.flatten().filter_map(|entry| fs::read(entry.path()).ok()).collect();
    inputs.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let mut bytes = Vec::new();
    for input in &inputs {
        bytes.extend(u32::try_from(input.len()).unwrap_or(0).to_le_bytes());
        bytes.extend(input);
    }
    fs::create_dir_all(file.parent().unwrap_or(file)).map_err(|_| failed())?;
    println!("{} inputs kept, {} kB", inputs.len(), bytes.len() / 1000);
    fs::write(file, bytes).map_err(|_| failed())
}

fn unpack(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX).min(rest.len());
        let (input, after) = rest.split_at(length);
        inputs.push(input.to_vec());
        bytes = after;
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_back_as_they_were_packed() {
        assert_eq!(unpack(&[1, 0, 0, 0, 7, 0, 0, 0, 0, 2, 0, 0, 0, 8, 9]), [vec![7], vec![], vec![8, 9]]);
        assert_eq!(unpack(&[9, 0, 0, 0, 1]), [vec![1]], "cut short");
    }
}
