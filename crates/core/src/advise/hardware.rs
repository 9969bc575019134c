//! Cards on which a plan would fit.

use super::fit::{Leanest, questions};
use super::judge::{Judge, Judgement};
use super::lever::{Level, Lever};
use super::search::{choices, leanest};
use crate::gpu;
use crate::plan::{GpuChoice, Method, Plan, Task};
use std::rc::Rc;

/// Cards on which a plan would fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// Whether the training stays as it is on them, or becomes QLoRA.
    pub level: Level,
    /// How many.
    pub num_gpus: u64,
    /// Which; the plan's own where only their number differs.
    pub gpu: GpuChoice,
    /// What each has, bytes.
    pub memory_bytes: u64,
    /// The plan on them.
    pub plan: Plan,
}

/// Numbers of cards that are looked at: machines have powers of two, clusters have machines.
const COUNTS: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Ways out by hardware: as few larger cards as can be, and more of the plan's own; for the training as it is, then for
/// QLoRA where that needs fewer or smaller cards.
/// `leanest` is what needs least of all that was tried on the plan's own cards: the smallest card that it fits comes last.
pub(super) fn hardware(plan: &Plan, leanest: Option<&Leanest>, judge: &dyn Judge) -> Vec<Hardware> {
    let mut found: Vec<Hardware> = Vec::new();
    let adapted = (plan.method != Method::Qlora && plan.task != Task::Inference).then(|| Lever::Qlora.apply(plan));
    let smallest = leanest.and_then(|leanest| smallest_card(leanest, judge));
    let starts = [Some((Level::Same, plan.clone())), adapted.flatten().map(|plan| (Level::Different, plan))];
    let both = |(level, start): (Level, Plan)| {
        [larger_cards(&start, level, judge), more_cards(&start, level, judge)].into_iter().flatten().collect::<Vec<_>>()
    };
    for one in starts.into_iter().flatten().flat_map(both).chain(smallest) {
        // What changes the training has to do with less than what does not.
        let no_less = |other: &Hardware| other.num_gpus <= one.num_gpus && other.memory_bytes <= one.memory_bytes;
        if !found.iter().any(no_less) {
            found.push(one);
        }
    }
    found
}

/// The plan on `num_gpus` cards with the levers that save most and change nothing about the result, and what each needs:
/// with offload and without, as the host may have no room.
fn lean(plan: &Plan, num_gpus: u64, judge: &dyn Judge) -> Vec<(Rc<Plan>, Judgement)> {
    let spread = Lever::Cards(num_gpus).apply(plan);
    let spread = if num_gpus == plan.num_gpus { Some(plan) } else { spread.as_ref() };
    let Some(spread) = spread else { return Vec::new() };
    let questions = questions(spread, Level::Same);
    leanest(&choices(spread, &questions), &questions, judge)
}

/// The smallest card of the catalogue on which the leanest plan fits.
fn smallest_card(leanest: &Leanest, judge: &dyn Judge) -> Option<Hardware> {
    let num_gpus = leanest.plan.num_gpus;
    by_memory().into_iter().filter(|(bytes, _)| *bytes >= leanest.need_bytes).find_map(|(memory_bytes, id)| {
        let gpu = GpuChoice::Catalogue(id.to_owned());
        let plan = Plan { gpu: gpu.clone(), ..leanest.plan.clone() };
        judge.suits(&plan).then_some(Hardware { level: Level::Different, num_gpus, gpu, memory_bytes, plan })
    })
}

/// Cards of the catalogue by memory, bytes, one of each size.
fn by_memory() -> Vec<(u64, &'static str)> {
    let mut cards: Vec<&gpu::Card> = gpu::catalogue().iter().collect();
    // Of one size the quickest.
    cards.sort_by(|a, b| {
        let quicker = b.memory_bandwidth_gb_s.total_cmp(&a.memory_bandwidth_gb_s);
        a.memory_bytes().cmp(&b.memory_bytes()).then(quicker)
    });
    cards.dedup_by_key(|card| card.memory_bytes());
    cards.into_iter().map(|card| (card.memory_bytes(), card.id.as_ref())).collect()
}

/// As few cards as can be, then the smallest of the catalogue that suffice.
fn larger_cards(plan: &Plan, level: Level, judge: &dyn Judge) -> Option<Hardware> {
    let cards = by_memory();
    let own = plan.subject().ok()?.memory_bytes;
    counts(plan).find_map(|num_gpus| {
        let lean = lean(plan, num_gpus, judge);
        cards.iter().filter(|(bytes, _)| *bytes >= own).find_map(|(memory_bytes, id)| {
            let gpu = GpuChoice::Catalogue((*id).to_owned());
            let on_it = |plan: &Plan| Plan { gpu: gpu.clone(), ..plan.clone() };
            let enough = lean.iter().filter(|(_, judged)| judged.need_bytes <= *memory_bytes);
            let enough = enough.filter(|(plan, judged)| judged.suits_host(&on_it(plan)));
            let plan = on_it(&enough.min_by_key(|(_, judged)| judged.need_bytes)?.0);
            judge.suits(&plan).then_some(Hardware { level, num_gpus, gpu, memory_bytes: *memory_bytes, plan })
        })
    })
}

/// The fewest cards like the plan's own; bisected, as more cards never take more of each.
fn more_cards(plan: &Plan, level: Level, judge: &dyn Judge) -> Option<Hardware> {
    let memory_bytes = plan.subject().ok()?.memory_bytes;
    let on = |num_gpus| {
        let lean = lean(plan, num_gpus, judge);
        let suiting = lean.into_iter().filter(|(plan, judged)| judged.suits(plan));
        suiting.min_by_key(|(_, judged)| judged.need_bytes).map(|(plan, _)| Rc::unwrap_or_clone(plan))
    };
    let counts: Vec<u64> = counts(plan).collect();
    let (mut low, mut high) = (0, counts.len().checked_sub(1)?);
    let mut found = on(*counts.get(high)?)?;
    while low < high {
        let middle = low + (high - low) / 2;
        match counts.get(middle).and_then(|count| on(*count)) {
            Some(fewer) => (high, found) = (middle, fewer),
            None => low = middle + 1,
        }
    }
    Some(Hardware { level, num_gpus: found.num_gpus, gpu: found.gpu.clone(), memory_bytes, plan: found })
}

fn counts(plan: &Plan) -> impl Iterator<Item = u64> {
    let own = plan.num_gpus;
    std::iter::once(own).chain(COUNTS.into_iter().filter(move |count| *count > own))
}
