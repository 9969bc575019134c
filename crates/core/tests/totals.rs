//! Every sum adds up to the verdict's figure, and each phase's need is its own.

#![allow(clippy::unwrap_used, clippy::panic)]

mod runnable_plan;

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate, Fit, Phase};
use headroom_core::plan::{GpuChoice, Method, ModelChoice, Plan};

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

const MIB: u64 = 1 << 20;

fn bytes_of<T>(parts: &[(T, u64)]) -> u64 {
    parts.iter().map(|(_, bytes)| bytes).sum()
}

/// What must hold of any answer, replayed or not.
fn adds_up(answer: &Estimate) {
    let need = answer.peak.band.expected;
    let of = |used| (answer.need_bytes(used), bytes_of(&answer.need_by_category(used)));
    for used in &answer.phases {
        let (total, by_category) = of(used);
        assert_eq!(total, by_category, "{:?}", used.phase);
        assert!(total <= need, "{:?} needs {total} of {need}", used.phase);
    }
    assert_eq!(of(answer.peak_phase().unwrap()).0, need, "the peak's phase is the verdict's figure");
    let at_peak: u64 = answer.allocations.iter().map(|row| row.bytes_at_peak).sum();
    assert_eq!(at_peak + bytes_of(&answer.overheads()), need, "the list of what lives at the peak");
    assert_eq!(i128::from(answer.gpu_bytes) - i128::from(need), i128::from(answer.verdict.headroom_bytes));
}

#[test]
fn every_total_is_the_verdicts_figure() {
    let mut failed = 0;
    for plan in runnable_plan::runnable_plans(200) {
        let at_once = memory::estimate(&job(&plan));
        adds_up(&at_once);
        assert_eq!(at_once.failure, None, "only a replay knows what fails");
        let answer = at_once.refined(&memory::replay(&job(&plan)));
        adds_up(&answer);
        if answer.verdict.fit != Fit::DoesNotFit {
            assert_eq!(answer.failure, None);
            continue;
        }
        let failure = answer.failure.as_ref().unwrap_or_else(|| panic!("does not fit and does not fail: {plan:?}"));
        failed += 1;
        let device = answer.gpu_bytes.saturating_sub(answer.peak.context_bytes);
        assert!(failure.tried_bytes > failure.free_bytes, "{failure:?}");
        assert!(failure.tried_bytes >= failure.request_bytes, "{failure:?}");
        assert_eq!(failure.allocated_bytes + failure.stranded_bytes + failure.free_bytes, device, "{failure:?}");
    }
    assert!(failed > 20, "{failed} of 200 plans failed: too few to say anything");
}

#[test]
fn a_phase_is_not_charged_with_what_the_peak_strands() {
    // 100 GiB of activations and gradients beside 15 GiB of weights: loading needs the weights and the context.
    let plan = Plan {
        model: ModelChoice::Catalogue("meta-llama/Llama-3.1-8B".to_owned()),
        gpu: GpuChoice::Catalogue("a100-80gb".to_owned()),
        method: Method::Lora,
        per_device_train_batch_size: 8,
        max_length: 2048,
        ..Plan::default()
    };
    let answer = memory::estimate_replayed(&job(&plan));
    let of = |phase: Phase| answer.phases.iter().find(|used| used.phase == phase).unwrap();
    let load = of(Phase::Load);
    let stranded = answer.peak_phase().unwrap().fragmentation_bytes;
    assert!(stranded > 1024 * MIB, "{stranded}: the test needs a peak that strands memory");
    assert!(load.fragmentation_bytes < 64 * MIB, "{load:?}");
    assert!(answer.need_bytes(load) < load.allocated_bytes + answer.peak.context_bytes + 64 * MIB);
}
