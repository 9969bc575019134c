//! Padding and documents in one row under the flash-attention package, which takes no mask.
#![allow(clippy::unwrap_used, missing_docs)]

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate, Phase, Term};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

const LAYERS: u64 = 28;
/// Sequences and tokens of each.
const BATCH: (u64, u64) = (4, 1024);
/// Width of all queries.
const QUERIES: u64 = 16 * 128;

fn estimate(more: Value) -> Estimate {
    let mut plan = json!({
        "model": "Qwen/Qwen3-0.6B", "gpu": "a100-80gb", "method": "full",
        "per_device_train_batch_size": BATCH.0, "max_length": BATCH.1,
    });
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    memory::estimate(&Job::resolve(&Plan::from_json(&plan.to_string()).unwrap()).unwrap())
}

fn of(estimate: &Estimate, term: Term) -> u64 {
    estimate.allocations.iter().filter(|one| one.term == term).map(|one| one.formula_bytes).sum()
}

fn forward(estimate: &Estimate) -> u64 {
    estimate.phases.iter().find(|phase| phase.phase == Phase::Loss).unwrap().allocated_bytes
}

#[test]
fn padding_is_taken_out_of_queries_keys_and_values_and_put_back() {
    let of_flash = |padded: bool| estimate(json!({"attn_implementation": "flash_attention_2", "padded_batch": padded}));
    let (plain, padded) = (of_flash(false), of_flash(true));
    // Copies of q, k and v are kept in place of what they are copies of; beside them where the tokens are, and attention's output
    // in the batch that the next projection reads.
    let tokens = BATCH.0 * BATCH.1;
    let of_layer = 8 * tokens + 2 * QUERIES * tokens;
    let expected = LAYERS * of_layer + 8 * tokens;
    let more = forward(&padded) - forward(&plain);
    assert!(more.abs_diff(expected) < 4 << 20, "{more} {expected}");
    assert_eq!(of(&padded, Term::AttentionMask), LAYERS * 8 * tokens, "no mask of s x s");
    // PyTorch's kernels take one.
    let sdpa = estimate(json!({"padded_batch": true}));
    assert!(of(&sdpa, Term::AttentionMask) > LAYERS * 2 * BATCH.0 * BATCH.1 * BATCH.1);
}

#[test]
fn documents_in_a_row_are_told_by_their_lengths_whoever_trains() {
    for trainer in ["custom", "trl", "transformers"] {
        let packed = |attention: &str| {
            estimate(json!({
                "trainer": {"name": trainer}, "packing": true, "attn_implementation": attention, "torch_dtype": "bfloat16",
            }))
        };
        assert_eq!(of(&packed("flash_attention_2"), Term::AttentionMask), 0, "{trainer}");
        assert!(of(&packed("sdpa"), Term::AttentionMask) > 0, "{trainer}");
    }
}
