//! Evaluation between steps: what it needs at least, and what the verdict makes of it.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::advise::confirmed::{Direction, confirmed};
use headroom_core::advise::fill::Target;
use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate, EvaluationNeed, Fit, Note};
use headroom_core::plan::Plan;
use headroom_core::units::GIB;
use serde_json::{Value, json};

fn job(plan: &Value) -> Job {
    Job::resolve(&Plan::from_value(plan).unwrap()).unwrap()
}

fn estimate(plan: &Value) -> Estimate {
    memory::estimate_replayed(&job(plan))
}

/// A plan of transformers' Trainer that evaluates after each epoch, with `more`.
fn plan(model: &str, more: Value, still_more: Value) -> Value {
    let mut plan = json!({
        "model": model, "trainer": {"name": "transformers"}, "gradient_checkpointing": true, "eval_strategy": "epoch",
        "per_device_train_batch_size": 1,
    });
    for more in [more, still_more] {
        plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    }
    plan
}

fn need(plan: &Value) -> EvaluationNeed {
    estimate(plan).evaluation.unwrap()
}

/// Peaks of evaluations as transformers 5.24 and TRL 1.16 ran them, bytes: what is said to be needed at least is below each, and is
/// most of each where the loss alone is computed.
#[test]
fn what_is_said_is_needed_and_is_most_of_what_was_measured() {
    let llama = json!({"config": {
        "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 8, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128_256, "tie_word_embeddings": true, "head_dim": 64,
    }});
    let qwen = |more: Value| {
        plan("Qwen/Qwen2.5-0.5B", json!({"method": "full", "per_device_train_batch_size": 2, "max_length": 512}), more)
    };
    let qlora = json!({"model": llama, "method": "qlora", "mixed_precision": "bf16", "max_length": 1024});
    for (plan, measured, share) in [
        (plan("", json!({}), qlora), 11_956_132_864_u64, 0.99),
        (qwen(json!({"gradient_checkpointing": false})), 9_222_108_160, 0.99),
        // Autocast's copies of the weights are not counted.
        (qwen(json!({"torch_dtype": "float32", "mixed_precision": "bf16"})), 13_187_741_184, 0.92),
        // Three batches, of which two are counted.
        (qwen(json!({"mixed_precision": "bf16", "compute_metrics": true})), 17_926_000_000, 0.7),
    ] {
        let estimate = estimate(&plan);
        let need = estimate.evaluation.unwrap();
        let allocated = need.bytes - estimate.peak.device_overhead.expected;
        assert!(allocated <= measured, "{plan}: {allocated}");
        assert!(allocated as f64 >= share * measured as f64, "{plan}: {allocated} of {measured}");
        assert_eq!(need.batch_size, 8);
    }
}

#[test]
fn a_step_that_fits_is_tight_where_evaluation_does_not_fit() {
    let on = |memory_gib: f64, more: Value| {
        let gpu = json!({"gpu": {"memory_gib": memory_gib, "compute_capability": 8.9}, "torch_dtype": "bfloat16", "max_length": 1024});
        plan("meta-llama/Llama-3.2-1B", gpu, more)
    };
    let fit = |plan: &Value| estimate(plan).verdict.fit;
    assert_eq!(fit(&on(8.0, json!({"eval_strategy": "no"}))), Fit::Fits);
    let too_small = on(8.0, json!({}));
    assert_eq!(fit(&too_small), Fit::Tight);
    assert_eq!(estimate(&too_small).step_fit(), Fit::Fits);
    let first = estimate(&too_small).notes.into_iter().next().unwrap();
    let Note::Evaluation(need) = first else { panic!("{first:?}") };
    assert!(!need.fits() && need.fitting_batch_size >= 1, "{need:?}");
    // The largest batch that is named fits by its own estimate, and one more does not.
    for (more, fits) in [(0, Fit::Fits), (1, Fit::Tight)] {
        let batch = need.fitting_batch_size + more;
        assert_eq!(fit(&on(8.0, json!({"per_device_eval_batch_size": batch}))), fits, "{batch}");
    }
    assert_eq!(fit(&on(16.0, json!({}))), Fit::Fits);
    // Every size of GPU on which the step fits: no plain "fits" below what is needed at least.
    for memory in 5..20 {
        let estimate = estimate(&on(f64::from(memory), json!({})));
        let need = estimate.evaluation.unwrap();
        assert_eq!(need.fits(), need.bytes <= estimate.gpu_bytes);
        assert!(need.fits() || estimate.verdict.fit != Fit::Fits, "{memory} GiB");
    }
}

