//! Modules answer the same after pieces were cut out of their functions, whatever is said to have run.

use std::collections::BTreeSet;

use headroom_parts::cold::{RAN, mark, outline};
use headroom_parts::module::Module;
use headroom_parts::split::{Wanted, split};

use crate::host::{answers, ran, whole};
use crate::modules;

/// Loops, tables of branches, returns from inside, values on the stack, locals that are read after they were written in one arm only.
const WAYS: &str = r#"(module
  (import "host" "tell" (func $tell (param i32)))
  (memory 1)
  (func $walk (export "walk") (param $n i32) (param $kind i32) (result i32) (local $i i32) (local $sum i32) (local $long i64)
    (block $out
      (loop $again
        (br_if $out (i32.ge_s (local.get $i) (local.get $n)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (local.set $long (i64.mul (i64.add (local.get $long) (i64.const 3)) (i64.const 7)))
        (block $a
          (block $b
            (block $c
              (br_table $a $b $c (i32.rem_u (i32.add (local.get $i) (local.get $kind)) (i32.const 4))))
            (local.set $sum (i32.mul (i32.add (local.get $sum) (i32.const 1)) (i32.const 2)))
            (if (i32.eq (local.get $kind) (i32.const 1))
              (then (call $tell (local.get $sum)) (br $again))
              (else (local.set $kind (i32.add (local.get $kind) (i32.const 2)))))
            (br_if $out (i32.gt_s (local.get $sum) (i32.const 900)))
            (br $a))
          (if (i32.eq (local.get $kind) (i32.const 6))
            (then
              (call $tell (i32.const 60))
              (return (i32.sub (local.get $sum) (i32.wrap_i64 (local.get $long))))))
          (loop $inner
            (local.set $sum (i32.add (local.get $sum) (i32.const 5)))
            (br_if $inner (i32.rem_u (local.get $sum) (i32.const 3)))
            (br_if $again (i32.eq (local.get $kind) (i32.const 3)))))
        (local.set $sum (i32.add (local.get $sum) (i32.wrap_i64 (i64.rem_u (local.get $long) (i64.const 11)))))
        (br $again)))
    (if (i32.lt_s (local.get $sum) (i32.const 0)) (then unreachable))
    (i32.add (local.get $sum) (call $half (local.get $n))))
  (func $half (param $n i32) (result i32) (local $never i32)
    (block $odd
      (br_if $odd (i32.rem_u (local.get $n) (i32.const 2)))
      (call $tell (i32.const 2))
      (return (i32.div_u (local.get $n) (i32.const 2))))
    (if (i32.gt_u (local.get $n) (i32.const 8)) (then (local.set $never (i32.const 40)) (call $tell (local.get $never))))
    (i32.add (local.get $n) (local.get $never)))
  (func $none (export "none") (param $n i32) (local $kept f64)
    (block $out
      (br_if $out (i32.eqz (local.get $n)))
      (local.set $kept (f64.convert_i32_s (local.get $n)))
      (br_if $out (i32.eq (local.get $n) (i32.const 1)))
      (call $tell (i32.trunc_f64_s (f64.mul (local.get $kept) (f64.const 2.5))))
      (return))
    (call $tell (i32.trunc_f64_s (local.get $kept)))))"#;

const CALLS: [(&str, &[i32]); 14] = [
    ("walk", &[0, 0]),
    ("walk", &[1, 0]),
    ("walk", &[5, 0]),
    ("walk", &[9, 1]),
    ("walk", &[12, 2]),
    ("walk", &[7, 3]),
    ("walk", &[40, 4]),
    ("walk", &[9, 5]),
    ("walk", &[11, 6]),
    ("walk", &[-1, 6]),
    ("none", &[0]),
    ("none", &[1]),
    ("none", &[2]),
    ("none", &[-7]),
];

/// Numbers below `count`, each in or out as a generator of random bits has it.
fn chosen(count: u32, seed: u32) -> BTreeSet<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    // Of every kind: little that ran, and nearly all.
    let share = next() % 8;
    (0..count).filter(|_| next() % 8 <= share).collect()
}

