//! FSDP2's groups of parameters: when each is gathered and freed, and its gradients reduced.
//!
//! `fully_shard` wraps every layer and the model around them (accelerate's transformer wrap policy), perhaps the token
//! embedding too. The order of allocations and frees is that of torch/distributed/fsdp/_fully_shard in PyTorch 2.15:
//! `FSDPParamGroup.unshard`, `wait_for_unshard`, `reshard`, `pre_backward`, `post_backward` and `foreach_reduce`.

use super::super::super::autograd::{
    Call, ElementType, Extent, LayerTag, NO_LAYER, Shape, Stream, Sym, Tape, Tensor, custom, dims,
};
use super::super::super::parameter::{Parameter, Parameters, Trainable};
use super::super::super::precision::element_type;
use super::super::super::term::Term;
use crate::job::Sharding;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// `FSDPCommContext.all_gather_copy_in_stream`: all-gathers' inputs and outputs. The all-gather runs on a stream of its own,
/// `all_gather_stream`, which asks for nothing.
const COPY_IN: Stream = Stream::side(1);
/// `FSDPCommContext.reduce_scatter_stream`: reduced gradients. What is reduced is asked on the compute stream.
const REDUCE_SCATTER: Stream = Stream::side(2);

/// All groups of a model and what they share.
#[derive(Debug)]
pub(in crate::memory) struct Groups {
    tape: Rc<Tape>,
    ranks: u64,
    /// Groups are freed between forward and backward.
    reshard: bool,
    offload: bool,
    compute: ElementType,
    reduce: ElementType,
    shard: ElementType,
    /// In the order forward leaves them: the embedding if it is wrapped, the layers, the root.
    groups: Vec<Group>,
    /// The last all-gather's output: kept until the next group has copied its own out (`all_gather_state`).
    retained: RefCell<Option<Tensor>>,
    /// Input of the last reduce-scatter: kept until the next one (`reduce_scatter_states`, one by default).
    reducing: RefCell<Option<Tensor>>,
    /// Reduced gradients.
    gradients: RefCell<Vec<Tensor>>,
}

/// Parameters that travel together.
#[derive(Debug)]
struct Group {
    name: Sym,
    tag: LayerTag,
    /// Elements of each tensor, its rows rounded up to a multiple of the ranks, and of all.
    sizes: Vec<u64>,
    elements: u64,
    trainable: Vec<Trainable>,
    /// The parameters, each copied out of the all-gather's output.
    gathered: RefCell<Vec<Tensor>>,
    /// An all-gather's output that has not been copied out yet.
    in_flight: RefCell<Option<Tensor>>,
    reduced: Cell<bool>,
}

/// Elements of a tensor whose rows are split among `ranks` evenly, with padding (`_get_dim0_padded_size`).
pub(super) fn padded(shape: Shape, ranks: u64) -> u64 {
    let rows = shape.sizes().first().map_or(1, |rows| *rows).max(1);
    let row = shape.elements() / rows;
    rows.div_ceil(ranks).saturating_mul(ranks).saturating_mul(row)
}

impl Groups {
    pub(super) fn new(tape: &Rc<Tape>, sharding: &Sharding, parameters: &Parameters<'_>) -> Rc<Self> {
        let ranks = sharding.ranks;
        let own_embedding = sharding.wrap_embedding && !parameters.tied;
        let in_embedding = |parameter: &Parameter| own_embedding && parameter.token_embedding;
        let group = |name, tag: LayerTag, has: &dyn Fn(&Parameter) -> bool, trained: &dyn Fn(&Trainable) -> bool| {
            let own = parameters.all.iter().filter(|parameter| has(parameter));
            let sizes: Vec<u64> = own.map(|parameter| padded(parameter.tensor.shape(), ranks)).collect();
            Group {
                name,
                tag,
                elements: sizes.iter().copied().fold(0, u64::saturating_add),
                sizes,
                trainable: parameters.trainable.iter().filter(|parameter| trained(parameter)).cloned().collect(),
                gathered: RefCell::default(),
                in_flight: RefCell::default(),
                reduced: Cell::new(false),
            }
        };
        let is_embedding = |parameter: &Trainable| {
            parameters.all.iter().any(|table| in_embedding(table) && table.tensor.shares_storage(&parameter.tensor))
        };
        let mut groups = Vec::new();
        if own_embedding {
            groups.push(group(Sym::Embedding, NO_LAYER, &in_embedding, &is_embedding));
        }
        for layer in &parameters.layers {
            let index = layer.index;
            groups.push(group(Sym::Layer, *layer, &|one| one.tag.index == index, &|one| one.tag.index == index));
        }
        groups.push(group(
            Sym::Root,
            NO_LAYER,
            &|parameter| parameter.tag == NO_LAYER && !in_embedding(parameter),
            &|parameter| parameter.tag == NO_LAYER && !is_embedding(parameter),
        ));
        Rc::new(Self {
            tape: Rc::clone(tape),
            ranks,
            reshard: sharding.reshard_after_forward,
            offload: sharding.offload_param,
            compute: element_type(sharding.param_dtype),
            reduce: element_type(sharding.reduce_dtype),
            shard: element_type(sharding.shard_dtype),
            groups,
            retained: RefCell::default(),
            reducing: RefCell::default(),
            gradients: RefCell::default(),
        })
    }

    fn tensor(&self, term: Term, name: &str, symbol: Sym, elements: u64, element: ElementType) -> Tensor {
        Tensor::new(&self.tape, self.tape.label(term, name), dims(&[(symbol, elements)]), element)
    }

    /// Begins an all-gather, unless the parameters are there or on their way.
    fn unshard(&self, group: &Group) {
        if !group.gathered.borrow().is_empty() || group.in_flight.borrow().is_some() {
            return;
        }
        let output = self.tape.on(COPY_IN, || self.all_gather(group));
        group.in_flight.replace(Some(output));
    }

