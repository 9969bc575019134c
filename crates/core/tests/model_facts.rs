//! The facts beside the shapes: they agree with the modules in every model, and are what each class does.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::model::{
    Activation, ConfigError, FeedForward, Images, Layer, Mlp, Model, ModuleKind, NormKind, Programs, Projection,
    Residual, Role, known_model_types,
};
use serde_json::{Value, json};

/// By the code written by hand alone.
fn by_hand(name: &str, config: &Value) -> Result<Model, ConfigError> {
    Model::from_config_by(name, config, &Programs::none(), Images::None)
}

fn read(config: &Value) -> Model {
    by_hand("test", config).unwrap_or_else(|error| panic!("{config}: {error}"))
}

/// The configs of both tables, but for those that programs read: what is known of a recorded layer beside its operators has no part in
/// memory.
fn configs() -> impl Iterator<Item = Value> {
    let lines = include_str!("models/tensors.jsonl").lines().chain(include_str!("models/totals.jsonl").lines());
    let configs = lines.map(|line| serde_json::from_str::<Value>(line).unwrap()["config"].clone());
    configs.filter(|config| known_model_types().any(|name| config["model_type"] == name))
}

/// Input and output width of the only linear layer with `role`.
fn linear(layer: &Layer, role: Role) -> Option<(u64, u64)> {
    assert!(layer.modules.iter().filter(|module| module.role == role).count() <= 1, "{role:?} twice");
    match layer.module(role)?.kind {
        ModuleKind::Linear { d_in, d_out, .. } => Some((d_in, d_out)),
        ref other => panic!("{role:?} is {other:?}"),
    }
}

fn check_attention(hidden: u64, layer: &Layer) {
    let facts = &layer.attention;
    let (a, k) = (facts.num_attention_heads, facts.num_key_value_heads);
    let (query, key, value) = (a * facts.head_dim, k * facts.head_dim, k * facts.value_head_dim);
    match facts.projection {
        Projection::Separate => {
            assert_eq!(linear(layer, Role::Query), Some((hidden, query)));
            assert_eq!(linear(layer, Role::Key), Some((hidden, key)));
            assert_eq!(linear(layer, Role::Value), Some((hidden, value)));
        }
        Projection::Fused => {
            assert_eq!(linear(layer, Role::QueryKeyValue), Some((hidden, query + key + value)));
        }
        Projection::Latent { q_lora_rank, kv_lora_rank, qk_rope_head_dim } => {
            assert_eq!(linear(layer, Role::QueryDown), q_lora_rank.map(|rank| (hidden, rank)));
            assert_eq!(linear(layer, Role::Query), Some((q_lora_rank.unwrap_or(hidden), query)));
            assert_eq!(linear(layer, Role::KeyValueDown), Some((hidden, kv_lora_rank + qk_rope_head_dim)));
            let expanded = a * (facts.head_dim - qk_rope_head_dim + facts.value_head_dim);
            assert_eq!(linear(layer, Role::KeyValueUp), Some((kv_lora_rank, expanded)));
            assert_eq!(facts.rotary_dim, qk_rope_head_dim);
        }
    }
    assert_eq!(linear(layer, Role::Output), Some((a * facts.value_head_dim, hidden)));
    assert_eq!(layer.module(Role::QueryNorm).is_some(), facts.qk_norm.is_some());
    assert_eq!(layer.module(Role::KeyNorm).is_some(), facts.qk_norm.is_some());
    assert!(!facts.alibi || facts.rotary_dim == 0);
}

fn check_mlp(hidden: u64, layer: &Layer, mlp: &Mlp) {
    let inner = mlp.intermediate_size;
    if mlp.fused_gate_up {
        assert_eq!(linear(layer, Role::GateUp), Some((hidden, 2 * inner)));
    } else {
        assert_eq!(linear(layer, Role::Up), Some((hidden, inner)));
        assert_eq!(linear(layer, Role::Gate), mlp.gated.then_some((hidden, inner)));
    }
    assert_eq!(linear(layer, Role::Down), Some((inner, hidden)));
}

fn check_feed_forward(hidden: u64, layer: &Layer) {
    let experts = match &layer.feed_forward {
        FeedForward::Dense(mlp) => return check_mlp(hidden, layer, mlp),
        FeedForward::Experts(experts) => experts,
    };
    let router = &layer.module(Role::Router).unwrap().kind;
    assert!(router.param_count() >= experts.num_experts * hidden);
    let ModuleKind::Tensors { shapes } = &layer.module(Role::RoutedExperts).unwrap().kind else {
        panic!("routed experts are bare tensors");
    };
    for (name, shape) in shapes {
        assert_eq!(shape[0], experts.num_experts, "{name}");
    }
    let weights = 3 * experts.num_experts * experts.expert.intermediate_size * hidden;
    assert!(shapes.iter().map(|(_, shape)| shape.iter().product::<u64>()).sum::<u64>() >= weights);
    let shared = experts.shared.map(|shared| (hidden, shared.intermediate_size));
    assert_eq!(linear(layer, Role::SharedUp), shared);
    assert_eq!(linear(layer, Role::SharedGateProjection), shared);
    assert_eq!(linear(layer, Role::SharedDown), shared.map(|(hidden, inner)| (inner, hidden)));
    assert_eq!(layer.module(Role::SharedExpertGate).is_some(), experts.shared_gate);
}

