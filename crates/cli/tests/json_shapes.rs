//! The JSON that scripts rely on, whatever the figures: every key, in its order, with the kinds of its values. Recorded in
//! `tests/shapes`; rewritten with `HEADROOM_UPDATE_GOLDEN=1`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use std::collections::BTreeSet;
use std::path::Path;

use program::{headroom, plan_file};

const GRPO: &str = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=t4&task=grpo&per_device_train_batch_size=16&num_generations=4&\
                    engine=vllm&torch_dtype=float16";
const PPO: &str = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&task=ppo&reward_models=%5B%7B%7D%5D";
const TOO_SMALL: &str = "v=1&model=mistralai/Mistral-7B-v0.1&method=lora&gpu=t4&torch_dtype=float16";
const FAR_TOO_SMALL: &str = "v=1&model=meta-llama/Llama-3.1-405B&method=full&gpu=t4&max_length=4096";

/// A key where it stands, with the kinds of what it holds: `phases[].name`. Names that are data are left as `*`.
#[derive(Default)]
struct Shape(Vec<(String, BTreeSet<&'static str>)>);

impl Shape {
    fn add(&mut self, path: String, kind: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == path) {
            Some((_, kinds)) => drop(kinds.insert(kind)),
            None => self.0.push((path, BTreeSet::from([kind]))),
        }
    }

    /// Reads JSON as the program indents it: a parser would forget the order of keys.
    fn read(&mut self, text: &str) {
        // The path of each open object or list, and whether it is a list.
        let mut open: Vec<(String, bool)> = Vec::new();
        for line in text.lines().map(|line| line.trim().trim_end_matches(',')) {
            if matches!(line, "}" | "]") {
                open.pop();
                continue;
            }
            let (above, in_list) = open.last().map_or(("", false), |(path, list)| (path.as_str(), *list));
            let (path, value) = match line.split_once("\": ") {
                Some((key, value)) if !in_list => {
                    let key = key.trim_start_matches('"');
                    let is_data = ["by_category", "bytes_by_phase", "parts"].iter().any(|maps| above.ends_with(maps));
                    (format!("{above}.{}", if is_data { "*" } else { key }), value)
                }
                _ => (format!("{above}[]"), line),
            };
            let kind = match value.chars().next() {
                Some('{') => "object",
                Some('[') => "list",
                Some('"') => "text",
                Some('t' | 'f') => "flag",
                Some('n') => "null",
                _ => "number",
            };
            self.add(path.clone(), kind);
            if matches!(value, "{" | "[") {
                open.push((path, value == "["));
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    fn written(&self) -> String {
        let line = |(path, kinds): &(String, BTreeSet<&str>)| {
            format!("{path}: {}\n", kinds.iter().copied().collect::<Vec<_>>().join(" or "))
        };
        self.0.iter().map(line).collect()
    }
}

/// Compares the shape of what `runs` print with the recorded one.
fn check(name: &str, runs: &[&[&str]]) {
    let mut shape = Shape::default();
    for args in runs {
        let ran = headroom(args);
        // A search that finds nothing says so, and exits with 1.
        assert!(ran.code < 2 && ran.err.is_empty(), "{args:?}: {} {}", ran.code, ran.err);
        shape.read(&ran.out);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shapes").join(format!("{name}.txt"));
    if std::env::var_os("HEADROOM_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, shape.written()).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shape.written(), recorded, "{name}: keys are added, never renamed or removed");
}

#[test]
fn estimates() {
    let offloaded = plan_file("llama-3.1-8b-zero3-offload");
    let plans = [offloaded.as_str(), GRPO, PPO, TOO_SMALL];
    check("estimate", &plans.map(|plan| ["estimate", plan, "--json"]).each_ref().map(|args| args.as_slice()));
}

#[test]
fn advice() {
    let idle = "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=a100-80gb";
    let undone =
        "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=a100-80gb&gradient_accumulation_steps=16&gradient_checkpointing=true";
    let wide = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&trainer=trl&trainer_version=1.16.0&task=grpo&torch_dtype=float32\
        &mixed_precision=bf16&per_device_train_batch_size=8&prepare_for_kbit_training=false";
    let plans = [TOO_SMALL, FAR_TOO_SMALL, idle, undone, wide];
    check("advise", &plans.map(|plan| ["advise", plan, "--json"]).each_ref().map(|args| args.as_slice()));
    check("summary", &[&["advise", GRPO, "--summary", "--json"]]);
}

#[test]
fn solutions() {
    let plan = "v=1&model=openai-community/gpt2&method=lora&gpu=rtx-4090";
    check(
        "solve",
        &[&["solve", plan, "--max", "length", "--json"], &["solve", FAR_TOO_SMALL, "--max", "rank", "--json"]],
    );
    check("largest", &[&["solve", "v=1&gpu=t4&method=qlora&torch_dtype=float16", "--max", "model", "--json"]]);
}

#[test]
fn comparisons() {
    let both = "v=1&model=Qwen/Qwen3-4B&method=full";
    check("compare", &[&["compare", TOO_SMALL, "--json"]]);
    check("difference", &[&["compare", "v=1&model=Qwen/Qwen3-4B", both, "--json"]]);
}

#[test]
fn catalogues() {
    check("models", &[&["models", "--json"]]);
    check("gpus", &[&["gpus", "--json"]]);
}
