//! What FSDP1 does where the hooks of its modules run: when each flat parameter is gathered and freed, and its gradient
//! reduced.

use super::super::super::autograd::{ElementType, NO_LAYER, Stream, Sym, Tape, Tensor, dims};
use super::super::super::parameter::Trainable;
use super::super::super::precision::element_type;
use super::super::super::term::Term;
use super::super::groups::{Collectives, Place};
use super::super::strategy::MicroBatch;
use super::units::{Layout, Unit, share};
use crate::job::Sharding;
use crate::plan::BackwardPrefetch;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// `_unshard_stream`: gathered flat parameters, and their whole gradients, since the views that parameters are were made
/// there (`_use_unsharded_views` in `_unshard`).
pub(super) const UNSHARD: Stream = Stream::side(1);
/// `_post_backward_stream`: what is reduced.
const POST_BACKWARD: Stream = Stream::side(2);
/// `_pre_unshard_stream`: shards in the dtype that is gathered.
const PRE_UNSHARD: Stream = Stream::side(3);
/// `_all_reduce_stream` of hybrid strategies: what follows the reduce-scatter within the node.
const ALL_REDUCE: Stream = Stream::side(4);

/// All flat parameters and what they share.
#[derive(Debug)]
pub(super) struct FlatParameters {
    tape: Rc<Tape>,
    sharding: Sharding,
    /// Gradients are reduced, and not left to a later micro-batch (`no_sync`).
    reduces: bool,
    reduce: ElementType,
    /// In the order forward leaves them.
    units: Vec<Handle>,
    /// Reduced gradients.
    gradients: RefCell<Vec<Tensor>>,
}

/// `FlatParamHandle`.
#[derive(Debug)]
struct Handle {
    place: Place,
    layout: Layout,
    trains: bool,
    kept: ElementType,
    element: ElementType,
    trainable: Vec<Trainable>,
    /// This rank's part as it was loaded, until parameters are no longer views of it: freed in the first step, and gone in
    /// those after it.
    as_loaded: RefCell<Option<Tensor>>,
    /// `_full_param_padded`, while it has a storage.
    gathered: RefCell<Option<Tensor>>,
    /// The whole gradient that earlier micro-batches have left (`no_sync`).
    earlier: RefCell<Option<Tensor>>,
    reduced: Cell<bool>,
}

