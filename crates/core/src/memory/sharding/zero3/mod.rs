//! ZeRO-3: weights, gradients and optimizer state in shares (runtime/zero/stage3.py, partition_parameters.py).
//!
//! DeepSpeed hangs hooks on every module (runtime/zero/parameter_offload.py `_register_deepspeed_module`). Its
//! [`coordinator`] plans ahead by the trace of an earlier step, so it cannot act while the tape is written: the tape notes
//! when hooks run, and [`gathering`] afterwards puts in what is gathered, freed and reduced.

mod coordinator;
mod gathering;

use super::super::autograd::{ElementType, Record, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameter, Parameters, Trainable};
use super::super::phase::Phase;
use super::super::precision::element_type;
use super::super::term::Term;
use super::hooks::Modules;
use super::strategy::{Elements, OnHost, Strategy, nothing};
use super::unroll::{Acts, Hooked, unroll};
use super::{deepspeed, flat};
use crate::job::Sharding;
use std::rc::Rc;

/// Everything in shares.
#[derive(Debug)]
pub(super) struct Zero3<'a>(pub(super) &'a Sharding);

impl Zero3<'_> {
    /// dtype of the gradient shards.
    fn sums(&self) -> ElementType {
        element_type(self.0.grad_accum_dtype)
    }

    /// Parameters that are never partitioned again once gathered (`persistent_parameters`), by dtype.
    fn persistent(&self, parameters: &[Parameter]) -> impl Iterator<Item = (Shape, ElementType)> {
        let weights = element_type(self.0.param_dtype);
        let sum = |element: ElementType| {
            let persists = |one: &&Parameter| {
                one.elements() <= self.0.param_persistence_threshold && one.apart.unwrap_or(weights) == element
            };
            let elements = |one: &Parameter| one.elements().saturating_mul(one.tag.repeat);
            parameters.iter().filter(persists).map(elements).fold(0, u64::saturating_add)
        };
        let of = |element| (element, sum(element));
        let sums = [ElementType::Half, ElementType::F32, ElementType::Byte].map(of).into_iter();
        sums.filter(move |(element, sum)| *element == weights || *sum > 0)
            .map(|(element, sum)| (dims(&[(Sym::Persistent, sum)]), element))
    }
}

impl Zero3<'_> {
    /// Elements of this rank's share of each parameter that trains (`partition_numel`).
    fn shares(&self, trainable: &[Trainable]) -> impl Iterator<Item = u64> {
        trainable.iter().map(|parameter| parameter.elements().div_ceil(self.0.ranks))
    }

    /// Elements of each sub-group: whole shares until `sub_group_size` is reached (`_create_fp16_sub_groups`).
    fn sub_groups(&self, trainable: &[Trainable]) -> Vec<u64> {
        let mut groups = vec![0u64];
        for share in self.shares(trainable) {
            match groups.last_mut() {
                Some(last) if *last < self.0.sub_group_size => *last = last.saturating_add(share),
                _ => groups.push(share),
            }
        }
        groups
    }

    /// What exists as long as training does, in the order in which it is made (`DeepSpeedZeroOptimizer_Stage3.__init__`):
    /// the flat shares, their fp32 copies, a gradient that is freed again (`initialize_optimizer_states`), the bucket, the
    /// gradients' shares; the parameters that are never partitioned again, which come at the end of the first step.
    fn flat_buffers(&self, tape: &Rc<Tape>, parameters: &[Parameter], trainable: &[Trainable]) -> Vec<Tensor> {
        let (sharding, element) = (self.0, element_type(self.0.param_dtype));
        let total = self.shares(trainable).fold(0, u64::saturating_add);
        let on_gpu = |offloaded: bool| if offloaded { 0 } else { total };
        let trained = element_type(sharding.shard_dtype);
        let mut buffers = vec![flat::parameters(
            tape,
            &trainable.iter().collect::<Vec<_>>(),
            on_gpu(sharding.offload_param),
            trained,
        )];
        let groups = self.sub_groups(trainable);
        if !sharding.offload_optimizer {
            buffers.extend(groups.iter().map(|elements| flat::master(tape, *elements)));
            let largest = groups.iter().copied().max().unwrap_or(0);
            tape.mark(|marks, at| marks.framework = Some(at));
            tape.moment(tape.label(Term::OptimizerTemporaries, "flat gradient"), flat::part(largest), ElementType::F32);
        }
        let bucket = deepspeed::bucket_shape(sharding);
        buffers.push(Tensor::new(tape, tape.label(Term::ReduceBuckets, ""), bucket, element));
        let label = tape.label(Term::GradientShard, "flat");
        let sums = if sharding.accumulates_apart() { self.sums() } else { element };
        buffers.push(Tensor::new(tape, label, flat::part(on_gpu(sharding.offload_optimizer)), sums));
        let persists = |one: &&Parameter| one.elements() <= sharding.param_persistence_threshold;
        let gather = |one: &Parameter| {
            let label = tape.label(Term::GatheredParameters, &one.name);
            Tensor::new(tape, label, one.tensor.shape(), one.apart.unwrap_or(element))
        };
        buffers.extend(parameters.iter().filter(persists).map(gather));
        buffers
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

    fn standing_buffers(&self, tape: &Rc<Tape>, parameters: &Parameters<'_>, trainable: &[Trainable]) -> Vec<Tensor> {
        if flat::is_replayed(tape) {
            return self.flat_buffers(tape, parameters.all, trainable);
        }
        let outside = tape.tag();
        let bucket = deepspeed::bucket_shape(self.0);
        let mut buffers =
            vec![Tensor::new(tape, tape.label(Term::ReduceBuckets, ""), bucket, element_type(self.0.param_dtype))];
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
        let persistent = self.persistent(parameters.all);
        buffers.extend(persistent.map(|(shape, element)| Tensor::new(tape, label, shape, element)));
        buffers
    }

    fn flat_partitions(&self, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
        if flat::is_replayed(tape) { self.sub_groups(trainable) } else { Vec::new() }
    }

    fn flatten_gradients(&self, tape: &Rc<Tape>, trainable: &[Trainable], gradients: Vec<Tensor>) -> Vec<Tensor> {
        if self.0.offload_optimizer {
            return gradients;
        }
        if flat::is_replayed(tape) {
            flat::measure(tape, self.shares(trainable));
            let several = trainable.len() > 1;
            let mut held = None;
            for elements in self.sub_groups(trainable) {
                drop(held.take());
                held = if self.0.accumulates_apart() {
                    // Joined, they are in the optimizer's dtype already.
                    several.then(|| flat::sum(tape, elements, self.sums()))
                } else {
                    flat::gradient(tape, elements, element_type(self.0.param_dtype), several)
                };
            }
            return held.into_iter().chain(gradients).collect();
        }
        // By sub-groups.
        let part = deepspeed::total_elements(trainable).div_ceil(self.0.ranks);
        let elements = part.min(self.0.sub_group_size);
        let mut held = if self.0.accumulates_apart() {
            let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
            let shape = dims(&[(Sym::TrainedShare, elements)]);
            vec![Tensor::new(tape, label, shape, element_type(self.0.grad_accum_dtype))]
        } else {
            deepspeed::flat_gradients(self.0, tape, elements)
        };
        held.extend(gradients);
        held
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
