//! What batch size and length take together: a map to choose from.

use crate::memory;
use crate::plan::{Plan, Problem};

/// Use of the card over batch size and length.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// b, ascending.
    pub batches: Vec<u64>,
    /// s, ascending.
    pub lengths: Vec<u64>,
    /// Expected need as a share of the card, a row for each length.
    pub used_share: Vec<Vec<f64>>,
}

/// The map of a plan, each pair estimated; quick: what other plans needed beyond their peak stands for a replay.
///
/// # Errors
/// As [`memory::estimate`].
pub fn map(plan: &Plan, batches: Vec<u64>, lengths: Vec<u64>) -> Result<Map, Vec<Problem>> {
    let subject = plan.subject()?;
    let own = memory::outline(plan)?;
    let (needed, allocated) =
        (own.peak.band.expected.saturating_sub(own.peak.beside.expected), own.peak.allocated_bytes);
    let beyond = needed as f64 / allocated.max(1) as f64;
    let share =
        |bytes: u64| (bytes as f64).mul_add(beyond, own.peak.beside.expected as f64) / own.card_bytes.max(1) as f64;
    let surface = memory::surface(plan, &subject, &batches, &lengths);
    let used_share = surface.into_iter().map(|row| row.into_iter().map(share).collect()).collect();
    Ok(Map { batches, lengths, used_share })
}

/// Batch sizes and lengths around a plan's own, `count` of each: powers of the same ratio, the plan's own among them.
pub fn axes(plan: &Plan, count: usize) -> (Vec<u64>, Vec<u64>) {
    let lengths = axis(plan.max_length, 64, count);
    (batches(plan.per_device_train_batch_size, count), lengths)
}

/// 1, 2, 3, ... as long as the own one lies in the middle of it, else multiples.
fn batches(own: u64, count: usize) -> Vec<u64> {
    let step = (own * 2).div_ceil(count as u64).max(1);
    let mut batches: Vec<u64> = (1..=count as u64).map(|i| if step == 1 { i } else { i * step }).collect();
    put(&mut batches, own);
    batches
}

/// Multiples of `grain` up to about three times the own value.
fn axis(own: u64, grain: u64, count: usize) -> Vec<u64> {
    let step = (own * 3).div_ceil(count as u64).div_ceil(grain).max(1) * grain;
    let mut values: Vec<u64> = (1..=count as u64).map(|i| i * step).collect();
    put(&mut values, own);
    values
}

/// Puts `own` in the place of the value nearest to it.
fn put(values: &mut [u64], own: u64) {
    if let Some(nearest) = values.iter_mut().min_by_key(|value| value.abs_diff(own)) {
        *nearest = own;
    }
}
