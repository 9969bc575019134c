#![allow(clippy::panic)]

use std::collections::HashSet;

use super::*;
use crate::model::{Programs, Reading};

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
        assert!(
            a.group != b.group || (a.param_count, a.released) <= (b.param_count, b.released),
            "{} before {}",
            a.id,
            b.id
        );
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
fn months_of_release_sort_by_date() {
    for model in catalogue().iter().filter(|model| !model.released.is_empty()) {
        let (year, month) = model.released.split_once('-').unwrap_or_else(|| panic!("{}", model.id));
        assert!(year.len() == 4 && month.len() == 2, "{}: {}", model.id, model.released);
        let number = |text: &str| text.parse::<u32>().unwrap_or_else(|e| panic!("{}: {e}", model.id));
        assert!((2018..2100).contains(&number(year)) && (1..=12).contains(&number(month)), "{}", model.id);
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

/// The recorded totals were counted by transformers; the reader must arrive at the same from the config alone.
#[test]
fn every_model_is_read_to_its_exact_totals() {
    let mut wrong = Vec::new();
    let programs = Programs::default();
    for entry in catalogue() {
        match entry.model(&programs) {
            Err(e) => wrong.push(format!("{}: {e}", entry.id)),
            Ok(model) if model.reading != Reading::Known => wrong.push(format!("{}: read as a guess", entry.id)),
            Ok(model) => {
                let read = (model.param_count(), model.active_param_count());
                let recorded = (entry.param_count, entry.active_param_count);
                if read != recorded || model.name != entry.id {
                    wrong.push(format!("{}: read {read:?}, recorded {recorded:?}", entry.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_catalogue_is_as_large_as_promised() {
    assert!(catalogue().len() >= 265);
}
