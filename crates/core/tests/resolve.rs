//! What a plan is about, what cannot go together, and what a plan is compared with.
#![allow(clippy::unwrap_used)]

mod any_plan;
use any_plan::any_plan;
use headroom_core::job::Job;
use headroom_core::memory::estimate;
use headroom_core::plan::{Alternative, Framework, Method, Plan, alternatives, linear_module_names};
use headroom_core::{gpu, model};
use headroom_text::problem_line;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A plan that differs from the default one in `changes`.
fn plan(changes: Value) -> Plan {
    let mut value = json!({"model": "Qwen/Qwen3-4B"});
    value.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    Plan::from_value(&value).unwrap()
}

fn job(changes: Value) -> Job {
    Job::resolve(&plan(changes)).unwrap()
}

fn said(changes: Value) -> String {
    match Job::resolve(&plan(changes)) {
        Ok(_) => String::new(),
        Err(problems) => problems.iter().map(problem_line).collect::<Vec<_>>().join("\n"),
    }
}

/// A small model with 64 learned positions whose class is `model_type`.
fn config(model_type: &str) -> Value {
    json!({"config": {"model_type": model_type, "n_positions": 64, "n_embd": 64, "n_head": 2, "n_layer": 2, "vocab_size": 100}})
}

#[test]
fn finds_model_and_gpu_in_any_case() {
    let job = job(json!({"model": "qwen/QWEN3-4b", "gpu": "A100-80GB"}));
    assert_eq!(job.model().name, "Qwen/Qwen3-4B");
    assert_eq!(job.model().param_count(), model::find("Qwen/Qwen3-4B").unwrap().param_count);
    assert_eq!(*job.gpu(), *gpu::find("a100-80gb").unwrap());
    assert_eq!(job.memory_bytes(), job.gpu().memory_bytes());
}

#[test]
fn a_described_gpu_keeps_every_byte() {
    let gpu = json!({"memory_gib": 14.5625, "compute_capability": "7.5", "name": "Tesla T4"});
    let job = job(json!({"gpu": gpu}));
    assert_eq!(job.memory_bytes(), 14 * (1 << 30) + (9 << 26));
    assert_eq!((job.gpu().name.as_ref(), job.gpu().compute_capability), ("Tesla T4", Some((7, 5))));
}

#[test]
fn unknown_ids_are_told_with_the_nearest() {
    for (changes, expected) in [
        (
            json!({"model": "phi-4-minni"}),
            "model: phi-4-minni is not in the catalogue; paste its config.json, or did you mean \
             microsoft/Phi-4-mini-instruct?",
        ),
        (
            json!({"model": "gaudi", "gpu": "mi300"}),
            "model: gaudi is not in the catalogue; paste its config.json\ngpu: mi300 can be mi300a, mi300x; choose one",
        ),
        (json!({"model": "no/such/thing"}), "model: no/such/thing is not in the catalogue; paste its config.json"),
        (
            json!({"gpu": "RTX 5090 Ti"}),
            "gpu: RTX 5090 Ti is not in the catalogue; give its memory in GiB, or did you mean rtx-5090, rtx-5090-laptop?",
        ),
        (
            json!({"gpu": "24GB"}),
            "gpu: 24GB can be titan-rtx, rtx-3090, rtx-3090-ti, rtx-4090-d, rtx-4090, rtx-5090-laptop, quadro-rtx-6000, \
             rtx-a5000 and 9 more; choose one",
        ),
        (json!({"gpu": "abacus"}), "gpu: abacus is not in the catalogue; give its memory in GiB"),
    ] {
        assert_eq!(said(changes), expected);
    }
}

#[test]
fn all_problems_are_told_together() {
    let told = said(json!({"model": "no/such/thing", "gpu": "abacus"}));
    assert_eq!(told.lines().count(), 2, "{told}");
    let mut broken = plan(json!({"zero_stage": 2, "distributed": {"framework": "ddp"}}));
    broken.lora.r = 0;
    broken.max_grad_norm = f64::NAN;
    let fields: Vec<String> = Job::resolve(&broken).unwrap_err().into_iter().map(|problem| problem.field).collect();
    assert_eq!(fields, ["lora.r", "max_grad_norm", "zero_stage"]);
}

