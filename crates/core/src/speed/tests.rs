#![allow(clippy::unwrap_used, clippy::panic)]

use super::layer_times::LayerTimes;
use super::tasks;
use crate::job::Job;
use crate::link;

fn job(pairs: &str) -> Job {
    let decoded = link::decode(&format!("v=1&{pairs}"));
    assert!(decoded.problems.is_empty(), "{:?}", decoded.problems);
    Job::resolve(&decoded.plan).unwrap()
}

/// Operations of matmuls in a step.
fn flops(job: &Job) -> f64 {
    tasks::step(job, &LayerTimes::default()).flops
}

/// Six for each weight of a matmul and token, and attention: with a causal mask half of s keys for each query, two matmuls of 2·d
/// operations forward and five backward. Two and forward's attention once more where layers run again, which the head does not.
#[test]
fn matmuls_of_a_step_are_six_operations_for_each_weight_and_token() {
    let (tokens, s) = (8192.0, 4096.0);
    for (id, layer, layers, head) in [
        (
            "meta-llama/Llama-3.1-8B",
            2.0 * 4096.0 * 4096.0 + 2.0 * 1024.0 * 4096.0 + 3.0 * 14336.0 * 4096.0,
            32.0,
            128_256.0 * 4096.0,
        ),
        (
            "Qwen/Qwen3-4B",
            2.0 * 4096.0 * 2560.0 + 2.0 * 1024.0 * 2560.0 + 3.0 * 9728.0 * 2560.0,
            36.0,
            151_936.0 * 2560.0,
        ),
        // Two of eight experts, and the router.
        (
            "mistralai/Mixtral-8x7B-v0.1",
            2.0 * 4096.0 * 4096.0 + 2.0 * 1024.0 * 4096.0 + 2.0 * 3.0 * 14336.0 * 4096.0 + 8.0 * 4096.0,
            32.0,
            32_000.0 * 4096.0,
        ),
    ] {
        let pairs = format!("model={id}&gpu=h200&method=full&per_device_train_batch_size=2&max_length=4096");
        // 32 heads of 128 in each of them.
        let pairs_of_tokens = layers * 32.0 * 128.0 * 2.0 * (s / 2.0) * tokens;
        let expected = 6.0 * (layers * layer + head) * tokens + 7.0 * pairs_of_tokens;
        let found = flops(&job(&pairs));
        assert!((found / expected - 1.0).abs() < 1e-9, "{id}: {found:e} beside {expected:e}");
        let expected = expected + 2.0 * layers * layer * tokens + 2.0 * pairs_of_tokens;
        let found = flops(&job(&format!("{pairs}&gradient_checkpointing=true")));
        assert!((found / expected - 1.0).abs() < 1e-9, "{id}: {found:e} beside {expected:e}");
    }
}

/// Eager attention multiplies every pair of tokens, which causality saves no kernel of its own: twice as much as flash attention.
#[test]
fn eager_attention_multiplies_every_pair() {
    let of = |attention: &str| {
        flops(&job(&format!(
            "model=meta-llama/Llama-3.1-8B&gpu=h200&method=full&max_length=4096&attn_implementation={attention}"
        )))
    };
    let tokens = 4096.0;
    // Of flash attention five matmuls backward, of eager four: scores are kept.
    let pair = 32.0 * 32.0 * 128.0 * 2.0 * tokens;
    let (flash, eager) = (7.0 * pair * tokens / 2.0, 6.0 * pair * tokens);
    let found = of("eager") - of("sdpa");
    assert!((found / (eager - flash) - 1.0).abs() < 1e-6, "{found:e} beside {:e}", eager - flash);
}
