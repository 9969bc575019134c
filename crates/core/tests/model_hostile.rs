//! Configs that are wrong, absurd or malicious: an error that names the key, never a panic, an overflow or a hang.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::LazyLock;

use headroom_core::model::{ConfigError, Model, Reading};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Every class that is read, and one that is not known.
fn model_types() -> Vec<&'static str> {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../static/programs");
        let files = std::fs::read_dir(folder).unwrap().flatten();
        files.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned())).collect()
    });
    NAMES.iter().map(String::as_str).chain(["never_heard_of"]).collect()
}

/// Keys that some class reads.
const KEYS: &[&str] = &[
    "vocab_size",
    "padded_vocab_size",
    "hidden_size",
    "n_embd",
    "dim",
    "intermediate_size",
    "ffn_hidden_size",
    "n_inner",
    "ffn_dim",
    "num_hidden_layers",
    "n_layer",
    "num_layers",
    "num_attention_heads",
    "n_head",
    "num_key_value_heads",
    "num_kv_heads",
    "multi_query_group_num",
    "kv_channels",
    "head_dim",
    "max_position_embeddings",
    "n_positions",
    "model_max_length",
    "tie_word_embeddings",
    "hidden_act",
    "activation_function",
    "attention_dropout",
    "attn_pdrop",
    "resid_pdrop",
    "hidden_dropout_prob",
    "attention_bias",
    "mlp_bias",
    "layer_types",
    "sliding_window",
    "sliding_window_pattern",
    "use_sliding_window",
    "max_window_layers",
    "num_local_experts",
    "num_experts",
    "n_routed_experts",
    "n_shared_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "shared_expert_intermediate_size",
    "first_k_dense_replace",
    "moe_layer_freq",
    "decoder_sparse_step",
    "mlp_only_layers",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "v_head_dim",
    "word_embed_proj_dim",
    "do_layer_norm_before",
    "new_decoder_architecture",
    "multi_query",
    "alibi",
    "parallel_attn",
    "num_ln_in_parallel_attn",
    "partial_rotary_factor",
    "rotary_pct",
    "rope_parameters",
    "no_rope_layers",
    "cross_attention_layers",
    "type_vocab_size",
    "use_qk_norm",
    "text_config",
    "thinker_config",
    "final_logit_softcapping",
    "model_type",
];

fn error(config: &Value) -> ConfigError {
    match Model::from_config("test", config) {
        Err(error) => error,
        Ok(model) => panic!("{config} was read, with {} parameters", model.param_count()),
    }
}

#[test]
fn what_cannot_be_a_figure_is_an_error_that_names_the_key() {
    let wrong = [
        json!("32"),
        json!(-1),
        json!(0),
        json!(1e30),
        json!(4096.5),
        json!(1_000_000_000_000_u64),
        json!(u64::MAX),
        json!(true),
        json!([]),
        json!({}),
    ];
    for key in ["hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size"] {
        for value in &wrong {
            let error = error(&json!({"model_type": "llama", key: value}));
            assert_eq!(error.key, key, "{value}");
            assert!(error.why.contains("whole number"), "{}", error.why);
        }
    }
    for (key, value) in [
        ("tie_word_embeddings", json!("yes")),
        ("attention_dropout", json!(1.5)),
        ("attention_dropout", json!(-0.1)),
        ("hidden_act", json!(3)),
        ("hidden_act", json!("softplus")),
    ] {
        assert_eq!(error(&json!({"model_type": "llama", key: value})).key, key, "{value}");
    }
}

