//! Plans as JSON.
#![allow(clippy::unwrap_used, clippy::panic)]

mod any_plan;

use any_plan::{any_json, any_plan, any_settings, any_value, as_json};
use headroom_core::job::Job;
use headroom_core::plan::{
    Auto, BucketSize, Framework, GpuChoice, Kind, MAX_JSON_BYTES, ModelChoice, Optimizer, Plan, Problem, ProblemKind,
    RolloutEngine, TargetModules, field, fields,
};
use headroom_text::problem_line;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(value: Value) -> Plan {
    Plan::from_value(&value).unwrap()
}

/// What is said about `value`, a line a problem.
fn refused(value: Value) -> String {
    said(&Plan::from_value(&value).unwrap_err())
}

fn said(problems: &[Problem]) -> String {
    problems.iter().map(problem_line).collect::<Vec<_>>().join("\n")
}

#[test]
fn only_the_model_is_required() {
    assert_eq!(read(json!({"model": "Qwen/Qwen3-4B"})), Plan::default());
    assert_eq!(refused(json!({})), "model: missing; give it");
    assert_eq!(refused(json!([])), "plan: paste a JSON object here");
}

#[test]
fn reads_every_section() {
    let plan = read(json!({
        "model": {"config": {"model_type": "llama", "hidden_size": 64}, "name": "mine"},
        "lora": {"r": 8, "target_modules": ["q_proj", "v_proj"], "modules_to_save": ["lm_head"]},
        "quantization": {"bits": 8},
        "optim": "paged_adamw_8bit",
        "expand_kv_heads": true,
        "distributed": {
            "framework": "fsdp2", "wrap": "layer+embed+root", "param_dtype": "bfloat16", "bf16": {"enabled": true}
        },
        "reference": {},
        "rollout": {"new_tokens": 8, "top_p": 0.9, "engine": "generate"},
        "value_model": null, "reward_models": [], "beta": 0.1,
        "software": {"torch": "2.10.0"},
        "gpu": {"memory_gib": 14.5625, "compute_capability": "7.5", "name": "Tesla T4"}
    }));
    let config = json!({"model_type": "llama", "hidden_size": 64});
    assert_eq!(plan.model, ModelChoice::Config { name: "mine".into(), config });
    assert_eq!(plan.lora.target_modules, TargetModules::Names(vec!["q_proj".into(), "v_proj".into()]));
    assert_eq!((plan.lora.r, plan.quantization.bits, plan.optim), (8, 8, Optimizer::PagedAdamw8bit));
    assert_eq!((plan.expand_kv_heads, plan.distributed.bf16_enabled), (Auto::Set(true), Auto::Set(true)));
    assert_eq!((plan.distributed.framework, plan.distributed.wrap_embedding), (Framework::Fsdp2, true));
    assert_eq!((plan.rollout.engine, plan.rollout.top_p), (Some(RolloutEngine::Generate), Some(0.9)));
    assert_eq!((plan.policy.beta, plan.policy.entropy), (Some(0.1), None));
    assert_eq!((plan.value_model, plan.reward_models), (None, Some(Vec::new())));
    assert_eq!(plan.software.torch.as_deref(), Some("2.10.0"));
    let gpu = GpuChoice::Custom { name: Some("Tesla T4".into()), memory_gib: 14.5625, compute_capability: (7, 5) };
    assert_eq!(plan.gpu, gpu);
}

#[test]
fn a_config_without_a_name_names_itself() {
    for (config, expected) in [
        (json!({"_name_or_path": "org/model", "model_type": "llama"}), "org/model"),
        (json!({"_name_or_path": "", "model_type": "llama"}), "llama"),
        (json!({}), "config.json"),
    ] {
        let ModelChoice::Config { name, .. } = read(json!({"model": {"config": config}})).model else { panic!() };
        assert_eq!(name, expected);
    }
}

#[test]
fn resolved_sizes_stand_in_for_words_and_for_nothing_else() {
    let plan = read(json!({"model": "Qwen/Qwen3-4B", "distributed": {
        "framework": "deepspeed", "reduce_bucket_size": "auto", "sub_group_size": 7, "overlap_comm": "default",
        "effective": {"reduce_bucket_size": 500, "sub_group_size": 9, "prefetch_bucket_size": 3, "overlap_comm": false,
                      "max_reuse_distance": 1_000_000_000, "contiguous_gradients": false}
    }}));
    assert_eq!(plan.distributed.reduce_bucket_size, BucketSize::Elements(500));
    assert_eq!(plan.distributed.sub_group_size, BucketSize::Elements(7));
    assert_eq!(plan.distributed.stage3_prefetch_bucket_size, BucketSize::Elements(3));
    assert_eq!(plan.distributed.stage3_max_live_parameters, BucketSize::Default);
    assert_eq!(plan.distributed.overlap_comm, Auto::Set(false));
    assert!(!plan.distributed.contiguous_gradients);
    assert_eq!(
        refused(json!({"model": "m", "distributed": {"effective": {"reduce_bucket": 1, "sub_group_size": -1}}})),
        "distributed.effective.reduce_bucket: unknown key; did you mean distributed.effective.reduce_bucket_size?\n\
         distributed.effective.sub_group_size: -1 is outside 0 to 1000000000000; choose a value in that range"
    );
}

