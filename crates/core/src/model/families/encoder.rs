//! Encoders with a masked-language-model head: BERT, RoBERTa and XLM-RoBERTa, DistilBERT.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, VOCABULARY};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, ModelKind, Module, NormKind, Residual, Role};

use super::blocks::{embedding, layer_norm, linear, plain_mlp, pre_norm_layer, rotary_attention, tensors};
use super::figures::{Defaults, Figures, LLAMA, Parts};

const BERT: Defaults = Defaults {
    vocab_size: 30_522,
    hidden_size: 768,
    intermediate_size: Some(3_072),
    num_hidden_layers: 12,
    num_attention_heads: 12,
    max_position_embeddings: Some(512),
    tie_word_embeddings: true,
    activation: "gelu",
    attention_dropout: 0.1,
    ..LLAMA
};

/// RoBERTa's position table begins after its padding token.
const ROBERTA_POSITION_OFFSET: u64 = 2;

/// The names that an encoder's class gives its modules.
struct Names {
    query: &'static str,
    key: &'static str,
    value: &'static str,
    output: &'static str,
    attention_norm: &'static str,
    up: &'static str,
    down: &'static str,
    feed_forward_norm: &'static str,
}

const BERT_NAMES: Names = Names {
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    output: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    feed_forward_norm: "output.LayerNorm",
};

const DISTILBERT_NAMES: Names = Names {
    query: "attention.q_lin",
    key: "attention.k_lin",
    value: "attention.v_lin",
    output: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    feed_forward_norm: "output_layer_norm",
};

/// Names in the masked-language-model head: the owner of the bias over the vocabulary, the transform and its norm, the
/// decoder, whose weight is the token embedding's unless untied.
struct Head {
    bias: &'static str,
    dense: &'static str,
    norm: &'static str,
    decoder: &'static str,
}

/// `bert`.
pub(super) fn bert(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let head = Head {
        bias: "cls.predictions",
        dense: "cls.predictions.transform.dense",
        norm: "cls.predictions.transform.LayerNorm",
        decoder: "cls.predictions.decoder",
    };
    let f = Figures::read(config, &BERT)?;
    let mut model = bert_like(config, &f, &head)?;
    model.behaviour.classifies_pooled = true;
    Ok(model)
}

/// `roberta`, `xlm-roberta`, `camembert`.
pub(super) fn roberta(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let head = Head { bias: "lm_head", dense: "lm_head.dense", norm: "lm_head.layer_norm", decoder: "lm_head.decoder" };
    let f = Figures::read(config, &Defaults { vocab_size: 50_265, ..BERT })?;
    let mut model = bert_like(config, &f, &head)?;
    model.max_position_embeddings =
        model.max_position_embeddings.map(|rows| rows.saturating_sub(ROBERTA_POSITION_OFFSET).max(1));
    Ok(model)
}

fn bert_like(config: &Config<'_>, f: &Figures, head: &Head) -> Result<Model, Box<ConfigError>> {
    let dropout = config.probability(&["hidden_dropout_prob"], 0.1)?;
    let types = config.count(&["type_vocab_size"], 2, VOCABULARY)?;
    let further = vec![
        embedding("embeddings.position_embeddings", Role::PositionEmbedding, positions(f), f.hidden_size),
        embedding("embeddings.token_type_embeddings", Role::TypeEmbedding, types, f.hidden_size),
        layer_norm("embeddings.LayerNorm", Role::EmbeddingNorm, f.hidden_size),
    ];
    let behaviour =
        Behaviour { softmax_in_fp32: false, has_pooler: true, keeps_intermediate: true, ..Behaviour::default() };
    Ok(Model { behaviour, ..encoder(f, &BERT_NAMES, further, head, dropout) })
}

/// `distilbert`.
pub(super) fn distilbert(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let head = Head {
        bias: "vocab_projector",
        dense: "vocab_transform",
        norm: "vocab_layer_norm",
        decoder: "vocab_projector",
    };
    let f = Figures::read(config, &Defaults { num_hidden_layers: 6, ..BERT })?;
    let dropout = config.probability(&["dropout"], 0.1)?;
    let further = vec![
        embedding("embeddings.position_embeddings", Role::PositionEmbedding, positions(&f), f.hidden_size),
        layer_norm("embeddings.LayerNorm", Role::EmbeddingNorm, f.hidden_size),
    ];
    let mut model = encoder(&f, &DISTILBERT_NAMES, further, &head, dropout);
    model.layers.iter_mut().for_each(|run| run.layer.drops_attention_output = false);
    Ok(model)
}

fn positions(f: &Figures) -> u64 {
    f.max_position_embeddings.unwrap_or(512)
}

fn encoder(f: &Figures, names: &Names, further_embeddings: Vec<Module>, head: &Head, dropout: f64) -> Model {
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let mut modules = vec![
        linear(names.query, Role::Query, h, h, true),
        linear(names.key, Role::Key, h, h, true),
        linear(names.value, Role::Value, h, h, true),
        linear(names.output, Role::Output, h, h, true),
        layer_norm(names.attention_norm, Role::PostAttentionNorm, h),
    ];
    modules.extend(plain_mlp(names.up, names.down, h, inner, true));
    modules.push(layer_norm(names.feed_forward_norm, Role::PostFeedForwardNorm, h));
    let attention = Attention { num_key_value_heads: f.num_attention_heads, rotary_dim: 0, ..rotary_attention(f) };
    let layer = Layer {
        residual: Residual::PostNorm,
        norm: NormKind::LayerNorm,
        residual_dropout: dropout,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
    };
    let mut head_modules = vec![linear(head.dense, Role::Other, h, h, true), layer_norm(head.norm, Role::Other, h)];
    if f.tie_word_embeddings || head.bias != head.decoder {
        head_modules.push(tensors(head.bias, Role::Other, &[("bias", &[f.vocab_size])]));
    }
    if !f.tie_word_embeddings {
        // Untied, BERT's decoder has a bias of its own beside the head's.
        head_modules.push(linear(head.decoder, Role::Head, h, f.vocab_size, true));
    }
    Model {
        kind: ModelKind::Encoder,
        embedding_dropout: dropout,
        head: head_modules,
        ..f.model(Parts {
            token_embedding: "embeddings.word_embeddings",
            further_embeddings,
            layers: f.uniform(layer),
            ..Parts::default()
        })
    }
}
