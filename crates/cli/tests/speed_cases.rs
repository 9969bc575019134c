//! Relative step times against published ones (`tests/validation/speed.jsonl`): order and ratios within each group.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use program::{case_file, headroom};

fn published() -> String {
    format!("{}/../../tests/validation/speed.jsonl", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn published_steps_keep_their_order_and_their_ratios() {
    let report = headroom(&["validate-speed", &published(), "--json"]).json();
    let overall = &report["overall"];
    let figure = |key: &str| overall[key].as_f64().unwrap_or_else(|| panic!("{key} in {overall}"));
    assert_eq!((overall["groups"].as_u64(), overall["rows"].as_u64()), (Some(10), Some(119)));
    assert!(report["left_out"].as_object().unwrap().is_empty(), "{}", report["left_out"]);
    assert!(figure("median_rank_correlation") >= 0.94, "{overall}");
    assert!(figure("median_ratio_error") <= 0.06, "{overall}");
    assert!(figure("all_ratios_p80_error") <= 0.2, "{overall}");
    assert!(figure("absolute_p80_factor") <= 1.55, "{overall}");
    // What the ranges promise.
    assert!(figure("share_of_ratios_in_range") >= 0.78, "{overall}");
    let groups = report["groups"].as_array().unwrap();
    assert!(groups.iter().all(|group| group["rank_correlation"].as_f64().unwrap() >= 0.7), "{groups:?}");
    // Two constants were read off these groups (the 4-bit kernels' operations, ZeRO-3's hooks): without them it is no worse.
    let read_off = ["litgpt-rt-1xA100-40", "qwen-1gpu"];
    let held_out = groups.iter().filter(|group| !read_off.contains(&group["group"].as_str().unwrap()));
    let middle = |key: &str| {
        let mut figures: Vec<f64> = held_out.clone().map(|group| group[key].as_f64().unwrap()).collect();
        figures.sort_by(f64::total_cmp);
        (figures[(figures.len() - 1) / 2], figures[figures.len() / 2])
    };
    assert!(middle("rank_correlation").0 >= 0.9, "{:?}", middle("rank_correlation"));
    assert!(middle("median_ratio_error").1 <= 0.06, "{:?}", middle("median_ratio_error"));
}

/// A row as a publication describes it.
const DESCRIBED: &str = r#"{"id": "a", "group": "g", "base": true, "model": "meta-llama/Llama-2-7b-hf", "method": "lora", "lora_r": 64, "lora_targets": "k,q,v,up,down,gate_proj", "weight_dtype": "bfloat16", "mixed_precision": "pure bf16 params", "optimizer": "torch.optim.AdamW (bf16 states)", "micro_batch": 4, "gradient_accumulation": 1, "seq_len": 2048, "seq_len_kind": "fixed", "grad_ckpt": true, "attn": "sdpa", "compile": false, "parallel": "single", "n_gpus": 1, "gpu": "RTX 4090", "cmp_unit": "s per token per GPU", "cmp_seconds": 0.0004, "relative_confidence": "high"}"#;

#[test]
fn descriptions_are_read_as_plans() {
    let other = DESCRIBED.replace("\"a\"", "\"b\"").replace("\"grad_ckpt\": true", "\"grad_ckpt\": false");
    let unsaid = DESCRIBED.replace("\"a\"", "\"c\"").replace("RTX 4090", "RTX 9999");
    let path = case_file("described.jsonl", &[DESCRIBED, &other, &unsaid].join("\n"));
    let report = headroom(&["validate-speed", &path, "--json"]).json();
    assert_eq!(report["rows"].as_array().unwrap().len(), 2);
    assert_eq!(report["left_out"]["GPU RTX 9999"], serde_json::json!(["c"]));
    let ratio = report["rows"][1]["estimated_ratio"].as_f64().unwrap();
    assert!((0.6..0.9).contains(&ratio), "without recomputation a quarter to a third of the time goes: {ratio}");
    // What is read is what the kept file has.
    let plans = headroom(&["validate-speed", &path, "--plans"]);
    let again = headroom(&["validate-speed", &case_file("plans.jsonl", &plans.out), "--json"]).json();
    assert_eq!(again["rows"], report["rows"]);
    let text = headroom(&["validate-speed", &path]).out;
    assert!(text.contains("left out, 1 rows: GPU RTX 9999") && text.contains("rank correlation"), "{text}");
}

#[test]
fn an_estimate_says_how_long_a_step_takes() {
    let plan = r#"{"model": "Qwen/Qwen3-4B", "gpu": "a100-80gb", "max_length": 2048}"#;
    let json = headroom(&["estimate", plan, "--json"]).json();
    let time = &json["step_time"];
    let expected = time["seconds"]["expected"].as_f64().unwrap();
    let parts: f64 = time["parts"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).sum();
    assert!((parts / expected - 1.0).abs() < 1e-9, "{time}");
    assert!(time["seconds"]["low"].as_f64().unwrap() < expected, "{time}");
    assert_eq!((time["sequences"].as_u64(), time["tokens"].as_u64()), (Some(1), Some(2048)));
    let text = headroom(&["estimate", plan, "--full"]).out;
    assert!(text.contains("Step time, rough: ") && text.contains("Matmuls, backward"), "{text}");
}
