//! A trainer brings its defaults, and what was chosen by hand stays.
#![allow(clippy::unwrap_used, missing_docs)]

use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{self, Band, Fit, Note};
use headroom_core::plan::{
    Dtype, Framework, LaunchedBy, Method, MixedPrecision, Optimizer, Plan, ProblemKind, QuantStorage, Release, Task,
    Trainer, TrainerName, alternatives, changed_before,
};
use headroom_core::speed::step_time;

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
fn a_trainer_that_is_not_modelled_keeps_its_name_and_is_a_guess() {
    for (name, step, task) in [
        ("unsloth", TrainerName::Trl, "sft"),
        ("verl", TrainerName::Custom, "sft"),
        ("torchtune", TrainerName::Custom, "dpo"),
        ("unsloth", TrainerName::Custom, "ppo"),
    ] {
        let plan =
            read(&format!(r#"{{"model": "Qwen/Qwen3-0.6B", "task": "{task}", "trainer": {{"name": "{name}"}}}}"#));
        let job = Job::resolve(&plan).unwrap();
        assert_eq!((job.plan().trainer.name, job.plan().launched_by.unwrap().name()), (step, name));
        // The same plan written as it is estimated, and as a link.
        let again = Plan::from_json(&job.plan().to_json()).unwrap();
        assert_eq!(again, *job.plan());
        assert_eq!(link::decode(&link::encode(&again)).plan, again);
    }
}

#[test]
fn a_guess_has_the_range_of_its_trainers_measured_error() {
    let plan = |launched_by: &str, gib: u32| {
        read(&format!(
            r#"{{"model": "Qwen/Qwen3-4B", "method": "qlora", "trainer": {{"name": "trl"}}, {launched_by}
                "gpu": {{"memory_gib": {gib}, "compute_capability": "8.0"}}}}"#
        ))
    };
    let estimated = |plan: &Plan| memory::estimate_replayed(&Job::resolve(plan).unwrap());
    let sure = estimated(&plan("", 80));
    assert_eq!(sure.guess, None);
    let guess = estimated(&plan(r#""launched_by": "unsloth","#, 80));
    let (low, high) = LaunchedBy::Unsloth.percent(Method::Qlora);
    let [need, range] = [sure.peak.band, guess.peak.band];
    assert_eq!(range, Band { low: need.low * low / 100, expected: need.expected, high: need.high * high / 100 });
    assert_eq!(guess.peak.safe_bytes, range.high);
    assert!(guess.notes.iter().any(|note| matches!(note, Note::Guess(_))));
    // Between both ends nothing is said: neither that it fits nor that it does not.
    let gib = |bytes: u64| u32::try_from(bytes >> 30).unwrap();
    for (gpu, fit) in
        [(gib(range.high) + 2, Fit::Fits), (gib(need.expected) - 1, Fit::Tight), (gib(range.low) - 1, Fit::DoesNotFit)]
    {
        assert_eq!(estimated(&plan(r#""launched_by": "unsloth","#, gpu)).verdict.fit, fit, "{gpu} GiB");
    }
}

#[test]
fn a_run_is_not_refused_for_the_rule_of_the_trainer_that_stands_for_its_own() {
    let plan = |launched_by: &str| {
        read(&format!(
            r#"{{"model": "Qwen/Qwen3-0.6B", "task": "grpo", "method": "full", {launched_by} "num_gpus": 8, "num_nodes": 2,
                "per_device_train_batch_size": 32, "gradient_accumulation_steps": 5, "distributed": {{"framework": "fsdp1"}},
                "rollout": {{"prompts": 1024, "num_generations": 5, "max_prompt_length": 64, "max_completion_length": 64}}}}"#
        ))
    };
    assert_eq!(Job::resolve(&plan("")).unwrap_err()[0].field, "rollout.num_generations");
    let job = Job::resolve(&plan(r#""launched_by": "verl","#)).unwrap();
    assert!(memory::estimate(&job).guess.is_some());
}

#[test]
fn machines_have_as_many_gpus_each() {
    let plan = |nodes: u64| Plan { num_gpus: 12, num_nodes: Some(nodes), ..Plan::default() };
    assert_eq!((plan(3).machines(), plan(3).gpus_per_machine()), (3, 4));
    let problems = Job::resolve(&plan(5)).unwrap_err();
    assert!(
        problems[0].field == "num_nodes"
            && matches!(&problems[0].kind, ProblemKind::NotDivisible { nearest, .. } if *nearest == [4])
    );
    // Twelve machines of one GPU have more host memory than one of twelve, and a slower way between GPUs.
    let job = |nodes: u64| Job::resolve(&plan(nodes)).unwrap();
    let host = |nodes: u64| memory::estimate(&job(nodes)).host_verdict.available_bytes;
    assert_eq!(host(12), 12 * (256 << 30));
    let full = |nodes: u64| {
        let plan = Plan { method: Method::Full, zero_stage: 3, ..plan(nodes) };
        step_time(&Job::resolve(&plan).unwrap()).seconds.expected
    };
    assert!(full(2) > full(1), "{} {}", full(2), full(1));
}

#[test]
fn a_task_that_a_trainer_was_not_measured_with_is_refused_by_name() {
    let of = |trainer: &str, version: &str, task: &str| {
        let plan = format!(
            r#"{{"model": "Qwen/Qwen3-4B", "task": "{task}", "trainer": {{"name": "{trainer}", "version": "{version}"}}}}"#
        );
        Job::resolve(&read(&plan)).err()
    };
    assert_eq!(of("trl", "1.0.0", "kto"), None);
    for (trainer, version, task) in
        [("trl", "1.12.0", "ppo"), ("axolotl", "0.19.0", "kto"), ("transformers", "5.23.0", "dpo")]
    {
        let problems = of(trainer, version, task).unwrap();
        assert!(matches!(&problems[0].kind, ProblemKind::NotModelled { value, modelled }
            if value.starts_with(task) && modelled.contains(&"custom") && !modelled.contains(&trainer)));
    }
}

/// A plan that says nothing but its trainer and method.
fn entered(trainer: &Trainer, method: Method) -> Plan {
    let version = trainer.version.as_deref().unwrap_or_default();
    let trainer = format!(r#""trainer": {{"name": "{}", "version": "{version}"}}"#, trainer.name.name());
    read(&format!(r#"{{"model": "Qwen/Qwen3-4B", {trainer}, "method": "{}"}}"#, method.name()))
}

#[test]
fn a_trainer_that_is_chosen_takes_what_it_takes_in_a_file() {
    for name in TrainerName::ALL.iter().filter(|name| !name.measured().is_empty()) {
        let trainer = Trainer::newest(*name);
        let chosen = Plan::default().adopting(&Plan { trainer: trainer.clone(), ..Plan::default() });
        assert_eq!(chosen, entered(&trainer, Method::Lora), "{}", name.name());
    }
}

#[test]
fn methods_are_compared_as_the_trainer_runs_each() {
    for name in TrainerName::ALL.iter().filter(|name| !name.measured().is_empty()) {
        for release in name.measured() {
            let trainer = Trainer { name: *name, version: Some(release.to_string()) };
            for own in Method::ALL {
                let compared = alternatives(&entered(&trainer, *own));
                for other in Method::ALL {
                    let plain = compared.iter().find(|one| one.method == *other && one.zero_stage == 0 && !one.offload);
                    assert_eq!(plain.unwrap().plan, entered(&trainer, *other), "{trainer:?} {own:?} {other:?}");
                }
            }
        }
    }
}

#[test]
fn what_was_chosen_by_hand_stays_in_the_comparison() {
    let trainer = Trainer::newest(TrainerName::LlamaFactory);
    let lora = Plan { torch_dtype: Dtype::Float16, max_length: 512, ..entered(&trainer, Method::Lora) };
    for one in alternatives(&lora) {
        assert_eq!((one.plan.torch_dtype, one.plan.max_length), (Dtype::Float16, 512), "{:?}", one.method);
    }
    // Full tuning is in fp32 there unless told otherwise.
    let untouched = alternatives(&entered(&trainer, Method::Lora));
    let dtype = |method| untouched.iter().find(|one| one.method == method).unwrap().plan.torch_dtype;
    assert_eq!((dtype(Method::Lora), dtype(Method::Full)), (Dtype::Bfloat16, Dtype::Float32));
}

#[test]
fn a_four_bit_base_is_compared_sharded_where_fsdp_shards_it() {
    for framework in [Framework::Fsdp1, Framework::Fsdp2] {
        let mut plan = entered(&Trainer::newest(TrainerName::Trl), Method::Lora);
        plan.num_gpus = 4;
        plan.distributed.framework = framework;
        let compared = alternatives(&plan);
        let sharded = compared.iter().find(|one| one.method == Method::Qlora && one.zero_stage == 3).unwrap();
        assert_eq!(sharded.plan.distributed.framework, framework);
        assert_eq!(sharded.plan.quantization.bnb_4bit_quant_storage, QuantStorage::Float32);
        assert!(Job::resolve(&sharded.plan).is_ok_and(|job| job.sharding().shards_four_bit), "{framework:?}");
    }
}

#[test]
fn activations_are_offloaded_where_the_trainer_has_it() {
    let refused = |trainer: TrainerName, version: &str, task: Task| {
        let trainer = Trainer { name: trainer, version: Some(version.to_owned()) };
        let plan = Plan { trainer, task, activation_offloading: true, ..Plan::default() };
        let problems = Job::resolve(&plan).err().unwrap_or_default();
        problems.iter().any(|problem| problem.field == "activation_offloading")
    };
    for task in [Task::Sft, Task::Dpo, Task::Reward] {
        assert!(!refused(TrainerName::Trl, "1.16.0", task) && !refused(TrainerName::Trl, "1.9.0", task));
        assert!(refused(TrainerName::Trl, "1.6.0", task), "{task:?}");
    }
    assert!(refused(TrainerName::Trl, "1.16.0", Task::Grpo));
    assert!(refused(TrainerName::Transformers, "5.23.0", Task::Sft));
    assert!(refused(TrainerName::Axolotl, "0.19.0", Task::Sft));
}

#[test]
fn offloaded_activations_take_the_hosts_blocks_that_torch_makes() {
    // TRL 1.16's OffloadActivations under the oracle, Qwen2.5-0.5B, 4 sequences of 1,024 tokens: 26 blocks of 8 MiB, one of
    // 16 MiB and 36 KiB more of small ones than are counted here.
    const MEASURED: u64 = 235_003_904;
    let trainer = r#""trainer": {"name": "trl", "version": "1.16.0"}"#;
    let shape = r#""method": "full", "torch_dtype": "bfloat16", "per_device_train_batch_size": 4, "max_length": 1024"#;
    let of = |more: &str| {
        let plan = read(&format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", {trainer}, {shape}{more}}}"#));
        headroom_core::memory::estimate(&Job::resolve(&plan).unwrap()).host
    };
    assert_eq!(of(""), []);
    let host = of(r#", "activation_offloading": true"#);
    assert_eq!((host.len(), host[0].pinned), (1, true));
    assert!(MEASURED.abs_diff(host[0].bytes) < 64 << 10, "{:?}", host[0]);
    // Each process has its own.
    let of_two = of(r#", "activation_offloading": true, "num_gpus": 2, "distributed": {"framework": "ddp"}"#);
    assert_eq!(of_two[0].bytes, 2 * host[0].bytes);
}

#[test]
fn each_release_takes_its_own_defaults_between_measured_ones_too() {
    let of = |task: &str, version: &str| {
        read(&format!(
            r#"{{"model": "Qwen/Qwen3-4B", "task": "{task}", "trainer": {{"name": "trl", "version": "{version}"}}}}"#
        ))
    };
    for (version, checkpoints, beta) in
        [("0.17.0", false, Some(0.04)), ("0.18.2", false, Some(0.04)), ("0.21.0", false, None), ("0.23.0", true, None)]
    {
        let plan = of("grpo", version);
        assert_eq!((plan.gradient_checkpointing, plan.policy.beta), (checkpoints, beta), "{version}");
        // All four are estimated by the oldest measured step.
        assert_eq!(plan.trainer.release(), Release::new(0, 24, 0));
    }
    assert_eq!(of("sft", "0.17.0").policy.beta, None);
    let changes = changed_before(TrainerName::Trl, Task::Sft, Release::new(1, 16, 0));
    assert!(
        changes.iter().all(|(old, new)| old.name() == new.name() && old.value != new.value && !new.name().is_empty())
    );
    assert_eq!(changes.iter().filter(|(_, new)| new.name() == "mixed_precision").count(), 1);
    assert!(changed_before(TrainerName::Trl, Task::Sft, Release::new(0, 18, 0)).is_empty());
}

#[test]
fn a_package_that_a_trainer_asks_for_is_there() {
    let fla = |name: &str, version: Option<&str>| {
        let trainer = version.map_or_else(
            || format!(r#"{{"name": "{name}"}}"#),
            |version| format!(r#"{{"name": "{name}", "version": "{version}"}}"#),
        );
        read(&format!(r#"{{"model": "Qwen/Qwen3.5-4B", "trainer": {trainer}}}"#)).software.flash_linear_attention
    };
    assert_eq!(fla("axolotl", None).as_deref(), Some("0.5.2"));
    assert_eq!(fla("axolotl", Some("0.17.0")).as_deref(), Some("0.4.1"));
    assert_eq!(fla("axolotl", Some("0.5.0")), None);
    for name in ["custom", "trl", "transformers", "llamafactory", "ms-swift"] {
        assert_eq!(fla(name, None), None, "{name}");
    }
}
