//! Recorded programs: a class's forward and backward as data, one for each `model_type` (python/headroom/PROGRAMS.md).
//!
//! A [`Program`] is read once and serves every config of its class; [`Recorded`] is one of them with the figures of a config.
//! Which programs there are is the caller's: [`Programs`] holds those that were read and names those that could be.

mod check;
mod code;
mod config;
mod expression;
mod facts;
mod format;
mod library;
mod read;
mod regions;
mod templates;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use headroom_torch::Operator;
use serde_json::{Map, Value as Json};

use super::structure::ModelPart;
use expression::{BATCH, Expression, LENGTH, Names};
pub use library::Programs;
pub(super) use read::{idle, read};
pub(crate) use regions::Region;

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
    derived: Vec<(String, Expression)>,
    names: Names,
    dims: Vec<Dimension>,
    shapes: Vec<Vec<usize>>,
    /// Towers first, the text part's layers last.
    stacks: Vec<Stack>,
    /// What a batch has beside token ids.
    pub(crate) inputs: Vec<Input>,
    /// Whether the tower takes the patches of all images as one sequence.
    packs: bool,
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
    features: Vec<Feature>,
    kinds: BTreeMap<String, usize>,
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
    bias: bool,
    softcaps: Softcaps,
    scales: bool,
}

/// Whether logits go through tanh.
#[derive(Debug, Clone, PartialEq)]
enum Softcaps {
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
}

/// Something that must be so in a config.
#[derive(Debug, Clone, PartialEq)]
struct Condition {
    key: String,
    is: Option<Json>,
    above: Option<f64>,
}

/// A stretch of the forward: what runs before the layers, a layer, or what runs behind them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) modules: Vec<Owner>,
    /// As it runs with attention in one kernel.
    pub(crate) fused: Code,
    /// As it runs with eager attention, where that differs.
    pub(crate) eager: Option<Code>,
    /// Both as they run where the residual stream is in fp32, where that differs.
    wide: Option<Code>,
    wide_eager: Option<Code>,
    /// As it runs with flash-linear-attention's kernels, where that differs, and on a residual stream in fp32.
    fla: Option<Code>,
    wide_fla: Option<Code>,
}

/// What decides which of a block's codes runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    /// Attention is eager.
    pub(crate) is_eager: bool,
    /// The residual stream is in fp32.
    pub(crate) is_wide: bool,
    /// flash-linear-attention is installed.
    pub(crate) has_fla: bool,
}

/// A module with parameters of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Owner {
    /// Its name within the block.
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) region: Region,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter or a buffer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Number of its shape.
    pub(crate) shape: usize,
    pub(crate) held: Held,
    pub(crate) is_buffer: bool,
    /// A parameter that never gets a gradient.
    pub(crate) is_frozen: bool,
    /// The key of the config that says whether there is one; `None`: there always is.
    pub(crate) given_if: Option<String>,
}

/// dtype of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The model's.
    Model,
    /// Always the same.
    In(headroom_torch::ElementType),
}

impl Held {
    /// The dtype in a model whose own is `model`.
    pub(crate) fn element(self, model: headroom_torch::ElementType) -> headroom_torch::ElementType {
        match self {
            Self::In(element) => element,
            Self::Model => model,
        }
    }
}

/// Operators in order, with the values they pass on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Code {
    /// What is taken from the model's scope, by name; the first values.
    pub(crate) takes: Vec<String>,
    /// What is given to it.
    pub(crate) gives: Vec<(String, Value)>,
    /// What runs before the layer, outside its module.
    pub(crate) pre: Vec<Op>,
    /// What that gives to the scope before the layer is called, the residual stream that it is called with among it.
    pub(crate) ahead: Vec<(String, Value)>,
    /// Values that its own operators read.
    pub(crate) read_by_layer: BTreeSet<usize>,
    /// Values that become leaves where input embeddings are to require gradients.
    pub(crate) leaves: Vec<usize>,
    pub(crate) ops: Vec<Op>,
    /// How many values there are.
    pub(crate) values: usize,
    /// The residual stream that it takes is wider than the model's dtype, which it casts it to.
    pub(crate) narrows_stream: bool,
}

/// A value that an operator reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// By number: taken or made.
    Numbered(usize),
    /// A parameter, by module and place in it.
    Parameter(usize, usize),
}

/// One operator of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Op {
    pub(crate) action: Action,
    pub(crate) module: Option<usize>,
    pub(crate) inputs: Vec<Value>,
    /// Number of its first output; the others follow.
    pub(crate) first: usize,
    /// Values whose last reference goes right after it.
    pub(crate) frees: Vec<usize>,
    pub(crate) cast: Autocast,
    pub(crate) region: Region,
    /// Of each output: whether backward reads it.
    pub(crate) kept: Vec<bool>,
}

