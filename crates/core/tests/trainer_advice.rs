//! Advice under a trainer: what it has, and nothing that it does already.

#![allow(clippy::unwrap_used, missing_docs)]

use headroom_core::advise::fit::{Found, escalate};
use headroom_core::advise::{Heuristic, Impact, Lever, impacts};
use headroom_core::job::Job;
use headroom_core::memory::outline;
use headroom_core::plan::{AttnImplementation, Method, Plan, Task, Trainer, TrainerName};

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

/// Qwen3-4B as TRL trains it at `version`, with long sequences.
fn trl(version: &str, task: Task) -> Plan {
    let trainer = Trainer { name: TrainerName::Trl, version: Some(version.to_owned()) };
    let plan = Plan { trainer, task, ..Plan::default() };
    Plan { max_length: 8192, per_device_train_batch_size: 2, ..Plan::default().adopting(&plan) }
}

fn impact_of(plan: &Plan, lever: Lever) -> Option<Impact> {
    impacts(&job(plan), &Heuristic).into_iter().find(|impact| impact.lever == lever)
}

#[test]
fn a_loss_that_the_trainer_chunks_already_is_not_proposed_in_chunks() {
    let offered = |version: &str| {
        let plan = trl(version, Task::Sft);
        [Lever::Liger, Lever::ChunkedLoss, Lever::LigerLayers].map(|lever| lever.apply(&job(&plan)).is_some())
    };
    assert_eq!(offered("1.16.0"), [false, false, true]);
    assert_eq!(offered("1.12.0"), [true, false, false]);
    assert_eq!(offered("1.6.0"), [true, true, false]);
    assert_eq!(offered("1.0.0"), [true, false, false]);
    let chunked = impact_of(&trl("1.6.0", Task::Sft), Lever::ChunkedLoss).unwrap();
    assert!(chunked.saved_bytes > 1 << 30, "{chunked:?}");
}

#[test]
fn no_change_is_one_that_the_trainer_makes_already() {
    for name in TrainerName::ALL.iter().filter(|name| !name.measured().is_empty()) {
        for method in Method::ALL {
            let plain = Plan { trainer: Trainer::newest(*name), method: *method, ..Plan::default() };
            let plan = Plan::default().adopting(&plain);
            let own = outline(&job(&plan));
            for impact in impacts(&job(&plan), &Heuristic) {
                let changed = outline(&job(&impact.plan));
                let time = (impact.time.expected - 1.0).abs() > 0.005;
                assert!(time || changed.peak != own.peak || changed.gpu_bytes != own.gpu_bytes, "{impact:?}");
            }
        }
    }
}

#[test]
fn activations_wait_on_the_host_where_the_trainer_has_it_and_it_saves() {
    let plan = Plan { max_length: 32768, ..trl("1.16.0", Task::Sft) };
    let offloaded = impact_of(&plan, Lever::OffloadActivations).unwrap();
    // 36 layers' inputs of 2 x 32768 x 2560 numbers, less what is on its way.
    assert!(offloaded.saved_bytes > 8 << 30, "{offloaded:?}");
    assert!(offloaded.judgement.host_bytes > 8 << 30, "{offloaded:?}");
    assert!(offloaded.time.expected >= 1.0, "{offloaded:?}");
    let grpo = Plan { per_device_train_batch_size: 8, ..trl("1.16.0", Task::Grpo) };
    for plan in [trl("1.6.0", Task::Sft), grpo, Plan::default()] {
        assert_eq!(impact_of(&plan, Lever::OffloadActivations), None);
    }
    let on = Plan { activation_offloading: true, ..plan };
    assert_eq!(impact_of(&on, Lever::OffloadActivations), None);
}

#[test]
fn rows_are_flattened_for_flash_attention_and_apart_for_other_kernels() {
    let plan = trl("1.16.0", Task::Sft);
    let mut flat = Plan { per_device_train_batch_size: 4, ..plan.clone() };
    flat.policy.padding_free = true;
    let apart = impact_of(&flat, Lever::Padded).unwrap();
    assert!(apart.saved_bytes > 0 && apart.plan == Plan { per_device_train_batch_size: 4, ..plan.clone() });
    let attn_implementation = AttnImplementation::FlashAttention2;
    let padded = Plan { padded_batch: true, attn_implementation, per_device_train_batch_size: 4, ..plan };
    assert!(Lever::PaddingFree.apply(&job(&padded)).is_some_and(|job| job.plan().flattens_batch()));
    assert!(Lever::PaddingFree.apply(&job(&flat)).is_none());
}

#[test]
fn what_takes_memory_for_speed_comes_last_and_is_worth_it() {
    let plan = headroom_core::link::decode(
        "v=1&model=google/gemma-2-9b&gpu=a100-80gb&num_gpus=4&trainer=transformers&method=full&zero_stage=3&max_length=8192&per_device_train_batch_size=8",
    );
    let escalation = escalate(&job(&plan.plan), &Heuristic);
    let advised = escalation.levels.iter().filter_map(|answer| match &answer.found {
        Found::Fits(advice) => Some(advice),
        Found::Short(_) => None,
    });
    let mut taken = 0;
    for advice in advised {
        let saves: Vec<bool> = advice.stages.iter().map(|stage| stage.saved_bytes >= 0).collect();
        assert!(saves.is_sorted_by(|a, b| a >= b), "{:?}", advice.stages);
        for pair in advice.stages.windows(2).filter(|pair| pair[1].saved_bytes < 0) {
            let gained = pair[0].time.expected / pair[1].time.expected;
            // More than runs differ by: ZeRO-1 spares LoRA the gathers of frozen weights.
            assert!(gained > 1.04, "{gained}: {pair:?}");
            taken += 1;
        }
    }
    assert!(taken > 0);
}
