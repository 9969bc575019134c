//! What a model is made of: modules, layers, and the facts about all of it.
//!
//! Symbols used in all docs: b batch, s tokens a sequence, h hidden size, L layers, V vocabulary, I intermediate size,
//! a attention heads, k key/value heads, d head dimension.

use std::sync::Arc;

use super::behaviour::Behaviour;
use super::layers::{Attention, Layer, LayerRun};
use super::modules::{ModelPart, Module, count};
use super::program::{ExpertNames, Recorded};

/// A model as its `config.json` describes it, class defaults applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name to show: the Hugging Face id, or what the user called a pasted config.
    pub name: String,
    /// `model_type` of the config, or of its text part.
    pub model_type: String,
    /// How the config was read.
    pub reading: Reading,
    /// What a reader of the figures should know about how they came about.
    pub notes: Vec<Note>,
    /// What the config leaves to its class, in the order in which it was needed.
    pub assumed: Vec<AssumedKey>,
    /// h, the width of the residual stream.
    pub hidden_size: u64,
    /// V, rows of the token embedding.
    pub vocab_size: u64,
    /// Longest sequence the model was made for, in tokens; learned positions cannot exceed it.
    pub max_position_embeddings: Option<u64>,
    /// Whether the output head is the token embedding itself (`tie_word_embeddings`).
    pub tie_word_embeddings: bool,
    /// Encoder (`bert`, `roberta`) or decoder.
    pub kind: ModelKind,
    /// Modules before the first layer: token, position and type embeddings, their norms and projections.
    pub embeddings: Vec<Module>,
    /// Runs of identical layers, in order.
    pub layers: Vec<LayerRun>,
    /// Modules after the last layer: final norm, projections.
    pub final_modules: Vec<Module>,
    /// The language-model head `lm_head` when it is not tied; for encoders the masked-language-model head's modules.
    /// Empty when tied (the embedding's weight is used).
    pub head: Vec<Module>,
    /// `final_logit_softcapping` (Gemma-2, -3): logits pass through tanh.
    pub final_logit_softcapping: bool,
    /// Whether the class scales the logits by a constant (a further elementwise copy: Cohere, Granite).
    pub scales_logits: bool,
    /// What the class does beside its modules.
    pub behaviour: Behaviour,
    /// Whether steps of the class were compared with PyTorch's allocator.
    pub is_measured: bool,
    /// The class's recorded code with this config's figures.
    pub recorded: Arc<Recorded>,
    /// The tower that sees images, where the model was read with it.
    pub vision: Option<Vision>,
    /// Modules that are loaded and run for no batch of the plan: a tower that sees no image.
    pub idle: Vec<Module>,
    /// Which names earlier checkpoints give the linear layers that its experts' parameters stack, where peft converts them.
    pub(crate) expert_names: Option<ExpertNames>,
}

/// What decides how many patches an image becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vision {
    /// Whether the patches of all images are one sequence.
    pub packs: bool,
    /// Whether eager attention was recorded, too.
    pub runs_eager: bool,
    /// Tiles that every image takes, be they full or padded.
    pub tiles: Option<u64>,
    /// Pixels of a patch's side.
    pub patch_size: Option<u64>,
    /// Patches of a side that become one position of the text together.
    pub merge_size: u64,
    /// Positions of the text that a tile takes, where the config says them.
    pub positions_per_tile: Option<u64>,
    /// Attention in windows.
    pub window: Option<Window>,
    /// Pixels of an image's side, where every image is brought to it.
    pub image_size: Option<u64>,
    /// Of a class that cuts an image into tiles by its shape and puts together what they give as the image was.
    pub any_resolution: Option<AnyResolution>,
}

/// The windows that a tower cuts an image's patches into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Patches of a window's side, those that are merged first counted as one.
    pub side: u64,
    /// Patches of a side that are merged before.
    pub merge_size: u64,
}

/// How images of any shape are cut into tiles and put together again (LLaVA-NeXT, LLaVA-OneVision).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnyResolution {
    /// Height and width in pixels that an image may be brought to (`image_grid_pinpoints`).
    pub resolutions: Vec<(u64, u64)>,
    /// Tiles whose features stay as they are; those of more are scaled down to as many (`vision_aspect_ratio`). `None`: all do.
    pub most_tiles: Option<u64>,
    /// Whether the images of a sample that has several are cut, too.
    pub cuts_several: bool,
}

