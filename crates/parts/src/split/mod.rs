//! A module split by function: the first module has what a first view calls, parts have the rest.
//!
//! A call from one module to a function of a part goes through a slot of a table that all share. Whoever calls a part that may not be
//! there yet does so through a stub of its own, which has the part loaded: the import `parts.load` instantiates it, and its
//! start function sets the flag that the stub asks. Memory, tables, globals, data, exports and imports stay with the first
//! module; parts take them from there.

mod assign;
mod data;
mod first;
mod layout;
mod part;
mod references;
mod shared;
mod stub;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use wasmparser::{FuncType, ValType};

pub use assign::Wanted;
use assign::{Assignment, assign};
pub(crate) use data::Segments;
pub use data::Uses;
use layout::Layout;
use references::References;
use shared::Shared;
use stub::Stub;

use crate::failure::{Failure, Result};
use crate::module::Module;

/// The modules that a split writes.
pub struct Files {
    /// The first module. It imports `parts.load`, a function of the number of a part, from 1.
    pub first: Vec<u8>,
    /// The parts, from number 1.
    pub parts: Vec<Vec<u8>>,
    /// How many of them come before those that stand apart.
    pub early: usize,
    /// How many of them, from number 1, there are up to each stage, its own included.
    pub staged: Vec<usize>,
    /// The same for the same module split in the same way: parts of one build do not fit the first module of another.
    pub fingerprint: u64,
}

/// What is known while the modules are written.
struct Split<'m, 'a> {
    module: &'m Module<'a>,
    references: References,
    assignment: Assignment,
    layout: Layout,
    /// The data of each module, where parts have some of it.
    data: Option<Vec<Segments>>,
    names: bool,
}

impl Split<'_, '_> {
    /// The index of the loader's signature, behind all that the module has.
    fn loading(&self) -> u32 {
        self.module.types.len() as u32
    }

    /// The index of the signature of what takes and gives nothing.
    fn plain(&self) -> u32 {
        self.loading() + 1
    }

    /// The stub of `function` in a module that has the shared table and its signature under these indices.
    fn stub(&self, function: u32, ensure: u32, table: u32, signature: u32) -> Result<Stub> {
        let parameters = self.module.signature(function)?.params().len();
        let slot = self.layout.slots.get(&function).copied().ok_or_else(|| {
            Failure::new(format!("Function {function} has a stub but no slot: the split has an error."))
        })?;
        Ok(Stub { parameters, ensure, table, slot, signature, tail_call: self.references.tail_calls })
    }

    fn added_signature(&self, index: u32) -> FuncType {
        if index == self.loading() { FuncType::new([ValType::I32], []) } else { FuncType::new([], []) }
    }
}

/// Splits `bytes` as `wanted` says.
pub fn split(bytes: &[u8], wanted: &Wanted) -> Result<Files> {
    let module = Module::read(bytes)?;
    let references = References::of(&module)?;
    let assignment = assign(&module, &references, wanted)?;
    let layout = Layout::of(&module, &references, &assignment);
    let fingerprint =
        BuildHasherDefault::<DefaultHasher>::default().hash_one((bytes, &assignment.functions, wanted.names));
    let uses = wanted.uses.as_ref();
    let data = uses.map(|uses| data::divide(&module, uses, &assignment.functions)).transpose()?;
    let mut shared = Shared::new(fingerprint);
    let split = Split { module: &module, references, assignment, layout, data, names: wanted.names };
    let numbers = 1..split.assignment.functions.len() as u32;
    let parts = numbers.map(|number| part::write(&split, number, &mut shared)).collect::<Result<Vec<_>>>()?;
    let first = first::write(&split, &shared)?;
    let Assignment { early, staged, .. } = split.assignment;
    Ok(Files { first, parts, early, staged, fingerprint })
}
