//! Folded groups: what differs from the trainer's, the way back, and what fields could do to memory.

use headroom_core::plan::TrainerName;
use headroom_view::{Answer, Element};

use super::sections::PLANS;
use super::{Reader, each, found, text_of};
use crate::Turn;
use crate::form::groups::keys_within;
use crate::form::{parallelism, tasks, training};

/// Texts of all elements of a class.
fn all(reader: &Reader, class: &str) -> Vec<String> {
    let mut texts = Vec::new();
    each(&reader.form, &mut |element: &Element| {
        if element.attribute("class") == Some(class) {
            texts.push(text_of(element));
        }
    });
    texts.retain(|text| !text.is_empty());
    texts
}

/// The fields and values of the chips.
fn chips(reader: &Reader) -> Vec<String> {
    all(reader, "chip").iter().map(|chip| chip.trim_end_matches(['×', ' ']).to_owned()).collect()
}

/// Works until all is said, and looks at the form.
fn rest(reader: &mut Reader) {
    reader.engine.go_on();
    while reader.engine.work() != Turn::Idle {}
    let answer = Answer::decode(&reader.engine.answer(true)).unwrap_or_default();
    if let Some(form) = answer.panels.into_iter().find(|panel| panel.place == "form").and_then(|panel| panel.node) {
        reader.form = form;
    }
}

fn effect(reader: &Reader, name: &str) -> String {
    let is_field = |element: &Element| element.key == name && element.tag != "li";
    let field = found(&reader.form, &is_field).unwrap_or_else(|| panic!("{name} is in the form")).clone();
    let is_effect = |element: &Element| element.attribute("class") == Some("effect");
    found(&field.into(), &is_effect).map(text_of).unwrap_or_default()
}

#[test]
fn what_a_trainer_gives_is_no_change_of_the_readers() {
    let mut reader = Reader::open("");
    for name in TrainerName::ALL.iter().filter(|name| name.is_modelled()) {
        for method in ["lora", "qlora", "full"] {
            reader.does("choose-trainer", name.name());
            reader.does("choose method", method);
            assert_eq!(chips(&reader), [""; 0], "{} {method}", name.name());
        }
    }
}

#[test]
fn a_changed_field_is_named_by_its_group_and_set_back_by_one_button() {
    let mut reader = Reader::open("");
    reader.does("type lora.r", "64");
    reader.does("switch gradient_checkpointing true false", "false");
    assert_eq!(chips(&reader), ["lora.r 64", "gradient_checkpointing off"]);
    assert_eq!(all(&reader, "changed-count"), ["1 changed"; 2]);
    let back = |reader: &Reader, action: &str| {
        let is_it = |element: &Element| element.attribute("data-do") == Some(action);
        found(&reader.form, &is_it).and_then(|button| button.attribute("aria-label").map(str::to_owned))
    };
    assert_eq!(back(&reader, "reset field-lora-r lora.r").as_deref(), Some("Reset LoRA rank to 16"));
    assert!(back(&reader, "reset group-training lora.r").is_some());
    reader.does("reset group-training lora.r", "");
    assert_eq!(reader.value("lora.r"), "16");
    reader.does("reset field-gradient_checkpointing gradient_checkpointing", "");
    assert_eq!(chips(&reader), [""; 0]);
    assert!(reader.input("gradient_checkpointing").attribute("checked").is_some());
}

#[test]
fn the_dtype_of_the_weights_goes_back_with_autocast() {
    let mut reader = Reader::open("");
    let before = reader.chosen("torch_dtype").attribute("value").map(str::to_owned);
    reader.does("pick-pair", "3");
    assert!(!chips(&reader).is_empty());
    reader.does("reset field-torch_dtype torch_dtype mixed_precision", "");
    assert_eq!(reader.chosen("torch_dtype").attribute("value").map(str::to_owned), before);
    assert_eq!(chips(&reader), [""; 0]);
}

#[test]
fn a_group_stays_as_the_reader_left_it() {
    let is_open = |reader: &Reader| {
        let is_it = |element: &Element| element.attribute("data-toggle") == Some("open form-savers");
        found(&reader.form, &is_it).is_some_and(|group| group.attribute("open").is_some())
    };
    let mut reader = Reader::folded("");
    assert!(!is_open(&reader));
    reader.does("open form-savers", "true");
    reader.does("type max_length", "2048");
    assert!(is_open(&reader));
    reader.does("open form-savers", "false");
    assert!(!is_open(&reader));
}

#[test]
fn effects_are_those_of_the_plan_as_it_is() {
    let mut reader = Reader::open("v=1&method=lora&per_device_train_batch_size=4&gradient_checkpointing=true");
    assert_eq!(all(&reader, "effect"), [""; 0]);
    rest(&mut reader);
    let checkpointing = effect(&reader, "gradient_checkpointing");
    assert!(checkpointing.starts_with('+') && checkpointing.ends_with("GiB if off"), "{checkpointing}");
    let batch = effect(&reader, "per_device_train_batch_size");
    assert!(batch.starts_with('−') && batch.ends_with(" at 1"), "{batch}");
    // Of another plan nothing is known at first.
    reader.does("type max_length", "4096");
    assert_eq!(all(&reader, "effect"), [""; 0]);
    rest(&mut reader);
    assert_ne!(effect(&reader, "gradient_checkpointing"), checkpointing);
}

#[test]
fn a_group_names_every_field_that_it_may_have() {
    let groups = [
        ("training", training::METHOD),
        ("savers", training::SAVERS),
        ("parallel", parallelism::NAMES),
        ("task", tasks::NAMES),
    ];
    for plan in PLANS {
        let reader = Reader::open(plan);
        for (group, names) in groups {
            let Some(section) = found(&reader.form, &|element| element.key == group && element.tag == "section") else {
                assert_eq!(group, "task", "{plan}");
                continue;
            };
            let mut keys = Vec::new();
            keys_within(section, &mut keys);
            assert!(!keys.is_empty() || group == "task", "{group} of {plan} has no fields");
            for key in keys {
                let is_of =
                    |name: &&str| key.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
                assert!(names.iter().any(is_of), "{key} is in {group} of {plan}, and not among its names");
            }
        }
    }
}

#[test]
fn what_is_rarely_touched_is_made_when_it_is_unfolded() {
    let mut reader = Reader::open("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&keep_outputs=true");
    assert!(reader.field("keep_outputs").is_some());
    let changed = chips(&reader);
    reader.does("open form-advanced", "false");
    assert!(reader.field("keep_outputs").is_none());
    assert_eq!(chips(&reader), changed, "what differs is named all the same");
    assert!(changed.iter().any(|chip| chip.starts_with("keep_outputs")), "{changed:?}");
}
