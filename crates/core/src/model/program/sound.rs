//! What no config may say, whatever was recorded of its class: sizes that are no whole numbers, figures at odds with one another.

use serde_json::{Map, Value as Json};

use super::config::Figures;
use crate::model::config::{Assumptions, Config, ConfigError, short};
use crate::model::{Activation, FeedForward, LayerRun};

/// Sizes without which no model has shapes, by all their names.
const SIZES: &[&str] = &[
    "d_model",
    "ffn_dim",
    "head_dim",
    "hidden_size",
    "intermediate_size",
    "n_embd",
    "n_head",
    "num_attention_heads",
    "num_heads",
    "num_key_value_heads",
    "num_kv_heads",
    "vocab_size",
];
/// Names of the number of heads.
pub(super) const HEADS: &[&str] = &["num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"];
/// Names of the number of heads of keys and values.
pub(super) const KEY_VALUE_HEADS: &[&str] = &["num_key_value_heads", "num_kv_heads"];
const EXPERTS: &[&str] = &["n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"];
const EXPERTS_PER_TOKEN: &[&str] =
    &["num_experts_per_tok", "num_experts_per_token", "moe_topk", "top_k_experts", "moe_k"];
const ACTIVATION: &[&str] = &["hidden_act", "hidden_activation", "activation_function", "activation"];

/// The largest size: more than any model has, and small enough for products of shapes to fit 64 bits.
const LARGEST: f64 = (1_u64 << 24) as f64;

/// Checks what the config says under keys that the program has sizes or flags by.
///
/// # Errors
/// Names the first key that is wrong.
pub(super) fn check(figures: &Figures<'_>) -> Result<(), Box<ConfigError>> {
    for key in figures.keys_of_sizes() {
        if let Some(said) = figures.given(key) {
            whole(figures, key, said)?;
        }
    }
    for (key, said) in figures.flags() {
        if !said.is_boolean() {
            return Err(ConfigError::new(key, "must be true or false"));
        }
    }
    for key in figures.rates() {
        figures.drops_out(key)?;
    }
    // Qwen's windows are off by default, and some of its classes were recorded without them.
    let is_on = figures.given("use_sliding_window").and_then(Json::as_bool) == Some(true);
    if is_on && figures.given("sliding_window").is_some() && !figures.keys_of_sizes().any(|key| key == "sliding_window")
    {
        return Err(ConfigError::new("use_sliding_window", "was not recorded for this class: record the model anew"));
    }
    if let (Some((whole, heads)), Some((part, shared))) =
        (figures.read_among(HEADS), figures.read_among(KEY_VALUE_HEADS))
        && (figures.given(whole).is_some() || figures.given(part).is_some())
        && shared >= 1.0
        && (heads.fract() != 0.0 || shared.fract() != 0.0 || heads % shared != 0.0)
    {
        let why = match figures.given(part) {
            Some(_) => format!("{shared} must divide {whole} {heads}; correct one of them"),
            None => format!("missing, and the class assumes {shared}, which does not divide {whole} {heads}: add it"),
        };
        return Err(ConfigError::new(part, why));
    }
    if let Some((key, _)) = EXPERTS
        .iter()
        .filter_map(|key| Some((key, figures.default_of(key)?)))
        .find(|(key, default)| figures.is_null(key) && default.as_u64().is_some_and(|experts| experts > 0))
    {
        return Err(ConfigError::new(*key, "is null, which the class cannot read: write how many experts a layer has"));
    }
    if let (Some((_, experts)), Some((key, visited))) =
        (figures.read_among(EXPERTS), figures.read_among(EXPERTS_PER_TOKEN))
        && visited > experts.max(1.0)
    {
        let why = format!("{visited} experts a token, but a layer has {experts}; choose at most that many");
        return Err(ConfigError::new(key, why));
    }
    Ok(())
}

/// Checks that the numbers of heads divide what the class divides by them: the width of heads that no key says, and the heads of
/// layers that have more keys and values than `num_key_value_heads` says.
///
/// # Errors
/// Names the number of heads.
pub(super) fn check_heads(figures: &Figures<'_>, values: &[Option<f64>]) -> Result<(), Box<ConfigError>> {
    for (names, why) in [
        (HEADS, "must divide the width that the class makes heads of (hidden_size); correct one of them"),
        (KEY_VALUE_HEADS, "must divide the heads of every kind of layer (num_attention_heads); correct one of them"),
    ] {
        if let Some(key) = figures.indivisible(names, values)? {
            return Err(ConfigError::new(key, why));
        }
    }
    Ok(())
}

/// A size is a whole number; those that every model has are at least 1.
fn whole(figures: &Figures<'_>, key: &str, said: &Json) -> Result<(), Box<ConfigError>> {
    let is_size = SIZES.contains(&key);
    let is_counted = is_size || figures.default_of(key).is_some_and(|default| default.is_u64());
    if !is_counted {
        return Ok(());
    }
    let least = if is_size { 1.0 } else { 0.0 };
    let is_whole = |number: &f64| number.fract() == 0.0 && (least..=LARGEST).contains(number);
    // Of a list each layer has its own.
    let number = match said.as_array().map(Vec::as_slice) {
        Some(list @ [first, ..]) if list.iter().all(|one| one.as_f64().is_some_and(|one| is_whole(&one))) => {
            first.as_f64()
        }
        Some(_) => None,
        None => said.as_f64().filter(is_whole),
    };
    let why = || format!("must be a whole number from {least} to {LARGEST}, but is {}", short(said));
    number.map(|_| ()).ok_or_else(|| ConfigError::new(key, why()))
}

/// Checks that an activation function that runs in several operators, or keeps its output, is that of the recorded layers. One kernel that
/// keeps its input is not told from others: layers of some classes run such operators beside their own.
///
/// # Errors
/// Names the key of the activation function.
pub(super) fn check_activation(
    figures: &Figures<'_>,
    fields: &Map<String, Json>,
    layers: &[LayerRun],
) -> Result<(), Box<ConfigError>> {
    let assumed = Assumptions::default();
    let config = Config::of(fields, &assumed);
    let Some(key) = ACTIVATION.iter().find(|key| config.has(&[**key])) else { return Ok(()) };
    let own = figures.default_of(key).and_then(Json::as_str);
    // Single kernels too, or a class's own.
    const OTHERS: &[&str] = &[
        "gelu_10",
        "gelu_accurate",
        "gelu_python",
        "gelu_python_tanh",
        "laplace",
        "leaky_relu",
        "linear",
        "prelu",
        "relu6",
        "xielu",
    ];
    if config.text(&[*key])?.is_some_and(|name| OTHERS.contains(&name) || own == Some(name)) {
        return Ok(());
    }
    let wanted = config.activation(&[*key], "silu")?;
    let of = |run: &LayerRun| match &run.layer.feed_forward {
        FeedForward::Dense(mlp) => (mlp.intermediate_size > 0).then_some(mlp.activation),
        FeedForward::Experts(experts) => Some(experts.expert.activation),
    };
    let recorded: Vec<Activation> = layers.iter().filter(|run| !run.layer.sees_images()).filter_map(of).collect();
    let is_recorded = match wanted {
        Activation::Fused | Activation::QuickGelu => true,
        Activation::GeluFast => recorded.contains(&Activation::GeluNew),
        Activation::Relu | Activation::GeluNew | Activation::SquaredRelu => recorded.contains(&wanted),
    };
    if recorded.is_empty() || is_recorded {
        return Ok(());
    }
    Err(ConfigError::new(*key, "has a value that was not recorded for this class: record the model anew"))
}
