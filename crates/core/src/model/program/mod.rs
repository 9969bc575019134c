//! Recorded programs: a class's forward and backward as data, one for each `model_type` (python/headroom/PROGRAMS.md).
//!
//! A [`Program`] is read once and serves every config of its class; [`Recorded`] is one of them with the figures of a config.
//! Which programs there are is the caller's: [`Programs`] holds those that were read and names those that could be.

mod block;
mod check;
mod code;
mod completed;
mod computes;
mod config;
mod expression;
mod facts;
mod format;
mod functions;
mod heads;
mod json;
mod library;
mod lowered;
mod marks;
#[cfg(feature = "programs")]
mod packed;
mod positions;
mod read;
mod recorded;
mod regions;
mod signs;
mod sound;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value as Json};

use super::ModelPart;
use crate::release::Release;
pub(crate) use block::{
    Action, Attend, Autocast, Block, CAUSAL_MASK, Code, GatedProduct, Held, KernelPackages, Op, Owner, Parameter,
    RESIDUAL, Repeat, SLIDING_MASK, Value, Way,
};
use expression::{Expression, LENGTH, Names};
pub(crate) use heads::Rotation;
pub use library::Programs;
pub(super) use read::{expert_names, idle, read, text_places, ties};
pub use recorded::Recorded;
pub(crate) use recorded::{BatchImages, BatchSizes};
pub(crate) use regions::Region;

/// Name of the tokens of each source in expressions.
const SOURCE: &str = "source";

/// Why a program cannot be read, or does not fit a config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramError {
    /// Where in the file.
    pub place: String,
    /// What is wrong there, in English.
    pub why: String,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

impl std::error::Error for ProgramError {}

/// A class's code as it was recorded.
pub struct Program {
    /// `model_type` of the configs that it is for.
    pub model_type: String,
    /// The class in transformers.
    pub class: String,
    /// What it was recorded with.
    pub versions: BTreeMap<String, String>,
    /// Which configs it is for: all must hold.
    when: Vec<Condition>,
    defaults: Map<String, Json>,
    /// Other names of keys, each with the name that the program reads.
    aliases: BTreeMap<String, String>,
    derived: Vec<(String, Expression)>,
    names: Names,
    dims: Vec<Dimension>,
    shapes: Vec<Vec<usize>>,
    /// Keys that are rates of dropout.
    rates: Vec<String>,
    /// Towers first, the text part's layers last.
    stacks: Vec<Stack>,
    /// What a batch has beside token ids.
    pub(crate) inputs: Vec<Input>,
    /// Whether the tower takes the patches of all images as one sequence.
    packs: bool,
    /// Whether it is an encoder-decoder: the first stack reads sources, the last targets of another length.
    pub(crate) reads_sources: bool,
    /// Last parts of the names of modules that stay in fp32 in a float16 model and are never quantised: the class casts what they
    /// read to the dtype of their weights.
    pub(crate) keeps: Vec<String>,
    /// Which names earlier checkpoints give the linear layers that its experts' parameters stack, where peft converts them.
    pub(crate) expert_names: Option<ExpertNames>,
    /// Whether the class hands attention to PyTorch's kernels (`_supports_sdpa`), where it knows one operator of attention at all.
    supports_sdpa: bool,
    /// Whether the model's forward holds what its first layer of text reads until it ends, under a name of its own.
    pub(crate) holds_input: bool,
    head: Head,
    pub(crate) before: Block,
    pub(crate) layers: Vec<Block>,
    pub(crate) after: Block,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("model_type", &self.model_type).finish_non_exhaustive()
    }
}

/// Whose names of experts a class's earlier checkpoints have (transformers conversion_mapping.py
/// `_MODEL_TO_CONVERSION_PATTERN`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpertNames {
    /// `w1`, `w2`, `w3`.
    Mixtral,
    /// `gate_proj`, `up_proj`, `down_proj`.
    Qwen2Moe,
}

/// A dimension as it is written, and what it comes to.
#[derive(Debug, Clone, PartialEq)]
struct Dimension {
    text: String,
    size: Expression,
}

/// Layers that run one after the other.
#[derive(Debug, Clone, PartialEq)]
struct Stack {
    part: ModelPart,
    /// Name of the list of layers; empty where there is one alone.
    name: String,
    /// How many: a key of the config, or a number; `None`: the text part's own number.
    count: Option<String>,
    /// Whether gradient checkpointing runs its layers again.
    checkpoints: bool,
    features: Vec<Feature>,
    kinds: BTreeMap<String, usize>,
    /// Which of them run again.
    loops: Option<Loops>,
}

/// Layers of a stack that run more than once, one after the other each time (Dory's recurrent section).
#[derive(Debug, Clone, PartialEq)]
struct Loops {
    /// Number of the first.
    from: Expression,
    /// Number of the one behind the last.
    to: Expression,
    /// How often in all.
    times: Expression,
}

/// A tensor of the batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Input {
    pub(crate) name: String,
    /// Number of its shape.
    pub(crate) shape: usize,
    pub(crate) held: Held,
}

