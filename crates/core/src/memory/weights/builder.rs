//! One parameter onto the tape: its dtype, its share of this rank, whether it trains.

use super::model::{Counts, Holder};
use super::modules::{NormWeights, Projection};
use super::parts::PartStart;
use crate::job::{Job, Scheme};
use crate::memory::autograd::{ElementType, Label, LayerTag, Shape, Sym, Tape, Tensor, dims};
use crate::memory::parameter::{Parameter, Trainable};
use crate::memory::precision::element_type;
use crate::memory::sharding::strategy;
use crate::memory::term::Term;
use crate::model::{ModelPart, Module, ModuleKind};
use crate::plan::names_module;
use std::rc::Rc;

/// Puts parameters onto the tape, held as the job says: the policy's, or those of a frozen copy.
pub(super) struct Builder<'a> {
    pub(super) tape: &'a Rc<Tape>,
    pub(super) job: &'a Job,
    pub(super) holder: Holder,
    pub(super) built: Built,
    /// The part of the model that comes onto the tape now.
    pub(super) part: ModelPart,
    /// Whether what comes onto it stays as it is (`freeze`).
    pub(super) stays: bool,
    /// Where modules began, and of which part they are.
    pub(super) parts: Vec<PartStart>,
    /// Whether the module that comes onto it lies in one that several layers have in common: nothing of it is quantised, as transformers
    /// leaves out every weight that is tied (quantizers/base.py `get_keys_to_not_convert`).
    pub(super) is_common: bool,
    /// Linear layers outside the layers that modules of several layers are around, by name.
    pub(super) tied: Vec<Projection>,
}

/// What has been put onto the tape so far.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) trainable: Vec<Trainable>,
    /// Every tensor that is not quantised, in the order of the modules.
    pub(super) parameters: Vec<Parameter>,
    /// What is quantised and not sharded, where the replay has to know in which order it is loaded.
    pub(super) quantized: Vec<Parameter>,
    pub(super) counts: Counts,
    /// What no operator computes with.
    pub(super) held: Vec<Tensor>,
    /// Linear layers that no batch runs.
    pub(super) idle: Vec<Projection>,
}

/// Where a module stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// In a layer.
    Layer(LayerTag),
    /// Before or behind the layers, where nothing is quantised and "all-linear" adapts nothing.
    Outside(LayerTag),
}

impl Place {
    pub(super) const fn tag(self) -> LayerTag {
        match self {
            Self::Layer(tag) | Self::Outside(tag) => tag,
        }
    }

    pub(super) const fn is_outside(self) -> bool {
        matches!(self, Self::Outside(_))
    }
}

impl<'a> Builder<'a> {
    pub(super) fn new(tape: &'a Rc<Tape>, job: &'a Job, holder: Holder) -> Self {
        let (part, parts) = (ModelPart::default(), Vec::new());
        Self {
            tape,
            job,
            holder,
            built: Built::default(),
            part,
            stays: job.freezes_part(part),
            parts,
            is_common: false,
            tied: Vec::new(),
        }
    }

    /// The label of a weight.
    pub(super) fn weight_label(&self, term: Term, name: &str) -> Label {
        self.label(self.holder.term.unwrap_or(term), name)
    }

    pub(super) fn label(&self, term: Term, name: &str) -> Label {
        if self.holder.prefix.is_empty() || !self.tape.keeps_names() {
            self.tape.label(term, name)
        } else {
            self.tape.label(term, &format!("{}.{name}", self.holder.prefix))
        }
    }

    pub(super) fn adapts(&self) -> bool {
        !self.holder.frozen && self.job.adapts() && !self.stays
    }

    pub(super) fn trains_all(&self) -> bool {
        !self.holder.frozen && self.job.trains() && !self.job.adapts() && !self.stays
    }

    pub(super) fn quantizes(&self) -> bool {
        self.job.quantizes()
    }

    /// dtype of parameters that are not quantised.
    pub(super) fn element(&self) -> ElementType {
        let numerics = &self.job.numerics;
        let sharding = &self.job.sharding;
        // What a full fine-tuning freezes is not upcast (accelerate utils/fsdp_utils.py `fsdp2_prepare_model`: `param.requires_grad`).
        let stays = sharding.accelerate.is_some() && sharding.scheme == Scheme::Fsdp2 && self.stays;
        // A frozen copy is not prepared for training.
        element_type(match (self.holder.frozen, stays) {
            (true, _) => numerics.frozen,
            (false, true) => sharding.frozen_dtype,
            (false, false) => numerics.unquantized,
        })
    }

    /// dtype of the parameter of the module `name`, which is not quantised and counts as `term`.
    pub(super) fn element_of(&self, term: Term, name: &str) -> ElementType {
        // axolotl loaders/model.py `_convert_embedding_modules_dtype`, loaders/utils.py `get_linear_embedding_layers`.
        const EMBEDDINGS: [&str; 5] = ["embed_tokens", "lm_head", "embed_in", "embed_out", "word_embeddings"];
        let is_upcast = || {
            name.contains("norm")
                || name == "gate"
                || name.ends_with(".gate")
                || EMBEDDINGS.iter().any(|part| name.contains(part))
        };
        let numerics = &self.job.numerics;
        if term == Term::HeadWeights && self.job.model.recorded.program.has_wide_head() {
            return ElementType::F32;
        }
        let embeds = matches!(term, Term::EmbeddingWeights | Term::HeadWeights) && !self.holder.frozen;
        if embeds && numerics.unquantized_embeddings != numerics.unquantized {
            element_type(numerics.unquantized_embeddings)
        } else if numerics.fp32_embeddings_and_norms && is_upcast() {
            ElementType::F32
        } else {
            self.element()
        }
    }

