//! Every layer written out, with what DeepSpeed does in between.

use super::super::autograd::{
    Action, Detail, ElementType, Event, Hook, LayerTag, Models, Segment, Stream, Sym, TapeRecord, dims, passes, rounded,
};
use super::super::phase::Phase;
use super::super::term::Term;
use super::Modules;
use super::acts::Acts;
use super::coordinator::{Coordinator, Known, Lists, Move, Reach};
use std::collections::HashMap;

/// What DeepSpeed's configuration says, in elements.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Limits {
    /// Stage 2 or 3.
    pub(in crate::memory) stage: u8,
    /// Earlier micro-batches have left their gradients.
    pub(in crate::memory) accumulates: bool,
    /// Buckets that are filled in turn.
    pub(in crate::memory) buckets: u64,
    /// N.
    pub(in crate::memory) ranks: u64,
    /// Shards are on the host.
    pub(in crate::memory) offload_param: bool,
    /// Gradient shards are on the host.
    pub(in crate::memory) offload_optimizer: bool,
    /// `reduce_bucket_size`.
    pub(in crate::memory) reduce_bucket: u64,
    /// `stage3_prefetch_bucket_size`.
    pub(in crate::memory) prefetch: u64,
    /// `stage3_max_live_parameters`.
    pub(in crate::memory) max_live: u64,
    /// `stage3_max_reuse_distance`.
    pub(in crate::memory) max_reuse: u64,
    /// `stage3_param_persistence_threshold`.
    pub(in crate::memory) persistence: u64,
    /// dtype of parameters.
    pub(in crate::memory) element: ElementType,
}

/// Writes out, in so much detail, every layer of the tape and what DeepSpeed allocates and frees where its hooks are told
/// something. `acts`: what it did in a step of the same plan with another batch size or length, if any is known: it does
/// the same wherever it is told the same.
pub(in crate::memory) fn unroll(
    record: TapeRecord,
    modules: &Modules,
    (limits, detail): (Limits, Detail),
    acts: &mut Option<Acts>,
) -> TapeRecord {
    let order = order(&record);
    let told = told(&record);
    if !detail.keeps_events()
        && let Some(known) = acts.as_ref().filter(|known| known.are_of(&order, &record.hooks))
    {
        return known.play(record, &told, detail);
    }
    let copies = Copies::new(modules);
    let mut trace = Vec::new();
    for (segment, copy) in &order {
        for hook in told.get(*segment).into_iter().flatten() {
            if matches!(hook.action, Action::ForwardBegins | Action::BackwardBegins) {
                trace.push(copies.module(hook.subject, *copy));
            }
        }
    }
    let reach = Reach { prefetch: limits.prefetch, max_live: limits.max_live, max_reuse: limits.max_reuse };
    let known = copies.known(modules, limits.persistence);
    let coordinator = Coordinator::new(reach, copies.parameters_of_modules(modules), &known, &trace);
    let reading = (!detail.keeps_events()).then(|| Acts::new(&order, &record.hooks));
    let mut stage = Stage::new(record, modules, &copies, (limits, reading), coordinator);
    for (segment, copy) in order {
        stage.play(segment, copy, told.get(segment).map_or(&[], Vec::as_slice));
    }
    let Stage { old, new, acts: done, .. } = stage.end();
    match done {
        Some(done) => {
            let record = done.play(old, &told, detail);
            *acts = Some(done);
            record
        }
        None => TapeRecord { rows: old.rows, names: old.names, ..new },
    }
}

/// Hooks by segment.
fn told(record: &TapeRecord) -> Vec<Vec<Hook>> {
    let mut told = vec![Vec::new(); record.segments.len()];
    for hook in &record.hooks {
        if let Some(hooks) = told.get_mut(hook.segment) {
            hooks.push(*hook);
        }
    }
    told
}

