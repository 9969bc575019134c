//! A class that is not known, read as if it were Llama's.

use serde_json::{Map, Value as Json};

use crate::model::config::{Config, ConfigError, EXPERTS, EXPERTS_OR_NONE, INNER_WIDTH, LAYER_INDEX};

use super::experts::{PER_TOKEN, experts_per_tok};
use super::figures::{Figures, LLAMA, require_core_keys};

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
    if !say_mixture(config, &f, &mut say)? {
        return Ok(("llama", said));
    }
    Ok((UNKNOWN_MIXTURE, said))
}

/// The mixture of a config that names experts, in DeepSeek's words: routed and shared experts, the first layers dense. Whether there is
/// one.
fn say_mixture(
    config: &Config<'_>,
    f: &Figures,
    say: &mut impl FnMut(&str, Json) -> Option<Json>,
) -> Result<bool, Box<ConfigError>> {
    const COUNT: &[&str] = &["n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"];
    let experts = config.optional_count(COUNT, None, EXPERTS)?;
    let Some(experts) = experts.filter(|experts| *experts > 1) else { return Ok(false) };
    config.required_count(PER_TOKEN, EXPERTS)?;
    say("n_routed_experts", experts.into());
    say("num_experts_per_tok", experts_per_tok(config, 1, experts)?.into());
    say("moe_intermediate_size", config.count(&["moe_intermediate_size"], f.intermediate_size, INNER_WIDTH)?.into());
    let shared = config.optional_count(&["n_shared_experts"], Some(0), EXPERTS_OR_NONE)?.unwrap_or(0);
    say("n_shared_experts", shared.into());
    let dense = config.count(&["first_k_dense_replace"], 0, LAYER_INDEX)?;
    // 1 in every published model but those of DeepSeek's own first code, which skips by it.
    let step = config.count(&["moe_layer_freq"], 1, LAYER_INDEX)?.max(1);
    let is_sparse = |index: u64| index >= dense && index.is_multiple_of(step);
    let kinds = (0..f.num_hidden_layers).map(|index| if is_sparse(index) { "sparse" } else { "dense" });
    say("mlp_layer_types", kinds.collect::<Vec<_>>().into());
    Ok(true)
}