#[test]
fn advice_names_the_batch_that_fits_and_lets_training_be() {
    let own = job(&plan(
        "meta-llama/Llama-3.2-1B",
        json!({"max_length": 1024, "gpu": {"memory_gib": 8.0, "compute_capability": 8.9}, "torch_dtype": "bfloat16"}),
        json!({}),
    ));
    let advised = confirmed(&own, Target::default()).unwrap();
    let smaller = advised.smaller_evaluation.unwrap();
    assert!(matches!(advised.kind, Direction::Fill(_)), "the step fits");
    let estimate = memory::estimate_replayed(&own.with(smaller.clone()).unwrap());
    assert_eq!(estimate.verdict.fit, Fit::Fits);
    let unchanged = Plan { evaluation: own.plan().evaluation, ..smaller };
    assert_eq!(&unchanged, own.plan());
}

/// Bytes of logits a token and column of the vocabulary, by what computes the loss without gradients.
#[test]
fn logits_are_those_that_the_trainer_makes() {
    let model = "Qwen/Qwen2.5-0.5B";
    let columns = |more: Value| {
        let need = need(&plan(model, more, json!({})));
        need.logits_bytes as f64 / (need.batch_size * need.length) as f64 / 151_936.0
    };
    let trl = |more: Value| {
        let need = need(&plan(model, json!({"trainer": {"name": "trl"}}), more));
        need.logits_bytes as f64 / (need.batch_size * need.length) as f64 / 151_936.0
    };
    assert_eq!(columns(json!({})), 10.0);
    assert_eq!(columns(json!({"torch_dtype": "float32", "mixed_precision": "no"})), 8.0);
    assert_eq!(columns(json!({"torch_dtype": "float32", "mixed_precision": "bf16"})), 10.0);
    // The head is fused with the loss in evaluation too, until metrics ask for logits.
    assert_eq!(trl(json!({})), 0.0);
    assert_eq!(trl(json!({"compute_metrics": true, "mixed_precision": "bf16"})), 16.0);
    assert_eq!(trl(json!({"compute_metrics": true, "mixed_precision": "no"})), 16.0);
    // Liger's forward makes logits outside of training, unless the Trainer forbids it.
    assert_eq!(columns(json!({"use_liger_kernel": true})), 0.0);
    assert_eq!(columns(json!({"use_liger_kernel": true, "compute_metrics": true})), 10.0);
    assert_eq!(columns(json!({"mixed_precision": "bf16", "compute_metrics": true})), 16.0);
    assert_eq!(
        columns(json!({"use_liger_kernel": true, "trainer": {"name": "transformers", "version": "5.10.0"}})),
        10.0
    );
    // Chosen and rejected answers.
    assert_eq!(trl(json!({"task": "dpo"})), 0.0);
    assert_eq!(trl(json!({"task": "dpo", "trainer": {"name": "trl", "version": "1.0.0"}})), 12.0);
    let need = need(&plan(
        model,
        json!({"compute_metrics": true, "per_device_eval_batch_size": 3, "eval_length": 77}),
        json!({}),
    ));
    assert_eq!((need.batch_size, need.length, need.keeps_logits), (3, 77, true));
    assert!(need.bytes > need.logits_bytes && need.bytes < 80 * GIB);
}

#[test]
fn a_plan_that_does_not_evaluate_says_nothing_of_it() {
    let mut own =
        plan("Qwen/Qwen2.5-0.5B", json!({"per_device_eval_batch_size": 64, "compute_metrics": true}), json!({}));
    own["eval_strategy"] = "no".into();
    let estimate = estimate(&own);
    assert_eq!(estimate.evaluation, None);
    assert!(!estimate.notes.iter().any(|note| matches!(note, Note::Evaluation(_))));
}