/// Segments in the order they run, each with the number of its layer among the equals that it stands for.
fn order(record: &TapeRecord) -> Vec<(usize, u64)> {
    let mut order = Vec::new();
    for (at, length) in passes(&record.segments) {
        let segments = record.segments.get(at..at + length).unwrap_or_default();
        let tags: Vec<LayerTag> = segments.iter().map(|segment| segment.tag).collect();
        let phase = segments.first().map_or(Phase::Load, |segment| segment.phase);
        record.models.turns(phase, &tags, |turn| {
            let copy = |i| if turn.ascending { turn.first + i } else { turn.first.saturating_sub(i) };
            order.extend((0..turn.count.max(1)).map(|i| (at + turn.place, copy(i))));
        });
    }
    order
}

/// Modules and parameters of all layers, numbered through.
#[derive(Debug)]
struct Copies {
    modules: Vec<(usize, u64)>,
    parameters: Vec<(usize, u64)>,
}

impl Copies {
    fn new(modules: &Modules) -> Self {
        let number = |tags: &mut dyn Iterator<Item = LayerTag>| {
            let mut next = 0usize;
            let mut first = Vec::new();
            for tag in tags {
                first.push((next, tag.repeat.max(1)));
                next = next.saturating_add(to_usize(tag.repeat));
            }
            first
        };
        Self {
            modules: number(&mut modules.modules.borrow().iter().map(|module| module.tag)),
            parameters: number(&mut modules.parameters.iter().map(|parameter| parameter.tag)),
        }
    }

    fn number(list: &[(usize, u64)], of: u32, copy: u64) -> usize {
        let (first, repeat) = list.get(of as usize).copied().unwrap_or((usize::MAX, 1));
        first.saturating_add(usize::try_from(copy.min(repeat - 1)).unwrap_or(0))
    }

    fn module(&self, module: u32, copy: u64) -> usize {
        Self::number(&self.modules, module, copy)
    }

    fn parameter(&self, parameter: u32, copy: u64) -> usize {
        Self::number(&self.parameters, parameter, copy)
    }

    fn known(&self, modules: &Modules, persistence: u64) -> Vec<Known> {
        let mut known = Vec::new();
        for (parameter, (_, repeat)) in modules.parameters.iter().zip(&self.parameters) {
            let elements = parameter.shape.elements();
            let one = Known { elements, persists: elements <= persistence, trains: parameter.trains };
            known.extend(std::iter::repeat_n(one, to_usize(*repeat)));
        }
        known
    }

    fn parameters_of_modules(&self, modules: &Modules) -> Lists {
        let mut all = Lists::default();
        for (module, (_, repeat)) in modules.modules.borrow().iter().zip(&self.modules) {
            for copy in 0..*repeat {
                all.push(module.parameters.iter().map(|number| self.parameter(*number, copy)));
            }
        }
        all
    }
}

/// A block that DeepSpeed holds.
#[derive(Debug, Clone, Copy)]
struct Held {
    row: u16,
    storage: u32,
    bytes: i64,
}

/// The new record being written.
#[derive(Debug)]
struct Stage<'a> {
    old: TapeRecord,
    new: TapeRecord,
    /// In its place what DeepSpeed does, where only the fullest moments are wanted.
    acts: Option<Acts>,
    /// How many of the segment's hooks were told.
    told: usize,
    copies: &'a Copies,
    limits: Limits,
    coordinator: Coordinator,
    /// What it has done last.
    moves: Vec<Move>,
    /// Of each copy: the parameter's number.
    numbers: Vec<u32>,
    elements: Vec<u64>,
    /// Rows by parameter's number, gathered and as a gradient.
    rows: Vec<(u16, u16)>,
    other_rows: HashMap<(&'static str, u64, ElementType), u16>,
    /// By copy of a parameter.
    gathered: Vec<Option<Held>>,
    /// By handle.
    flat: Vec<Option<Held>>,
    /// An offloaded shard on the card, and whose: the collective holds it until it is waited for or the next one begins
    /// (`stashed_for_allocator_safety_` and `shelvesToUnstash_` in torch's ProcessGroupNCCL.cpp).
    stashed: Option<(usize, Held)>,
    bucket: Bucket,
    row_of_all: RowOfAll,
    /// Stage 2's buckets, and the reduced gradients of this rank.
    buckets: Vec<Held>,
    partition: Option<Held>,
}

