//! ZeRO-3: weights, gradients and optimizer state in shares (runtime/zero/stage3.py, partition_parameters.py).
//!
//! DeepSpeed hangs hooks on every module (runtime/zero/parameter_offload.py `_register_deepspeed_module`). Its
//! [`coordinator`] plans ahead by the trace of an earlier step, so it cannot act while the tape is written: the tape notes
//! when hooks run, and [`gathering`] afterwards puts in what is gathered, freed and reduced.

mod coordinator;
mod gathering;

use super::super::autograd::{ElementType, Record, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameter, Trainable};
use super::super::phase::Phase;
use super::super::precision::element_type;
use super::super::term::Term;
use super::deepspeed;
use super::hooks::Modules;
use super::strategy::{Elements, OnHost, Strategy, nothing};
use super::unroll::{Acts, Hooked, unroll};
use crate::job::Sharding;
use std::rc::Rc;

/// Everything in shares.
#[derive(Debug)]
pub(super) struct Zero3<'a>(pub(super) &'a Sharding);

impl Zero3<'_> {
    /// dtype of the gradient shards.
    fn sums(&self) -> ElementType {
        if self.0.accumulates_apart() { element_type(self.0.grad_accum_dtype) } else { ElementType::Half }
    }

    /// Parameters that are never partitioned again once gathered (`persistent_parameters`).
    fn persistent(&self, parameters: &[Parameter]) -> Shape {
        let persists = |one: &&Parameter| one.elements() <= self.0.param_persistence_threshold;
        let elements = |one: &Parameter| one.elements().saturating_mul(one.tag.repeat);
        let sum = parameters.iter().filter(persists).map(elements).fold(0, u64::saturating_add);
        dims(&[(Sym::Persistent, sum)])
    }
}

impl Strategy for Zero3<'_> {
    fn weight_shape(&self, whole: Shape) -> Shape {
        if self.0.offload_param { nothing() } else { deepspeed::share(self.0, whole) }
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

    fn standing_buffers(&self, tape: &Rc<Tape>, parameters: &[Parameter], trainable: &[Trainable]) -> Vec<Tensor> {
        let outside = tape.tag();
        let bucket = deepspeed::bucket_shape(self.0);
        let mut buffers = vec![Tensor::new(tape, tape.label(Term::ReduceBuckets, ""), bucket, ElementType::Half)];
        if !self.0.offload_optimizer {
            for parameter in trainable {
                let label = tape.label(Term::GradientShard, &parameter.name);
                tape.enter_layer(parameter.tag);
                let shape = deepspeed::share(self.0, parameter.tensor.shape());
                buffers.push(Tensor::new(tape, label, shape, self.sums()));
            }
            tape.enter_layer(outside);
        }
        let label = tape.label(Term::GatheredParameters, "persistent");
        buffers.push(Tensor::new(tape, label, self.persistent(parameters), ElementType::Half));
        buffers
    }

    fn step_buffers(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        if self.0.offload_optimizer {
            return Vec::new();
        }
        // By sub-groups.
        let part = deepspeed::total_elements(trainable).div_ceil(self.0.ranks);
        let elements = part.min(self.0.sub_group_size);
        if self.0.accumulates_apart() {
            let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
            let shape = dims(&[(Sym::TrainedShare, elements)]);
            return vec![Tensor::new(tape, label, shape, element_type(self.0.grad_accum_dtype))];
        }
        deepspeed::flat_gradients(tape, elements)
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        let mut parts = deepspeed::offloaded_optimizer(self.0, elements);
        if self.0.offload_optimizer {
            parts.push(OnHost::trained(elements.trained).allocation(
                Term::HostGradients,
                self.sums().bytes(),
                self.0.pin_memory,
            ));
        }
        if self.0.offload_param {
            parts.push(OnHost::params(elements.params).allocation(Term::HostParameters, 2, self.0.pin_memory));
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

    fn hook(&self, tape: &Rc<Tape>, parameters: &[Parameter]) -> Option<Rc<Modules>> {
        tape.zero3_linear.set(true);
        Some(Modules::new(tape, parameters, true))
    }

    fn unroll(&self, hooked: Hooked<'_>, acts: &mut Option<Acts>) -> Record {
        unroll(hooked, element_type(self.0.param_dtype), acts, |start| {
            Box::new(gathering::Gathering::new(self.0, start))
        })
    }
}
