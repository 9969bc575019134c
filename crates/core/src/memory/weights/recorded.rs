//! The parameters of a recorded block onto the tape, module by module.

use super::builder::{Builder, Place};
use super::modules::{Bare, Expert, NormWeights, OwnerWeights, Part, RecordedBlock};
use crate::job::{AttentionKernel, HeldExperts};
use crate::memory::autograd::{ElementType, Tensor};
use crate::memory::sizes::Sizes;
use crate::memory::term::Term;
use crate::model::{
    BatchSizes, Held, KernelPackages, Layer, ModelPart, Module, ModuleKind, Owner, Recorded, Region, Role, Way,
};
use crate::plan::Method;
use std::sync::Arc;

/// Dimensions of stacked weights; what has fewer is quantised by nobody (axolotl monkeypatch/moe_quant.py).
const STACKED: usize = 3;

impl Builder<'_> {
    /// A block of `of`; `modules`: what the model lists of it.
    pub(super) fn recorded(
        &mut self,
        of: &Arc<Recorded>,
        part: Part,
        (modules, layer): (&[Module], Option<&Layer>),
        place: Place,
    ) -> RecordedBlock {
        let attention = layer.map(|layer| &layer.attention);
        let cached = attention.map(|one| (one.num_key_value_heads, [one.head_dim, one.value_head_dim]));
        let cached = cached.unwrap_or_default();
        let mut block = RecordedBlock { of: Arc::clone(of), part, cached, owners: Vec::new() };
        // What a parameter takes hangs on no batch.
        let sizes = Sizes::of(of, BatchSizes::ONE);
        let owners = match part {
            Part::Before => of.program.before.modules.as_slice(),
            Part::Layer(layer) => of.program.layers.get(layer).map_or(&[][..], |block| block.modules.as_slice()),
            Part::After => of.program.after.modules.as_slice(),
        };
        let shares = self.quantizes() && of.layers_share_weights();
        for (i, owner) in owners.iter().enumerate() {
            if part == Part::After && self.job.lacks_head_layers() && of.program.is_of_head_layers(i) {
                // An embedding model's class has none.
                block.owners.push(OwnerWeights::Bare(Vec::new()));
                continue;
            }
            let module = modules.iter().find(|module| module.name == owner.name);
            self.begin(module);
            let (before, known) = (self.built.trainable.len(), self.built.parameters.len());
            self.is_common = shares && of.program.lies_in_common(&owner.name);
            let owned = self.owner(owner, module, (of, &sizes, layer), place);
            self.is_common = false;
            // Those of an indexer that ranks keys under `torch.no_grad` (modeling_deepseek_v32.py `DeepseekV32Indexer.forward`).
            let is_unreached = owner.parameters.iter().any(|parameter| parameter.is_unreached);
            if is_unreached || self.part == ModelPart::AudioTower || self.bypasses_adapters(of, part, i) {
                self.leave_untouched(before);
            }
            if matches!(part, Part::Layer(layer) if of.program.layers.get(layer).is_some_and(|block| block.is_outside(i)))
            {
                self.built.parameters.iter_mut().skip(known).for_each(|one| one.outside_layer = true);
                self.built.trainable.iter_mut().skip(before).for_each(|one| one.outside_layer = true);
            }
            block.owners.push(owned);
        }
        self.leave();
        block
    }

    /// Whether adapters of a linear layer train in name alone: a kernel reads its weight as it is
    /// (mamba_ssm/ops/triton/ssd_combined.py `MambaSplitConv1dScanCombinedFn`: `outproj_weight`).
    fn bypasses_adapters(&self, of: &Recorded, part: Part, module: usize) -> bool {
        let Part::Layer(layer) = part else { return false };
        let plan = &self.job.plan;
        let is_eager = self.job.attention == AttentionKernel::Eager;
        let way = Way { is_eager, is_wide: false, kernels: plan.software.kernels() };
        let kernels_run = way.kernels != KernelPackages::default();
        kernels_run
            && plan.method != Method::Full
            && of.program.layers.get(layer).is_some_and(|block| block.bypasses(module, way))
    }

    fn owner(
        &mut self,
        owner: &Owner,
        module: Option<&Module>,
        (of, sizes, layer): (&Recorded, &Sizes, Option<&Layer>),
        place: Place,
    ) -> OwnerWeights {
        let tag = place.tag();
        let term = term_of(owner.region, module);
        let linear = module.filter(|module| matches!(module.kind, ModuleKind::Linear { .. }));
        // "all-linear" and quantisation leave out the output head alone (peft utils/other.py `_maybe_include_all_linear_layers`,
        // transformers quantizers/base.py `get_modules_to_not_convert`): projections before the layers are among them.
        let inside = Place::Layer(place.tag());
        let element = |builder: &Self, held: Held| match held {
            Held::In(element) if element != ElementType::Half => element,
            _ => builder.element_of(term, &owner.name),
        };
        if let Some(tied) = self.tied(owner, module, (of, sizes), (term, inside)) {
            return tied;
        }
        let held = owner.parameters.first().map_or(Held::Model, |weight| weight.held);
        let weight = element(self, held);
        if let Some(projection) = linear.and_then(|module| self.projection_in(weight, module, term, inside)) {
            return OwnerWeights::Linear(Box::new(projection));
        }
        if let Some(earlier) = module.and_then(|module| self.earlier_form(module, weight, term, inside)) {
            return earlier;
        }
        let is_bare = module.is_some_and(|module| matches!(module.kind, ModuleKind::Tensors { .. }));
        let packs = self.job.experts == HeldExperts::FourBit
            && self.quantizes()
            && module.is_some_and(|module| module.role == Role::RoutedExperts);
        let mut own: Vec<Option<(Bare, bool)>> = Vec::new();
        for parameter in &owner.parameters {
            if !of.has(parameter) {
                own.push(None);
                continue;
            }
            let name = if is_bare { &parameter.name } else { &owner.name };
            let shape = sizes.shape(parameter.shape);
            if parameter.is_buffer {
                let element = match parameter.held {
                    Held::In(element) => element,
                    Held::Model => self.element(),
                };
                let label = self.weight_label(Term::Buffers, &owner.name);
                own.push(Some((Bare::plain(Tensor::new(self.tape, label, shape, element)), false)));
                continue;
            }
            if packs && shape.sizes().len() == STACKED {
                own.push(Some((self.packed_parameter(name, shape, tag), true)));
                continue;
            }
            let element = element(self, parameter.held);
            let tensor = self.held_parameter((term, element), name, shape, tag);
            let is_frozen = parameter.is_frozen;
            let tensor =
                if is_frozen { self.remember(tensor, name, tag) } else { self.trained_parameter(tensor, name, tag) };
            own.push(Some((Bare::plain(tensor), true)));
        }
        if module.is_some_and(|module| module.role == Role::TokenEmbedding) {
            self.built.parameters.iter_mut().rev().take(1).for_each(|table| table.token_embedding = true);
        }
        let adapters = match (layer, module) {
            (Some(layer), Some(module)) => self.parameter_adapters(layer, module, tag),
            _ => Vec::new(),
        };
        let mut adapters = adapters.into_iter();
        let mut with_adapter = |(bare, is_parameter): (Bare, bool)| Bare {
            adapter: if is_parameter { adapters.next().flatten() } else { None },
            ..bare
        };
        OwnerWeights::Bare(own.into_iter().map(|one| one.map(&mut with_adapter)).collect())
    }
}

