//! Mixtral.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, EXPERTS};
use crate::model::{Mlp, Model};

use super::experts::{Mixture, experts_per_tok};
use super::figures::{Defaults, Figures, LLAMA, window};
use super::llama::{Shape, decoder};

const MISTRAL: Defaults = Defaults {
    intermediate_size: Some(14_336),
    num_key_value_heads: Some(8),
    max_position_embeddings: Some(131_072),
    ..LLAMA
};

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
