//! ZeRO-3: weights, gradients and optimizer state in shares (runtime/zero/stage3.py, partition_parameters.py).
//!
//! DeepSpeed hangs hooks on every module (runtime/zero/parameter_offload.py `_register_deepspeed_module`). Its
//! [`coordinator`] plans ahead by the trace of an earlier step, so it cannot act while the tape is written: the tape notes
//! when hooks run, and [`gathering`] afterwards puts in what is gathered, freed and reduced.

mod coordinator;
mod gathering;

use super::super::autograd::{ElementType, Shape, Sym, Tape, TapeRecord, Tensor, dims};
use super::super::estimate::HostAllocation;
use super::super::phase::Phase;
use super::super::term::Term;
use super::super::weights::{ModelWeights, Parameter, Trainable, element_type};
use super::unroll::{Acts, unroll};
use super::{Elements, Hooked, Modules, Strategy, deepspeed, host_allocation};
use crate::job::Sharding;
use std::rc::Rc;

/// Everything in shares.
#[derive(Debug)]
pub(super) struct Zero3<'a>(pub(super) &'a Sharding);

impl Zero3<'_> {
    /// Parameters that are never partitioned again once gathered (`persistent_parameters`).
    fn persistent(&self, weights: &ModelWeights) -> Shape {
        let persists = |one: &&Parameter| one.elements() <= self.0.param_persistence_threshold;
        let elements = |one: &Parameter| one.elements().saturating_mul(one.tag.repeat);
        let sum = weights.parameters.iter().filter(persists).map(elements).fold(0, u64::saturating_add);
        dims(&[(Sym::Persistent, sum)])
    }
}

impl Strategy for Zero3<'_> {
    fn weight_shape(&self, whole: Shape) -> Shape {
        if self.0.offload_param { super::nothing() } else { deepspeed::share(self.0, whole) }
    }

    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    fn shard_gradients(&self, _tape: &Tape, trainable: &[Trainable]) {
        // Gradient shards are resident from the start.
        trainable.iter().for_each(|parameter| parameter.keep(0, None));
    }

    fn leaves_other_gradients(&self) -> bool {
        true
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, weights: &ModelWeights, trainable: &[Trainable]) -> Vec<Tensor> {
        let outside = tape.tag();
        let bucket = deepspeed::bucket_shape(self.0);
        let mut buffers = vec![Tensor::new(tape, tape.label(Term::ReduceBuckets, ""), bucket, ElementType::Half)];
        if !self.0.offload_optimizer {
            for parameter in trainable {
                let label = tape.label(Term::GradientShard, &parameter.name);
                tape.enter_layer(parameter.tag);
                let shape = deepspeed::share(self.0, parameter.tensor.shape());
                buffers.push(Tensor::new(tape, label, shape, ElementType::Half));
            }
            tape.enter_layer(outside);
        }
        let label = tape.label(Term::GatheredParameters, "persistent");
        buffers.push(Tensor::new(tape, label, self.persistent(weights), ElementType::Half));
        buffers
    }

    fn step_buffers(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        if self.0.offload_optimizer {
            return Vec::new();
        }
        // By sub-groups.
        let part = deepspeed::total_elements(trainable).div_ceil(self.0.ranks);
        deepspeed::flat_gradients(tape, part.min(self.0.sub_group_size))
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        let mut parts = deepspeed::offloaded_optimizer(self.0, elements);
        if self.0.offload_optimizer {
            parts.push(host_allocation(Term::HostGradients, 2, elements.trained, self.0.pin_memory));
        }
        if self.0.offload_param {
            parts.push(host_allocation(Term::HostParameters, 2, elements.params, self.0.pin_memory));
        }
        parts
    }

    /// At most `stage3_max_live_parameters`.
    fn gathered(&self, tape: &Rc<Tape>, params: u64) -> Option<Tensor> {
        let label = tape.label(Term::GatheredParameters, "");
        let shape = dims(&[(Sym::Live, params.min(self.0.max_live_parameters))]);
        Some(Tensor::new(tape, label, shape, element_type(self.0.param_dtype)))
    }

    /// trl models/utils.py `unwrap_model_for_generation` brings all parameters together (`ds3_gather_for_generation`).
    fn gathered_to_generate(&self, tape: &Rc<Tape>, params: u64) -> Option<Tensor> {
        tape.enter(Phase::Prefill);
        let label = tape.label(Term::GatheredParameters, "ds3_gather_for_generation");
        Some(Tensor::new(tape, label, dims(&[(Sym::P, params)]), element_type(self.0.param_dtype)))
    }

    fn acts_on_hooks(&self) -> bool {
        true
    }

    fn hook(&self, tape: &Rc<Tape>, weights: &mut ModelWeights) -> Option<Rc<Modules>> {
        tape.zero3_linear.set(true);
        let modules = Modules::new(tape, &weights.parameters);
        weights.zero3 = Some(Rc::clone(&modules));
        Some(modules)
    }

    fn unroll(&self, hooked: Hooked<'_>, acts: &mut Option<Acts>) -> TapeRecord {
        unroll(hooked, element_type(self.0.param_dtype), acts, |start| {
            Box::new(gathering::Gathering::new(self.0, start))
        })
    }
}
