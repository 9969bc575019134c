//! How long the page waits for the core: the median of many runs, in microseconds. Run with `cargo xtask bench`.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use headroom_core::memory::{estimate, estimate_replayed, outline};
use headroom_core::plan::alternatives;
use headroom_core::speed::step_time;
use headroom_core::{link, model};

/// A bench runs for about this long after its warm-up.
const BUDGET: Duration = Duration::from_millis(500);

fn main() {
    // `cargo test --benches` runs this without `--bench`: once is enough to see that it works.
    let measure = std::env::args().any(|word| word == "--bench");
    let entry = model::find("meta-llama/Llama-3.1-8B").unwrap();
    let config = serde_json::from_str(entry.config).unwrap();
    let fragment = "v=1&model=meta-llama/Llama-3.1-8B&max_length=8192&num_gpus=8&zero_stage=3";

    println!("{:<40} {:>12} {:>12} {:>8}", "", "median µs", "slowest µs", "runs");
    bench(measure, "read a model's config.json", || model::Model::from_config(entry.id, &config));
    bench(measure, "open a link", || link::decode(fragment));
    let plan = link::decode(fragment).plan;
    bench(measure, "estimate a plan, Llama-3.1-8B, ZeRO-3", || estimate(&plan));
    let subject = plan.subject().unwrap();
    bench(measure, "step time of a plan, Llama-3.1-8B, ZeRO-3", || step_time(&plan, &subject));
    let plan = link::decode("v=1&model=google/gemma-2-9b&gradient_checkpointing=true&attn_implementation=eager").plan;
    bench(measure, "estimate a plan, alternating windows", || estimate(&plan));
    bench(measure, "the same, replayed", || estimate_replayed(&plan));
    let plan = link::decode("v=1&model=Qwen/Qwen3-4B&num_gpus=8").plan;
    bench(measure, "replay LoRA on Qwen3-4B", || estimate_replayed(&plan));
    bench(measure, "the whole comparison, 8 cards", || {
        alternatives(&plan)
            .iter()
            .map(|one| outline(&one.plan).map(|answer| answer.peak.allocated_bytes))
            .collect::<Vec<_>>()
    });
}

fn bench<T>(measure: bool, name: &str, mut work: impl FnMut() -> T) {
    black_box(work());
    let mut runs = Vec::new();
    let start = Instant::now();
    while runs.is_empty() || (measure && start.elapsed() < BUDGET) {
        let begin = Instant::now();
        black_box(work());
        runs.push(begin.elapsed());
    }
    runs.sort_unstable();
    let micros = |run: Duration| run.as_secs_f64() * 1e6;
    let (median, slowest) = (micros(runs[runs.len() / 2]), micros(runs[runs.len() - 1]));
    println!("{name:<40} {median:>12.1} {slowest:>12.1} {:>8}", runs.len());
}