#[test]
fn figures_that_contradict_each_other_are_errors() {
    let heads = error(&json!({"model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 5}));
    assert_eq!(heads.key, "num_key_value_heads");
    let width = error(&json!({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 31}));
    assert_eq!(width.key, "num_attention_heads");
    // What the class assumes is said to be assumed.
    let silent = error(&json!({"model_type": "qwen2", "num_attention_heads": 14, "hidden_size": 896}));
    assert_eq!(silent.key, "num_key_value_heads");
    assert!(silent.why.starts_with("missing"), "{}", silent.why);
    let experts = error(&json!({"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 5}));
    assert_eq!(experts.key, "num_experts_per_tok");
    let none = error(&json!({"model_type": "deepseek_v3", "n_routed_experts": null}));
    assert_eq!(none.key, "n_routed_experts");
    let types = error(&json!({"model_type": "gemma2", "layer_types": ["full_attention"]}));
    assert_eq!(types.key, "layer_types");
    let first_generation = error(&json!({"model_type": "chatglm", "position_encoding_2d": true}));
    assert_eq!(first_generation.key, "position_encoding_2d");
}

#[test]
fn an_unknown_class_without_its_figures_names_the_missing_one() {
    let all = json!({"model_type": "somethingnew", "hidden_size": 1024, "intermediate_size": 2816,
                     "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 32000});
    Model::from_config("test", &all).unwrap();
    for key in ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"] {
        let mut config = all.clone();
        config.as_object_mut().unwrap().remove(key);
        let error = error(&config);
        assert_eq!(error.key, key);
        assert!(error.why.starts_with("missing"), "{}", error.why);
    }
    assert_eq!(error(&json!({})).key, "hidden_size");
    for not_an_object in [json!(null), json!(3), json!("llama"), json!([])] {
        assert_eq!(error(&not_an_object).key, "config.json");
    }
}

#[test]
fn a_config_without_a_model_type_is_read_by_its_architecture() {
    for (architecture, model_type) in [
        ("LlamaForCausalLM", "llama"),
        ("Qwen2MoeForCausalLM", "qwen2_moe"),
        ("GPT2LMHeadModel", "gpt2"),
        ("XLMRobertaForMaskedLM", "xlm-roberta"),
        ("MistralForSequenceClassification", "mistral"),
    ] {
        let model = Model::from_config("test", &json!({"architectures": [architecture]})).unwrap();
        assert_eq!((model.model_type.as_str(), model.reading), (model_type, Reading::Known));
    }
    assert_eq!(error(&json!({"architectures": ["UnheardOfForCausalLM"]})).key, "hidden_size");
    assert_eq!(error(&json!({"architectures": 3})).key, "hidden_size");
}

#[test]
fn every_class_reads_a_config_of_its_name_alone_or_says_what_is_missing() {
    for model_type in model_types() {
        match Model::from_config("test", &json!({"model_type": model_type})) {
            Ok(model) => assert!(model.param_count() > 0, "{model_type}"),
            // Defaults of a class may be of a kind that no checkpoint has.
            Err(error) => {
                let is_of_defaults = error.why.contains("not recorded") || error.why.contains("must divide");
                assert!(error.why.starts_with("missing") || is_of_defaults, "{model_type}: {error}")
            }
        }
    }
}

#[test]
fn layers_cost_memory_in_proportion_to_their_kinds() {
    let error = error(&json!({"model_type": "llama", "num_hidden_layers": 1_000_000_000_000_u64}));
    assert_eq!(error.key, "num_hidden_layers");
    let model = Model::from_config("test", &json!({"model_type": "llama", "num_hidden_layers": 8192})).unwrap();
    assert_eq!(model.layers.len(), 1);
    assert_eq!(model.num_hidden_layers(), 8192);
}

#[test]
fn the_widest_figures_do_not_overflow() {
    let config = json!({"model_type": "mixtral", "hidden_size": 1 << 20, "intermediate_size": 1 << 22,
                        "num_hidden_layers": 8192, "num_local_experts": 1 << 16, "vocab_size": 1 << 24});
    assert_eq!(error(&config).key, "hidden_size");
}

#[test]
fn a_long_value_is_cut_in_the_message() {
    let error = error(&json!({"model_type": "llama", "hidden_act": "x".repeat(100_000)}));
    assert!(error.why.chars().count() < 300, "{}", error.why.len());
}

#[test]
fn nesting_ends() {
    let mut config = json!({"model_type": "llama"});
    for _ in 0..100 {
        config = json!({"model_type": "outer", "text_config": config});
    }
    assert_eq!(error(&config).key, "hidden_size");
}

#[test]
fn a_name_that_a_class_does_not_read_hides_no_fault() {
    // Eight heads of keys by default, and one of queries.
    for model_type in ["cwm", "llama"] {
        let config =
            json!({"model_type": model_type, "num_attention_heads": 1, "num_key_value_heads": 8, "num_kv_heads": 0.0});
        assert_eq!(error(&config).key, "num_key_value_heads", "{model_type}");
    }
    let config = json!({"model_type": "cwm", "num_attention_heads": 1, "num_kv_heads": 0.0});
    assert_eq!(error(&config).key, "num_key_value_heads");
}

#[test]
fn heads_of_every_kind_of_layer_are_shared_evenly() {
    // Its windowed layers have twice as many heads of keys.
    let config = |heads: u64| json!({"model_type": "mimo_v2_flash", "num_key_value_heads": heads});
    assert_eq!(error(&config(64)).key, "num_key_value_heads");
    check(&Model::from_config("test", &config(32)).unwrap());
    let few = json!({"model_type": "mimo_v2_flash", "num_attention_heads": 4});
    assert_eq!(error(&few).key, "num_key_value_heads");
}

/// Any JSON, not deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0u64..70_000).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z_]{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["silu", "gelu_new", "full_attention", "sliding_attention"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(KEYS), inner), 0..6).prop_map(object),
        ]
    })
}

/// A plausible figure: small enough that whole models are read too.
fn figure() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0u64..12).prop_map(|power| Value::from(1u64 << power)),
        (0u64..200).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        (0.0..1.0).prop_map(Value::from),
        prop::collection::vec(0u64..40, 0..8).prop_map(Value::from),
    ]
}