#[test]
fn a_bad_config_is_told_with_its_key() {
    let told = said(json!({"model": {"config": {"model_type": "llama", "hidden_size": "wide"}}}));
    assert!(told.starts_with("model.config: config.json, key hidden_size: "), "{told}");
}

#[test]
fn contradictions_are_told_with_the_fix() {
    let ddp = |changes: Value| {
        let mut all = json!({"distributed": {"framework": "ddp"}});
        all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        all
    };
    for (changes, expected) in [
        (ddp(json!({"zero_stage": 1})), "zero_stage: contradicts distributed.framework; set zero_stage to 0"),
        (
            ddp(json!({"offload_optimizer": "cpu"})),
            "offload_optimizer: contradicts distributed.framework; set offload_optimizer to none",
        ),
        (
            json!({"zero_stage": 2, "distributed": {"framework": "fsdp2"}}),
            "zero_stage: contradicts distributed.framework; set zero_stage to 3",
        ),
        (
            ddp(json!({"offload_param": "cpu"})),
            "offload_param: contradicts distributed.framework; set offload_param to none",
        ),
        (
            json!({"zero_stage": 2, "offload_param": "cpu"}),
            "zero_stage: contradicts offload_param; set zero_stage to 3",
        ),
        (
            json!({"torch_dtype": "bfloat16", "distributed": {"grad_accum_dtype": "float32"}}),
            "distributed.grad_accum_dtype: contradicts zero_stage; set distributed.grad_accum_dtype to bfloat16",
        ),
        (
            json!({"torch_dtype": "float32", "zero_stage": 2, "distributed": {"grad_accum_dtype": "bfloat16"}}),
            "distributed.grad_accum_dtype: contradicts torch_dtype; set distributed.grad_accum_dtype to float32",
        ),
        (
            json!({"trainer": {"name": "trl"}, "task": "grpo", "method": "qlora", "quantization": {"bits": 8},
                "per_device_train_batch_size": 8, "rollout": {"engine": "vllm", "vllm_mode": "colocate"}}),
            "quantization.bits: contradicts rollout.engine; set quantization.bits to 4",
        ),
        (json!({"offload_optimizer": "cpu"}), "zero_stage: contradicts offload_optimizer; set zero_stage to 2"),
        (
            json!({"offload_optimizer": "cpu", "offload_param": "cpu"}),
            "zero_stage: contradicts offload_param; set zero_stage to 3",
        ),
        (
            json!({"attn_implementation": "eager", "attention_kernel": "flash"}),
            "attention_kernel: contradicts attn_implementation; set attention_kernel to auto",
        ),
        (
            json!({"attn_implementation": "flash_attention_2", "torch_dtype": "float32"}),
            "attn_implementation: contradicts torch_dtype; set attn_implementation to sdpa",
        ),
        (
            json!({"attn_implementation": "flash_attention_2", "gpu": "t4"}),
            "attn_implementation: contradicts gpu; set attn_implementation to sdpa",
        ),
        (
            json!({"task": "grpo"}),
            "per_device_train_batch_size: 1, times accumulation steps and GPUs, must be a multiple of 8 (answers per prompt); choose 8",
        ),
        (
            json!({"task": "grpo", "per_device_train_batch_size": 10}),
            "rollout.num_generations: 8 must divide the 10 sequences of the generation batch; choose 5 or 10",
        ),
        (
            json!({"task": "grpo", "per_device_train_batch_size": 6, "rollout": {"prompts": 32, "num_generations": 16}}),
            "rollout.num_generations: 16 must be a multiple or a divisor of 6 (per_device_train_batch_size); choose 12 or 18",
        ),
        (
            json!({"task": "grpo", "num_gpus": 5, "per_device_train_batch_size": 4,
                "rollout": {"prompts": 32, "num_generations": 16}}),
            "rollout.prompts: 32 must be a multiple of 5 (num_gpus); choose 30 or 35",
        ),
        (
            json!({"task": "dpo", "method": "full", "reference": {"kind": "adapter_disabled"}}),
            "reference.kind: contradicts method; set reference.kind to copy",
        ),
    ] {
        assert_eq!(said(changes.clone()), expected, "{changes}");
    }
}

