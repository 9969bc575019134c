//! A real step set against the plan's own: how much is handed out after each request, and what lives at both peaks.

use std::collections::BTreeMap;

use headroom_core::memory::{Held, Moment, Requests, Term};

use super::{Action, Device, Snapshot, rounded, steps};

/// Most points of a curve: more than a chart has columns.
const POINTS: usize = 2_000;
/// Most sizes of a list.
const MOST_SIZES: usize = 40;

/// Tensors of one size that live at the peak of one side and not of the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfSize {
    /// Bytes of each.
    pub bytes: u64,
    /// How many more there are than on the other side.
    pub count: u64,
    /// What the plan calls them, of those that only the plan has.
    pub terms: Vec<(Term, String)>,
    /// Where the run asked for one of them, of those that only the run has: the innermost frames, as far as stacks were kept.
    pub stack: Vec<String>,
}

/// A real step beside the plan's.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Handed out after each event of the run's last whole step, bytes; at most 2,000 points, each the highest of its stretch.
    /// First the share of the step that has passed, 0 to 1, counted in events.
    pub run: Vec<(f64, u64)>,
    /// The same of the plan's steady step.
    pub plan: Vec<(f64, u64)>,
    /// Most handed out in the run's step, bytes.
    pub run_peak_bytes: u64,
    /// Most handed out in the plan's step, bytes.
    pub plan_peak_bytes: u64,
    /// Requests in the run's step.
    pub run_requests: usize,
    /// Requests in the plan's step.
    pub plan_requests: usize,
    /// Requests of the run's step for which the plan's has one of the same size.
    pub matched_requests: usize,
    /// What lives at the run's peak and not at the plan's, the most bytes first.
    pub only_run: Vec<OfSize>,
    /// What lives at the plan's peak and not at the run's, the most bytes first.
    pub only_plan: Vec<OfSize>,
}

/// Sets the last whole step of the device with most reserved against the plan's steady step; `None` where the trace has no
/// whole step.
pub fn compare(snapshot: &Snapshot, requests: &Requests) -> Option<Comparison> {
    let device = snapshot.devices.first()?;
    let range = steps::last(device, &snapshot.steps)?;
    let allocated = device.allocated();
    let run = allocated.get(range.clone())?;
    let (at, run_peak_bytes) = peak(run)?;
    let moments = requests.steady();
    let plan: Vec<u64> = moments.iter().map(|moment| moment.allocated_bytes).collect();
    let (_, plan_peak_bytes) = peak(&plan)?;
    let live = live_at(device, range.start + at);
    let asked = device.events.get(range)?.iter().filter(|event| event.action == Action::Alloc);
    let asked = counted(asked.map(|event| rounded(event.bytes)));
    let wanted = counted(
        moments.iter().filter_map(|moment: &Moment| u64::try_from(moment.bytes).ok().filter(|bytes| *bytes > 0)),
    );
    let held = requests.held_at_peak();
    let (only_run, only_plan) = differences(snapshot, device, &live, &held);
    Some(Comparison {
        run: curve(run),
        plan: curve(&plan),
        run_peak_bytes,
        plan_peak_bytes,
        run_requests: asked.values().sum(),
        plan_requests: wanted.values().sum(),
        matched_requests: asked
            .iter()
            .map(|(bytes, count)| (*count).min(wanted.get(bytes).copied().unwrap_or(0)))
            .sum(),
        only_run,
        only_plan,
    })
}

/// Place and height of the first peak.
fn peak(heights: &[u64]) -> Option<(usize, u64)> {
    heights.iter().copied().enumerate().max_by_key(|(at, bytes)| (*bytes, usize::MAX - at))
}

fn counted(sizes: impl Iterator<Item = u64>) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for bytes in sizes {
        *counts.entry(bytes).or_insert(0) += 1;
    }
    counts
}