#[derive(Debug, Clone, PartialEq)]
struct Head {
    name: String,
    /// Where it hangs on a key, that key is true or false.
    bias: Stated,
    /// The module whose parameter the bias is where the head is the token embedding; where it is not, that is a parameter that nothing reads.
    bias_of: Option<String>,
    /// The parameter of its module with a factor for each fp32 logit (Dory's `logit_scale`).
    gain: Option<String>,
    /// Whether logits go through tanh.
    softcaps: Stated,
    scales: bool,
    /// Whether the loss of masked tokens is taken over an fp32 copy of the logits.
    upcasts: bool,
    /// Whether a buffer is added to the logits.
    adds: bool,
    /// Whether the class without a head runs a pooler.
    pooler: bool,
    classifies: Classifies,
    /// Whether it is the token embedding whatever the config says, or is not.
    ties: Option<bool>,
    /// The shape of its weight, where that is not the vocabulary by the width of the residual stream.
    weight: Option<usize>,
    /// Whether it stays in fp32, and what it reads is cast to that.
    wide: bool,
    /// What the class makes of a decoder's logits before cross-entropy reads them; `None` where it leaves that to transformers.
    loss: Option<Vec<LossStep>>,
}

/// A step of a class's own from logits to cross-entropy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossStep {
    /// An fp32 copy.
    Upcast,
    /// All positions but the last, as a view.
    Shift,
    /// A copy in order: of a single sequence there is none to make.
    Copy,
}

/// What an encoder's classification head reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Classifies {
    /// The layers that the head of masked tokens has before it.
    HeadLayers,
    /// The pooler.
    Pooled,
    /// A dense layer of its own.
    ByItself,
}

/// What is always or never so, or where the config says it.
#[derive(Debug, Clone, PartialEq)]
enum Stated {
    Always(bool),
    /// Where the config says something of this key.
    Where(String),
}

/// What tells layers apart.
#[derive(Debug, Clone, PartialEq)]
struct Feature {
    of: FeatureOf,
    key: String,
    /// The number that `Below`, `At` and `Last` go by.
    below: Option<Expression>,
    /// The key of the layer at which a period of `Every` begins; `None`: the first.
    from: Option<String>,
    /// Of `Nth`: the key of a number that the place is divided by, whose rest is the value.
    turns: Option<String>,
    /// What its values are called in the kinds, where that is something else.
    named: BTreeMap<String, String>,
    otherwise: Option<Box<Feature>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeatureOf {
    /// The i-th value of a list.
    List,
    /// Whether i and an offset is in a list.
    In(i64),
    /// Where in a list i and an offset is.
    Nth(i64),
    /// i itself below a number.
    First,
    /// Whether i is below a number.
    Below,
    /// Whether i is a number.
    At,
    /// Whether i is below a number and no later layer below it has the i-th value of a list.
    Last,
    /// Whether i and an offset divide by a number.
    Every(i64),
    /// The i-th character of a text.
    Chars,
    /// The i-th value of a list that begins anew behind its last.
    Repeats,
    /// Whether the layer has run before.
    Again,
}

/// Something that must be so in a config.
#[derive(Debug, Clone, PartialEq)]
struct Condition {
    key: String,
    is: Option<Json>,
    above: Option<f64>,
}

impl Program {
    /// The release of transformers from which on it holds; `None` where the file says none that can be read: before any other.
    pub fn release(&self) -> Option<Release> {
        Release::parse(self.versions.get("transformers")?)
    }

    /// Whether the class has layers of its own between its decoder and its head: the dense layer and the norm of a
    /// masked-language-model head. What runs before them is the decoder's.
    pub(crate) fn has_head_layers(&self) -> bool {
        self.after.fused.ahead.iter().any(|(name, _)| name == RESIDUAL)
    }

    /// Whether an encoder's classification head reads one token of each sequence through those layers.
    pub(crate) fn classifies_by_head_layers(&self) -> bool {
        self.has_head_layers() && self.head.classifies == Classifies::HeadLayers
    }

    /// Under which name an encoder-decoder's decoder takes what the encoder gives.
    pub(crate) fn encoder_output(&self) -> Option<&str> {
        let layers = || self.layers.iter().filter(|_| self.reads_sources).map(|layer| &layer.fused);
        let given = layers().flat_map(|layer| &layer.ahead).map(|(name, _)| name);
        let mut given = given.filter(|name| *name != RESIDUAL);
        given.find(|name| layers().any(|layer| layer.takes.contains(name))).map(String::as_str)
    }

    /// Whether logits become fp32: a decoder's within its forward, an encoder's for the loss of masked tokens.
    pub(crate) fn upcasts_logits(&self) -> bool {
        self.head.upcasts
    }

    /// What the class makes of its logits before cross-entropy reads them, where it does not leave that to transformers'
    /// `ForCausalLMLoss`: nothing (modeling_cpmant.py `CpmAntForCausalLM.forward`), or copies of its own, as code that comes with
    /// weights often does.
    pub(crate) fn loss_steps(&self) -> Option<&[LossStep]> {
        self.head.loss.as_deref()
    }

