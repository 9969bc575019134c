//! The measured steps that an answer names.

#![allow(clippy::unwrap_used)]

use headroom_core::accuracy::{self, Aspect, Metric, Setting, Sharding};
use headroom_core::job::Job;
use headroom_core::memory::estimate;
use headroom_core::plan::{Method, Optimizer, Plan};

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

fn plan(text: &str) -> Plan {
    Plan::from_json(text).unwrap()
}

fn of(plan: &Plan) -> accuracy::Accuracy {
    accuracy::of_job(&job(plan), &estimate(&job(plan)))
}

const LORA: &str = r#"{"model": "Qwen/Qwen2.5-1.5B", "method": "lora", "torch_dtype": "bfloat16", "mixed_precision": "no",
    "optim": "adamw_torch_fused", "gradient_checkpointing": false, "attn_implementation": "sdpa",
    "per_device_train_batch_size": 2, "max_length": 1024, "gpu": "rtx-4090"}"#;

#[test]
fn steps_of_the_same_settings_come_first_and_the_nearest_size_before_others() {
    let plan = plan(LORA);
    let near = of(&plan).near;
    assert!((3..=6).contains(&near.len()), "{near:?}");
    let weight = |of: &accuracy::Near| {
        Aspect::ALL.iter().fold(0, |digits, aspect| digits * 2 + u32::from(of.differs.contains(aspect)))
    };
    assert!(near.is_sorted_by_key(weight), "{near:?}");
    assert!(near[0].differs.is_empty(), "{near:?}");
    assert_eq!(near[0].case.setting, Setting::of(&job(&plan)));
    assert!(near.iter().filter(|near| near.case.figure(Metric::Required).is_some()).count() >= 3, "{near:?}");
}

#[test]
fn a_weightier_difference_is_farther_than_all_lighter_ones_together() {
    let wanted = Plan { method: Method::Lora, optim: Optimizer::Muon, ..plan(LORA) };
    for near in of(&wanted).near {
        assert_eq!(near.case.setting.method, Method::Lora, "no other method is nearer: {near:?}");
        assert!(near.differs.contains(&Aspect::Optimizer));
    }
}

#[test]
fn errors_carried_over_are_around_what_is_expected() {
    let plan = plan(LORA);
    let peak = estimate(&job(&plan)).peak;
    let (least, most) = of(&plan).carried.unwrap();
    assert!(least <= most);
    let expandable = Plan { expandable_segments: true, ..plan.clone() };
    assert!(of(&expandable).carried.unwrap().1 <= most, "fewer holes, less memory");
    assert_eq!(of(&expandable).coverage, None);
    let errors: Vec<f64> =
        of(&plan).near.iter().filter_map(|near| near.case.figure(Metric::Required)).map(|f| f.error()).collect();
    let all_under = errors.iter().all(|error| *error < 0.0);
    assert_eq!(all_under, least > peak.required_bytes + peak.context_bytes, "{errors:?}");
}

#[test]
fn every_measured_step_is_read_and_survives_writing() {
    let text = include_str!("../src/accuracy/cases.txt");
    let table = accuracy::read(text);
    let lines = text.lines().filter(|line| !line.starts_with(['=', '+']) && !line.starts_with("covered ")).count();
    assert_eq!(table.cases.len(), lines);
    assert!(table.cases.iter().all(|case| !case.figures.is_empty() && case.million_params > 0));
    assert_eq!(accuracy::write(&table), text);
    assert_eq!(accuracy::read("= x\n+ nonsense\nnothing here\n").cases, []);
}

#[test]
fn names_of_shardings_can_be_read_back() {
    let zero = |stage, offload_optimizer, offload_param| Sharding::Zero { stage, offload_optimizer, offload_param };
    let all = [
        Sharding::None,
        Sharding::Ddp,
        zero(1, false, false),
        zero(1, true, false),
        zero(2, false, false),
        zero(2, true, false),
        zero(3, false, false),
        zero(3, true, false),
        zero(3, false, true),
        zero(3, true, true),
        Sharding::Fsdp2 { cpu_offload: false },
        Sharding::Fsdp2 { cpu_offload: true },
    ];
    for sharding in all {
        assert_eq!(Sharding::from_name(sharding.name()), Some(sharding));
    }
    assert_eq!(Sharding::from_name("zero"), None);
}
