//! Lists of functions: one a line, by number or by name.
//!
//! Numbers are what an instrumented module gives, and fit the very module. Names outlive edits. Without hashes every function
//! that bears one is meant, all instances of a generic function; with its hash, as the module has it, a name means one
//! instance, and all of them once the compiler has changed the hash.

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::{Failure, Result};
use crate::module::Module;
use crate::names;

/// The functions that a list names, and what of it the module has no more.
pub struct Listed {
    /// The functions, by number.
    pub functions: BTreeSet<u32>,
    /// Lines to which no function answers.
    pub unknown: Vec<String>,
}

/// Reads a list. A number that is no function of the module is an error: the list is of another module.
pub fn read(module: &Module<'_>, text: &str) -> Result<Listed> {
    let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (function, _) in module.defined() {
        let known = [module.names.mangled(function), module.names.function(function)].into_iter().flatten();
        for name in known.collect::<BTreeSet<_>>() {
            by_name.entry(name).or_default().push(function);
        }
    }
    let mut listed = Listed { functions: BTreeSet::new(), unknown: Vec::new() };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Ok(number) = line.parse::<u32>() {
            if module.body(number).is_none() {
                return Err(Failure::new(format!(
                    "The list has function {number}, which the module does not define: record the list anew from this very module."
                )));
            }
            listed.functions.insert(number);
        } else if by_name.is_empty() {
            return Err(Failure::new(
                "The list gives names, and the module has none: keep them when it is built (`-g` for wasm-opt).",
            ));
        } else if let Some(functions) = by_name.get(line).or_else(|| by_name.get(names::without_hashes(line).as_str()))
        {
            listed.functions.extend(functions);
        } else {
            listed.unknown.push(line.to_owned());
        }
    }
    Ok(listed)
}

/// The names of `functions`, sorted, each once; with their hashes where every instance counts by itself.
pub fn named(module: &Module<'_>, functions: &BTreeSet<u32>, hashes: bool) -> String {
    let name = |function| if hashes { module.names.mangled(function) } else { module.names.function(function) };
    let names: BTreeSet<&str> = functions.iter().filter_map(|function| name(*function)).collect();
    names.into_iter().map(|name| format!("{name}\n")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const NAMED: &str = "(module (import \"a\" \"b\" (func)) (func $one) (func $two))";

    #[test]
    fn a_list_gives_numbers_and_names() {
        let bytes = wat::parse_str(NAMED).unwrap();
        let module = Module::read(&bytes).unwrap();
        let listed = read(&module, "# called\n2\n\none\nthree\n").unwrap();
        assert_eq!(listed.functions, BTreeSet::from([1, 2]));
        assert_eq!(listed.unknown, ["three"]);
        assert_eq!(named(&module, &listed.functions, false), "one\ntwo\n");
    }

    #[test]
    fn a_name_with_a_hash_means_one_instance_until_the_hash_changes() {
        let of = |end: &str| {
            wat::parse_str(format!("(module (func $a::b::h0123456789abcde{end}) (func $a::b::hffffffffffffffff))"))
                .unwrap()
        };
        let (before, after) = (of("0"), of("1"));
        let (before, after) = (Module::read(&before).unwrap(), Module::read(&after).unwrap());
        let list = named(&before, &BTreeSet::from([0]), true);
        assert_eq!(list, "a::b::h0123456789abcde0\n");
        assert_eq!(read(&before, &list).unwrap().functions, BTreeSet::from([0]));
        assert_eq!(read(&after, &list).unwrap().functions, BTreeSet::from([0, 1]));
        assert_eq!(read(&after, "a::b").unwrap().functions, BTreeSet::from([0, 1]));
    }

    #[test]
    fn a_list_of_another_module_is_refused() {
        let bytes = wat::parse_str(NAMED).unwrap();
        let module = Module::read(&bytes).unwrap();
        assert!(read(&module, "3").is_err());
        assert!(read(&module, "0").is_err(), "an imported function has no code");
        let stripped = wat::parse_str("(module (func))").unwrap();
        assert!(read(&Module::read(&stripped).unwrap(), "one").is_err());
    }
}
