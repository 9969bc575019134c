//! What batch size and length take together: a map to choose from.

use super::solve::Unknown;
use crate::job::Job;
use crate::memory::{self, Estimate};
use crate::plan::{Plan, Task};

/// Use of the GPU over batch size and length.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// b, ascending.
    pub batches: Vec<u64>,
    /// s, ascending.
    pub lengths: Vec<u64>,
    /// Expected need as a share of the GPU, a row for each length.
    pub used_share: Vec<Vec<f64>>,
}

impl Map {
    /// The largest batch size that takes at most `share` of the GPU at a length of the map.
    pub fn largest_batch(&self, length: u64, share: f64) -> Option<u64> {
        let row = self.lengths.iter().position(|other| *other == length)?;
        let fitting = self.batches.iter().zip(self.used_share.get(row)?).filter(|(_, used)| **used <= share);
        fitting.map(|(batch, _)| *batch).max()
    }

    /// The greatest length that takes at most `share` of the GPU at a batch size of the map.
    pub fn longest(&self, batch: u64, share: f64) -> Option<u64> {
        let column = self.batches.iter().position(|other| *other == batch)?;
        let used = self.used_share.iter().map(|row| row.get(column));
        let fitting = self.lengths.iter().zip(used).filter(|(_, used)| used.is_some_and(|used| *used <= share));
        fitting.map(|(length, _)| *length).max()
    }
}

/// The map of a job, as exact as [`memory::surface`]: few pairs are estimated, the others lie between them; quick: what other
/// plans needed beyond their peak stands for a replay.
pub fn map(job: &Job, batches: Vec<u64>, lengths: Vec<u64>) -> Map {
    map_beside(job, &memory::outline(job), batches, lengths)
}

/// The map of a job whose own answer is known, by replay for example: what that needs beyond its peak is taken to be what
/// every pair needs, so that the map agrees with the job's verdict. Rows are values of [`length`]; each column accumulates as
/// [`with_batch`] has it.
pub fn map_beside(job: &Job, own: &Estimate, batches: Vec<u64>, lengths: Vec<u64>) -> Map {
    let plan = &job.plan;
    let surface = surface(job, &batches, &lengths);
    let column = batches.iter().position(|batch| *batch == plan.per_device_train_batch_size);
    let row = lengths.iter().position(|other| *other == length(plan).of(plan));
    let on_map = row.zip(column).and_then(|(row, column)| surface.get(row)?.get(column).copied());
    let allocated = on_map.unwrap_or_else(|| memory::outline(job).peak.allocated_bytes);
    let needed = own.peak.band.expected.saturating_sub(own.peak.device_overhead.expected);
    let beyond = needed as f64 / allocated.max(1) as f64;
    let share = |bytes: u64| {
        (bytes as f64).mul_add(beyond, own.peak.device_overhead.expected as f64) / own.gpu_bytes.max(1) as f64
    };
    let used_share = surface.into_iter().map(|row| row.into_iter().map(share).collect()).collect();
    Map { batches, lengths, used_share }
}

/// Allocated bytes of every pair. Whether gradients are kept between forwards is what need knows of accumulation: columns that
/// differ from the plan's in that are those of a second surface.
fn surface(job: &Job, batches: &[u64], lengths: &[u64]) -> Vec<Vec<u64>> {
    let plan = &job.plan;
    let accumulates = |plan: &Plan| plan.gradient_accumulation_steps > 1;
    let others = batches.iter().map(|batch| with_batch(plan, *batch));
    let others: Vec<Option<Plan>> =
        others.map(|other| Some(other).filter(|o| accumulates(o) != accumulates(plan))).collect();
    let mut surface = memory::surface(job, batches, lengths);
    let Some(other) = others.iter().flatten().next().and_then(|other| job.with(other.clone()).ok()) else {
        return surface;
    };
    let columns: Vec<u64> = batches.iter().zip(&others).filter(|(_, o)| o.is_some()).map(|(batch, _)| *batch).collect();
    for (row, other) in surface.iter_mut().zip(memory::surface(&other, &columns, lengths)) {
        let cells = row.iter_mut().zip(&others).filter(|(_, o)| o.is_some());
        for ((cell, _), bytes) in cells.zip(other) {
            *cell = bytes;
        }
    }
    surface
}

/// `plan` with another batch per GPU: the step keeps its sequences by accumulation where the batch divides them; elsewhere, and
/// where a policy generates what it trains on or an embedding model has its negatives in the batch, accumulation stays, and the step has as many more or fewer.
pub fn with_batch(plan: &Plan, batch: u64) -> Plan {
    let mut other = Unknown::Batch.set(plan, batch);
    let sequences = plan.per_device_train_batch_size.saturating_mul(plan.gradient_accumulation_steps);
    let divides = batch > 0 && sequences.is_multiple_of(batch);
    // Queries of several forwards are no negatives of each other.
    let keeps = divides && !plan.is_reinforcement() && !matches!(plan.task, Task::Inference | Task::Embedding);
    // Layer-wise optimizers step in backward: there is nothing to accumulate into.
    if keeps && !plan.optim.is_layerwise() {
        other.gradient_accumulation_steps = sequences / batch;
    }
    other
}

