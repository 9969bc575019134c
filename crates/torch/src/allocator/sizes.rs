//! Sizes of blocks, segments and granules, and how device memory is taken.

/// 2^20 bytes.
pub(super) const MIB: u64 = 1 << 20;

/// Requests of at most this many bytes live in the small pool (`kSmallSize`).
pub(super) const SMALL_SIZE: u64 = MIB;
/// Segments of the small pool (`kSmallBuffer`); also the granule of its expandable segment.
pub(super) const SMALL_BUFFER: u64 = 2 * MIB;
/// Segments for requests above 1 MiB and below 10 MiB (`kLargeBuffer`); also the granule of the large expandable segment.
pub(super) const LARGE_BUFFER: u64 = 20 * MIB;
/// From this size on a request has a segment of its own size (`kMinLargeAlloc`).
pub(super) const MIN_LARGE_ALLOC: u64 = 10 * MIB;
/// ... rounded up to this (`kRoundLarge`).
pub(super) const ROUND_LARGE: u64 = 2 * MIB;
/// Smallest block (`kMinBlockSize`).
pub(super) const MIN_BLOCK: u64 = 512;

/// How device memory is taken (`PYTORCH_CUDA_ALLOC_CONF`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Segments of fixed size.
    Default,
    /// `expandable_segments:True`.
    Expandable,
}

/// Bytes that an expandable segment maps at once.
pub(super) const fn granule(small: bool) -> u64 {
    if small { SMALL_BUFFER } else { LARGE_BUFFER }
}

/// Bytes of the segment that is taken for a request (`get_allocation_size`).
pub(super) const fn segment_size(size: u64) -> u64 {
    if size <= SMALL_SIZE {
        SMALL_BUFFER
    } else if size < MIN_LARGE_ALLOC {
        LARGE_BUFFER
    } else {
        size.div_ceil(ROUND_LARGE) * ROUND_LARGE
    }
}
