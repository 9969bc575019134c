//! Every text of `tests/files/diagnose` is read to the figure.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use headroom_files::diagnose::{diagnose, readings, readings_by_each};
use headroom_files::finding::Language;
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/diagnose")
}

fn cases() -> Vec<Value> {
    let index = fs::read_to_string(corpus().join("index.jsonl")).unwrap();
    index.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_stated_figure_is_read() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let file = case["file"].as_str().unwrap();
        assert!(!case["source"].as_str().unwrap().is_empty(), "{file} without its source");
        let bytes = fs::read(corpus().join(file)).unwrap();
        let read = diagnose(&bytes, None).unwrap().to_json(Language::English);
        for (name, expected) in case["reading"].as_object().unwrap() {
            let found = &read["reading"][name];
            if found != expected {
                wrong.push(format!("{file}: {name} is {found}, not {expected}"));
            }
        }
        // Nothing is invented: a figure of the contract that is read is one of the index.
        for name in ["tried_bytes", "total_bytes", "free_bytes", "process_bytes", "allocated_bytes", "reserved_bytes"] {
            if !read["reading"][name].is_null() && case["reading"][name].is_null() {
                wrong.push(format!("{file}: {name} is {} and not stated", read["reading"][name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn findings_speak_both_languages() {
    for case in cases() {
        let file = case["file"].as_str().unwrap();
        let found = diagnose(&fs::read(corpus().join(file)).unwrap(), None).unwrap();
        for finding in &found.findings {
            let (english, chinese) = (finding.said(Language::English), finding.said(Language::Chinese));
            assert!(english.what.is_ascii(), "{file}: {}", english.what);
            assert!(chinese.what.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{file}: {}", chinese.what);
            assert_eq!(english.fix.is_empty(), chinese.fix.is_empty(), "{file}");
        }
    }
}

#[test]
fn causes_are_found() {
    let ids = |file: &str| -> Vec<&'static str> {
        let found = diagnose(&fs::read(corpus().join(file)).unwrap(), None).unwrap();
        found.findings.iter().map(|finding| finding.kind.id()).collect()
    };
    for (file, id) in [
        ("torch-2.1-other-processes.txt", "other_processes"),
        ("torch-2.1-capacty.txt", "fragmentation"),
        ("torch-2.1-hidden-process.txt", "hidden_process"),
        ("torch-2.5-allowed.txt", "memory_fraction"),
        ("torch-2.9-alloc-conf.txt", "cuda_context"),
        ("refused-though-free.txt", "refused_though_free"),
        ("torch-2.3-exbibyte.txt", "impossible_size"),
        ("ray-pod.txt", "host_out_of_memory"),
        ("cublas.txt", "cublas_alloc_failed"),
        ("cuda-error.txt", "cuda_error"),
        ("nccl-calloc.txt", "nccl_out_of_memory"),
        ("bitsandbytes.txt", "bitsandbytes_out_of_memory"),
        ("no-executable-batch-size.txt", "no_executable_batch_size"),
        ("vllm-no-blocks.txt", "engine_cache"),
        ("killed.txt", "host_out_of_memory"),
        ("smi-470.txt", "other_processes"),
        ("monitor-s3.txt", "alloc_retries"),
    ] {
        assert!(ids(file).contains(&id), "{file}: {:?}", ids(file));
    }
}

#[test]
fn hostile_texts_are_read_or_passed_over() {
    for case in cases() {
        let bytes = fs::read(corpus().join(case["file"].as_str().unwrap())).unwrap();
        for end in (0..bytes.len()).step_by(97) {
            let _ = diagnose(&bytes[..end], None);
        }
        let mut junk = bytes.clone();
        for (i, byte) in junk.iter_mut().enumerate().filter(|(i, _)| i % 13 == 0) {
            *byte = (i % 251) as u8;
        }
        let _ = readings_by_each(&junk);
    }
    let all: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    let _ = diagnose(&all, None);
    for word in
        ["CUDA out of memory. Tried to allocate ", "| 0 ", "[rank1]: ", "Process 1 has ", "(", "allocated_bytes"]
    {
        let _ = readings_by_each(word.repeat(20_000).as_bytes());
    }
    let digits = "9".repeat(100_000);
    let _ = readings(format!("CUDA out of memory. Tried to allocate {digits} GiB. GPU {digits} has").as_bytes());
}
