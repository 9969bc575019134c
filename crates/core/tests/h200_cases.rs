//! The estimate against steps of shipped trainers on an NVIDIA H200 (`tests/validation/h200-measured.jsonl`): torch 2.11 for
//! CUDA 13.0, transformers 5.23, TRL 1.16.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use headroom_core::job::Job;
use headroom_core::memory::{Estimate, Term, estimate_replayed};
use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use serde_json::Value;

const CASES: &str = include_str!("../../../tests/validation/h200-measured.jsonl");

fn programs() -> Programs {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static/programs");
    let files = std::fs::read_dir(folder).unwrap();
    files.fold(Programs::none(), |programs, file| {
        programs.with(Program::from_json(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap())
    })
}

fn estimated() -> impl Iterator<Item = (Value, Estimate)> {
    let programs = programs();
    CASES.lines().map(move |line| {
        let case: Value = serde_json::from_str(line).unwrap();
        let mut plan =
            Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        plan.programs = programs.clone();
        let answer = estimate_replayed(&Job::resolve(&plan).unwrap());
        (case, answer)
    })
}

#[test]
fn allocated_bytes_are_those_of_a_real_gpu() {
    let mut count = 0;
    for (case, answer) in estimated() {
        let (id, measured) = (case["id"].as_str().unwrap(), case["measured"]["allocated_bytes"].as_f64().unwrap());
        let percent = (answer.peak.allocated_bytes as f64 / measured - 1.0) * 100.0;
        assert!(percent.abs() <= 0.1, "{id}: {percent:+.3} %");
        count += 1;
    }
    assert_eq!(count, 70);
}

/// What `torch._C._cuda_clearCublasWorkspaces` gave back at the end of each run.
#[test]
fn cublas_workspaces_are_those_that_were_held() {
    for (case, answer) in estimated() {
        let held: u64 = answer
            .allocations
            .iter()
            .filter(|row| row.term == Term::CublasWorkspace)
            .map(|row| row.bytes_at_peak)
            .sum();
        assert_eq!(Some(held), case["terms"]["cublas_workspaces"].as_u64(), "{}", case["id"]);
    }
}
