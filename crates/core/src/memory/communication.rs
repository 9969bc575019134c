//! Sharding: who keeps which share, and what moving shares takes.
//!
//! Laws of DDP, FSDP2 and DeepSpeed ZeRO as their code allocates on rank 0 of N (DeepSpeed 0.19 runtime/zero,
//! torch.distributed.fsdp), for a sharding that [`crate::job`] resolved. P parameters, T of them trained, w bytes of a weight.

use super::autograd::{ElementType, LayerTag, Shape, Sym, Tape, Tensor, dims};
use super::estimate::HostAllocation;
use super::fsdp2::padded;
use super::term::Term;
use super::weights::{ModelWeights, Parameter, Trainable, element_type};
use super::zero::Limits;
use crate::job::{Scheme, Sharding};
use crate::plan::Plan;
use std::rc::Rc;

impl Sharding {
    /// Copies of all state that the machine's processes hold together.
    fn copies(&self) -> u64 {
        if matches!(self.scheme, Scheme::Ddp) { self.ranks } else { 1 }
    }

    /// This rank's share of a tensor of optimizer state.
    pub(super) fn state_shape(&self, shape: Shape) -> Shape {
        match self.scheme {
            Scheme::Zero(_) | Scheme::Fsdp2 => self.share(shape),
            Scheme::Single | Scheme::Ddp => shape,
        }
    }

    /// This rank's share of a weight; nothing when parameters are offloaded.
    pub(super) fn weight_shape(&self, shape: Shape) -> Shape {
        if self.offload_param {
            dims(&[(Sym::Nothing, 0)])
        } else if self.shards_weights() {
            self.share(shape)
        } else {
            shape
        }
    }

    fn share(&self, shape: Shape) -> Shape {
        if self.ranks == 1 {
            return shape;
        }
        let share = match self.scheme {
            // By rows (`fully_shard`'s Shard(0)).
            Scheme::Fsdp2 => padded(shape, self.ranks) / self.ranks,
            _ => shape.elements().div_ceil(self.ranks),
        };
        dims(&[(Sym::Share, share)])
    }

    /// Decides how much of each gradient this rank keeps after backward.
    pub(super) fn share_gradients(&self, tape: &Tape, trainable: &[Trainable]) {
        match self.scheme {
            Scheme::Single | Scheme::Zero(1) => {}
            Scheme::Ddp => {
                if self.gradient_as_bucket_view {
                    trainable.iter().for_each(|parameter| parameter.keep(0, None));
                }
            }
            // Whole until the group is reduced. What earlier micro-batches left without synchronisation stays in the
            // dtype it is reduced in.
            Scheme::Fsdp2 => {
                trainable.iter().for_each(|parameter| parameter.keep(u64::MAX, Some(element_type(self.reduce_dtype))))
            }
            // Stage 3's gradient shards are resident from the start.
            Scheme::Zero(3) => trainable.iter().for_each(|parameter| parameter.keep(0, None)),
            Scheme::Zero(_) => {
                for (parameter, kept) in trainable.iter().zip(self.partition(tape, trainable)) {
                    // Those that are told go into a bucket, and from there into the partition or to the host.
                    parameter.keep(if self.offload_optimizer || parameter.is_told() { 0 } else { kept }, None);
                }
            }
        }
    }

