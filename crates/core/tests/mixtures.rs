//! A mixture's experts by the release of transformers: linear layers of their own in transformers 4, stacked parameters since 5,
//! which a trainer may quantise.
#![allow(clippy::unwrap_used, missing_docs)]

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::{Plan, ProblemKind, Release};
use serde_json::{Value, json};

fn plan(more: Value) -> Plan {
    let mut plan = json!({
        "model": "Qwen/Qwen3-30B-A3B", "gpu": "h200", "method": "qlora", "lora": {"r": 256, "lora_alpha": 256},
        "quantization": {"prepare_for_kbit_training": false}, "mixed_precision": "bf16", "max_length": 1024, "gradient_checkpointing": true,
    });
    let more = more.as_object().unwrap().clone();
    plan.as_object_mut().unwrap().extend(more);
    Plan::from_json(&plan.to_string()).unwrap()
}

fn estimate(more: Value) -> Estimate {
    memory::estimate(&Job::resolve(&plan(more)).unwrap())
}

fn problems(more: Value) -> Vec<(String, ProblemKind)> {
    let found = Job::resolve(&plan(more)).err().unwrap_or_default();
    found.into_iter().map(|problem| (problem.field, problem.kind)).collect()
}

/// Elements that train with adapters on all linear layers of transformers 4, and of 5 where peft converts nothing.
fn on_all_linear() -> (u64, u64) {
    let (layers, experts, r, hidden, inner) = (48, 128, 256, 2048, 768);
    let attention = r * ((hidden + 4096) * 2 + (hidden + 512) * 2);
    let router = r * (hidden + experts);
    let each = 3 * r * (hidden + inner);
    (layers * (attention + router + experts * each), layers * attention)
}

#[test]
fn qlora_of_transformers_4_quantises_and_adapts_every_expert() {
    let of_4 = estimate(json!({"software": {"transformers": "4.57.6"}}));
    assert_eq!(of_4.trainable_count, on_all_linear().0);
    let weights = |estimate: &Estimate| estimate.phases.first().unwrap().allocated_bytes;
    let of_5 = estimate(json!({"software": {"transformers": "5.23.0", "peft": "0.18.1"}}));
    assert_eq!(of_5.trainable_count, on_all_linear().1);
    // 28.99 billion numbers of experts: in 16 bits under transformers 5; under 4 packed, with adapters and their two states in fp32.
    let experts = 48 * 128 * 3 * 2048 * 768u64;
    let adapters = 12 * (on_all_linear().0 - on_all_linear().1);
    let packed = experts / 2 + experts / 64;
    let (more, less) = (weights(&of_4) as i64, weights(&of_5) as i64);
    let expected = (packed + adapters) as i64 - 2 * experts as i64;
    assert!((more - less - expected).abs() < expected.abs() / 50, "{} {expected}", more - less);
}

#[test]
fn a_release_of_the_trainer_says_how_experts_are_held() {
    let linear = on_all_linear().0;
    for (trainer, version, is_linear) in [
        ("transformers", "4.57.6", true),
        ("transformers", "5.0.0", false),
        ("trl", "0.17.0", true),
        ("trl", "0.24.0", true),
        ("trl", "1.0.0", false),
        ("llamafactory", "0.9.3", true),
        ("llamafactory", "0.9.4", true),
        ("llamafactory", "0.9.5", false),
        ("ms-swift", "3.9.0", true),
        ("ms-swift", "4.6.0", false),
        ("axolotl", "0.12.0", true),
        ("axolotl", "0.19.0", false),
    ] {
        let run =
            estimate(json!({"trainer": {"name": trainer, "version": version}, "lora": {"r": 256, "lora_dropout": 0}}));
        assert_eq!(run.trainable_count == linear, is_linear, "{trainer} {version}");
    }
    // What the plan says of transformers goes before its trainer.
    let said = json!({"trainer": {"name": "llamafactory", "version": "0.9.5"}, "software": {"transformers": "4.57.1"}});
    assert_eq!(plan(said).transformers_release(), Some(Release::new(4, 57, 1)));
}

#[test]
fn names_of_earlier_layers_are_targets_where_they_are_layers() {
    let names = |version: &str, model: &str, names: &[&str]| {
        problems(json!({
            "model": model, "lora": {"r": 8, "target_modules": names},
            "software": {"transformers": version, "peft": "0.18.1"},
        }))
    };
    assert_eq!(names("4.57.6", "mistralai/Mixtral-8x7B-v0.1", &["w1", "w2", "w3", "gate"]), []);
    assert_eq!(names("4.57.6", "Qwen/Qwen3-30B-A3B", &["gate_proj"]), []);
    let found = names("5.23.0", "mistralai/Mixtral-8x7B-v0.1", &["w1"]);
    assert!(matches!(found.as_slice(), [(field, ProblemKind::NoSuchModule { .. })] if field == "lora.target_modules"));
}

