//! `PartitionedParameterCoordinator` (DeepSpeed 0.19 runtime/zero/partitioned_param_coordinator.py): fetches a module's
//! parameters before it runs, prefetches those that come next in the trace, and frees what is not used again soon.

use crate::order;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// What is known of a parameter beforehand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) elements: u64,
    /// Never freed: not larger than `stage3_param_persistence_threshold`.
    pub(super) persists: bool,
    pub(super) trains: bool,
}

/// What the coordinator does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Begins an all-gather of a single parameter: its buffer is the parameter.
    Gather(usize),
    /// Waits for that all-gather.
    Arrive(usize),
    /// Begins an all-gather of several into one flat buffer, the handle's.
    GatherFlat(usize),
    /// Copies a parameter out of a flat buffer.
    CopyOut(usize),
    /// Frees a flat buffer.
    FreeFlat(usize),
    /// Frees a parameter.
    Release(usize),
}

/// `ZeroParamStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    NotAvailable,
    InFlight,
    Available,
}

/// A parameter while the step runs.
#[derive(Debug)]
struct Parameter {
    known: Known,
    status: Status,
    /// Modules that run with it (`ds_active_sub_modules`).
    active: Active,
    /// The all-gather that has not been waited for in this parameter's name (`__inflight_param_registry`).
    registered: Option<usize>,
    /// `__most_recent_step_id_param_fetched_for`.
    fetched_for: i64,
}

/// Modules that run with a parameter: mostly one at a time.
#[derive(Debug, Default)]
struct Active {
    one: Option<usize>,
    others: Vec<usize>,
}

impl Active {
    fn insert(&mut self, module: usize) {
        match self.one {
            Some(one) if one != module => insert(&mut self.others, module),
            _ => {
                self.others.retain(|other| *other != module);
                self.one = Some(module);
            }
        }
    }

    fn remove(&mut self, module: usize) {
        self.one = self.one.filter(|one| *one != module);
        self.others.retain(|other| *other != module);
    }

    fn is_empty(&self) -> bool {
        self.one.is_none() && self.others.is_empty()
    }
}

/// Lists of numbers, one after the other in one.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    ends: Vec<usize>,
    members: Vec<usize>,
}

impl Lists {
    /// Adds a list.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = usize>) {
        self.members.extend(list);
        self.ends.push(self.members.len());
    }

    /// Where the members of a list stand.
    fn places(&self, list: usize) -> Range<usize> {
        let end = |i: usize| self.ends.get(i).copied().unwrap_or(self.members.len());
        list.checked_sub(1).map_or(0, end)..end(list)
    }

    fn get(&self, list: usize) -> &[usize] {
        self.members.get(self.places(list)).unwrap_or_default()
    }

    fn member(&self, place: usize) -> usize {
        self.members.get(place).copied().unwrap_or(usize::MAX)
    }
}

/// An all-gather of several parameters.
#[derive(Debug)]
struct Handle {
    complete: bool,
    /// Parameters that have not been waited for.
    registered: usize,
}

/// `stage3_prefetch_bucket_size`, `stage3_max_live_parameters`, `stage3_max_reuse_distance`, in elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub(super) prefetch: u64,
    pub(super) max_live: u64,
    pub(super) max_reuse: u64,
}

/// The coordinator in a step whose trace is known.
#[derive(Debug)]
pub(super) struct Coordinator {
    reach: Reach,
    /// The trace is only being recorded: nothing is prefetched, and everything is released after each module.
    records: bool,
    /// Parameters of each module.
    modules: Lists,
    parameters: Vec<Parameter>,
    /// Of each parameter: the steps of the trace that use it, ascending.
    uses: Lists,
    handles: Vec<Handle>,
    /// Parameters of each all-gather.
    gathered: Lists,
    /// Elements that the steps of the trace before each use, and all.
    used_before: Vec<u64>,
    /// Parameters of the trace that are still to be fetched, with the step that uses each.
    queue: VecDeque<(usize, usize)>,
    step: usize,
    available: u64,
    /// Modules in backward, in the order they entered it (`__active_backward_submodules`).
    in_backward: Vec<usize>,
    /// Frozen parameters fetched by recomputation, by the module that was last in backward (`ds_recompute_parameters`).
    recomputed: BTreeMap<usize, Vec<usize>>,
    moves: Vec<Move>,
    /// Parameters that a release touches, and whether it frees them.
    touched: Vec<(usize, bool)>,
}

