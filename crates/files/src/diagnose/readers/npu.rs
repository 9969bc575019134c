//! `npu-smi info`: a table of Ascend NPUs, two lines each, and of processes; and `npu-smi info -t usages`.

use super::super::log::Line;
use super::super::reading::{Format, Process, Reading};
use super::nvidia_table::fullest_first;
use super::{mib, whole};

/// The fullest NPU first.
pub(super) fn read(lines: &[Line]) -> Vec<Reading> {
    let is_table = lines.iter().any(|line| line.text.contains("npu-smi") || line.text.contains("HBM-Usage"));
    let mut readings = if is_table { table(lines) } else { Vec::new() };
    if readings.is_empty() {
        readings = usages(lines);
    }
    for reading in readings.iter_mut().filter(|reading| !reading.processes.is_empty()) {
        let sum = reading.processes.iter().fold(0_u64, |sum, process| sum.saturating_add(process.bytes));
        reading.other_processes_bytes = Some(sum);
    }
    fullest_first(readings)
}

/// `| 0     910B3 | OK | 92.8  36  0 / 0 |` and below it `| 0  | 0000:C1:00.0 | 0  0 / 0  4156 / 65536 |`: of the second line the
/// last pair is HBM, on chips without HBM the only one.
fn table(lines: &[Line]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    // Of each reading the card and its chip, by which processes are listed.
    let mut places: Vec<(u64, u64)> = Vec::new();
    let mut open: Option<(u64, String)> = None;
    let mut in_processes = false;
    // Cards of two chips number them through: the device is `Phy-ID`.
    let by_chip = lines.iter().any(|line| line.text.contains("Phy-ID"));
    for line in lines {
        let text = line.text.trim();
        in_processes |= text.contains("Process id");
        let Some(row) = text.strip_prefix('|') else { continue };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let Some(index) = whole(row) else { continue };
        if in_processes {
            let chip = row.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
            let at = places.iter().position(|place| *place == (index, chip));
            process(at.and_then(|at| readings.get_mut(at)), &cells);
            continue;
        }
        let is_bus = cells.get(1).is_some_and(|cell| cell.contains(':'));
        let first: Vec<&str> = cells.first().map(|cell| cell.split_whitespace().collect()).unwrap_or_default();
        if !is_bus {
            open = first.get(1).map(|name| (index, (*name).to_owned()));
            continue;
        }
        let (Some((npu, name)), Some((used, total))) = (&open, cells.get(2).and_then(|cell| last_pair(cell))) else {
            continue;
        };
        let mut reading = Reading::new(Format::NpuSmi, line.number, &line.text);
        let device = first.get(1).filter(|_| by_chip).and_then(|word| word.parse().ok());
        reading.gpu_index = Some(device.unwrap_or(*npu));
        reading.gpu_name = Some(name.clone());
        (reading.used_bytes, reading.total_bytes) = (Some(mib(used)), Some(mib(total)));
        places.push((*npu, index));
        readings.push(reading);
    }
    readings
}

/// The last `used / total` whose total is not nothing.
fn last_pair(cell: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = cell.split_whitespace().flat_map(|word| word.split_inclusive('/')).collect();
    let numbers: Vec<u64> = words.iter().filter_map(|word| word.trim_end_matches('/').parse().ok()).collect();
    let pairs = numbers.get(numbers.len().checked_sub(2)?..)?;
    match pairs {
        [used, total] if *total > 0 => Some((*used, *total)),
        [_, _] => {
            let before = numbers.get(numbers.len().checked_sub(4)?..)?;
            Some((*before.first()?, *before.get(1)?)).filter(|(_, total)| *total > 0)
        }
        _ => None,
    }
}

/// `| 0       0                 | 123456        | python3                  | 1234                    |`.
fn process(reading: Option<&mut Reading>, cells: &[&str]) {
    let (Some(pid), Some(megabytes)) =
        (cells.get(1).and_then(|cell| cell.parse().ok()), cells.get(3).and_then(|cell| cell.parse().ok()))
    else {
        return;
    };
    if let Some(reading) = reading {
        let name = cells.get(2).map(|&name| name.to_owned());
        reading.processes.push(Process { pid: Some(pid), name, bytes: mib(megabytes) });
    }
}

/// `NPU ID : 0`, `HBM Capacity(MB) : 65536`, `HBM Usage Rate(%) : 6`.
fn usages(lines: &[Line]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut npu = None;
    for line in lines {
        let Some((key, value)) = line.text.split_once(':').map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        match key {
            "NPU ID" => npu = whole(value),
            "HBM Capacity(MB)" => {
                let mut reading = Reading::new(Format::NpuSmi, line.number, &line.text);
                (reading.gpu_index, reading.total_bytes) = (npu, whole(value).map(mib));
                readings.push(reading);
            }
            _ => {}
        }
    }
    readings
}