#[test]
fn a_single_process_needs_no_framework() {
    let plan = |num_gpus: u64| json!({"model": "m", "num_gpus": num_gpus, "distributed": {"framework": "none"}});
    assert_eq!(read(plan(1)).distributed, Plan::default().distributed);
    assert_eq!(refused(plan(2)), "distributed.framework: contradicts num_gpus; set distributed.framework to ddp");
}

#[test]
fn other_names_of_optimizers_and_dtypes_are_understood() {
    for (given, meant) in
        [("adamw_8bit", "adamw_bnb_8bit"), ("paged_adamw", "paged_adamw_32bit"), ("lion", "lion_32bit"), ("SGD", "sgd")]
    {
        assert_eq!(read(json!({"model": "m", "optim": given})).to_value()["optim"], meant);
    }
    assert_eq!(read(json!({"model": "m", "torch_dtype": "fp16"})).to_value()["torch_dtype"], "float16");
    let problems = Plan::from_value(&json!({"model": "m", "optim": "adamw_hf"})).unwrap_err();
    assert!(matches!(&problems[0].kind, ProblemKind::NotOneOf { nearest: Some(near), .. } if near == "adamw_torch"));
}

#[test]
fn every_problem_is_told_with_its_fix() {
    let told = refused(json!({
        "model": {"name": "only a name"},
        "modle": "x",
        "r": 16,
        "lora": {"rank": 8, "r": 0, "target_modules": [], "modules_to_save": ["a,b"]},
        "quantization": 4,
        "quantisation": {"bits": 4},
        "batch_size": 2,
        "zzz": 1,
        "method": "qlroa",
        "per_device_train_batch_size": 1.5,
        "gradient_accumulation_steps": "4",
        "max_length": 1e300,
        "max_grad_norm": -1,
        "gradient_checkpointing": 1,
        "software": {"torch": "nightly"},
        "gpu": {"compute_capability": "8"}
    }));
    let expected = "batch_size: unknown key; did you mean per_device_train_batch_size?
gpu.memory_gib: missing; give it
lora.rank: unknown key; did you mean lora.r?
model.config: missing; give it
modle: unknown key; did you mean model?
quantisation: unknown key; did you mean quantization?
quantization: paste a JSON object here
r: unknown key; did you mean lora.r?
zzz: unknown key; remove it
method: qlroa is not one of full, lora, qlora; did you mean qlora?
lora.r: 0 is outside 1 to 65536; choose a value in that range
lora.target_modules: missing; give it
lora.modules_to_save: write a list of module names here
per_device_train_batch_size: write a whole number here
gradient_accumulation_steps: write a whole number here
max_length: 1e+300 is outside 1 to 16777216; choose a value in that range
gradient_checkpointing: write true or false here
max_grad_norm: -1 is outside 0 to 1000000000; choose a value in that range
software.torch: write a version such as 2.15.0 here";
    assert_eq!(told, expected);
}

#[test]
fn text_that_is_no_plan_is_refused_with_its_place() {
    let told = |text: &str| said(&Plan::from_json(text).unwrap_err());
    assert!(told("").starts_with("plan: not JSON at line 1, column 0"));
    assert!(told("{\n  \"model\": \"m\",\n}").starts_with("plan: not JSON at line 3, column 1"));
    assert!(told(&"[".repeat(100_000)).starts_with("plan: not JSON at line 1"));
    assert!(told(&" ".repeat(MAX_JSON_BYTES + 1)).starts_with("plan: longer than 1048576 bytes"));
    assert_eq!(Plan::from_json("\u{feff}{\"model\": \"Qwen/Qwen3-4B\"}").unwrap(), Plan::default());
}

