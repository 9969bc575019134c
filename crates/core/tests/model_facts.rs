//! The facts beside the shapes: they agree with the modules in every model, and are what each class does.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::model::{Activation, FeedForward, Layer, Model};
use serde_json::{Value, json};

fn read(config: &Value) -> Model {
    Model::from_config("test", config).unwrap_or_else(|error| panic!("{config}: {error}"))
}

/// Activation of each class's first layer, read in its program.
#[test]
fn classes_compute_what_their_code_computes() {
    use Activation::{Fused, GeluNew, Relu, SquaredRelu};
    for (config, activation) in [
        (json!({"model_type": "llama"}), Fused),
        (json!({"model_type": "qwen2_moe"}), Fused),
        (json!({"model_type": "gpt2"}), GeluNew),
        (json!({"model_type": "opt"}), Relu),
        (json!({"model_type": "nemotron", "num_key_value_heads": 8}), SquaredRelu),
    ] {
        let of_first = match &read(&config).layers[0].layer.feed_forward {
            FeedForward::Dense(mlp) => mlp.activation,
            FeedForward::Experts(experts) => experts.expert.activation,
        };
        assert_eq!(of_first, activation, "{config}");
    }
}

#[test]
fn heads_are_tied_by_class_default() {
    for (model_type, tied) in [
        ("gemma2", true),
        ("gemma3_text", true),
        ("chatglm", false),
        ("llama", false),
        ("mistral", false),
        ("phi3", false),
        ("qwen2", false),
        ("qwen3", false),
    ] {
        assert_eq!(read(&json!({"model_type": model_type})).tie_word_embeddings, tied, "{model_type}");
    }
}

/// Count and window of each run.
fn windows(config: &Value) -> Vec<(u64, Option<u64>)> {
    read(config).layers.iter().map(|run| (run.count, run.layer.attention.sliding_window)).collect()
}

#[test]
fn windows_follow_the_pattern_of_the_class() {
    let all = |window| vec![(32, window)];
    assert_eq!(windows(&json!({"model_type": "mistral"})), all(Some(4096)));
    assert_eq!(windows(&json!({"model_type": "mistral", "sliding_window": null})), all(None));
    assert_eq!(windows(&json!({"model_type": "qwen2", "sliding_window": 32768})), all(None));
    let qwen2 = json!({"model_type": "qwen2", "use_sliding_window": true, "max_window_layers": 28});
    assert_eq!(windows(&qwen2), [(28, None), (4, Some(4096))]);
    let gemma2 = json!({"model_type": "gemma2", "num_hidden_layers": 4});
    assert_eq!(windows(&gemma2), [(1, Some(4096)), (1, None), (1, Some(4096)), (1, None)]);
    let gemma3 = json!({"model_type": "gemma3_text", "num_hidden_layers": 13, "sliding_window": 512});
    assert_eq!(windows(&gemma3), [(5, Some(512)), (1, None), (5, Some(512)), (1, None), (1, Some(512))]);
    let pattern = json!({"model_type": "gemma3_text", "num_hidden_layers": 4, "sliding_window_pattern": 2});
    assert_eq!(windows(&pattern), [(1, Some(4096)), (1, None), (1, Some(4096)), (1, None)]);
    let types = ["full_attention", "sliding_attention", "sliding_attention"];
    let listed = json!({"model_type": "gemma3_text", "num_hidden_layers": 3, "layer_types": types});
    assert_eq!(windows(&listed), [(1, None), (2, Some(4096))]);
    let gpt_oss = json!({"model_type": "gpt_oss", "num_hidden_layers": 3});
    assert_eq!(windows(&gpt_oss), [(1, Some(128)), (1, None), (1, Some(128))]);
}

#[test]
fn sparse_layers_follow_the_pattern_of_the_class() {
    let sparse = |config: &Value| -> Vec<(u64, bool)> {
        let model = read(config);
        let is_sparse = |layer: &Layer| matches!(layer.feed_forward, FeedForward::Experts(_));
        model.layers.iter().map(|run| (run.count, is_sparse(&run.layer))).collect()
    };
    assert_eq!(sparse(&json!({"model_type": "deepseek_v3"})), [(3, false), (58, true)]);
    let step = json!({"model_type": "qwen2_moe", "num_hidden_layers": 4, "decoder_sparse_step": 2});
    assert_eq!(sparse(&step), [(1, false), (1, true), (1, false), (1, true)]);
    let listed = json!({"model_type": "qwen3_moe", "num_hidden_layers": 4, "mlp_only_layers": [0, 3]});
    assert_eq!(sparse(&listed), [(1, false), (2, true), (1, false)]);
    assert_eq!(sparse(&json!({"model_type": "mixtral"})), [(32, true)]);
}