/// What an operator is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// `torch.nn.Linear`, with the shape of what it gives.
    Linear(usize),
    /// Attention as transformers' interface calls it.
    Attention(Box<Attend>),
    /// Any other.
    Operator(Operator),
    /// A loop.
    Repeat(Box<Repeat>),
}

/// Operators that run several times over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repeat {
    /// How often: number of a dimension.
    pub(crate) times: usize,
    /// Values that become, from the second time on, what others were at the end of the time before.
    pub(crate) carry: Vec<(usize, usize)>,
    /// Values that every time adds to a list, and the number of the list.
    pub(crate) collect: Vec<(usize, usize)>,
    pub(crate) ops: Vec<Op>,
}

/// Attention in one kernel; sizes are numbers of dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Attend {
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) width: usize,
    pub(crate) value_width: usize,
    pub(crate) window: Option<usize>,
    pub(crate) causal: bool,
    pub(crate) masked: bool,
    /// For how many sequences the mask stands: number of a dimension; `None`: one for all.
    pub(crate) mask_rows: Option<usize>,
    /// Whether q, k and v lie token by token.
    pub(crate) token_major: [bool; 3],
    /// Into how many pieces the sequence is split: number of a dimension.
    pub(crate) pieces: Option<usize>,
    /// The shape of what it gives.
    pub(crate) shape: usize,
}

/// What autocast does to an operator's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Autocast {
    /// Nothing.
    Passes,
    /// They are cast to the lower precision.
    Lower,
    /// They are cast to fp32.
    Wide,
    /// The result is in fp32, without a cast before.
    WideResult,
}

/// What a program's sizes hang on beside its config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchSizes {
    /// b.
    pub(crate) sequences: u64,
    /// s.
    pub(crate) length: u64,
    pub(crate) images: BatchImages,
}

impl BatchSizes {
    /// One token: what parameters take hangs on no batch.
    pub(crate) const ONE: Self =
        Self { sequences: 1, length: 1, images: BatchImages { count: 1, patches: 1, windows: 1, rows: 1, columns: 1 } };
}

/// The images of a batch as its tower sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BatchImages {
    /// Images, tiles counted one by one.
    pub(crate) count: u64,
    /// Patches: of each image, or of all where the tower takes them as one sequence.
    pub(crate) patches: u64,
    /// Windows of attention of all images.
    pub(crate) windows: u64,
    /// Patches of an image's height; images that are one sequence count as one below the other.
    pub(crate) rows: u64,
    /// Patches of an image's width.
    pub(crate) columns: u64,
}

/// A program with the figures of one config.
pub struct Recorded {
    pub(crate) program: Arc<Program>,
    /// Values of the program's names; b and s have none.
    values: Vec<Option<f64>>,
    /// The block of each run of the model's layers.
    blocks: Vec<usize>,
    /// Keys that give parameters and are not set.
    without: Vec<String>,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("program", &self.program).field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.program, &other.program);
        same && self.values == other.values && self.blocks == other.blocks && self.without == other.without
    }
}

impl Program {
    /// Whether it has a tower that sees images.
    pub(crate) fn sees_images(&self) -> bool {
        self.stacks.len() > 1
    }

    /// Whether a recorded layer is one of a tower's.
    pub(crate) fn is_of_tower(&self, layer: usize) -> bool {
        let towers = self.stacks.iter().filter(|stack| stack.part == ModelPart::VisionTower);
        towers.flat_map(|stack| stack.kinds.values()).any(|known| *known == layer)
    }

    /// The part of the model that a module outside the layers belongs to, by its name. What hears sound runs for no batch.
    fn part_of(&self, name: &str) -> ModelPart {
        const JOINS: &[&str] =
            &["merger", "projector", "connector", "embed_vision", "aligner", "modality_projection", "adapter"];
        let towers = self.stacks.iter().filter(|stack| stack.part == ModelPart::VisionTower);
        let root = |stack: &Stack| stack.name.split('.').next().unwrap_or_default().to_owned();
        let in_tower = || towers.map(root).any(|root| name.split('.').next() == Some(root.as_str()));
        if !self.sees_images() {
            ModelPart::LanguageModel
        } else if name.starts_with("audio_tower") {
            ModelPart::AudioTower
        } else if JOINS.iter().any(|part| name.contains(part)) {
            ModelPart::MultiModalProjector
        } else if in_tower() {
            ModelPart::VisionTower
        } else {
            ModelPart::LanguageModel
        }
    }

    /// Whether layers, or what runs before them, take masks whatever kernel attention runs in.
    pub(crate) fn takes_masks(&self) -> bool {
        self.layers.iter().chain([&self.before]).any(Block::takes_masks)
    }
}

