//! Programs as they are written: JSON in types, nothing checked yet (python/headroom/PROGRAMS.md).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::json::{Fault, FromJson, Members};

/// A file: a program, or several for configs of different kinds, with what all of them refer to.
pub(super) struct File {
    pub(super) dims: Vec<String>,
    pub(super) shapes: Vec<Vec<usize>>,
    pub(super) functions: Vec<Function>,
    pub(super) programs: Vec<Program>,
}

pub(super) struct Program {
    pub(super) model_type: String,
    pub(super) class: String,
    pub(super) versions: BTreeMap<String, String>,
    pub(super) when: Vec<Condition>,
    pub(super) config: Map<String, Value>,
    pub(super) derived: BTreeMap<String, String>,
    /// Other names of keys.
    pub(super) aliases: BTreeMap<String, String>,
    /// Dimensions of the file that it has none of.
    pub(super) unread: Vec<usize>,
    pub(super) features: Vec<Feature>,
    pub(super) kinds: BTreeMap<String, usize>,
    pub(super) loops: Option<Loops>,
    /// Stacks of layers, where there is more than one.
    pub(super) stacks: Vec<Stack>,
    /// What a batch has beside token ids: shape and dtype.
    pub(super) inputs: BTreeMap<String, (usize, String)>,
    /// Whether the tower takes the patches of all images as one sequence.
    pub(super) packs: bool,
    /// Whether an encoder reads sources of their own length.
    pub(super) sources: bool,
    /// Modules that stay in fp32 beside float16, and that nothing quantises.
    pub(super) keeps: Vec<String>,
    /// Whose names of experts peft converts.
    pub(super) expert_names: Option<String>,
    /// Whether the class hands attention to PyTorch's kernels.
    pub(super) sdpa: bool,
    /// Whether the model holds what its first layer of text reads.
    pub(super) holds: bool,
    pub(super) layers: Vec<Block>,
    pub(super) before: Block,
    pub(super) after: Block,
    pub(super) head: Head,
}

/// Layers that run one after the other, told apart by features of their own.
pub(super) struct Stack {
    pub(super) part: String,
    pub(super) name: String,
    /// How many: a key of the config, or a number; absent: the text part's own number.
    pub(super) count: Option<String>,
    pub(super) checkpoints: Option<bool>,
    pub(super) features: Vec<Feature>,
    pub(super) kinds: BTreeMap<String, usize>,
    pub(super) loops: Option<Loops>,
}

/// Layers that run again, from one number to the one before another, so many times in all: expressions in the config's keys.
pub(super) struct Loops {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) times: String,
}

pub(super) struct Condition {
    pub(super) key: String,
    pub(super) is: Option<Value>,
    pub(super) above: Option<f64>,
}

pub(super) struct Head {
    pub(super) name: String,
    pub(super) bias: Stated,
    pub(super) bias_of: Option<String>,
    /// The parameter with a factor for each logit.
    pub(super) gain: Option<String>,
    pub(super) softcaps: Stated,
    pub(super) scales: bool,
    pub(super) upcasts: bool,
    pub(super) adds: bool,
    pub(super) pooler: bool,
    pub(super) classifies: Option<String>,
    pub(super) ties: Option<bool>,
    pub(super) weight: Option<usize>,
    pub(super) wide: bool,
    /// What the class makes of its logits before cross-entropy reads them; absent: an fp32 copy.
    pub(super) loss: Option<Vec<String>>,
}

/// What is always or never so, or where the config says something of a key.
pub(super) enum Stated {
    Always(bool),
    Where(String),
}

impl Default for Stated {
    fn default() -> Self {
        Self::Always(false)
    }
}

