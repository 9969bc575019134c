//! Which module may use which: what ARCHITECTURE.md says, read off the sources.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

/// Modules from the ground up; a module uses those of earlier ranks, and none of its own.
const RANKS: &[&[&str]] = &[
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

/// The shipped code of a file: without comments and without its unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let shipped =
        text.split("#[cfg(test)]\n#[allow").next().unwrap().split("#[cfg(test)]\nmod tests {").next().unwrap();
    shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every source file with the module it belongs to.
fn modules() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&root, &mut found);
    let module = |path: &PathBuf| {
        let first = path.strip_prefix(&root).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    found.into_iter().map(|path| (module(&path), path)).filter(|(module, _)| module != "lib").collect()
}

fn rank(module: &str) -> usize {
    RANKS.iter().position(|rank| rank.contains(&module)).unwrap_or_else(|| panic!("{module} has no rank"))
}

#[test]
fn a_module_uses_only_those_before_it() {
    let mut uses = 0;
    for (module, path) in modules() {
        for used in code(&path).split("crate::").skip(1) {
            let used = used.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next().unwrap();
            if used != module && RANKS.concat().contains(&used) {
                uses += 1;
                assert!(rank(used) < rank(&module), "{} uses {used}", path.display());
            }
        }
    }
    assert!(uses > 50, "{uses} uses found: the sources are not where this test looks");
}

#[test]
fn what_a_class_does_is_known_in_the_model_alone() {
    for (module, path) in modules() {
        if ["memory", "speed", "accuracy"].contains(&module.as_str()) {
            let code = code(&path);
            for asked in ["model_type ==", "model_type !=", "model_type.as_str()", "model_type.starts_with"] {
                assert!(!code.contains(asked), "{} asks for a {asked}", path.display());
            }
        }
    }
}
