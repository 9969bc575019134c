//! `expandable_segments:True`: one range of addresses a pool, mapped and unmapped in granules; another where that has no
//! stretch long enough left. Ranges get ascending addresses here, as the driver pleases there.

use super::Allocator;
use super::blocks::{NONE, PoolId, State};
use super::sizes::{LARGE_BUFFER, granule};

/// Most addresses of an expandable segment, a multiple of both granules: more than any device has.
const LONGEST_RANGE: u64 = LARGE_BUFFER << 22;

impl Allocator {
    /// Best fit, where a block before unmapped addresses counts as large as it can grow (`get_free_block`).
    pub(super) fn smallest_growing(&self, pool: PoolId, size: u64) -> Option<u32> {
        let reach = |id: u32| {
            let block = self.blocks.get(id);
            let beyond = if block.next == NONE { None } else { Some(self.blocks.get(block.next)) };
            block.size + beyond.filter(|next| next.state == State::Unmapped).map_or(0, |next| next.size)
        };
        let mut fitting = self.blocks.free_from(pool, size);
        let mut best = fitting.next()?;
        for next in fitting {
            if reach(next) >= reach(best) {
                break;
            }
            best = next;
        }
        Some(best)
    }

    /// Maps memory until some free block holds `size` (`try_allocate_expandable_block`).
    pub(super) fn grow(&mut self, pool: PoolId, size: u64) -> Option<u32> {
        let mut candidate = self.place_to_grow(pool, size);
        if self.blocks.get(candidate).state == State::Unmapped {
            let wanted = size.min(self.blocks.get(candidate).size);
            self.map(candidate, wanted)?;
        }
        while self.blocks.get(candidate).size < size {
            let block = *self.blocks.get(candidate);
            let next = block.next;
            if next == NONE {
                return None;
            }
            let wanted = (size - block.size).min(self.blocks.get(next).size);
            // Mapped, the next block swallows this one.
            self.map(next, wanted)?;
            candidate = next;
        }
        Some(candidate)
    }

    /// Bytes that [`Allocator::grow`] would have to map.
    pub(super) fn growth_of_range(&self, pool: PoolId, size: u64) -> u64 {
        // The last stretch before unmapped addresses shortens what is to be mapped.
        let tail = self.blocks.unmapped(pool).last().map_or(0, |unmapped| {
            let prev = self.blocks.get(unmapped).prev;
            let free = prev != NONE && self.blocks.get(prev).state == State::Free;
            if free { self.blocks.get(prev).size } else { 0 }
        });
        size.saturating_sub(tail).div_ceil(granule(pool.small)) * granule(pool.small)
    }

    /// The first run of free and unmapped blocks with room for `size`, or a new segment (`find_expandable_block`).
    fn place_to_grow(&mut self, pool: PoolId, size: u64) -> u32 {
        let open = |id: u32| id != NONE && self.blocks.get(id).state != State::Used;
        for unmapped in self.blocks.unmapped(pool) {
            let prev = self.blocks.get(unmapped).prev;
            let first = if open(prev) { prev } else { unmapped };
            let (mut room, mut at) = (0, first);
            while room < size && open(at) {
                room += self.blocks.get(at).size;
                at = self.blocks.get(at).next;
            }
            if room >= size {
                return first;
            }
        }
        let (address, range) = (self.next_address, self.range(pool.small));
        self.next_address += LONGEST_RANGE;
        self.blocks.insert(pool, address, range, State::Unmapped, NONE, NONE)
    }

    /// Addresses of a new expandable segment: an eighth more than the device has (`ExpandableSegment`'s `max_handles_`).
    fn range(&self, small: bool) -> u64 {
        let wanted = self.limit.saturating_add(self.limit / 8).min(LONGEST_RANGE);
        wanted.div_ceil(granule(small)) * granule(small)
    }

    /// Puts memory behind the first `size` bytes, rounded up to granules, of an unmapped block (`map_block`).
    fn map(&mut self, id: u32, size: u64) -> Option<()> {
        let block = *self.blocks.get(id);
        let granule = granule(block.pool.small);
        let bytes = size.div_ceil(granule) * granule;
        if self.reserved.checked_add(bytes)? > self.limit {
            return None;
        }
        self.take_from_device(bytes);
        if bytes < block.size {
            self.blocks.cut(id, bytes);
        }
        self.blocks.become_merged(id, State::Free);
        Some(())
    }

    /// Takes the memory from behind every whole granule inside free blocks (`unmap_block`). A segment without any memory
    /// goes (`release_expandable_segment`): the next is mapped behind those that are left.
    pub(super) fn unmap_free(&mut self) {
        for id in self.blocks.all_free() {
            let block = *self.blocks.get(id);
            let Some((begin, end)) = block.whole_granules() else { continue };
            self.reserved -= end - begin;
            let mut middle = id;
            if begin > block.address {
                middle = self.blocks.cut(id, begin - block.address);
            }
            if end < block.address + block.size {
                self.blocks.cut(middle, end - begin);
            }
            self.blocks.become_merged(middle, State::Unmapped);
            self.blocks.drop_if_alone(middle);
        }
    }
}
