//! `PartitionedParameterCoordinator` (DeepSpeed 0.19 runtime/zero/partitioned_param_coordinator.py): fetches a module's
//! parameters before it runs, prefetches those that come next in the trace, and lets go what is not used again soon.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// What is known of a parameter beforehand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) elements: u64,
    /// Never let go: not larger than `stage3_param_persistence_threshold`.
    pub(super) persists: bool,
    pub(super) trains: bool,
}

/// What the coordinator does to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Move {
    /// Begins an all-gather of a single parameter: its buffer is the parameter.
    Gather(usize),
    /// Waits for that all-gather.
    Arrive(usize),
    /// Begins an all-gather of several into one flat buffer, the handle's.
    GatherFlat { handle: usize, parameters: Vec<usize> },
    /// Copies a parameter out of a flat buffer.
    CopyOut(usize),
    /// Lets a flat buffer go.
    FreeFlat(usize),
    /// Lets a parameter go.
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
    active: BTreeSet<usize>,
    /// The all-gather that has not been waited for in this parameter's name (`__inflight_param_registry`).
    registered: Option<usize>,
    /// `__most_recent_step_id_param_fetched_for`.
    fetched_for: i64,
    /// Steps of the trace that use it, ascending.
    uses: Vec<usize>,
}

/// An all-gather of several parameters.
#[derive(Debug)]
struct Handle {
    parameters: Vec<usize>,
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
    /// Parameters of each module.
    modules: Vec<Rc<[usize]>>,
    parameters: Vec<Parameter>,
    handles: Vec<Handle>,
    /// Elements that the steps of the trace before each use, and all.
    used_before: Vec<u64>,
    /// Parameters of the trace that are still to be fetched, with the step that uses each.
    queue: VecDeque<(usize, usize)>,
    step: usize,
    available: u64,
    /// Modules in backward, in the order they entered it (`__active_backward_submodules`).
    in_backward: Vec<usize>,
    /// Frozen parameters fetched by recomputation, by the module that was last in backward (`ds_recompute_parameters`).
    recomputed: BTreeMap<usize, BTreeSet<usize>>,
    moves: Vec<Move>,
}

impl Coordinator {
    /// A step that is to meet modules in the order of `trace`.
    pub(super) fn new(reach: Reach, modules: Vec<Rc<[usize]>>, known: &[Known], trace: &[usize]) -> Self {
        let mut parameters: Vec<Parameter> = known
            .iter()
            .map(|known| Parameter {
                known: *known,
                status: if known.persists { Status::Available } else { Status::NotAvailable },
                active: BTreeSet::new(),
                registered: None,
                fetched_for: i64::MIN,
                uses: Vec::new(),
            })
            .collect();
        let mut used_before = vec![0u64];
        let mut queue = VecDeque::new();
        for (step, module) in trace.iter().enumerate() {
            let mut used = used_before.last().copied().unwrap_or(0);
            for parameter in modules.get(*module).iter().flat_map(|own| own.iter()) {
                if let Some(state) = parameters.get_mut(*parameter) {
                    state.uses.push(step);
                    used = used.saturating_add(state.known.elements);
                    queue.push_back((*parameter, step));
                }
            }
            used_before.push(used);
        }
        Self {
            reach,
            modules,
            parameters,
            handles: Vec::new(),
            used_before,
            queue,
            step: 0,
            available: 0,
            in_backward: Vec::new(),
            recomputed: BTreeMap::new(),
            moves: Vec::new(),
        }
    }

