//! Whose a module's bytes are.

mod record;
mod table;

use std::collections::BTreeMap;

pub use record::Record;
pub use table::table;
use wasmparser::DataKind;

use crate::failure::Result;
use crate::module::Module;
use crate::names;

/// What a byte of a module is for, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// `code`, `data`, `tables` (what indirect calls go through) or `other` (signatures, imports, exports, headers).
    pub kind: String,
    /// For code the room, for data the segment, otherwise the section.
    pub room: String,
}

impl Place {
    fn new(kind: &str, room: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), room: room.into() }
    }
}

/// Bytes by place. Together they are the file without its custom sections, which nobody downloads.
pub type Sizes = BTreeMap<Place, u64>;

/// The sizes of a module.
pub fn sizes(bytes: &[u8]) -> Result<Sizes> {
    let module = Module::read(bytes)?;
    let mut sizes = Sizes::new();
    // The file's magic number and version.
    let mut add = |place, bytes: u64| *sizes.entry(place).or_default() += bytes;
    add(Place::new("other", "headers"), 8);
    for (section, range) in &module.sections {
        let size = range.end - range.start;
        // A byte says which section it is, then comes its length.
        add(Place::new("other", "headers"), 1 + length_of_number(size));
        match *section {
            "code" => {
                let mut functions = 0;
                for (function, body) in module.defined() {
                    let length = body.as_bytes().len() as u64;
                    let whole = length + length_of_number(length);
                    functions += whole;
                    let room = names::room(module.names.function(function).unwrap_or_default());
                    add(Place::new("code", room), whole);
                }
                add(Place::new("other", "headers"), size - functions);
            }
            "data" => {
                let mut segments = 0;
                for (index, segment) in (0..).zip(&module.data) {
                    let constant = matches!(segment.kind, DataKind::Active { .. });
                    let name = module.names.data(index).unwrap_or(if constant { "segment" } else { "passive segment" });
                    // wasm-opt numbers the pieces into which it cuts a segment, and anew with every change.
                    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('.');
                    segments += segment.data.len() as u64;
                    add(Place::new("data", name), segment.data.len() as u64);
                }
                add(Place::new("other", "headers"), size - segments);
            }
            "tables" | "elements" => add(Place::new("tables", *section), size),
            _ => add(Place::new("other", *section), size),
        }
    }
    Ok(sizes)
}

/// How many bytes `number` takes as LEB128.
fn length_of_number(number: u64) -> u64 {
    u64::from((64 - (number | 1).leading_zeros()).div_ceil(7))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const MODULE: &str = "(module (memory 1) (table 1 funcref) (elem (i32.const 0) 0) \
        (data $.rodata.7 (i32.const 8) \"twelve bytes\") (func $headroom_core::memory::loss::forward (nop)) (func $headroom_core::memory::loss::backward) \
        (func (export \"it\")))";

    #[test]
    fn every_byte_but_those_of_custom_sections_is_somebodys() {
        let bytes = wat::parse_str(MODULE).unwrap();
        let module = Module::read(&bytes).unwrap();
        // Each custom section has a byte that says so, its length, the length of its name, and its name.
        let custom: usize = module.custom.iter().map(|(name, content)| content.len() + name.len() + 3).sum();
        let sizes = sizes(&bytes).unwrap();
        assert_eq!(sizes.values().sum::<u64>(), (bytes.len() - custom) as u64);
        assert_eq!(sizes[&Place::new("code", "headroom_core::memory::loss")], 4 + 3);
        assert_eq!(sizes[&Place::new("code", names::UNNAMED)], 3);
        assert_eq!(sizes[&Place::new("data", ".rodata")], 12);
    }

    #[test]
    fn numbers_grow_every_seven_bits() {
        assert_eq!([0, 127, 128, 16_383, 16_384].map(length_of_number), [1, 1, 2, 2, 3]);
    }
}
