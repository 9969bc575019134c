//! PyTorch's own statistics: `memory_summary()`, `memory_stats()`; and what DeepSpeed logs of them.

use super::super::log::{Line, value_after};
use super::super::quantity::{Amount, leading, number, scaled};
use super::super::reading::{Format, Reading};

/// `torch.cuda.memory_summary()`, whole or abbreviated, one for each device that is printed.
///
/// torch/cuda/memory.py: columns are current, peak, allocated in all, freed in all; units say KB before 2.0 and KiB after, and
/// are 1024 bytes in both.
pub(super) fn summaries(lines: &[Line]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    for line in lines {
        let text = line.text.trim();
        if text.contains("memory summary, device ID") {
            let mut reading = Reading::new(Format::MemorySummary, line.number, text.trim_matches(['|', ' ']));
            reading.gpu_index = value_after(text, "device ID ");
            readings.push(reading);
            continue;
        }
        let Some(reading) = readings.last_mut() else { continue };
        if text.contains("OOMs:") {
            reading.ooms = value_after(text, "OOMs: ");
            reading.alloc_retries = value_after(text, "retries: ");
            continue;
        }
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        let amount = |at: usize| cells.get(at).and_then(|cell| leading(cell)).map(|(amount, _)| amount);
        match cells.first() {
            Some(&"Allocated memory") => {
                reading.allocated = amount(1);
                reading.peak_allocated_bytes = amount(2).map(|amount| amount.bytes);
            }
            Some(&"GPU reserved memory") => {
                reading.reserved_bytes = amount(1).map(|amount| amount.bytes);
                reading.peak_reserved_bytes = amount(2).map(|amount| amount.bytes);
            }
            _ => {}
        }
    }
    readings.retain(|reading| reading.allocated.is_some());
    readings
}

/// `memory_stats()` as printed, by `pprint`, or as JSON: flat keys, or nested ones.
pub(super) fn stats(lines: &[Line]) -> Vec<Reading> {
    let Some(first) = lines.iter().find(|line| line.text.contains("allocated_bytes")) else { return Vec::new() };
    let all: String = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
    let value = |key: &str| -> Option<u64> {
        let (_, after) = quoted(&all, key)?;
        number(after.trim_start_matches(['\'', '"', ',', ':', ' ', '\n']))?.0.parse().ok()
    };
    // Nested: "reserved_bytes": {"all": {"current": 1, "peak": 2, ...
    let nested = |section: &str, key: &str| -> Option<u64> {
        let (_, after) = quoted(&all, section)?;
        let (_, after) = quoted(after, "all")?;
        let (_, after) = quoted(after.get(..after.find('}')?)?, key)?;
        number(after.trim_start_matches(['\'', '"', ',', ':', ' ', '\n']))?.0.parse().ok()
    };
    let both = |section: &str, key: &str| value(&format!("{section}.all.{key}")).or_else(|| nested(section, key));
    let mut reading = Reading::new(Format::MemoryStats, first.number, &first.text);
    reading.allocated = both("allocated_bytes", "current").map(Amount::exact);
    reading.peak_allocated_bytes = both("allocated_bytes", "peak");
    reading.reserved_bytes = both("reserved_bytes", "current");
    reading.peak_reserved_bytes = both("reserved_bytes", "peak");
    reading.ooms = value("num_ooms");
    reading.alloc_retries = value("num_alloc_retries");
    if reading.allocated.is_none() && reading.reserved_bytes.is_none() && reading.peak_allocated_bytes.is_none() {
        return Vec::new();
    }
    vec![reading]
}

/// Around `key` in quotes, whole: `active_bytes.all.current` is no `bytes.all.current`.
fn quoted<'t>(text: &'t str, key: &str) -> Option<(&'t str, &'t str)> {
    ['\'', '"'].iter().find_map(|quote| text.split_once(&format!("{quote}{key}{quote}")))
}

