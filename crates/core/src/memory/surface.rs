//! Allocated memory over batch size and length: one tape, read again with other sizes.
//!
//! Between two plans that differ in b and s alone the same operators run in the same order, until a threshold is crossed
//! (a kernel for few tokens, a window shorter than the sequence); and every size is a product of symbols. So a tape
//! written for one (b, s) holds for a whole rectangle of them, if a tape at the far corner has the same events with the
//! sizes that the symbols promise. Where it has not, the rectangle is cut in four.

use super::autograd::{Detail, TapeRecord, rounded};
use super::period::Extent;
use super::step;
use super::term::Term;
use crate::plan::{Plan, Subject};
use std::collections::HashMap;

/// Batch sizes and lengths, each ascending.
#[derive(Debug, Clone, Copy)]
struct Area {
    /// First and last index of the batch sizes.
    batches: (usize, usize),
    /// First and last index of the lengths.
    lengths: (usize, usize),
}

/// Peak of allocated tensors for every pair of `batches` and `lengths`, both ascending; rows are lengths. Bytes, as in
/// [`Peak::allocated_bytes`](super::Peak) of an outline, to 0.1 %.
pub fn surface(plan: &Plan, subject: &Subject, batches: &[u64], lengths: &[u64]) -> Vec<Vec<u64>> {
    let mut grid = vec![vec![0; batches.len()]; lengths.len()];
    let (Some(last_batch), Some(last_length)) = (batches.len().checked_sub(1), lengths.len().checked_sub(1)) else {
        return grid;
    };
    let mut tapes = Tapes { plan, subject, written: HashMap::new() };
    // Labels of one sequence are contiguous as they are: b = 1 runs one operator less.
    let alone = usize::from(batches.first() == Some(&1));
    let columns = [(0, alone.saturating_sub(1)), (alone, last_batch)];
    let columns = columns.into_iter().skip(1 - alone).filter(|(first, last)| first <= last);
    let mut open: Vec<Area> = columns.map(|batches| Area { batches, lengths: (0, last_length) }).collect();
    while let Some(area) = open.pop() {
        let at = |b: usize, s: usize| (batches[b], lengths[s]);
        let (low, high) = (area.batches, area.lengths);
        let far = at(low.1, high.1);
        // Thresholds mostly lie along one side: the side whose end differs is cut.
        let along = |tapes: &mut Tapes<'_>, corner| tapes.reading(far, &[corner]).is_some();
        let (lengths_alike, batches_alike) =
            (along(&mut tapes, at(low.1, high.0)), along(&mut tapes, at(low.0, high.1)));
        let alike = lengths_alike && batches_alike;
        let Some(reading) = tapes.reading(far, &[at(low.0, high.0)]).filter(|_| alike) else {
            open.extend(area.parts(lengths_alike || high.0 == high.1, batches_alike || low.0 == low.1));
            continue;
        };
        let rows = grid.iter_mut().zip(lengths).skip(high.0).take(high.1 - high.0 + 1);
        for (row, s) in rows {
            for (cell, b) in row.iter_mut().zip(batches).skip(low.0).take(low.1 - low.0 + 1) {
                *cell = reading.peak((*b, *s));
            }
        }
    }
    grid
}

impl Area {
    /// The halves of the sides that are not alike, the quarters if neither or both are.
    fn parts(self, lengths_alike: bool, batches_alike: bool) -> Vec<Self> {
        let halves = |(first, last): (usize, usize), whole: bool| {
            let middle = first + (last - first) / 2;
            if first == last || whole { vec![(first, last)] } else { vec![(first, middle), (middle + 1, last)] }
        };
        let both = lengths_alike && batches_alike;
        let lengths = halves(self.lengths, lengths_alike && !both);
        let of = |batches| lengths.iter().map(move |lengths| Self { batches, lengths: *lengths }).collect::<Vec<_>>();
        halves(self.batches, batches_alike && !both).into_iter().flat_map(of).collect()
    }
}

/// Tapes that were written.
struct Tapes<'a> {
    plan: &'a Plan,
    subject: &'a Subject,
    written: HashMap<(u64, u64), TapeRecord>,
}