impl Recorded {
    /// The block of the model's run of layers `run`.
    pub(crate) fn block(&self, run: usize) -> Option<usize> {
        self.blocks.get(run).copied()
    }

    /// Whether the model has `parameter`.
    pub(crate) fn has(&self, parameter: &Parameter) -> bool {
        parameter.given_if.as_ref().is_none_or(|key| !self.without.contains(key))
    }

    /// What runs of layers give each other beside the residual stream.
    pub(crate) fn layers_exchange(&self) -> bool {
        let named = |list: &[(String, Value)]| list.iter().any(|(name, _)| name != RESIDUAL);
        let many = |block: usize| self.blocks.iter().filter(|other| **other == block).count() > 1;
        let gives = |(i, block): (usize, &Block)| named(&block.fused.gives) || (named(&block.fused.ahead) && many(i));
        self.program.layers.iter().enumerate().any(gives)
    }

    /// Every dimension, as written and as it comes to for a batch; one that comes to nothing is 0.
    pub(crate) fn dimensions(&self, batch: BatchSizes) -> Vec<(&str, u64)> {
        let mut values = self.values.clone();
        let BatchSizes { sequences, length, images } = batch;
        for (name, size) in [(BATCH, sequences), (LENGTH, length)] {
            values.get_mut(name).into_iter().for_each(|value| *value = Some(size as f64));
        }
        for (name, value) in self.program.names.list().iter().zip(&mut values) {
            let size = match name.as_str() {
                "images.count" => images.count,
                "images.patches" => images.patches,
                "images.windows" => images.windows,
                "images.rows" => images.rows,
                "images.columns" => images.columns,
                _ => continue,
            };
            *value = Some(size as f64);
        }
        let size = |dimension: &Dimension| dimension.size.value(&values).map_or(0, |size| size.max(0.0) as u64);
        self.program.dims.iter().map(|dimension| (dimension.text.as_str(), size(dimension))).collect()
    }

    /// Every shape as numbers of dimensions.
    pub(crate) fn shapes(&self) -> &[Vec<usize>] {
        &self.program.shapes
    }
}

/// The residual stream's name in the scope.
pub(crate) const RESIDUAL: &str = "hidden_states";
/// What the masks that eager attention adds are called there.
pub(crate) const CAUSAL_MASK: &str = "causal_mask";
/// The same with a window.
pub(crate) const SLIDING_MASK: &str = "sliding_mask";

impl Code {
    /// Numbers of the values that the layer's own operators read, or that it gives.
    fn numbers_read(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut note = |value: &Value| {
            if let Value::Numbered(number) = value {
                found.insert(*number);
            }
        };
        self.gives.iter().for_each(|(_, value)| note(value));
        for op in Self::flat(self.ops.iter().rev()) {
            op.inputs.iter().for_each(&mut note);
        }
        let mut open: Vec<&Op> = self.ops.iter().collect();
        while let Some(op) = open.pop() {
            if let Action::Repeat(repeat) = &op.action {
                let pairs = repeat.carry.iter().chain(&repeat.collect);
                found.extend(pairs.flat_map(|(one, other)| [*one, *other]));
                open.extend(&repeat.ops);
            }
        }
        found
    }

    /// Every operator, those of loops once.
    pub(crate) fn all(&self) -> Vec<&Op> {
        Self::flat(self.ops.iter().rev().chain(self.pre.iter().rev()))
    }

    /// Operators given from the last to the first, those of loops once, in order.
    fn flat<'a>(backwards: impl Iterator<Item = &'a Op>) -> Vec<&'a Op> {
        let mut found = Vec::new();
        let mut open: Vec<&Op> = backwards.collect();
        while let Some(op) = open.pop() {
            match &op.action {
                Action::Repeat(repeat) => open.extend(repeat.ops.iter().rev()),
                _ => found.push(op),
            }
        }
        found
    }
}

impl Block {
    /// Whether it takes masks whatever kernel attention runs in.
    pub(crate) fn takes_masks(&self) -> bool {
        self.fused.takes.iter().any(|name| name == CAUSAL_MASK || name == SLIDING_MASK)
    }

    /// The code that runs by `way`.
    pub(crate) fn code(&self, way: Way) -> &Code {
        let (wide, narrow) = match way {
            Way { has_fla: true, .. } if self.fla.is_some() => (&self.wide_fla, &self.fla),
            Way { is_eager: true, .. } => (&self.wide_eager, &self.eager),
            _ => (&self.wide, &None),
        };
        wide.as_ref().filter(|_| way.is_wide).or(narrow.as_ref()).unwrap_or(&self.fused)
    }
}