impl FlatParameters {
    /// Where earlier micro-batches have left whole gradients, they are there. `as_loaded`: of each unit the part that the
    /// first forward frees.
    pub(super) fn new(
        tape: &Rc<Tape>,
        sharding: &Sharding,
        units: Vec<Unit<'_>>,
        (batch, as_loaded): (MicroBatch, Vec<Option<Tensor>>),
    ) -> Self {
        let mut as_loaded = as_loaded.into_iter();
        let handle = |unit: Unit<'_>| Handle {
            as_loaded: RefCell::new(as_loaded.next().flatten()),
            place: unit.place,
            layout: unit.layout,
            trains: unit.trains,
            kept: unit.kept,
            element: unit.element,
            trainable: unit.trainable,
            gathered: RefCell::default(),
            earlier: RefCell::default(),
            reduced: Cell::new(false),
        };
        let made = Self {
            tape: Rc::clone(tape),
            sharding: *sharding,
            reduces: batch.reduces,
            reduce: element_type(sharding.reduce_dtype),
            units: units.into_iter().map(handle).collect(),
            gradients: RefCell::default(),
        };
        if batch.accumulates {
            let outside = tape.tag();
            for unit in made.units.iter().filter(|unit| unit.trains) {
                tape.enter_layer(unit.place.tag());
                unit.earlier.replace(Some(tape.on(UNSHARD, || made.whole_gradient(unit))));
            }
            tape.enter_layer(outside);
        }
        made
    }

    fn tensor(&self, term: Term, name: &str, (symbol, elements): (Sym, u64), element: ElementType) -> Tensor {
        Tensor::new(&self.tape, self.tape.label(term, name), dims(&[(symbol, elements)]), element)
    }

    fn share(&self, unit: &Handle) -> (Sym, u64) {
        (Sym::Share, share(&self.sharding, unit.layout.elements))
    }

    /// The flat gradient, in the dtype that backward computes in.
    fn whole_gradient(&self, unit: &Handle) -> Tensor {
        let adapters = unit.trainable.iter().all(|one| one.adapter);
        let term = if adapters { Term::AdapterGradients } else { Term::WeightGradients };
        let symbol = unit.place.symbol();
        self.tensor(term, "flat", (symbol, unit.layout.elements), unit.element)
    }

    /// `_unshard`: the shard as it is gathered, where that is not how it is kept, and the gathered flat parameter. Without
    /// sharding the converted copy is what is computed with.
    fn unshard(&self, unit: &Handle) {
        if unit.gathered.borrow().is_some() {
            return;
        }
        let offloaded = self.sharding.offload_param;
        let shard = |element| self.tensor(Term::GatheredParameters, "shard", self.share(unit), element);
        let converts = unit.kept != unit.element;
        let sent = self.tape.on(PRE_UNSHARD, || {
            // `_use_low_precision_shard` brings an offloaded shard to the GPU as it is kept and converts it there.
            let converted = converts.then(|| shard(unit.element));
            let moved = offloaded.then(|| shard(unit.kept));
            if converts { converted } else { moved }
        });
        let gathered = if self.sharding.flat.shards {
            let (symbol, elements) = (unit.place.symbol(), unit.layout.elements);
            let gather = || self.tensor(Term::GatheredParameters, "all-gather", (symbol, elements), unit.element);
            let gathered = self.tape.on(UNSHARD, gather);
            drop(sent);
            Some(gathered)
        } else {
            sent
        };
        unit.gathered.replace(gathered);
    }

    fn reshards(&self) -> bool {
        self.sharding.flat.reshards || !self.sharding.flat.shards
    }

    /// Whether what is gathered of `unit` stays after forward.
    fn stays(&self, unit: &Handle) -> bool {
        !self.reshards() || unit.place == Place::Root && self.sharding.flat.shards
    }

    /// Gathers what comes next in backward.
    fn prefetch(&self, index: usize, at: BackwardPrefetch) {
        if self.sharding.flat.prefetch == at
            && let Some(next) = index.checked_sub(1).and_then(|before| self.units.get(before))
        {
            self.unshard(next);
        }
    }

    /// Without a gradient of its own a layer is freed by a hook on its input's (`_register_post_backward_reshard_only_hook`).
    /// That input is the output of the layer before, whose own hook on the same tensor is older and runs first: it gathers
    /// while this layer is still there.
    fn gather_before_frozen(&self, index: usize) {
        let before = self.units.get(..index).unwrap_or_default();
        let layer = |unit: &Handle| matches!(unit.place, Place::Layer(_));
        if self.units.get(index).is_some_and(layer)
            && let Some(before) = before.iter().rposition(layer)
        {
            self.before_backward(before);
        }
    }

    /// `SplitWithSizesBackward`: gradients of the parts, zeros where a part has none, are joined into the flat gradient.
    fn join(&self, unit: &Handle, gradients: Vec<Tensor>) -> Tensor {
        let label = self.tape.label(Term::ReduceBuckets, "padding");
        let gap = |elements: &u64| Tensor::new(&self.tape, label, dims(&[(Sym::N, *elements)]), unit.element);
        let whole = self.tape.on(UNSHARD, || {
            let gaps: Vec<Tensor> = unit.layout.gaps.iter().map(gap).collect();
            let whole = self.whole_gradient(unit);
            drop(gaps);
            whole
        });
        drop(gradients);
        // Added in place to what is there (`AccumulateGrad`).
        unit.earlier.take().unwrap_or(whole)
    }

    /// `_post_backward_hook`: the flat parameter is freed, then its gradient is reduced to this rank's part.
    fn reduce(&self, index: usize, unit: &Handle, gradients: Vec<Tensor>) {
        unit.reduced.set(true);
        if gradients.is_empty() && unit.earlier.borrow().is_none() {
            unit.gathered.take();
            return;
        }
        let whole = self.join(unit, gradients);
        unit.as_loaded.take();
        unit.gathered.take();
        self.prefetch(index, BackwardPrefetch::BackwardPost);
        if !self.reduces {
            unit.earlier.replace(Some(whole));
            return;
        }
        let reduced = self.tape.on(POST_BACKWARD, || self.reduce_whole(unit, &whole));
        drop(whole);
        if !self.sharding.offload_param {
            self.gradients.borrow_mut().push(reduced);
        }
    }

    /// `_reduce_grad`, and without sharding `_reduce_grad_no_shard`, which reduces in place: in `reduce_dtype`, then in the
    /// shard's own dtype.
    fn reduce_whole(&self, unit: &Handle, whole: &Tensor) -> Tensor {
        let name = unit.place.symbol().text();
        let shard = |element| self.tensor(Term::GradientShard, name, self.share(unit), element);
        let symbol = unit.place.symbol();
        let converted = (unit.element != self.reduce)
            .then(|| self.tensor(Term::ReduceBuckets, "reduce-scatter", (symbol, unit.layout.elements), self.reduce));
        let reduced = match (self.sharding.flat.shards, &converted) {
            (true, _) => shard(self.reduce),
            (false, Some(converted)) => converted.clone(),
            (false, None) => whole.clone(),
        };
        // Across nodes the shard is averaged in place.
        match (self.reduce == unit.kept, self.sharding.flat.hybrid) {
            (true, _) => reduced,
            (false, true) => self.tape.on(ALL_REDUCE, || shard(unit.kept)),
            (false, false) => shard(unit.kept),
        }
    }
}

