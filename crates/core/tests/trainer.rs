//! A trainer brings its defaults, and what was chosen by hand stays.
#![allow(clippy::unwrap_used, missing_docs)]

use headroom_core::job::Job;
use headroom_core::plan::{
    Dtype, Method, MixedPrecision, Optimizer, Plan, ProblemKind, Release, Task, Trainer, TrainerName,
};

fn read(json: &str) -> Plan {
    Plan::from_json(json).unwrap()
}

#[test]
fn a_plan_without_a_trainer_is_the_plain_loop() {
    let plan = read(r#"{"model": "Qwen/Qwen3-4B"}"#);
    assert_eq!(plan, Plan::default());
    assert_eq!(plan.trainer, Trainer { name: TrainerName::Custom, version: None });
}

#[test]
fn keys_that_are_left_out_take_the_trainers_defaults() {
    let plan = read(r#"{"model": "Qwen/Qwen3-4B", "trainer": {"name": "trl", "version": "1.16.0"}, "method": "full"}"#);
    assert!(plan.gradient_checkpointing);
    assert_eq!((plan.torch_dtype, plan.mixed_precision), (Dtype::Float32, MixedPrecision::Bf16));
    assert_eq!((plan.optim, plan.per_device_train_batch_size), (Optimizer::AdamwTorchFused, 8));
    // Wherever the trainer stands in the file.
    let late = read(
        r#"{"model": "Qwen/Qwen3-4B", "gradient_checkpointing": false, "method": "full",
            "trainer": {"version": "1.16.0", "name": "trl"}}"#,
    );
    assert_eq!(late, Plan { gradient_checkpointing: false, ..plan });
}

#[test]
fn a_plan_written_out_reads_back_whatever_the_trainer() {
    for name in TrainerName::ALL.iter().filter(|name| name.is_modelled()) {
        let plan = Plan::default().adopting(&Plan { trainer: Trainer::newest(*name), ..Plan::default() });
        assert_eq!(read(&plan.to_json()), plan, "{}", name.name());
        let link = headroom_core::link::encode(&plan);
        assert_eq!(headroom_core::link::decode(&link).plan, plan, "{link}");
        assert!(Job::resolve(&plan).is_ok(), "{}", name.name());
    }
}

#[test]
fn a_change_of_trainer_moves_defaults_and_leaves_choices() {
    let plain = Plan { max_grad_norm: 0.5, per_device_train_batch_size: 3, ..Plan::default() };
    let under_trl = plain.adopting(&Plan { trainer: Trainer::newest(TrainerName::Trl), ..plain.clone() });
    assert!(under_trl.gradient_checkpointing);
    assert_eq!(under_trl.per_device_train_batch_size, 3);
    assert_eq!(under_trl.max_grad_norm, 0.5);
    // And back.
    let again = under_trl.adopting(&Plan { trainer: plain.trainer.clone(), ..under_trl.clone() });
    assert_eq!(again, plain);
}

#[test]
fn a_change_of_task_or_method_stays_within_the_trainer() {
    let sft = Plan::newcomer();
    let chosen = Plan { task: Task::Grpo, method: Method::Full, ..sft.clone() };
    let grpo = sft.adopting(&chosen);
    assert_eq!(grpo.trainer, sft.trainer);
    assert_eq!(
        grpo,
        read(&format!(
            r#"{{"model": "Qwen/Qwen3-4B", "task": "grpo", "method": "full",
            "trainer": {{"name": "trl", "version": "{}"}}}}"#,
            sft.trainer.version.as_deref().unwrap()
        ))
    );
}

#[test]
fn a_version_between_two_measured_ones_is_the_earlier() {
    let release = |version: &str| Trainer { name: TrainerName::Trl, version: Some(version.to_owned()) }.release();
    assert_eq!(release("1.11.3"), Release::new(1, 9, 0));
    assert_eq!(release("1.16.0rc1"), Release::new(1, 16, 0));
    assert_eq!(release("9.0"), Release::new(1, 16, 0));
    assert_eq!(release("0.8"), Release::new(0, 24, 0));
    assert_eq!(Trainer { name: TrainerName::Trl, version: None }.release(), Release::new(1, 16, 0));
}

#[test]
fn a_trainer_that_is_not_modelled_is_refused_by_name() {
    for name in ["unsloth", "verl", "torchtune"] {
        let plan = read(&format!(r#"{{"model": "Qwen/Qwen3-4B", "trainer": {{"name": "{name}"}}}}"#));
        let problems = Job::resolve(&plan).unwrap_err();
        assert_eq!(problems[0].field, "trainer.name");
        assert!(matches!(&problems[0].kind, ProblemKind::NotModelled { value, modelled }
            if value == name && modelled.contains(&"trl") && !modelled.contains(&name)));
    }
}

#[test]
fn a_task_that_a_trainer_was_not_measured_with_is_refused_by_name() {
    let of = |trainer: &str, version: &str, task: &str| {
        let plan = format!(
            r#"{{"model": "Qwen/Qwen3-4B", "task": "{task}", "trainer": {{"name": "{trainer}", "version": "{version}"}}}}"#
        );
        Job::resolve(&read(&plan)).err()
    };
    assert_eq!(of("trl", "1.16.0", "kto"), None);
    for (trainer, version, task) in
        [("trl", "1.12.0", "kto"), ("axolotl", "0.19.0", "dpo"), ("transformers", "5.23.0", "dpo")]
    {
        let problems = of(trainer, version, task).unwrap();
        assert!(matches!(&problems[0].kind, ProblemKind::NotModelled { value, modelled }
            if value.starts_with(task) && modelled.contains(&"custom") && !modelled.contains(&trainer)));
    }
}
