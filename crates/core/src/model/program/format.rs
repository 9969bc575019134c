//! Programs as they are written: JSON in types, nothing checked yet (python/headroom/PROGRAMS.md).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A file: a program, or several for configs of different kinds, with what all of them refer to.
#[derive(Deserialize)]
pub(super) struct File {
    pub(super) format: u64,
    #[serde(default)]
    pub(super) dims: Vec<String>,
    #[serde(default)]
    pub(super) shapes: Vec<Vec<usize>>,
    #[serde(default)]
    pub(super) functions: Vec<Function>,
    #[serde(default)]
    pub(super) programs: Vec<Program>,
}

#[derive(Deserialize)]
pub(super) struct Program {
    pub(super) model_type: String,
    #[serde(default)]
    pub(super) class: String,
    #[serde(default)]
    pub(super) versions: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) when: Vec<Condition>,
    #[serde(default)]
    pub(super) config: Map<String, Value>,
    #[serde(default)]
    pub(super) derived: BTreeMap<String, String>,
    /// Other names of keys.
    #[serde(default)]
    pub(super) aliases: BTreeMap<String, String>,
    /// Dimensions of the file that it has none of.
    #[serde(default)]
    pub(super) unread: Vec<usize>,
    #[serde(default)]
    pub(super) features: Vec<Feature>,
    #[serde(default)]
    pub(super) kinds: BTreeMap<String, usize>,
    /// Stacks of layers, where there is more than one.
    #[serde(default)]
    pub(super) stacks: Vec<Stack>,
    /// What a batch has beside token ids: shape and dtype.
    #[serde(default)]
    pub(super) inputs: BTreeMap<String, (usize, String)>,
    /// Whether the tower takes the patches of all images as one sequence.
    #[serde(default)]
    pub(super) packs: bool,
    /// Whether an encoder reads sources of their own length.
    #[serde(default)]
    pub(super) sources: bool,
    /// Modules that stay in fp32 beside float16, and that nothing quantises.
    #[serde(default)]
    pub(super) keeps: Vec<String>,
    /// Whether the class hands attention to PyTorch's kernels.
    #[serde(default = "yes")]
    pub(super) sdpa: bool,
    /// Whether the model holds what its first layer of text reads.
    #[serde(default)]
    pub(super) holds: bool,
    pub(super) layers: Vec<Block>,
    pub(super) before: Block,
    pub(super) after: Block,
    pub(super) head: Head,
}

/// Layers that run one after the other, told apart by features of their own.
#[derive(Deserialize)]
pub(super) struct Stack {
    pub(super) part: String,
    pub(super) name: String,
    /// How many: a key of the config, or a number; absent: the text part's own number.
    pub(super) count: Option<String>,
    pub(super) checkpoints: Option<bool>,
    #[serde(default)]
    pub(super) features: Vec<Feature>,
    pub(super) kinds: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
pub(super) struct Condition {
    pub(super) key: String,
    pub(super) is: Option<Value>,
    pub(super) above: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Head {
    pub(super) name: String,
    #[serde(default)]
    pub(super) bias: Stated,
    pub(super) bias_of: Option<String>,
    #[serde(default)]
    pub(super) softcaps: Stated,
    #[serde(default)]
    pub(super) scales: bool,
    #[serde(default)]
    pub(super) upcasts: bool,
    #[serde(default)]
    pub(super) adds: bool,
    #[serde(default)]
    pub(super) pooler: bool,
    pub(super) classifies: Option<String>,
}

/// What is always or never so, or where the config says something of a key.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Stated {
    Always(bool),
    Where(String),
}

impl Default for Stated {
    fn default() -> Self {
        Self::Always(false)
    }
}

#[derive(Deserialize)]
pub(super) struct Feature {
    pub(super) list: Option<String>,
    #[serde(rename = "in")]
    pub(super) within: Option<String>,
    pub(super) below: Option<String>,
    pub(super) last: Option<String>,
    pub(super) at: Option<String>,
    pub(super) every: Option<String>,
    /// Of a period: the layer at which one begins.
    pub(super) from: Option<String>,
    #[serde(default)]
    pub(super) offset: i64,
    pub(super) chars: Option<String>,
    pub(super) nth: Option<String>,
    pub(super) first: Option<String>,
    #[serde(default)]
    pub(super) names: BTreeMap<String, String>,
    #[serde(rename = "else")]
    pub(super) otherwise: Option<Box<Feature>>,
}

#[derive(Deserialize)]
pub(super) struct Block {
    #[serde(default)]
    pub(super) modules: Vec<(String, String, Vec<Vec<Value>>)>,
    #[serde(default)]
    pub(super) takes: Vec<String>,
    #[serde(default)]
    pub(super) gives: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) pre: Vec<Value>,
    #[serde(default)]
    pub(super) ahead: BTreeMap<String, Value>,
    /// Values that become leaves where input embeddings are to require gradients.
    #[serde(default)]
    pub(super) leaves: Vec<Value>,
    pub(super) ops: Vec<Value>,
    pub(super) eager: Option<Box<Variant>>,
    pub(super) wide: Option<Box<Variant>>,
    pub(super) wide_eager: Option<Box<Variant>>,
    pub(super) ssm: Option<Box<Variant>>,
    pub(super) wide_ssm: Option<Box<Variant>>,
    pub(super) fla_conv: Option<Box<Variant>>,
    pub(super) wide_fla_conv: Option<Box<Variant>>,
    pub(super) fla: Option<Box<Variant>>,
    pub(super) wide_fla: Option<Box<Variant>>,
    pub(super) conv: Option<Box<Variant>>,
    pub(super) wide_conv: Option<Box<Variant>>,
}

/// A block's other form, on the same modules.
#[derive(Deserialize)]
pub(super) struct Variant {
    #[serde(default)]
    pub(super) takes: Vec<String>,
    #[serde(default)]
    pub(super) gives: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) pre: Vec<Value>,
    #[serde(default)]
    pub(super) ahead: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) leaves: Vec<Value>,
    pub(super) ops: Vec<Value>,
}

/// What operators have in common.
#[derive(Deserialize)]
pub(super) struct Function {
    pub(super) f: String,
    #[serde(default)]
    pub(super) o: Vec<Vec<Value>>,
    pub(super) n: Option<(Vec<Option<usize>>, Vec<String>)>,
    #[serde(default)]
    pub(super) t: Vec<Step>,
    #[serde(default)]
    pub(super) r: Vec<Value>,
    /// A function of Python: all is saved, and all runs.
    #[serde(default)]
    pub(super) w: bool,
    /// Key of the config that says the rate of dropout.
    pub(super) p: Option<String>,
    pub(super) a: Option<Attention>,
}

#[derive(Deserialize)]
pub(super) struct Attention {
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) width: usize,
    pub(super) value_width: usize,
    pub(super) window: Option<usize>,
    #[serde(default = "yes")]
    pub(super) causal: bool,
    #[serde(default)]
    pub(super) masked: bool,
    /// For how many sequences the mask stands; absent: one for all.
    pub(super) mask_rows: Option<usize>,
    #[serde(default)]
    pub(super) token_major: Vec<bool>,
    /// Into how many pieces the sequence is split.
    pub(super) pieces: Option<usize>,
    /// Whether PyTorch's function is called, and not transformers' interface.
    #[serde(default)]
    pub(super) bare: bool,
    /// Key of the config that says the rate of its dropout; absent: it has none.
    pub(super) dropout: Option<String>,
}

fn yes() -> bool {
    true
}

/// Name, tensors, outputs, what is given back.
pub(super) type Step = (String, Vec<String>, Vec<Vec<Value>>, Vec<String>);
