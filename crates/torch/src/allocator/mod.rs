//! PyTorch's caching allocator, as arithmetic (c10/cuda/CUDACachingAllocator.cpp, torch 2.15).
//!
//! Device memory comes in segments. A request takes the smallest free block that holds it, from one of the two pools of
//! the stream it is made on; what is left of the block is split off and stays free, unless it is so small that the
//! allocator hands it out as well. Freed blocks merge with free neighbours of their segment. When the device has no room for another segment, all wholly free
//! segments go back and the request is tried once more; only then it fails. With `expandable_segments:True` each pool is
//! one range of addresses whose pages are mapped as they are needed and unmapped when memory runs short.
//!
//! Addresses grow with every segment: between equal free blocks the allocator takes the lower address, which is the
//! older segment.
//!
//! `blocks` holds blocks and pools, `by_size` finds the best fit, `expandable` maps and unmaps; what decides between them is
//! here. Of the options of `PYTORCH_CUDA_ALLOC_CONF` only `expandable_segments` is modelled: not
//! `garbage_collection_threshold`, which frees cached segments early by their age, nor `max_split_size_mb`,
//! `roundup_power2_divisions` or memory pools of one's own.

mod blocks;
mod by_size;
mod expandable;
mod sizes;

use crate::stream::Stream;
use crate::tape::rounded;
use blocks::{Block, Blocks, NONE, PoolId, State};
use sizes::{MIN_BLOCK, SMALL_SIZE, segment_size};
use std::num::NonZeroU32;

pub use sizes::Mode;

/// The device has no room, even after every wholly free segment went back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Device memory with which this request would have been met, bytes.
    pub needs: u64,
    /// What PyTorch's message says it tried to allocate: a whole segment (`get_allocation_size`), bytes.
    pub tried: u64,
    /// What the device still had, bytes.
    pub free: u64,
    /// Free memory in segments that still hold something, bytes.
    pub stranded: u64,
}

impl OutOfMemory {
    /// Of a request for `bytes` on a device of `limit` bytes whose `allocated` bytes have no gaps between them.
    pub fn of_request(bytes: u64, allocated: u64, limit: u64) -> Self {
        let tried = segment_size(rounded(bytes).max(MIN_BLOCK));
        Self { needs: allocated.saturating_add(tried), tried, free: limit.saturating_sub(allocated), stranded: 0 }
    }
}

/// A handed-out block: its place from 1, so that no block takes no further room where one may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockId(NonZeroU32);

impl BlockId {
    fn new(place: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(place))
    }

    fn place(self) -> u32 {
        self.0.get() - 1
    }
}

/// The allocator of one device.
#[derive(Debug, Clone)]
pub struct Allocator {
    mode: Mode,
    /// Device memory it may take, bytes.
    limit: u64,
    reserved: u64,
    allocated: u64,
    /// Most since the last [`Allocator::reset_peaks`].
    reserved_peak: u64,
    allocated_peak: u64,
    demand_peak: u64,
    blocks: Blocks,
    next_address: u64,
    /// Blocks that were freed while another stream may still read them.
    outstanding: Vec<u32>,
}

impl Allocator {
    /// For a device with `limit` bytes.
    pub fn new(mode: Mode, limit: u64) -> Self {
        Self {
            mode,
            limit,
            reserved: 0,
            allocated: 0,
            reserved_peak: 0,
            allocated_peak: 0,
            demand_peak: 0,
            blocks: Blocks::new(mode),
            next_address: 0,
            outstanding: Vec::new(),
        }
    }

    /// Takes `bytes` on a stream. Before [`Stream::UNCACHED`] takes them the cache is emptied, as TRL does before an engine
    /// wakes (generation/vllm_generation.py `sync_weights`).
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn allocate(&mut self, bytes: u64, stream: Stream) -> Result<BlockId, OutOfMemory> {
        if stream == Stream::UNCACHED {
            self.empty_cache();
        }
        self.process_events();
        let size = rounded(bytes).max(MIN_BLOCK);
        let small = size <= SMALL_SIZE;
        let pool = PoolId { stream, small };
        self.blocks.open(stream);
        let cached = self.take_cached(pool, size);
        let found = match cached {
            Some(found) => found,
            None => self.take_new(pool, size)?,
        };
        if self.splits(small, self.blocks.get(found).size - size) {
            self.blocks.split(found, size);
        }
        self.allocated += self.blocks.get(found).size;
        self.allocated_peak = self.allocated_peak.max(self.allocated);
        if cached.is_none() {
            self.demand_peak = self.demand_peak.max(self.held());
        }
        Ok(BlockId::new(found))
    }

    /// Whether what is left of a block stays free (`should_split`).
    fn splits(&self, small: bool, left: u64) -> bool {
        if small || self.mode == Mode::Expandable { left >= MIN_BLOCK } else { left > SMALL_SIZE }
    }

