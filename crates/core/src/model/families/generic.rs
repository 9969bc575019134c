//! A class that is not known, read as if it were Llama's.

use crate::model::Model;
use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, EXPERTS, INNER_WIDTH};

use super::blocks::AttentionBias;
use super::deepseek::MixtureDefaults;
use super::experts::deepseek_mixture;
use super::figures::{Figures, LLAMA, require_core_keys};
use super::llama::{Shape, decoder};

/// Reads an unknown class. Without a class there are no defaults: the figures that make the shapes must be there.
/// A config that names experts is read as a mixture in every layer but the first that it calls dense.
pub(in crate::model) fn generic(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    require_core_keys(config)?;
    let f = Figures::read(config, &LLAMA)?;
    let experts = config.optional_count(
        &["n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"],
        None,
        EXPERTS,
    )?;
    let mixture = match experts.filter(|experts| *experts > 1) {
        Some(experts) => {
            let inner = config.count(&["moe_intermediate_size"], f.intermediate_size, INNER_WIDTH)?;
            let defaults = MixtureDefaults { experts, inner, shared: 0, per_tok: None, dense: 0 };
            deepseek_mixture(config, &f, &defaults)?.into_parts()
        }
        None => None,
    };
    let model = decoder(
        &f,
        &Shape {
            bias: AttentionBias::all(config.flag(&["attention_bias"], false)?),
            mlp_bias: config.flag(&["mlp_bias"], false)?,
            mixture,
            ..Shape::default()
        },
    );
    // Of these classes more is known than their modules.
    let behaviour = match config.text(&["model_type"])? {
        Some("codegen" | "mpt") => Behaviour::eager_only(),
        Some("dots1") => Behaviour::wide_router(),
        _ => Behaviour::default(),
    };
    Ok(Model { behaviour, ..model })
}
