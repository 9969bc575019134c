//! Llama with constants on embeddings, branches and logits: IBM Granite, its mixture, and MiniCPM.

use crate::model::Model;
use crate::model::config::{Config, ConfigError};

use super::blocks::AttentionBias;
use super::figures::{Defaults, Figures, LLAMA};
use super::llama::{Shape, decoder};

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
