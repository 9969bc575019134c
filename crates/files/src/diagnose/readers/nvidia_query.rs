//! `nvidia-smi -q`: sections of keys and values, as text or as XML (`-x`).

use super::super::log::Line;
use super::super::quantity::leading;
use super::super::reading::{Format, Process, Reading};
use super::nvidia_table::fullest_first;

/// The fullest GPU first.
pub(super) fn read(lines: &[Line]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut section = String::new();
    let mut pid = None;
    let mut name = None;
    for line in lines {
        let text = line.text.trim();
        let tag = tagged(text);
        if let Some(bus) = text.strip_prefix("GPU ").filter(|bus| bus.matches(':').count() == 2 && !bus.contains(' ')) {
            let mut reading = Reading::new(Format::NvidiaSmiQuery, line.number, bus);
            reading.gpu_index = Some(readings.len() as u64);
            readings.push(reading);
            section.clear();
            continue;
        }
        if text.starts_with("<gpu id=") {
            let mut reading = Reading::new(Format::NvidiaSmiQuery, line.number, text);
            reading.gpu_index = Some(readings.len() as u64);
            readings.push(reading);
            continue;
        }
        let Some(reading) = readings.last_mut() else { continue };
        let pair = text.split_once(" : ").map(|(key, value)| (key.trim(), value.trim()));
        let Some((key, value)) = pair.or(tag) else {
            // `Process ID : 4711` opens an entry; a line without a value opens a section.
            section = match text {
                "<fb_memory_usage>" => "FB Memory Usage".to_owned(),
                _ => text.trim_end_matches(':').trim().to_owned(),
            };
            continue;
        };
        let amount = leading(value).map(|(amount, _)| amount.bytes);
        match (section.as_str(), key) {
            ("FB Memory Usage", "Total") => {
                reading.total_bytes = reading.total_bytes.or(amount);
                reading.line = line.number;
                reading.evidence = super::super::reading::shortened(text);
            }
            ("FB Memory Usage", "Used") => reading.used_bytes = reading.used_bytes.or(amount),
            ("FB Memory Usage", "Free") => reading.free_bytes = reading.free_bytes.or(amount),
            (_, "Product Name") => reading.gpu_name = Some(value.to_owned()),
            (_, "Process ID") => (pid, name) = (value.parse::<u64>().ok(), None),
            (_, "Name") if pid.is_some() => name = Some(value.to_owned()),
            (_, "Used GPU Memory") => {
                if let (Some(bytes), true) = (amount, pid.is_some()) {
                    reading.processes.push(Process { pid: pid.take(), name: name.take(), bytes });
                }
            }
            _ => {}
        }
    }
    readings.retain(|reading| reading.total_bytes.is_some() || reading.used_bytes.is_some());
    for reading in readings.iter_mut().filter(|reading| !reading.processes.is_empty()) {
        let sum = reading.processes.iter().fold(0_u64, |sum, process| sum.saturating_add(process.bytes));
        reading.other_processes_bytes = Some(sum);
    }
    fullest_first(readings)
}

/// `<total>81559 MiB</total>` under the names of the text.
fn tagged(text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    let (value, _) = rest.split_once("</")?;
    let key = match tag {
        "total" => "Total",
        "used" => "Used",
        "free" => "Free",
        "product_name" => "Product Name",
        "pid" => "Process ID",
        "process_name" => "Name",
        "used_memory" => "Used GPU Memory",
        other => other,
    };
    Some((key, value))
}