#[test]
fn what_runs_in_reality_passes() {
    for changes in [
        json!({"torch_dtype": "float16", "mixed_precision": "bf16"}),
        json!({"torch_dtype": "bfloat16", "gpu": "t4"}),
        json!({"method": "qlora", "quantization": {"bits": 8, "double_quant": true}}),
        json!({"method": "qlora", "num_gpus": 8, "zero_stage": 3}),
        json!({"zero_stage": 1, "offload_optimizer": "cpu"}),
        json!({"zero_stage": 3, "offload_optimizer": "cpu", "offload_param": "cpu"}),
        json!({"num_gpus": 8, "distributed": {"framework": "fsdp2", "cpu_offload": true}}),
        json!({"num_gpus": 8, "zero_stage": 3, "distributed": {"framework": "fsdp2"}}),
        json!({"num_gpus": 8, "offload_optimizer": "cpu", "distributed": {"framework": "fsdp2"}}),
        json!({"num_gpus": 8, "zero_stage": 3, "offload_param": "cpu", "distributed": {"framework": "fsdp2"}}),
        json!({"zero_stage": 1, "torch_dtype": "bfloat16", "distributed": {"grad_accum_dtype": "float32"}}),
        json!({"zero_stage": 3, "torch_dtype": "float16", "distributed": {"grad_accum_dtype": "float32"}}),
        json!({"num_gpus": 8, "distributed": {"framework": "ddp", "grad_accum_dtype": "float32"}}),
        json!({"torch_dtype": "float32", "mixed_precision": "bf16", "attn_implementation": "flash_attention_2"}),
        json!({"task": "inference", "offload_optimizer": "cpu"}),
        json!({"lora": {"target_modules": ["q_proj", "self_attn.v_proj", "lm_head", "embed_tokens"]}}),
        json!({"lora": {"modules_to_save": ["embed_tokens", "lm_head", "norm"]}}),
        json!({"task": "sequence_classification", "lora": {"modules_to_save": ["score"]}}),
        json!({"max_length": 16_777_216}),
        json!({"model": config("gpt2"), "max_length": 64}),
        json!({"model": config("gpt2"), "max_length": 60, "task": "inference", "rollout": {"new_tokens": 5}}),
    ] {
        assert_eq!(said(changes.clone()), "", "{changes}");
    }
}

#[test]
fn learned_positions_bound_the_length() {
    assert_eq!(
        said(json!({"model": config("gpt2"), "max_length": 65})),
        "max_length: 65 is outside 1 to 64; choose a value in that range"
    );
    assert_eq!(
        said(json!({"model": config("gpt2"), "max_length": 60, "task": "inference", "rollout": {"new_tokens": 6}})),
        "rollout.new_tokens: 6 is outside 0 to 5; choose a value in that range"
    );
}

#[test]
fn rows_that_no_token_gets_are_not_counted_as_positions() {
    for (model_type, longest) in [("bert", 512), ("roberta", 510), ("opt", 512)] {
        let config = json!({"model_type": model_type, "max_position_embeddings": 512, "hidden_size": 64,
            "num_attention_heads": 2, "num_hidden_layers": 2, "vocab_size": 100});
        let length = |length: u64| json!({"model": {"config": config}, "max_length": length});
        assert_eq!(said(length(longest)), "");
        let expected = format!("max_length: {} is outside 1 to {longest}; choose a value in that range", longest + 1);
        assert_eq!(said(length(longest + 1)), expected, "{model_type}");
    }
}