/// A key that a `config.json` does not have, and what the class takes it to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssumedKey {
    /// The key, as today's files spell it.
    pub key: String,
    /// The value, as JSON would write it; text without quotes.
    pub value: String,
}

impl AssumedKey {
    /// Whether the model's size hangs on it: published configs never leave such a key out by design.
    pub fn decides_size(&self) -> bool {
        const SIZES: &[&str] = &[
            "hidden_size",
            "intermediate_size",
            "num_hidden_layers",
            "num_attention_heads",
            "num_key_value_heads",
            "vocab_size",
            "num_experts",
            "num_local_experts",
            "n_routed_experts",
            "moe_intermediate_size",
            "tie_word_embeddings",
        ];
        SIZES.contains(&self.key.as_str())
    }
}

/// How a config was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A family whose class Headroom knows: counts are exact.
    Known,
    /// An unknown `model_type` read as a Llama-like decoder: counts are a guess and marked so wherever they are shown.
    Generic,
}

/// Something to tell beside a model's figures. Data, not sentences: the page says it in the reader's language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Only the text part of a multimodal config was read; vision or audio towers are not counted.
    TextPart {
        /// `model_type` of the whole.
        of: String,
    },
}

/// Decoder, encoder, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// Causal decoder.
    Decoder,
    /// Bidirectional encoder.
    Encoder,
    /// An encoder of the source and a decoder of the target, which reads both (T5).
    EncoderDecoder,
}

impl Model {
    /// L, layers in all; those of a tower do not count.
    pub fn num_hidden_layers(&self) -> u64 {
        let own = self.layers.iter().filter(|run| !run.layer.sees_images());
        own.map(|run| run.count).fold(0, u64::saturating_add)
    }

    /// The text part's first layer.
    pub fn first_text_layer(&self) -> Option<&Layer> {
        self.layers.iter().map(|run| &run.layer).find(|layer| !layer.sees_images())
    }

    /// Attention of the text part's first layer that has any: a gated delta net or a convolution has none.
    pub fn first_attention(&self) -> Option<&Attention> {
        let text = self.layers.iter().map(|run| &run.layer).filter(|layer| !layer.sees_images());
        text.map(|layer| &layer.attention).find(|attention| attention.num_attention_heads > 0)
    }

    /// Every kind of layer once, with how many layers there are of it.
    pub fn layer_kinds(&self) -> impl Iterator<Item = (&Layer, u64)> {
        let first = self.layers.iter().enumerate().filter(|(place, run)| run.kind == *place);
        first.map(|(place, run)| {
            let same = self.layers.iter().filter(|other| other.kind == place);
            (&run.layer, same.map(|run| run.count).fold(0, u64::saturating_add))
        })
    }

    /// How often a forward runs the layers of run `place`, all together: once each, but where a class runs some again.
    pub fn calls(&self, place: usize) -> u64 {
        let Some(run) = self.layers.get(place) else { return 0 };
        let calls = self.recorded.calls();
        if calls.is_empty() {
            return run.count;
        }
        let before = self.layers.iter().take(place).map(|run| run.count).fold(0, u64::saturating_add);
        let own = before..before.saturating_add(run.count);
        calls.iter().filter(|(layer, _)| own.contains(&(*layer as u64))).count() as u64
    }

    /// Whether it has a tower for images, whether or not the plan's batches have some.
    pub fn reads_images(&self) -> bool {
        self.vision.is_some() || self.idle.iter().any(|module| module.part == ModelPart::VisionTower)
    }

    /// Parameters of the whole model, in elements, a tied head counted once.
    pub fn param_count(&self) -> u64 {
        let layers = self
            .layers
            .iter()
            .map(|run| run.layer.param_count().saturating_mul(run.count))
            .fold(0, u64::saturating_add);
        count(&self.embeddings)
            .saturating_add(layers)
            .saturating_add(count(&self.final_modules))
            .saturating_add(count(&self.head))
            .saturating_add(count(&self.idle))
    }

    /// Parameters that a token meets, in elements: of routed experts only those it visits; embeddings in full, as in
    /// the "A3B" of a model's name.
    pub fn active_param_count(&self) -> u64 {
        let idle = self.layers.iter().map(|run| run.layer.idle_param_count().saturating_mul(run.count));
        self.param_count().saturating_sub(idle.fold(0, u64::saturating_add))
    }
}
