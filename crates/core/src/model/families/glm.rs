//! GLM-4 (`glm4`), GLM-4.5 (`glm4_moe`), and ChatGLM2, ChatGLM3 and GLM-4 under their own code (`chatglm`).

use crate::model::config::{Config, ConfigError, HEAD_WIDTH, HEADS};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, Module, NormKind, Projection, Role};

use super::blocks::{layer_norm, linear, norm, pre_norm_layer, rotary_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// `chatglm` of the second generation and later, which come with their own code.
pub(super) fn chatglm(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    if config.has(&["position_encoding_2d", "inner_hidden_size"]) {
        let why = "this is the first ChatGLM-6B, whose class is another; ChatGLM2-6B and later are read";
        return Err(ConfigError::new("position_encoding_2d", why));
    }
    let defaults = Defaults {
        vocab_size: 65_024,
        intermediate_size: Some(13_696),
        num_hidden_layers: 28,
        max_position_embeddings: Some(2_048),
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let grouped = config.flag(&["multi_query_attention"], false)?;
    let groups = if grouped { config.count(&["multi_query_group_num"], 1, HEADS)? } else { f.num_attention_heads };
    super::figures::divides("multi_query_group_num", groups, "num_attention_heads", f.num_attention_heads)?;
    let head_dim = config.count(&["kv_channels"], 128, HEAD_WIDTH)?;
    let f = Figures { num_key_value_heads: groups, head_dim, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let bias = config.flag(&["add_bias_linear"], false)?;
    let qkv_bias = bias || config.flag(&["add_qkv_bias"], false)?;
    let rms = config.flag(&["rmsnorm"], true)?;
    let any_norm =
        |name: &str, role: Role| -> Module { if rms { norm(name, role, h) } else { layer_norm(name, role, h) } };
    let qkv = f.query_width() + 2 * f.key_value_width();
    let modules = vec![
        any_norm("input_layernorm", Role::InputNorm),
        linear("self_attention.query_key_value", Role::QueryKeyValue, h, qkv, qkv_bias),
        linear("self_attention.dense", Role::Output, f.query_width(), h, bias),
        any_norm("post_attention_layernorm", Role::FeedForwardNorm),
        linear("mlp.dense_h_to_4h", Role::GateUp, h, 2 * inner, bias),
        linear("mlp.dense_4h_to_h", Role::Down, inner, h, bias),
    ];
    // Half of each head is rotated.
    let attention = Attention { projection: Projection::Fused, rotary_dim: f.head_dim / 2, ..rotary_attention(&f) };
    let layer = Layer {
        norm: if rms { NormKind::RmsNorm } else { NormKind::LayerNorm },
        residual_dropout: config.probability(&["hidden_dropout"], 0.0)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::fused(inner, f.activation)))
    };
    let last = config.flag(&["post_layer_norm"], true)?;
    Ok(f.model(Parts {
        token_embedding: "embedding.word_embeddings",
        layers: f.uniform(layer),
        final_modules: last.then(|| any_norm("encoder.final_layernorm", Role::FinalNorm)).into_iter().collect(),
        head: "output_layer",
        ..Parts::default()
    }))
}
