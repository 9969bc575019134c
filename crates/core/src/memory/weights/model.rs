//! All weights of a model, and whose they are.

use super::modules::{LayerWeights, NormWeights, Part, Projection, RecordedBlock, TableAdapter};
use crate::memory::autograd::Tensor;
use crate::memory::parameter::{Parameter, Parameters, Trainable};
use crate::memory::sharding::{Groups, Modules};
use crate::memory::term::Term;
use std::cell::RefCell;
use std::rc::Rc;

/// Whose weights these are.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Holder {
    /// Nothing of it trains, and it has no adapters.
    pub(in crate::memory) frozen: bool,
    /// The term that all its weights count as; `None`: each as its kind.
    pub(in crate::memory) term: Option<Term>,
    /// What stands before the names of its modules.
    pub(in crate::memory) prefix: &'static str,
}

impl Holder {
    /// The model that the plan trains or runs.
    pub(in crate::memory) const POLICY: Self = Self { frozen: false, term: None, prefix: "" };
}

/// All weights of a model, on the tape.
#[derive(Debug)]
pub(in crate::memory) struct LoadedModel {
    pub(in crate::memory) token_embedding: Option<Tensor>,
    /// The adapter on it.
    pub(in crate::memory) token_adapter: Option<TableAdapter>,
    pub(in crate::memory) layers: Vec<Rc<LayerWeights>>,
    /// The norm that the head reads through, where the class has one.
    pub(in crate::memory) last_norm: Option<NormWeights>,
    /// `lm_head` or the encoder's head; none: tied.
    pub(in crate::memory) head: Vec<Projection>,
    pub(in crate::memory) head_norms: Vec<NormWeights>,
    /// The bias of a head whose weight is the token embedding's.
    pub(in crate::memory) tied_bias: Option<Tensor>,
    /// A factor for each fp32 logit.
    pub(in crate::memory) head_gain: Option<Tensor>,
    /// Whether the class has a language-model head, tied or not.
    pub(in crate::memory) has_language_head: bool,
    /// The dense layer that encoders' classification heads put before it; of an embedding model that of its class, which
    /// runs and has no part in the loss.
    pub(in crate::memory) pooler: Option<Projection>,
    /// The classification head.
    pub(in crate::memory) score: Option<Projection>,
    pub(in crate::memory) trainable: Vec<Trainable>,
    /// Every tensor that is not quantised, in the order of the modules.
    pub(in crate::memory) parameters: Vec<Parameter>,
    /// ZeRO-3's hooks on the modules.
    pub(in crate::memory) zero3: Option<Rc<Modules>>,
    /// ZeRO-2's hooks on the gradients.
    pub(in crate::memory) zero2: Option<Rc<Modules>>,
    /// FSDP1's shards in the dtype they were loaded in, until the first forward.
    pub(in crate::memory) as_loaded: RefCell<Vec<Option<Tensor>>>,
    /// Groups of frozen models beside it that keep their own for as long as training goes on.
    pub(in crate::memory) beside: RefCell<Vec<Rc<Groups>>>,
    pub(in crate::memory) counts: Counts,
    /// What runs before and behind the layers.
    pub(in crate::memory) before: RecordedBlock,
    pub(in crate::memory) after: RecordedBlock,
    pub(super) _held: Vec<Tensor>,
    pub(super) _idle: Vec<Projection>,
}

/// Parameters, in elements.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::memory) struct Counts {
    pub(in crate::memory) base: u64,
    pub(in crate::memory) adapters: u64,
    pub(in crate::memory) trainable: u64,
    /// Parameters that train and that no gradient reaches: a pooler whose output the loss does not read.
    pub(in crate::memory) untouched: u64,
    /// Bytes that quantisation left as they were.
    pub(in crate::memory) unquantized_bytes: u64,
}

impl LoadedModel {
    /// Keeps the hooks of a framework, if it has any.
    pub(in crate::memory) fn hook(&mut self, hooks: Option<Rc<Modules>>) -> Option<Rc<Modules>> {
        (self.zero3, self.zero2) = match hooks.clone() {
            Some(hooks) if hooks.on_modules => (Some(hooks), None),
            hooks => (None, hooks),
        };
        hooks
    }

    /// Its layers as a forward calls them: some run again, with the same weights.
    pub(in crate::memory) fn called(&self) -> Vec<Rc<LayerWeights>> {
        let calls = self.before.of.calls();
        if calls.is_empty() {
            return self.layers.clone();
        }
        let call = |(layer, block): &(usize, usize)| {
            let own = self.layers.get(*layer)?;
            let part = Part::Layer(*block);
            if own.block.part == part {
                return Some(Rc::clone(own));
            }
            Some(Rc::new(LayerWeights { block: RecordedBlock { part, ..own.block.clone() }, ..(**own).clone() }))
        };
        calls.iter().filter_map(call).collect()
    }

    /// Its parameters, as sharding sees them.
    pub(in crate::memory) fn sharded(&self) -> Parameters<'_> {
        Parameters {
            all: &self.parameters,
            trainable: &self.trainable,
            layers: self.layers.iter().map(|layer| layer.tag).collect(),
            tied: self.head.is_empty(),
            has_language_head: self.has_language_head,
            head: self.head.iter().flat_map(Projection::parameters).map(Tensor::storage_address).collect(),
            last_norm: self
                .last_norm
                .iter()
                // `_find_final_norm` looks among the children of the base model; of one that has a tower, the text is one of them.
                .filter(|norm| !norm.name.contains('.'))
                .flat_map(|norm| norm.weight.iter().chain(&norm.bias))
                .map(Tensor::storage_address)
                .collect(),
            as_loaded: &self.as_loaded,
        }
    }
}
