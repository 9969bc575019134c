//! Whatever is given: no panic, no hang, and an error that says where.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use headroom_files::finding::Language;
use headroom_files::fuzz;
use headroom_files::import::{File, import};
use headroom_files::lint::lint;
use proptest::prelude::*;

fn read(name: &str, text: &str) -> Vec<&'static str> {
    let files = [File { name: name.to_owned(), text: text.to_owned() }];
    let imported = import(&files);
    let findings = lint(&imported, None);
    imported.to_value(&files, Language::Chinese);
    findings.iter().map(|finding| finding.kind.id()).collect()
}

/// What coverage-guided fuzzing (`cargo xtask fuzz`) found worth keeping: each input reaches something that no other does.
#[test]
fn what_fuzzing_kept_is_read_without_a_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/fuzz");
    for (name, read) in fuzz::READERS {
        let bytes = std::fs::read(folder.join(format!("{name}.inputs"))).unwrap();
        let (mut rest, mut count) = (bytes.as_slice(), 0);
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (input, next) = after.split_at(u32::from_le_bytes(*length) as usize);
            read(input);
            (rest, count) = (next, count + 1);
        }
        assert!(count > 50, "{name}: {count} inputs");
    }
}

#[test]
fn aliases_cannot_multiply_without_end() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let inner = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{inner}]\n"));
    }
    assert!(read("bomb.yaml", &bomb).contains(&"unreadable"));
    assert!(read("self.yaml", "a: &a [*a]\n").contains(&"unreadable"));
    let mut python = "a = ['x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x']\n".to_owned();
    for level in 1..30 {
        python.push_str(&format!("a = [{}]\n", ["a"; 9].join(", ")));
        python.push_str(&format!("b{level} = a\n"));
    }
    assert!(read("bomb.py", &python).contains(&"unreadable"));
    let mut shell = "A=\"x x x x x x x x\"\n".to_owned();
    for _ in 0..30 {
        shell.push_str("A=\"$A $A $A $A\"\n");
    }
    shell.push_str("torchrun $A train.py\n");
    read("bomb.sh", &shell);
}

#[test]
fn nesting_is_bounded() {
    for (name, open) in [
        ("a.yaml", "["),
        ("a.yaml", "{a: "),
        ("a.json", "["),
        ("a.json", "{\"a\": "),
        ("a.py", "f("),
        ("a.py", "["),
        ("a.py", "not "),
        ("a.py", "- "),
        ("a.toml", "a = ["),
        ("a.sh", "$("),
        ("a.py", "{1: "),
    ] {
        assert!(!read(name, &open.repeat(100_000)).is_empty(), "{name} {open}");
        read(name, &open.repeat(50));
    }
}

#[test]
fn long_texts_are_refused() {
    let long = "a".repeat(5 << 20);
    for name in ["a.yaml", "a.json", "a.py", "a.sh", "a.toml"] {
        assert!(read(name, &long).contains(&"unreadable"), "{name}");
    }
}

#[test]
fn every_beginning_of_every_file_reads() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files");
    let index = fs::read_to_string(corpus.join("index.jsonl")).unwrap();
    for case in index.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        for name in case["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()) {
            let text = fs::read_to_string(corpus.join(case["id"].as_str().unwrap()).join(name)).unwrap();
            for length in (0..text.len()).step_by(37).filter(|length| text.is_char_boundary(*length)) {
                read(name, &text[..length]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_panics(text in ".{0,200}", ending in "(yaml|json|toml|py|sh|txt|ipynb)") {
        read(&format!("a.{ending}"), &text);
        fuzz::all(text.as_bytes());
    }

    #[test]
    fn no_arrangement_of_marks_panics(parts in proptest::collection::vec(
        prop_oneof![Just("\n"), Just(" "), Just("("), Just(")"), Just("["), Just("]"), Just("{"), Just("}"), Just(":"), Just(","), Just("="), Just("\""), Just("'"),
            Just("\\"), Just("$"), Just("${"), Just("--"), Just("a"), Just("1e9"), Just("&a"), Just("*a"), Just("<<"), Just("EOF"), Just("\"\"\""), Just("#"),
            Just("torchrun"), Just("train.py"), Just("SFTConfig("), Just("per_device_train_batch_size"), Just("if"), Just("else"), Just("not"), Just("lambda"), Just("é")],
        0..60), ending in "(yaml|json|toml|py|sh|txt)") {
        read(&format!("a.{ending}"), &parts.concat());
    }
}
