//! Totals of real models: parameters, and those that a token meets.
//!
//! `models/totals.jsonl` was written by `models/list_parameters.py`; classes that transformers does not have are checked
//! against the totals their checkpoints were published with.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;

use headroom_core::model::{Images, Model, Note, Programs, Reading, catalogue};
use serde_json::{Value, json};

fn read(config: &Value) -> Model {
    Model::from_config("test", config).unwrap_or_else(|error| panic!("{config}: {error}"))
}

/// Of a file here, each line.
fn lines(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn totals_are_those_of_the_class() {
    let (mut wrong, mut cases, mut towers) = (Vec::new(), 0, 0);
    let programs = Programs::default();
    for case in lines(include_str!("models/totals.jsonl")) {
        let (id, config) = (&case["id"], &case["config"]);
        // Whether its tower runs or is on the GPU alone.
        let read = |images| Model::from_config_by("test", config, &programs, images);
        let (mut model, with_tower) = match (read(Images::None), read(Images::Some)) {
            (Ok(model), Ok(with_tower)) => (model, with_tower),
            (Err(error), _) | (_, Err(error)) => {
                wrong.push(format!("{id}: {error}"));
                continue;
            }
        };
        let mut compare = |what: &str, read: u64| {
            if case[what].as_u64().is_some_and(|expected| expected != read) {
                wrong.push(format!("{id}: {what} is {read} instead of {}", case[what]));
            }
        };
        if with_tower.vision.is_some() {
            compare("whole_param_count", with_tower.param_count());
            compare("whole_param_count", model.param_count());
            towers += 1;
        }
        // The other totals are those of the text part alone.
        model.idle.clear();
        compare("param_count", model.param_count());
        compare("active_param_count", model.active_param_count());
        assert_eq!(model.reading, Reading::Known, "{id}");
        cases += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 160 && towers > 10, "{cases} cases, {towers} with towers");
}

/// Every class whose program is in the repository has a real config whose totals are compared, here or in the catalogue.
#[test]
fn no_class_is_without_a_total() {
    fn classes(config: &Value, found: &mut HashSet<String>) {
        let Some(config) = config.as_object() else { return };
        found.extend(config.get("model_type").and_then(Value::as_str).map(str::to_owned));
        for part in config.values() {
            classes(part, found);
        }
    }
    let mut compared = HashSet::new();
    for case in lines(include_str!("models/totals.jsonl")).chain(lines(include_str!("models/tensors.jsonl"))) {
        classes(&case["config"], &mut compared);
    }
    for model in catalogue() {
        classes(&serde_json::from_str(model.config).unwrap(), &mut compared);
    }
    for (_, config, _) in published() {
        classes(&config, &mut compared);
    }
    // No class, but what stands for a mixture that nothing knows.
    compared.insert("unknown_mixture".to_owned());
    let programs = Programs::default();
    let lacking: Vec<&str> = programs.known().filter(|class| !compared.contains(*class)).collect();
    assert_eq!(lacking, Vec::<&str>::new());
}

/// Figures of a config.json and the size of its checkpoint: of classes that come with their own code, and of T5's of version 1.1, whose
/// checkpoints have a head of its own that the class ties where it makes a model of nothing.
fn published() -> Vec<(&'static str, Value, u64)> {
    let baichuan = |more: Value| {
        let mut config = json!({"model_type": "baichuan", "hidden_act": "silu", "tie_word_embeddings": false});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let seven = |vocab: u64| {
        json!({"hidden_size": 4096, "intermediate_size": 11008, "max_position_embeddings": 4096,
               "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": vocab})
    };
    let thirteen = |vocab: u64| {
        json!({"hidden_size": 5120, "intermediate_size": 13696, "model_max_length": 4096,
               "num_attention_heads": 40, "num_hidden_layers": 40, "vocab_size": vocab})
    };
    let chatglm = |layers: u64, vocab: u64| {
        json!({"model_type": "chatglm", "num_layers": layers, "padded_vocab_size": vocab, "hidden_size": 4096,
               "ffn_hidden_size": 13696, "kv_channels": 128, "num_attention_heads": 32, "seq_length": 8192,
               "hidden_dropout": 0.0, "attention_dropout": 0.0, "rmsnorm": true, "post_layer_norm": true,
               "add_bias_linear": false, "add_qkv_bias": true, "multi_query_attention": true,
               "multi_query_group_num": 2, "tie_word_embeddings": false})
    };
    let internlm2 = |hidden: u64, inner: u64, layers: u64, heads: u64| {
        json!({"model_type": "internlm2", "bias": false, "hidden_size": hidden, "intermediate_size": inner,
               "num_attention_heads": heads, "num_hidden_layers": layers, "num_key_value_heads": 8,
               "vocab_size": 92544})
    };
    let qwen = |hidden: u64, inner: u64, layers: u64, heads: u64, vocab: u64| {
        json!({"model_type": "qwen", "hidden_size": hidden, "intermediate_size": inner, "num_attention_heads": heads,
               "num_hidden_layers": layers, "kv_channels": 128, "no_bias": true, "vocab_size": vocab,
               "seq_length": 8192, "attn_dropout_prob": 0.0, "emb_dropout_prob": 0.0, "tie_word_embeddings": false})
    };
    let minicpm = json!({"model_type": "minicpm", "hidden_size": 2304, "intermediate_size": 5760,
                         "num_attention_heads": 36, "num_hidden_layers": 40, "num_key_value_heads": 36,
                         "scale_emb": 12, "dim_model_base": 256, "scale_depth": 1.4, "vocab_size": 122_753});
    // Its first files name a class of their own, which is Llama's.
    let yi = json!({"model_type": "Yi", "hidden_size": 4096, "intermediate_size": 11_008, "num_attention_heads": 32,
                    "num_hidden_layers": 32, "num_key_value_heads": 4, "vocab_size": 64_000});
    let t5 = |model_type: &str, vocab: u64| {
        json!({"model_type": model_type, "d_ff": 1024, "d_kv": 64, "d_model": 512, "num_heads": 6, "num_layers": 8,
               "num_decoder_layers": 8, "vocab_size": vocab, "feed_forward_proj": "gated-gelu",
               "tie_word_embeddings": false})
    };
    let internlm = json!({"model_type": "internlm", "bias": true, "hidden_size": 4096, "intermediate_size": 11_008,
                          "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 103_168,
                          "max_position_embeddings": 2048, "tie_word_embeddings": false});
    vec![
        ("mT5-small", t5("mt5", 250_112), 300_176_768),
        ("umT5-small", t5("umt5", 256_384), 306_601_984),
        ("InternLM-7B", internlm, 7_321_948_160),
        ("InternLM2-7B", internlm2(4096, 14336, 32, 32), 7_737_708_544),
        ("InternLM2-20B", internlm2(6144, 16384, 48, 48), 19_861_149_696),
        ("Baichuan-7B", baichuan(seven(64_000)), 7_000_559_616),
        ("Baichuan2-7B", baichuan(seven(125_696)), 7_505_973_248),
        ("Baichuan-13B", baichuan(thirteen(64_000)), 13_264_901_120),
        ("Baichuan2-13B", baichuan(thirteen(125_696)), 13_896_668_160),
        ("ChatGLM3-6B", chatglm(28, 65_024), 6_243_584_000),
        ("GLM-4-9B", chatglm(40, 151_552), 9_399_951_360),
        ("MiniCPM-2B", minicpm, 2_724_880_896),
        ("Yi-6B", yi, 6_061_035_520),
        ("Qwen-1.8B", qwen(2048, 11_008, 24, 16, 151_936), 1_836_828_672),
        ("Qwen-7B", qwen(4096, 22_016, 32, 32, 151_936), 7_721_324_544),
        ("Qwen-14B", qwen(5120, 27_392, 40, 40, 152_064), 14_167_290_880),
    ]
}

#[test]
fn totals_are_those_of_the_checkpoint() {
    for (name, config, expected) in published() {
        assert_eq!(read(&config).param_count(), expected, "{name}");
    }
}

#[test]
fn models_with_images_are_as_large_as_their_checkpoints() {
    let mut refused = Vec::new();
    let mut counted = 0;
    for model in catalogue() {
        let config: Value = serde_json::from_str(model.config).unwrap();
        if config.get("vision_config").is_none() {
            continue;
        }
        match Model::from_config_by(model.id, &config, &Programs::default(), Images::Some) {
            Ok(read) => {
                assert_eq!(read.param_count(), model.param_count, "{}", model.id);
                counted += 1;
            }
            Err(_) => refused.push(model.id),
        }
    }
    // None has a tower that no program has with its text.
    assert!(refused.is_empty(), "{refused:?}");
    assert!(counted > 40, "{counted} models");
}

/// A checkpoint has its tower whatever the reader trains: an entry that leaves the tower out says so with each estimate.
#[test]
fn whoever_is_counted_without_a_tower_says_so() {
    for model in catalogue() {
        let config: Value = serde_json::from_str(model.config).unwrap();
        let read = Model::from_config_by(model.id, &config, &Programs::default(), Images::Some).unwrap();
        let is_part = read.notes.iter().any(|note| matches!(note, Note::TextPart { .. }));
        assert_eq!(is_part, model.label.contains("(text part)"), "{}", model.id);
    }
}

#[test]
fn programs_count_text_parts_alone() {
    let programs = Programs::default();
    let mut parts = 0;
    for line in include_str!("models/tensors.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = match case["config"]["model_type"].as_str() {
            Some("qwen2_5_vl") => "qwen2_5_vl_text",
            Some("qwen3_vl") => "qwen3_vl_text",
            Some("qwen3_vl_moe") => "qwen3_vl_moe_text",
            Some("glm4v") => "glm4v_text",
            _ => continue,
        };
        let mut config = case["config"]["text_config"].clone();
        config["model_type"] = json!(text);
        // A part inside another class, which says alone whether the head is the token embedding.
        let whole = json!({"model_type": "somevl", "text_config": config,
                           "tie_word_embeddings": case["config"]["tie_word_embeddings"] == true});
        let model = Model::from_config_by("test", &whole, &programs, Images::None).unwrap();
        assert_eq!(Some(model.param_count()), case["param_count"].as_u64(), "{text}");
        parts += 1;
    }
    assert_eq!(parts, 4);
}

#[test]
fn an_unknown_class_is_guessed_by_a_program() {
    let dense = json!({"model_type": "somethingnew", "n_embd": 1024, "ffn_dim": 2816, "n_layer": 6, "n_head": 16,
                       "num_kv_heads": 4, "vocab_size": 32000, "tie_word_embeddings": true, "attention_bias": true});
    let with = |more: Value| {
        let mut config = dense.clone();
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let sparse = json!({"num_experts": 16, "moe_topk": 4, "moe_intermediate_size": 704});
    let shared = json!({"n_routed_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 704,
                        "n_shared_experts": 2, "first_k_dense_replace": 1, "moe_layer_freq": 2, "mlp_bias": true});
    let (h, vocab) = (1024, 32_000);
    // Query and output, key and value with heads of 64 and their biases, two norms; a gated MLP.
    let around = |query: u64, kv: u64| 2 * query * h + query + h + 2 * kv * (h + 1) + 2 * h;
    let mlp = |inner: u64| 3 * inner * h;
    let experts = |count: u64| count * mlp(704);
    let total = |layers: u64| vocab * h + h + layers;
    for (config, all, active) in [
        (dense.clone(), 6 * (around(1024, 256) + mlp(2816)), None),
        (with(json!({"mlp_bias": true, "head_dim": 128})), 6 * (around(2048, 512) + mlp(2816) + 2 * 2816 + h), None),
        (
            with(sparse),
            6 * (around(1024, 256) + experts(16) + 16 * h),
            Some(6 * (around(1024, 256) + experts(4) + 16 * h)),
        ),
        // Mixtures at layers 2 and 4, whose shared experts are one MLP.
        (
            with(shared),
            6 * around(1024, 256) + 4 * (mlp(2816) + 2 * 2816 + h) + 2 * (experts(16) + mlp(2 * 704) + 16 * h),
            Some(6 * around(1024, 256) + 4 * (mlp(2816) + 2 * 2816 + h) + 2 * (experts(4) + mlp(2 * 704) + 16 * h)),
        ),
    ] {
        let model = Model::from_config("test", &config).unwrap();
        assert_eq!(model.reading, Reading::Generic, "{config}");
        assert_eq!(model.param_count(), total(all), "{config}");
        assert_eq!(model.active_param_count(), total(active.unwrap_or(all)), "{config}");
        assert_eq!((model.num_hidden_layers(), model.tie_word_embeddings), (6, true), "{config}");
    }
}

#[test]
fn an_unknown_class_is_read_as_a_decoder_and_marked() {
    let config = json!({"model_type": "somethingnew", "hidden_size": 1024, "intermediate_size": 2816,
                        "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 32000});
    let model = read(&config);
    assert_eq!(model.reading, Reading::Generic);
    assert_eq!(model.model_type, "somethingnew");
    let llama = json!({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
                       "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 32000});
    assert_eq!(model.param_count(), read(&llama).param_count());

    // Its experts are not lost: a mixture read as dense would be many times too small.
    let mut sparse = config.clone();
    sparse["n_routed_experts"] = json!(8);
    sparse["num_experts_per_tok"] = json!(2);
    sparse["moe_intermediate_size"] = json!(1408);
    let expert = 3 * 1408 * 1024;
    let per_layer = 8 * expert + 8 * 1024;
    let dense_mlp = 3 * 2816 * 1024;
    assert_eq!(read(&sparse).param_count(), model.param_count() + 24 * (per_layer - dense_mlp));
}

#[test]
fn a_multimodal_config_is_read_for_its_text_part_with_a_note() {
    let text = json!({"model_type": "qwen2", "hidden_size": 896, "num_attention_heads": 14, "num_key_value_heads": 2,
                      "intermediate_size": 4864, "num_hidden_layers": 24});
    let mut alone = read(&text);
    let mut inside = read(&json!({"model_type": "somevl", "text_config": text, "vision_config": {}}));
    assert_eq!(inside.notes, [Note::TextPart { of: "somevl".into() }]);
    assert_eq!(alone.notes, []);
    inside.notes.clear();
    alone.name.clone_from(&inside.name);
    assert_eq!(inside, alone);

    // Older Qwen2-VL files are flat.
    let flat = json!({"model_type": "qwen2_vl", "hidden_size": 1536, "num_attention_heads": 12,
                      "num_key_value_heads": 2, "intermediate_size": 8960, "num_hidden_layers": 28,
                      "vocab_size": 151936, "tie_word_embeddings": true,
                      "vision_config": {"depth": 32, "embed_dim": 1280, "num_heads": 16, "hidden_size": 1536}});
    let mut flat = read(&flat);
    assert_eq!((flat.reading, flat.notes.len()), (Reading::Known, 0));
    assert_eq!(flat.param_count(), 2_208_985_600);
    // Qwen2-VL-2B has the language model of Qwen2-1.5B.
    flat.idle.clear();
    assert_eq!(flat.param_count(), 1_543_714_304);

    // An omni model's thinker has a text part.
    let omni = json!({"model_type": "qwen2_5_omni", "thinker_config": {"model_type": "qwen2_5_omni_thinker",
                      "text_config": text}});
    assert_eq!(read(&omni).param_count(), alone.param_count());
}

#[test]
fn a_tied_head_may_be_declared_outside_or_inside_the_text_part() {
    let config = |outer: Option<bool>, inner: Option<bool>| {
        let mut config = json!({"model_type": "llava", "text_config": {"model_type": "llama"}});
        if let Some(tied) = outer {
            config["tie_word_embeddings"] = json!(tied);
        }
        if let Some(tied) = inner {
            config["text_config"]["tie_word_embeddings"] = json!(tied);
        }
        read(&config).tie_word_embeddings
    };
    assert!(!config(None, None));
    assert!(config(Some(true), None));
    assert!(config(None, Some(true)));
    assert!(config(Some(false), Some(true)));
    assert!(!config(Some(false), None));
}
