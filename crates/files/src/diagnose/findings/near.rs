//! Which sizes of a plan a failing request may be near to, so that few sizes are taken for one of the plan's by chance.

use headroom_core::memory::{FailedRequest, Request};

use super::Place;
use crate::diagnose::quantity::Amount;

/// The request of the plan whose size is nearest to the one that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Where it comes.
    pub place: Place,
    /// What PyTorch's message would say of it, bytes.
    pub bytes: u64,
}

/// Segments that requests below 1 MiB and below 10 MiB share: their size says nothing about the request.
const SHARED_SEGMENTS: [u64; 2] = [2 << 20, 20 << 20];

/// The most that a run's request may differ from the plan's, in 1/1000: groups of parameters leave out a few, batches are
/// padded to a length that is not quite the limit.
const NEAR_PER_MILLE: u64 = 20;

/// Sizes that have nothing to do with a plan are taken for one of its requests by chance: the sizes that are, in millionths,
/// measured by their natural logarithm. From 1 MiB to 8 GiB are nine such units, so that is one size in forty.
const CHANCE: u64 = 225_000;

/// What a size takes of [`CHANCE`] that is matched within [`NEAR_PER_MILLE`]: that much to either side.
const CHANCE_OF_NEAR: u64 = 2 * NEAR_PER_MILLE * 1000;

/// The larger a request, the likelier it is the one that fails: the largest sizes are matched that closely, as many as
/// [`CHANCE`] allows beside those that are matched to the digit, and no more than this.
const MOST_NEAR: u64 = 4;

/// Segments of large requests are multiples of this, bytes (c10/cuda/CUDACachingAllocator.h `kRoundLarge`).
const SEGMENT: u64 = 2 << 20;

/// A smaller request is told by its size alone of no other: the allocator asks for whole segments of 2 MiB, and one in twenty
/// sizes has a request of any plan.
pub(super) const LEAST_TELLING_BYTES: u64 = 64 << 20;

pub(super) fn is_near(tried: Amount, bytes: u64) -> bool {
    tried.bytes.abs_diff(bytes).saturating_sub(tried.step / 2) <= bytes / 1000 * NEAR_PER_MILLE
}

/// Sizes within a thousandth of each other are one.
pub(super) fn is_same_size(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= other / 1000
}

/// The sizes that a failing request may be near to: the largest of those that the stack speaks of, where it speaks of any,
/// and the one at which the plan's replay fails.
pub(super) fn near_sizes(
    requests: &[Request],
    is_in_stack: impl Fn(&Request) -> bool,
    predicted: Option<&FailedRequest>,
) -> Vec<u64> {
    let is_any_in_stack = requests.iter().any(&is_in_stack);
    let mut sizes: Vec<u64> = requests
        .iter()
        .filter(|request| !is_any_in_stack || is_in_stack(request))
        .map(|request| request.tried_bytes)
        .filter(|bytes| *bytes > SHARED_SEGMENTS[1])
        .collect();
    sizes.sort_unstable_by_key(|bytes| std::cmp::Reverse(*bytes));
    sizes.dedup_by(|one, other| is_same_size(*one, *other));
    let telling = sizes.iter().filter(|bytes| **bytes >= LEAST_TELLING_BYTES);
    let exact: u64 = telling.map(|bytes| SEGMENT * 1_000_000 / bytes).sum();
    let near = (CHANCE.saturating_sub(exact) / CHANCE_OF_NEAR).clamp(1, MOST_NEAR) as usize;
    let failing = predicted.map(|failed| failed.tried_bytes).filter(|bytes| *bytes > SHARED_SEGMENTS[1]);
    sizes.retain(|size| failing.is_none_or(|failing| !is_same_size(failing, *size)));
    sizes.truncate(near - usize::from(failing.is_some()));
    sizes.extend(failing);
    sizes
}

/// The request of the plan whose size, as a message gives it, is nearest to what `reading` says, by their ratio.
pub(super) fn nearest(tried: Amount, requests: &[Request]) -> Option<Nearest> {
    let ratio = |request: &&Request| {
        let (least, most) = (tried.bytes.min(request.tried_bytes), tried.bytes.max(request.tried_bytes));
        u128::from(most) * 1_000_000 / u128::from(least.max(1))
    };
    let own = requests.iter().filter(|request| request.tried_bytes > SHARED_SEGMENTS[1]).min_by_key(ratio)?;
    Some(Nearest { place: Place::of(own), bytes: own.tried_bytes })
}

/// Whether a request of that size would take a segment that many share.
pub(super) fn is_shared_segment(tried: Amount) -> bool {
    SHARED_SEGMENTS.iter().any(|bytes| tried.is_print_of(*bytes))
}
