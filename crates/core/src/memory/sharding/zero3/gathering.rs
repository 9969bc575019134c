//! What ZeRO-3 allocates and frees while a step runs: parameters that are gathered, gradients that are reduced.

use super::super::super::autograd::{Action, ElementType, Hook};
use super::super::super::precision::element_type;
use super::super::super::term::Term;
use super::super::bucket::Bucket;
use super::super::deepspeed;
use super::super::unroll::{Held, Stage, Start, Writer};
use super::coordinator::{Coordinator, Known, Lists, Move, Reach};
use crate::job::Sharding;

/// ZeRO-3 in a step.
#[derive(Debug)]
pub(super) struct Gathering<'a> {
    sharding: &'a Sharding,
    /// dtype of parameters and gradients.
    element: ElementType,
    coordinator: Coordinator,
    /// Those of the micro-batches to come, the next one last.
    to_come: Vec<Coordinator>,
    /// What it has done last.
    moves: Vec<Move>,
    /// Of each copy of a parameter.
    parameters: Vec<Parameter>,
    /// All-gathers of several parameters, by handle: a buffer for each dtype.
    flat: Vec<Vec<Held>>,
    /// An offloaded shard on the GPU, and whose: the collective holds it until it is waited for or the next one begins
    /// (`stashed_for_allocator_safety_` and `shelvesToUnstash_` in torch's ProcessGroupNCCL.cpp).
    stashed: Option<Stashed>,
    bucket: Bucket,
    meetings: Meetings,
    /// In the very first step: the module that nobody knows yet to read parameters of modules inside.
    reader: Option<usize>,
    /// What is released now was met by the graph.
    in_graph: bool,
    /// Released, and held by the graph until all of it is freed.
    kept: Vec<Held>,
}

/// One copy of a parameter.
#[derive(Debug, Clone, Copy)]
struct Parameter {
    /// Its number among the simulated ones.
    number: u32,
    elements: u64,
    /// dtype in which it is gathered.
    element: ElementType,
    /// The graph saves it as it was gathered: grouped matmuls do, where DeepSpeed's own linear saves the parameter.
    is_saved: bool,
    gathered: Option<Held>,
    /// Released, and held by the graph until the module's backward has run.
    saved: Option<Held>,
    /// The graph holds it as it is gathered now, until all of it is freed.
    is_kept: bool,
}

/// How often a module is met in the micro-batches so far, and when its last forward before its backward is.
#[derive(Debug, Default)]
struct Meetings {
    so_far: Vec<usize>,
    last_forward: Vec<usize>,
}

impl Meetings {
    fn new(traces: &[Vec<usize>]) -> Self {
        let modules = traces.iter().flatten().max().map_or(0, |last| last + 1);
        let mut all = vec![0usize; modules];
        traces
            .iter()
            .take(1)
            .flatten()
            .for_each(|module| all.iter_mut().skip(*module).take(1).for_each(|count| *count += 1));
        Self { so_far: vec![0; modules], last_forward: all.into_iter().map(|count| count.saturating_sub(1)).collect() }
    }

    fn meet(&mut self, module: usize) {
        self.so_far.iter_mut().skip(module).take(1).for_each(|count| *count += 1);
    }

    /// Whether the forward that runs is the one that backward goes by: with checkpointing, the recomputation.
    fn is_last_forward(&self, module: usize) -> bool {
        self.so_far.get(module) == self.last_forward.get(module)
    }
}