impl Tapes<'_> {
    fn at(&mut self, (b, s): (u64, u64)) -> &TapeRecord {
        let (plan, subject) = (self.plan, self.subject);
        self.written.entry((b, s)).or_insert_with(|| {
            let plan = Plan { per_device_train_batch_size: b, max_length: s, ..plan.clone() };
            step::run(&plan, subject, Extent::Representative, Detail::Rows).record
        })
    }

    /// The tape of `base`, if it holds at all `corners`.
    fn reading(&mut self, base: (u64, u64), corners: &[(u64, u64)]) -> Option<Reading> {
        let reading = Reading::new(self.at(base), base);
        corners.iter().all(|corner| *corner == base || reading.holds(self.at(*corner), *corner)).then_some(reading)
    }
}

/// A size as a function of b and s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Size {
    /// Bytes without the powers of b and s.
    unit: u64,
    batch_power: u32,
    length_power: u32,
    /// Power of s + 1: padded labels.
    padded_power: u32,
}

impl Size {
    fn at(self, (b, s): (u64, u64)) -> u64 {
        self.unit
            .saturating_mul(b.saturating_pow(self.batch_power))
            .saturating_mul(s.saturating_pow(self.length_power))
            .saturating_mul(s.saturating_add(1).saturating_pow(self.padded_power))
    }
}

