//! `nvitop`: a table of GPUs, the host's memory, and processes. Borders are gone when a line comes here.

use super::super::log::Line;
use super::super::quantity::{leading, trailing};
use super::super::reading::{Format, Process, Reading};
use super::nvidia_table::fullest_first;
use super::whole;

/// Most GPUs and processes that are read.
const MOST: usize = 4_096;

/// A reading for each GPU, the fullest first.
pub(super) fn read(lines: &[Line]) -> Vec<Reading> {
    let Some(begin) = lines.iter().position(|line| line.text.contains("NVITOP")) else { return Vec::new() };
    let mut readings: Vec<Reading> = Vec::new();
    let (mut in_processes, mut host_used) = (false, None);
    for line in lines.iter().skip(begin + 1).take(MOST) {
        let text = line.text.trim();
        if text.contains("NVITOP") {
            // Printed again: the last counts.
            (in_processes, host_used) = (false, None);
            readings.clear();
        } else if text.contains("Processes:") {
            in_processes = true;
        } else if in_processes {
            process(text, &mut readings);
        } else if let Some((_, used)) = text.split_once("USED:").filter(|_| text.contains("MEM:")) {
            host_used = leading(used).map(|(amount, _)| amount.bytes);
        } else {
            gpu(text, line, &mut readings);
        }
    }
    for reading in &mut readings {
        reading.host_used_bytes = host_used;
        if !reading.processes.is_empty() {
            let sum = reading.processes.iter().fold(0_u64, |sum, process| sum.saturating_add(process.bytes));
            reading.other_processes_bytes = Some(sum);
        }
    }
    fullest_first(readings)
}

/// `0  GeForce RTX 3090    Off  00000000:17:00.0 Off`, and below it `62%   71C    P2   341W / 350W  21.91GiB / 24.00GiB`; in a
/// narrow terminal both in one line, without the name.
fn gpu(text: &str, line: &Line, readings: &mut Vec<Reading>) {
    let used = usage(text);
    let begins = whole(text).filter(|_| !text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('%'));
    let bus =
        text.split_whitespace().find(|word| word.len() >= 12 && word.matches(':').count() == 2 && word.contains('.'));
    if let Some(index) = begins.filter(|_| bus.is_some() || used.is_some()) {
        let mut reading = Reading::new(Format::Nvitop, line.number, &line.text);
        reading.gpu_index = Some(index);
        if let Some(before) = bus.and_then(|bus| text.split(bus).next()) {
            let name = before.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
            let name = ["Off", "On", "N/A"].iter().find_map(|mode| name.strip_suffix(mode)).unwrap_or(name).trim();
            reading.gpu_name = (!name.is_empty()).then(|| name.to_owned());
        }
        readings.push(reading);
    }
    if let (Some((used, total)), Some(reading)) = (used, readings.last_mut())
        && reading.total_bytes.is_none()
    {
        (reading.used_bytes, reading.total_bytes) = (Some(used), Some(total));
    }
}

/// The amounts on both sides of a slash.
fn usage(text: &str) -> Option<(u64, u64)> {
    let slashes = text.match_indices('/').map(|(at, _)| at);
    slashes.into_iter().find_map(|at| {
        let used = trailing(text.get(..at)?.trim_end())?;
        let (total, _) = leading(text.get(at + 1..)?)?;
        Some((used.bytes, total.bytes))
    })
}

/// `0 3310021 C     lin 21.60GiB  98 101.3   9.8   1:44:02  python train.py`.
fn process(text: &str, readings: &mut [Reading]) {
    let mut words = text.split_whitespace();
    let (Some(Ok(gpu)), Some(Ok(pid))) = (words.next().map(str::parse::<u64>), words.next().map(str::parse::<u64>))
    else {
        return;
    };
    let words: Vec<&str> = words.collect();
    let memory =
        words.iter().take(4).find_map(|word| leading(word).filter(|(_, rest)| rest.ends_with('B') || rest.is_empty()));
    let Some((amount, _)) = memory else { return };
    let command = words.iter().position(|word| word.matches(':').count() == 2).and_then(|time| words.get(time + 1));
    if let Some(reading) = readings.iter_mut().find(|reading| reading.gpu_index == Some(gpu)) {
        let name = command.map(|name| (*name).to_owned());
        reading.processes.push(Process { pid: Some(pid), name, bytes: amount.bytes });
    }
}