    /// Whether the head stays in fp32, whatever the model's dtype (modeling_hy_v4.py `HYV4ForCausalLM.forward`).
    pub(crate) fn has_wide_head(&self) -> bool {
        self.head.wide
    }

    /// Whether a buffer of the model is added to the logits (modeling_bart.py `final_logits_bias`).
    pub(crate) fn adds_to_logits(&self) -> bool {
        self.head.adds
    }

    /// Whether those layers have module `module` of what runs behind the layers.
    pub(crate) fn is_of_head_layers(&self, module: usize) -> bool {
        let is_of_decoder = || self.after.fused.pre.iter().any(|op| op.module == Some(module));
        self.has_head_layers() && !is_of_decoder()
    }

    /// Whether it has a tower that sees images.
    pub(crate) fn sees_images(&self) -> bool {
        self.stacks.iter().any(|stack| stack.part == ModelPart::VisionTower)
    }

    /// Recorded layers of the text part.
    pub(super) fn text_layers(&self) -> impl Iterator<Item = &Block> {
        let kinds = self.stacks.last().map(|stack| stack.kinds.values());
        kinds.into_iter().flatten().filter_map(|layer| self.layers.get(*layer))
    }

    /// Whether gradient checkpointing runs a recorded layer again.
    pub(crate) fn checkpoints(&self, layer: usize) -> bool {
        let has = |stack: &&Stack| stack.kinds.values().any(|known| *known == layer);
        self.stacks.iter().filter(has).all(|stack| stack.checkpoints)
    }

    /// Whether a recorded layer is one of a tower's.
    pub(crate) fn is_of_tower(&self, layer: usize) -> bool {
        let towers = self.stacks.iter().filter(|stack| stack.part == ModelPart::VisionTower);
        towers.flat_map(|stack| stack.kinds.values()).any(|known| *known == layer)
    }

    /// Whether a module outside the layers lies in the module that is the tower, as Qwen's projector does.
    pub(crate) fn is_in_tower(&self, name: &str) -> bool {
        let root = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        let mut towers = self.stacks.iter().filter(|stack| stack.part == ModelPart::VisionTower);
        towers.any(|stack| root(&stack.name) == root(name))
    }

    /// Name of the list that a recorded layer is in; empty where there is one list alone.
    pub(super) fn list_of(&self, layer: usize) -> &str {
        let has = |stack: &&Stack| stack.kinds.values().any(|known| *known == layer);
        self.stacks.iter().find(has).map_or("", |stack| &stack.name)
    }

    /// Whether the name of a module in a layer is its path in the whole model, as of what stands by itself and runs there.
    fn stands_alone(&self, name: &str) -> bool {
        let root = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        self.stacks.len() > 1 && self.stacks.iter().any(|stack| root(&stack.name) == root(name))
    }

    /// The part of the model that a module outside the layers belongs to, by its name. What hears sound runs for no batch.
    fn part_of(&self, name: &str) -> ModelPart {
        const JOINS: &[&str] = &[
            "merger",
            "projector",
            "connector",
            "embed_vision",
            "aligner",
            "modality_projection",
            "adapter",
            "vision_projection",
        ];
        if !self.sees_images() {
            ModelPart::LanguageModel
        } else if name.starts_with("audio_tower") || name.starts_with("embed_audio") {
            ModelPart::AudioTower
        } else if JOINS.iter().any(|part| name.contains(part)) {
            ModelPart::MultiModalProjector
        } else if self.is_in_tower(name) {
            ModelPart::VisionTower
        } else {
            ModelPart::LanguageModel
        }
    }

    /// Whether attention is one operator in any layer.
    fn attends(&self) -> bool {
        let is_attention = |op: &&Op| matches!(op.action, Action::Attention(_));
        self.layers.iter().any(|block| block.fused.all().iter().any(is_attention))
    }

    /// Whether modules of layers are around the weight of the module `name`, which stands outside of them.
    pub(crate) fn has_tied(&self, name: &str) -> bool {
        let of = |parameter: &Parameter| {
            let whole = parameter.of.as_deref().and_then(|of| of.strip_suffix(".weight"));
            whole.is_some_and(|whole| whole == name)
        };
        self.layers.iter().flat_map(|layer| &layer.modules).any(|owner| owner.parameters.iter().any(of))
    }

    /// Whether a module is the whole of such ones, or lies in a layer where such ones do (the adapters within Zamba2's transformers, each of
    /// whose copies has those of all).
    pub(crate) fn lies_in_common(&self, name: &str) -> bool {
        let is_beside = |owner: &Owner| {
            let is_tied = owner.parameters.iter().any(|parameter| parameter.of.is_some());
            is_tied && owner.name.split('.').next() == name.split('.').next()
        };
        self.has_tied(name) || self.layers.iter().flat_map(|layer| &layer.modules).any(is_beside)
    }

    /// What its class calls the head, whether it is the token embedding or not.
    pub(crate) fn head_name(&self) -> &str {
        &self.head.name
    }

    /// Whether layers, or what runs before them, take masks whatever kernel attention runs in.
    pub(crate) fn takes_masks(&self) -> bool {
        self.layers.iter().chain([&self.before]).any(Block::takes_masks)
    }
}
