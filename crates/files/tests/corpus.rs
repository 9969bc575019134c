//! Every file of the corpus reads as expected: tests/files/index.jsonl names the source of each, its tool and version, and what
//! a person who knows the tool would enter.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use headroom_core::plan::field;
use headroom_files::import::{File, import};
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files")
}

fn cases() -> Vec<Value> {
    let index = fs::read_to_string(corpus().join("index.jsonl")).unwrap();
    index.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn files(case: &Value) -> Vec<File> {
    let folder = corpus().join(case["id"].as_str().unwrap());
    let names = case["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    names.map(|name| File { name: name.to_owned(), text: fs::read_to_string(folder.join(name)).unwrap() }).collect()
}

fn same(found: &Value, expected: &Value) -> bool {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
        _ if expected.is_i64() && found.is_string() => found.as_str() == Some(&expected.to_string()),
        _ => found == expected,
    }
}

#[test]
fn every_file_reads_as_expected() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 80, "the corpus has {} entries", cases.len());
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let imported = import(&files(case));
        for (name, expected) in case["plan"].as_object().unwrap() {
            let found = field(name).unwrap_or_else(|| panic!("{id}: no field {name}")).value(&imported.plan);
            if !same(&found, expected) {
                wrong.push(format!("{id}: {name} is {found}, not {expected}"));
            }
        }
        if imported.trainer.0 != case["trainer"].as_str().unwrap() {
            wrong.push(format!("{id}: trainer {}", imported.trainer.0));
        }
        let ids: Vec<&str> = imported.findings.iter().map(|finding| finding.kind.id()).collect();
        for expected in case["findings"].as_array().unwrap() {
            if !ids.contains(&expected.as_str().unwrap()) {
                wrong.push(format!("{id}: no finding {expected} among {ids:?}"));
            }
        }
        let listed: Vec<&str> = imported.not_expressible.iter().map(|listed| listed.key.as_str()).collect();
        for expected in case["not_expressible"].as_array().unwrap() {
            if !listed.contains(&expected.as_str().unwrap()) {
                wrong.push(format!("{id}: {expected} is not listed among {listed:?}"));
            }
        }
        let expected: Vec<&str> = case["findings"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        for finding in &imported.findings {
            let tells = ["unreadable", "unrecognised", "unknown_key", "bad_value"].contains(&finding.kind.id());
            if tells && !expected.contains(&finding.kind.id()) {
                wrong.push(format!("{id}: unexpected {:?}", finding.kind));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