/// What the map's lengths are: those of completions where a policy generates, else of sequences.
pub fn length(plan: &Plan) -> Unknown {
    if plan.is_reinforcement() { Unknown::CompletionLength } else { Unknown::Length }
}

/// Share of the GPU beyond which a plan like one with this answer is tight: it fits in the expected case, but not surely.
pub fn tight_share(own: &Estimate) -> f64 {
    own.peak.band.expected as f64 / own.peak.safe_bytes.max(1) as f64
}

/// Batch sizes and lengths for the map of a plan, at most `count` of each: from small ones to beyond what the GPU has room
/// for, four to each doubling, the plan's own among them. Batch sizes are only such as divide what they have to, the first is
/// the least of these: 1 for whoever may train on single sequences.
///
/// Need grows with the product of the two, so that evenly spaced values would spend most of the map on what does not fit.
pub fn axes(job: &Job, count: usize) -> (Vec<u64>, Vec<u64>) {
    let plan = &job.plan;
    let count = count.max(1);
    let batch = plan.per_device_train_batch_size;
    let valid = |batch: &u64| job.with(Unknown::Batch.set(plan, *batch)).is_ok();
    let grain = (1..=batch).find(|grain| batch.is_multiple_of(*grain) && valid(grain)).unwrap_or(batch);
    let most = end(job, Unknown::Batch);
    let mut batches = axis(batch, most, grain, count);
    if count > 1 && batches.first().is_some_and(|first| *first > grain) {
        batches = axis(batch, most, grain, count - 1);
        batches.insert(0, grain);
    }
    batches.retain(valid);
    let unknown = length(plan);
    (batches, axis(unknown.of(plan), end(job, unknown), LENGTH_GRAIN, count))
}

/// Lengths are multiples of so many tokens.
const LENGTH_GRAIN: u64 = 16;
/// Fewer values than this make no axis.
const SHORTEST_AXIS: usize = 8;

/// Multiples of `grain` from small ones to the first beyond `end`: all of the first eight, then four to each doubling; `own`
/// in the place of the nearest of them.
fn axis(own: u64, end: u64, grain: u64, count: usize) -> Vec<u64> {
    // 1 to 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, ...
    let steps = |i: u32| if i < 8 { u64::from(i) + 1 } else { u64::from(i % 4 + 5) << ((i / 4) - 1).min(56) };
    let last = steps(u32::try_from(count).unwrap_or(u32::MAX).saturating_sub(1));
    let grains = end.div_ceil(grain.max(1)).div_ceil(last.max(1)).max(1).next_power_of_two();
    let unit = grain.max(1).saturating_mul(grains);
    let mut values: Vec<u64> = (0..).take(count).map(|i| steps(i).saturating_mul(unit)).collect();
    let needed = values.iter().position(|value| *value >= end).map_or(count, |at| at + 1);
    values.truncate(needed.max(SHORTEST_AXIS.min(count)));
    put(&mut values, own);
    values
}

/// How far an axis reaches: four times as far as where the need, drawn on straight from the plan's own value and its double,
/// meets the GPU, so that what a quarter of the other value leaves room for is on the map, too; beyond the plan's own value
/// in any case.
fn end(job: &Job, unknown: Unknown) -> u64 {
    let own = unknown.of(&job.plan).max(1);
    let at = |value: u64| {
        let outline = memory::outline(&job.with(unknown.set(&job.plan, value)).ok()?);
        Some((outline.peak.band.expected as f64, outline.gpu_bytes as f64))
    };
    let least = own.saturating_add(own.div_ceil(4));
    let (Some((need, gpu)), Some((double, _))) = (at(own), at(own.saturating_mul(2))) else {
        return own.saturating_mul(2);
    };
    let slope = (double - need) / own as f64;
    let meets = if slope > 0.0 { own as f64 + (gpu - need) / slope } else { own as f64 };
    // An unsigned number holds nothing below 0; no GPU is so idle that the own value should vanish in a corner.
    ((meets * 4.0) as u64).clamp(least, own.saturating_mul(64))
}