pub(super) struct Feature {
    pub(super) list: Option<String>,
    pub(super) within: Option<String>,
    pub(super) below: Option<String>,
    pub(super) last: Option<String>,
    pub(super) at: Option<String>,
    pub(super) every: Option<String>,
    /// Of a period: the layer at which one begins.
    pub(super) from: Option<String>,
    pub(super) offset: i64,
    pub(super) chars: Option<String>,
    pub(super) nth: Option<String>,
    pub(super) first: Option<String>,
    pub(super) repeats: Option<String>,
    /// Whether the layer has run before; the value says nothing.
    pub(super) again: Option<bool>,
    pub(super) turns: Option<String>,
    pub(super) names: BTreeMap<String, String>,
    pub(super) otherwise: Option<Box<Feature>>,
}

pub(super) struct Block {
    pub(super) modules: Vec<(String, String, Vec<Vec<Value>>)>,
    /// What it runs with PyTorch's own attention, in the recording's dtype.
    pub(super) own: Variant,
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

/// A block's code, or another form of it on the same modules.
pub(super) struct Variant {
    pub(super) takes: Vec<String>,
    pub(super) gives: BTreeMap<String, Value>,
    pub(super) pre: Vec<Value>,
    pub(super) ahead: BTreeMap<String, Value>,
    /// Values that become leaves where input embeddings are to require gradients.
    pub(super) leaves: Vec<Value>,
    /// Values that the layer hands by name to a module within it that checkpointing runs again by itself.
    pub(super) handed: Vec<Value>,
    pub(super) ops: Vec<Value>,
}

/// What operators have in common.
pub(super) struct Function {
    pub(super) f: String,
    pub(super) o: Vec<Vec<Value>>,
    pub(super) n: Option<(Vec<Option<usize>>, Vec<String>)>,
    pub(super) t: Vec<Step>,
    pub(super) r: Vec<Value>,
    /// A function of Python: all is saved, and all runs.
    pub(super) w: bool,
    /// Key of the config that says the rate of dropout.
    pub(super) p: Option<String>,
    pub(super) a: Option<Attention>,
}

pub(super) struct Attention {
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) width: usize,
    pub(super) value_width: usize,
    pub(super) window: Option<usize>,
    pub(super) causal: bool,
    pub(super) masked: bool,
    /// For how many sequences the mask stands; absent: one for all.
    pub(super) mask_rows: Option<usize>,
    pub(super) token_major: Vec<bool>,
    /// Into how many pieces the sequence is split.
    pub(super) pieces: Option<usize>,
    /// Whether PyTorch's function is called, and not transformers' interface.
    pub(super) bare: bool,
    pub(super) grouped: bool,
    /// Key of the config that says the rate of its dropout; absent: it has none.
    pub(super) dropout: Option<String>,
}

/// Name, tensors, outputs, what is given back.
pub(super) type Step = (String, Vec<String>, Vec<Vec<Value>>, Vec<String>);

impl FromJson for File {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            dims: members.or_default("dims")?,
            shapes: members.or_default("shapes")?,
            functions: members.or_default("functions")?,
            programs: members.or_default("programs")?,
        })
    }
}

impl FromJson for Program {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            model_type: members.required("model_type")?,
            class: members.or_default("class")?,
            versions: members.or_default("versions")?,
            when: members.or_default("when")?,
            config: members.or_default("config")?,
            derived: members.or_default("derived")?,
            aliases: members.or_default("aliases")?,
            unread: members.or_default("unread")?,
            features: members.or_default("features")?,
            kinds: members.or_default("kinds")?,
            loops: members.optional("loops")?,
            stacks: members.or_default("stacks")?,
            inputs: members.or_default("inputs")?,
            packs: members.or_default("packs")?,
            sources: members.or_default("sources")?,
            keeps: members.or_default("keeps")?,
            expert_names: members.optional("expert_names")?,
            sdpa: members.optional("sdpa")?.unwrap_or(true),
            holds: members.or_default("holds")?,
            layers: members.required("layers")?,
            before: members.required("before")?,
            after: members.required("after")?,
            head: members.required("head")?,
        })
    }
}

impl FromJson for Stack {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            part: members.required("part")?,
            name: members.required("name")?,
            count: members.optional("count")?,
            checkpoints: members.optional("checkpoints")?,
            features: members.or_default("features")?,
            kinds: members.required("kinds")?,
            loops: members.optional("loops")?,
        })
    }
}