fn check_norms(hidden: u64, layer: &Layer) {
    let expected = match layer.residual {
        Residual::PreNorm | Residual::Parallel { two_norms: true } => vec![Role::InputNorm, Role::FeedForwardNorm],
        Residual::Parallel { two_norms: false } => vec![Role::InputNorm],
        Residual::PostNorm | Residual::PostBranchNorm => vec![Role::PostAttentionNorm, Role::PostFeedForwardNorm],
        Residual::SandwichNorm => {
            vec![Role::InputNorm, Role::PostAttentionNorm, Role::FeedForwardNorm, Role::PostFeedForwardNorm]
        }
    };
    let all = [Role::InputNorm, Role::PostAttentionNorm, Role::FeedForwardNorm, Role::PostFeedForwardNorm];
    for role in all {
        let norm = layer.module(role);
        assert_eq!(norm.is_some(), expected.contains(&role), "{role:?} in {:?}", layer.residual);
        let width = norm.map(|module| match module.kind {
            ModuleKind::Norm { width, .. } => width,
            ref other => panic!("{role:?} is {other:?}"),
        });
        assert!(width.is_none_or(|width| width == hidden));
    }
}

#[test]
fn facts_agree_with_the_modules_of_every_layer() {
    for config in configs() {
        println!("{config}");
        let model = read(&config);
        for run in &model.layers {
            check_attention(model.hidden_size, &run.layer);
            check_feed_forward(model.hidden_size, &run.layer);
            check_norms(model.hidden_size, &run.layer);
        }
        let tokens = model.embeddings.iter().filter(|module| module.role == Role::TokenEmbedding).count();
        assert_eq!(tokens, 1);
        let heads = model.head.iter().filter(|module| module.role == Role::Head).count();
        assert_eq!(heads, usize::from(!model.tie_word_embeddings));
    }
}

/// Norm, arrangement, activation and rotated dimensions of each class's first layer, read in its code.
#[test]
fn classes_compute_what_their_code_computes() {
    use Activation::{BloomGelu, Fused, GeluNew, Relu, SquaredRelu};
    use NormKind::{LayerNorm, RmsNorm};
    use Residual::{Parallel, PostNorm, PreNorm};
    const ONE: Residual = Parallel { two_norms: false };
    const TWO: Residual = Parallel { two_norms: true };
    let cases = [
        ("bert", LayerNorm, PostNorm, Fused, 0),
        ("bloom", LayerNorm, PreNorm, BloomGelu, 0),
        ("chatglm", RmsNorm, PreNorm, Fused, 64),
        ("deepseek_v3", RmsNorm, PreNorm, Fused, 64),
        ("falcon", LayerNorm, ONE, Fused, 64),
        ("gpt2", LayerNorm, PreNorm, GeluNew, 0),
        ("gpt_neox", LayerNorm, TWO, Fused, 24),
        ("llama", RmsNorm, PreNorm, Fused, 128),
        ("mistral", RmsNorm, PreNorm, Fused, 128),
        ("nemotron", LayerNorm, PreNorm, SquaredRelu, 64),
        ("opt", LayerNorm, PreNorm, Relu, 0),
        ("qwen2", RmsNorm, PreNorm, Fused, 128),
        ("qwen2_moe", RmsNorm, PreNorm, Fused, 128),
        ("qwen3", RmsNorm, PreNorm, Fused, 128),
        ("qwen3_moe", RmsNorm, PreNorm, Fused, 64),
        ("roberta", LayerNorm, PostNorm, Fused, 0),
        ("stablelm", LayerNorm, PreNorm, Fused, 20),
    ];
    for (model_type, norm, residual, activation, rotary_dim) in cases {
        let model = read(&json!({"model_type": model_type}));
        let layer = &model.layers[0].layer;
        let mlp = match &layer.feed_forward {
            FeedForward::Dense(mlp) => *mlp,
            FeedForward::Experts(experts) => experts.expert,
        };
        let facts = (layer.norm, layer.residual, mlp.activation, layer.attention.rotary_dim);
        assert_eq!(facts, (norm, residual, activation, rotary_dim), "{model_type}");
    }
}

