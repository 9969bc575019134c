//! Advice as the terminal gives it: what it promises holds when the advised plan is estimated again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use program::headroom;
use serde_json::Value;

fn estimate(link: &Value) -> Value {
    headroom(&["estimate", link.as_str().unwrap(), "--json"]).json()
}

#[test]
fn an_advised_plan_fits_and_the_waterfall_ends_there() {
    for plan in [
        "v=1&model=meta-llama/Llama-3.1-8B&method=full&gpu=a100-80gb&max_length=2048",
        "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090&per_device_train_batch_size=8&max_length=2048",
        "v=1&model=mistralai/Mistral-7B-v0.1&method=lora&gpu=t4&torch_dtype=float16",
    ] {
        assert_ne!(headroom(&["estimate", plan, "--json"]).json()["verdict"], "fits", "{plan}");
        let advice = headroom(&["advise", plan, "--json"]).json();
        assert_eq!(advice["fits"], false, "{plan}");
        let levels = advice["levels"].as_array().unwrap();
        let fitting: Vec<&Value> = levels.iter().filter(|level| level["found"] == "fits").collect();
        assert!(!fitting.is_empty(), "{plan}: {levels:?}");
        for level in fitting {
            let last = level["stages"].as_array().unwrap().last().unwrap();
            let advised = estimate(&level["link"]);
            assert_eq!(advised["verdict"], "fits", "{plan}: {level}");
            assert!(last["needed_bytes"].as_u64().is_some(), "{plan}: {level}");
        }
    }
}

#[test]
fn an_idle_card_is_filled() {
    let advice = headroom(&["advise", "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=a100-80gb", "--json"]).json();
    assert_eq!(advice["fits"], true);
    let filled = &advice["fill"]["recommended"];
    let used = filled["used_share"].as_f64().unwrap();
    assert!((0.75..=0.90).contains(&used), "{filled}");
    assert_eq!(estimate(&filled["link"])["peak"]["band"]["expected"], filled["needed_bytes"]);
}

#[test]
fn what_is_solved_fits_and_the_next_does_not() {
    let plan = "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090";
    let solved = headroom(&["solve", plan, "--max", "length", "--json"]).json();
    assert_eq!(estimate(&solved["link"])["verdict"], "fits");
    let next = format!("{plan}&max_length={}", solved["next_does_not_fit"]);
    assert_ne!(headroom(&["estimate", &next, "--json"]).json()["verdict"], "fits");
    let text = headroom(&["solve", plan, "--max", "length"]).out;
    assert!(text.contains(&format!("{} fits", solved["value"].as_str().unwrap())), "{text}");
}

#[test]
fn two_plans_stand_side_by_side() {
    let (first, second) = ("v=1&model=Qwen/Qwen3-4B", "v=1&model=Qwen/Qwen3-4B&method=full");
    let both = headroom(&["compare", first, second, "--json"]).json();
    assert_eq!(both["changed"][0]["field"], "method");
    for (link, estimated) in [first, second].iter().zip(both["estimates"].as_array().unwrap()) {
        let alone = headroom(&["estimate", link, "--json"]).json();
        assert_eq!(alone["peak"]["band"]["expected"], estimated["needed_bytes"]);
    }
}

#[test]
fn unknown_questions_are_named() {
    let ran = headroom(&["solve", "v=1&model=Qwen/Qwen3-4B", "--max", "speed"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--max takes batch"), "{}", ran.err);
}