#[test]
fn every_model_of_the_catalogue_can_be_planned() {
    for id in model::catalogue().iter().flat_map(|model| model.also.iter().chain([&model.id])) {
        for task in ["sft", "sequence_classification", "inference"] {
            let changes = json!({"model": id, "task": task, "max_length": 128});
            let job = Job::resolve(&plan(changes)).unwrap();
            assert_eq!(job.model().name, *id);
            let names = linear_module_names(job.model());
            assert!(!names.is_empty(), "{id}");
            let adapted = json!({"model": id, "max_length": 128, "lora": {"target_modules": names}});
            assert!(Job::resolve(&plan(adapted)).is_ok(), "{id}");
        }
    }
}

#[test]
fn adapters_go_on_modules_the_model_has() {
    let names = "q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj";
    let told = said(json!({"lora": {"target_modules": ["c_attn", "proj"], "modules_to_save": ["score"]}}));
    let line = |field: &str, name: &str| format!("lora.{field}: the model has no module {name}; it has {names}");
    let expected = [line("target_modules", "c_attn"), line("target_modules", "proj"), line("modules_to_save", "score")];
    assert_eq!(told, expected.join("\n"));
    // Where another target is found, peft passes over what no module has; a norm it refuses.
    let norm = said(json!({"lora": {"target_modules": ["c_attn", "v_proj", "proj", "norm"]}}));
    assert_eq!(norm, line("target_modules", "norm"));
    let with_both = job(json!({"lora": {"target_modules": ["c_attn", "v_proj"]}}));
    let with_one = job(json!({"lora": {"target_modules": ["v_proj"]}}));
    assert_eq!(estimate(&with_both).trainable_count, estimate(&with_one).trainable_count);
    assert_eq!(said(json!({"method": "full", "lora": {"target_modules": ["c_attn"]}})), "");
    let gpt2 = job(json!({"model": config("gpt2"), "max_length": 64}));
    assert_eq!(linear_module_names(gpt2.model()), ["c_attn", "c_proj", "c_fc"]);
}

/// Method, stage and offload of each alternative: `full 2+`.
fn shown(alternatives: &[Alternative]) -> Vec<String> {
    let name =
        |one: &Alternative| format!("{} {}{}", one.method.name(), one.zero_stage, if one.offload { "+" } else { "" });
    alternatives.iter().map(name).collect()
}

#[test]
fn on_one_gpu_only_offload_is_compared() {
    let all = alternatives(&plan(json!({})));
    let expected = ["full 0", "full 2+", "full 3+", "lora 0", "lora 2+", "lora 3+", "qlora 0", "qlora 2+", "qlora 3+"];
    assert_eq!(shown(&all), expected);
    assert_eq!(all[3].plan, plan(json!({})));
}

#[test]
fn on_several_gpus_every_stage_is_compared() {
    let own =
        plan(json!({"num_gpus": 8, "method": "full", "zero_stage": 3, "offload_optimizer": "cpu", "max_length": 77}));
    let all = alternatives(&own);
    // The plan itself, which offloads the optimizer alone, before the one that offloads everything.
    let expected = "full 0,full 1,full 2,full 3,full 2+,full 3+,full 3+,lora 0,lora 1,lora 2,lora 3,lora 2+,lora 3+,\
                    qlora 0,qlora 1,qlora 2,qlora 3,qlora 2+,qlora 3+";
    assert_eq!(shown(&all).join(","), expected);
    assert_eq!(all[5].plan, own);
    assert!(all.iter().all(|one| one.plan.max_length == 77 && one.plan.num_gpus == 8));
}