impl FromJson for Loops {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self { from: members.required("from")?, to: members.required("to")?, times: members.required("times")? })
    }
}

impl FromJson for Condition {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self { key: members.required("key")?, is: members.optional("is")?, above: members.optional("above")? })
    }
}

impl FromJson for Head {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            name: members.required("name")?,
            bias: members.or_default("bias")?,
            bias_of: members.optional("bias_of")?,
            gain: members.optional("gain")?,
            softcaps: members.or_default("softcaps")?,
            scales: members.or_default("scales")?,
            upcasts: members.or_default("upcasts")?,
            adds: members.or_default("adds")?,
            pooler: members.or_default("pooler")?,
            classifies: members.optional("classifies")?,
            ties: members.optional("ties")?,
            weight: members.optional("weight")?,
            wide: members.or_default("wide")?,
            loss: members.optional("loss")?,
        })
    }
}

impl FromJson for Feature {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            list: members.optional("list")?,
            within: members.optional("in")?,
            below: members.optional("below")?,
            last: members.optional("last")?,
            at: members.optional("at")?,
            every: members.optional("every")?,
            from: members.optional("from")?,
            offset: members.or_default("offset")?,
            chars: members.optional("chars")?,
            nth: members.optional("nth")?,
            first: members.optional("first")?,
            repeats: members.optional("repeats")?,
            again: members.optional("again")?,
            turns: members.optional("turns")?,
            names: members.or_default("names")?,
            otherwise: members.optional("else")?,
        })
    }
}

impl FromJson for Block {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            modules: members.or_default("modules")?,
            own: Variant::of(&mut members)?,
            eager: members.optional("eager")?,
            wide: members.optional("wide")?,
            wide_eager: members.optional("wide_eager")?,
            ssm: members.optional("ssm")?,
            wide_ssm: members.optional("wide_ssm")?,
            fla_conv: members.optional("fla_conv")?,
            wide_fla_conv: members.optional("wide_fla_conv")?,
            fla: members.optional("fla")?,
            wide_fla: members.optional("wide_fla")?,
            conv: members.optional("conv")?,
            wide_conv: members.optional("wide_conv")?,
        })
    }
}

impl Variant {
    fn of(members: &mut Members) -> Result<Self, Fault> {
        Ok(Self {
            takes: members.or_default("takes")?,
            gives: members.or_default("gives")?,
            pre: members.or_default("pre")?,
            ahead: members.or_default("ahead")?,
            leaves: members.or_default("leaves")?,
            handed: members.or_default("handed")?,
            ops: members.required("ops")?,
        })
    }
}

impl FromJson for Variant {
    fn from_json(value: Value) -> Result<Self, Fault> {
        Self::of(&mut Members::of(value)?)
    }
}

impl FromJson for Function {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            f: members.required("f")?,
            o: members.or_default("o")?,
            n: members.optional("n")?,
            t: members.or_default("t")?,
            r: members.or_default("r")?,
            w: members.or_default("w")?,
            p: members.optional("p")?,
            a: members.optional("a")?,
        })
    }
}

impl FromJson for Attention {
    fn from_json(value: Value) -> Result<Self, Fault> {
        let mut members = Members::of(value)?;
        Ok(Self {
            heads: members.required("heads")?,
            kv_heads: members.required("kv_heads")?,
            width: members.required("width")?,
            value_width: members.required("value_width")?,
            window: members.optional("window")?,
            causal: members.optional("causal")?.unwrap_or(true),
            masked: members.or_default("masked")?,
            mask_rows: members.optional("mask_rows")?,
            token_major: members.or_default("token_major")?,
            pieces: members.optional("pieces")?,
            bare: members.or_default("bare")?,
            grouped: members.or_default("grouped")?,
            dropout: members.optional("dropout")?,
        })
    }
}

impl FromJson for Stated {
    fn from_json(value: Value) -> Result<Self, Fault> {
        match value {
            Value::Bool(always) => Ok(Self::Always(always)),
            other => String::from_json(other).map(Self::Where),
        }
    }
}
