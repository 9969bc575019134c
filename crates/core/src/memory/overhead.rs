//! From what PyTorch allocates to what the GPU must have.
//!
//! The caching allocator cuts segments, cannot always reuse the pieces, and gives whole segments back before it fails.
//! What it needs beyond the peak depends on the exact order and sizes of all allocations: [`replay`](super::replay) finds
//! it. Where there is no time for that, it is stated as the distribution seen when 149 configurations (full, LoRA, QLoRA,
//! autocast, eager, MoE, preference pairs) were bisected against PyTorch 2.15's allocator for the smallest device on which
//! the step runs.

use super::estimate::Band;
use super::replay::Replay;
use headroom_torch::allocator::Mode;

/// Share of the peak needed beyond it, in 1/1000, default allocator: least, median, and what covers 97 % of them.
const DEFAULT_PER_MILLE: (u64, u64, u64) = (1, 39, 200);
/// The same with `expandable_segments:True`: least, median, and what covers 99 % of them.
const EXPANDABLE_PER_MILLE: (u64, u64, u64) = (0, 7, 50);
/// What the allocator holds on a device that never fills, beyond the peak, in 1/1000: median of the same runs.
const RESERVED_PER_MILLE: u64 = 89;

fn beyond(bytes: u64, per_mille: u64) -> u64 {
    let extra = u128::from(bytes) * u128::from(per_mille) / 1000;
    bytes.saturating_add(u64::try_from(extra).unwrap_or(u64::MAX))
}

/// Smallest device memory on which the step usually runs, bytes.
pub(super) fn heuristic_required(allocated: u64, mode: Mode) -> Band {
    let (low, expected, high) = match mode {
        Mode::Default => DEFAULT_PER_MILLE,
        Mode::Expandable => EXPANDABLE_PER_MILLE,
    };
    Band { low: beyond(allocated, low), expected: beyond(allocated, expected), high: beyond(allocated, high) }
}

/// What the allocator holds on a device that never fills, expected.
pub(super) fn heuristic_reserved(allocated: u64) -> u64 {
    beyond(allocated, RESERVED_PER_MILLE)
}

/// A replay is trusted to this share of what it found, in 1/1000: a moved rounding or another order of two equal
/// requests cuts segments differently. It covers the largest error of the bisected configurations.
const REPLAY_PER_MILLE: u64 = 120;
/// What the allocator hoards where it can counts into the band up to this share beyond what the replay found, in 1/1000:
/// `nvidia-smi` shows it, but the allocator gives it back before a request fails.
const HOARD_PER_MILLE: u64 = 220;
/// How far a replay with `expandable_segments:True` is trusted, where a hole of any size is closed by unmapping it.
const EXPANDABLE_REPLAY_PER_MILLE: u64 = 25;
/// What holds on a device that never fills suffices on any, if the order of requests is right to within this share. On a
/// Tesla T4, where loading leaves other pieces behind in every run, it was off by up to 4.6 %.
const RESERVED_SLACK_PER_MILLE: u64 = 50;

/// Smallest device memory on which the step runs, as its replay found it, and what surely suffices; bytes.
///
/// The band has reasons at both ends: nothing smaller than what is handed out at the peak can do; and what the allocator
/// takes where it never has to give anything back always suffices, as it need not reuse a single piece more.
pub(super) fn replayed(allocated: u64, replay: &Replay, mode: Mode) -> (Band, u64) {
    let (required, reserved, trusted, hoards) = match mode {
        Mode::Default => (replay.required_bytes, replay.reserved_bytes, REPLAY_PER_MILLE, HOARD_PER_MILLE),
        Mode::Expandable => (
            replay.required_bytes_expandable,
            replay.reserved_bytes_expandable,
            EXPANDABLE_REPLAY_PER_MILLE,
            EXPANDABLE_REPLAY_PER_MILLE,
        ),
    };
    let expected = required.max(allocated);
    let hoarded = beyond(reserved, RESERVED_SLACK_PER_MILLE).max(expected);
    let high = beyond(expected, hoards).min(hoarded);
    (Band { low: allocated, expected, high }, beyond(expected, trusted).min(hoarded))
}