#[test]
fn a_class_that_transformers_4_lacked_is_still_asked_for_a_later_release() {
    let found =
        problems(json!({"model": "openai/gpt-oss-20b", "software": {"transformers": "4.57.6"}, "lora": {"r": 8}}));
    assert_eq!(found, [], "stacked then, too");
    let found = problems(json!({"model": "deepseek-ai/DeepSeek-V3.2", "software": {"transformers": "4.57.6"}}));
    assert!(
        matches!(found.as_slice(), [(field, ProblemKind::Contradiction { .. })] if field == "software.transformers")
    );
}

/// OLMoE with QLoRA on attention under axolotl, which measured 5.84 GB at its peak on an RTX 4090.
fn olmoe(more: Value) -> Value {
    let mut plan = json!({
        "model": "allenai/OLMoE-1B-7B-0924", "gpu": "rtx-4090", "trainer": {"name": "axolotl"},
        "lora": {"r": 16, "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]},
        "optim": "adamw_bnb_8bit", "max_length": 2048, "packing": true, "attn_implementation": "flash_attention_2",
    });
    let more = more.as_object().unwrap().clone();
    plan.as_object_mut().unwrap().extend(more);
    plan
}

#[test]
fn stacked_experts_in_4_bits_are_dequantised_layer_by_layer() {
    let quantised = |checkpoints: bool| {
        let settings = json!({"quantization": {"quantize_moe_experts": true}, "gradient_checkpointing": checkpoints});
        memory::estimate(&Job::resolve(&plan(olmoe(settings))).unwrap())
    };
    let whole = memory::estimate(&Job::resolve(&plan(olmoe(json!({})))).unwrap());
    let run = quantised(true);
    let load = |estimate: &Estimate| estimate.phases.first().unwrap().allocated_bytes;
    let experts = 16 * 64 * 3 * 2048 * 1024u64;
    let saved = 2 * experts - (experts / 2 + experts / 64);
    assert!(load(&whole).abs_diff(load(&run) + saved) < saved / 50, "{} {}", load(&whole), load(&run));
    // 5.84 GB were measured; what is allocated lies a tenth below what the allocator takes.
    assert!((4_900_000_000..5_840_000_000).contains(&run.peak.allocated_bytes), "{}", run.peak.allocated_bytes);
    // Without checkpointing the matmuls keep what they were given: a 4-bit model holds a 16-bit one from forward to backward.
    let more = quantised(false).peak.allocated_bytes - run.peak.allocated_bytes;
    assert!(more > 2 * experts * 14 / 16, "{more}");
}

#[test]
fn what_axolotl_refuses_of_quantised_experts_is_said() {
    let quantised = json!({"quantize_moe_experts": true});
    let all = olmoe(json!({"quantization": quantised, "lora": {"r": 16}}));
    let found = problems(all);
    assert!(matches!(found.as_slice(), [(field, ProblemKind::Contradiction { .. })] if field == "lora.target_modules"));
    let found = problems(olmoe(json!({"quantization": {"quantize_moe_experts": true, "bits": 8}})));
    let field = "quantization.quantize_moe_experts";
    assert!(matches!(found.as_slice(), [(found, ProblemKind::NotModelled { .. })] if found == field));
    // Of linear layers nothing is stacked.
    let dense = json!({"model": "Qwen/Qwen3-4B", "quantization": {"quantize_moe_experts": true}, "lora": {"r": 16}});
    assert_eq!(problems(dense), []);
}

/// Steps of two layers under PyTorch's allocator: transformers 4.57.6, peft 0.18.1, bitsandbytes 0.50.2, torch 2.15, compute capability
/// 8.0, every expert given as many rows. Adapters sit on all linear layers, or on queries and values alone.
#[test]
fn steps_of_transformers_4_take_what_the_allocator_counted() {
    let mixtral = json!({
        "model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 2, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2, "max_position_embeddings": 32768,
        "tie_word_embeddings": false,
    });
    let qwen = json!({
        "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 2, "num_attention_heads": 32,
        "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151_936, "num_experts": 128, "num_experts_per_tok": 8,
        "moe_intermediate_size": 768, "norm_topk_prob": true, "max_position_embeddings": 32768, "tie_word_embeddings": false,
    });
    for (config, method, all, autocast, batch, checkpoints, measured) in [
        (&mixtral, "lora", true, "bf16", 1, false, 7_738_107_392u64),
        (&mixtral, "qlora", true, "bf16", 1, true, 2_771_942_912),
        (&mixtral, "full", true, "no", 2, false, 25_334_351_872),
        (&qwen, "qlora", true, "bf16", 2, false, 6_985_566_720),
        (&qwen, "full", true, "no", 1, true, 14_971_031_552),
        (&qwen, "lora", false, "no", 2, false, 8_184_477_184),
    ] {
        let targets = if all { json!("all-linear") } else { json!(["q_proj", "v_proj"]) };
        let error = error_of_step(
            config,
            json!({
                "method": method, "mixed_precision": autocast, "lora": {"r": 16, "lora_alpha": 32, "target_modules": targets},
                "per_device_train_batch_size": batch, "gradient_checkpointing": checkpoints,
            }),
            measured,
        );
        assert!(error.abs() < 0.0005, "{} {method}: {error}", config["model_type"]);
    }
}

/// How far the estimate of a step under transformers 4.57.6 lies above its measured peak, as a share.
fn error_of_step(config: &Value, more: Value, measured: u64) -> f64 {
    let mut step = json!({
        "model": {"name": "few layers", "config": config}, "gpu": "a100-80gb", "software": {"transformers": "4.57.6", "peft": "0.18.1"},
        "optim": "adamw_torch_fused",
    });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let run = memory::estimate_replayed(&Job::resolve(&plan(step)).unwrap());
    run.peak.allocated_bytes as f64 / measured as f64 - 1.0
}

/// Steps of DeepSeek-V2-Lite under PyTorch's allocator, with three layers or, in fp32, two; the versions are those above. With
/// 2,048 tokens in the vocabulary the peak lies in the layers.
#[test]
fn steps_that_sort_tokens_by_expert_take_what_the_allocator_counted() {
    for (vocabulary, dtype, method, all, autocast, batch, checkpoints, measured) in [
        (2048, "bfloat16", "full", true, "no", 1, false, 10_215_357_440u64),
        (2048, "bfloat16", "full", true, "no", 2, true, 10_382_744_576),
        (2048, "bfloat16", "lora", true, "bf16", 2, false, 4_476_994_048),
        (2048, "bfloat16", "lora", true, "bf16", 4, true, 4_621_063_680),
        // Experts that are frozen keep no input.
        (2048, "bfloat16", "lora", false, "no", 4, false, 5_203_133_952),
        (2048, "bfloat16", "qlora", true, "bf16", 2, false, 2_504_907_264),
        (2048, "bfloat16", "qlora", true, "bf16", 4, true, 2_586_979_840),
        (102_400, "bfloat16", "qlora", true, "bf16", 4, true, 6_985_666_048),
        (102_400, "float32", "full", true, "bf16", 4, false, 22_130_036_224),
        // Weights count in the dtype of the hidden states: what experts give is multiplied in place.
        (2048, "float32", "lora", true, "no", 4, false, 6_510_102_016),
    ] {
        let config = json!({
            "model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944, "num_attention_heads": 16,
            "num_key_value_heads": 16, "vocab_size": vocabulary, "max_position_embeddings": 163_840, "moe_intermediate_size": 1408,
            "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1, "q_lora_rank": null,
            "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "tie_word_embeddings": false,
            "num_hidden_layers": if dtype == "float32" { 2 } else { 3 },
        });
        let targets = if all { json!("all-linear") } else { json!(["q_proj", "o_proj"]) };
        let error = error_of_step(
            &config,
            json!({
                "method": method, "torch_dtype": dtype, "mixed_precision": autocast, "per_device_train_batch_size": batch,
                "lora": {"r": 16, "lora_alpha": 32, "target_modules": targets}, "gradient_checkpointing": checkpoints,
            }),
            measured,
        );
        assert!(error.abs() < 0.0005, "{vocabulary} {dtype} {method}: {error}");
    }
}

#[test]
fn every_class_with_earlier_experts_runs_them() {
    // A match that failed would leave the experts out, as a smaller number.
    for model_type in [
        "mixtral",
        "minimax",
        "phimoe",
        "qwen2_moe",
        "qwen3_moe",
        "olmoe",
        "flex_olmo",
        "jamba",
        "deepseek_v2",
        "deepseek_v3",
    ] {
        let activations = |version: &str| {
            let config =
                json!({"model_type": model_type, "hidden_size": 1024, "vocab_size": 32_000, "num_experts_per_tok": 2});
            let estimate = estimate(json!({
                "model": {"name": "own", "config": config}, "trainer": {"name": "transformers", "version": version},
                "method": "full", "torch_dtype": "bfloat16", "max_length": 256, "per_device_train_batch_size": 1,
                "gradient_checkpointing": false, "gpu": {"memory_gib": 4096.0, "compute_capability": 8.0},
            }));
            let of_experts = estimate.allocations.iter().filter(|row| row.term.name() == "expert_activations");
            of_experts.flat_map(|row| row.phases.iter().map(|(_, bytes)| *bytes).max()).sum::<u64>()
        };
        let (earlier, stacked) = (activations("4.57.6"), activations("5.23.0"));
        assert!(stacked > 0 && earlier >= stacked, "{model_type}: {earlier} of {stacked}");
    }
}