/// Puts a block into its place.
fn hold(places: &mut Vec<Option<Held>>, at: usize, held: Held) {
    if places.len() <= at {
        places.resize(at.saturating_add(1), None);
    }
    if let Some(place) = places.get_mut(at) {
        *place = Some(held);
    }
}

/// A count of layers.
fn to_usize(count: u64) -> usize {
    usize::try_from(count.max(1)).unwrap_or(usize::MAX)
}

/// Parameters that train, laid end to end in the model's order and cut into one part for each rank.
#[derive(Debug)]
struct RowOfAll {
    /// Where each copy of a parameter begins, elements.
    starts: Vec<u64>,
    /// Elements of a part.
    partition: u64,
    /// Elements of the parameters that rank 0's part touches.
    own: u64,
}

impl RowOfAll {
    fn new(models: &Models, modules: &Modules, copies: &Copies, ranks: u64) -> Self {
        let mut order = Vec::new();
        let mut first = 0;
        let list = modules.parameters.as_slice();
        for of_model in list.chunk_by(|one, other| one.tag.model == other.tag.model) {
            let tags: Vec<LayerTag> =
                of_model.chunk_by(|one, other| one.tag == other.tag).filter_map(|of| Some(of.first()?.tag)).collect();
            models.turns(Phase::Load, &tags, |turn| {
                let tag = tags.get(turn.place).copied();
                for copy in turn.first..turn.first.saturating_add(turn.count) {
                    for (number, parameter) in (first..).zip(of_model) {
                        if Some(parameter.tag) == tag && parameter.trains {
                            order.push((copies.parameter(number, copy), parameter.shape.elements()));
                        }
                    }
                }
            });
            first = first.saturating_add(u32::try_from(of_model.len()).unwrap_or(u32::MAX));
        }
        let count = copies.parameters.iter().map(|(_, repeat)| to_usize(*repeat)).sum();
        let total = order.iter().fold(0, |sum: u64, (_, elements)| sum.saturating_add(*elements));
        let partition = total.div_ceil(ranks).max(1);
        let (mut starts, mut before, mut own) = (vec![0; count], 0u64, 0u64);
        for (copy, elements) in order {
            if let Some(start) = starts.get_mut(copy) {
                *start = before;
            }
            if before < partition {
                own = own.saturating_add(elements);
            }
            before = before.saturating_add(elements);
        }
        Self { starts, partition, own }
    }

    fn start(&self, copy: usize) -> u64 {
        self.starts.get(copy).copied().unwrap_or(0)
    }
}

/// Gradients on their way (stage3.py `IPGBucketZ3`).
#[derive(Debug)]
struct Bucket {
    /// Elements of each gradient.
    gradients: Vec<u64>,
    elements: u64,
    /// Where the first of them begins and the last ends in the row of all.
    first: u64,
    end: u64,
    /// Gradients too large to be copied into the bucket.
    outside: Vec<Held>,
}

impl Default for Bucket {
    fn default() -> Self {
        Self { gradients: Vec::new(), elements: 0, first: u64::MAX, end: 0, outside: Vec::new() }
    }
}

impl<'a> Stage<'a> {
    fn new(
        mut old: TapeRecord,
        modules: &Modules,
        copies: &'a Copies,
        (limits, acts): (Limits, Option<Acts>),
        coordinator: Coordinator,
    ) -> Self {
        let old_models = old.models.clone();
        let mut rows = Vec::new();
        let (mut numbers, mut elements) = (Vec::new(), Vec::new());
        for ((number, parameter), (_, repeat)) in (0u32..).zip(&modules.parameters).zip(&copies.parameters) {
            let shape = parameter.shape;
            let gathered = old.add_row(Term::GatheredParameters, &parameter.name, shape, limits.element);
            let gradient = old.add_row(Term::WeightGradients, &parameter.name, shape, limits.element);
            rows.push((gathered, gradient));
            let repeat = to_usize(*repeat);
            numbers.extend(std::iter::repeat_n(number, repeat));
            elements.extend(std::iter::repeat_n(shape.elements(), repeat));
        }
        let new = TapeRecord {
            rows: Vec::new(),
            names: Vec::new(),
            events: Vec::new(),
            segments: Vec::new(),
            models: Models::default(),
            hooks: Vec::new(),
            marks: old.marks,
            storages: old.storages,
            moments: None,
            detail: old.detail,
        };
        Self {
            acts,
            told: 0,
            old,
            new,
            copies,
            limits,
            coordinator,
            moves: Vec::new(),
            numbers,
            elements,
            rows,
            other_rows: HashMap::new(),
            gathered: vec![None; copies.parameters.iter().map(|(_, repeat)| to_usize(*repeat)).sum()],
            flat: Vec::new(),
            stashed: None,
            bucket: Bucket::default(),
            row_of_all: RowOfAll::new(&old_models, modules, copies, limits.ranks),
            buckets: Vec::new(),
            partition: None,
        }
    }