impl Builder<'_> {
    /// A linear layer around another's weight, or that one, which stands outside the layers and is run by nothing; `None`: neither.
    fn tied(
        &mut self,
        owner: &Owner,
        module: Option<&Module>,
        (of, sizes): (&Recorded, &Sizes),
        (term, place): (Term, Place),
    ) -> Option<OwnerWeights> {
        let weight = owner.parameters.first()?;
        if let Some(whole) = &weight.of {
            let whole = whole.strip_suffix(".weight")?;
            return Some(OwnerWeights::Linear(Box::new(self.tied_projection(module?, whole, place)?)));
        }
        let shape = sizes.shape(weight.shape);
        let [d_out, d_in] = *shape.sizes() else { return None };
        let has_bias = owner.parameters.get(1).is_some_and(|bias| of.has(bias));
        of.program.has_tied(&owner.name).then(|| {
            self.tied_whole(&owner.name, [d_out, d_in], has_bias, (term, place));
            OwnerWeights::Bare(Vec::new())
        })
    }
}

/// What a module's parameters count as.
fn term_of(region: Region, module: Option<&Module>) -> Term {
    match region {
        Region::Norm | Region::NormOutput => Term::NormWeights,
        Region::Embedding => Term::EmbeddingWeights,
        Region::FeedForward => Term::FeedForwardWeights,
        Region::Experts | Region::Router => Term::ExpertWeights,
        Region::Attention | Region::AttentionOutput | Region::Residual => Term::AttentionWeights,
        Region::Other | Region::Rotary => match module.map(|module| module.role) {
            Some(Role::TokenEmbedding) => Term::EmbeddingWeights,
            _ => Term::AttentionWeights,
        },
    }
}