/// Puts `own` in the place of the value nearest to it.
fn put(values: &mut [u64], own: u64) {
    if let Some(nearest) = values.iter_mut().min_by_key(|value| value.abs_diff(own)) {
        *nearest = own;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::link;

    fn resolved(fragment: &str) -> Job {
        Job::resolve(&link::decode(fragment).plan).unwrap()
    }

    #[test]
    fn values_are_round_and_reach_the_end() {
        let first = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128];
        assert_eq!(axis(1, 128, 1, 24), first);
        assert_eq!(axis(3, 15, 1, 24), first[..12]);
        assert_eq!(axis(1, 2, 1, 24), first[..8]);
        assert_eq!(axis(1000, 2000, 16, 24)[..4], [16, 32, 48, 64]);
        assert!(axis(1000, 2000, 16, 24).contains(&1000));
        assert_eq!(axis(128, 5000, 16, 24)[..3], [64, 128, 192]);
        assert!((1..2000).all(|end| axis(1, end, 1, 24).last().is_some_and(|last| *last >= end)));
    }

    #[test]
    fn the_capacity_is_on_the_map_and_so_is_the_plan() {
        for fragment in [
            "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=a100-80gb",
            "v=1&model=Qwen/Qwen2.5-0.5B&method=lora&gpu=h200&per_device_train_batch_size=4",
            "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090&per_device_train_batch_size=16&max_length=4096",
            "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&per_device_train_batch_size=16&num_generations=4\
             &max_prompt_length=256&max_completion_length=128&steps_per_generation=1",
            "v=1&model=Qwen/Qwen3-1.7B&task=inference&gpu=rtx-4090",
        ] {
            let job = resolved(fragment);
            let plan = &job.plan;
            let (batches, lengths) = axes(&job, 24);
            assert!(
                batches.is_sorted_by(|a, b| a < b) && lengths.is_sorted_by(|a, b| a < b),
                "{batches:?} {lengths:?}"
            );
            assert!(batches.contains(&plan.per_device_train_batch_size) && lengths.contains(&length(plan).of(plan)));
            for batch in &batches {
                assert!(job.with(Unknown::Batch.set(plan, *batch)).is_ok(), "{fragment}: {batch}");
            }
            let least = (1..).find(|batch| job.with(Unknown::Batch.set(plan, *batch)).is_ok());
            assert_eq!(batches.first().copied(), least, "{fragment}: {batches:?}");
            let map = map(&job, batches, lengths);
            let cells: Vec<f64> = map.used_share.concat();
            let fitting = cells.iter().filter(|share| **share <= 1.0).count();
            assert!(fitting > 0 && fitting < cells.len(), "{fragment}: {fitting} of {} fit", cells.len());
        }
    }

    #[test]
    fn a_map_of_hundreds_starts_at_one_sequence_all_the_same() {
        let job = resolved(
            "v=1&model=openai-community/gpt2&method=lora&gpu=h200&per_device_train_batch_size=96&max_length=64",
        );
        for count in [1, 2, 12, 24] {
            let (batches, _) = axes(&job, count);
            assert!(batches.len() <= count && batches.is_sorted_by(|a, b| a < b), "{batches:?}");
            assert!(count == 1 || batches[0] == 1, "{batches:?}");
            assert!(batches.contains(&96), "{batches:?}");
        }
    }

    #[test]
    fn a_step_keeps_its_sequences_where_the_batch_divides_them() {
        let plan = Plan { per_device_train_batch_size: 4, gradient_accumulation_steps: 2, ..Plan::default() };
        let both = |batch| {
            let plan = with_batch(&plan, batch);
            (plan.per_device_train_batch_size, plan.gradient_accumulation_steps)
        };
        assert_eq!([1, 2, 3, 8, 16].map(both), [(1, 8), (2, 4), (3, 2), (8, 1), (16, 2)]);
        let alone = Plan { task: Task::Inference, ..plan.clone() };
        assert_eq!(with_batch(&alone, 1).gradient_accumulation_steps, 2);
    }

    #[test]
    fn cells_that_accumulate_need_what_their_plans_need() {
        // Without accumulation the gradients of the whole model are not there while forward runs.
        let job = resolved("v=1&model=Qwen/Qwen2.5-0.5B&method=full&gpu=a100-80gb&per_device_train_batch_size=4");
        let map = map(&job, vec![1, 2, 4], vec![1024]);
        for (batch, share) in map.batches.iter().zip(&map.used_share[0]) {
            let own = Plan { max_length: 1024, ..with_batch(&job.plan, *batch) };
            let outline = memory::outline(&job.with(own).unwrap());
            let off = share * outline.gpu_bytes as f64 / outline.peak.band.expected as f64 - 1.0;
            assert!(off.abs() < 0.005, "batch {batch}: {off}");
        }
    }

    #[test]
    fn the_map_agrees_with_the_answer_it_is_drawn_beside() {
        for fragment in [
            "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090&per_device_train_batch_size=2",
            "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&task=grpo&per_device_train_batch_size=8&num_generations=4",
        ] {
            let job = resolved(fragment);
            let plan = &job.plan;
            let own = memory::estimate_replayed(&job);
            let batch = plan.per_device_train_batch_size;
            let map = map_beside(&job, &own, vec![batch], vec![length(plan).of(plan)]);
            let share = map.used_share.concat();
            let off = share.first().map_or(1.0, |share| (share / own.verdict.used_share - 1.0).abs());
            assert!(off < 0.001, "{fragment}: {share:?} beside {}", own.verdict.used_share);
        }
    }
}