/// A shard that a collective reads.
#[derive(Debug, Clone, Copy)]
struct Stashed {
    parameter: usize,
    shard: Held,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(sharding: &'a Sharding, start: &Start<'_>) -> Self {
        let Start { modules, copies, traces, is_first, .. } = start;
        let known = copies.of_parameters(modules, |_, parameter| Known {
            elements: parameter.elements(),
            // They come to stay at the end of the first step (`persistent_parameters[0].all_gather`).
            persists: !is_first && parameter.elements() <= sharding.param_persistence_threshold,
            trains: parameter.trains,
        });
        let mut lists = Lists::default();
        copies.parameters_of_modules(modules, |parameters| lists.push(parameters));
        let reach = Reach {
            prefetch: sharding.prefetch_bucket_size,
            max_live: sharding.max_live_parameters,
            max_reuse: sharding.max_reuse_distance,
        };
        // A new trace begins with each forward of the model (`reset_step`); the very first is recorded.
        let coordinator = |(batch, trace): (usize, &Vec<usize>)| {
            Coordinator::new(reach, lists.clone(), &known, trace, *is_first && batch == 0)
        };
        let mut to_come: Vec<Coordinator> = traces.iter().enumerate().map(coordinator).collect();
        to_come.reverse();
        let nothing = || Coordinator::new(reach, Lists::default(), &[], &[], false);
        let element = element_type(sharding.param_dtype);
        let parameter = |number, one: &super::super::hooks::Parameter| Parameter {
            number,
            elements: one.elements(),
            element: one.apart.unwrap_or(element),
            is_saved: one.shape.sizes().len() > 2,
            gathered: None,
            saved: None,
            is_kept: false,
        };
        Self {
            sharding,
            element,
            coordinator: to_come.pop().unwrap_or_else(nothing),
            to_come,
            moves: Vec::new(),
            parameters: copies.of_parameters(modules, parameter),
            flat: Vec::new(),
            stashed: None,
            bucket: Bucket::default(),
            meetings: Meetings::new(traces),
            reader: modules.reader().filter(|_| *is_first).map(|module| copies.module(module, 0)),
            in_graph: false,
            kept: Vec::new(),
        }
    }

    fn elements(&self, parameter: usize) -> u64 {
        self.parameters.get(parameter).map_or(0, |one| one.elements)
    }

    fn element_of(&self, parameter: usize) -> ElementType {
        self.parameters.get(parameter).map_or(self.element, |one| one.element)
    }

    /// Elements with padding to a multiple of the ranks.
    fn padded(&self, elements: u64) -> u64 {
        elements.div_ceil(self.sharding.ranks).saturating_mul(self.sharding.ranks)
    }

    /// Alone, the partition is the parameter (`_no_gather_coalesced`).
    fn is_alone(&self) -> bool {
        self.sharding.ranks == 1 && !self.sharding.offload_param
    }

    /// What `fetch_sub_module` does on `__allgather_stream`.
    fn make(&mut self, writer: &mut Writer<'_>, one: Move) {
        let stream = deepspeed::all_gather_stream(self.sharding);
        writer.on(stream, |writer| self.make_on_stream(writer, one));
    }

    fn make_on_stream(&mut self, writer: &mut Writer<'_>, one: Move) {
        match one {
            Move::Gather(parameter) => {
                let elements = if self.is_alone() { 0 } else { self.padded(self.elements(parameter)) };
                self.hold_gathered(writer, parameter, elements);
                let shard = self.bring_shards(writer, elements / self.sharding.ranks, self.element_of(parameter));
                self.begin_collective(writer);
                self.stashed = shard.map(|shard| Stashed { parameter, shard });
            }
            Move::GatherFlat(handle) => self.gather_flat(writer, handle),
            Move::Arrive(parameter) => {
                if self.stashed.is_some_and(|stashed| stashed.parameter == parameter) {
                    self.begin_collective(writer);
                }
            }
            Move::CopyOut(parameter) => {
                let elements = if self.is_alone() { 0 } else { self.elements(parameter) };
                self.hold_gathered(writer, parameter, elements);
            }
            Move::FreeFlat(handle) => {
                self.flat.get_mut(handle).into_iter().flat_map(std::mem::take).for_each(|held| writer.free(held));
            }
            Move::Release(parameter) => {
                let Some(one) = self.parameters.get_mut(parameter) else { return };
                match one.gathered.take() {
                    Some(held) if std::mem::take(&mut one.is_kept) => self.kept.push(held),
                    Some(held) if self.in_graph && one.is_saved => one.saved = Some(held),
                    Some(held) => writer.free(held),
                    None => {}
                }
            }
        }
    }

    /// The first time, a parameter that is read past its module is gathered where it is read, on the stream of that, and
    /// becomes a parameter of the module that reads it (`ZeROOrderedDict.__getitem__` in parameter_offload.py).
    fn read_inside(&mut self, writer: &mut Writer<'_>) {
        let Some(reader) = self.reader.take() else { return };
        self.coordinator.fetch(reader, true);
        let mut moves = std::mem::take(&mut self.moves);
        self.coordinator.take_moves(&mut moves);
        for one in moves.drain(..) {
            self.make_on_stream(writer, one);
        }
        self.moves = moves;
    }

