//! The core computes the same on wasm32, where `usize` has 32 bits, as natively: the same expectations run on both.
//!
//! Natively with `cargo test`, in wasm with `cargo xtask test --only wasm`.

#![allow(clippy::unwrap_used)]

use headroom_core::job::Job;
use headroom_core::{link, model, units};
#[cfg(not(target_arch = "wasm32"))]
use test as portable_test;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as portable_test;

/// What follows from a plan that can be estimated.
fn job(plan: &headroom_core::plan::Plan) -> Job {
    Job::resolve(plan).unwrap()
}

#[portable_test]
fn models_larger_than_32_bits_count_their_parameters() {
    for id in ["meta-llama/Llama-3.1-405B", "Qwen/Qwen3-4B"] {
        let entry = model::find(id).unwrap();
        let config = serde_json::from_str(entry.config).unwrap();
        let read = model::Model::from_config(entry.id, &config).unwrap();
        assert_eq!(read.param_count(), entry.param_count, "{id}");
    }
}

#[portable_test]
fn byte_counts_beyond_32_bits_keep_every_digit() {
    assert_eq!(units::count_text(810_702_000_000), "810,702,000,000");
    assert_eq!(units::bytes_text(810_702_000_000), "755.03 GiB");
}

#[portable_test]
fn a_link_survives_decoding_and_encoding() {
    let fragment = "v=1&model=meta-llama/Llama-3.1-8B&max_length=131072&num_gpus=8&zero_stage=3";
    let decoded = link::decode(fragment);
    assert!(decoded.problems.is_empty(), "{:?}", decoded.problems);
    assert_eq!(link::decode(&link::encode(&decoded.plan)).plan, decoded.plan);
}

#[portable_test]
fn an_estimate_is_the_same_to_the_byte() {
    let fragment = "v=1&model=meta-llama/Llama-3.1-405B&method=full&max_length=131072&num_gpus=8&zero_stage=3";
    let plan = link::decode(fragment).plan;
    let answer = headroom_core::memory::estimate(&job(&plan));
    assert_eq!(answer.param_count, 405_853_388_800);
    assert_eq!(answer.peak.allocated_bytes, 13_558_946_581_504);
}
