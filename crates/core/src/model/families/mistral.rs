//! Mistral, its later generations with windows by layer, and Mixtral.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, EXPERTS};
use crate::model::{Mlp, Model};

use super::experts::{Mixture, experts_per_tok};
use super::figures::{Defaults, Figures, LLAMA, sliding_layers, window};
use super::llama::{Shape, decoder, windows};

const MISTRAL: Defaults = Defaults {
    intermediate_size: Some(14_336),
    num_key_value_heads: Some(8),
    max_position_embeddings: Some(131_072),
    ..LLAMA
};

/// `mistral`: a window of 4,096 unless the config says otherwise.
pub(super) fn mistral(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &MISTRAL)?;
    Ok(decoder(&f, &Shape::windowed(&f, window(config, Some(4_096))?)))
}

/// `ministral`: Mistral with `layer_types`.
pub(super) fn ministral(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &MISTRAL)?;
    let window = window(config, Some(4_096))?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |_| window.is_some())?;
    Ok(decoder(&f, &Shape { windows: windows(&sliding, window), ..Shape::default() }))
}

/// `mixtral`.
pub(super) fn mixtral(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &MISTRAL)?;
    let expert = Mlp::gated(f.intermediate_size, f.activation);
    let num_experts = config.count(&["num_local_experts", "num_experts"], 8, EXPERTS)?;
    let per_tok = experts_per_tok(config, 2, num_experts)?;
    let mixture = Mixture { router_first: true, ..Mixture::routed(num_experts, per_tok, expert) };
    let all = vec![true; f.num_hidden_layers as usize];
    let model = decoder(&f, &Shape { mixture: Some((mixture, all)), ..Shape::windowed(&f, window(config, None)?) });
    let behaviour = Behaviour { weighs_experts_in_fp32: true, ..Behaviour::default() };
    Ok(Model { behaviour, ..model })
}

/// `ministral3`: Mistral without a window by default.
pub(super) fn ministral3(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 131_072,
        num_hidden_layers: 34,
        head_dim: Some(128),
        max_position_embeddings: Some(262_144),
        ..MISTRAL
    };
    let f = Figures::read(config, &defaults)?;
    Ok(decoder(&f, &Shape::windowed(&f, window(config, None)?)))
}