fn object(entries: Vec<(&str, Value)>) -> Value {
    Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

fn with_type(model_type: &str, mut entries: Vec<(&str, Value)>) -> Value {
    entries.push(("model_type", Value::from(model_type)));
    object(entries)
}

/// What must hold of every model that is read.
fn check(model: &Model) {
    assert!(model.param_count() > 0);
    assert!(model.active_param_count() <= model.param_count());
    assert!(model.num_hidden_layers() >= 1);
    for run in &model.layers {
        let attention = &run.layer.attention;
        assert!(run.count >= 1);
        // Layers without attention have no heads.
        assert!(
            attention.num_key_value_heads == 0 || attention.num_attention_heads % attention.num_key_value_heads == 0
        );
        assert!((0.0..=1.0).contains(&attention.dropout));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_json_panics(config in any_json()) {
        if let Ok(model) = Model::from_config("test", &config) {
            check(&model);
        }
    }

    #[test]
    fn no_config_of_a_known_class_panics(
        model_type in prop::sample::select(model_types()),
        entries in prop::collection::vec((prop::sample::select(KEYS), any_json()), 0..8),
    ) {
        if let Ok(model) = Model::from_config("test", &with_type(model_type, entries)) {
            check(&model);
        }
    }

    #[test]
    fn no_plausible_config_panics(
        model_type in prop::sample::select(model_types()),
        entries in prop::collection::vec((prop::sample::select(KEYS), figure()), 0..8),
    ) {
        if let Ok(model) = Model::from_config("test", &with_type(model_type, entries)) {
            check(&model);
        }
    }

    #[test]
    fn more_layers_and_wider_layers_are_more_parameters(layers in 1u64..100, width in 1u64..64) {
        let count = |layers: u64, width: u64| {
            let config = json!({"model_type": "llama", "num_hidden_layers": layers, "hidden_size": 32 * width});
            Model::from_config("test", &config).unwrap().param_count()
        };
        prop_assert!(count(layers + 1, width) > count(layers, width));
        prop_assert!(count(layers, width + 1) > count(layers, width));
    }
}