impl RecordedBlock {
    /// Whether gradient checkpointing runs it again.
    pub(in crate::memory) fn is_checkpointed(&self) -> bool {
        !matches!(self.part, Part::Layer(layer) if !self.of.program.checkpoints(layer))
    }

    /// Whether it is a layer of text whose input the model holds, should it be the first.
    pub(in crate::memory) fn holds_input(&self) -> bool {
        let program = &self.of.program;
        program.holds_input && matches!(self.part, Part::Layer(layer) if !program.is_of_tower(layer))
    }

    /// Whether it is a layer of a tower.
    pub(in crate::memory) fn sees_images(&self) -> bool {
        matches!(self.part, Part::Layer(layer) if self.of.program.is_of_tower(layer))
    }

    /// Parameters and buffers that layers of the program read, as blocks take them: `buffer:NAME`, `parameter:NAME`.
    pub(in crate::memory) fn named_tensors(&self) -> Vec<(String, Tensor)> {
        let program = &self.of.program;
        let is_taken = |name: &String| program.layers.iter().any(|layer| layer.fused.takes.contains(name));
        let modules = self.block().map_or(&[][..], |block| block.modules.as_slice());
        let mut found = Vec::new();
        for (owner, weights) in modules.iter().zip(&self.owners) {
            let OwnerWeights::Bare(own) = weights else { continue };
            for (parameter, held) in owner.parameters.iter().zip(own) {
                let kind = if parameter.is_buffer { "buffer" } else { "parameter" };
                let name = [kind, ":", &owner.name, ".", &parameter.name].concat();
                if let (Some(bare), true) = (held, is_taken(&name)) {
                    found.push((name, bare.tensor.clone()));
                }
            }
        }
        found
    }

    /// Its table of token embeddings.
    pub(super) fn token_embedding(&self, modules: &[Module]) -> Option<Tensor> {
        let name = &modules.iter().find(|module| module.role == Role::TokenEmbedding)?.name;
        let at = self.block()?.modules.iter().position(|owner| owner.name == *name)?;
        match self.owners.get(at)? {
            OwnerWeights::Bare(own) => own.first()?.as_ref().map(|table| table.tensor.clone()),
            OwnerWeights::Linear(_) | OwnerWeights::Experts(_) => None,
        }
    }

    /// Its last norm, as sharding looks for it.
    pub(super) fn last_norm(&self) -> Option<NormWeights> {
        let modules = &self.block()?.modules;
        let at = modules.iter().rposition(|owner| owner.region == Region::Norm)?;
        let OwnerWeights::Bare(own) = self.owners.get(at)? else { return None };
        let mut tensors = own.iter().flatten().map(|bare| bare.tensor.clone());
        let name = modules.get(at)?.name.clone();
        Some(NormWeights { name, weight: tensors.next(), bias: tensors.next() })
    }

    /// The same frozen and without adapters.
    pub(super) fn frozen(&self) -> Self {
        let owner = |owner: &OwnerWeights| match owner {
            OwnerWeights::Linear(projection) => {
                OwnerWeights::Linear(Box::new(super::shared::frozen_projection(projection)))
            }
            OwnerWeights::Bare(own) => {
                let frozen = |bare: &Bare| Bare { tensor: bare.tensor.detach(), adapter: None, ..bare.clone() };
                OwnerWeights::Bare(own.iter().map(|one| one.as_ref().map(frozen)).collect())
            }
            OwnerWeights::Experts(experts) => {
                let frozen = |expert: &Expert| {
                    let [gate, up, down] =
                        [&expert.gate, &expert.up, &expert.down].map(super::shared::frozen_projection);
                    Expert { gate, up, down }
                };
                OwnerWeights::Experts(experts.iter().map(frozen).collect())
            }
        };
        Self { owners: self.owners.iter().map(owner).collect(), ..self.clone() }
    }
}
