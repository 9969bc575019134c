//! How long the page waits for the core: the median of many runs, in milliseconds. `cargo xtask bench` runs it natively,
//! `cargo xtask bench --browser` in the browser, built and optimised as the page is.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;

use clock::{now, print};
use headroom_core::advise::fill::{Target, fill};
use headroom_core::advise::{self, Heuristic, fit, map, solve, tiers};
use headroom_core::job::Job;
use headroom_core::memory::{estimate, estimate_replayed, outline};
use headroom_core::speed::step_time;
use headroom_core::{link, model};

/// A row is measured for about so long after its warm-up, milliseconds, but at least thrice.
const BUDGET: f64 = 300.0;
const FEWEST: usize = 3;

/// Cells of a side of the fit map, as the page draws it.
const SIDE: usize = 24;

/// Plans that differ in what the core has to do for them.
const PLANS: &[(&str, &str)] = &[
    ("LoRA, Qwen3-4B", "v=1&model=Qwen/Qwen3-4B&method=lora"),
    (
        "QLoRA, Llama-3.1-8B",
        "v=1&model=meta-llama/Llama-3.1-8B&method=qlora&gradient_checkpointing=true&max_length=4096",
    ),
    (
        "full, Llama-3.1-8B, ZeRO-3",
        "v=1&model=meta-llama/Llama-3.1-8B&method=full&max_length=8192&num_gpus=8&zero_stage=3",
    ),
    (
        "full, gemma-2-9b, 4 GPUs, ZeRO-3",
        "v=1&model=google/gemma-2-9b&method=full&num_gpus=4&zero_stage=3&max_length=8192",
    ),
    ("LoRA, gemma-3-4b, windows", "v=1&model=google/gemma-3-4b-pt&method=lora&max_length=4096"),
    ("full, Qwen3-30B-A3B, ZeRO-3", "v=1&model=Qwen/Qwen3-30B-A3B&method=full&num_gpus=8&zero_stage=3"),
    ("DPO, Llama-3.1-8B, LoRA", "v=1&model=meta-llama/Llama-3.1-8B&task=dpo&method=lora"),
    (
        "GRPO, Qwen2.5-7B, ZeRO-3",
        "v=1&model=Qwen/Qwen2.5-7B&task=grpo&method=full&num_gpus=8&zero_stage=3&per_device_train_batch_size=8&num_generations=8",
    ),
];

fn main() {
    // `cargo test --benches` runs this without `--bench`: once is enough to see that it works.
    let measure = cfg!(target_arch = "wasm32") || std::env::args().any(|word| word == "--bench");
    // `cargo bench --bench estimate -- ZeRO-3` measures the rows that name it.
    let only = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    let bench = |name: &str, work: &mut dyn FnMut()| {
        if wanted(name) {
            run(measure, name, work);
        }
    };

    let entry = model::find("meta-llama/Llama-3.1-8B").unwrap();
    let config = serde_json::from_str(entry.config).unwrap();
    print(&format!("{:<56} {:>10} {:>10} {:>6}", "", "median ms", "slowest", "runs"));
    bench("read a model's config.json", &mut || drop(black_box(model::Model::from_config(entry.id, &config))));
    bench("open a link", &mut || drop(black_box(link::decode(PLANS[2].1))));
    let job = resolved(PLANS[1].1);
    bench("resolve a plan", &mut || drop(black_box(Job::resolve(job.plan()))));
    for (name, fragment) in PLANS {
        let job = resolved(fragment);
        let bench = |what: &str, work: &mut dyn FnMut()| bench(&format!("{name}: {what}"), work);
        bench("estimate", &mut || drop(black_box(estimate(&job))));
        bench("replay", &mut || drop(black_box(estimate_replayed(&job))));
        bench("outline", &mut || drop(black_box(outline(&job))));
        bench("step time", &mut || drop(black_box(step_time(&job))));
        bench("tier matrix", &mut || drop(black_box(tiers::tiers(&job, &Heuristic))));
        let (batches, lengths) = map::axes(&job, SIDE);
        bench("fit map", &mut || drop(black_box(map::map(&job, batches.clone(), lengths.clone()))));
        bench("largest batch", &mut || drop(black_box(solve::most(&job, solve::Unknown::Batch, &Heuristic))));
        bench("levers", &mut || drop(black_box(fit::escalate(&job, &Heuristic))));
        bench("full advice", &mut || advice(&job));
    }
}

fn resolved(fragment: &str) -> Job {
    Job::resolve(&link::decode(fragment).plan).unwrap()
}

/// All that the page advises on a plan.
fn advice(job: &Job) {
    black_box(fit::escalate(job, &Heuristic));
    black_box(advise::impacts(job, &Heuristic));
    black_box(fill(job, Target::default(), &Heuristic));
    black_box(tiers::tiers(job, &Heuristic));
}

fn run(measure: bool, name: &str, work: &mut dyn FnMut()) {
    if measure {
        work();
    }
    let mut runs = Vec::new();
    let start = now();
    while runs.is_empty() || (measure && (runs.len() < FEWEST || now() - start < BUDGET)) {
        let begin = now();
        work();
        runs.push(now() - begin);
    }
    runs.sort_unstable_by(f64::total_cmp);
    let (median, slowest) = (runs[runs.len() / 2], runs[runs.len() - 1]);
    print(&format!("{name:<56} {median:>10.3} {slowest:>10.3} {:>6}", runs.len()));
}

#[cfg(not(target_arch = "wasm32"))]
mod clock {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    pub(crate) fn now() -> f64 {
        START.elapsed().as_secs_f64() * 1e3
    }

    pub(crate) fn print(line: &str) {
        println!("{line}");
    }
}

#[cfg(target_arch = "wasm32")]
mod clock {
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(js_namespace = performance)]
        pub(crate) fn now() -> f64;
        #[wasm_bindgen(js_namespace = console, js_name = log)]
        pub(crate) fn print(line: &str);
    }
}
