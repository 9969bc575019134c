//! The ledger: the tape read as phases, each with what lives at its peak.

use super::autograd::{self, LayerTag, Record, Row, Segment, Sym, TapeRecord, passes};
use super::estimate::{Allocation, PhaseUse};
use super::phase::Phase;
use super::term::{Category, Term};
use std::ops::Range;

/// The tape, read.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Phases in the order they run.
    pub(super) phases: Vec<PhaseUse>,
    /// Rows that live at some phase's peak.
    pub(super) allocations: Vec<Allocation>,
    /// Phase with the most.
    pub(super) peak_phase: Phase,
    /// Bytes at that moment.
    pub(super) peak_bytes: u64,
}

/// The peak of a phase.
#[derive(Debug, Clone, Copy)]
struct PeakMoment {
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
pub(super) fn read(record: &Record, num_layers: u64) -> Ledger {
    match record {
        Record::Rows(record) => read_rows(record, num_layers),
        Record::Peaks(peaks) => outline(&peaks.phases),
    }
}

fn read_rows(record: &TapeRecord, num_layers: u64) -> Ledger {
    let turns = turns(record);
    let peaks = peak_moments(record, &turns);
    let snapshots = snapshots(record, &turns, &peaks);
    let peak = peaks.iter().enumerate().max_by_key(|(i, peak)| (peak.bytes, usize::MAX - i)).map(|(i, _)| i);
    let mut phases = Vec::with_capacity(peaks.len());
    for (peak, rows) in peaks.iter().zip(&snapshots) {
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
            phase: peak.phase,
            allocated_bytes: to_u64(peak.bytes),
            by_category,
            fragmentation_bytes: 0,
        });
    }
    let mut allocations = Vec::new();
    for (i, row) in record.rows.iter().enumerate() {
        let held_at = |rows: &Vec<i128>| rows.get(i).copied().unwrap_or(0);
        let most = snapshots.iter().map(held_at).max().unwrap_or(0);
        if most > 0 {
            let of = |(peak, rows): (&PeakMoment, &Vec<i128>)| {
                let bytes = held_at(rows);
                (bytes > 0).then(|| (peak.phase, to_u64(bytes)))
            };
            let lives = peaks.iter().zip(&snapshots).filter_map(of).collect();
            let at_peak = peak.and_then(|i| snapshots.get(i)).map_or(0, held_at);
            allocations.push(allocation(record, row, at_peak, lives, to_u64(most), num_layers));
        }
    }
    let peak = peak.and_then(|i| peaks.get(i));
    Ledger {
        phases,
        allocations,
        peak_phase: peak.map_or(Phase::Load, |peak| peak.phase),
        peak_bytes: peak.map_or(0, |peak| to_u64(peak.bytes)),
    }
}

/// The same from what the tape itself has kept, without rows.
fn outline(moments: &[autograd::PhasePeak]) -> Ledger {
    let of = |moment: &autograd::PhasePeak| PhaseUse {
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

/// The peak of each phase, in the order phases begin. In a row of equals the bytes held change evenly: the peak is in
/// the first or the last.
fn peak_moments(record: &TapeRecord, turns: &[Turn<'_>]) -> Vec<PeakMoment> {
    let mut peaks: Vec<PeakMoment> = Vec::new();
    let mut see = |phase: Phase, bytes: i128, moment: Moment| match peaks.iter_mut().find(|peak| peak.phase == phase) {
        Some(peak) if bytes > peak.bytes => (peak.bytes, peak.moment) = (bytes, moment),
        Some(_) => {}
        None => peaks.push(PeakMoment { phase, bytes, moment }),
    };
    let mut held = 0i128;
    for (at, turn) in turns.iter().enumerate() {
        let (phase, start) = (turn.segment.phase.into(), turn.events.start);
        let (mut net, mut highest) = (0i128, (0i128, start));
        for (i, event) in record.events.get(turn.events.clone()).unwrap_or_default().iter().enumerate() {
            net += i128::from(event.bytes);
            if net > highest.0 {
                highest = (net, start + i + 1);
            }
        }
        for layers_before in [0, turn.count.saturating_sub(1)] {
            let begun = held + net * i128::from(layers_before);
            see(phase, begun + highest.0, Moment { turn: at, layers_before, events_end: highest.1 });
        }
        held += net * i128::from(turn.count);
    }
    peaks
}

/// What each row holds at each of those moments.
fn snapshots(record: &TapeRecord, turns: &[Turn<'_>], peaks: &[PeakMoment]) -> Vec<Vec<i128>> {
    let mut taken: Vec<Vec<i128>> = vec![Vec::new(); peaks.len()];
    let mut live = vec![0i128; record.rows.len()];
    let post = |live: &mut [i128], events: Range<usize>, times: u64| {
        for event in record.events.get(events).unwrap_or_default() {
            if let Some(held) = live.get_mut(usize::from(event.row)) {
                *held += i128::from(event.bytes) * i128::from(times);
            }
        }
    };
    for (at, turn) in turns.iter().enumerate() {
        for (peak, slot) in peaks.iter().zip(&mut taken).filter(|(peak, _)| peak.moment.turn == at) {
            slot.clone_from(&live);
            post(slot, turn.events.clone(), peak.moment.layers_before);
            post(slot, turn.events.start..peak.moment.events_end, 1);
        }
        post(&mut live, turn.events.clone(), turn.count);
    }
    taken
}

fn to_u64(bytes: i128) -> u64 {
    u64::try_from(bytes.max(0)).unwrap_or(u64::MAX)
}
