#![allow(clippy::panic)]

use std::collections::HashSet;

use super::*;

#[test]
fn ids_are_unique() {
    let mut seen = HashSet::new();
    for model in catalogue() {
        for id in model.also.iter().chain([&model.id]) {
            assert!(seen.insert(id.to_lowercase()), "{id} is there twice");
        }
    }
}

#[test]
fn groups_are_neighbours_and_the_smallest_model_comes_first() {
    let mut groups: Vec<&str> = catalogue().iter().map(|model| model.group).collect();
    groups.dedup();
    assert_eq!(groups.len(), groups.iter().collect::<HashSet<_>>().len(), "a group is split: {groups:?}");
    for pair in catalogue().windows(2) {
        let [a, b] = pair else { continue };
        assert!(a.group != b.group || a.param_count <= b.param_count, "{} before {}", a.id, b.id);
    }
}

#[test]
fn labels_are_short_and_unique() {
    let mut seen = HashSet::new();
    for model in catalogue() {
        assert!(!model.label.is_empty() && model.label.len() <= 32, "{}", model.label);
        assert!(seen.insert(model.label), "{} is there twice", model.label);
    }
}

#[test]
fn configs_are_compact_json_objects_that_name_their_class() {
    for model in catalogue() {
        let value: serde_json::Value =
            serde_json::from_str(model.config).unwrap_or_else(|e| panic!("{}: {e}", model.id));
        assert!(value["model_type"].is_string() && value["architectures"][0].is_string(), "{}", model.id);
        assert_eq!(value.to_string().len(), model.config.len(), "{} holds needless space", model.id);
    }
}

#[test]
fn an_id_is_found_in_any_case_and_by_its_other_names() {
    assert_eq!(find(" qwen/qwen3-4b ").map(|model| model.id), Some("Qwen/Qwen3-4B"));
    assert_eq!(find("Qwen/Qwen3-4B-Base").map(|model| model.id), Some("Qwen/Qwen3-4B"));
    assert_eq!(find("Qwen/Qwen3"), None);
}
