//! What functions and data segments are called, and whose they are.

use std::collections::BTreeMap;

use wasmparser::{Name, NameMap, NameSectionReader};

/// What stands between the name of a function and the number of a piece that was cut out of it.
pub(crate) const PIECE: &str = ".piece.";

/// The name of the function that a piece was cut out of; its own name for all others.
pub(crate) fn whole(name: &str) -> &str {
    name.split_once(PIECE).map_or(name, |(whole, _)| whole)
}

/// The names of a module's functions and data segments, by index; empty where it was stripped.
#[derive(Default)]
pub struct Names {
    functions: BTreeMap<u32, String>,
    mangled: BTreeMap<u32, String>,
    data: BTreeMap<u32, String>,
}

impl Names {
    /// What a name section says. A part of it that cannot be read counts as absent: names change nothing that runs.
    pub(crate) fn read(section: NameSectionReader<'_>) -> Self {
        let mut names = Self::default();
        for subsection in section.into_iter().flatten() {
            match subsection {
                Name::Function(map) => {
                    names.functions = demangled(map.clone());
                    names.mangled =
                        map.into_iter().flatten().map(|named| (named.index, named.name.to_owned())).collect();
                }
                Name::Data(map) => names.data = demangled(map),
                _ => {}
            }
        }
        names
    }

    /// Whether the module says what its functions are called.
    pub fn are_there(&self) -> bool {
        !self.functions.is_empty()
    }

    /// A function's name, without what differs from build to build.
    pub fn function(&self, index: u32) -> Option<&str> {
        self.functions.get(&index).map(String::as_str)
    }

    /// A function's name as the module has it.
    pub fn mangled(&self, index: u32) -> Option<&str> {
        self.mangled.get(&index).map(String::as_str)
    }

    /// A data segment's name.
    pub fn data(&self, index: u32) -> Option<&str> {
        self.data.get(&index).map(String::as_str)
    }
}

fn demangled(map: NameMap<'_>) -> BTreeMap<u32, String> {
    map.into_iter().flatten().map(|naming| (naming.index, without_hashes(naming.name))).collect()
}

/// `name` demangled, without the hashes of crates and instances: those change with every compiler and every edit.
/// wasm-bindgen may have demangled it already.
pub(crate) fn without_hashes(name: &str) -> String {
    let whole = format!("{:#}", rustc_demangle::demangle(name));
    let mut rest = whole.as_str();
    let mut kept = String::with_capacity(rest.len());
    while let Some(at) = rest.find(['[', ':']) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let of_crate = || rest.strip_prefix('[')?.split_once(']');
        let of_instance = || rest.strip_prefix("::h")?.split_at_checked(16);
        match of_crate().or_else(of_instance) {
            Some((hash, after)) if (8..=16).contains(&hash.len()) && is_hash(hash) => rest = after,
            _ => {
                kept.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    kept.push_str(rest);
    kept
}

fn is_hash(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The crate of what nobody named.
pub const UNNAMED: &str = "(unnamed)";

/// Crates that others instantiate: what of them bears another crate's type is that crate's.
const LENT: [&str; 3] = ["core", "alloc", "std"];

/// The room that a function belongs to: its crate and at most two modules, as in `headroom_core::memory::loss`. Of several
/// paths in a name (`<a::B as c::D>::e`, `drop_in_place<a::B>`) it is the first that is not of the standard library.
pub fn room(name: &str) -> String {
    let paths: Vec<&str> = name
        .split(|c: char| !(c.is_alphanumeric() || "_:{}#-".contains(c)))
        .map(|path| path.trim_matches(':'))
        .filter(|path| path.contains("::"))
        .collect();
    let owned = paths.iter().find(|path| !LENT.contains(&crate_of(path)));
    let Some(path) = owned.or(paths.first()) else {
        return if name.is_empty() { UNNAMED } else { "(outside Rust's modules)" }.to_owned();
    };
    // The last word is the function itself, and what begins with a capital is a type.
    let is_module = |word: &&str| word.starts_with(|c: char| c.is_lowercase() || c == '_');
    let words: Vec<&str> = path.split("::").collect();
    let modules = words.iter().copied().take(words.len() - 1).take_while(is_module).take(3);
    let room = modules.collect::<Vec<_>>().join("::");
    if room.is_empty() { crate_of(path).to_owned() } else { room }
}

/// The crate of a path or a room.
pub fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_either_mangling_are_dropped() {
        assert_eq!(without_hashes("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
        assert_eq!(without_hashes("core::fmt::Write::write_fmt::h0123456789abcdef"), "core::fmt::Write::write_fmt");
        assert_eq!(without_hashes("<alloc[f59f2faa2df91fc3]::vec::Vec<u8>>::push"), "<alloc::vec::Vec<u8>>::push");
        assert_eq!(without_hashes("a::hash_one"), "a::hash_one");
        assert_eq!(without_hashes("<[u8; 12345678] as a::B>::c"), "<[u8; 12345678] as a::B>::c");
    }

    #[test]
    fn a_room_is_a_crate_and_two_modules() {
        assert_eq!(room("headroom_core::memory::loss::fused::forward"), "headroom_core::memory::loss");
        assert_eq!(room("headroom_core::memory::Ledger::rows"), "headroom_core::memory");
        assert_eq!(room("headroom_core::units::of::{{closure}}"), "headroom_core::units::of");
        assert_eq!(room("<headroom_core::plan::Plan as core::fmt::Debug>::fmt"), "headroom_core::plan");
        assert_eq!(room("malloc"), "(outside Rust's modules)");
        assert_eq!(room(""), UNNAMED);
    }

    #[test]
    fn what_the_standard_library_lends_is_whose_type_it_bears() {
        assert_eq!(room("core::ptr::drop_in_place<alloc::vec::Vec<headroom_core::plan::Plan>>"), "headroom_core::plan");
        assert_eq!(room("core::ptr::drop_in_place<alloc::string::String>"), "core::ptr");
        assert_eq!(room("<alloc::vec::Vec<T> as core::fmt::Debug>::fmt"), "alloc::vec");
    }
}
