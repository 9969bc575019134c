//! The ledger: the tape read as phases, each with what lives at its fullest moment.

use super::autograd::{Moment, Row, Segment, TapeRecord};
use super::estimate::{Allocation, PhaseUse};
use super::phase::Phase;
use super::term::Category;

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
    /// Events done when it was reached.
    at: usize,
}

/// Reads a tape. `num_layers` is L, for formulas.
///
/// A segment that stands for n equal layers is run once, after a jump by n - 1 times its net effect: between equals the
/// level moves evenly, so the fullest of the skipped layers is the first or the last, and both are on the tape.
///
pub(super) fn read(record: &TapeRecord, num_layers: u64) -> Ledger {
    if let Some(moments) = &record.moments {
        return outline(&moments.phases);
    }
    let tops = fullest_moments(record);
    let snapshots = snapshots(record, &tops);
    let peak = tops.iter().enumerate().max_by_key(|(i, top)| (top.bytes, usize::MAX - i)).map(|(i, _)| i);
    let mut phases = Vec::with_capacity(tops.len());
    for (top, rows) in tops.iter().zip(&snapshots) {
        let mut by_category = Vec::with_capacity(Category::ALL.len());
        for category in Category::ALL {
            let bytes: i128 = record
                .rows
                .iter()
                .zip(rows)
                .filter(|(row, _)| row.label.term.category() == *category)
                .map(|(_, bytes)| bytes)
                .sum();
            by_category.push((*category, to_u64(bytes)));
        }
        phases.push(PhaseUse { phase: top.phase, allocated_bytes: to_u64(top.bytes), by_category });
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
fn outline(moments: &[Moment]) -> Ledger {
    let of = |moment: &Moment| PhaseUse {
        phase: moment.phase,
        allocated_bytes: to_u64(moment.bytes),
        by_category: Category::ALL.iter().zip(moment.by_category).map(|(one, bytes)| (*one, to_u64(bytes))).collect(),
    };
    let peak = moments.iter().enumerate().max_by_key(|(i, moment)| (moment.bytes, usize::MAX - i));
    Ledger {
        phases: moments.iter().map(of).collect(),
        allocations: Vec::new(),
        peak_phase: peak.map_or(Phase::Load, |(_, moment)| moment.phase),
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
    let rounded = super::autograd::rounded(one).max(1);
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
        term: row.label.term,
        module: record.name(row.label).to_owned(),
        bytes_at_peak: to_u64(at_peak),
        phases,
        formula: times(&count_symbol) + &bytes(row.shape.formula()),
        formula_with_numbers: times(&count.to_string()) + &bytes(row.shape.numbers()),
        formula_bytes: count.saturating_mul(one),
    }
}

/// Walks the segments; `visit` is told the level before each segment's jump and after each event.
fn walk(record: &TapeRecord, mut jump: impl FnMut(&Segment, usize, usize), mut event: impl FnMut(&Segment, usize)) {
    let ends = record.segments.iter().skip(1).map(|next| next.start).chain([record.events.len()]);
    for (segment, end) in record.segments.iter().zip(ends) {
        jump(segment, segment.start, end);
        for i in segment.start..end {
            event(segment, i);
        }
    }
}

/// The fullest moment of each phase, in the order phases begin.
fn fullest_moments(record: &TapeRecord) -> Vec<Top> {
    use std::cell::{Cell, RefCell};
    let level = Cell::new(0i128);
    let tops: RefCell<Vec<Top>> = RefCell::default();
    let see = |phase: Phase, at: usize| {
        let mut tops = tops.borrow_mut();
        let bytes = level.get();
        match tops.iter_mut().find(|top| top.phase == phase) {
            Some(top) if bytes > top.bytes => (top.bytes, top.at) = (bytes, at),
            Some(_) => {}
            None => tops.push(Top { phase, bytes, at }),
        }
    };
    walk(
        record,
        |segment, start, end| {
            see(segment.phase, start);
            if segment.tag.repeat > 1 {
                let net: i128 = record.events[start..end].iter().map(|event| i128::from(event.bytes)).sum();
                level.set(level.get() + net * i128::from(segment.tag.repeat - 1));
            }
        },
        |segment, i| {
            level.set(level.get() + i128::from(record.events[i].bytes));
            see(segment.phase, i + 1);
        },
    );
    tops.into_inner()
}

/// What each row holds at each of those moments.
fn snapshots(record: &TapeRecord, tops: &[Top]) -> Vec<Vec<i128>> {
    use std::cell::RefCell;
    let live = RefCell::new(vec![0i128; record.rows.len()]);
    let taken: RefCell<Vec<Vec<i128>>> = RefCell::new(vec![Vec::new(); tops.len()]);
    let take = |phase: Phase, at: usize| {
        for (top, slot) in tops.iter().zip(taken.borrow_mut().iter_mut()) {
            if top.phase == phase && top.at == at && slot.is_empty() {
                slot.clone_from(&live.borrow());
            }
        }
    };
    let post = |row: u16, bytes: i128| {
        if let Some(level) = live.borrow_mut().get_mut(usize::from(row)) {
            *level += bytes;
        }
    };
    walk(
        record,
        |segment, start, end| {
            take(segment.phase, start);
            if segment.tag.repeat > 1 {
                for event in &record.events[start..end] {
                    post(event.row, i128::from(event.bytes) * i128::from(segment.tag.repeat - 1));
                }
            }
        },
        |segment, i| {
            let event = record.events[i];
            post(event.row, i128::from(event.bytes));
            take(segment.phase, i + 1);
        },
    );
    taken.into_inner()
}

fn to_u64(bytes: i128) -> u64 {
    u64::try_from(bytes.max(0)).unwrap_or(u64::MAX)
}