/// What DeepSpeed logs: `memory_status` first, which says the rank, then `see_memory_usage`.
pub(super) fn deepspeed(lines: &[Line]) -> Vec<Reading> {
    let mut found = status(lines);
    found.extend(usage(lines));
    found
}

/// `RANK=1 MEMSTATS after step device=cuda:1 current alloc=25.3114GB (delta=0.0000GB max=56.1189GB) current cache=69.2051GB
/// (delta=0.0000GB max=69.2051GB)` (deepspeed/runtime/utils.py `memory_status`). Of each rank the last counts.
fn status(lines: &[Line]) -> Vec<Reading> {
    let mut found: Vec<Reading> = Vec::new();
    for line in lines.iter().filter(|line| line.text.contains("MEMSTATS")) {
        let of = |name: &str| -> Option<(Amount, Option<u64>)> {
            let (now, rest) = leading(line.text.split_once(name)?.1)?;
            let most = rest.split_once("max=").and_then(|(_, rest)| leading(rest));
            Some((now, most.map(|(amount, _)| amount.bytes)))
        };
        let (Some((allocated, peak)), Some((cache, most))) = (of("current alloc="), of("current cache=")) else {
            continue;
        };
        let rank = value_after(&line.text, "RANK=").or(line.rank);
        let place = found.iter().position(|reading| reading.rank == rank);
        let before = place.map(|at| found.remove(at));
        let mut reading = Reading::new(Format::DeepspeedMemoryUsage, line.number, &line.text);
        reading.rank = rank;
        reading.gpu_index = value_after(&line.text, "device=cuda:");
        (reading.allocated, reading.reserved_bytes) = (Some(allocated), Some(cache.bytes));
        reading.peak_allocated_bytes = peak.max(before.as_ref().and_then(|before| before.peak_allocated_bytes));
        reading.peak_reserved_bytes = most.max(before.as_ref().and_then(|before| before.peak_reserved_bytes));
        found.insert(place.unwrap_or(found.len()), reading);
    }
    found
}

/// `MA 12.34 GB         Max_MA 15.2 GB         CA 16.01 GB         Max_CA 17 GB`, and on the next line
/// `CPU Virtual Memory:  used = 52.98 GB, percent = 10.5%` (deepspeed/runtime/utils.py `see_memory_usage`). The last counts;
/// each begins its peaks anew, so that the run's peak is the highest of all.
fn usage(lines: &[Line]) -> Option<Reading> {
    let mut found: Option<Reading> = None;
    let amount = |text: &str, key: &str| Some(leading(text.split_once(key)?.1)?.0);
    for line in lines {
        let text = line.text.as_str();
        let is_usage = text.contains("Max_MA ") && text.contains("Max_CA ");
        if is_usage {
            let mut reading = Reading::new(Format::DeepspeedMemoryUsage, line.number, text);
            reading.rank = line.rank;
            reading.allocated =
                amount(text.split_once("MA ").map_or("", |(before, _)| text.get(before.len()..).unwrap_or("")), "MA ");
            reading.peak_allocated_bytes = amount(text, "Max_MA ").map(|amount| amount.bytes);
            reading.reserved_bytes =
                text.split_once("Max_MA").and_then(|(_, rest)| amount(rest, " CA ")).map(|amount| amount.bytes);
            // "Max_CA 17 GB" has no decimals.
            reading.peak_reserved_bytes = amount(text, "Max_CA ").map(|amount| amount.bytes);
            if let Some(before) = found {
                reading.peak_allocated_bytes = reading.peak_allocated_bytes.max(before.peak_allocated_bytes);
                reading.peak_reserved_bytes = reading.peak_reserved_bytes.max(before.peak_reserved_bytes);
            }
            found = Some(reading);
        } else if let (Some(reading), true) = (&mut found, text.contains("CPU Virtual Memory")) {
            reading.host_used_bytes = text
                .split_once("used = ")
                .and_then(|(_, rest)| leading(rest).map(|(amount, _)| amount).or_else(|| scaled(number(rest)?.0, 30)))
                .map(|amount| amount.bytes);
        }
    }
    found
}
