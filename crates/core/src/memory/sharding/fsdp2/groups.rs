//! What FSDP2 does where the hooks of its groups run: when each is gathered and freed, and its gradients reduced.
//!
//! The order of allocations and frees is that of torch/distributed/fsdp/_fully_shard in PyTorch 2.15:
//! `FSDPParamGroup.unshard`, `wait_for_unshard`, `reshard`, `pre_backward`, `post_backward` and `foreach_reduce`.

use super::super::super::autograd::{ElementType, Extent, Shape, Stream, Sym, Tape, Tensor, dims};
use super::super::super::parameter::{Parameter, Trainable};
use super::super::super::precision::element_type;
use super::super::super::term::Term;
use super::super::groups::{Collectives, Members, Place, common};
use crate::job::Sharding;
use crate::order;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// `FSDPCommContext.all_gather_copy_in_stream`: all-gathers' inputs and outputs. The all-gather runs on a stream of its own,
/// `all_gather_stream`, which asks for nothing.
const COPY_IN: Stream = Stream::side(1);
/// `FSDPCommContext.reduce_scatter_stream`: reduced gradients. What is reduced is asked on the compute stream.
const REDUCE_SCATTER: Stream = Stream::side(2);
/// `FSDPCommContext.all_reduce_stream` of HSDP: gradients averaged over all copies of the model, in the dtype of the shards.
const ALL_REDUCE: Stream = Stream::side(3);

/// All groups of a model and what they share.
#[derive(Debug)]
pub(super) struct ParamGroups {
    tape: Rc<Tape>,
    ranks: u64,
    /// Reduced gradients are averaged over several copies of the model.
    replicated: bool,
    offload: bool,
    /// Gradients are reduced, and not left to a later micro-batch (`set_requires_gradient_sync`).
    reduces: bool,
    reduce: ElementType,
    shard: ElementType,
    /// In the order forward leaves them.
    groups: Vec<Group>,
    /// The last all-gather's output: kept until the next group has copied its own out (`all_gather_state`).
    retained: RefCell<Option<Tensor>>,
    /// Input of the last reduce-scatter: kept until the next one (`reduce_scatter_states`, one by default).
    reducing: RefCell<Option<Tensor>>,
    /// What was all-reduced, in the dtype of the reduction: each group's until backward has ended (`AllReduceState`), wherever
    /// its gradients are.
    all_reduced: RefCell<Vec<Tensor>>,
    /// Reduced gradients.
    gradients: RefCell<Vec<Tensor>>,
}

/// Parameters that travel together.
#[derive(Debug)]
struct Group {
    place: Place,
    /// Its parameters are freed between forward and backward.
    reshard: bool,
    parameters: Vec<Gathered>,
    trainable: Vec<Trainable>,
    /// The parameters, each copied out of the all-gather's output.
    gathered: RefCell<Vec<Tensor>>,
    /// An all-gather's output that has not been copied out yet.
    in_flight: RefCell<Option<Tensor>>,
    reduced: Cell<bool>,
}

/// One parameter of a group.
#[derive(Debug, Clone, Copy)]
struct Gathered {
    /// Its rows rounded up to a multiple of the ranks.
    elements: u64,
    /// dtype of its shards.
    kept: ElementType,
    /// dtype it is gathered in.
    element: ElementType,
}

/// Elements of a tensor whose rows are split among `ranks` evenly, with padding (`_get_dim0_padded_size`).
pub(super) fn padded(shape: Shape, ranks: u64) -> u64 {
    let rows = shape.sizes().first().map_or(1, |rows| *rows).max(1);
    let row = shape.elements() / rows;
    rows.div_ceil(ranks).saturating_mul(ranks).saturating_mul(row)
}

