//! Files as people post them: each restated in its fewest lines, with what a person who knows the tool would enter.

#![allow(clippy::unwrap_used, clippy::panic)]

mod commands;
mod files;
mod reports;
mod scripts;
mod snippets;
mod trainers;
mod wrappers;

use headroom_core::job::Job;
use headroom_core::plan::field;
use headroom_files::import::{File, Import, import};
use serde_json::Value;

pub(crate) fn read(files: &[(&str, &str)]) -> Import {
    let files: Vec<File> =
        files.iter().map(|(name, text)| File { name: (*name).to_owned(), text: (*text).to_owned() }).collect();
    import(&files)
}

/// The import of `files`, whose plan has these fields; what is missing is asked for, and else the plan can be estimated.
pub(crate) fn says(files: &[(&str, &str)], fields: Value, missing: &[&str]) -> Import {
    let imported = read(files);
    let name = files[0].0;
    for (key, expected) in fields.as_object().unwrap() {
        let found = field(key).unwrap_or_else(|| panic!("no field {key}")).value(&imported.plan);
        let is_same = match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
            _ => &found == expected,
        };
        assert!(is_same, "{name}: {key} is {found}, not {expected}: {:?}", imported.findings);
    }
    assert_eq!(imported.missing, missing, "{name}");
    if missing.is_empty() {
        assert!(Job::resolve(&imported.plan).is_ok(), "{name}: {:?}", imported.findings);
    }
    imported
}

pub(crate) fn unknown(imported: &Import) -> Vec<&str> {
    imported.unknown.iter().map(|unknown| unknown.key.as_str()).collect()
}

pub(crate) fn kinds(imported: &Import) -> Vec<&'static str> {
    imported.findings.iter().map(|finding| finding.kind.id()).collect()
}

/// The plan's value of a field.
pub(crate) fn value(imported: &Import, key: &str) -> Value {
    field(key).unwrap_or_else(|| panic!("no field {key}")).value(&imported.plan)
}