    /// What has been done to memory since the last call.
    pub(super) fn take_moves(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.moves)
    }

    fn own(&self, module: usize) -> Rc<[usize]> {
        self.modules.get(module).cloned().unwrap_or_default()
    }

    /// `fetch_sub_module`.
    pub(super) fn fetch(&mut self, module: usize, forward: bool) {
        if !forward && !self.in_backward.contains(&module) {
            self.in_backward.push(module);
        }
        let own = self.own(module);
        self.all_gather(&own);
        // Frozen parameters that recomputation fetches are let go with the module that was last in backward.
        let owner = self.in_backward.last().copied().filter(|_| forward);
        for parameter in own.iter() {
            if let Some(state) = self.parameters.get_mut(*parameter) {
                state.active.insert(module);
                if let Some(owner) = owner.filter(|_| !state.known.trains) {
                    state.active.insert(owner);
                    self.recomputed.entry(owner).or_default().insert(*parameter);
                }
            }
            self.wait(*parameter);
        }
        self.discard_from_queue(&own);
        self.prefetch();
        self.step += 1;
    }

    /// What the module needs is not to be prefetched any more, unless an earlier prefetch has passed it by.
    fn discard_from_queue(&mut self, own: &[usize]) {
        let step = as_i64(self.step);
        let awaited =
            own.iter().filter(|one| self.parameters.get(**one).is_some_and(|state| state.fetched_for < step)).count();
        let mut discarded = BTreeSet::new();
        while discarded.len() < awaited
            && let Some((parameter, used_at)) = self.queue.pop_front()
        {
            if let Some(state) = self.parameters.get_mut(parameter) {
                state.fetched_for = as_i64(used_at);
            }
            discarded.insert(parameter);
        }
    }

    /// Begins to gather what comes next, as much as the bucket and the limit of live parameters allow.
    fn prefetch(&mut self) {
        let room = self.reach.prefetch.min(self.reach.max_live.saturating_sub(self.available));
        let mut chosen: Vec<usize> = Vec::new();
        let mut elements = 0u64;
        while elements < room
            && let Some((parameter, used_at)) = self.queue.pop_front()
        {
            let Some(state) = self.parameters.get_mut(parameter) else { continue };
            state.fetched_for = state.fetched_for.max(as_i64(used_at));
            if state.status == Status::NotAvailable && !chosen.contains(&parameter) {
                elements = elements.saturating_add(state.known.elements);
                chosen.push(parameter);
            }
        }
        self.all_gather(&chosen);
    }

    /// `__all_gather_params`: one buffer for one parameter, a flat one for several.
    fn all_gather(&mut self, wanted: &[usize]) {
        let absent =
            |one: &&usize| self.parameters.get(**one).is_some_and(|state| state.status == Status::NotAvailable);
        let gathered: Vec<usize> = wanted.iter().filter(absent).copied().collect();
        let handle = self.handles.len();
        for parameter in &gathered {
            if let Some(state) = self.parameters.get_mut(*parameter) {
                state.status = Status::InFlight;
                state.registered = Some(handle);
                self.available = self.available.saturating_add(state.known.elements);
            }
        }
        match gathered.as_slice() {
            [] => return,
            [one] => self.moves.push(Move::Gather(*one)),
            _ => self.moves.push(Move::GatherFlat { handle, parameters: gathered.clone() }),
        }
        self.handles.push(Handle { registered: gathered.len(), complete: false, parameters: gathered });
    }

    /// `AllGatherCoalescedHandle.wait`: the first to wait copies every parameter out; the flat buffer goes with the last.
    fn wait(&mut self, parameter: usize) {
        let Some(number) = self.parameters.get_mut(parameter).and_then(|state| state.registered.take()) else { return };
        let Some(handle) = self.handles.get_mut(number) else { return };
        let flat = handle.parameters.len() > 1;
        if !handle.complete {
            handle.complete = true;
            for other in &handle.parameters {
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
        let own = self.own(module);
        let mut released: BTreeSet<usize> = own.iter().copied().filter(|one| self.may_release(*one)).collect();
        let mut touched: BTreeSet<usize> = own.iter().copied().collect();
        if !forward {
            let recomputed = self.recomputed.remove(&module).unwrap_or_default();
            let lets_go = |one: &&usize| self.parameters.get(**one).is_some_and(|state| !state.known.persists);
            released.extend(recomputed.iter().filter(lets_go));
            touched.extend(recomputed);
            self.in_backward.retain(|other| *other != module);
        }
        for parameter in touched {
            if let Some(state) = self.parameters.get_mut(parameter) {
                state.active.remove(&module);
            }
            if released.contains(&parameter) {
                self.release_parameter(parameter);
            }
        }
    }

    /// `__params_to_release`: not what persists, not what prefetching has passed by, not what is used again within
    /// `stage3_max_reuse_distance`.
    fn may_release(&self, parameter: usize) -> bool {
        let Some(state) = self.parameters.get(parameter) else { return false };
        if state.known.persists || state.fetched_for > as_i64(self.step) {
            return false;
        }
        let next = state.uses.partition_point(|step| *step < self.step);
        let Some(next) = state.uses.get(next) else { return true };
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
                state.active.clear();
                if !state.known.persists {
                    self.release_parameter(parameter);
                }
            }
        }
    }
}

fn as_i64(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX)
}
