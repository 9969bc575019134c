//! Free blocks in order of size, then address.

use crate::tape::BLOCK;
use std::collections::VecDeque;

/// Lists that share each doubling of sizes.
const STEPS: usize = 8;

/// A free block: its size, its address, its number.
pub(super) type Entry = (u64, u64, u32);

/// Sorted lists of free blocks, eight for each doubling of sizes, with a map of those that are not empty. A replay copies
/// its pools for every device that it tries, so there are as many lists as the largest block needs and no more. Blocks come and go
/// at either end of a list: the adapters of thousands of experts have as many gradients of one size.
#[derive(Debug, Clone, Default)]
pub(super) struct BySize {
    lists: Vec<VecDeque<Entry>>,
    filled: [u64; WORDS],
}

const WORDS: usize = list_of(u64::MAX) / 64 + 1;

/// The list for blocks of `size` bytes: no smaller size has a later one.
const fn list_of(size: u64) -> usize {
    let blocks = size / BLOCK;
    let doublings = (blocks | 1).ilog2().saturating_sub(STEPS.ilog2());
    doublings as usize * STEPS + (blocks >> doublings) as usize
}

impl BySize {
    pub(super) fn insert(&mut self, entry: Entry) {
        let list = list_of(entry.0);
        if self.lists.len() <= list {
            self.lists.resize_with(list + 1, VecDeque::new);
        }
        let entries = &mut self.lists[list];
        if let Err(at) = entries.binary_search(&entry) {
            entries.insert(at, entry);
        }
        self.filled[list / 64] |= 1 << (list % 64);
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        let list = list_of(entry.0);
        let Some(entries) = self.lists.get_mut(list) else { return };
        if let Ok(at) = entries.binary_search(entry) {
            entries.remove(at);
        }
        if entries.is_empty() {
            self.filled[list / 64] &= !(1 << (list % 64));
        }
    }

    /// Where the smallest block of at least `size` bytes is: its list, and its place there.
    fn place_of_smallest(&self, size: u64) -> Option<(usize, usize)> {
        let first = list_of(size);
        let here = self.lists.get(first).map(|list| list.partition_point(|(other, _, _)| *other < size));
        match here {
            Some(at) if at < self.lists[first].len() => Some((first, at)),
            _ => Some((self.filled_from(first + 1).next()?, 0)),
        }
    }

    /// Bytes of the smallest block of at least `size` bytes.
    pub(super) fn smallest(&self, size: u64) -> Option<u64> {
        self.place_of_smallest(size).map(|(list, at)| self.lists[list][at].0)
    }

    /// Takes the smallest block of at least `size` bytes out.
    pub(super) fn take_smallest(&mut self, size: u64) -> Option<u32> {
        let (list, at) = self.place_of_smallest(size)?;
        let (_, _, id) = self.lists[list].remove(at)?;
        if self.lists[list].is_empty() {
            self.filled[list / 64] &= !(1 << (list % 64));
        }
        Some(id)
    }

    /// Blocks of at least `size` bytes, smallest first.
    pub(super) fn from(&self, size: u64) -> impl Iterator<Item = u32> {
        let first = list_of(size);
        let here = self.lists.get(first).into_iter();
        let here = here.flat_map(move |list| list.range(list.partition_point(|(other, _, _)| *other < size)..));
        here.chain(self.filled_from(first + 1).flat_map(|list| &self.lists[list])).map(|(_, _, id)| *id)
    }

    /// Every block.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        self.filled_from(0).flat_map(|list| &self.lists[list]).map(|(_, _, id)| *id)
    }

    /// Lists from `list` on that are not empty.
    fn filled_from(&self, list: usize) -> impl Iterator<Item = usize> {
        let mut word = list / 64;
        let mut bits = self.filled.get(word).map_or(0, |bits| bits & (u64::MAX << (list % 64)));
        std::iter::from_fn(move || {
            while bits == 0 {
                word += 1;
                bits = *self.filled.get(word)?;
            }
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            Some(word * 64 + bit)
        })
    }
}