impl ParamGroups {
    /// `members` in the order forward leaves them, each freed between forward and backward or not.
    pub(super) fn new(tape: &Rc<Tape>, sharding: &Sharding, members: Vec<(Members<'_>, bool)>, reduces: bool) -> Self {
        let ranks = sharding.ranks;
        let (trained, frozen) = (element_type(sharding.shard_dtype), element_type(sharding.frozen_dtype));
        let gathered_as = sharding.gathered_dtype.map(element_type);
        let gathered = |parameter: &&Parameter| {
            let kept = if parameter.tensor.requires_grad() { trained } else { frozen };
            let element = gathered_as.unwrap_or(kept);
            Gathered { elements: padded(parameter.tensor.shape(), ranks), kept, element }
        };
        let group = |(members, reshard): (Members<'_>, bool)| Group {
            place: members.place,
            reshard,
            parameters: members.parameters.iter().map(gathered).collect(),
            trainable: members.trainable,
            gathered: RefCell::default(),
            in_flight: RefCell::default(),
            reduced: Cell::new(false),
        };
        Self {
            tape: Rc::clone(tape),
            ranks,
            replicated: sharding.replicas > 1,
            offload: sharding.offload_param,
            reduces,
            reduce: element_type(sharding.reduce_dtype),
            shard: trained,
            groups: members.into_iter().map(group).collect(),
            retained: RefCell::default(),
            reducing: RefCell::default(),
            all_reduced: RefCell::default(),
            gradients: RefCell::default(),
        }
    }

    fn tensor(&self, term: Term, name: &str, symbol: Sym, elements: u64, element: ElementType) -> Tensor {
        Tensor::new(&self.tape, self.tape.label(term, name), dims(&[(symbol, elements)]), element)
    }

    /// Begins an all-gather, unless the parameters are there or on their way.
    fn unshard(&self, group: &Group) {
        if !group.gathered.borrow().is_empty() || group.in_flight.borrow().is_some() {
            return;
        }
        // One process gathers nothing.
        let output = match self.ranks {
            1 => self.tensor(Term::GatheredParameters, "", Sym::Nothing, 0, ElementType::Byte),
            _ => self.tape.on(COPY_IN, || self.all_gather(group)),
        };
        group.in_flight.replace(Some(output));
    }

    /// `foreach_all_gather`.
    fn all_gather(&self, group: &Group) -> Tensor {
        let shards = |of: &dyn Fn(&Gathered) -> ElementType, which: &dyn Fn(&&Gathered) -> bool| {
            let (elements, element) = group.joined(of, which);
            (elements > 0).then(|| {
                let elements = elements / self.ranks;
                self.tensor(Term::GatheredParameters, "shard", Sym::Share, elements, element)
            })
        };
        let kept = |parameter: &Gathered| parameter.kept;
        let element = |parameter: &Gathered| parameter.element;
        // The shards in the dtype that is gathered (`_get_param_all_gather_inputs`); offloaded ones come to the GPU.
        let moved = if self.offload { shards(&kept, &|_| true) } else { None };
        let cast = shards(&element, &|parameter| parameter.kept != parameter.element);
        let (elements, element) = group.joined(&element, &|_| true);
        let output = self.tensor(Term::GatheredParameters, "all-gather", group.place.symbol(), elements, element);
        drop((cast, moved));
        output
    }

    /// Copies the parameters out of the all-gather's output. Forward keeps that output until the next group has done so,
    /// backward frees it at once.
    fn wait_for_unshard(&self, group: &Group, forward: bool) {
        let Some(output) = group.in_flight.take() else { return };
        if self.ranks == 1 {
            group.gathered.replace(self.copy_of_shards(group));
            return;
        }
        if forward {
            self.retained.take();
        }
        group.gathered.replace(self.copies(group));
        if forward {
            self.retained.replace(Some(output));
        }
    }

    /// The parameters, copied out of the all-gather's output.
    fn copies(&self, group: &Group) -> Vec<Tensor> {
        let symbol = group.place.symbol();
        let copy = |(elements, element): (u64, ElementType)| {
            self.tensor(Term::GatheredParameters, symbol.text(), symbol, elements, element)
        };
        // Each parameter has a block of its own (`alloc_all_gather_outputs`), which matters where blocks are cut; the ledger
        // names the group.
        if self.tape.extent == Extent::Whole {
            group.parameters.iter().map(|one| copy((one.elements, one.element))).collect()
        } else {
            vec![copy(group.joined(&|one| one.element, &|_| true))]
        }
    }

    /// The parameters of a process that is alone: each a copy of its shard, cast before where it is kept in another dtype.
    /// A cast is held until the next one is there.
    fn copy_of_shards(&self, group: &Group) -> Vec<Tensor> {
        let symbol = group.place.symbol();
        let copy =
            |name: &str, one: &Gathered| self.tensor(Term::GatheredParameters, name, symbol, one.elements, one.element);
        let mut cast = None;
        let copies = group.parameters.iter().map(|one| {
            let own = (one.kept != one.element).then(|| copy("shard", one));
            drop(std::mem::replace(&mut cast, own));
            copy(symbol.text(), one)
        });
        copies.collect()
    }

    /// `foreach_reduce`: this rank's share, in the dtype of the shards.
    fn reduce_scatter(&self, group: &Group, share: u64) -> Tensor {
        let name = group.place.symbol().text();
        let reduced = self.tensor(Term::GradientShard, name, Sym::Share, share, self.reduce);
        if self.replicated {
            self.all_reduced.borrow_mut().push(reduced.clone());
        }
        if self.reduce == self.shard || self.offload {
            return reduced;
        }
        let cast = || self.tensor(Term::GradientShard, name, Sym::Share, share, self.shard);
        if self.replicated { self.tape.on(ALL_REDUCE, cast) } else { cast() }
    }
}

impl Group {
    /// Elements of some of its parameters, and the dtype they have in common; otherwise bytes.
    fn joined(&self, of: &dyn Fn(&Gathered) -> ElementType, which: &dyn Fn(&&Gathered) -> bool) -> (u64, ElementType) {
        let own = || self.parameters.iter().filter(which);
        let element = common(own().map(of));
        let size = |one: &Gathered| one.elements.saturating_mul(of(one).bytes() / element.bytes().max(1));
        (own().map(size).fold(0, u64::saturating_add), element)
    }
}

impl Drop for ParamGroups {
    /// What a forward without a backward leaves gathered goes within its layers: what a simulated one holds stands for all its equals'.
    fn drop(&mut self) {
        let outside = self.tape.tag();
        for group in &self.groups {
            let held = (group.gathered.take(), group.in_flight.take());
            if !held.0.is_empty() || held.1.is_some() {
                self.tape.enter_layer(group.place.tag());
            }
            drop(held);
        }
        self.tape.enter_layer(outside);
    }
}

impl Collectives for ParamGroups {
    fn before_forward(&self, group: usize) {
        let Some(group) = self.groups.get(group) else { return };
        self.unshard(group);
        self.wait_for_unshard(group, true);
    }

