//! What modules share: the names under which parts take from the first module what they use.

use std::collections::BTreeSet;

use wasm_encoder::ExportKind;

/// What parts take from the first module, each under its name there.
pub(crate) struct Shared {
    /// The name of the shared table. It bears the build's fingerprint, so that a part of another build is refused.
    pub(crate) slots: String,
    pub(crate) memories: BTreeSet<u32>,
    pub(crate) tables: BTreeSet<u32>,
    pub(crate) globals: BTreeSet<u32>,
}

impl Shared {
    pub(crate) fn new(fingerprint: u64) -> Self {
        let slots = format!("parts:slots-{fingerprint:016x}");
        Self { slots, memories: BTreeSet::new(), tables: BTreeSet::new(), globals: BTreeSet::new() }
    }

    /// The flag that says that a part is there.
    pub(crate) fn loaded(part: u32) -> String {
        format!("parts:loaded-{part}")
    }

    pub(crate) fn memory(index: u32) -> String {
        format!("parts:memory-{index}")
    }

    pub(crate) fn table(index: u32) -> String {
        format!("parts:table-{index}")
    }

    pub(crate) fn global(index: u32) -> String {
        format!("parts:global-{index}")
    }

    /// What the first module has to export besides.
    pub(crate) fn exports(&self) -> Vec<(String, ExportKind, u32)> {
        let memories = self.memories.iter().map(|index| (Self::memory(*index), ExportKind::Memory, *index));
        let tables = self.tables.iter().map(|index| (Self::table(*index), ExportKind::Table, *index));
        let globals = self.globals.iter().map(|index| (Self::global(*index), ExportKind::Global, *index));
        memories.chain(tables).chain(globals).collect()
    }
}