#[test]
fn marks_that_few_classes_have() {
    let model = |model_type: &str| read(&json!({"model_type": model_type}));
    assert!(model("gemma2").final_logit_softcapping && !model("gemma3_text").final_logit_softcapping);
    assert!(model("cohere").scales_logits);
    let llama = model("llama");
    assert!(!llama.scales_logits && !llama.final_logit_softcapping);
}

#[test]
fn positions_are_those_a_sequence_may_use() {
    let positions = |config: Value| read(&config).max_position_embeddings;
    let recorded = |config: Value| Model::from_config("test", &config).unwrap().max_position_embeddings;
    assert_eq!(recorded(json!({"model_type": "gpt2"})), Some(1024));
    assert_eq!(recorded(json!({"model_type": "data2vec-text", "max_position_embeddings": 514})), Some(512));
    assert_eq!(recorded(json!({"model_type": "opt"})), Some(2048));
    assert_eq!(recorded(json!({"model_type": "roberta", "max_position_embeddings": 514})), Some(512));
    assert_eq!(positions(json!({"model_type": "chatglm", "seq_length": 32768})), Some(32768));
    assert_eq!(recorded(json!({"model_type": "bloom"})), None);
}

#[test]
fn every_key_that_a_config_leaves_to_its_class_is_listed() {
    let config = serde_json::json!({"model_type": "llama", "hidden_size": 2048, "vocab_size": 32000});
    let model = Model::from_config("tiny", &config).unwrap();
    let assumed = |key: &str| model.assumed.iter().find(|other| other.key == key).map(|other| other.value.as_str());
    for (key, value) in [
        ("num_hidden_layers", "32"),
        ("num_attention_heads", "32"),
        ("num_key_value_heads", "32"),
        ("intermediate_size", "11008"),
        ("head_dim", "64"),
        ("tie_word_embeddings", "false"),
        ("attention_bias", "false"),
    ] {
        assert_eq!(assumed(key), Some(value), "{key}");
    }
    for key in ["hidden_size", "vocab_size", "model_type"] {
        assert_eq!(assumed(key), None, "{key} is in the config");
    }
    let keys: Vec<&str> = model.assumed.iter().map(|other| other.key.as_str()).collect();
    let mut once = keys.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), keys.len(), "each once: {keys:?}");
}

#[test]
fn older_spellings_and_text_parts_are_no_assumptions() {
    let config =
        serde_json::json!({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257});
    let model = Model::from_config("gpt2", &config).unwrap();
    let sizes: Vec<_> = model.assumed.iter().filter(|key| key.decides_size()).map(|key| key.key.as_str()).collect();
    assert!(!sizes.contains(&"hidden_size") && !sizes.contains(&"num_hidden_layers"), "{sizes:?}");
    let config = serde_json::json!({
        "model_type": "gemma3", "vision_config": {"hidden_size": 1152, "vision_use_head": false},
        "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34},
    });
    let model = Model::from_config("gemma", &config).unwrap();
    let assumed = |key: &str| model.assumed.iter().any(|other| other.key == key);
    assert!(!assumed("hidden_size") && !assumed("num_hidden_layers") && assumed("vocab_size"), "{:?}", model.assumed);
}

#[test]
fn classes_that_share_code_share_its_behaviour() {
    let of = |model_type: &str| {
        let config = serde_json::json!({"model_type": model_type, "hidden_size": 256, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000});
        Model::from_config(model_type, &config).unwrap().behaviour
    };
    for (alias, class) in [("xlm-roberta", "roberta"), ("camembert", "roberta"), ("kimi_k2", "deepseek_v3")] {
        assert_eq!(of(alias), of(class), "{alias}");
    }
    assert!(of("bloom").attends_by_itself && !of("roberta").attends_by_itself);
    for eager in ["gemma2", "bloom", "gpt_oss"] {
        assert!(!of(eager).supports_sdpa, "{eager}");
    }
    for class in ["llama", "qwen2", "qwen3", "mistral", "gemma3_text", "phi3", "olmo2"] {
        assert!(of(class).supports_sdpa, "{class}");
    }
}