    /// Takes `bytes` on a stream and gives them back before anything else is asked. Out of a free block that leaves all as it
    /// was: the block is cut and merges again, and only the peak may have risen.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn pass(&mut self, bytes: u64, stream: Stream) -> Result<(), OutOfMemory> {
        self.process_events();
        let size = rounded(bytes).max(MIN_BLOCK);
        let small = size <= SMALL_SIZE;
        self.blocks.open(stream);
        // With expandable segments the best fit is not the smallest block alone.
        let cached = match self.mode {
            Mode::Default => self.blocks.smallest(PoolId { stream, small }, size),
            Mode::Expandable => None,
        };
        if let Some(block) = cached {
            let handed_out = if self.splits(small, block - size) { size } else { block };
            self.allocated_peak = self.allocated_peak.max(self.allocated + handed_out);
            return Ok(());
        }
        let block = self.allocate(bytes, stream)?;
        self.free(block);
        Ok(())
    }

    /// Gives a block back to its pool; one of [`Stream::UNCACHED`] back to the device, with all that is wholly free: vLLM's
    /// sleep ends with `torch.cuda.empty_cache()` (device_allocator/cumem.py `CuMemAllocator.sleep`).
    pub fn free(&mut self, block: BlockId) {
        let &Block { size, pool, .. } = self.blocks.get(block.place());
        self.allocated -= size;
        self.blocks.release(block.place());
        if pool.stream == Stream::UNCACHED {
            self.empty_cache();
        }
    }

    /// Gives a block back that `record_stream` was called on: it is free once the other streams have reached the events
    /// that are recorded now (`insert_events`). They are taken to have done so at the next request.
    pub fn free_recorded(&mut self, block: BlockId) {
        self.allocated -= self.blocks.get(block.place()).size;
        self.outstanding.push(block.place());
    }

    /// Frees the blocks whose events have completed, as each request does first (`process_events`).
    fn process_events(&mut self) {
        if self.outstanding.is_empty() {
            return;
        }
        for id in self.outstanding.drain(..) {
            self.blocks.release(id);
        }
    }

    /// Gives back what is wholly free (`torch.cuda.empty_cache()`, and what happens before a request fails).
    pub fn empty_cache(&mut self) {
        self.process_events();
        match self.mode {
            Mode::Default => self.reserved -= self.blocks.drop_free_segments(),
            Mode::Expandable => self.unmap_free(),
        }
    }

    /// Sets what the device may still give; what is taken already stays.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Forgets earlier peaks.
    pub fn reset_peaks(&mut self) {
        (self.allocated_peak, self.reserved_peak, self.demand_peak) = (self.allocated, self.reserved, 0);
    }

    /// What it could not give back now: the segments that something lives in (with expandable segments, the granules),
    /// bytes.
    fn held(&self) -> u64 {
        self.reserved - self.blocks.releasable()
    }

    /// Most that it could not give back right after a request for which the device had to give more, since the last reset,
    /// bytes: on a device smaller than this, that request fails. 0 where what was there sufficed.
    pub fn demand_peak(&self) -> u64 {
        self.demand_peak
    }

    /// Handed out now, bytes.
    pub fn allocated(&self) -> u64 {
        self.allocated
    }

    /// Most handed out since the last reset, unsplit remainders of blocks included, bytes.
    pub fn allocated_peak(&self) -> u64 {
        self.allocated_peak
    }

    /// Most taken from the device since the last reset, bytes.
    pub fn reserved_peak(&self) -> u64 {
        self.reserved_peak
    }

    /// Hands out the best free block: the smallest that holds `size`, among equals the one at the lowest address.
    fn take_cached(&mut self, pool: PoolId, size: u64) -> Option<u32> {
        match self.mode {
            Mode::Default => self.blocks.take_smallest(pool, size),
            Mode::Expandable => {
                let found = self.smallest_growing(pool, size)?;
                self.blocks.take(found);
                Some(found)
            }
        }
    }

    /// Hands out a block of new device memory, if need be after everything that is wholly free went back.
    fn take_new(&mut self, pool: PoolId, size: u64) -> Result<u32, OutOfMemory> {
        let mut found = self.new_block(pool, size);
        if found.is_none() {
            self.empty_cache();
            found = self.new_block(pool, size);
        }
        let found = found.ok_or_else(|| OutOfMemory {
            needs: self.reserved.saturating_add(self.growth(pool, size)),
            tried: segment_size(size),
            free: self.limit.saturating_sub(self.reserved),
            stranded: self.reserved.saturating_sub(self.allocated),
        })?;
        self.blocks.take(found);
        Ok(found)
    }

    /// A free block of new device memory.
    fn new_block(&mut self, pool: PoolId, size: u64) -> Option<u32> {
        if self.mode == Mode::Expandable {
            return self.grow(pool, size);
        }
        let segment = segment_size(size);
        if self.reserved.checked_add(segment)? > self.limit {
            return None;
        }
        self.take_from_device(segment);
        let block = self.blocks.insert(pool, self.next_address, segment, State::Free, NONE, NONE);
        self.next_address += segment;
        Some(block)
    }

    /// What the device would have to give for a request that no free block meets, bytes.
    fn growth(&self, pool: PoolId, size: u64) -> u64 {
        match self.mode {
            Mode::Default => segment_size(size),
            Mode::Expandable => self.growth_of_range(pool, size),
        }
    }

    fn take_from_device(&mut self, bytes: u64) {
        self.reserved += bytes;
        self.reserved_peak = self.reserved_peak.max(self.reserved);
    }
}

#[cfg(test)]
mod tests;