    /// Buffers that exist as long as training does.
    pub(super) fn standing_buffers(
        &self,
        tape: &Rc<Tape>,
        weights: &ModelWeights,
        trainable: &[Trainable],
    ) -> Vec<Tensor> {
        let outside = tape.tag();
        let mut buffers = Vec::new();
        match self.scheme {
            Scheme::Ddp => {
                for parameter in trainable {
                    let label = tape.label(Term::ReduceBuckets, &parameter.name);
                    tape.enter_layer(parameter.tag);
                    buffers.push(Tensor::new(tape, label, parameter.tensor.shape(), parameter.tensor.element()));
                }
                tape.enter_layer(outside);
            }
            Scheme::Zero(stage) => {
                let bucket = dims(&[(Sym::ReduceBucketSize, self.reduce_bucket_size)]);
                if stage == 3 {
                    buffers.push(Tensor::new(tape, tape.label(Term::ReduceBuckets, ""), bucket, ElementType::Half));
                    if !self.offload_optimizer {
                        for parameter in trainable {
                            let label = tape.label(Term::GradientShard, &parameter.name);
                            tape.enter_layer(parameter.tag);
                            let shape = self.share(parameter.tensor.shape());
                            buffers.push(Tensor::new(tape, label, shape, ElementType::Half));
                        }
                        tape.enter_layer(outside);
                    }
                    let persists = |one: &&Parameter| one.elements() <= self.param_persistence_threshold;
                    let elements = |one: &Parameter| one.elements().saturating_mul(one.tag.repeat);
                    let sum = weights.parameters.iter().filter(persists).map(elements).fold(0, u64::saturating_add);
                    let small = dims(&[(Sym::Persistent, sum)]);
                    buffers.push(Tensor::new(
                        tape,
                        tape.label(Term::GatheredParameters, "persistent"),
                        small,
                        ElementType::Half,
                    ));
                } else if self.offload_optimizer {
                    let largest = largest_elements(trainable);
                    let shape = dims(&[(Sym::Largest, largest)]);
                    buffers.push(Tensor::new(tape, tape.label(Term::OffloadStaging, ""), shape, ElementType::Half));
                }
            }
            Scheme::Single | Scheme::Fsdp2 => {}
        }
        buffers
    }

    /// Whether earlier micro-batches leave gradients in another form than the last one does.
    pub(super) fn shards_gradients(&self) -> bool {
        matches!(self.scheme, Scheme::Zero(_) | Scheme::Fsdp2)
    }

    /// Parameters that ZeRO-3 gathers for forwards beside the one that trains: at most `stage3_max_live_parameters`.
    pub(super) fn gathered(&self, tape: &Rc<Tape>, params: u64) -> Option<Tensor> {
        let label = tape.label(Term::GatheredParameters, "");
        let shape = dims(&[(Sym::Live, params.min(self.max_live_parameters))]);
        (self.scheme == Scheme::Zero(3)).then(|| Tensor::new(tape, label, shape, element_type(self.param_dtype)))
    }

