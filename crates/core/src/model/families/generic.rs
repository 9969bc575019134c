//! A class that is not known, read as if it were Llama's.

use serde_json::{Map, Value as Json};

use crate::model::Model;
use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, EXPERTS, INNER_WIDTH};

use super::blocks::AttentionBias;
use super::deepseek::MixtureDefaults;
use super::experts::{Mixture, deepseek_mixture};
use super::figures::{Figures, LLAMA, require_core_keys};
use super::llama::{Shape, decoder};

/// The program of a mixture that nothing knows (python/headroom/record/remote/guess.py).
const UNKNOWN_MIXTURE: &str = "unknown_mixture";

/// The class whose program reads an unknown class, and the config's figures under the names of that class. Without a class there are no
/// defaults: the figures that make the shapes must be there.
pub(in crate::model) fn guess(config: &Config<'_>) -> Result<(&'static str, Map<String, Json>), Box<ConfigError>> {
    require_core_keys(config)?;
    let f = Figures::read(config, &LLAMA)?;
    let mut said = Map::new();
    let mut say = |key: &str, value: Json| said.insert(key.to_owned(), value);
    say("hidden_size", f.hidden_size.into());
    say("intermediate_size", f.intermediate_size.into());
    say("num_hidden_layers", f.num_hidden_layers.into());
    say("num_attention_heads", f.num_attention_heads.into());
    say("num_key_value_heads", f.num_key_value_heads.into());
    say("head_dim", f.head_dim.into());
    say("vocab_size", f.vocab_size.into());
    say("max_position_embeddings", f.max_position_embeddings.into());
    say("tie_word_embeddings", f.tie_word_embeddings.into());
    say("attention_dropout", f.attention_dropout.into());
    for key in ["attention_bias", "mlp_bias"] {
        say(key, config.flag(&[key], false)?.into());
    }
    let Some((mixture, sparse)) = mixture(config, &f)? else { return Ok(("llama", said)) };
    let inner = mixture.experts.expert.intermediate_size;
    let shared = mixture.experts.shared.map_or(0, |shared| shared.intermediate_size / inner.max(1));
    say("n_routed_experts", mixture.experts.num_experts.into());
    say("num_experts_per_tok", mixture.experts.num_experts_per_tok.into());
    say("moe_intermediate_size", inner.into());
    say("n_shared_experts", shared.into());
    let kinds = sparse.iter().map(|sparse| if *sparse { "sparse" } else { "dense" });
    say("mlp_layer_types", kinds.collect::<Vec<_>>().into());
    Ok((UNKNOWN_MIXTURE, said))
}

/// The mixture of a config that names experts: in every layer but the first that it calls dense.
fn mixture(config: &Config<'_>, f: &Figures) -> Result<Option<(Mixture, Vec<bool>)>, Box<ConfigError>> {
    const COUNT: &[&str] = &["n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"];
    let experts = config.optional_count(COUNT, None, EXPERTS)?;
    let Some(experts) = experts.filter(|experts| *experts > 1) else { return Ok(None) };
    let inner = config.count(&["moe_intermediate_size"], f.intermediate_size, INNER_WIDTH)?;
    let defaults = MixtureDefaults { experts, inner, shared: 0, per_tok: None, dense: 0 };
    Ok(deepseek_mixture(config, f, &defaults)?.into_parts())
}

/// The same by code written by hand.
pub(in crate::model) fn generic(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    require_core_keys(config)?;
    let f = Figures::read(config, &LLAMA)?;
    let model = decoder(
        &f,
        &Shape {
            bias: AttentionBias::all(config.flag(&["attention_bias"], false)?),
            mlp_bias: config.flag(&["mlp_bias"], false)?,
            mixture: mixture(config, &f)?,
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
