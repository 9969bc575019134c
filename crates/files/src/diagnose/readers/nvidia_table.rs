//! `nvidia-smi` without options: a table of GPUs, one of MIG devices, one of processes, of any driver's width; and `gpustat`.

use super::super::log::Line;
use super::super::reading::{Format, Process, Reading};
use super::{mib, whole};

/// Most GPUs, MIG devices and processes that are read of one text.
const MOST: usize = 4_096;

/// How the number of a GPU's place begins; others that print tables write four digits.
const NVIDIA_BUS: &str = "| 00000000:";

/// The head of Intel's table, which since 2.0 is that of `nvidia-smi`.
const XPU_SMI: &str = "Intel XPU-SMI v";

/// Which of its tables a line is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Gpus,
    Mig,
    Processes,
}

/// The fullest GPU first: of several that are about as full, the first that is listed.
pub(super) fn read(lines: &[Line]) -> Vec<Reading> {
    let mut readings = gpustat(lines);
    let mut part = Part::Before;
    let mut seen = 0;
    for line in lines {
        let text = line.text.trim();
        if text.contains("NVIDIA-SMI") || text.contains(XPU_SMI) {
            // A table that is printed again and again (`watch`, `-l`): the last counts.
            (part, seen) = (Part::Gpus, 0);
            readings.retain(|reading| reading.format != Format::NvidiaSmi);
        } else if text.contains("MIG devices:") {
            part = Part::Mig;
        } else if text.contains("Processes:") && part != Part::Before {
            part = Part::Processes;
        } else if let Some(row) = text.strip_prefix('|') {
            seen += 1;
            if part == Part::Before && row.contains(NVIDIA_BUS) {
                // A GPU's lines by themselves, without the head.
                part = Part::Gpus;
            }
            if seen < MOST {
                read_row(part, row, line, &mut readings);
            }
        } else if is_csv_like(text) {
            part = Part::Before;
        }
    }
    // GPUs that share the host's memory state none (`Not Supported`): the name is still read.
    let states = |reading: &Reading| reading.total_bytes.is_some() || reading.used_bytes.is_some();
    if readings.iter().any(states) {
        readings.retain(states);
    }
    for reading in readings.iter_mut().filter(|reading| !reading.processes.is_empty()) {
        let sum = reading.processes.iter().fold(0_u64, |sum, process| sum.saturating_add(process.bytes));
        reading.other_processes_bytes = Some(sum);
    }
    if lines.iter().any(|line| line.text.contains(XPU_SMI)) {
        readings.iter_mut().for_each(|reading| reading.format = Format::XpuSmi);
    }
    fullest_first(readings)
}

/// A line that ends a table: neither a border nor empty.
fn is_csv_like(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['+', '|', '=']) && text.contains(',')
}

fn read_row(part: Part, row: &str, line: &Line, readings: &mut Vec<Reading>) {
    match part {
        Part::Before => {}
        Part::Gpus => gpu_row(row, line, readings),
        Part::Mig => mig_row(row, line, readings),
        Part::Processes => process_row(row, readings),
    }
}

/// `   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |  0 |`, and below it
/// ` N/A   34C    P0    62W / 400W |  10240MiB / 81920MiB |   0%  Default |`.
fn gpu_row(row: &str, line: &Line, readings: &mut Vec<Reading>) {
    if let Some((used, total)) = usage(row) {
        if let Some(reading) = readings.last_mut().filter(|reading| reading.total_bytes.is_none()) {
            (reading.used_bytes, reading.total_bytes) = (used.map(mib), Some(mib(total)));
            reading.line = line.number;
            reading.evidence = super::super::reading::shortened(&line.text);
        }
        return;
    }
    let Some(index) = whole(row) else { return };
    let first = row.split('|').next().unwrap_or("").trim();
    let name = first.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    // Old drivers shorten the name with dots; the last word is the persistence mode.
    let name = ["On", "Off", "WDDM", "TCC", "N/A", "MCDM", "On-Default"]
        .iter()
        .find_map(|mode| name.strip_suffix(mode))
        .unwrap_or(name)
        .trim();
    if !row.contains(':') || name.is_empty() {
        return;
    }
    let mut reading = Reading::new(Format::NvidiaSmi, line.number, &line.text);
    reading.gpu_index = Some(index);
    reading.gpu_name = Some(name.to_owned());
    readings.push(reading);
}