#[test]
fn keys_that_are_not_modelled_are_refused_where_they_change_anything() {
    let text = |distributed: &str, dora: bool| {
        format!(r#"{{"model": "Qwen/Qwen3-4B", "distributed": {{{distributed}}}, "lora": {{"use_dora": {dora}}}}}"#)
    };
    let told = said(&Plan::from_json(&text(r#""zero_quantized_weights": true"#, true)).unwrap_err());
    assert!(told.contains("distributed.zero_quantized_weights: true is not modelled"), "{told}");
    assert!(told.contains("lora.use_dora: true is not modelled"), "{told}");
    assert!(Plan::from_json(&text(r#""zero_quantized_weights": false, "zero_hpz_partition_size": 1"#, false)).is_ok());
}

#[test]
fn hundreds_of_problems_are_cut_short() {
    let entries = (0..10_000).map(|i| (format!("key{i}"), Value::from(i))).collect();
    assert_eq!(Plan::from_value(&Value::Object(entries)).unwrap_err().len(), 100);
}

#[test]
fn a_config_too_long_for_a_link_loses_what_says_nothing_about_shapes() {
    let labels: serde_json::Map<String, Value> =
        (0..1000).map(|i| (i.to_string(), Value::from(format!("LABEL_{i}")))).collect();
    let config = json!({"model_type": "bert", "hidden_size": 768, "id2label": labels, "quantization_config": {}});
    let ModelChoice::Config { config, .. } = read(json!({"model": {"config": config}})).model else { panic!() };
    assert_eq!(config, json!({"model_type": "bert", "hidden_size": 768, "num_labels": 1000}));
    let config = json!({"model_type": "bert", "text": "x".repeat(20_000)});
    assert_eq!(refused(json!({"model": {"config": config}})), "model.config: longer than 14000 bytes; shorten it");
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(refused(json!({"model": "m", "value_model": deep})), "value_model: write JSON here");
}

#[test]
fn the_table_is_in_order() {
    for (place, field) in fields().iter().enumerate() {
        assert!(fields()[..place].iter().all(|other| other.name != field.name), "{} twice", field.name);
        if let Some(unit) = field.unit {
            let numeric = matches!(
                field.kind,
                Kind::Integer { .. }
                    | Kind::OptionalInteger { .. }
                    | Kind::Number { .. }
                    | Kind::OptionalNumber { .. }
                    | Kind::Bucket { .. }
            );
            assert!(numeric || field.name == "quantization.bits", "{} in {}", field.name, unit.name());
        }
        // A default outside its own range could not be read back.
        let mut plan = Plan::default();
        let text = field.text(&plan);
        if !text.is_empty() {
            field.set_text(&mut plan, &text).unwrap();
        }
        assert_eq!(plan, Plan::default(), "{}", field.name);
    }
}

#[test]
fn a_refused_value_leaves_the_plan_alone() {
    for field in fields() {
        let mut plan = Plan::default();
        for wrong in [json!([[]]), json!({"a": "x".repeat(20_000)}), json!(-1), json!("\u{0}")] {
            let before = plan.clone();
            if field.set_value(&mut plan, &wrong).is_err() {
                assert_eq!(plan, before, "{}", field.name);
            }
        }
    }
    assert!(field("lora.r").is_some() && field("lora").is_none());
}

proptest! {
    #![proptest_config(any_plan::config())]

    #[test]
    fn what_is_written_is_read_back(plan in any_plan()) {
        prop_assert_eq!(&Plan::from_value(&plan.to_value()).unwrap(), &plan);
        prop_assert_eq!(&Plan::from_json(&plan.to_json()).unwrap(), &plan);
        prop_assert_eq!(&Plan::from_json(&plan.to_value().to_string()).unwrap(), &plan);
    }

    #[test]
    fn text_and_value_of_a_field_agree(plan in any_plan(), other in any_plan()) {
        for field in fields() {
            let text = field.text(&plan);
            let part = field.name.starts_with("gpu") || field.name.starts_with("model");
            if !part && !text.is_empty() {
                let mut copy = other.clone();
                field.set_text(&mut copy, &text).unwrap();
                prop_assert_eq!(field.value(&copy), field.value(&plan), "{}", field.name);
            }
        }
    }

    #[test]
    fn settings_arrive_where_they_belong(settings in any_settings()) {
        let plan = Plan::from_value(&as_json(&settings)).unwrap();
        for (field, value) in settings {
            let got = field.value(&plan);
            let same = match (&got, &value) {
                // Whole numbers are written without a fraction, texts trimmed.
                (Value::Number(got), Value::Number(given)) => got.as_f64() == given.as_f64(),
                (Value::String(got), Value::String(given)) => got.trim() == given.trim(),
                (Value::Number(got), Value::String(given)) => got.to_string() == *given,
                _ => got == value,
            };
            prop_assert!(same, "{}: {value} became {got}", field.name);
        }
    }

    #[test]
    fn any_json_is_read_or_refused(value in any_json(), place in 0..fields().len(), junk in any_json()) {
        let _ = Plan::from_value(&value);
        let field = &fields()[place];
        let _ = Plan::from_value(&as_json(&[(field, value.clone())]));
        let mut plan = Plan::default();
        let _ = field.set_value(&mut plan, &junk);
        let _ = Job::resolve(&plan);
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".*", place in 0..fields().len()) {
        let _ = Plan::from_json(&text);
        let _ = fields()[place].set_text(&mut Plan::default(), &text);
    }

    #[test]
    fn a_value_of_another_field_is_refused_or_kept_whole(
        (from, value) in (0..fields().len()).prop_flat_map(|i| (Just(i), any_value(&fields()[i]))),
        to in 0..fields().len(),
    ) {
        let _ = from;
        let mut plan = Plan::default();
        if fields()[to].set_value(&mut plan, &value).is_ok() {
            prop_assert_eq!(&Plan::from_value(&plan.to_value()).unwrap(), &plan);
        }
    }
}