    /// Writes one segment for one of the layers it stands for.
    fn play(&mut self, segment: usize, copy: u64, hooks: &[Hook]) {
        let Some(found) = self.old.segments.get(segment).copied() else { return };
        if self.acts.is_some() {
            for (i, hook) in hooks.iter().enumerate() {
                self.told = i + 1;
                self.tell(hook, copy);
            }
            self.acts.iter_mut().for_each(Acts::end_segment);
            return;
        }
        let end = self.old.segments.get(segment + 1).map_or(self.old.events.len(), |next| next.start);
        let tag = LayerTag { repeat: 1, ..found.tag };
        self.new.segments.push(Segment { tag, start: self.new.events.len(), ..found });
        // A place at which a segment begins is before all that is told in it.
        self.keep_marks(found.start);
        let mut hooks = hooks.iter().peekable();
        for at in found.start..=end {
            while let Some(hook) = hooks.next_if(|hook| hook.at <= at) {
                self.tell(hook, copy);
            }
            if at < end
                && let Some(event) = self.old.events.get(at).copied()
            {
                if at > found.start {
                    self.keep_marks(at);
                }
                self.new.events.push(event);
            }
        }
    }

    /// Places on the old tape become those on the new one.
    fn keep_marks(&mut self, at: usize) {
        let now = self.new.events.len();
        let (old, new) = (self.old.marks, &mut self.new.marks);
        for (old, new) in [
            (old.states, &mut new.states),
            (old.step, &mut new.step),
            (old.optimizer_step, &mut new.optimizer_step),
            (old.end, &mut new.end),
        ] {
            if old == at {
                *new = now;
            }
        }
    }

    fn end(mut self) -> Self {
        self.keep_marks(self.old.events.len());
        self
    }

    fn tell(&mut self, hook: &Hook, copy: u64) {
        match hook.action {
            Action::ForwardBegins => self.coordinator.fetch(self.copies.module(hook.subject, copy), true),
            Action::ForwardEnds => self.coordinator.release(self.copies.module(hook.subject, copy), true),
            Action::BackwardBegins => self.coordinator.fetch(self.copies.module(hook.subject, copy), false),
            Action::BackwardEnds => self.coordinator.release(self.copies.module(hook.subject, copy), false),
            Action::GradientReady => self.reduce_later(hook.subject, copy),
            Action::BackwardDone => {
                self.reduce();
                self.coordinator.release_all();
                if self.limits.accumulates {
                    self.let_partition_go();
                }
            }
            Action::ReductionDone => {
                for held in std::mem::take(&mut self.buckets) {
                    self.free(held);
                }
            }
            Action::StepDone => self.let_partition_go(),
        }
        let mut moves = std::mem::take(&mut self.moves);
        self.coordinator.take_moves(&mut moves);
        for one in moves.drain(..) {
            self.make(one);
        }
        self.moves = moves;
    }

    fn row(&mut self, term: Term, name: &'static str, elements: u64, element: ElementType) -> u16 {
        let old = &mut self.old;
        *self
            .other_rows
            .entry((name, elements, element))
            .or_insert_with(|| old.add_row(term, name, dims(&[(Sym::N, elements)]), element))
    }

    fn allocate(&mut self, row: u16, bytes: u64) -> Held {
        let storage = self.new.storages;
        self.new.storages = storage.saturating_add(1);
        let held = Held { row, storage, bytes: i64::try_from(rounded(bytes)).unwrap_or(i64::MAX) };
        if held.bytes > 0 {
            self.write(Event { row, storage, bytes: held.bytes, stream: Stream::COMPUTE });
        }
        held
    }

