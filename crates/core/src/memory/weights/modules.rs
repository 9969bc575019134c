//! What a module's parameters are, once they are on the tape.

use crate::memory::autograd::{ElementType, LayerTag, Sym, Tensor};
use crate::model::{Block, Layer, Recorded};
use std::rc::Rc;
use std::sync::Arc;

/// A linear layer.
#[derive(Debug, Clone)]
pub(in crate::memory) struct Projection {
    pub(in crate::memory) name: String,
    pub(in crate::memory) d_in: u64,
    pub(in crate::memory) d_out: u64,
    /// What d_out is called in formulas.
    pub(in crate::memory) sym: Sym,
    pub(in crate::memory) weight: BaseWeight,
    pub(in crate::memory) bias: Option<Tensor>,
    pub(in crate::memory) adapter: Option<Adapter>,
}

/// How a linear layer's weight is held.
#[derive(Debug, Clone)]
pub(in crate::memory) enum BaseWeight {
    /// d_out x d_in numbers.
    Plain(Tensor),
    /// bitsandbytes 4-bit: packed pairs and their scales; `nested` when the scales are quantised again.
    FourBit {
        /// The packed pairs, where they are sharded like any other parameter.
        sharded: Option<Tensor>,
        /// Held, never computed with: each matmul materialises the weight anew.
        _held: Vec<Tensor>,
        nested: bool,
    },
    /// bitsandbytes LLM.int8(): one byte a weight, one fp32 a row.
    EightBit {
        /// The numbers as a parameter, where that is sharded.
        sharded: Option<Tensor>,
        _held: Vec<Tensor>,
    },
}

/// A LoRA adapter.
#[derive(Debug, Clone)]
pub(in crate::memory) struct Adapter {
    /// r x d_in.
    pub(in crate::memory) a: Tensor,
    /// d_out x r.
    pub(in crate::memory) b: Tensor,
    /// dtype that peft reads off A, and casts its input to, before A's module runs.
    pub(in crate::memory) read_as: ElementType,
    pub(in crate::memory) r: u64,
    pub(in crate::memory) dropout: f64,
}

/// A LoRA adapter on a bare parameter (peft/tuners/lora/layer.py ParamWrapper): its product is added to the weight in every
/// forward.
#[derive(Debug, Clone)]
pub(in crate::memory) struct ParameterAdapter {
    pub(in crate::memory) name: String,
    /// r·E x d_in.
    pub(in crate::memory) a: Tensor,
    /// d_out x r·E.
    pub(in crate::memory) b: Tensor,
    /// d_in, what the matmul reads of each token.
    pub(in crate::memory) d_in: u64,
    /// The weight has one slice for each expert, not one for all.
    pub(in crate::memory) stacked: bool,
    /// Slices are d_in x d_out (gpt-oss), not d_out x d_in.
    pub(in crate::memory) is_transposed: bool,
    /// W + dW is one `baddbmm` of the factors.
    pub(in crate::memory) folds_factors: bool,
    /// `lora_alpha / r` is not 1.
    pub(in crate::memory) is_scaled: bool,
}

/// A LoRA adapter on a table of embeddings (peft/tuners/lora/layer.py Embedding), as its forward reads it: A has a column for
/// each row of the table.
#[derive(Debug, Clone)]
pub(in crate::memory) struct TableAdapter {
    /// r x rows.
    pub(in crate::memory) a: Tensor,
    /// width x r.
    pub(in crate::memory) b: Tensor,
    pub(in crate::memory) rows: u64,
    pub(in crate::memory) r: u64,
}

/// One layer with its weights.
#[derive(Debug, Clone)]
pub(in crate::memory) struct LayerWeights {
    pub(in crate::memory) layer: Rc<Layer>,
    pub(in crate::memory) tag: LayerTag,
    pub(in crate::memory) block: RecordedBlock,
}

