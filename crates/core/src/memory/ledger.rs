//! The ledger: the tape read as phases, each with what lives at its fullest moment.

use super::autograd::{self, LayerTag, Row, Segment, Sym, TapeRecord, passes};
use super::estimate::{Allocation, PhaseUse};
use super::phase::Phase;
use super::term::{Category, Term};
use std::ops::Range;

/// The tape, read.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Phases in the order they run.
    pub(super) phases: Vec<PhaseUse>,
    /// Rows that live at some phase's fullest moment.
    pub(super) allocations: Vec<Allocation>,
    /// Phase with the most.
    pub(super) peak_phase: Phase,
    /// Bytes at that moment.
    pub(super) peak_bytes: u64,
}

/// The fullest moment of a phase.
#[derive(Debug, Clone, Copy)]
struct Top {
    phase: Phase,
    bytes: i128,
    moment: Moment,
}

/// A moment: so many of a turn's layers have run, and of the next one the events up to one.
#[derive(Debug, Clone, Copy)]
struct Moment {
    turn: usize,
    layers_before: u64,
    events_end: usize,
}

/// Reads a tape. `num_layers` is L, for formulas.
pub(super) fn read(record: &TapeRecord, num_layers: u64) -> Ledger {
    if let Some(moments) = &record.moments {
        return outline(&moments.phases);
    }
    let turns = turns(record);
    let tops = fullest_moments(record, &turns);
    let snapshots = snapshots(record, &turns, &tops);
    let peak = tops.iter().enumerate().max_by_key(|(i, top)| (top.bytes, usize::MAX - i)).map(|(i, _)| i);
    let mut phases = Vec::with_capacity(tops.len());
    for (top, rows) in tops.iter().zip(&snapshots) {
        let mut by_category = Vec::with_capacity(Category::ALL.len());
        for category in Category::ALL {
            let bytes: i128 = record
                .rows
                .iter()
                .zip(rows)
                .filter(|(row, _)| Term::from(row.label.kind).category() == *category)
                .map(|(_, bytes)| bytes)
                .sum();
            by_category.push((*category, to_u64(bytes)));
        }
        phases.push(PhaseUse {
            phase: top.phase,
            allocated_bytes: to_u64(top.bytes),
            by_category,
            fragmentation_bytes: 0,
        });
    }
    let mut allocations = Vec::new();
    for (i, row) in record.rows.iter().enumerate() {
        let level = |rows: &Vec<i128>| rows.get(i).copied().unwrap_or(0);
        let most = snapshots.iter().map(level).max().unwrap_or(0);
        if most > 0 {
            let of = |(top, rows): (&Top, &Vec<i128>)| {
                let bytes = level(rows);
                (bytes > 0).then(|| (top.phase, to_u64(bytes)))
            };
            let lives = tops.iter().zip(&snapshots).filter_map(of).collect();
            let at_peak = peak.and_then(|i| snapshots.get(i)).map_or(0, level);
            allocations.push(allocation(record, row, at_peak, lives, to_u64(most), num_layers));
        }
    }
    let top = peak.and_then(|i| tops.get(i));
    Ledger {
        phases,
        allocations,
        peak_phase: top.map_or(Phase::Load, |top| top.phase),
        peak_bytes: top.map_or(0, |top| to_u64(top.bytes)),
    }
}

/// The same from what the tape itself has kept, without rows.
fn outline(moments: &[autograd::Moment]) -> Ledger {
    let of = |moment: &autograd::Moment| PhaseUse {
        phase: moment.phase.into(),
        allocated_bytes: to_u64(moment.bytes),
        by_category: Category::ALL.iter().zip(moment.by_category).map(|(one, bytes)| (*one, to_u64(bytes))).collect(),
        fragmentation_bytes: 0,
    };
    let peak = moments.iter().enumerate().max_by_key(|(i, moment)| (moment.bytes, usize::MAX - i));
    Ledger {
        phases: moments.iter().map(of).collect(),
        allocations: Vec::new(),
        peak_phase: peak.map_or(Phase::Load, |(_, moment)| moment.phase.into()),
        peak_bytes: peak.map_or(0, |(_, moment)| to_u64(moment.bytes)),
    }
}

