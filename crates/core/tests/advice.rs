//! Advice holds what it promises: plans that do not fit are made to, by the quickest way there is.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::advise::code::{code, code_text};
use headroom_core::advise::fit::{Advice, Escalation, Found, escalate, exhaustive};
use headroom_core::advise::tiers::{Reason, Tier, tiers};
use headroom_core::advise::{
    Baseline, FitOracle, Heuristic, Judgement, Level, Lever, Precision, Remembering, ReplayedIfClose, Stage,
    frozen_in_float32, usual_host, waterfall,
};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{Fit, Note, outline};
use headroom_core::plan::{Offload, Plan, RolloutEngine};
use std::thread;

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

/// Plans over models, methods, GPUs and shapes that are too big for their GPUs.
fn too_big(count: usize) -> Vec<Plan> {
    let models = [
        "Qwen/Qwen2.5-0.5B",
        "Qwen/Qwen3-4B",
        "meta-llama/Llama-3.1-8B",
        "mistralai/Mistral-7B-v0.1",
        "google/gemma-2-9b",
        "Qwen/Qwen3-1.7B",
    ];
    let methods = ["full", "lora", "qlora", "full&torch_dtype=float32&mixed_precision=bf16"];
    let gpus = ["rtx-3060", "rtx-4090", "a100-40gb", "a100-80gb&num_gpus=8", "rtx-4090&num_gpus=4", "t4"];
    let shapes = [(4, 1024, 1), (1, 4096, 8), (16, 512, 2), (2, 2048, 4), (8, 1024, 1), (3, 1536, 6)];
    let mut plans = Vec::new();
    for (i, model) in models.iter().enumerate() {
        for (j, method) in methods.iter().enumerate() {
            for (k, gpu) in gpus.iter().enumerate() {
                for l in 0..shapes.len() {
                    let (b, s, a) = shapes[(i + j + k + l) % shapes.len()];
                    let fragment = format!(
                        "v=1&model={model}&method={method}&gpu={gpu}&per_device_train_batch_size={b}&max_length={s}&gradient_accumulation_steps={a}"
                    );
                    let decoded = link::decode(&fragment);
                    assert!(decoded.problems.is_empty(), "{fragment}: {:?}", decoded.problems);
                    assert!(Job::resolve(&decoded.plan).is_ok(), "{fragment}");
                    if !Heuristic.fits(&job(&decoded.plan)) {
                        plans.push(decoded.plan);
                    }
                }
            }
        }
    }
    let step = (plans.len() / count).max(1);
    plans.into_iter().step_by(step).take(count).collect()
}

