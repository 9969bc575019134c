//! What PyTorch's sums take besides their result: a sum over many rows is split over thread blocks, which leave their parts
//! in a buffer from the caching allocator (aten/src/ATen/native/cuda/Reduce.cuh, `setReduceConfig` and
//! `gpu_reduce_kernel`).

/// `mnt_wrapper::MAX_NUM_THREADS`.
const MAX_THREADS: u64 = 512;
const WARP: u64 = 32;
/// `min_values_per_thread` and `max_values_per_thread`.
const VALUES: (u64, u64) = (16, 256);
/// Parts are summed in fp32, semaphores are ints.
const PART_BYTES: u64 = 4;

/// Multiprocessors of the GPU and the threads each keeps resident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processors {
    /// Multiprocessors.
    pub count: u64,
    /// Threads that each keeps resident.
    pub threads: u64,
    /// Major and minor number.
    pub compute_capability: (u8, u8),
}

/// Bytes of the buffer of parts and of its semaphores when `rows` rows of `width` contiguous numbers are summed into one;
/// `None` when each output is one thread block's.
pub(crate) fn row_sum_buffers(rows: u64, width: u64, processors: Processors) -> Option<(u64, u64)> {
    if rows == 0 || width == 0 {
        return None;
    }
    let vector = [4, 2, 1].into_iter().find(|vector| width.is_multiple_of(*vector)).unwrap_or(1);
    let most = MAX_THREADS / vector;
    let power = |n: u64| if n < most { 1 << n.max(1).ilog2() } else { most };
    let (across, down) = (power(width / vector), power(rows));
    let block_height = down.min(most / across.min(WARP));
    let block_width = across.min(most / block_height);
    let values = |step: u64| rows.div_ceil(step);
    if values(1) < (block_height * 16).min(VALUES.1) || values(block_height) < VALUES.1 {
        return None;
    }
    let values = values(block_height);
    let grid = (width / vector).div_ceil(block_width);
    let target = processors.count * (processors.threads / (block_width * block_height).max(1));
    if grid > target {
        return None;
    }
    let (least, most) = (values.div_ceil(VALUES.1), values.div_ceil(VALUES.0));
    let blocks = target.div_ceil(grid).clamp(least, most);
    let parts = PART_BYTES.saturating_mul(width).saturating_mul(blocks).saturating_mul(block_width * vector);
    (blocks > 1).then_some((parts, PART_BYTES * grid))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks seen in PyTorch's allocator on a GPU with 108 multiprocessors of 2,048 threads.
    #[test]
    fn matches_pytorch() {
        let processors = Processors { count: 108, threads: 2048, compute_capability: (8, 0) };
        assert_eq!(row_sum_buffers(512, 2048, processors), None);
        assert_eq!(row_sum_buffers(1024, 2048, processors), Some((16_777_216, 64)));
        assert_eq!(row_sum_buffers(1024, 896, processors), Some((7_340_032, 28)));
        assert_eq!(row_sum_buffers(151_936, 896, processors).map(|(parts, _)| parts), Some(113_311_744));
    }
}