fn curve(heights: &[u64]) -> Vec<(f64, u64)> {
    let each = heights.len().div_ceil(POINTS).max(1);
    let last = heights.len().max(2) - 1;
    let of =
        |(i, stretch): (usize, &[u64])| ((i * each) as f64 / last as f64, stretch.iter().copied().max().unwrap_or(0));
    heights.chunks(each).enumerate().map(of).collect()
}

/// What lives after the event at `last`: sizes with the place of the event that asked for one, where the trace has it.
fn live_at(device: &Device, last: usize) -> BTreeMap<u64, Vec<Option<usize>>> {
    let mut by_address: BTreeMap<u64, usize> = BTreeMap::new();
    // What was there before the trace lives at the end, or is freed in it without having been asked for.
    let mut before = counted(device.live.iter().map(|bytes| rounded(*bytes)));
    let mut freed_first: Vec<(usize, u64)> = Vec::new();
    for (i, event) in device.events.iter().enumerate() {
        match event.action {
            Action::Alloc => {
                by_address.insert(event.address, i);
            }
            Action::Free if by_address.remove(&event.address).is_none() => freed_first.push((i, rounded(event.bytes))),
            _ => {}
        }
    }
    // Of those that live at the end, the trace has asked for these itself.
    for place in by_address.values() {
        let bytes = device.events.get(*place).map_or(0, |event| rounded(event.bytes));
        if let Some(count) = before.get_mut(&bytes) {
            *count = count.saturating_sub(1);
        }
    }
    for (_, bytes) in freed_first.iter().filter(|(i, _)| *i > last) {
        *before.entry(*bytes).or_insert(0) += 1;
    }
    let mut live: BTreeMap<u64, Vec<Option<usize>>> = BTreeMap::new();
    for (bytes, count) in before.into_iter().filter(|(_, count)| *count > 0) {
        live.insert(bytes, vec![None; count]);
    }
    let mut asked: BTreeMap<u64, usize> = BTreeMap::new();
    for (i, event) in device.events.iter().enumerate().take(last + 1) {
        match event.action {
            Action::Alloc => {
                asked.insert(event.address, i);
            }
            Action::Free => {
                asked.remove(&event.address);
            }
            Action::OutOfMemory { .. } => {}
        }
    }
    for place in asked.into_values() {
        let bytes = device.events.get(place).map_or(0, |event| rounded(event.bytes));
        live.entry(bytes).or_default().push(Some(place));
    }
    live
}

/// What one side has more of, size by size.
fn differences(
    snapshot: &Snapshot,
    device: &Device,
    live: &BTreeMap<u64, Vec<Option<usize>>>,
    held: &[Held],
) -> (Vec<OfSize>, Vec<OfSize>) {
    let mut named: BTreeMap<u64, (u64, Vec<(Term, String)>)> = BTreeMap::new();
    for one in held {
        let (count, terms) = named.entry(one.bytes).or_default();
        *count += one.count;
        terms.push((one.term, one.module.clone()));
    }
    let mut only_run = Vec::new();
    for (bytes, places) in live {
        let known = named.get(bytes).map_or(0, |(count, _)| *count);
        let count = (places.len() as u64).saturating_sub(known);
        if count > 0 {
            let latest = places.iter().flatten().max().and_then(|place| device.events.get(*place));
            let stack = latest.map(|event| snapshot.stack(event)).unwrap_or_default();
            only_run.push(OfSize { bytes: *bytes, count, terms: Vec::new(), stack });
        }
    }
    let mut only_plan = Vec::new();
    for (bytes, (count, terms)) in named {
        let count = count.saturating_sub(live.get(&bytes).map_or(0, Vec::len) as u64);
        if count > 0 {
            only_plan.push(OfSize { bytes, count, terms, stack: Vec::new() });
        }
    }
    for list in [&mut only_run, &mut only_plan] {
        list.sort_by_key(|one| std::cmp::Reverse((one.bytes.saturating_mul(one.count), one.bytes)));
        list.truncate(MOST_SIZES);
    }
    (only_run, only_plan)
}