#[test]
fn advice_fits_keeps_the_effective_batch_and_is_the_quickest_there_is() {
    let plans = too_big(340);
    let halves = plans.split_at(plans.len() / 2);
    let helped: usize = thread::scope(|scope| {
        let runs =
            [halves.0, halves.1].map(|half| scope.spawn(move || half.iter().filter(|plan| is_helped(plan)).count()));
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert!(helped >= 200, "only {helped} of the plans can be helped: choose others");
}

#[test]
fn tasks_with_models_beside_the_policy_are_helped_as_well() {
    let models = ["Qwen/Qwen2.5-1.5B", "mistralai/Mistral-7B-v0.1"];
    let gpus = ["rtx-4090", "a100-40gb&num_gpus=2"];
    let tasks = [
        "task=dpo&per_device_train_batch_size=8&max_length=1024",
        "task=dpo&per_device_train_batch_size=4&max_length=512&reward_models=%5B%7B%7D%5D",
        "task=reward&per_device_train_batch_size=16&max_length=1024",
        "task=grpo&per_device_train_batch_size=16&num_generations=8&max_completion_length=512&beta=0.04",
        "task=grpo&per_device_train_batch_size=16&prompts=8&num_generations=16&max_completion_length=256&sequences_at_once=16",
        "task=ppo&per_device_train_batch_size=16&max_completion_length=256",
    ];
    let (mut helped, mut asked) = (0, 0);
    for (model, gpu) in models.iter().flat_map(|model| gpus.iter().map(move |gpu| (model, gpu))) {
        for (i, task) in tasks.iter().enumerate() {
            let method = ["full", "lora"][i % 2];
            let fragment = format!("v=1&model={model}&gpu={gpu}&method={method}&{task}");
            let decoded = link::decode(&fragment);
            assert!(decoded.problems.is_empty(), "{fragment}: {:?}", decoded.problems);
            assert!(Job::resolve(&decoded.plan).is_ok(), "{fragment}: {:?}", Job::resolve(&decoded.plan));
            if !Heuristic.fits(&job(&decoded.plan)) {
                asked += 1;
                helped += usize::from(is_helped(&decoded.plan));
            }
        }
    }
    assert!(asked >= 10 && helped >= 8, "{helped} of {asked}");
}

/// What the search for the quickest fit takes for granted of DeepSpeed's buckets.
#[test]
fn buckets_do_not_move_what_stands() {
    let (mut seen, mut moved) = (0, 0);
    for model in ["Qwen/Qwen3-4B", "google/gemma-2-2b", "Qwen/Qwen3-30B-A3B"] {
        for sharding in ["zero_stage=1", "zero_stage=2", "zero_stage=2&offload_optimizer=cpu", "zero_stage=3"] {
            for how in ["method=full", "method=lora", "method=full&torch_dtype=float32&mixed_precision=bf16"] {
                for rest in ["", "&gradient_checkpointing=true&gradient_accumulation_steps=4"] {
                    let fragment = format!("v=1&model={model}&num_gpus=8&{sharding}&{how}{rest}");
                    let plan = link::decode(&fragment).plan;
                    let small = Lever::SmallBuckets.apply(&job(&plan)).unwrap();
                    let (own, small) = (Heuristic.judge(&job(&plan)).unwrap(), Heuristic.judge(&small).unwrap());
                    if plan.zero_stage < 3 {
                        let stands = |judged: &Judgement| (judged.standing_bytes, judged.update_bytes);
                        assert_eq!(stands(&own), stands(&small), "{fragment}");
                    }
                    seen += 1;
                    moved += usize::from(own.need_bytes != small.need_bytes);
                }
            }
        }
    }
    assert!(moved * 2 > seen, "buckets moved {moved} of {seen} plans");
}

/// Checks what each level has for one plan; whether any of them helps.
fn is_helped(plan: &Plan) -> bool {
    let oracle = Remembering::new(&Heuristic);
    let name = link::encode(plan);
    let escalation = escalate(&job(plan), &oracle);
    let (mut fits, mut milder) = (false, Vec::new());
    for answer in &escalation.levels {
        let best = exhaustive(&job(plan), answer.level, &oracle);
        match (&answer.found, best) {
            (Found::Fits(advice), Some(best)) => {
                check(plan, advice);
                let own = advice.seconds_per_token;
                assert!(own <= best * 1.05, "{name} {:?}: {own} s a token, {best} s would do", answer.level);
                let is_enough = |(_, seconds): &&(Level, f64)| *seconds * 0.95 <= own;
                assert_eq!(answer.enough, milder.iter().find(is_enough).map(|(level, _)| *level), "{name}");
                milder.push((answer.level, own));
                fits = true;
            }
            (Found::Short(leanest), None) => {
                let leanest = leanest.as_ref().map(|leanest| oracle.judge(&job(&leanest.plan)).unwrap().need_bytes);
                assert!(
                    leanest.is_none_or(|leanest| leanest <= oracle.judge(&job(plan)).unwrap().need_bytes),
                    "{name}"
                );
            }
            (found, best) => panic!("{name} {:?}: {found:?}, by exhaustive search {best:?}", answer.level),
        }
    }
    for hardware in &escalation.hardware {
        assert!(!fits && oracle.suits(&job(&hardware.plan)), "{name}: {hardware:?}");
        assert_eq!(hardware.plan.batches().effective_batch_size, plan.batches().effective_batch_size, "{name}");
    }
    fits
}

fn check(plan: &Plan, advice: &Advice) {
    let name = link::encode(plan);
    assert!(Heuristic.suits(&job(&advice.plan)), "{name}: the advised plan does not fit");
    assert_eq!(advice.plan.batches().effective_batch_size, plan.batches().effective_batch_size, "{name}");
    assert_eq!(waterfall(&job(plan), &advice.levers, &Heuristic), advice.stages);
    assert_eq!(advice.stages.last().map(|stage| &stage.plan), Some(&advice.plan), "{name}");
    assert!(advice.stages.iter().all(|stage| stage.level <= advice.level), "{name}: {:?}", advice.levers);
    let lost = Precision::of(&job(&advice.plan)).fewer_than(&Precision::of(&job(plan)));
    match advice.level {
        Level::Same => assert_eq!(lost, [], "{name}: {:?}", advice.levers),
        Level::Coarser => assert_ne!(lost, [], "{name}: {:?}", advice.levers),
        Level::Different => {}
    }
    // A milder lever stands behind a harsher one only where no fewer save something with the mild ones first, or where that
    // order makes no sense.
    let mut mild_first: Vec<_> = advice.stages.iter().map(|stage| (stage.level, stage.lever)).collect();
    mild_first.sort_by_key(|(level, _)| *level);
    let levers: Vec<_> = mild_first.into_iter().map(|(_, lever)| lever).collect();
    let others = waterfall(&job(plan), &levers, &Heuristic);
    if others.last().map(|stage| &stage.plan) == Some(&advice.plan) {
        let idle = |stages: &[Stage]| stages.iter().filter(|stage| stage.saved_bytes < 1 << 20).count();
        assert!(idle(&advice.stages) <= idle(&others), "{name}: {:?}", advice.levers);
    }
    let saved: i64 = advice.stages.iter().map(|stage| stage.saved_bytes).sum();
    let need = |plan: &Plan| i64::try_from(Heuristic.judge(&job(plan)).unwrap().need_bytes).unwrap();
    assert_eq!(saved, need(plan) - need(&advice.plan), "{name}: the waterfall must sum up");
}

#[test]
fn the_mildest_level_comes_first() {
    let plan = link::decode("v=1&model=meta-llama/Llama-3.1-8B&method=full&gpu=a100-80gb&max_length=2048").plan;
    let escalation = escalate(&job(&plan), &Heuristic);
    assert_eq!(escalation.mildest().map(|advice| advice.level), Some(Level::Same));
    assert_eq!(escalation.levels.iter().map(|answer| answer.level).collect::<Vec<_>>(), Level::ALL);
}

#[test]
fn what_fits_nowhere_gets_hardware() {
    let plan =
        link::decode("v=1&model=meta-llama/Llama-3.1-70B&method=full&gpu=rtx-3060&num_gpus=32&max_length=32768").plan;
    let escalation = escalate(&job(&plan), &Heuristic);
    assert!(escalation.mildest().is_none() && !escalation.hardware.is_empty());
    // What a level falls short by is what its leanest plan needs, not what happened to be looked at.
    let offloaded =
        Plan { zero_stage: 3, offload_optimizer: Offload::Cpu, offload_param: Offload::Cpu, ..plan.clone() };
    let offloaded =
        Heuristic.judge(&job(&Plan { gradient_checkpointing: true, use_liger_kernel: true, ..offloaded })).unwrap();
    for answer in &escalation.levels {
        let Found::Short(Some(leanest)) = &answer.found else { panic!("{answer:?}") };
        assert!(leanest.need_bytes <= offloaded.need_bytes, "{:?}: {}", answer.level, leanest.need_bytes);
    }
    for hardware in escalation.hardware {
        assert!(Heuristic.suits(&job(&hardware.plan)), "{hardware:?}");
    }
}

/// The advice for a plan as a link, its GPUs, and what it puts on the host in GiB.
fn advised(fragment: &str) -> (Escalation, impl Fn(&Plan) -> u64) {
    let plan = link::decode(fragment).plan;
    (escalate(&job(&plan), &Heuristic), |plan: &Plan| Heuristic.judge(&job(plan)).unwrap().host_bytes >> 30)
}

#[test]
fn more_gpus_come_before_a_host_that_nobody_has() {
    let fragment = "v=1&model=meta-llama/Llama-3.1-405B&method=full&gpu=rtx-3050";
    let (escalation, host) = advised(fragment);
    assert!(escalation.mildest().is_none() && !escalation.hardware.is_empty());
    for hardware in &escalation.hardware {
        assert!(host(&hardware.plan) <= usual_host(&job(&hardware.plan)) >> 30, "{hardware:?}");
        assert!(hardware.level != Level::Same || hardware.num_gpus > 8, "{hardware:?}");
    }
    // What a reader asks for all the same is told.
    let asked = format!("{fragment}&zero_stage=3&offload_optimizer=cpu&offload_param=cpu");
    let estimate = outline(&job(&link::decode(&asked).plan));
    let note = estimate.notes.iter().find(|note| matches!(note, Note::HostMemory { .. }));
    let Some(Note::HostMemory { needed, usual, .. }) = note else { panic!("{:?}", estimate.notes) };
    assert!(*needed > 4 << 40 && *usual == 256 << 30, "{needed} {usual}");
    let tiers = tiers(&job(&link::decode("v=1&model=Qwen/Qwen2.5-32B&method=full&gpu=b200").plan), &Heuristic);
    let offloaded = tiers.iter().filter(|tier| tier.reason == Reason::HostTooSmall);
    let beyond = |tier: &Tier| {
        tier.judgement.is_some_and(|judged| judged.fit == Fit::Fits && !judged.suits_host(&job(&tier.alternative.plan)))
    };
    assert!(offloaded.clone().count() > 0 && offloaded.clone().all(beyond));
}

#[test]
fn offload_that_people_do_stays_possible() {
    for (fragment, least) in [
        ("v=1&model=mistralai/Mistral-7B-v0.1&method=full&gpu=rtx-4090&max_length=1024", 64),
        ("v=1&model=meta-llama/Llama-2-13b-hf&method=full&gpu=a100-40gb&max_length=1024", 128),
        ("v=1&model=meta-llama/Llama-3.1-70B&method=full&gpu=a100-80gb&num_gpus=8&max_length=4096", 512),
    ] {
        let (escalation, host) = advised(fragment);
        let advice = &escalation.levels[0].found;
        let Found::Fits(advice) = advice else { panic!("{fragment}: {advice:?}") };
        assert!(host(&advice.plan) > least, "{fragment}: {}", host(&advice.plan));
    }
}

#[test]
fn a_change_that_costs_memory_and_saves_no_time_is_left_out() {
    let gemma = "v=1&model=google/gemma-2-9b&num_gpus=4&zero_stage=3&max_length=8192";
    for more in [
        "method=full",
        "method=full&trainer=transformers&gradient_checkpointing=true",
        "method=full&trainer=trl&trainer_version=1.16.0&per_device_train_batch_size=2",
        "method=lora",
    ] {
        let (escalation, _) = advised(&format!("{gemma}&{more}"));
        let Found::Fits(advice) = &escalation.levels[0].found else { panic!("{more}: {:?}", escalation.levels[0]) };
        assert!(!advice.levers.iter().any(|lever| matches!(lever, Lever::Sharding { .. })), "{more}: {advice:?}");
        assert_eq!(advice.plan.zero_stage, 3, "{more}");
    }
}

#[test]
fn a_level_that_does_not_suffice_needs_less_than_the_plan() {
    let mut short = 0;
    for plan in too_big(40) {
        let own = job(&plan);
        let need = Heuristic.judge(&own).unwrap().need_bytes;
        for answer in escalate(&own, &Heuristic).levels {
            if let Found::Short(Some(leanest)) = answer.found {
                short += 1;
                assert!(leanest.need_bytes < need, "{:?} {} {need}", answer.level, link::encode(&plan));
            }
        }
    }
    let full = "v=1&model=meta-llama/Llama-3.1-8B&gpu=h100-sxm&num_gpus=8&method=full&torch_dtype=float32&mixed_precision=bf16\
        &per_device_train_batch_size=2&trainer=trl&trainer_version=1.16.0&optim=adamw_torch_fused&max_length=2048\
        &gradient_checkpointing=true";
    let own = job(&link::decode(full).plan);
    let need = Heuristic.judge(&own).unwrap().need_bytes;
    match &escalate(&own, &Heuristic).levels[0].found {
        Found::Short(leanest) => assert!(leanest.as_ref().is_none_or(|least| least.need_bytes < need), "{leanest:?}"),
        found @ Found::Fits(_) => panic!("{found:?}"),
    }
    assert!(short > 3, "{short}: choose other plans");
}

mod raised {
    use super::*;
    use headroom_core::advise::confirmed::{Direction, confirmed};
    use headroom_core::advise::fill::{Target, WORTH_RAISING, fill};
    use headroom_core::advise::map::{axes, map};
    use headroom_core::advise::solve::{Question, Search, Unknown, Wanted, most};
    use headroom_core::speed::{Part, step_time};

    #[test]
    fn an_idle_gpu_is_filled_into_its_target_and_never_beyond() {
        for (fragment, target) in [
            ("v=1&model=Qwen/Qwen2.5-0.5B&method=lora&gpu=a100-80gb", Target::default()),
            ("v=1&model=openai-community/gpt2&method=full&gpu=a100-40gb", Target { low: 0.3, high: 0.6 }),
            ("v=1&model=Qwen/Qwen3-1.7B&task=inference&gpu=rtx-4090", Target::default()),
        ] {
            let plan = link::decode(fragment).plan;
            let filled = fill(&job(&plan), target, &Heuristic);
            let raised: Vec<_> = [&filled.recommended, &filled.aggressive].into_iter().flatten().collect();
            assert!(!raised.is_empty(), "{fragment}: nothing is raised");
            for one in raised.into_iter().filter(|one| !one.keeps_effective_batch) {
                let used = Heuristic.judge(&job(&one.plan)).unwrap().used_share();
                assert!((target.low..=target.high).contains(&used), "{fragment}: {used}");
                assert!(one.gain.expected >= WORTH_RAISING, "{fragment}: {:?}", one.gain);
            }
        }
    }

    /// Every plan that trains the same as `plan` without some of its offload and checkpointing, at any batch with its effective
    /// batch, written out without the search.
    fn same_training(plan: &Plan) -> Vec<Plan> {
        let sequences = plan.per_device_train_batch_size * plan.gradient_accumulation_steps;
        let mut plans = Vec::new();
        for batch in (1..=sequences).filter(|batch| sequences.is_multiple_of(*batch)) {
            for stage in 0..=3 {
                for gradient_checkpointing in [true, false] {
                    let mut other = Plan {
                        per_device_train_batch_size: batch,
                        gradient_accumulation_steps: sequences / batch,
                        gradient_checkpointing: plan.gradient_checkpointing && gradient_checkpointing,
                        activation_offloading: false,
                        zero_stage: if plan.zero_stage > 0 { stage } else { plan.zero_stage },
                        offload_optimizer: Offload::None,
                        offload_param: Offload::None,
                        ..plan.clone()
                    };
                    if other.zero_stage == 0 {
                        other.distributed.grad_accum_dtype = None;
                    }
                    plans.push(other);
                }
            }
        }
        plans
    }

    #[test]
    fn no_plan_that_trains_the_same_is_worth_more_than_what_is_offered() {
        let models =
            ["Qwen/Qwen2.5-0.5B", "Qwen/Qwen3-4B", "meta-llama/Llama-3.1-8B", "google/gemma-2-2b", "Qwen/Qwen3-14B"];
        let ways = [
            "method=lora&gradient_checkpointing=true&gradient_accumulation_steps=16",
            "method=qlora&gradient_checkpointing=true&per_device_train_batch_size=2&gradient_accumulation_steps=8",
            "method=full&num_gpus=4&zero_stage=3&offload_optimizer=cpu&gradient_checkpointing=true&gradient_accumulation_steps=4",
            "method=full&num_gpus=8&zero_stage=3&offload_optimizer=cpu&offload_param=cpu&per_device_train_batch_size=4",
            "method=lora&trainer=trl&trainer_version=1.16.0&packing=true&attn_implementation=flash_attention_2\
             &per_device_train_batch_size=1&gradient_accumulation_steps=16&torch_dtype=bfloat16",
            "method=lora&num_gpus=4&zero_stage=3&offload_optimizer=cpu&offload_param=cpu&gradient_checkpointing=true&max_length=4096\
             &per_device_train_batch_size=2&gradient_accumulation_steps=4&trainer=trl&trainer_version=1.16.0&torch_dtype=bfloat16",
        ];
        let (mut asked, mut offered) = (0, 0);
        for (model, way) in models.iter().flat_map(|model| ways.iter().map(move |way| (model, way))) {
            for gpu in ["a100-80gb", "h100-sxm"] {
                let plan = link::decode(&format!("v=1&model={model}&gpu={gpu}&{way}")).plan;
                let own = job(&plan);
                let judged = ReplayedIfClose.judge(&own).unwrap();
                if judged.fit != Fit::Fits || judged.used_share() >= 0.6 {
                    continue;
                }
                asked += 1;
                let Some(Direction::Fill(filled)) = confirmed(&own, Target::default()).map(|advised| advised.kind)
                else {
                    panic!("{model} {gpu} {way} fits");
                };
                let seconds = |job: &Job| {
                    let time = step_time(job);
                    time.seconds.expected / time.tokens as f64
                };
                offered += usize::from(filled.recommended.is_some());
                let best = filled.recommended.as_ref().map_or(plan.clone(), |one| one.plan.clone());
                let own_seconds = seconds(&job(&best));
                let precision = Precision::of(&own);
                assert!(!Precision::of(&job(&best)).is_below(&precision), "{model} {way}");
                assert_eq!(best.batches().effective_batch_size, plan.batches().effective_batch_size, "{model} {way}");
                for other in same_training(&plan) {
                    let Ok(other) = own.with(other) else { continue };
                    let times = own_seconds / seconds(&other);
                    let is_quicker = times >= 1.05 && !Precision::of(&other).is_below(&precision);
                    // Only what is quicker need be replayed.
                    let is_missed = is_quicker && ReplayedIfClose.suits(&other);
                    assert!(!is_missed, "{model} {gpu} {way}: {times} by {}", link::encode(other.plan()));
                }
            }
        }
        assert!(asked >= 40 && offered >= 20, "{offered} of {asked}");
    }

    #[test]
    fn nothing_is_offered_that_is_hardly_quicker() {
        let models = ["Qwen/Qwen3-4B", "google/gemma-2-9b", "meta-llama/Llama-3.1-8B", "Qwen/Qwen2.5-0.5B"];
        let gpus = ["rtx-4090", "a100-40gb", "a100-80gb", "l4"];
        let shapes =
            ["lora&max_length=1024", "qlora&max_length=2048&gradient_checkpointing=true", "lora&max_length=4096"];
        let mut nothing = 0;
        for (model, gpu) in models.iter().flat_map(|model| gpus.iter().map(move |gpu| (model, gpu))) {
            for shape in shapes {
                let plan = link::decode(&format!("v=1&model={model}&gpu={gpu}&method={shape}")).plan;
                let filled = fill(&job(&plan), Target::default(), &Heuristic);
                let both = [&filled.recommended, &filled.aggressive];
                for one in both.into_iter().flatten() {
                    assert!(!one.changed.iter().any(|change| change.field == "max_length"), "{:?}", one.changed);
                }
                for one in both.into_iter().flatten().chain(&filled.others) {
                    assert!(one.gain.expected >= WORTH_RAISING, "{model} {gpu} {shape}: {:?}", one.gain);
                }
                nothing += usize::from(both.iter().all(|one| one.is_none()));
            }
        }
        assert!(nothing > 3, "{nothing}: choose other plans");
    }

    #[test]
    fn packed_rows_attend_by_document() {
        let seconds = |batch: u64| {
            let fragment = format!(
                "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&trainer=trl&trainer_version=1.16.0&packing=true&max_length=4096\
                 &attn_implementation=flash_attention_2&torch_dtype=bfloat16&per_device_train_batch_size={batch}"
            );
            let time = step_time(&job(&link::decode(&fragment).plan));
            time.parts.iter().find(|one| one.part == Part::Attention).unwrap().seconds.expected
        };
        let times = seconds(16) / seconds(1);
        assert!((times / 16.0 - 1.0).abs() < 0.02, "{times}: sixteen rows are sixteen documents at least");
    }

    #[test]
    fn the_most_fits_and_the_next_does_not() {
        let plan = link::decode("v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090").plan;
        for unknown in [Unknown::Batch, Unknown::Length, Unknown::Rank] {
            let most = most(&job(&plan), unknown, &Heuristic).unwrap();
            assert!(Heuristic.fits(&job(&most.plan)), "{unknown:?} {}", most.value);
            let next = most.next.unwrap_or_else(|| panic!("{unknown:?} ends at {}", most.value));
            assert!(!Heuristic.fits(&job(&unknown.set(&plan, next))), "{unknown:?} {next}");
        }
    }

    #[test]
    fn a_search_that_waits_for_verdicts_finds_what_one_that_has_them_finds() {
        let fragments = [
            "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090",
            "v=1&model=Qwen/Qwen3-4B&method=full&gpu=rtx-4090",
            "v=1&model=Qwen/Qwen2.5-0.5B&task=grpo&method=lora&gpu=rtx-4090&per_device_train_batch_size=8&max_completion_length=256",
        ];
        let questions = [
            Question::Most(Unknown::Batch),
            Question::Most(Unknown::Length),
            Question::Most(Unknown::Rank),
            Question::Most(Unknown::CompletionLength),
            Question::FewestGpus,
            Question::SmallestGpu,
        ];
        // Stricter than the quick look that the search starts from: it has to walk.
        let used = |plan: &Plan| Some(Heuristic.judge(&Job::resolve(plan).ok()?)?.used_share());
        let strict = |plan: &Plan| used(plan).is_some_and(|used| used < 0.8);
        for fragment in fragments {
            let plan = link::decode(fragment).plan;
            for question in questions {
                let search = Search::new(job(&plan), question);
                let mut known: Vec<(Plan, bool)> = Vec::new();
                let answer = loop {
                    let mut verdicts =
                        |job: &Job| known.iter().find(|(other, _)| other == job.plan()).map(|(_, fits)| *fits);
                    match search.answer(&mut verdicts) {
                        Ok(answer) => break answer,
                        Err(Wanted(wanted)) => {
                            let fits = strict(&wanted);
                            known.push((*wanted, fits));
                        }
                    }
                };
                let at_once = search.answer(&mut |job| Some(strict(job.plan()))).unwrap();
                assert_eq!(answer, at_once, "{fragment} {question:?}");
                if let Some(answer) = answer {
                    assert!(strict(&answer.plan), "{fragment} {question:?}");
                    assert!(answer.next.is_none_or(|next| !strict(&next)), "{fragment} {question:?}");
                }
            }
        }
    }

    #[test]
    fn answers_to_a_prompt_are_looked_for_among_those_that_divide() {
        let fragment = "v=1&model=Qwen/Qwen2.5-0.5B&task=grpo&method=lora&gpu=rtx-4090&per_device_train_batch_size=6\
            &num_generations=6&max_completion_length=128";
        let plan = link::decode(fragment).plan;
        assert!(Heuristic.fits(&job(&plan)));
        let most = most(&job(&plan), Unknown::Generations, &Heuristic).unwrap();
        assert!(most.value >= 6 && Heuristic.fits(&job(&most.plan)), "{}", most.value);
        assert!(
            most.next.is_none_or(|next| !Heuristic.fits(&job(&Unknown::Generations.set(&plan, next)))),
            "{:?}",
            most.next
        );
    }

    #[test]
    fn need_grows_with_batch_and_length() {
        let plan = link::decode("v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090").plan;
        for unknown in [Unknown::Batch, Unknown::Length, Unknown::Rank] {
            let needs: Vec<u64> =
                (1..=64).map(|value| Heuristic.judge(&job(&unknown.set(&plan, value))).unwrap().need_bytes).collect();
            assert!(needs.windows(2).all(|pair| pair[0] <= pair[1]), "{unknown:?} {needs:?}");
        }
    }

    #[test]
    fn the_map_says_what_single_estimates_say() {
        let plan = link::decode("v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090&max_length=2048").plan;
        let (batches, lengths) = axes(&job(&plan), 24);
        assert!(batches.contains(&1) && lengths.contains(&2048), "{batches:?} {lengths:?}");
        assert!(batches.is_sorted() && lengths.is_sorted());
        let map = map(&job(&plan), batches, lengths);
        for (i, s) in map.lengths.iter().enumerate().step_by(5) {
            for (j, b) in map.batches.iter().enumerate().step_by(7) {
                let own = Plan { per_device_train_batch_size: *b, max_length: *s, ..plan.clone() };
                let estimate = outline(&job(&own));
                let share = map.used_share[i][j];
                assert!((share / estimate.verdict.used_share - 1.0).abs() < 0.002, "b {b} s {s}: {share}");
            }
        }
    }

    #[test]
    fn one_gpu_shards_nothing_and_the_quickest_tier_of_several_fits() {
        let plan = link::decode("v=1&model=meta-llama/Llama-3.1-8B&gpu=a100-80gb&num_gpus=8&method=full").plan;
        let alone = link::decode("v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&zero_stage=2").plan;
        assert!(tiers(&job(&alone), &Heuristic).iter().any(|tier| tier.shards_nothing));
        let tiers = tiers(&job(&plan), &Heuristic);
        assert_eq!(tiers.len(), 18);
        let quickest: Vec<_> = tiers.iter().filter(|tier| tier.reason == Reason::Quickest).collect();
        assert!(!quickest.is_empty());
        for tier in quickest {
            let own = tier.time.unwrap().expected;
            assert!(Heuristic.fits(&job(&tier.alternative.plan)));
            let same = tiers.iter().filter(|other| other.alternative.method == tier.alternative.method);
            for other in same.filter(|other| Heuristic.fits(&job(&other.alternative.plan))) {
                let other = other.time.unwrap();
                assert!(own <= other.high && tier.time.unwrap().low <= other.expected);
            }
        }
        assert!(tiers.iter().all(|tier| !tier.shards_nothing));
        assert!(tiers.iter().any(|tier| tier.judgement.is_some_and(|judged| judged.host_bytes > 0)));
    }
}

#[test]
fn one_gpu_is_not_told_to_install_deepspeed_for_what_a_dtype_saves() {
    let lora = "v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090&trainer=trl&trainer_version=1.16.0&mixed_precision=bf16\
        &prepare_for_kbit_training=false&torch_dtype=float32&optim=adamw_torch_fused&per_device_train_batch_size=4\
        &max_length=4096&gradient_checkpointing=true";
    let own = job(&link::decode(lora).plan);
    let first = frozen_in_float32(&own, &Heuristic).unwrap();
    assert!(first.level == Level::Coarser && first.saved_bytes > 15 << 30, "{first:?}");
    assert!(code_text(&code(own.plan(), &first.plan)).contains("model_init_kwargs={\"dtype\": \"bfloat16\"}"));
    let escalation = escalate(&own, &Heuristic);
    assert!(matches!(escalation.levels[0].found, Found::Short(_)), "in fp32 the base alone is larger than the GPU");
    for answer in &escalation.levels[1..] {
        let Found::Fits(advice) = &answer.found else { panic!("{answer:?}") };
        assert_eq!(advice.plan.zero_stage, 0, "{:?}", advice.levers);
    }
    // Once the weights load in 16 bits the same result fits.
    assert_eq!(frozen_in_float32(&own.with(first.plan.clone()).unwrap(), &Heuristic), None);
    let Found::Fits(advice) = &escalate(&own.with(first.plan).unwrap(), &Heuristic).levels[0].found else { panic!() };
    assert_eq!(advice.plan.zero_stage, 0, "{:?}", advice.levers);
}

#[test]
fn a_plan_that_generates_with_transformers_hears_what_vllm_would_change() {
    let grpo = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&trainer=trl&trainer_version=1.16.0&task=grpo&torch_dtype=bfloat16\
        &mixed_precision=bf16&per_device_train_batch_size=8&prepare_for_kbit_training=false&max_completion_length=512";
    let own = job(&link::decode(grpo).plan);
    let impact = Baseline::of(&own, &Heuristic).unwrap().impact(&own, Lever::Vllm, &Heuristic).unwrap();
    assert!(impact.time.expected < 0.7, "{:?}", impact.time);
    assert!(job(&impact.plan).plan().rollout.engine == Some(RolloutEngine::Vllm), "the share is one that starts");
    assert!(code_text(&code(own.plan(), &impact.plan)).contains("use_vllm=True, vllm_mode=\"colocate\""));
    // Who has an engine, or generates nothing, hears nothing.
    assert_eq!(Lever::Vllm.apply(&job(&impact.plan)), None);
    assert_eq!(Lever::Vllm.apply(&job(&link::decode("v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb").plan)), None);
}