impl Coordinator {
    /// A forward and backward that is to meet modules in the order of `trace`; `records`: this is not known yet
    /// (`ZeRoTraceMode.RECORD`).
    pub(super) fn new(reach: Reach, modules: Lists, known: &[Known], trace: &[usize], records: bool) -> Self {
        let parameters: Vec<Parameter> = known
            .iter()
            .map(|known| Parameter {
                known: *known,
                status: if known.persists { Status::Available } else { Status::NotAvailable },
                active: Active::default(),
                registered: None,
                fetched_for: i64::MIN,
            })
            .collect();
        let mut used_before = Vec::with_capacity(trace.len() + 1);
        used_before.push(0u64);
        let mut queue = VecDeque::new();
        let mut counts = vec![0usize; parameters.len()];
        for (step, module) in trace.iter().enumerate() {
            let mut used = used_before.last().copied().unwrap_or(0);
            for parameter in modules.get(*module) {
                if let (Some(state), Some(count)) = (parameters.get(*parameter), counts.get_mut(*parameter)) {
                    *count += 1;
                    used = used.saturating_add(state.known.elements);
                    queue.push_back((*parameter, step));
                }
            }
            used_before.push(used);
        }
        let mut uses = Lists { ends: Vec::with_capacity(counts.len()), members: vec![0; queue.len()] };
        let mut first = 0;
        for count in &mut counts {
            uses.ends.push(first + *count);
            first += std::mem::replace(count, first);
        }
        for (parameter, step) in &queue {
            if let Some(next) = counts.get_mut(*parameter) {
                if let Some(place) = uses.members.get_mut(*next) {
                    *place = *step;
                }
                *next += 1;
            }
        }
        Self {
            reach,
            records,
            modules,
            parameters,
            uses,
            handles: Vec::new(),
            gathered: Lists::default(),
            used_before,
            queue,
            step: 0,
            available: 0,
            in_backward: Vec::new(),
            recomputed: BTreeMap::new(),
            moves: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Puts what has been done to memory since the last call in the place of `moves`.
    pub(super) fn take_moves(&mut self, moves: &mut Vec<Move>) {
        moves.clear();
        std::mem::swap(&mut self.moves, moves);
    }

    /// Whether some module's backward has begun.
    pub(super) fn is_in_backward(&self) -> bool {
        !self.in_backward.is_empty()
    }

    /// Parameters of an all-gather.
    pub(super) fn parameters_of(&self, handle: usize) -> &[usize] {
        self.gathered.get(handle)
    }

    /// Parameters of a module.
    pub(super) fn parameters_of_module(&self, module: usize) -> &[usize] {
        self.modules.get(module)
    }

    /// `fetch_sub_module`.
    pub(super) fn fetch(&mut self, module: usize, forward: bool) {
        if !forward && !self.in_backward.contains(&module) {
            self.in_backward.push(module);
        }
        let own = self.modules.places(module);
        let first = self.gathered.members.len();
        for place in own.clone() {
            self.gather(self.modules.member(place));
        }
        self.all_gather(first);
        // Frozen parameters that recomputation fetches are freed with the module that was last in backward.
        let owner = self.in_backward.last().copied().filter(|_| forward);
        for place in own.clone() {
            let parameter = self.modules.member(place);
            if let Some(state) = self.parameters.get_mut(parameter) {
                state.active.insert(module);
                if let Some(owner) = owner.filter(|_| !state.known.trains) {
                    state.active.insert(owner);
                    insert(self.recomputed.entry(owner).or_default(), parameter);
                }
            }
            self.wait(parameter);
        }
        if !self.records {
            self.discard_from_queue(module);
            self.prefetch();
        }
        self.step += 1;
    }

    /// What the module needs is not to be prefetched any more, unless an earlier prefetch has passed it by.
    fn discard_from_queue(&mut self, module: usize) {
        let step = as_i64(self.step);
        let own = self.modules.get(module);
        let awaited =
            own.iter().filter(|one| self.parameters.get(**one).is_some_and(|state| state.fetched_for < step)).count();
        let mut discarded = Vec::new();
        while discarded.len() < awaited
            && let Some((parameter, used_at)) = self.queue.pop_front()
        {
            if let Some(state) = self.parameters.get_mut(parameter) {
                state.fetched_for = as_i64(used_at);
            }
            insert(&mut discarded, parameter);
        }
    }

    /// Begins to gather what comes next, as much as the bucket and the limit of live parameters allow.
    fn prefetch(&mut self) {
        let room = self.reach.prefetch.min(self.reach.max_live.saturating_sub(self.available));
        let first = self.gathered.members.len();
        let mut elements = 0u64;
        while elements < room
            && let Some((parameter, used_at)) = self.queue.pop_front()
        {
            let Some(state) = self.parameters.get_mut(parameter) else { continue };
            state.fetched_for = state.fetched_for.max(as_i64(used_at));
            let more = state.known.elements;
            if self.gather(parameter) {
                elements = elements.saturating_add(more);
            }
        }
        self.all_gather(first);
    }

    /// Puts a parameter into the next all-gather, unless it is there or on its way.
    fn gather(&mut self, parameter: usize) -> bool {
        let handle = self.handles.len();
        let Some(state) = self.parameters.get_mut(parameter) else { return false };
        let absent = state.status == Status::NotAvailable;
        if absent {
            state.status = Status::InFlight;
            state.registered = Some(handle);
            self.available = self.available.saturating_add(state.known.elements);
            self.gathered.members.push(parameter);
        }
        absent
    }

    /// `__all_gather_params` for those put in since `first`: one buffer for one parameter, a flat one for several.
    fn all_gather(&mut self, first: usize) {
        let handle = self.handles.len();
        match self.gathered.members.get(first..).unwrap_or_default() {
            [] => return,
            [one] => self.moves.push(Move::Gather(*one)),
            _ => self.moves.push(Move::GatherFlat(handle)),
        }
        let end = self.gathered.members.len();
        self.gathered.ends.push(end);
        self.handles.push(Handle { registered: end - first, complete: false });
    }

    /// `AllGatherCoalescedHandle.wait`: the first to wait copies every parameter out; the flat buffer goes with the last.
    fn wait(&mut self, parameter: usize) {
        let Some(number) = self.parameters.get_mut(parameter).and_then(|state| state.registered.take()) else { return };
        let Some(handle) = self.handles.get_mut(number) else { return };
        let all = self.gathered.get(number);
        let flat = all.len() > 1;
        if !handle.complete {
            handle.complete = true;
            for other in all {
                if let Some(state) = self.parameters.get_mut(*other) {
                    state.status = Status::Available;
                }
                self.moves.push(if flat { Move::CopyOut(*other) } else { Move::Arrive(*other) });
            }
        }
        handle.registered = handle.registered.saturating_sub(1);
        if handle.registered == 0 && flat {
            self.moves.push(Move::FreeFlat(number));
        }
    }

    /// `release_sub_module`.
    pub(super) fn release(&mut self, module: usize, forward: bool) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.extend(self.modules.get(module).iter().map(|one| (*one, self.may_release(*one))));
        if !forward {
            let frees = |one: &usize| self.parameters.get(*one).is_some_and(|state| !state.known.persists);
            let recomputed = self.recomputed.remove(&module).unwrap_or_default();
            touched.extend(recomputed.iter().map(|one| (*one, frees(one))));
            self.in_backward.retain(|other| *other != module);
        }
        // Those that both lists name are freed if one of them says so.
        // A module's own come in the model's order already.
        if !touched.is_sorted_by(|one, other| one.0 < other.0) {
            order::sort(&mut touched, |one, other| (one.0, !one.1).cmp(&(other.0, !other.1)));
            touched.dedup_by_key(|(parameter, _)| *parameter);
        }
        for (parameter, frees) in touched.drain(..) {
            if let Some(state) = self.parameters.get_mut(parameter) {
                state.active.remove(module);
            }
            if frees {
                self.release_parameter(parameter);
            }
        }
        self.touched = touched;
    }

    /// `__params_to_release`: not what persists, not what prefetching has passed by, not what is used again within
    /// `stage3_max_reuse_distance`.
    fn may_release(&self, parameter: usize) -> bool {
        let Some(state) = self.parameters.get(parameter) else { return false };
        if state.known.persists || state.fetched_for > as_i64(self.step) {
            return false;
        }
        if self.records {
            return true;
        }
        let uses = self.uses.get(parameter);
        let next = uses.partition_point(|step| *step < self.step);
        let Some(next) = uses.get(next) else { return true };
        let used = |step: usize| self.used_before.get(step).copied().unwrap_or(u64::MAX);
        // The step of the next use is still looked at when what lies before it is less than the distance.
        used(*next).saturating_sub(used(self.step)) >= self.reach.max_reuse
    }

    fn release_parameter(&mut self, parameter: usize) {
        let Some(state) = self.parameters.get_mut(parameter) else { return };
        if state.status == Status::Available && state.active.is_empty() {
            state.status = Status::NotAvailable;
            self.available = self.available.saturating_sub(state.known.elements);
            self.moves.push(Move::Release(parameter));
        }
    }

    /// `_partition_all_parameters`, with which `step()` begins, and before it `release_backward_leftovers`.
    pub(super) fn release_all(&mut self) {
        self.in_backward.clear();
        for parameter in 0..self.parameters.len() {
            self.wait(parameter);
            if let Some(state) = self.parameters.get_mut(parameter) {
                state.active = Active::default();
                if !state.known.persists {
                    self.release_parameter(parameter);
                }
            }
        }
    }
}

/// Adds a number that the list does not have.
fn insert(list: &mut Vec<usize>, number: usize) {
    if !list.contains(&number) {
        list.push(number);
    }
}

fn as_i64(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX)
}
