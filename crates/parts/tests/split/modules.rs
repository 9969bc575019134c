//! Small modules that use what compilers use.

/// Direct calls in circles. Each function is large enough to be worth moving.
pub(crate) const RECURSION: &str = r#"(module
  (func $even (export "even") (param i32) (result i32)
    local.get 0
    if (result i32) (call $odd (i32.sub (local.get 0) (i32.const 1))) else (i32.const 1) end)
  (func $odd (export "odd") (param i32) (result i32)
    local.get 0
    if (result i32) (call $even (i32.sub (local.get 0) (i32.const 1))) else (i32.const 0) end)
  (func $factorial (export "factorial") (param i32) (result i32)
    (call $even (local.get 0)) drop
    local.get 0 i32.eqz
    if (result i32) i32.const 1 else
      (i32.mul (local.get 0) (call $factorial (i32.sub (local.get 0) (i32.const 1)))) end))"#;

/// A table with a gap, memory with data, a mutable global, an import that is called from everywhere, a start function.
pub(crate) const STATE: &str = r#"(module
  (import "host" "tell" (func $tell (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "\2a\00\00\00")
  (global $calls (mut i32) (i32.const 100))
  (global $step i32 (i32.const 1))
  (table (export "table") 5 funcref)
  (elem (i32.const 0) $double $triple $double)
  (elem (i32.const 4) $note)
  (type $unary (func (param i32) (result i32)))
  (func $apply (export "apply") (param $which i32) (param $value i32) (result i32)
    (call_indirect (type $unary) (local.get $value) (local.get $which)))
  (func $double (param i32) (result i32)
    (call $note) (call $tell (local.get 0)) (i32.add (local.get 0) (local.get 0)))
  (func $triple (param i32) (result i32)
    (call $note) (call $tell (i32.const -3)) (i32.mul (local.get 0) (i32.const 3)))
  (func $note
    (global.set $calls (i32.add (global.get $calls) (global.get $step)))
    (i32.store (i32.const 32) (i32.add (i32.load (i32.const 32)) (i32.const 5))))
  (func $count (export "count") (result i32)
    (i32.add (global.get $calls) (i32.load (i32.const 32))))
  (func $read (export "read") (param i32) (result i32)
    (call $tell (i32.const 1)) (i32.load (local.get 0)))
  (func $write (export "write") (param i32 i32)
    (call $tell (memory.size)) (i32.store (local.get 0) (local.get 1))))"#;

/// Several results and block parameters, 64-bit and floating values, tail calls, references to functions, two tables.
pub(crate) const VALUES: &str = r#"(module
  (table $functions 2 funcref)
  (table $others (export "others") 4 externref)
  (elem declare func $square)
  (type $unary (func (param i32) (result i32)))
  (func $division (param i32 i32) (result i32 i32)
    (i32.div_s (local.get 0) (local.get 1)) (i32.rem_s (local.get 0) (local.get 1))
    (call $kept (i32.const 0)) drop)
  (func $divided (export "divided") (param i32) (result i32 i32)
    (call $division (local.get 0) (i32.const 5))
    (block (param i32 i32) (result i32 i32) (i32.add (i32.const 1))))
  (func $countdown (export "countdown") (param i32) (result i32)
    (if (i32.eqz (local.get 0)) (then (return (i32.const 77))))
    (return_call $onwards (i32.sub (local.get 0) (i32.const 1))))
  (func $onwards (param i32) (result i32)
    (if (i32.eqz (local.get 0)) (then (return (i32.const 78))))
    (return_call $countdown (i32.sub (local.get 0) (i32.const 1))))
  (func $square (param i32) (result i32)
    (i32.mul (call $kept (local.get 0)) (call $kept (local.get 0))))
  (func $by_reference (export "by_reference") (param i32) (result i32)
    (table.set $functions (i32.const 1) (ref.func $square))
    (call_indirect $functions (type $unary) (local.get 0) (i32.const 1)))
  (func $precise (param i64 f64 f32) (result f64 i64)
    (f64.add (local.get 1) (f64.promote_f32 (local.get 2))) (i64.add (local.get 0) (i64.const 0x100000000))
    (call $kept (i32.const 0)) drop)
  (func $long (export "long") (param i32) (result f64 i64)
    (call $precise (i64.extend_i32_s (local.get 0)) (f64.const 0.5) (f32.const 2.25)))
  (func $kept (export "kept") (param i32) (result i32)
    (table.set $others (i32.const 0) (ref.null extern))
    (if (result i32) (ref.is_null (table.get $others (i32.const 0)))
      (then (local.get 0)) (else (i32.const -1)))))"#;

/// Passive segments, copies, sign extension, saturating conversion.
pub(crate) const BULK: &str = r#"(module
  (memory 1)
  (data $text "\01\02\03\04")
  (table $functions 4 funcref)
  (elem $late func $one)
  (type $none (func (result i32)))
  (func $one (result i32) (call $extended (i32.const 1)))
  (func $filled (export "filled") (result i32)
    (memory.init $text (i32.const 8) (i32.const 0) (i32.const 4))
    (table.init $functions $late (i32.const 2) (i32.const 0) (i32.const 1))
    (i32.add (i32.load (i32.const 8)) (call_indirect $functions (type $none) (i32.const 2))))
  (func $copied (export "copied") (result i32)
    (memory.copy (i32.const 40) (i32.const 8) (i32.const 4))
    (memory.fill (i32.const 41) (i32.const 9) (i32.const 1))
    (i32.load (i32.const 40)))
  (func $extended (export "extended") (param i32) (result i32)
    (i32.add (i32.extend8_s (local.get 0)) (call $truncated (i32.const 0))))
  (func $truncated (export "truncated") (param i32) (result i32)
    (i32.trunc_sat_f64_s (f64.mul (f64.convert_i32_s (local.get 0)) (f64.const 1e30)))
    (i32.trunc_sat_f32_u (f32.const -5)) i32.add))"#;

/// A crate that is to stand apart, one that it alone calls, and one that others call too.
pub(crate) const APART: &str = r#"(module
  (func $page::page (export "page") (param i32) (result i32)
    (call $sums::add (local.get 0) (local.get 0)))
  (func $files::read::open (export "read") (param i32) (result i32)
    (call $sums::add (call $yaml::parse (local.get 0)) (local.get 0)))
  (func $yaml::parse (param i32) (result i32)
    (call $yaml::lines (i32.add (local.get 0) (i32.const 3))))
  (func $yaml::lines (param i32) (result i32)
    (call $sums::add (local.get 0) (i32.const 4)))
  (func $sums::add (param i32 i32) (result i32)
    local.get 0 i32.eqz
    if (result i32) (local.get 1) else
      (i32.add (i32.const 1) (call $sums::add (i32.sub (local.get 0) (i32.const 1)) (local.get 1))) end))"#;
