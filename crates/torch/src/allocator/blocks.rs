//! Blocks of memory, linked to their neighbours, and the pools of free ones: splitting, merging, dropping. Which block is
//! taken, and when the device is asked, is decided in `allocator`.

use super::by_size::BySize;
use super::sizes::{Mode, granule};
use crate::stream::Stream;

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Used,
    Free,
    /// Addresses of an expandable segment without memory behind them.
    Unmapped,
}

/// A pool: free blocks of one kind of size that were asked on one stream (`BlockComparatorSize` orders by stream first).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolId {
    pub(super) stream: Stream,
    pub(super) small: bool,
}

impl PoolId {
    fn index(self) -> usize {
        self.stream.index() * 2 + usize::from(!self.small)
    }
}

/// Part of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) state: State,
    pub(super) pool: PoolId,
    /// Neighbours within the segment.
    pub(super) prev: u32,
    pub(super) next: u32,
}

impl Block {
    /// Begin and end of the whole granules inside it, addresses.
    pub(super) fn whole_granules(&self) -> Option<(u64, u64)> {
        let granule = granule(self.pool.small);
        let begin = self.address.div_ceil(granule) * granule;
        let end = (self.address + self.size) / granule * granule;
        (begin < end).then_some((begin, end))
    }
}

/// What is not handed out, of one stream and one kind of size.
#[derive(Debug, Clone, Default)]
struct Pool {
    free: BySize,
    /// Unmapped blocks by address: one or a few.
    unmapped: Vec<(u64, u32)>,
}

/// All blocks of a device.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    all: Vec<Block>,
    /// Places of blocks that are no more.
    spare: Vec<u32>,
    /// By [`PoolId::index`]; those of a stream are made when it first asks.
    pools: Vec<Pool>,
    mode: Mode,
    /// What the device would get back if the cache were emptied, bytes.
    releasable: u64,
}

impl Blocks {
    pub(super) fn new(mode: Mode) -> Self {
        Self { all: Vec::with_capacity(1024), spare: Vec::new(), pools: Vec::new(), mode, releasable: 0 }
    }

    /// Makes the pools of a stream, and of those before it.
    pub(super) fn open(&mut self, stream: Stream) {
        let pools = (stream.index() + 1) * 2;
        if self.pools.len() < pools {
            self.pools.resize_with(pools, Pool::default);
        }
    }

    /// What the device would get back if the cache were emptied, bytes.
    pub(super) fn releasable(&self) -> u64 {
        self.releasable
    }

    /// What of a free block goes back when the cache is emptied: all of it where it is a segment of its own; with
    /// expandable segments the whole granules inside it.
    fn releasable_of(&self, block: &Block) -> u64 {
        match self.mode {
            Mode::Default if block.prev == NONE && block.next == NONE => block.size,
            Mode::Default => 0,
            Mode::Expandable => block.whole_granules().map_or(0, |(begin, end)| end - begin),
        }
    }

    /// The block `id`; ids come from this arena and are always valid.
    pub(super) fn get(&self, id: u32) -> &Block {
        &self.all[id as usize]
    }

    fn get_mut(&mut self, id: u32) -> &mut Block {
        &mut self.all[id as usize]
    }

    /// A pool; [`Blocks::open`] has made it.
    fn pool(&self, pool: PoolId) -> &Pool {
        &self.pools[pool.index()]
    }

    fn pool_mut(&mut self, pool: PoolId) -> &mut Pool {
        &mut self.pools[pool.index()]
    }

    /// Bytes of the smallest free block of at least `size` bytes.
    pub(super) fn smallest(&self, pool: PoolId, size: u64) -> Option<u64> {
        self.pool(pool).free.smallest(size)
    }

    /// Hands out the smallest free block of at least `size` bytes.
    pub(super) fn take_smallest(&mut self, pool: PoolId, size: u64) -> Option<u32> {
        let id = self.pool_mut(pool).free.take_smallest(size)?;
        self.releasable -= self.releasable_of(self.get(id));
        self.get_mut(id).state = State::Used;
        Some(id)
    }

    /// Free blocks of at least `size` bytes, smallest first.
    pub(super) fn free_from(&self, pool: PoolId, size: u64) -> impl Iterator<Item = u32> {
        self.pool(pool).free.from(size)
    }

    /// Every free block of every stream.
    pub(super) fn all_free(&self) -> Vec<u32> {
        self.pools.iter().flat_map(|pool| pool.free.all()).collect()
    }

    /// Unmapped blocks, lowest address first.
    pub(super) fn unmapped(&self, pool: PoolId) -> impl DoubleEndedIterator<Item = u32> {
        self.pool(pool).unmapped.iter().map(|(_, id)| *id)
    }

