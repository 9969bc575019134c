//! The estimate against steps on real GPUs, torch 2.11 for CUDA 13.0 and transformers 5.23 and 5.24: shipped trainers (TRL 1.16) on an NVIDIA
//! H200 (`tests/validation/h200-measured.jsonl`), and recorded classes, 40 steps with images among them, on an NVIDIA H100
//! (`tests/programs/h100.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use headroom_core::job::Job;
use headroom_core::memory::{Estimate, Term, estimate_replayed};
use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use serde_json::Value;

const TRAINERS: &str = include_str!("../../../tests/validation/h200-measured.jsonl");
const CLASSES: &str = include_str!("../../../tests/programs/h100.jsonl");

fn programs() -> Programs {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static/programs");
    let files = std::fs::read_dir(folder).unwrap();
    files.fold(Programs::none(), |programs, file| {
        programs.with(Program::from_json(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap())
    })
}

fn estimated(cases: &str) -> impl Iterator<Item = (Value, Estimate)> {
    let programs = programs();
    cases.lines().map(move |line| {
        let case: Value = serde_json::from_str(line).unwrap();
        let mut plan =
            Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        plan.programs = programs.clone();
        let answer = estimate_replayed(&Job::resolve(&plan).unwrap());
        (case, answer)
    })
}

#[test]
fn trainers_allocate_what_a_real_gpu_counts() {
    let mut count = 0;
    for (case, answer) in estimated(TRAINERS) {
        let (id, measured) = (case["id"].as_str().unwrap(), case["measured"]["allocated_bytes"].as_f64().unwrap());
        let percent = (answer.peak.allocated_bytes as f64 / measured - 1.0) * 100.0;
        assert!(percent.abs() <= 0.1, "{id}: {percent:+.3} %");
        count += 1;
    }
    assert_eq!(count, 70);
}

/// Percent of error of each recorded class's step, from the largest under-estimate to the largest over-estimate.
#[test]
fn recorded_classes_allocate_what_a_real_gpu_counts() {
    let mut errors: Vec<(f64, String)> = estimated(CLASSES)
        .map(|(case, answer)| {
            assert_eq!(case["param_count"], answer.param_count, "{}", case["id"]);
            let measured = case["measured"]["allocated_bytes"].as_f64().unwrap();
            ((answer.peak.allocated_bytes as f64 / measured - 1.0) * 100.0, case["id"].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(errors.len(), 384);
    errors.sort_by(|one, other| one.0.total_cmp(&other.0));
    // The worst are known by name; their causes are not (ARCHITECTURE.md, Tests).
    let beyond: Vec<&str> =
        errors.iter().filter(|(percent, _)| percent.abs() > 0.2).map(|(_, id)| id.as_str()).collect();
    assert_eq!(
        beyond,
        [
            "h100-qwen3_5-qlora",
            "h100-youtu-full",
            "h100-nomic_bert-masked-full-amp32",
            "h100-axk2-lora-amp",
            "h100-t5-base-full-b2-s1024-t128-gc",
            "h100-axk2-full",
            "h100-deepseek_v2-full",
            "h100-mpnet-masked-full",
            "h100-mpnet-masked-full-amp32",
            "h100-bailing_hybrid-lora-gc",
            "h100-mpnet-classification-full-amp32",
            "h100-roformer-classification-full",
            "h100-mpnet-classification-full",
            "h100-gemma4-clipped_vl-full"
        ],
        "{errors:?}"
    );
    assert!(errors[0].0 >= -1.5 && errors[383].0 <= 1.0, "{errors:?}");
    errors.sort_by(|one, other| one.0.abs().total_cmp(&other.0.abs()));
    assert!(errors[192].0.abs() <= 0.001, "{errors:?}");
}

/// What `torch._C._cuda_clearCublasWorkspaces` gave back at the end of each run.
#[test]
fn cublas_workspaces_are_those_that_were_held() {
    for (case, answer) in estimated(TRAINERS) {
        let held: u64 = answer
            .allocations
            .iter()
            .filter(|row| row.term == Term::CublasWorkspace)
            .map(|row| row.bytes_at_peak)
            .sum();
        assert_eq!(Some(held), case["terms"]["cublas_workspaces"].as_u64(), "{}", case["id"]);
    }
}
