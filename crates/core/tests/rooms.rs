//! Which room may know which: what ARCHITECTURE.md says, read off the sources.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms from the ground up; a room knows those of lower floors, and none of its own.
const FLOORS: &[&[&str]] = &[
    &["units"],
    &["search"],
    &["model", "gpu"],
    &["plan"],
    &["job"],
    &["memory"],
    &["accuracy", "speed", "link"],
    &["scenario", "advise"],
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The product code of a file: without comments and without its unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let product =
        text.split("#[cfg(test)]\n#[allow").next().unwrap().split("#[cfg(test)]\nmod tests {").next().unwrap();
    product.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every source file with the room it stands in.
fn rooms() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&root, &mut found);
    let room = |path: &PathBuf| {
        let first = path.strip_prefix(&root).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    found.into_iter().map(|path| (room(&path), path)).filter(|(room, _)| room != "lib").collect()
}

fn floor(room: &str) -> usize {
    FLOORS.iter().position(|floor| floor.contains(&room)).unwrap_or_else(|| panic!("{room} stands on no floor"))
}

#[test]
fn a_room_knows_only_those_before_it() {
    let mut arrows = 0;
    for (room, path) in rooms() {
        for known in code(&path).split("crate::").skip(1) {
            let known = known.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next().unwrap();
            if known != room && FLOORS.concat().contains(&known) {
                arrows += 1;
                assert!(floor(known) < floor(&room), "{} knows {known}", path.display());
            }
        }
    }
    assert!(arrows > 50, "{arrows} arrows found: the sources are not where this test looks");
}

#[test]
fn what_a_class_does_is_known_in_the_model_alone() {
    for (room, path) in rooms() {
        if ["memory", "speed", "accuracy"].contains(&room.as_str()) {
            let code = code(&path);
            for asked in ["model_type ==", "model_type !=", "model_type.as_str()", "model_type.starts_with"] {
                assert!(!code.contains(asked), "{} asks for a {asked}", path.display());
            }
        }
    }
}