    /// A new block between `prev` and `next`.
    pub(super) fn insert(&mut self, pool: PoolId, address: u64, size: u64, state: State, prev: u32, next: u32) -> u32 {
        let block = Block { address, size, state, pool, prev, next };
        let id = match self.spare.pop() {
            Some(id) => {
                *self.get_mut(id) = block;
                id
            }
            None => {
                self.all.push(block);
                self.all.len() as u32 - 1
            }
        };
        if prev != NONE {
            self.get_mut(prev).next = id;
        }
        if next != NONE {
            self.get_mut(next).prev = id;
        }
        self.enter(id);
        id
    }

    /// Puts a block into the set that its state names.
    fn enter(&mut self, id: u32) {
        let block = self.get(id);
        let Block { address, size, state, pool, .. } = *block;
        match state {
            State::Used => {}
            State::Free => {
                self.releasable += self.releasable_of(block);
                self.pool_mut(pool).free.insert((size, address, id));
            }
            State::Unmapped => {
                let unmapped = &mut self.pool_mut(pool).unmapped;
                let at = unmapped.partition_point(|other| *other < (address, id));
                unmapped.insert(at, (address, id));
            }
        }
    }

    /// Takes a block out of its set.
    fn leave(&mut self, id: u32) {
        let block = self.get(id);
        let Block { address, size, state, pool, .. } = *block;
        match state {
            State::Used => {}
            State::Free => {
                self.releasable -= self.releasable_of(block);
                self.pool_mut(pool).free.remove(&(size, address, id));
            }
            State::Unmapped => {
                self.pool_mut(pool).unmapped.retain(|other| *other != (address, id));
            }
        }
    }

    /// Changes what a block is.
    pub(super) fn set_state(&mut self, id: u32, state: State) {
        self.leave(id);
        self.get_mut(id).state = state;
        self.enter(id);
    }

    /// Hands a free block out.
    pub(super) fn take(&mut self, id: u32) {
        self.set_state(id, State::Used);
    }

    /// Cuts a used block: `size` bytes stay used, the rest becomes a free block behind it.
    pub(super) fn split(&mut self, id: u32, size: u64) {
        let Block { address, size: whole, pool, next, .. } = *self.get(id);
        self.get_mut(id).size = size;
        self.insert(pool, address + size, whole - size, State::Free, id, next);
    }

    /// Cuts a block of any state after `size` bytes; both parts keep the state. Gives back the second part.
    pub(super) fn cut(&mut self, id: u32, size: u64) -> u32 {
        self.leave(id);
        let Block { address, size: whole, pool, next, state, .. } = *self.get(id);
        self.get_mut(id).size = size;
        self.enter(id);
        self.insert(pool, address + size, whole - size, state, id, next)
    }

    /// Frees a used block and merges it with free neighbours.
    pub(super) fn release(&mut self, id: u32) {
        self.get_mut(id).state = State::Free;
        self.merge(id);
        self.enter(id);
    }

    /// Changes a block's state and merges it with neighbours of the new state.
    pub(super) fn become_merged(&mut self, id: u32, state: State) {
        self.leave(id);
        self.get_mut(id).state = state;
        self.merge(id);
        self.enter(id);
    }

    /// Swallows neighbours of the same state; the block itself must be in no set.
    fn merge(&mut self, id: u32) {
        let Block { prev, next, state, .. } = *self.get(id);
        if prev != NONE && self.get(prev).state == state {
            self.leave(prev);
            let Block { address, size, prev: before, .. } = *self.get(prev);
            let block = self.get_mut(id);
            (block.address, block.prev) = (address, before);
            block.size += size;
            if before != NONE {
                self.get_mut(before).next = id;
            }
            self.spare.push(prev);
        }
        if next != NONE && self.get(next).state == state {
            self.leave(next);
            let Block { size, next: after, .. } = *self.get(next);
            let block = self.get_mut(id);
            block.next = after;
            block.size += size;
            if after != NONE {
                self.get_mut(after).prev = id;
            }
            self.spare.push(next);
        }
    }

    /// Drops a block that is a whole segment.
    pub(super) fn drop_if_alone(&mut self, id: u32) {
        let block = self.get(id);
        if block.prev == NONE && block.next == NONE {
            self.leave(id);
            self.spare.push(id);
        }
    }

    /// Drops segments that are one free block, of every stream (`release_cached_blocks`); gives back their bytes.
    pub(super) fn drop_free_segments(&mut self) -> u64 {
        let mut bytes = 0;
        for id in self.all_free() {
            let block = *self.get(id);
            if block.prev == NONE && block.next == NONE {
                self.leave(id);
                self.spare.push(id);
                bytes += block.size;
            }
        }
        bytes
    }
}