    fn after_forward(&self, group: usize) {
        if let Some(group) = self.groups.get(group)
            && group.reshard
        {
            group.gathered.take();
        }
    }

    /// What is retained for overlap goes too.
    fn end_forward(&self) {
        self.retained.take();
    }

    /// `FSDPParamGroup.reshard` returns at once where parameters stay after forward, and all else that frees them is part of backward; the
    /// next forward's `unshard` finds them there.
    fn gather_what_stays(&self) {
        for group in self.groups.iter().filter(|group| !group.reshard) {
            self.tape.enter_layer(group.place.tag());
            if self.tape.extent == Extent::Whole {
                self.unshard(group);
                self.wait_for_unshard(group, true);
            } else {
                // The ledger has steady steps alone.
                group.gathered.replace(self.copies(group));
            }
        }
        self.end_forward();
    }

    /// Gathers a group's parameters again and begins to gather those of the group that ran before it.
    fn before_backward(&self, index: usize) {
        let Some(group) = self.groups.get(index) else { return };
        self.unshard(group);
        self.wait_for_unshard(group, false);
        if let Some(next) = index.checked_sub(1).and_then(|before| self.groups.get(before)) {
            self.unshard(next);
        }
    }

    /// Frees a group's parameters and reduces its gradients to this rank's share.
    fn after_backward(&self, index: usize) {
        let Some(group) = self.groups.get(index) else { return };
        group.reduced.set(true);
        if !self.reduces {
            group.gathered.take();
            return;
        }
        let gradients: Vec<(u64, Tensor)> = group
            .trainable
            .iter()
            .filter_map(|parameter| {
                let gradient = parameter.take_gradient()?;
                Some((padded(parameter.tensor.shape(), self.ranks), gradient))
            })
            .collect();
        group.gathered.take();
        self.reducing.take();
        if gradients.is_empty() {
            return;
        }
        let elements = gradients.iter().map(|(elements, _)| *elements).fold(0, u64::saturating_add);
        let symbol = group.place.symbol();
        self.reducing.replace(Some(self.tensor(Term::ReduceBuckets, "reduce-scatter", symbol, elements, self.reduce)));
        drop(gradients);
        let gradient = self.tape.on(REDUCE_SCATTER, || self.reduce_scatter(group, elements / self.ranks));
        if !self.offload {
            self.gradients.borrow_mut().push(gradient);
        }
    }

    fn take(&self, _group: usize, _gradient: Tensor) {}

    /// The root, and groups whose input wanted no gradient, are reduced now (`_root_post_backward_final_callback`): in the
    /// order of the modules that they are around, a tail with the embedding before the layers.
    fn end_backward(&self) -> Vec<Tensor> {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        let rank = |index: &usize| match self.groups.get(*index).map(|group| group.place) {
            Some(Place::Root) => 0,
            Some(Place::Tail { shared: true }) => 1,
            _ => 2,
        };
        order::sort(&mut order, |one, other| rank(one).cmp(&rank(other)));
        for index in order {
            let Some(group) = self.groups.get(index) else { continue };
            if !group.reduced.get() {
                self.tape.enter_layer(group.place.tag());
                self.after_backward(index);
            }
        }
        self.reducing.take();
        self.all_reduced.take();
        self.gradients.take()
    }
}
