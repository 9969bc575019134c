//! GPT-Neo and GPT-J, the first open models of their size.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, HEAD_WIDTH, WINDOW};
use crate::model::structure::{Attention, FeedForward, Layer, Mlp, Model, Module, NormKind, Residual, Role};

use super::blocks::{embedding, layer_norm, layer_runs, linear, plain_mlp, pre_norm_layer, rotary_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

const GPT: Defaults = Defaults { vocab_size: 50_257, intermediate_size: None, activation: "gelu_new", ..LLAMA };

/// k, v, q and the output projection in the order in which these classes register them.
fn attention(prefix: &str, h: u64, output_bias: bool) -> Vec<Module> {
    vec![
        linear(format!("{prefix}.k_proj"), Role::Key, h, h, false),
        linear(format!("{prefix}.v_proj"), Role::Value, h, h, false),
        linear(format!("{prefix}.q_proj"), Role::Query, h, h, false),
        linear(format!("{prefix}.out_proj"), Role::Output, h, h, output_bias),
    ]
}

/// `gptj`: one norm feeds attention and feed-forward side by side; a part of each head is rotated.
pub(super) fn gptj(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults { vocab_size: 50_400, num_hidden_layers: 28, num_attention_heads: 16, ..GPT };
    let f = Figures::read(config, &defaults)?;
    let f = Figures { num_key_value_heads: f.num_attention_heads, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let rotary_dim = config.optional_count(&["rotary_dim"], Some(64), HEAD_WIDTH)?.unwrap_or(f.head_dim);
    let mut modules = vec![layer_norm("ln_1", Role::InputNorm, h)];
    modules.extend(attention("attn", h, false));
    modules.extend(plain_mlp("mlp.fc_in", "mlp.fc_out", h, inner, true));
    let attention = Attention { rotary_dim: rotary_dim.min(f.head_dim), ..rotary_attention(&f) };
    let layer = Layer {
        residual: Residual::Parallel { two_norms: false },
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["resid_pdrop"], 0.0)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
    };
    let model = f.model_with(
        Behaviour::eager_only(),
        Parts {
            token_embedding: "wte",
            layers: f.uniform(layer),
            final_modules: vec![layer_norm("ln_f", Role::FinalNorm, h)],
            head_bias: true,
            ..Parts::default()
        },
    );
    Ok(Model { embedding_dropout: config.probability(&["embd_pdrop"], 0.0)?, ..model })
}

/// `gpt_neo`: learned positions; every other layer looks back 256 tokens, unless `attention_types` is not the usual.
pub(super) fn gpt_neo(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        hidden_size: 2_048,
        num_hidden_layers: 24,
        num_attention_heads: 16,
        tie_word_embeddings: true,
        ..GPT
    };
    let f = Figures::read(config, &defaults)?;
    let f = Figures { num_key_value_heads: f.num_attention_heads, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let window = config.count(&["window_size"], 256, WINDOW)?;
    let residual_dropout = config.probability(&["resid_dropout"], 0.0)?;
    let layer = |local: &bool| {
        let mut modules = vec![layer_norm("ln_1", Role::InputNorm, h)];
        modules.extend(attention("attn.attention", h, true));
        modules.push(layer_norm("ln_2", Role::FeedForwardNorm, h));
        modules.extend(plain_mlp("mlp.c_fc", "mlp.c_proj", h, inner, true));
        let attention = Attention { rotary_dim: 0, sliding_window: local.then_some(window), ..rotary_attention(&f) };
        Layer {
            norm: NormKind::LayerNorm,
            residual_dropout,
            ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
        }
    };
    let positions = f.max_position_embeddings.unwrap_or(2_048);
    let model = f.model_with(
        Behaviour::eager_only(),
        Parts {
            token_embedding: "wte",
            further_embeddings: vec![embedding("wpe", Role::PositionEmbedding, positions, h)],
            layers: layer_runs(f.num_hidden_layers, |index| !index.is_multiple_of(2), layer),
            final_modules: vec![layer_norm("ln_f", Role::FinalNorm, h)],
            ..Parts::default()
        },
    );
    Ok(Model { embedding_dropout: config.probability(&["embed_dropout"], 0.0)?, ..model })
}
