//! `python/headroom_check.py` and `headroom validate` understand each other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use headroom_core::plan;
use program::headroom;

const SCRIPT: &str = include_str!("../../../python/headroom_check.py");

/// Every key that the script may put into a plan is a key of plans.
#[test]
fn the_script_knows_only_keys_of_plans() {
    let keys = SCRIPT.split_once("PLAN_KEYS = (").and_then(|(_, rest)| rest.split_once("\n)")).unwrap().0;
    let keys: Vec<&str> = keys.split('"').skip(1).step_by(2).collect();
    assert!(keys.len() > 20, "{keys:?}");
    for key in keys {
        assert!(plan::field(key).is_some(), "{key}");
    }
}

/// A line that the script printed beside TRL's `SFTTrainer` is a case.
#[test]
fn a_reported_line_is_a_case() {
    let file = format!("{}/tests/plans/reported.jsonl", env!("CARGO_MANIFEST_DIR"));
    let ran = headroom(&["validate", &file, "--json"]);
    assert!(ran.out.contains("reported-trl-sft-qwen2.5-0.5b"), "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("allocated"), "{}", ran.out);
}