#[test]
fn other_frameworks_stay_where_they_can() {
    let fsdp2 = plan(json!({"num_gpus": 8, "method": "full", "torch_dtype": "float32",
        "distributed": {"framework": "fsdp2", "param_dtype": "bfloat16"}}));
    let all = alternatives(&fsdp2);
    // With ZeRO-3's rows for QLoRA: FSDP shards a 4-bit base that is packed in the group's dtype.
    assert_eq!(all.len(), 18, "{:?}", shown(&all));
    let frameworks: Vec<Framework> = all.iter().take(6).map(|one| one.plan.distributed.framework).collect();
    use Framework::{Ddp, Deepspeed, Fsdp2};
    assert_eq!(frameworks, [Ddp, Deepspeed, Deepspeed, Fsdp2, Deepspeed, Fsdp2]);
    assert_eq!(all[3].plan, fsdp2);
    assert!(all[5].plan.distributed.cpu_offload && all[5].offload);
    assert_eq!(all[0].plan.mixed_precision.name(), "bf16");
    let ddp = plan(json!({"num_gpus": 8, "distributed": {"framework": "ddp"}}));
    assert!(alternatives(&ddp).iter().any(|one| one.plan == ddp));
}

#[test]
fn inference_compares_precisions() {
    let all = alternatives(&plan(json!({"task": "inference", "method": "full"})));
    let shown: Vec<String> = all
        .iter()
        .map(|one| match one.method {
            Method::Qlora => format!("{} bits", one.plan.quantization.bits),
            _ => one.plan.torch_dtype.name().to_owned(),
        })
        .collect();
    assert_eq!(shown, ["float32", "bfloat16", "8 bits", "4 bits"]);
}

#[test]
fn what_the_model_refuses_is_compared_with_nothing() {
    // One GPU's FSDP1 raises on the frozen table of a tied head, and on nothing of an untied one.
    let on_one = |model: &str| {
        let fsdp1 = plan(json!({"model": model, "method": "full", "trainer": {"name": "transformers"},
            "distributed": {"framework": "fsdp1"}}));
        let all = Job::resolve(&fsdp1).unwrap().alternatives();
        let adapters = |one: &&Alternative| one.method != Method::Full && one.plan.distributed.framework.is_fsdp();
        all.iter().filter(adapters).count()
    };
    assert_eq!(on_one("Qwen/Qwen3-4B"), 0);
    assert!(on_one("Qwen/Qwen3-8B") > 0);
}

#[test]
fn what_no_code_computes_is_compared_with_nothing() {
    // ZeRO-3 gathers the head, which Cut Cross-Entropy reads past the module that gathers it.
    let under_zero = |loss: &str| {
        let zero = plan(json!({"model": "Qwen/Qwen3-4B", "method": "lora", "loss_implementation": loss,
            "distributed": {"framework": "deepspeed"}}));
        let all = Job::resolve(&zero).unwrap().alternatives();
        all.iter().filter(|one| one.plan.zero_stage == 3).count()
    };
    assert_eq!(under_zero("cut_cross_entropy"), 0);
    assert!(under_zero("full_logits") > 0);
}

proptest! {
    #![proptest_config(any_plan::config())]

    #[test]
    fn a_plan_is_among_its_alternatives_once(plan in any_plan()) {
        let all = alternatives(&plan);
        prop_assert_eq!(all.iter().filter(|one| one.plan == plan).count(), 1);
        for (place, one) in all.iter().enumerate() {
            prop_assert!(all[..place].iter().all(|other| other.plan != one.plan));
            prop_assert_eq!(&Plan::from_value(&one.plan.to_value()).unwrap(), &one.plan);
        }
    }

    #[test]
    fn alternatives_of_a_sound_plan_are_sound(mut plan in any_plan()) {
        let fallback = Plan::default();
        plan.model = fallback.model;
        plan.gpu = fallback.gpu;
        plan.task = fallback.task;
        plan.lora.target_modules = fallback.lora.target_modules;
        plan.lora.modules_to_save.clear();
        plan.lora.target_parameters.clear();
        let Ok(job) = Job::resolve(&plan) else { return Ok(()) };
        prop_assert_eq!(job.model().name.as_str(), "Qwen/Qwen3-4B");
        for one in job.alternatives() {
            prop_assert!(job.with(one.plan.clone()).is_ok(), "{:?}", job.with(one.plan));
        }
    }
}
