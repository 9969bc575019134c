//! Modules answer the same before and after a split, whatever stands in which part.

#![allow(clippy::unwrap_used)]

mod constants;
mod host;
mod modules;
mod pieces;

use std::collections::BTreeSet;

use headroom_parts::module::Module;
use headroom_parts::split::{Wanted, split};
use host::{answers, whole};

/// Splits `wat` in the ways there are to say which functions a first view calls, into parts of one function each and into
/// one part, and compares all answers with those of the whole module. Returns how often a part was loaded in all.
fn compare(wat: &str, calls: &[(&str, &[i32])]) -> usize {
    let bytes = wat::parse_str(wat).unwrap();
    let module = Module::read(&bytes).unwrap();
    let functions: Vec<u32> = module.defined().map(|(function, _)| function).collect();
    let expected = whole(&bytes, calls);
    let mut loads = 0;
    // Every third way where there are many: in those, too, every function stands in every place.
    let step = if functions.len() > 6 { 3 } else { 1 };
    for chosen in (0_u32..1 << functions.len()).step_by(step) {
        let called: BTreeSet<u32> =
            functions.iter().zip(0..).filter(|(_, bit)| chosen >> bit & 1 == 1).map(|(f, _)| *f).collect();
        for largest in [1, 100_000] {
            let wanted = Wanted { called: called.clone(), largest, ..Wanted::default() };
            let files = split(&bytes, &wanted).unwrap();
            let (given, loaded) = answers(&files.first, &files.parts, calls);
            assert_eq!(given, expected, "called first: {called:?}, parts of {largest} bytes");
            let once: BTreeSet<i32> = loaded.iter().copied().collect();
            assert_eq!(once.len(), loaded.len(), "a part is loaded once: {loaded:?}");
            loads += loaded.len();
        }
    }
    loads
}

#[test]
fn functions_call_one_another_across_parts_and_back() {
    let calls: [(&str, &[i32]); 4] = [("even", &[10]), ("odd", &[10]), ("factorial", &[6]), ("even", &[7])];
    assert!(compare(modules::RECURSION, &calls) > 16);
}

#[test]
fn tables_memory_globals_and_imports_are_shared() {
    let calls: [(&str, &[i32]); 7] = [
        ("apply", &[0, 3]),
        ("apply", &[1, 4]),
        ("apply", &[2, 5]),
        ("count", &[]),
        ("read", &[16]),
        ("write", &[16, 7]),
        ("read", &[16]),
    ];
    assert!(compare(modules::STATE, &calls) > 64);
}

#[test]
fn a_call_through_an_empty_place_of_the_table_still_traps() {
    assert!(compare(modules::STATE, &[("apply", &[3, 1]), ("apply", &[9, 1]), ("apply", &[0, 3])]) > 16);
}

#[test]
fn several_values_tail_calls_and_references_cross_parts() {
    let calls: [(&str, &[i32]); 5] =
        [("divided", &[17]), ("countdown", &[300]), ("by_reference", &[5]), ("long", &[3]), ("kept", &[8])];
    assert!(compare(modules::VALUES, &calls) > 64);
}

#[test]
fn what_names_a_segment_stays_and_the_rest_of_the_instructions_moves() {
    let calls: [(&str, &[i32]); 4] = [("filled", &[]), ("copied", &[]), ("extended", &[0x80]), ("truncated", &[3])];
    assert!(compare(modules::BULK, &calls) > 16);
}

#[test]
fn a_stage_has_parts_of_its_own() {
    let bytes = wat::parse_str(modules::RECURSION).unwrap();
    let stage = BTreeSet::from([2]);
    let wanted = Wanted { stages: vec![stage], largest: 100_000, ..Wanted::default() };
    let files = split(&bytes, &wanted).unwrap();
    assert_eq!((files.parts.len(), files.early, files.staged), (2, 2, vec![1]));
    let loaded = |calls| answers(&files.first, &files.parts, calls).1;
    assert_eq!(loaded(&[("even", &[6])]), [2]);
    assert_eq!(loaded(&[("factorial", &[6])]), [1, 2]);
}

#[test]
fn what_stands_apart_comes_behind_all_others_with_what_it_alone_calls() {
    let bytes = wat::parse_str(modules::APART).unwrap();
    let apart = vec!["files".to_owned()];
    let wanted = Wanted { apart, largest: 100_000, ..Wanted::default() };
    let files = split(&bytes, &wanted).unwrap();
    assert_eq!((files.parts.len(), files.early), (2, 1));
    let loaded = |calls| answers(&files.first, &files.parts, calls);
    assert_eq!(loaded(&[("page", &[6])]), (vec![Ok(vec!["I32(12)".to_owned()]), Ok(vec![])], vec![1]));
    assert_eq!(loaded(&[("read", &[6])]), (vec![Ok(vec!["I32(19)".to_owned()]), Ok(vec![])], vec![2, 1]));
}

#[test]
fn nothing_is_loaded_where_all_that_runs_was_called_before() {
    let bytes = wat::parse_str(modules::RECURSION).unwrap();
    let wanted = Wanted { called: BTreeSet::from([0, 1]), largest: 100_000, ..Wanted::default() };
    let files = split(&bytes, &wanted).unwrap();
    let (_, loaded) = answers(&files.first, &files.parts, &[("even", &[9]), ("odd", &[9])]);
    assert_eq!(loaded, []);
}

#[test]
fn a_part_of_another_build_is_refused() {
    let one = wat::parse_str(modules::RECURSION).unwrap();
    let other = wat::parse_str(modules::RECURSION.replace("i32.const 1)", "i32.const 2)")).unwrap();
    let wanted = Wanted { largest: 100_000, ..Wanted::default() };
    let (one, other) = (split(&one, &wanted).unwrap(), split(&other, &wanted).unwrap());
    assert_ne!(one.fingerprint, other.fingerprint);
    let (given, _) = answers(&one.first, &other.parts, &[("even", &[4])]);
    assert!(given[0].as_ref().is_err_and(|said| said.contains("parts:slots")), "{given:?}");
}

#[test]
fn names_are_kept_where_they_are_wanted() {
    let bytes = wat::parse_str(modules::RECURSION).unwrap();
    let wanted = Wanted { called: BTreeSet::from([0]), largest: 100_000, names: true, ..Wanted::default() };
    let files = split(&bytes, &wanted).unwrap();
    let first = Module::read(&files.first).unwrap();
    let part = Module::read(&files.parts[0]).unwrap();
    // The imported loader is the function before.
    assert_eq!(first.names.function(1), Some("even"));
    assert_eq!([1, 2].map(|function| part.names.function(function)), [Some("odd"), Some("factorial")]);
    let stripped = split(&bytes, &Wanted { names: false, ..wanted }).unwrap();
    assert!(!Module::read(&stripped.first).unwrap().names.are_there());
}

#[test]
fn instrumented_functions_note_that_they_were_called() {
    let bytes = wat::parse_str(modules::STATE).unwrap();
    let instrumented = headroom_parts::instrument::instrument(&bytes).unwrap();
    let calls: [(&str, &[i32]); 2] = [("apply", &[1, 4]), ("count", &[])];
    assert_eq!(whole(&instrumented, &calls), whole(&bytes, &calls));
    let module = Module::read(&bytes).unwrap();
    let noted: Vec<&str> = host::called(&instrumented, &calls)
        .into_iter()
        .filter_map(|function| module.names.function(function))
        .collect();
    assert_eq!(noted, ["apply", "triple", "note", "count"]);
    assert_eq!(host::called(&instrumented, &[]), []);
}