    fn write(&mut self, event: Event) {
        match &mut self.acts {
            Some(acts) => acts.push((self.told, event.row, event.bytes)),
            None => self.new.events.push(event),
        }
    }

    fn free(&mut self, held: Held) {
        if held.bytes > 0 {
            self.write(Event { row: held.row, storage: held.storage, bytes: -held.bytes, stream: Stream::COMPUTE });
        }
    }

    fn elements(&self, parameter: usize) -> u64 {
        self.elements.get(parameter).copied().unwrap_or(0)
    }

    fn rows(&self, number: u32) -> (u16, u16) {
        self.rows.get(number as usize).copied().unwrap_or((0, 0))
    }

    /// Elements with padding to a multiple of the ranks.
    fn padded(&self, elements: u64) -> u64 {
        elements.div_ceil(self.limits.ranks).saturating_mul(self.limits.ranks)
    }

    fn make(&mut self, one: Move) {
        let width = self.limits.element.bytes();
        // Alone, the partition is the parameter (`_no_gather_coalesced`).
        let alone = self.limits.ranks == 1 && !self.limits.offload_param;
        match one {
            Move::Gather(parameter) => {
                let elements = if alone { 0 } else { self.padded(self.elements(parameter)) };
                let row = self.numbers.get(parameter).map_or(0, |number| self.rows(*number).0);
                let held = self.allocate(row, elements.saturating_mul(width));
                hold(&mut self.gathered, parameter, held);
                let shard = self.bring_shards(elements / self.limits.ranks);
                self.begin_collective();
                self.stashed = shard.map(|held| (parameter, held));
            }
            Move::GatherFlat(handle) => {
                let parameters = self.coordinator.parameters_of(handle);
                let sum = parameters.iter().map(|one| self.padded(self.elements(*one))).fold(0, u64::saturating_add);
                let elements = if alone { 0 } else { sum };
                let row = self.row(Term::GatheredParameters, "all-gather", elements, self.limits.element);
                let held = self.allocate(row, elements.saturating_mul(width));
                hold(&mut self.flat, handle, held);
                if let Some(shards) = self.bring_shards(elements / self.limits.ranks) {
                    // Joined in the flat buffer, which the collective reads.
                    self.free(shards);
                }
                self.begin_collective();
            }
            Move::Arrive(parameter) => {
                if self.stashed.is_some_and(|(whose, _)| whose == parameter) {
                    self.begin_collective();
                }
            }
            Move::CopyOut(parameter) => {
                let elements = if alone { 0 } else { self.elements(parameter) };
                let row = self.numbers.get(parameter).map_or(0, |number| self.rows(*number).0);
                let held = self.allocate(row, elements.saturating_mul(width));
                hold(&mut self.gathered, parameter, held);
            }
            Move::FreeFlat(handle) => {
                if let Some(held) = self.flat.get_mut(handle).and_then(Option::take) {
                    self.free(held);
                }
            }
            Move::Release(parameter) => {
                if let Some(held) = self.gathered.get_mut(parameter).and_then(Option::take) {
                    self.free(held);
                }
            }
        }
    }

    /// Shards on the host come to the card first.
    fn bring_shards(&mut self, elements: u64) -> Option<Held> {
        self.limits.offload_param.then(|| self.stage("shard", elements, self.limits.element))
    }

    /// A block on its way between card and host.
    fn stage(&mut self, name: &'static str, elements: u64, element: ElementType) -> Held {
        let row = self.row(Term::OffloadStaging, name, elements, element);
        self.allocate(row, elements.saturating_mul(element.bytes()))
    }