    /// The gradients of earlier micro-batches that rank 0 keeps in stage 2, where they are told.
    pub(super) fn averaged(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Option<Tensor> {
        if self.scheme != Scheme::Zero(2) || self.offload_optimizer {
            return None;
        }
        let kept = trainable.iter().zip(self.partition(tape, trainable)).filter(|(parameter, _)| parameter.is_told());
        let elements =
            kept.map(|(parameter, kept)| kept.saturating_mul(parameter.tag.repeat)).fold(0, u64::saturating_add);
        let label = tape.label(Term::GradientShard, "averaged");
        (elements > 0)
            .then(|| Tensor::new(tape, label, dims(&[(Sym::Share, elements)]), element_type(self.param_dtype)))
    }

    /// What DeepSpeed goes by in stages 2 and 3; `None` for everything else.
    pub(super) fn zero_limits(&self, plan: &Plan) -> Option<Limits> {
        let Scheme::Zero(stage @ (2 | 3)) = self.scheme else { return None };
        Some(Limits {
            stage,
            accumulates: plan.gradient_accumulation_steps > 1,
            buckets: self.reduce_buckets,
            ranks: self.ranks,
            offload_param: self.offload_param,
            offload_optimizer: self.offload_optimizer,
            reduce_bucket: self.reduce_bucket_size,
            prefetch: self.prefetch_bucket_size,
            max_live: self.max_live_parameters,
            max_reuse: self.max_reuse_distance,
            persistence: self.param_persistence_threshold,
            element: element_type(self.param_dtype),
        })
    }

    /// Buffers that backward takes with the first gradients and gives back before the optimizer steps.
    ///
    /// ZeRO-1 and -2 allocate their bucket in full whatever the model's size.
    pub(super) fn backward_buffers(&self) -> Vec<(Term, Shape, ElementType)> {
        let buckets = if matches!(self.scheme, Scheme::Zero(1 | 2)) { self.reduce_buckets } else { 0 };
        let bucket = dims(&[(Sym::ReduceBucketSize, self.reduce_bucket_size)]);
        (0..buckets).map(|_| (Term::ReduceBuckets, bucket, ElementType::Half)).collect()
    }

    /// The same where earlier micro-batches leave them: stage 1 reduces with the last one only.
    pub(super) fn buckets_left(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        if self.scheme != Scheme::Zero(1) {
            return Vec::new();
        }
        let new = |(term, shape, element)| Tensor::new(tape, tape.label(term, ""), shape, element);
        self.backward_buffers().into_iter().map(new).collect()
    }

    /// What the end of backward leaves: with offload, the largest gradient and its norm in fp64 for a moment; in stage
    /// 1, this rank's part of the averaged gradients beside all of them, which then go.
    pub(super) fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        let Scheme::Zero(stage @ (1 | 2)) = self.scheme else { return Vec::new() };
        if self.offload_optimizer {
            let largest = largest_elements(trainable);
            // A gradient larger than the bucket is reduced where it is; others were copied into it.
            let gradient = (largest > self.reduce_bucket_size).then(|| {
                let label = tape.label(Term::OffloadStaging, "gradient");
                Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), ElementType::Half)
            });
            // The norm is that of the gradient's part in this rank's partition (set_norm_for_param_grad_in_gpu).
            let part = dims(&[(Sym::LargestPart, largest.min(total_elements(trainable).div_ceil(self.ranks)))]);
            tape.moment(tape.label(Term::OffloadStaging, "norm"), part, ElementType::F64);
            drop(gradient);
            return Vec::new();
        }
        if stage == 2 {
            return Vec::new();
        }
        // Gradients go into the bucket one by one. When it is full they are joined to be reduced, and after the first time
        // this rank's part has its place.
        let total = total_elements(trainable);
        let own = self.own_elements(tape, trainable);
        let label = tape.label(Term::GradientShard, "");
        let element = trainable.first().map_or(ElementType::Half, |one| one.tensor.element());
        let shard = |elements: u64| Tensor::new(tape, label, dims(&[(Sym::Share, elements)]), element);
        let beside_all = own.saturating_sub(self.first_bucket(tape, trainable));
        let mut shards = vec![shard(beside_all)];
        let outside = tape.tag();
        for parameter in trainable {
            tape.enter_layer(parameter.tag);
            drop(parameter.take_gradient());
        }
        tape.enter_layer(outside);
        if self.ranks > 1 {
            let joined = dims(&[(Sym::TrainedShare, total.min(self.reduce_bucket_size))]);
            tape.moment(tape.label(Term::ReduceBuckets, "joined"), joined, element);
        }
        shards.push(shard(own.saturating_sub(beside_all)));
        shards
    }

    /// Elements of each tensor's gradient that rank 0 keeps whole: parameters are laid end to end in order, and those
    /// that touch its part stay. A simulated layer that stands for several keeps their average.
    fn partition(&self, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
        let partition = total_elements(trainable).div_ceil(self.ranks);
        let mut before = 0u64;
        // How many of the tensors that each stands for.
        let mut whole = vec![0u64; trainable.len()];
        in_order(tape, trainable, |place, elements| {
            if let Some(whole) = whole.get_mut(place) {
                *whole += u64::from(before < partition);
            }
            before = before.saturating_add(elements);
        });
        let kept = |(parameter, whole): (&Trainable, u64)| {
            let share = u128::from(parameter.elements()) * u128::from(whole) / u128::from(parameter.tag.repeat.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        trainable.iter().zip(whole).map(kept).collect()
    }

    /// Elements of all tensors that rank 0's part touches.
    fn own_elements(&self, tape: &Tape, trainable: &[Trainable]) -> u64 {
        let partition = total_elements(trainable).div_ceil(self.ranks);
        let (mut before, mut own) = (0u64, 0u64);
        in_order(tape, trainable, |_, elements| {
            if before < partition {
                own = own.saturating_add(elements);
            }
            before = before.saturating_add(elements);
        });
        own
    }

    /// Elements of the gradients that are copied into the bucket before it is reduced for the first time, in the model's
    /// order: none where the first is larger than the bucket and reduced where it is.
    fn first_bucket(&self, tape: &Tape, trainable: &[Trainable]) -> u64 {
        let (mut filled, mut full) = (0u64, false);
        in_order(tape, trainable, |_, elements| {
            full |= filled.saturating_add(elements) > self.reduce_bucket_size;
            if !full {
                filled = filled.saturating_add(elements);
            }
        });
        filled
    }

    /// What DeepSpeed's step writes: the flat gradient of the partition in bf16 and in fp32, or the fp64 norm of the
    /// largest piece; stage 3 by sub-groups.
    pub(super) fn step_buffers(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
        let own = total_elements(trainable).div_ceil(self.ranks);
        let pair = |elements: u64| {
            let shape = dims(&[(Sym::TrainedShare, elements)]);
            vec![Tensor::new(tape, label, shape, ElementType::Half), Tensor::new(tape, label, shape, ElementType::F32)]
        };
        match self.scheme {
            Scheme::Zero(_) if self.offload_optimizer => Vec::new(),
            Scheme::Zero(1 | 2) => {
                let largest = trainable.iter().map(Trainable::elements).max().unwrap_or(0).min(own);
                if largest.saturating_mul(8) > own.saturating_mul(6) {
                    vec![Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), ElementType::F64)]
                } else {
                    pair(own)
                }
            }
            Scheme::Zero(_) => pair(own.min(self.sub_group_size)),
            _ => Vec::new(),
        }
    }

    /// Host memory of offloaded state, all processes of one machine (`ranks` of them).
    pub(super) fn host(&self, trained: u64, params: u64, paged: Option<(u64, u64)>) -> Vec<HostAllocation> {
        if let Some((elements, width)) = paged {
            // Managed memory: on the host until the optimizer's step brings pages to the card.
            return vec![part(Term::HostOptimizerStates, width, elements.saturating_mul(self.copies()), false)];
        }
        if !self.offload_optimizer {
            return Vec::new();
        }
        let stage = match self.scheme {
            Scheme::Zero(stage) => stage,
            Scheme::Fsdp2 => {
                let width = self.shard_dtype.bytes();
                return vec![
                    part(Term::HostParameters, width, params, true),
                    part(Term::HostGradients, width, trained, true),
                    part(Term::HostOptimizerStates, 2 * width, trained, false),
                ];
            }
            Scheme::Single | Scheme::Ddp => return Vec::new(),
        };
        let pinned = self.pin_memory;
        let mut parts = vec![
            // DeepSpeedCPUAdam: two fp32 moments, pageable.
            part(Term::HostOptimizerStates, 8, trained, false),
            part(Term::HostParameters, 4, trained, pinned),
            part(Term::HostGradients, 4, trained, pinned),
        ];
        if stage == 3 {
            parts.push(part(Term::HostGradients, 2, trained, pinned));
        }
        if self.offload_param {
            parts.push(part(Term::HostParameters, 2, params, pinned));
        }
        parts
    }
}

