//! The figures that nearly every config has, and the class defaults behind them.

use crate::model::behaviour::Behaviour;
use crate::model::config::{
    Config, ConfigError, HEAD_WIDTH, HEADS, INNER_WIDTH, LAYERS, POSITIONS, VOCABULARY, WIDTH, WINDOW,
};
use crate::model::{Activation, Layer, LayerRun, Model, ModelKind, Module, Reading, Role};

use super::blocks::{embedding, linear};

/// What a class assumes where the config is silent: the defaults of its configuration class in transformers 5.23.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defaults {
    pub(super) vocab_size: u64,
    pub(super) hidden_size: u64,
    /// `None`: four times the hidden size.
    pub(super) intermediate_size: Option<u64>,
    pub(super) num_hidden_layers: u64,
    pub(super) num_attention_heads: u64,
    /// `None`: as many as attention heads.
    pub(super) num_key_value_heads: Option<u64>,
    /// `None`: hidden size over attention heads.
    pub(super) head_dim: Option<u64>,
    pub(super) max_position_embeddings: Option<u64>,
    pub(super) tie_word_embeddings: bool,
    pub(super) activation: &'static str,
    pub(super) attention_dropout: f64,
}

/// Llama's, on which most classes vary.
pub(super) const LLAMA: Defaults = Defaults {
    vocab_size: 32_000,
    hidden_size: 4_096,
    intermediate_size: Some(11_008),
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: None,
    head_dim: None,
    max_position_embeddings: Some(2_048),
    tie_word_embeddings: false,
    activation: "silu",
    attention_dropout: 0.0,
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

/// Figures of one model, defaults applied, checked against each other.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub(super) vocab_size: u64,
    pub(super) hidden_size: u64,
    pub(super) intermediate_size: u64,
    pub(super) num_hidden_layers: u64,
    pub(super) num_attention_heads: u64,
    pub(super) num_key_value_heads: u64,
    pub(super) head_dim: u64,
    pub(super) max_position_embeddings: Option<u64>,
    pub(super) tie_word_embeddings: bool,
    pub(super) activation: Activation,
    pub(super) attention_dropout: f64,
}

impl Figures {
    /// Reads the figures, taking from `defaults` what the config leaves out.
    pub(super) fn read(config: &Config<'_>, defaults: &Defaults) -> Result<Self, Box<ConfigError>> {
        let hidden_size = config.count(HIDDEN_SIZE, defaults.hidden_size, WIDTH)?;
        let num_attention_heads = config.count(NUM_ATTENTION_HEADS, defaults.num_attention_heads, HEADS)?;
        let num_key_value_heads = config
            .optional_count(NUM_KEY_VALUE_HEADS, defaults.num_key_value_heads, HEADS)?
            .unwrap_or(num_attention_heads);
        config.assume(NUM_KEY_VALUE_HEADS, num_key_value_heads);
        if !config.has(NUM_KEY_VALUE_HEADS) && !num_attention_heads.is_multiple_of(num_key_value_heads) {
            let why = format!(
                "missing, and the class assumes {num_key_value_heads}, which does not divide num_attention_heads \
                 {num_attention_heads}: add it"
            );
            return Err(ConfigError::new("num_key_value_heads", why));
        }
        divides("num_key_value_heads", num_key_value_heads, "num_attention_heads", num_attention_heads)?;
        let head_dim = match config.optional_count(HEAD_DIM, defaults.head_dim, HEAD_WIDTH)? {
            Some(head_dim) => head_dim,
            None => {
                divides("num_attention_heads", num_attention_heads, "hidden_size", hidden_size)?;
                hidden_size / num_attention_heads
            }
        };
        config.assume(HEAD_DIM, head_dim);
        let intermediate_size = config
            .optional_count(INTERMEDIATE_SIZE, defaults.intermediate_size, INNER_WIDTH)?
            .unwrap_or(4 * hidden_size);
        config.assume(INTERMEDIATE_SIZE, intermediate_size);
        Ok(Self {
            vocab_size: config.count(VOCAB_SIZE, defaults.vocab_size, VOCABULARY)?,
            hidden_size,
            intermediate_size,
            num_hidden_layers: config.count(NUM_HIDDEN_LAYERS, defaults.num_hidden_layers, LAYERS)?,
            num_attention_heads,
            num_key_value_heads,
            head_dim,
            max_position_embeddings: config.optional_count(
                MAX_POSITION_EMBEDDINGS,
                defaults.max_position_embeddings,
                POSITIONS,
            )?,
            tie_word_embeddings: config.tie_word_embeddings(defaults.tie_word_embeddings)?,
            activation: config.activation(ACTIVATION, defaults.activation)?,
            attention_dropout: config.probability(ATTENTION_DROPOUT, defaults.attention_dropout)?,
        })
    }

    /// a x d, width of all query heads.
    pub(super) fn query_width(&self) -> u64 {
        self.num_attention_heads * self.head_dim
    }

    /// k x d, width of all key heads.
    pub(super) fn key_value_width(&self) -> u64 {
        self.num_key_value_heads * self.head_dim
    }

