//! Llama with constants on embeddings, branches and logits: IBM Granite, its mixture, and MiniCPM.

use crate::model::config::{Config, ConfigError, EXPERTS};
use crate::model::{Mlp, Model};

use super::blocks::AttentionBias;
use super::experts::{Mixture, experts_per_tok};
use super::figures::{Defaults, Figures, LLAMA};
use super::llama::{Shape, decoder};

/// `granite`.
pub(super) fn granite(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &LLAMA)?;
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    let mlp_bias = config.flag(&["mlp_bias"], false)?;
    Ok(scaled(decoder(&f, &Shape { bias, mlp_bias, ..Shape::default() })))
}

/// `granitemoe`.
pub(super) fn granitemoe(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &LLAMA)?;
    let num_experts = config.count(&["num_local_experts", "num_experts"], 8, EXPERTS)?;
    let per_tok = experts_per_tok(config, 2, num_experts)?;
    let mixture = Mixture {
        router: "block_sparse_moe.router",
        routed: "block_sparse_moe.experts",
        router_first: true,
        ..Mixture::routed(num_experts, per_tok, Mlp::gated(f.intermediate_size, f.activation))
    };
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    let mixture = Some((mixture, vec![true; f.num_hidden_layers as usize]));
    Ok(scaled(decoder(&f, &Shape { bias, mixture, ..Shape::default() })))
}

/// `minicpm` of the first two generations, which comes with its own code.
pub(super) fn minicpm(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &Defaults { tie_word_embeddings: true, ..LLAMA })?;
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    Ok(scaled(decoder(&f, &Shape { bias, ..Shape::default() })))
}

/// These classes multiply whatever the constants are, by 1 too.
fn scaled(mut model: Model) -> Model {
    for run in &mut model.layers {
        run.layer.scales_residual = true;
    }
    Model { scales_embeddings: true, scales_logits: true, ..model }
}