    /// A module's backward has run: the graph holds its parameters no more.
    fn free_saved(&mut self, writer: &mut Writer<'_>, module: usize) {
        for parameter in self.coordinator.parameters_of_module(module) {
            if let Some(held) = self.parameters.get_mut(*parameter).and_then(|one| one.saved.take()) {
                writer.free(held);
            }
        }
    }

    /// All of the graph is freed with the loss.
    fn free_kept(&mut self, writer: &mut Writer<'_>) {
        self.kept.drain(..).for_each(|held| writer.free(held));
        self.parameters.iter_mut().for_each(|one| one.is_kept = false);
    }

    /// A gathered parameter of so many elements.
    fn hold_gathered(&mut self, writer: &mut Writer<'_>, parameter: usize, elements: u64) {
        let Some(one) = self.parameters.get_mut(parameter) else { return };
        one.gathered = Some(writer.allocate_gathered(one.number, elements.saturating_mul(one.element.bytes())));
    }

    /// `_all_gather_coalesced`: dtype by dtype, in the order of their names.
    fn gather_flat(&mut self, writer: &mut Writer<'_>, handle: usize) {
        const BY_NAME: [ElementType; 3] = [ElementType::Half, ElementType::F32, ElementType::Byte];
        if self.flat.len() <= handle {
            self.flat.resize(handle.saturating_add(1), Vec::new());
        }
        for element in BY_NAME {
            let own = self.coordinator.parameters_of(handle).iter().filter(|one| self.element_of(**one) == element);
            let sum = own.map(|one| self.padded(self.elements(*one))).fold(0, u64::saturating_add);
            if sum == 0 {
                continue;
            }
            let elements = if self.is_alone() { 0 } else { sum };
            let held = writer.allocate(Term::GatheredParameters, "all-gather", elements, element);
            self.flat.iter_mut().skip(handle).take(1).for_each(|flat| flat.push(held));
            if let Some(shards) = self.bring_shards(writer, elements / self.sharding.ranks, element) {
                // Joined in the flat buffer, which the collective reads.
                writer.free(shards);
            }
            self.begin_collective(writer);
        }
    }

    /// Shards on the host come to the GPU first.
    fn bring_shards(&self, writer: &mut Writer<'_>, elements: u64, element: ElementType) -> Option<Held> {
        let bring = || writer.allocate(Term::OffloadStaging, "shard", elements, element);
        self.sharding.offload_param.then(bring)
    }