/// A recorded block with its parameters.
#[derive(Debug, Clone)]
pub(in crate::memory) struct RecordedBlock {
    pub(in crate::memory) of: Arc<Recorded>,
    pub(in crate::memory) part: Part,
    /// Of a layer: heads of keys and values, and the width of each.
    pub(in crate::memory) cached: (u64, [u64; 2]),
    /// By module, as the block lists them.
    pub(in crate::memory) owners: Vec<OwnerWeights>,
}

/// Which block of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) enum Part {
    Before,
    Layer(usize),
    After,
}

/// A bare parameter.
#[derive(Debug, Clone)]
pub(in crate::memory) struct Bare {
    /// The parameter; where it is packed, what stands for its 16-bit numbers and takes no bytes.
    pub(in crate::memory) tensor: Tensor,
    /// How it is held, where that is in 4 bits.
    pub(in crate::memory) packed: Option<Packed>,
    /// The adapter on it.
    pub(in crate::memory) adapter: Option<ParameterAdapter>,
}

/// A bare parameter in 4 bits (bitsandbytes nn/parametrize.py `replace_parameter_4bit`).
#[derive(Debug, Clone)]
pub(in crate::memory) struct Packed {
    pub(in crate::memory) name: String,
    /// Blocks of numbers with a scale of their own, where the scales are quantised again.
    pub(in crate::memory) nested_blocks: Option<u64>,
    pub(in crate::memory) weight: BaseWeight,
}

/// A routed expert of linear layers.
#[derive(Debug, Clone)]
pub(in crate::memory) struct Expert {
    pub(in crate::memory) gate: Projection,
    pub(in crate::memory) up: Projection,
    pub(in crate::memory) down: Projection,
}

impl Bare {
    /// Held as it is, without an adapter.
    pub(in crate::memory) fn plain(tensor: Tensor) -> Self {
        Self { tensor, packed: None, adapter: None }
    }

    /// What is a parameter of it.
    fn parameter(&self) -> Option<&Tensor> {
        match self.packed.as_ref().map(|packed| &packed.weight) {
            Some(BaseWeight::FourBit { sharded, .. }) => sharded.as_ref(),
            _ => Some(&self.tensor),
        }
    }
}

/// The parameters of one of its modules.
#[derive(Debug, Clone)]
pub(in crate::memory) enum OwnerWeights {
    Linear(Box<Projection>),
    /// By place; `None`: the model has none.
    Bare(Vec<Option<Bare>>),
    /// Routed experts that are linear layers, whose program has them stacked.
    Experts(Vec<Expert>),
}

impl RecordedBlock {
    /// Its code.
    pub(in crate::memory) fn block(&self) -> Option<&Block> {
        let program = &self.of.program;
        match self.part {
            Part::Before => Some(&program.before),
            Part::Layer(layer) => program.layers.get(layer),
            Part::After => Some(&program.after),
        }
    }

    /// The parameters of module `module` that its own forward reads, adapters' too.
    pub(in crate::memory) fn parameters(&self, module: usize) -> Vec<&Tensor> {
        match self.owners.get(module) {
            Some(OwnerWeights::Bare(own)) => {
                let adapters = own.iter().flatten().filter_map(|bare| bare.adapter.as_ref());
                let factors = adapters.flat_map(|adapter| [&adapter.a, &adapter.b]);
                own.iter().flatten().filter_map(Bare::parameter).chain(factors).collect()
            }
            Some(OwnerWeights::Linear(projection)) => projection.parameters(),
            Some(OwnerWeights::Experts(experts)) => {
                let layers = experts.iter().flat_map(|expert| [&expert.gate, &expert.up, &expert.down]);
                layers.flat_map(Projection::parameters).collect()
            }
            None => Vec::new(),
        }
    }
}

/// A norm's weights.
#[derive(Debug, Clone)]
pub(in crate::memory) struct NormWeights {
    pub(in crate::memory) name: String,
    pub(in crate::memory) weight: Option<Tensor>,
    pub(in crate::memory) bias: Option<Tensor>,
}
