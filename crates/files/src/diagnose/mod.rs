//! From the text of a failure, or of a monitor, to what it states and what is behind it.
//!
//! `log` takes launchers' prefixes off and parts the ranks; a reader for each kind of text in `readers` finds the figures;
//! `findings` says what they mean, by themselves and beside a plan. Where a text does not state a figure, it is absent.

mod asked;
mod findings;
mod json;
mod log;
mod quantity;
mod readers;
mod reading;

use headroom_core::gpu::Gpu;
use headroom_core::job::Job;
use headroom_core::memory::estimate_replayed;

pub use asked::{Asked, Source};
pub use findings::{Class, Finding, Kind, Library, Nearest, Place, Recognised, Replayed, Said, Tried};
pub use log::MAX_TEXT_BYTES;
pub use quantity::Amount;
pub use reading::{EngineFigures, Format, Process, Reading};

use crate::finding::Language;
use crate::snapshot::{Snapshot, Unreadable, is_pickle};

/// What was read and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The messages and GPUs of the text; the first is the one that the findings are about.
    pub readings: Vec<Reading>,
    /// The findings, the weightiest first.
    pub findings: Vec<Finding>,
    /// What is to be known of the run; `None` where its plan was given, and where nothing was read.
    pub asked: Option<Asked>,
}

impl Diagnosis {
    /// GPUs that the text can be of, the likeliest first; one where the text names it.
    pub fn gpus(&self) -> Vec<&'static Gpu> {
        asked::gpus(&self.readings)
    }

    /// What the text says of the GPU; `None` where it says nothing.
    pub fn gpu_said(&self, language: Language) -> Option<String> {
        Asked::of(&self.readings, "").gpu_said(language)
    }
}

/// Everything that a text states: the first reading is the one that a diagnosis is about.
pub fn readings(bytes: &[u8]) -> Vec<Reading> {
    let text = log::decoded(bytes);
    let lines = log::lines(&text);
    drop(text);
    let streams = log::streams(&lines);
    readers::read(&lines, &streams)
}

/// What each reader by itself finds in a text, those included that [`readings`] asks only where others find nothing: what a
/// fuzzer runs.
pub fn readings_by_each(bytes: &[u8]) -> Vec<Reading> {
    let lines = log::lines(&log::decoded(bytes));
    readers::read_by_each(&lines, &log::streams(&lines))
}

/// What `bytes` state, a text or a pickled snapshot, and what is behind it; beside the plan of the run, where it is given.
///
/// # Errors
/// Where the bytes begin as a pickle and are none of plain data.
pub fn diagnose(bytes: &[u8], job: Option<&Job>) -> Result<Diagnosis, Unreadable> {
    diagnose_beside(bytes, &[], job)
}

/// The same, where other texts are of the same failure: `beside` is what they state. A monitor knows the names of the processes that
/// a traceback numbers, and a traceback which of a monitor's processes is the run's own.
///
/// # Errors
/// As [`diagnose`].
pub fn diagnose_beside(bytes: &[u8], beside: &[Reading], job: Option<&Job>) -> Result<Diagnosis, Unreadable> {
    let snapshot = if is_pickle(bytes) { Some(Snapshot::read(bytes)?) } else { None };
    let readings = snapshot.as_ref().map_or_else(|| readings(bytes), of_snapshot);
    let mut findings = findings::of_readings(&readings, beside);
    if let Some(job) = job.filter(|_| !readings.is_empty()) {
        let estimate = estimate_replayed(job);
        findings::of_plan(&readings, job, &estimate, &mut findings);
        findings::host_verdict(&estimate.host_verdict, &mut findings);
        if let Some(snapshot) = &snapshot {
            findings.push(findings::of_snapshot(snapshot, job));
        }
    }
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), !finding.is_cause()));
    let text = if snapshot.is_none() && job.is_none() { log::decoded(bytes) } else { String::new() };
    let asked = (job.is_none() && !readings.is_empty()).then(|| Asked::of(&readings, &text));
    Ok(Diagnosis { readings, findings, asked })
}

/// A snapshot's devices as readings.
fn of_snapshot(snapshot: &Snapshot) -> Vec<Reading> {
    let of = |device: &crate::snapshot::Device| {
        let mut reading = Reading::new(Format::MemorySnapshot, 0, "");
        reading.gpu_index = Some(device.index);
        reading.allocated = Some(Amount::exact(device.allocated_bytes));
        reading.reserved_bytes = Some(device.reserved_bytes);
        reading.peak_allocated_bytes = device.allocated().into_iter().max();
        reading.expandable = device.expandable;
        if let Some((tried, free)) = device.failed() {
            (reading.tried, reading.free_bytes) = (Some(Amount::exact(tried)), Some(free));
        }
        reading
    };
    snapshot.devices.iter().map(of).collect()
}