    /// Dimensions of a head that are rotated, when only a part is: the config's own factor, under the first of `keys`
    /// or beside the other rotary figures, or the class's.
    pub(super) fn partial_rotary_dim(
        &self,
        config: &Config<'_>,
        keys: &[&str],
        default: f64,
    ) -> Result<u64, Box<ConfigError>> {
        const KEY: &[&str] = &["partial_rotary_factor"];
        let rope = config.object("rope_parameters").or_else(|| config.object("rope_scaling"));
        let factor = match rope.filter(|rope| rope.has(KEY)) {
            Some(rope) => rope.probability(KEY, default)?,
            None if config.has(keys) => config.probability(keys, default)?,
            None => default,
        };
        Ok((self.head_dim as f64 * factor) as u64)
    }

    /// The decoder around these figures: token embedding, layers, head; the flags that few classes set left off.
    pub(super) fn model(&self, parts: Parts) -> Model {
        let width = self.hidden_size;
        let head = if self.tie_word_embeddings {
            Vec::new()
        } else {
            vec![linear(parts.head, Role::Head, width, self.vocab_size, false)]
        };
        let embeddings = vec![embedding(parts.token_embedding, Role::TokenEmbedding, self.vocab_size, width)];
        Model {
            name: String::new(),
            model_type: String::new(),
            reading: Reading::Known,
            notes: Vec::new(),
            assumed: Vec::new(),
            hidden_size: self.hidden_size,
            vocab_size: self.vocab_size,
            max_position_embeddings: self.max_position_embeddings,
            tie_word_embeddings: self.tie_word_embeddings,
            kind: ModelKind::Decoder,
            embeddings,
            embedding_dropout: 0.0,
            layers: parts.layers,
            final_modules: parts.final_modules,
            head,
            final_logit_softcapping: false,
            scales_embeddings: false,
            scales_logits: false,
            behaviour: Behaviour::default(),
            is_measured: false,
            recorded: None,
            vision: None,
            idle: Vec::new(),
        }
    }

    /// The same for a class that does not run as Llama's does.
    pub(super) fn model_with(&self, behaviour: Behaviour, parts: Parts) -> Model {
        Model { behaviour, ..self.model(parts) }
    }

    /// All layers alike.
    pub(super) fn uniform(&self, layer: Layer) -> Vec<LayerRun> {
        vec![LayerRun { count: self.num_hidden_layers, kind: 0, layer }]
    }
}

/// What a decoder has outside its layers, under the names its class gives.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) token_embedding: &'static str,
    pub(super) layers: Vec<LayerRun>,
    pub(super) final_modules: Vec<Module>,
    pub(super) head: &'static str,
}

impl Default for Parts {
    fn default() -> Self {
        Self { token_embedding: "embed_tokens", layers: Vec::new(), final_modules: Vec::new(), head: "lm_head" }
    }
}

/// The window of every layer, where a class limits all alike: `sliding_window`, absent by default or not.
pub(super) fn window(config: &Config<'_>, default: Option<u64>) -> Result<Option<u64>, Box<ConfigError>> {
    Ok(config.optional_count(&["sliding_window"], default, WINDOW)?.filter(|window| *window > 0))
}

/// Whether each layer looks through the window: `layer_types` where the config lists them, else the class's pattern.
pub(super) fn sliding_layers(
    config: &Config<'_>,
    layers: u64,
    pattern: impl Fn(u64) -> bool,
) -> Result<Vec<bool>, Box<ConfigError>> {
    let Some(types) = config.list("layer_types")? else {
        return Ok((0..layers).map(pattern).collect());
    };
    if types.len() as u64 != layers {
        let why = format!("names {} layers, but the model has {layers}; name each layer once", types.len());
        return Err(ConfigError::new("layer_types", why));
    }
    types
        .iter()
        .map(|kind| match kind.as_str() {
            Some("full_attention" | "attention") => Ok(false),
            Some("sliding_attention") => Ok(true),
            _ => Err(ConfigError::new("layer_types", "may hold full_attention and sliding_attention only")),
        })
        .collect()
}

/// Without a class there are no defaults to fall back on.
pub(super) fn require_core_keys(config: &Config<'_>) -> Result<(), Box<ConfigError>> {
    config.required_count(HIDDEN_SIZE, WIDTH)?;
    config.required_count(NUM_HIDDEN_LAYERS, LAYERS)?;
    config.required_count(NUM_ATTENTION_HEADS, HEADS)?;
    config.required_count(INTERMEDIATE_SIZE, INNER_WIDTH)?;
    config.required_count(VOCAB_SIZE, VOCABULARY)?;
    Ok(())
}

/// `part` must divide `whole`.
pub(super) fn divides(part_key: &str, part: u64, whole_key: &str, whole: u64) -> Result<(), Box<ConfigError>> {
    if part > 0 && whole.is_multiple_of(part) {
        return Ok(());
    }
    Err(ConfigError::new(part_key, format!("{part} must divide {whole_key} {whole}; correct one of them")))
}