    /// What the collective before held goes.
    fn begin_collective(&mut self) {
        if let Some((_, held)) = self.stashed.take() {
            self.free(held);
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads`: the gradient is copied into the bucket, or waits outside when
    /// it is larger than the bucket.
    fn reduce_later(&mut self, number: u32, copy: u64) {
        let elements = self.elements(self.copies.parameter(number, 0));
        // The tape has let the gradient go; it lives on until it is copied or reduced.
        let row = self.rows(number).1;
        let held = self.allocate(row, elements.saturating_mul(self.limits.element.bytes()));
        if self.limits.stage == 2 && self.buckets.is_empty() {
            let row = self.row(Term::ReduceBuckets, "", self.limits.reduce_bucket, ElementType::Half);
            let bytes = self.limits.reduce_bucket.saturating_mul(ElementType::Half.bytes());
            self.buckets = (0..self.limits.buckets).map(|_| self.allocate(row, bytes)).collect();
        }
        if self.bucket.elements > 0 && self.bucket.elements.saturating_add(elements) > self.limits.reduce_bucket {
            self.reduce();
        }
        if self.bucket.elements.saturating_add(elements) > self.limits.reduce_bucket {
            self.bucket.outside.push(held);
        } else {
            self.free(held);
        }
        self.bucket.gradients.push(elements);
        let start = self.row_of_all.start(self.copies.parameter(number, copy));
        self.bucket.first = self.bucket.first.min(start);
        self.bucket.end = self.bucket.end.max(start.saturating_add(elements));
        self.bucket.elements = self.bucket.elements.saturating_add(elements);
    }

    /// `__reduce_and_partition_ipg_grads` with `reduce_scatter_coalesced` (runtime/comm/coalesced_collectives.py): all
    /// gradients are joined in a further buffer, unless there is one only and it needs no padding.
    fn reduce(&mut self) {
        if self.limits.stage == 2 {
            return self.reduce_to_partitions();
        }
        let bucket = std::mem::take(&mut self.bucket);
        let padded: u64 = bucket.gradients.iter().map(|one| self.padded(*one)).fold(0, u64::saturating_add);
        let joined = match bucket.gradients.as_slice() {
            [] => return,
            [one] if self.padded(*one) == *one => None,
            _ => {
                let row = self.row(Term::ReduceBuckets, "reduce-scatter", padded, self.limits.element);
                Some(self.allocate(row, padded.saturating_mul(self.limits.element.bytes())))
            }
        };
        self.begin_collective();
        if self.limits.offload_optimizer {
            self.take_to_host(&bucket.gradients);
        }
        for held in bucket.outside.into_iter().chain(joined) {
            self.free(held);
        }
    }

    /// Stage 2's `reduce_ipg_grads` (runtime/zero/stage_1_and_2.py): slices for several ranks are joined in a buffer of
    /// their own (`allreduce_bucket`), one is reduced where it is. Then what belongs to this rank is copied into its
    /// partition, made when first needed (`copy_grads_in_partition`), or sent to the host.
    fn reduce_to_partitions(&mut self) {
        let bucket = std::mem::take(&mut self.bucket);
        if bucket.gradients.is_empty() {
            return;
        }
        let RowOfAll { partition, own, .. } = self.row_of_all;
        if bucket.first / partition != bucket.end.saturating_sub(1) / partition {
            let row = self.row(Term::ReduceBuckets, "joined", bucket.elements, self.limits.element);
            let joined = self.allocate(row, bucket.elements.saturating_mul(self.limits.element.bytes()));
            self.free(joined);
        }
        if bucket.first < partition && self.partition.is_none() && !self.limits.offload_optimizer {
            let row = self.row(Term::GradientShard, "partition", own, self.limits.element);
            self.partition = Some(self.allocate(row, own.saturating_mul(self.limits.element.bytes())));
        }
        for held in bucket.outside {
            self.free(held);
        }
    }

    fn let_partition_go(&mut self) {
        if let Some(held) = self.partition.take() {
            self.free(held);
        }
    }

    /// Offloaded, each share of a gradient is copied to its buffer on the host and back, measured in fp64 and sent to the
    /// host in fp32 (`partition_grads`, `_offload_grad_partition_at_boundary`).
    fn take_to_host(&mut self, gradients: &[u64]) {
        for elements in gradients {
            let share = elements.div_ceil(self.limits.ranks);
            let back = self.stage("gradient", share, self.limits.element);
            let norm = self.stage("norm", share, ElementType::F64);
            self.free(norm);
            let wide = self.stage("gradient", share, ElementType::F32);
            self.free(wide);
            self.free(back);
        }
    }
}
