//! SFT by trainer and version: which loss runs, over how many tokens, and what that comes to.
#![allow(clippy::panic, clippy::unwrap_used, missing_docs)]

use headroom_core::job::{Job, LossImplementation};
use headroom_core::memory;
use headroom_core::plan::{Dtype, Plan, Problem, ProblemKind};

/// The job of a plan for a small model with these further keys.
fn job(keys: &str) -> Job {
    Job::resolve(&plan(keys)).unwrap()
}

fn plan(keys: &str) -> Plan {
    let json = format!(
        r#"{{"model": "Qwen/Qwen2.5-0.5B", "method": "full", "per_device_train_batch_size": 4,
            "torch_dtype": "bfloat16", "gpu": {{"memory_gib": 4096, "compute_capability": "8.0"}}, {keys}}}"#
    );
    Plan::from_json(&json).unwrap()
}

fn peak(keys: &str) -> u64 {
    memory::estimate(&job(keys)).peak.allocated_bytes
}

fn trl(version: &str) -> String {
    format!(r#""trainer": {{"name": "trl", "version": "{version}"}}"#)
}

#[test]
fn each_version_computes_its_own_loss() {
    for (version, loss) in [
        ("0.24.0", LossImplementation::FullLogits),
        ("1.6.0", LossImplementation::FullLogits),
        ("1.9.0", LossImplementation::ChunkedNll),
        ("1.12.0", LossImplementation::ChunkedNll),
        ("1.16.0", LossImplementation::FusedLmHead),
    ] {
        assert_eq!(job(&trl(version)).loss(), loss, "{version}");
    }
    let liger = |version: &str| job(&format!(r#"{}, "use_liger_kernel": true"#, trl(version))).loss();
    assert_eq!(liger("1.12.0"), LossImplementation::Liger);
    // 1.16 applies Liger's layers and keeps its own head.
    assert_eq!(liger("1.16.0"), LossImplementation::FusedLmHead);
}

#[test]
fn a_loss_that_no_trainer_offers_is_refused_by_name() {
    let problems = |keys: &str| Job::resolve(&plan(keys)).unwrap_err();
    for keys in [
        format!(r#"{}, "loss_implementation": "cut_cross_entropy""#, trl("1.16.0")),
        format!(r#"{}, "loss_implementation": "full_logits""#, trl("1.16.0")),
        format!(r#"{}, "loss_implementation": "fused_lm_head""#, trl("1.9.0")),
    ] {
        let [problem] = &problems(&keys)[..] else { panic!("{keys}") };
        assert_eq!(problem.field, "loss_implementation", "{keys}");
        assert!(matches!(problem.kind, ProblemKind::NotModelled { .. }), "{keys}");
    }
    assert_eq!(job(r#""loss_implementation": "fused_lm_head""#).loss(), LossImplementation::FusedLmHead);
}

#[test]
fn cut_cross_entropy_has_no_logits_and_wants_16_bits() {
    let trainer = |name: &str| format!(r#""trainer": {{"name": "{name}"}}, "max_length": 4096"#);
    for name in ["custom", "transformers", "axolotl"] {
        let full = peak(&trainer(name));
        let cut = |more: &str| peak(&format!(r#"{}, "loss_implementation": "cut_cross_entropy"{more}"#, trainer(name)));
        // [4, 4096, 151936] logits in fp32 are 9.3 GiB.
        assert!(cut("") + (9 << 30) < full, "{name}: {} {full}", cut(""));
        assert!(cut(r#", "label_tokens": 16"#) <= cut(""), "{name}");
    }
    let wide = r#""loss_implementation": "cut_cross_entropy", "torch_dtype": "float32""#;
    let json = format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", "method": "full", {wide}}}"#);
    let problems = Job::resolve(&Plan::from_json(&json).unwrap()).unwrap_err();
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(problem.field, "torch_dtype");
    for name in ["unsloth", "torchtune"] {
        let json = format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", "method": "full", "loss_implementation": "{name}"}}"#);
        let problems = Plan::from_json(&json).unwrap_err();
        let not_modelled =
            |problem: &Problem| matches!(&problem.kind, ProblemKind::NotModelled { value, .. } if value == name);
        assert!(problems.iter().any(not_modelled), "{name}: {problems:?}");
    }
}

#[test]
fn losses_in_tiles_need_less_than_whole_logits_and_less_with_fewer_labels() {
    let new = |more: &str| peak(&format!(r#"{}, "max_length": 4096{more}"#, trl("1.16.0")));
    let old = peak(&format!(r#"{}, "max_length": 4096"#, trl("1.0.0")));
    assert!(2 * new("") < old, "{} {old}", new(""));
    // Where the head's own tensors are the peak.
    let short = |more: &str| peak(&format!(r#"{}, "max_length": 1024{more}"#, trl("1.16.0")));
    assert!(short(r#", "label_tokens": 64"#) < short(""));
    let chunked = |more: &str| peak(&format!(r#"{}, "max_length": 4096{more}"#, trl("1.9.0")));
    assert!(2 * chunked("") < old);
}

#[test]
fn accelerate_casts_outputs_under_autocast_only() {
    // The same plain loss: the Trainer's outputs are fp32 once autocast is on, without a word in the plan.
    let trainer = r#""trainer": {"name": "transformers", "version": "5.23.0"}, "mixed_precision": "bf16""#;
    let cast = r#""optim": "adamw_torch_fused", "mixed_precision": "bf16", "logits_to_fp32": true"#;
    assert_eq!(peak(trainer), peak(cast));
}

#[test]
fn packed_batches_are_one_row() {
    let rows = |more: &str| {
        let batches = *job(&format!("{}{more}", trl("1.16.0"))).batches();
        (batches.sequences_per_forward, batches.tokens_per_sequence, batches.tokens_per_step)
    };
    assert_eq!(rows(""), (4, 1024, 4096));
    assert_eq!(rows(r#", "packing": true"#), (1, 4096, 4096));
    assert_eq!(rows(r#", "padding_free": true"#), (1, 4096, 4096));
    assert_eq!(rows(r#", "packing": true, "packing_strategy": "wrapped""#), (4, 1024, 4096));
}

#[test]
fn offloaded_activations_leave_the_gpu() {
    let of =
        |more: &str| peak(&format!(r#"{}, "gradient_checkpointing": false, "max_length": 2048{more}"#, trl("1.16.0")));
    assert!(2 * of(r#", "activation_offloading": true"#) < of(""));
}

#[test]
fn adapters_beside_a_quantised_base_are_bf16_since_1_0() {
    let adapters = |version: &str| {
        let plan = Plan { method: headroom_core::plan::Method::Qlora, ..plan(&trl(version)) };
        Job::resolve(&plan).unwrap().numerics().adapters
    };
    assert_eq!((adapters("0.24.0"), adapters("1.6.0")), (Dtype::Float32, Dtype::Bfloat16));
}