impl Drop for FlatParameters {
    /// What a forward without a backward leaves gathered goes within its layers: what a simulated one holds stands for all its equals'.
    fn drop(&mut self) {
        let outside = self.tape.tag();
        for unit in &self.units {
            let held = [unit.as_loaded.take(), unit.gathered.take(), unit.earlier.take()];
            if held.iter().any(Option::is_some) {
                self.tape.enter_layer(unit.place.tag());
            }
            drop(held);
        }
        self.tape.enter_layer(outside);
    }
}

impl Collectives for FlatParameters {
    fn before_forward(&self, group: usize) {
        self.units.get(group).into_iter().for_each(|unit| self.unshard(unit));
    }

    /// `_post_forward_reshard`: the root's stay for backward. Parameters become views of the shard, unless all stay
    /// (`skip_use_sharded_views`).
    fn after_forward(&self, group: usize) {
        let Some(unit) = self.units.get(group) else { return };
        if self.reshards() {
            unit.as_loaded.take();
        }
        if !self.stays(unit) {
            unit.gathered.take();
        }
    }

    fn end_forward(&self) {}

    /// What is not freed after forward is freed by hooks of backward alone; the next forward finds it (`needs_unshard`).
    fn gather_what_stays(&self) {
        for unit in self.units.iter().filter(|unit| self.stays(unit)) {
            self.tape.enter_layer(unit.place.tag());
            self.unshard(unit);
        }
    }

    fn before_backward(&self, index: usize) {
        let Some(unit) = self.units.get(index) else { return };
        self.unshard(unit);
        self.prefetch(index, BackwardPrefetch::BackwardPre);
    }

    fn after_backward(&self, index: usize) {
        let Some(unit) = self.units.get(index).filter(|unit| !unit.reduced.get()) else { return };
        if !unit.trains {
            self.gather_before_frozen(index);
        }
        let gradients = unit.trainable.iter().filter_map(Trainable::take_gradient).collect();
        self.reduce(index, unit, gradients);
    }

    fn take(&self, index: usize, gradient: Tensor) {
        self.units.get(index).into_iter().for_each(|unit| self.reduce(index, unit, vec![gradient.clone()]));
    }

    /// The root's gradient comes last; whatever no hook has freed goes now (`_catch_all_reshard`).
    fn end_backward(&self) -> Vec<Tensor> {
        for index in (0..self.units.len()).rev() {
            let Some(unit) = self.units.get(index) else { continue };
            self.tape.enter_layer(unit.place.tag());
            self.after_backward(index);
            unit.as_loaded.take();
            unit.gathered.take();
            // The next micro-batch finds it again.
            unit.earlier.take();
        }
        self.tape.enter_layer(NO_LAYER);
        self.gradients.take()
    }
}
