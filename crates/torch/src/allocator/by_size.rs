//! Free blocks in order of size, then address.

/// Lists; the last one takes every larger size.
const LISTS: usize = 4096;
const WORDS: usize = LISTS / 64;

/// A free block: its size, its address, its number.
pub(super) type Entry = (u64, u64, u32);

/// Sorted lists of free blocks, a list for each stretch of sizes, with a map of those that are not empty.
#[derive(Debug, Clone)]
pub(super) struct BySize {
    lists: Vec<Vec<Entry>>,
    filled: [u64; WORDS],
    /// Bytes of sizes that share a list.
    stretch: u64,
}

impl BySize {
    pub(super) fn new(stretch: u64) -> Self {
        Self { lists: vec![Vec::new(); LISTS], filled: [0; WORDS], stretch }
    }

    fn list_of(&self, size: u64) -> usize {
        usize::try_from(size / self.stretch).map_or(LISTS - 1, |list| list.min(LISTS - 1))
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        let list = self.list_of(entry.0);
        let entries = &mut self.lists[list];
        if let Err(at) = entries.binary_search(&entry) {
            entries.insert(at, entry);
        }
        self.filled[list / 64] |= 1 << (list % 64);
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        let list = self.list_of(entry.0);
        let entries = &mut self.lists[list];
        if let Ok(at) = entries.binary_search(entry) {
            entries.remove(at);
        }
        if entries.is_empty() {
            self.filled[list / 64] &= !(1 << (list % 64));
        }
    }

    /// Blocks of at least `size` bytes, smallest first.
    pub(super) fn from(&self, size: u64) -> impl Iterator<Item = u32> {
        let first = self.list_of(size);
        let skip = self.lists[first].partition_point(|(other, _, _)| *other < size);
        let here = self.lists[first][skip..].iter();
        here.chain(self.filled_after(first).flat_map(|list| &self.lists[list])).map(|(_, _, id)| *id)
    }

    /// Every block.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        self.lists.iter().flatten().map(|(_, _, id)| *id)
    }

    /// Lists after `list` that are not empty.
    fn filled_after(&self, list: usize) -> impl Iterator<Item = usize> {
        let mut word = (list + 1) / 64;
        let mut bits = self.filled.get(word).map_or(0, |bits| bits & (u64::MAX << ((list + 1) % 64)));
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
