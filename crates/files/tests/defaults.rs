//! An empty configuration means what its trainer takes: stating every default that the trainer's own classes print
//! (tests/files/defaults.json, written by python/trainer_defaults.py) changes no plan.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use headroom_core::job::Job;
use headroom_core::memory::estimate;
use headroom_core::plan::{Plan, fields};
use headroom_files::finding::Language;
use headroom_files::import::{File, Import, import};
use serde_json::{Map, Value};

fn file(name: &str, text: String) -> File {
    File { name: name.to_owned(), text }
}

fn python(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read(entry: &Value, stated: &Map<String, Value>) -> Import {
    let text = |key: &str| entry[key].as_str().unwrap();
    let requirements = file("requirements.txt", format!("{}=={}\n", text("package"), text("version")));
    let settings = match text("notation") {
        "python" => {
            let arguments: Vec<String> = stated.iter().map(|(key, value)| format!("{key}={}", python(value))).collect();
            file("train.py", format!("args = {}({})\n", text("class"), arguments.join(", ")))
        }
        // Where the arguments go in a script, which needs more than the one call.
        "call" => {
            let arguments: Vec<String> = stated.iter().map(|(key, value)| format!("{key}={}", python(value))).collect();
            file("train.py", text("head").replace("{}", &arguments.join(", ")))
        }
        "hydra" => {
            let words: Vec<String> = stated.iter().map(|(key, value)| format!(" '{key}={}'", bare(value))).collect();
            file("run.sh", format!("{}{}\n", text("head"), words.concat()))
        }
        _ => {
            let lines: Vec<String> = stated.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
            file("train.yaml", format!("{}{}", entry["head"].as_str().unwrap(), lines.concat()))
        }
    };
    import(&[requirements, settings])
}

/// Bytes of the step that a plan stands for, of a model and on a GPU that are always the same; `None` where the release
/// does not run the task.
fn peak(plan: &Plan) -> Option<u64> {
    let of = Plan::from_json(r#"{"model": "Qwen/Qwen3-4B", "gpu": "h100-80gb"}"#).unwrap();
    let plan = Plan { model: of.model, gpu: of.gpu, ..plan.clone() };
    Job::resolve(&plan).ok().map(|job| estimate(&job).peak.allocated_bytes)
}

#[test]
fn stating_a_trainers_defaults_changes_no_plan() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/defaults.json");
    let entries: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(entries.len() >= 30);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for entry in &entries {
        let stated = entry["defaults"].as_object().unwrap();
        let (empty, full) = (read(entry, &Map::new()), read(entry, stated));
        assert_eq!(empty.trainer.0, entry["trainer"].as_str().unwrap());
        if entry["package"] == entry["trainer"] {
            assert_eq!(empty.trainer.1.as_deref(), entry["version"].as_str());
        }
        let of = format!("{} {} {}", entry["package"], entry["version"], entry["class"]);
        for field in fields() {
            let (before, after) = (field.value(&empty.plan), field.value(&full.plan));
            // What has no value is what the trainer would do, which the step shows.
            if !before.is_null() && before != after {
                wrong.push(format!("{of}: {} is {before}, as printed {after}", field.name));
            }
        }
        let (before, after) = (peak(&empty.plan), peak(&full.plan));
        compared += usize::from(before.is_some());
        if before != after {
            wrong.push(format!("{of}: a step takes {before:?} bytes, as printed {after:?}"));
        }
        let refused = full.findings.iter().filter(|finding| finding.kind.id() == "bad_value");
        wrong.extend(refused.map(|finding| format!("{of}: {}", finding.said(Language::English).what)));
        // Two classes have few keys that bear on memory.
        let least = if entry["notation"] == "call" { 2 } else { 5 };
        assert!(full.understood.len() >= least, "{} settings of {}", full.understood.len(), entry["class"]);
    }
    assert!(compared >= 25, "{compared} of {}", entries.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