    /// What the collective before held is freed.
    fn begin_collective(&mut self, writer: &mut Writer<'_>) {
        if let Some(stashed) = self.stashed.take() {
            writer.free(stashed.shard);
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads`.
    fn reduce_later(&mut self, writer: &mut Writer<'_>, number: u32) {
        let parameter = writer.copies.parameter(number, 0);
        let elements = self.elements(parameter);
        let gradient = writer.hold_gradient(number, elements.saturating_mul(self.element_of(parameter).bytes()));
        let limit = self.sharding.reduce_bucket_size;
        if self.bucket.is_full_for(elements, limit) {
            self.reduce(writer);
        }
        self.bucket.take_in(writer, gradient, elements, limit);
    }

    /// `__reduce_and_partition_ipg_grads` with `reduce_scatter_coalesced` (runtime/comm/coalesced_collectives.py): all
    /// gradients are joined in a further buffer, unless there is one only and it needs no padding.
    fn reduce(&mut self, writer: &mut Writer<'_>) {
        let stream = deepspeed::reduction_stream(self.sharding);
        writer.on(stream, |writer| self.reduce_on_stream(writer));
    }

    fn reduce_on_stream(&mut self, writer: &mut Writer<'_>) {
        let bucket = std::mem::take(&mut self.bucket);
        let padded: u64 = bucket.gradients.iter().map(|one| self.padded(*one)).fold(0, u64::saturating_add);
        let joined = match bucket.gradients.as_slice() {
            [] => return,
            [one] if self.padded(*one) == *one => None,
            _ => Some(writer.allocate(Term::ReduceBuckets, "reduce-scatter", padded, self.element)),
        };
        self.begin_collective(writer);
        let (converted, joined) = match self.sharding.accumulates_apart() {
            true => (self.convert(writer, &bucket.gradients, joined), None),
            false => (Vec::new(), joined),
        };
        if self.sharding.offload_optimizer {
            self.take_to_host(writer, &bucket.gradients);
        }
        for held in bucket.outside.into_iter().chain(joined).chain(converted) {
            writer.free(held);
        }
    }

    /// The shares of reduced gradients in the dtype of their sums (`__avg_scatter_grads`): all of them beside what they were
    /// reduced in.
    fn convert(&self, writer: &mut Writer<'_>, gradients: &[u64], joined: Option<Held>) -> Vec<Held> {
        let sums = element_type(self.sharding.grad_accum_dtype);
        let share = |elements: &u64| elements.div_ceil(self.sharding.ranks);
        let mut converted = Vec::with_capacity(gradients.len());
        for elements in gradients.iter().map(share) {
            converted.push(writer.allocate(Term::GradientShard, "converted", elements, sums));
        }
        if let Some(joined) = joined {
            writer.free(joined);
        }
        converted
    }

    /// Offloaded, each share of a gradient is copied to its buffer on the host and back, measured in fp64 and sent to the
    /// host in fp32 (`partition_grads`, `_offload_grad_partition_at_boundary`).
    fn take_to_host(&self, writer: &mut Writer<'_>, gradients: &[u64]) {
        for elements in gradients {
            let share = elements.div_ceil(self.sharding.ranks);
            let sums = element_type(self.sharding.grad_accum_dtype);
            let back = writer.allocate(Term::OffloadStaging, "gradient", share, sums);
            writer.pass(Term::OffloadStaging, "norm", share, ElementType::F64);
            if !self.sharding.accumulates_apart() {
                writer.pass(Term::OffloadStaging, "gradient", share, ElementType::F32);
            }
            writer.free(back);
        }
    }
}

impl Stage for Gathering<'_> {
    fn act(&mut self, writer: &mut Writer<'_>, hook: &Hook, copy: u64) {
        let module = || writer.copies.module(hook.subject, copy);
        match hook.action {
            Action::ForwardBegins => {
                self.meetings.meet(module());
                if self.reader != Some(module()) {
                    self.coordinator.fetch(module(), true);
                }
            }
            Action::ForwardReads => self.read_inside(writer),
            Action::ForwardEnds => {
                self.in_graph = self.meetings.is_last_forward(module());
                self.coordinator.release(module(), true);
            }
            Action::BackwardBegins => {
                self.meetings.meet(module());
                self.coordinator.fetch(module(), false);
            }
            Action::BackwardEnds => self.coordinator.release(module(), false),
            Action::GradientReady => self.reduce_later(writer, hook.subject),
            Action::BackwardDone => {
                self.reduce(writer);
                self.coordinator.release_all();
            }
            // What recomputation builds goes with it, before the parameter is released.
            Action::GraphHolds => {
                let parameter = writer.copies.parameter(hook.subject, copy);
                let runs_forward = !self.coordinator.is_in_backward();
                let found = self.parameters.get_mut(parameter).filter(|one| runs_forward && one.gathered.is_some());
                found.into_iter().for_each(|one| one.is_kept = true);
            }
            Action::DataReplaced => {
                let parameter = writer.copies.parameter(hook.subject, copy);
                let gathered = self.parameters.get_mut(parameter).and_then(|one| one.gathered.take());
                gathered.into_iter().for_each(|held| writer.free(held));
            }
            Action::ReductionDone
            | Action::GradientsJoined
            | Action::StepDone
            | Action::StateBegins
            | Action::StateMade => {}
        }
        let mut moves = std::mem::take(&mut self.moves);
        self.coordinator.take_moves(&mut moves);
        for one in moves.drain(..) {
            self.make(writer, one);
        }
        self.moves = moves;
        self.in_graph = false;
        if hook.action == Action::BackwardEnds {
            let module = writer.copies.module(hook.subject, copy);
            self.free_saved(writer, module);
        }
        if hook.action == Action::BackwardDone {
            self.free_kept(writer);
        }
        if hook.action == Action::BackwardDone
            && let Some(next) = self.to_come.pop()
        {
            self.coordinator = next;
        }
    }
}
