//! A class that is not known, read as if it were Llama's, or a mixture of that kind.

use serde_json::{Map, Value as Json};

use super::config::{
    Config, ConfigError, EXPERTS, EXPERTS_OR_NONE, HEAD_WIDTH, HEADS, INNER_WIDTH, LAYER_INDEX, LAYERS, POSITIONS,
    VOCABULARY, WIDTH,
};

const HIDDEN_SIZE: &[&str] = &["hidden_size", "n_embd", "n_embed", "d_model", "dim"];
const INTERMEDIATE_SIZE: &[&str] = &["intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "hidden_dim"];
const NUM_HIDDEN_LAYERS: &[&str] = &["num_hidden_layers", "n_layer", "num_layers", "n_layers"];
const NUM_ATTENTION_HEADS: &[&str] = &["num_attention_heads", "n_head", "n_heads", "num_heads"];
const NUM_KEY_VALUE_HEADS: &[&str] = &["num_key_value_heads", "num_kv_heads", "n_head_kv"];
const HEAD_DIM: &[&str] = &["head_dim"];
const VOCAB_SIZE: &[&str] = &["vocab_size", "padded_vocab_size"];
const MAX_POSITION_EMBEDDINGS: &[&str] = &["max_position_embeddings", "n_positions", "seq_length", "model_max_length"];
const ACTIVATION: &[&str] = &["hidden_act", "hidden_activation", "activation_function", "activation"];
const ATTENTION_DROPOUT: &[&str] = &["attention_dropout", "attn_pdrop", "attention_probs_dropout_prob"];

/// What configs call the experts that a token visits: Gemma 4 `top_k_experts`, ERNIE `moe_k`.
const PER_TOKEN: &[&str] = &["num_experts_per_tok", "num_experts_per_token", "moe_topk", "top_k_experts", "moe_k"];

/// The program of a mixture that nothing knows (python/headroom/record/remote/guess.py).
const UNKNOWN_MIXTURE: &str = "unknown_mixture";

/// The class whose program reads an unknown class, and the config's figures under the names of that class. Without a class there are no
/// defaults: the figures that make the shapes must be there.
pub(in crate::model) fn guess(config: &Config<'_>) -> Result<(&'static str, Map<String, Json>), Box<ConfigError>> {
    let f = Figures::read(config)?;
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

/// `num_experts_per_tok`, which cannot exceed the experts there are.
fn experts_per_tok(config: &Config<'_>, default: u64, num_experts: u64) -> Result<u64, Box<ConfigError>> {
    let per_tok = config.count(PER_TOKEN, default, EXPERTS)?;
    if per_tok > num_experts {
        let why = format!("{per_tok} experts a token, but a layer has {num_experts}; choose at most that many");
        return Err(ConfigError::new("num_experts_per_tok", why));
    }
    Ok(per_tok)
}

/// The figures that nearly every config has, Llama's where it is silent, checked against each other.
struct Figures {
    vocab_size: u64,
    hidden_size: u64,
    intermediate_size: u64,
    num_hidden_layers: u64,
    num_attention_heads: u64,
    num_key_value_heads: u64,
    head_dim: u64,
    max_position_embeddings: Option<u64>,
    tie_word_embeddings: bool,
    attention_dropout: f64,
}

impl Figures {
    /// Without a class there are no defaults for what makes the shapes: it must be there.
    fn read(config: &Config<'_>) -> Result<Self, Box<ConfigError>> {
        let hidden_size = config.required_count(HIDDEN_SIZE, WIDTH)?;
        let num_hidden_layers = config.required_count(NUM_HIDDEN_LAYERS, LAYERS)?;
        let num_attention_heads = config.required_count(NUM_ATTENTION_HEADS, HEADS)?;
        let intermediate_size = config.required_count(INTERMEDIATE_SIZE, INNER_WIDTH)?;
        let vocab_size = config.required_count(VOCAB_SIZE, VOCABULARY)?;
        let num_key_value_heads =
            config.optional_count(NUM_KEY_VALUE_HEADS, None, HEADS)?.unwrap_or(num_attention_heads);
        config.assume(NUM_KEY_VALUE_HEADS, num_key_value_heads);
        divides("num_key_value_heads", num_key_value_heads, "num_attention_heads", num_attention_heads)?;
        let head_dim = match config.optional_count(HEAD_DIM, None, HEAD_WIDTH)? {
            Some(head_dim) => head_dim,
            None => {
                divides("num_attention_heads", num_attention_heads, "hidden_size", hidden_size)?;
                hidden_size / num_attention_heads
            }
        };
        config.assume(HEAD_DIM, head_dim);
        config.activation(ACTIVATION, "silu")?;
        Ok(Self {
            vocab_size,
            hidden_size,
            intermediate_size,
            num_hidden_layers,
            num_attention_heads,
            num_key_value_heads,
            head_dim,
            max_position_embeddings: config.optional_count(MAX_POSITION_EMBEDDINGS, Some(2_048), POSITIONS)?,
            tie_word_embeddings: config.tie_word_embeddings(false)?,
            attention_dropout: config.probability(ATTENTION_DROPOUT, 0.0)?,
        })
    }
}

/// `part` must divide `whole`.
fn divides(part_key: &str, part: u64, whole_key: &str, whole: u64) -> Result<(), Box<ConfigError>> {
    if part > 0 && whole.is_multiple_of(part) {
        return Ok(());
    }
    Err(ConfigError::new(part_key, format!("{part} must divide {whole_key} {whole}; correct one of them")))
}