fn allocation(
    record: &TapeRecord,
    row: &Row,
    at_peak: i128,
    phases: Vec<(Phase, u64)>,
    most: u64,
    num_layers: u64,
) -> Allocation {
    let one = row.shape.bytes(row.element);
    let rounded = autograd::rounded(one).max(1);
    let count = most / rounded;
    let width = row.element.bytes();
    let times = |text: &str| if count == 1 { String::new() } else { format!("{text} × ") };
    let count_symbol = match count.checked_rem(num_layers) {
        Some(0) if num_layers > 1 && count == num_layers => "L".to_owned(),
        Some(0) if num_layers > 1 && count > 0 => format!("{}·L", count / num_layers),
        _ => count.to_string(),
    };
    let plain = row.shape.sizes().is_empty();
    let bytes = |text: String| if plain { format!("{width} B") } else { format!("{text} × {width} B") };
    Allocation {
        term: row.label.kind.into(),
        module: record.name(row.label).to_owned(),
        bytes_at_peak: to_u64(at_peak),
        phases,
        formula: times(&count_symbol) + &bytes(row.shape.formula(Sym::text_of)),
        formula_with_numbers: times(&count.to_string()) + &bytes(row.shape.numbers()),
        formula_bytes: count.saturating_mul(one),
    }
}

/// Equal layers in turn: the segment that stands for them, and how many.
struct Turn<'a> {
    segment: &'a Segment,
    /// The segment's events.
    events: Range<usize>,
    count: u64,
}

/// The segments in the order of all layers that they stand for.
fn turns(record: &TapeRecord) -> Vec<Turn<'_>> {
    let mut turns = Vec::with_capacity(record.segments.len());
    for (at, length) in passes(&record.segments) {
        let segments = record.segments.get(at..at + length).unwrap_or_default();
        let tags: Vec<LayerTag> = segments.iter().map(|segment| segment.tag).collect();
        let phase = segments.first().map_or(Phase::Load, |segment| segment.phase.into());
        record.models.turns(phase, &tags, |turn| {
            if let Some(segment) = segments.get(turn.place) {
                let next = record.segments.get(at + turn.place + 1);
                let end = next.map_or(record.events.len(), |next| next.start);
                turns.push(Turn { segment, events: segment.start..end, count: turn.count });
            }
        });
    }
    turns
}

/// The fullest moment of each phase, in the order phases begin. In a row of equals the level moves evenly: the first and
/// the last are the fullest.
fn fullest_moments(record: &TapeRecord, turns: &[Turn<'_>]) -> Vec<Top> {
    let mut tops: Vec<Top> = Vec::new();
    let mut see = |phase: Phase, bytes: i128, moment: Moment| match tops.iter_mut().find(|top| top.phase == phase) {
        Some(top) if bytes > top.bytes => (top.bytes, top.moment) = (bytes, moment),
        Some(_) => {}
        None => tops.push(Top { phase, bytes, moment }),
    };
    let mut level = 0i128;
    for (at, turn) in turns.iter().enumerate() {
        let (phase, start) = (turn.segment.phase.into(), turn.events.start);
        let (mut net, mut fullest) = (0i128, (0i128, start));
        for (i, event) in record.events.get(turn.events.clone()).unwrap_or_default().iter().enumerate() {
            net += i128::from(event.bytes);
            if net > fullest.0 {
                fullest = (net, start + i + 1);
            }
        }
        for layers_before in [0, turn.count.saturating_sub(1)] {
            let begun = level + net * i128::from(layers_before);
            see(phase, begun + fullest.0, Moment { turn: at, layers_before, events_end: fullest.1 });
        }
        level += net * i128::from(turn.count);
    }
    tops
}

/// What each row holds at each of those moments.
fn snapshots(record: &TapeRecord, turns: &[Turn<'_>], tops: &[Top]) -> Vec<Vec<i128>> {
    let mut taken: Vec<Vec<i128>> = vec![Vec::new(); tops.len()];
    let mut live = vec![0i128; record.rows.len()];
    let post = |live: &mut [i128], events: Range<usize>, times: u64| {
        for event in record.events.get(events).unwrap_or_default() {
            if let Some(level) = live.get_mut(usize::from(event.row)) {
                *level += i128::from(event.bytes) * i128::from(times);
            }
        }
    };
    for (at, turn) in turns.iter().enumerate() {
        for (top, slot) in tops.iter().zip(&mut taken).filter(|(top, _)| top.moment.turn == at) {
            slot.clone_from(&live);
            post(slot, turn.events.clone(), top.moment.layers_before);
            post(slot, turn.events.start..top.moment.events_end, 1);
        }
        post(&mut live, turn.events.clone(), turn.count);
    }
    taken
}

fn to_u64(bytes: i128) -> u64 {
    u64::try_from(bytes.max(0)).unwrap_or(u64::MAX)
}