    /// A parameter of the base model.
    pub(super) fn parameter(&mut self, term: Term, name: &str, shape: Shape, tag: LayerTag) -> Tensor {
        let tensor = self.held_parameter((term, self.element_of(term, name)), name, shape, tag);
        self.trained_parameter(tensor, name, tag)
    }

    /// A tensor of the base model in `element`, before it is known whether it trains.
    pub(super) fn held_parameter(
        &mut self,
        (term, element): (Term, ElementType),
        name: &str,
        shape: Shape,
        tag: LayerTag,
    ) -> Tensor {
        let elements = shape.elements().saturating_mul(tag.repeat);
        self.built.counts.base = self.built.counts.base.saturating_add(elements);
        let held = strategy(&self.job.sharding).weight_shape(shape);
        // FSDP2's shards may be wider than what matmuls run in.
        let compute = strategy(&self.job.sharding).compute_element(element);
        let tensor = Tensor::new(self.tape, self.weight_label(term, name), held, element).standing_for(shape, compute);
        if self.quantizes() {
            let bytes = elements.saturating_mul(element.bytes());
            self.built.counts.unquantized_bytes = self.built.counts.unquantized_bytes.saturating_add(bytes);
        }
        tensor
    }

    /// The same once it trains as the job says.
    pub(super) fn trained_parameter(&mut self, tensor: Tensor, name: &str, tag: LayerTag) -> Tensor {
        if self.trains_all() {
            let tensor = self.train(tensor, name, tag, false);
            self.remember(tensor, name, tag)
        } else if self.adapts() && self.job.plan.lora.modules_to_save.iter().any(|saved| names_module(saved, name)) {
            let tensor = self.remember(tensor, name, tag);
            self.trained_copy(tensor, name, tag)
        } else {
            self.remember(tensor, name, tag)
        }
    }

    /// Lists a tensor of parameters.
    pub(super) fn remember(&mut self, tensor: Tensor, name: &str, tag: LayerTag) -> Tensor {
        self.built.parameters.push(Parameter::new(tensor.clone(), name, tag));
        tensor
    }

    /// peft's `modules_to_save`: a copy in the base's dtype that trains in full, beside the frozen original
    /// (utils/other.py ModulesToSaveWrapper).
    pub(super) fn trained_copy(&mut self, original: Tensor, name: &str, tag: LayerTag) -> Tensor {
        let shape = original.shape();
        let label = self.label(Term::AdapterWeights, name);
        let sharding = &self.job.sharding;
        let element = match sharding.accelerate {
            Some(_) => element_type(sharding.shard_dtype),
            None if sharding.is_fsdp() => self.element(),
            None => original.element(),
        };
        let copy = Tensor::new(self.tape, label, strategy(&self.job.sharding).weight_shape(shape), element);
        let copy = copy.standing_for(shape, original.element());
        self.built.held.push(original);
        let elements = shape.elements().saturating_mul(tag.repeat);
        self.built.counts.adapters = self.built.counts.adapters.saturating_add(elements);
        let copy = self.train(copy, name, tag, true);
        self.remember(copy, name, tag)
    }

    /// Makes a leaf of a tensor and remembers it.
    pub(super) fn train(&mut self, tensor: Tensor, name: &str, tag: LayerTag, adapter: bool) -> Tensor {
        let term = if adapter { Term::AdapterGradients } else { Term::WeightGradients };
        let leaf = tensor.into_leaf(Some(self.label(term, name)));
        let elements = leaf.shape().elements().saturating_mul(tag.repeat);
        self.built.counts.trainable = self.built.counts.trainable.saturating_add(elements);
        let prefix = self.holder.prefix;
        let name = if prefix.is_empty() { Rc::from(name) } else { Rc::from(format!("{prefix}.{name}")) };
        self.built.trainable.push(Trainable { tensor: leaf.clone(), tag, name, adapter, outside_layer: false });
        leaf
    }

    /// A norm.
    pub(super) fn norm(&mut self, module: &Module, tag: LayerTag) -> NormWeights {
        let ModuleKind::Norm { width, weight, bias } = module.kind else {
            return NormWeights { name: module.name.clone(), weight: None, bias: None };
        };
        let shape = dims(&[(Sym::H, width)]);
        let weight = weight.then(|| self.parameter(Term::NormWeights, &module.name, shape, tag));
        let bias = bias.then(|| self.parameter(Term::NormWeights, &module.name, shape, tag));
        NormWeights { name: module.name.clone(), weight, bias }
    }

    /// Parameters that belong to no linear layer, norm or table.
    pub(super) fn tensors(&mut self, module: &Module, term: Term, tag: LayerTag) -> Vec<Tensor> {
        let ModuleKind::Tensors { shapes } = &module.kind else { return Vec::new() };
        let mut tensors = Vec::new();
        for (name, sizes) in shapes {
            const SYMBOLS: [Sym; 4] = [Sym::N, Sym::M, Sym::K, Sym::J];
            let (first, rest) = sizes.split_at(sizes.len().min(SYMBOLS.len()));
            let mut pairs: Vec<(Sym, u64)> = SYMBOLS.into_iter().zip(first.iter().copied()).collect();
            // A fifth dimension counts with the last that has a symbol.
            pairs
                .last_mut()
                .into_iter()
                .for_each(|(_, last)| *last = rest.iter().fold(*last, |n, d| n.saturating_mul(*d)));
            let tensor = self.held_parameter((term, self.element_of(term, name)), name, dims(&pairs), tag);
            tensors.push(self.trained_parameter(tensor, name, tag));
        }
        tensors
    }
}