/// The place of `size` among `sizes`, added if it is new.
fn index_of(sizes: &mut Vec<Size>, size: Size) -> u32 {
    let index = sizes.iter().position(|other| *other == size).unwrap_or_else(|| {
        sizes.push(size);
        sizes.len() - 1
    });
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A tape ready to be read with other sizes.
struct Reading {
    sizes: Vec<Size>,
    /// For each event: the index of its size, twice, plus one for a free.
    events: Vec<u32>,
    segments: Vec<Stretch>,
}

/// Events of one layer in one phase.
struct Stretch {
    /// First event.
    start: usize,
    /// How many equal layers more than one it stands for.
    more: i64,
    /// What one of them leaves: size and count.
    net: Vec<(u32, i64)>,
}

impl Reading {
    fn new(record: &TapeRecord, base: (u64, u64)) -> Self {
        let mut sizes: Vec<Size> = Vec::new();
        let of_row: Vec<u32> = record
            .rows
            .iter()
            .map(|row| {
                if row.label.term == Term::ReductionBuffers {
                    // So many bytes a token, give or take a block: it lives for moments, and the corners are checked.
                    let unit = row.shape.bytes(row.element) / base.0.saturating_mul(base.1).max(1);
                    return index_of(&mut sizes, Size { unit, batch_power: 1, length_power: 1, padded_power: 0 });
                }
                let mut size = Size { unit: row.element.bytes(), batch_power: 0, length_power: 0, padded_power: 0 };
                for (symbol, of_symbol) in row.shape.symbols().iter().zip(row.shape.sizes()) {
                    size.unit = size.unit.saturating_mul(*of_symbol);
                    for factor in symbol.text().split('·') {
                        size.batch_power += u32::from(factor == "b");
                        size.length_power += u32::from(factor == "s");
                        size.padded_power += u32::from(factor == "s+1");
                    }
                }
                let powers = Size { unit: 1, ..size }.at(base).max(1);
                if size.unit.is_multiple_of(powers) {
                    size.unit /= powers;
                } else {
                    // Not a product of what its symbols say: it holds where it does not change.
                    size = Size { batch_power: 0, length_power: 0, padded_power: 0, ..size };
                }
                index_of(&mut sizes, size)
            })
            .collect();
        let of = |row: u16| of_row.get(usize::from(row)).copied().unwrap_or(0);
        let events = record.events.iter().map(|event| of(event.row) * 2 + u32::from(event.bytes < 0)).collect();
        let ends = record.segments.iter().skip(1).map(|next| next.start).chain([record.events.len()]);
        let segments = record
            .segments
            .iter()
            .zip(ends)
            .map(|(segment, end)| {
                let more = i64::try_from(segment.tag.repeat.saturating_sub(1)).unwrap_or(i64::MAX);
                let mut net: Vec<(u32, i64)> = Vec::new();
                for event in record.events[segment.start..end].iter().filter(|_| more > 0) {
                    let (size, sign) = (of(event.row), event.bytes.signum());
                    match net.iter_mut().find(|(other, _)| *other == size) {
                        Some((_, count)) => *count += sign,
                        None => net.push((size, sign)),
                    }
                }
                net.retain(|(_, count)| *count != 0);
                Stretch { start: segment.start, more, net }
            })
            .collect();
        Self { sizes, events, segments }
    }

    /// Whether the tape written for `at` has the same events with the sizes promised here.
    fn holds(&self, record: &TapeRecord, at: (u64, u64)) -> bool {
        let same_size = |(code, event): (&u32, &super::autograd::Event)| {
            let promised = self.sizes.get(*code as usize / 2).map_or(0, |size| rounded(size.at(at)));
            let row = record.rows.get(usize::from(event.row));
            let free = row.is_some_and(|row| row.label.term == Term::ReductionBuffers);
            (*code % 2 == 1) == (event.bytes < 0) && (free || promised == event.bytes.unsigned_abs())
        };
        let same_place = |(stretch, segment): (&Stretch, &super::autograd::Segment)| {
            let repeat = u64::try_from(stretch.more).map(|more| more + 1);
            stretch.start == segment.start && repeat == Ok(segment.tag.repeat)
        };
        self.events.len() == record.events.len()
            && self.segments.len() == record.segments.len()
            && self.events.iter().zip(&record.events).all(same_size)
            && self.segments.iter().zip(&record.segments).all(same_place)
            && {
                let own = Self::new(record, at).peak(at);
                self.peak(at).abs_diff(own) <= own / 1000
            }
    }

    /// The fullest moment with other sizes, bytes.
    fn peak(&self, at: (u64, u64)) -> u64 {
        let sizes: Vec<i64> = self
            .sizes
            .iter()
            .flat_map(|size| {
                let bytes = i64::try_from(rounded(size.at(at))).unwrap_or(i64::MAX >> 16);
                [bytes, -bytes]
            })
            .collect();
        let of = |code: u32| sizes.get(code as usize).copied().unwrap_or(0);
        let (mut level, mut peak) = (0i64, 0i64);
        let ends = self.segments.iter().skip(1).map(|next| next.start).chain([self.events.len()]);
        for (Stretch { start, more, net }, end) in self.segments.iter().zip(ends) {
            let one: i64 = net.iter().map(|(size, count)| of(size * 2).saturating_mul(*count)).sum();
            level = level.saturating_add(one.saturating_mul(*more));
            peak = peak.max(level);
            for code in self.events.get(*start..end).unwrap_or_default() {
                level += of(*code);
                peak = peak.max(level);
            }
        }
        u64::try_from(peak).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::link;
    use crate::memory::outline;

    #[test]
    fn every_point_is_what_an_estimate_of_its_own_says() {
        for fragment in [
            "v=1&model=Qwen/Qwen3-4B&method=lora",
            "v=1&model=google/gemma-2-9b&gradient_checkpointing=true",
            "v=1&model=mistralai/Mistral-7B-v0.1&method=qlora&gradient_checkpointing=true",
            "v=1&model=Qwen/Qwen3-30B-A3B&method=lora&use_liger_kernel=true",
            "v=1&model=meta-llama/Llama-3.1-8B&num_gpus=8&zero_stage=3&gradient_accumulation_steps=4",
            "v=1&model=Qwen/Qwen2.5-0.5B&padded_batch=true&torch_dtype=float32&mixed_precision=bf16",
        ] {
            let plan = link::decode(fragment).plan;
            let subject = plan.subject().unwrap();
            let batches = [1, 2, 3, 5, 8, 16, 64];
            let lengths = [64, 128, 500, 1024, 1536, 4096, 6000, 16384];
            let grid = surface(&plan, &subject, &batches, &lengths);
            for (row, s) in grid.iter().zip(lengths) {
                for (bytes, b) in row.iter().zip(batches) {
                    let own = Plan { per_device_train_batch_size: b, max_length: s, ..plan.clone() };
                    let alone = outline(&own).unwrap().peak.allocated_bytes;
                    assert!(bytes.abs_diff(alone) <= alone / 1000, "{fragment} b {b} s {s}: {bytes}, alone {alone}");
                }
            }
        }
    }
}
