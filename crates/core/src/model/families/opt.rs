//! OPT: learned positions, biases everywhere; the 350M model norms after its branches and embeds narrower than it thinks.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, WIDTH};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, Module, NormKind, Residual, Role};

use super::blocks::{bare_norm, embedding, layer_norm, linear, plain_mlp, pre_norm_layer, rotary_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// The position table has two rows before the first position.
const POSITION_OFFSET: u64 = 2;

/// `opt`.
pub(super) fn opt(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 50_272,
        hidden_size: 768,
        intermediate_size: Some(3_072),
        num_hidden_layers: 12,
        num_attention_heads: 12,
        tie_word_embeddings: true,
        activation: "relu",
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let f = Figures { num_key_value_heads: f.num_attention_heads, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let bias = config.flag(&["enable_bias"], true)?;
    let before = config.flag(&["do_layer_norm_before"], true)?;
    let own_weights = config.flag(&["layer_norm_elementwise_affine"], true)?;
    let any_norm =
        |name: &str, role: Role| if own_weights { layer_norm(name, role, h) } else { bare_norm(name, role, h) };
    let (first, second) = if before {
        (Role::InputNorm, Role::FeedForwardNorm)
    } else {
        (Role::PostAttentionNorm, Role::PostFeedForwardNorm)
    };
    let mut modules = vec![
        linear("self_attn.k_proj", Role::Key, h, h, bias),
        linear("self_attn.v_proj", Role::Value, h, h, bias),
        linear("self_attn.q_proj", Role::Query, h, h, bias),
        linear("self_attn.out_proj", Role::Output, h, h, bias),
        any_norm("self_attn_layer_norm", first),
    ];
    modules.extend(plain_mlp("fc1", "fc2", h, inner, bias));
    modules.push(any_norm("final_layer_norm", second));
    let attention = Attention { rotary_dim: 0, ..rotary_attention(&f) };
    let layer = Layer {
        residual: if before { Residual::PreNorm } else { Residual::PostNorm },
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["dropout"], 0.1)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
    };
    let width = config.optional_count(&["word_embed_proj_dim"], None, WIDTH)?.unwrap_or(h);
    let positions = f.max_position_embeddings.unwrap_or(2_048);
    let mut further_embeddings: Vec<Module> =
        vec![embedding("embed_positions", Role::PositionEmbedding, positions + POSITION_OFFSET, h)];
    let mut final_modules = Vec::new();
    if before && !config.flag(&["_remove_final_layer_norm"], false)? {
        final_modules.push(any_norm("final_layer_norm", Role::FinalNorm));
    }
    if width != h {
        further_embeddings.push(linear("project_in", Role::Other, width, h, false));
        final_modules.push(linear("project_out", Role::Other, h, width, false));
    }
    let behaviour = Behaviour { positions_from_mask: true, ..Behaviour::default() };
    Ok(f.model_with(
        behaviour,
        Parts {
            embedding_width: Some(width),
            further_embeddings,
            layers: f.uniform(layer),
            final_modules,
            ..Parts::default()
        },
    ))
}
