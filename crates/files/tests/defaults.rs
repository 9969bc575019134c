//! An empty configuration means what its trainer takes: stating every default that the trainer's own classes print
//! (tests/files/defaults.json, written by python/trainer_defaults.py) changes no plan.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use headroom_core::plan::fields;
use headroom_files::import::{File, Import, import};
use serde_json::{Map, Value};

fn file(name: &str, text: String) -> File {
    File { name: name.to_owned(), text }
}

fn python(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

fn read(entry: &Value, stated: &Map<String, Value>) -> Import {
    let text = |key: &str| entry[key].as_str().unwrap();
    let requirements = file("requirements.txt", format!("{}=={}\n", text("package"), text("version")));
    let settings = match text("notation") {
        "python" => {
            let arguments: Vec<String> = stated.iter().map(|(key, value)| format!("{key}={}", python(value))).collect();
            file("train.py", format!("args = {}({})\n", text("class"), arguments.join(", ")))
        }
        _ => {
            let lines: Vec<String> = stated.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
            file("train.yaml", format!("{}{}", entry["head"].as_str().unwrap(), lines.concat()))
        }
    };
    import(&[requirements, settings])
}

#[test]
fn stating_a_trainers_defaults_changes_no_plan() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/defaults.json");
    let entries: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(entries.len() >= 15);
    let mut wrong = Vec::new();
    for entry in &entries {
        let stated = entry["defaults"].as_object().unwrap();
        let (empty, full) = (read(entry, &Map::new()), read(entry, stated));
        assert_eq!(empty.trainer.0, entry["trainer"].as_str().unwrap());
        assert_eq!(empty.trainer.1.as_deref(), entry["version"].as_str());
        for field in fields() {
            let (before, after) = (field.value(&empty.plan), field.value(&full.plan));
            // What has no value is what the trainer would do.
            if !before.is_null() && before != after {
                let of = format!("{} {} {}", entry["package"], entry["version"], entry["class"]);
                wrong.push(format!("{of}: {} is {before}, as printed {after}", field.name));
            }
        }
        assert!(full.understood.len() >= 5, "{} settings of {}", full.understood.len(), entry["class"]);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
