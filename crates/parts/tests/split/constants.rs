//! Constants go with the functions that use them.

use std::collections::BTreeSet;

use headroom_parts::module::Module;
use headroom_parts::split::{Uses, Wanted, split};

use crate::host::{answers, whole};

/// Two functions, each with a constant of its own, one of which refers to a third; memory from 16 on is
/// three texts of 16 bytes. What a linker adds is put behind it by [`linked`].
const MODULE: &str = r#"(module
  (memory 1)
  (data $.rodata (i32.const 16) "near____________apart___________third___________")
  (data $.data (i32.const 80) "\01\02\03\04")
  (func $here (export "here") (result i32) (i32.load (i32.const 16)) (call $pad) i32.add)
  (func $there (export "there") (result i32) (i32.load (i32.const 32)) (call $pad) i32.add)
  (func $pad (export "pad") (result i32) (i32.load (i32.const 80)) (i32.load (i32.const 80)) i32.mul (i32.const 3) i32.div_s)
)"#;

fn number(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 128 {
        bytes.push((value & 127) as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn custom(module: &mut Vec<u8>, name: &str, content: &[u8]) {
    let mut section = Vec::new();
    number(&mut section, name.len());
    section.extend(name.as_bytes());
    section.extend(content);
    module.push(0);
    number(module, section.len());
    module.extend(section);
}

/// The module as a linker leaves it with `--emit-relocs`: data symbols of 16 bytes at each third of `.rodata`, and
/// relocations, each a section, a place in it, and a symbol.
fn linked(bytes: &[u8], relocations: &[(&str, u64, usize)]) -> Vec<u8> {
    let mut linked = bytes.to_vec();
    let mut table = vec![3];
    for symbol in 0..3 {
        // A data symbol that is local, in segment 0.
        table.extend([1, 2, 1, b'a' + symbol, 0, 16 * symbol, 16]);
    }
    let mut linking = vec![2, 8];
    number(&mut linking, table.len());
    linking.extend(table);
    custom(&mut linked, "linking", &linking);
    for (index, section) in [(4, "reloc.CODE"), (5, "reloc.DATA")] {
        let chosen: Vec<_> = relocations.iter().filter(|(of, ..)| *of == section).collect();
        let mut content = vec![index, chosen.len() as u8];
        for (_, place, symbol) in chosen {
            // In code a signed number, in data four bytes.
            content.push(if section == "reloc.CODE" { 4 } else { 5 });
            number(&mut content, *place as usize);
            number(&mut content, *symbol);
            content.push(0);
        }
        custom(&mut linked, section, &content);
    }
    linked
}

/// `here` uses the first constant, `there` the second, which refers to the third.
fn with_relocations(bytes: &[u8]) -> Vec<u8> {
    let module = Module::read(bytes).unwrap();
    let start = |wanted: &str| module.sections.iter().find(|(kind, _)| *kind == wanted).unwrap().1.start;
    let place = |function: usize| module.bodies[function].range().start + 3 - start("code");
    let second = module.data[0].range.end - 32 - start("data");
    linked(bytes, &[("reloc.CODE", place(0), 0), ("reloc.CODE", place(1), 1), ("reloc.DATA", second + 4, 2)])
}

fn holds(module: &[u8], text: &str) -> bool {
    Module::read(module).unwrap().data.iter().any(|data| String::from_utf8_lossy(data.data).contains(text))
}

#[test]
fn constants_of_a_part_come_with_it_and_bring_what_they_refer_to() {
    let bytes = wat::parse_str(MODULE).unwrap();
    let calls: [(&str, &[i32]); 3] = [("here", &[]), ("there", &[]), ("here", &[])];
    let expected = whole(&bytes, &calls);
    for (called, moved) in [(0, "apart"), (1, "near")] {
        let uses = Some(Uses::read(&with_relocations(&bytes)).unwrap());
        let wanted = Wanted { uses, called: BTreeSet::from([called]), largest: 100_000, ..Wanted::default() };
        let files = split(&bytes, &wanted).unwrap();
        assert_eq!(answers(&files.first, &files.parts, &calls).0, expected);
        for text in ["near", "apart", "third"] {
            let moves = text == moved || (text == "third" && moved == "apart");
            assert_eq!(holds(&files.first, text), !moves, "{text} where {moved} is in a part");
            assert_eq!(holds(&files.parts[0], text), moves, "{text} where {moved} is in a part");
        }
        assert!(holds(&files.first, "\u{1}\u{2}"), "what is written to stays");
    }
}

#[test]
fn what_a_function_unknown_to_the_linker_may_use_stays() {
    let bytes = wat::parse_str(MODULE).unwrap();
    let renamed = wat::parse_str(MODULE.replace("$there", "$later")).unwrap();
    let uses = Some(Uses::read(&with_relocations(&bytes)).unwrap());
    let wanted = Wanted { uses, called: BTreeSet::from([0]), largest: 100_000, ..Wanted::default() };
    let files = split(&renamed, &wanted).unwrap();
    assert!(holds(&files.first, "apart") && holds(&files.first, "third"));
}

#[test]
fn relocations_of_another_module_are_refused() {
    let bytes = wat::parse_str(MODULE).unwrap();
    let other = wat::parse_str(MODULE.replace("third", "Third")).unwrap();
    let uses = Some(Uses::read(&with_relocations(&other)).unwrap());
    assert!(split(&bytes, &Wanted { uses, largest: 100_000, ..Wanted::default() }).is_err());
    assert!(Uses::read(&bytes).is_err(), "a module without relocations");
}