fn part(term: Term, width: u64, elements: u64, pinned: bool) -> HostAllocation {
    let bytes = elements.saturating_mul(width);
    HostAllocation {
        term,
        bytes,
        pinned,
        formula: format!("{} × {width} B", if term == Term::HostParameters && width < 4 { "P" } else { "T" }),
        formula_with_numbers: format!("{elements} × {width} B"),
    }
}

/// Tells `visit` the parameters of all layers in the model's order: place in `trainable` of the one that stands for each,
/// and its elements.
fn in_order(tape: &Tape, trainable: &[Trainable], mut visit: impl FnMut(usize, u64)) {
    let mut first = 0;
    for own in trainable.chunk_by(|one, other| one.tag.model == other.tag.model) {
        let layers = own.chunk_by(|one, other| one.tag == other.tag);
        let tags: Vec<LayerTag> = layers.filter_map(|of| Some(of.first()?.tag)).collect();
        tape.in_order(&tags, |tag, count| {
            for _ in 0..count {
                for (place, parameter) in own.iter().enumerate().filter(|(_, parameter)| parameter.tag == tag) {
                    visit(first + place, parameter.elements());
                }
            }
        });
        first += own.len();
    }
}

fn total_elements(trainable: &[Trainable]) -> u64 {
    let of = |parameter: &Trainable| parameter.elements().saturating_mul(parameter.tag.repeat);
    trainable.iter().map(of).fold(0, u64::saturating_add)
}

fn largest_elements(trainable: &[Trainable]) -> u64 {
    trainable.iter().map(Trainable::elements).max().unwrap_or(0)
}