/// MiB in use, where that is said, and MiB in all: the cell that has `MiB / 81920MiB`.
fn usage(row: &str) -> Option<(Option<u64>, u64)> {
    row.split('|').find_map(|cell| {
        let (used, total) = cell.split_once('/')?;
        let total = total.trim();
        let count = whole(total)?;
        let is_memory = total.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with("MiB");
        let used = used.trim();
        let used = if used.contains("N/A") || used.contains("ERR") { None } else { Some(whole(used)?) };
        is_memory.then_some((used, count))
    })
}

/// `  0    1   0   0  |     11MiB / 20096MiB  | 42      0 |  3   0    2    0    0 |`.
fn mig_row(row: &str, line: &Line, readings: &mut Vec<Reading>) {
    let Some((used, total)) = usage(row) else { return };
    let mut ids = row.split('|').next().unwrap_or("").split_whitespace().map(|word| word.parse::<u64>().ok());
    let (Some(Some(gpu)), Some(Some(instance))) = (ids.next(), ids.next()) else { return };
    let mut reading = Reading::new(Format::NvidiaSmi, line.number, &line.text);
    reading.gpu_index = Some(gpu);
    reading.gpu_name = Some(format!("MIG {instance}"));
    (reading.used_bytes, reading.total_bytes) = (used.map(mib), Some(mib(total)));
    readings.push(reading);
}

/// `    0   N/A  N/A      4711      C   python3.11                   1234MiB |`; before 2020 without the MIG columns.
fn process_row(row: &str, readings: &mut [Reading]) {
    let words: Vec<&str> = row.trim_end().trim_end_matches('|').split_whitespace().collect();
    let Some(index) = words.first().and_then(|word| word.parse::<u64>().ok()) else { return };
    let Some(megabytes) = words.last().and_then(|word| word.strip_suffix("MiB")?.parse::<u64>().ok()) else { return };
    let Some(kind) = words.iter().position(|word| matches!(*word, "C" | "G" | "C+G" | "M+C")) else { return };
    let pid = kind.checked_sub(1).and_then(|before| words.get(before)?.parse().ok());
    // With MIG the second column is the instance.
    let instance = words.get(1).filter(|_| kind >= 4).and_then(|word| word.parse::<u64>().ok());
    let name = words.get(kind + 1..words.len().saturating_sub(1)).map(|words| words.join(" "));
    let mig = instance.map(|instance| format!("MIG {instance}"));
    let is_own =
        |reading: &&mut Reading| reading.gpu_index == Some(index) && (mig.is_none() || reading.gpu_name == mig);
    let mut owners = readings.iter_mut().filter(|reading| reading.format == Format::NvidiaSmi);
    if let Some(reading) = owners.find(is_own) {
        reading.processes.push(Process { pid, name, bytes: mib(megabytes) });
    }
}

/// `[0] NVIDIA A100-SXM4-80GB | 34'C,   0 % | 10240 / 81920 MB | alice(10230M)`.
fn gpustat(lines: &[Line]) -> Vec<Reading> {
    let read = |line: &Line| {
        let (index, rest) = line.text.trim().strip_prefix('[')?.split_once(']')?;
        let index: u64 = index.trim().parse().ok()?;
        let mut cells = rest.split('|');
        let name = cells.next()?.trim();
        let memory = cells.clone().find(|cell| cell.trim_end().ends_with("MB") && cell.contains('/'))?;
        let (used, total) = memory.split_once('/')?;
        let mut reading = Reading::new(Format::Gpustat, line.number, &line.text);
        reading.gpu_index = Some(index);
        reading.gpu_name = Some(name.to_owned());
        (reading.used_bytes, reading.total_bytes) = (whole(used).map(mib), whole(total).map(mib));
        let users = cells.skip_while(|cell| *cell != memory).nth(1).unwrap_or("");
        for user in users.split_whitespace() {
            let Some((name, megabytes)) = user.split_once('(') else { continue };
            let Some(count) = megabytes.strip_suffix("M)").and_then(|count| count.parse().ok()) else { continue };
            reading.processes.push(Process { pid: None, name: Some(name.to_owned()), bytes: mib(count) });
        }
        Some(reading)
    };
    lines.iter().filter_map(read).take(MOST).collect()
}

/// GPUs of one job are about equally full: the first of those within a tenth of the fullest stands for all.
pub(super) fn fullest_first(mut readings: Vec<Reading>) -> Vec<Reading> {
    let most = readings.iter().map(Reading::in_use).max().unwrap_or(0);
    let about = most - most / 10;
    if let Some(at) = readings.iter().position(|reading| reading.in_use() >= about) {
        let fullest = readings.remove(at);
        readings.insert(0, fullest);
    }
    readings
}