/// Dropout on embeddings, attention probabilities and branches where a config says nothing.
#[test]
fn dropout_is_the_class_default() {
    let tenth = ["bert", "roberta", "gpt2"];
    for model_type in ["llama", "qwen3", "falcon", "gpt_neox", "bloom", "stablelm"].into_iter().chain(tenth) {
        let expected = if tenth.contains(&model_type) { 0.1 } else { 0.0 };
        let model = read(&json!({"model_type": model_type}));
        let layer = &model.layers[0].layer;
        let dropouts = (model.embedding_dropout, layer.attention.dropout, layer.residual_dropout);
        assert_eq!(dropouts, (expected, expected, expected), "{model_type}");
    }
    // OPT drops on its branches alone.
    let opt = read(&json!({"model_type": "opt"}));
    assert_eq!((opt.embedding_dropout, opt.layers[0].layer.residual_dropout), (0.0, 0.1));
    assert_eq!(opt.layers[0].layer.attention.dropout, 0.0);
}

#[test]
fn heads_are_tied_by_class_default() {
    for (model_type, tied) in [
        ("bert", true),
        ("bloom", true),
        ("falcon", true),
        ("gpt2", true),
        ("opt", true),
        ("chatglm", false),
        ("gpt_neox", false),
        ("llama", false),
        ("mistral", false),
        ("qwen2", false),
        ("qwen3", false),
        ("stablelm", false),
    ] {
        assert_eq!(read(&json!({"model_type": model_type})).tie_word_embeddings, tied, "{model_type}");
    }
}

/// Count and window of each run.
fn windows(config: &Value) -> Vec<(u64, Option<u64>)> {
    let model = Model::from_config("test", config).unwrap();
    model.layers.iter().map(|run| (run.count, run.layer.attention.sliding_window)).collect()
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
    let dense = json!({"model_type": "deepseek_v3", "n_routed_experts": null});
    assert_eq!(sparse(&dense), [(61, false)]);
    let step = json!({"model_type": "qwen2_moe", "num_hidden_layers": 4, "decoder_sparse_step": 2});
    assert_eq!(sparse(&step), [(1, false), (1, true), (1, false), (1, true)]);
    let listed = json!({"model_type": "qwen3_moe", "num_hidden_layers": 4, "mlp_only_layers": [0, 3]});
    assert_eq!(sparse(&listed), [(1, false), (2, true), (1, false)]);
}

#[test]
fn marks_that_few_classes_have() {
    let model = |model_type: &str| read(&json!({"model_type": model_type}));
    let recorded = |model_type: &str| Model::from_config("test", &json!({"model_type": model_type})).unwrap();
    assert!(recorded("gemma2").final_logit_softcapping && !recorded("gemma3_text").final_logit_softcapping);
    let llama = model("llama");
    assert!(!llama.scales_embeddings && !llama.scales_logits && !llama.final_logit_softcapping);

    // ALiBi: BLOOM always, Falcon-RW by its file.
    assert!(model("bloom").layers[0].layer.attention.alibi);
    assert!(!model("falcon").layers[0].layer.attention.alibi);
    assert!(read(&json!({"model_type": "falcon", "alibi": true})).layers[0].layer.attention.alibi);
}

#[test]
fn positions_are_those_a_sequence_may_use() {
    let positions = |config: Value| read(&config).max_position_embeddings;
    let recorded = |config: Value| Model::from_config("test", &config).unwrap().max_position_embeddings;
    assert_eq!(recorded(json!({"model_type": "gpt2"})), Some(1024));
    assert_eq!(recorded(json!({"model_type": "data2vec-text", "max_position_embeddings": 514})), Some(512));
    assert_eq!(positions(json!({"model_type": "opt"})), Some(2048));
    assert_eq!(positions(json!({"model_type": "roberta", "max_position_embeddings": 514})), Some(512));
    assert_eq!(positions(json!({"model_type": "chatglm", "seq_length": 32768})), Some(32768));
    assert_eq!(recorded(json!({"model_type": "bloom"})), None);
}

#[test]
fn every_key_that_a_config_leaves_to_its_class_is_listed() {
    let config = serde_json::json!({"model_type": "llama", "hidden_size": 2048, "vocab_size": 32000});
    let model = by_hand("tiny", &config).unwrap();
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
    assert!(!of("roberta").softmax_in_fp32 && of("kimi_k2").router_in_fp32);
    for eager in ["gemma2", "bloom", "gpt_oss"] {
        assert!(!of(eager).supports_sdpa, "{eager}");
    }
    for class in ["llama", "qwen2", "qwen3", "mistral", "gemma3_text", "phi3", "olmo2"] {
        assert!(of(class).supports_sdpa && of(class).softmax_in_fp32, "{class}");
    }
}