/// Cuts pieces out of the module as if any stretches had run, splits what that gives, and compares the answers. Returns how many
/// pieces were cut out in all.
fn compare(wat: &str, calls: &[(&str, &[i32])], ways: u32) -> usize {
    let bytes = wat::parse_str(wat).unwrap();
    let expected = whole(&bytes, calls);
    // More than there are: what no function has is nothing.
    let count = bytes.len() as u32;
    let mut pieces = 0;
    for seed in 0..ways {
        let outlined = outline(&bytes, &chosen(count, seed), None, &[]).unwrap();
        assert_eq!(whole(&outlined.bytes, calls), expected, "seed {seed}");
        pieces += outlined.pieces;
        if seed % 8 == 0 {
            let module = Module::read(&outlined.bytes).unwrap();
            let called: BTreeSet<u32> = module.defined().map(|(function, _)| function).collect();
            let called = called.into_iter().take(module.bodies.len() - outlined.pieces).collect();
            let files = split(&outlined.bytes, &Wanted { called, largest: 40, ..Wanted::default() }).unwrap();
            assert_eq!(answers(&files.first, &files.parts, calls).0, expected, "seed {seed}, in parts");
        }
    }
    pieces
}

#[test]
fn a_function_does_the_same_without_its_pieces() {
    let pieces = compare(WAYS, &CALLS, 600);
    assert!(pieces > 1_000, "{pieces} pieces");
}

#[test]
fn what_other_modules_use_can_be_cut_out_too() {
    let calls: [(&str, &[i32]); 4] = [("even", &[10]), ("odd", &[10]), ("factorial", &[6]), ("even", &[7])];
    compare(modules::RECURSION, &calls, 60);
    let calls: [(&str, &[i32]); 5] =
        [("divided", &[17]), ("countdown", &[300]), ("by_reference", &[5]), ("long", &[3]), ("kept", &[8])];
    compare(modules::VALUES, &calls, 60);
    let calls: [(&str, &[i32]); 4] = [("apply", &[0, 3]), ("apply", &[9, 1]), ("count", &[]), ("read", &[16])];
    compare(modules::STATE, &calls, 60);
}

#[test]
fn stretches_that_ran_are_noted_and_only_others_are_cut_out() {
    let bytes = wat::parse_str(WAYS).unwrap();
    let marked = mark(&bytes).unwrap();
    assert_eq!(whole(&marked, &CALLS), whole(&bytes, &CALLS));
    // What a few calls do is done without any piece.
    let few = &CALLS[..3];
    let noted: BTreeSet<u32> = ran(&marked, few).into_iter().collect();
    assert!(!noted.is_empty(), "nothing in {RAN}");
    let outlined = outline(&bytes, &noted, None, &[]).unwrap();
    assert!(outlined.pieces > 3 && outlined.moved > 20, "{} pieces of {} bytes", outlined.pieces, outlined.moved);
    let module = Module::read(&outlined.bytes).unwrap();
    let count = module.bodies.len() - outlined.pieces;
    let called = module.defined().map(|(function, _)| function).take(count).collect();
    let files = split(&outlined.bytes, &Wanted { called, largest: 100_000, ..Wanted::default() }).unwrap();
    assert_eq!(answers(&files.first, &files.parts, few), (whole(&bytes, few), vec![]));
    let (all, loaded) = answers(&files.first, &files.parts, &CALLS);
    assert_eq!((all, loaded), (whole(&bytes, &CALLS), vec![1]));
}

#[test]
fn a_piece_that_saves_too_little_stays() {
    let bytes = wat::parse_str(WAYS).unwrap();
    let all = outline(&bytes, &chosen(1_000, 3), None, &[]).unwrap();
    let some = outline(&bytes, &chosen(1_000, 3), Some(20), &[]).unwrap();
    assert!(some.pieces < all.pieces, "{} of {}", some.pieces, all.pieces);
}