    /// `foreach_all_gather`.
    fn all_gather(&self, group: &Group) -> Tensor {
        let share = group.elements / self.ranks;
        let cast = || self.tensor(Term::GatheredParameters, "shard", Sym::Share, share, self.compute);
        // The shards in the dtype that is gathered (`_get_param_all_gather_inputs`); offloaded ones come to the GPU.
        let moved = self.offload.then(|| self.tensor(Term::GatheredParameters, "shard", Sym::Share, share, self.shard));
        let shards = (self.shard != self.compute).then(cast);
        let output = self.tensor(Term::GatheredParameters, "all-gather", group.name, group.elements, self.compute);
        drop((shards, moved));
        output
    }

    /// Copies the parameters out of the all-gather's output. Forward keeps that output until the next group has done so,
    /// backward frees it at once.
    fn wait_for_unshard(&self, group: &Group, forward: bool) {
        let Some(output) = group.in_flight.take() else { return };
        if forward {
            self.retained.take();
        }
        // Each parameter has a block of its own (`alloc_all_gather_outputs`), which matters where blocks are cut; the ledger
        // names the group.
        let each = if self.tape.extent == Extent::Whole { group.sizes.as_slice() } else { &[group.elements] };
        let copy = |elements: &u64| {
            self.tensor(Term::GatheredParameters, group.name.text(), group.name, *elements, self.compute)
        };
        group.gathered.replace(each.iter().map(copy).collect());
        if forward {
            self.retained.replace(Some(output));
        }
    }

    fn before_forward(&self, index: usize) {
        let Some(group) = self.groups.get(index) else { return };
        self.unshard(group);
        self.wait_for_unshard(group, true);
    }

    fn after_forward(&self, index: usize) {
        if self.reshard
            && let Some(group) = self.groups.get(index)
        {
            group.gathered.take();
        }
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
        self.reducing.replace(Some(self.tensor(
            Term::ReduceBuckets,
            "reduce-scatter",
            group.name,
            elements,
            self.reduce,
        )));
        drop(gradients);
        let gradient = self.tape.on(REDUCE_SCATTER, || self.reduce_scatter(group, elements / self.ranks));
        if !self.offload {
            self.gradients.borrow_mut().push(gradient);
        }
    }

    /// `foreach_reduce`: this rank's share, in the dtype of the shards.
    fn reduce_scatter(&self, group: &Group, share: u64) -> Tensor {
        let reduced = self.tensor(Term::GradientShard, group.name.text(), Sym::Share, share, self.reduce);
        if self.reduce == self.shard || self.offload {
            return reduced;
        }
        self.tensor(Term::GradientShard, group.name.text(), Sym::Share, share, self.shard)
    }

    /// The model's own forward begins.
    pub(in crate::memory) fn begin_forward(&self) {
        self.before_forward(self.root());
    }

    /// The model's own forward has ended: what is retained for overlap goes too.
    pub(in crate::memory) fn end_forward(&self) {
        self.after_forward(self.root());
        self.retained.take();
    }

    /// The loss has its gradient.
    pub(in crate::memory) fn begin_backward(&self) {
        self.before_backward(self.root());
    }

    /// Backward has run: the root, and groups whose input wanted no gradient, are reduced now
    /// (`_root_post_backward_final_callback`). Gives back the reduced gradients.
    pub(in crate::memory) fn end_backward(&self) -> Vec<Tensor> {
        let outside = self.tape.tag();
        self.tape.enter_layer(NO_LAYER);
        self.after_backward(self.root());
        for (index, group) in self.groups.iter().enumerate() {
            if !group.reduced.get() {
                self.tape.enter_layer(group.tag);
                self.after_backward(index);
            }
        }
        self.reducing.take();
        self.tape.enter_layer(outside);
        self.gradients.take()
    }

    fn root(&self) -> usize {
        self.groups.len().saturating_sub(1)
    }

    /// Runs a layer: gathered before its forward, and again when its output's gradient is known; freed after forward, and
    /// reduced when its input's gradient is known.
    pub(in crate::memory) fn run_layer(
        self: &Rc<Self>,
        tag: LayerTag,
        x: &Tensor,
        module: impl FnOnce(&Tensor) -> Tensor,
    ) -> Tensor {
        let is_layer = |group: &Group| group.name == Sym::Layer && group.tag.index == tag.index;
        let Some(index) = self.groups.iter().position(is_layer) else { return module(x) };
        self.before_forward(index);
        let hooks = Rc::clone(self);
        let x = self.pass(x, move || hooks.after_backward(index));
        let out = module(&x);
        self.leave(index, &out)
    }

    /// Looks up embeddings: ids have no gradient, so the embedding is reduced after the root.
    pub(in crate::memory) fn run_embedding(self: &Rc<Self>, look_up: impl FnOnce() -> Tensor) -> Tensor {
        let Some(index) = self.groups.iter().position(|group| group.name == Sym::Embedding) else { return look_up() };
        self.before_forward(index);
        let out = look_up();
        self.leave(index, &out)
    }

    fn leave(self: &Rc<Self>, index: usize, out: &Tensor) -> Tensor {
        self.after_forward(index);
        let hooks = Rc::clone(self);
        self.pass(out, move || hooks.before_backward(index))
    }

    /// The same tensor, with something to do when its gradient is known.
    fn pass(&self, x: &Tensor, hook: impl Fn() + 'static) -> Tensor {
        let run = move |call: &Call<'_>| {
            hook();
            [Some(call.grad.clone())].into()
        };
        custom(&self.tape, &[x], |_| x.detach(), run)
    }
}
