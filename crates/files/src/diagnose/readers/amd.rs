//! `rocm-smi` (text, JSON, CSV), `amd-smi` (metric, monitor) and `xpu-smi`.

use super::super::log::{Line, value_after};
use super::super::quantity::{leading, number, scaled};
use super::super::reading::{Format, Process, Reading};
use super::nvidia_table::fullest_first;
use super::{mib, whole};

/// The fullest GPU first.
pub(super) fn read(lines: &[Line]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    rocm_smi(lines, &mut readings);
    rocm_csv(lines, &mut readings);
    amd_smi(lines, &mut readings);
    amd_monitor(lines, &mut readings);
    amd_table(lines, &mut readings);
    xpu_smi(lines, &mut readings);
    readings.retain(|reading| reading.total_bytes.is_some() || reading.used_bytes.is_some());
    if readings.is_empty() {
        rocm_concise(lines, &mut readings);
    }
    rocm_processes(lines, &mut readings);
    fullest_first(readings)
}

/// The reading of GPU `index`, known or new.
fn of_gpu<'r>(readings: &'r mut Vec<Reading>, format: Format, index: u64, line: &Line) -> Option<&'r mut Reading> {
    let known = readings.iter().position(|reading| reading.format == format && reading.gpu_index == Some(index));
    let at = known.unwrap_or_else(|| {
        let mut reading = Reading::new(format, line.number, &line.text);
        reading.gpu_index = Some(index);
        readings.push(reading);
        readings.len() - 1
    });
    readings.get_mut(at)
}

/// `GPU[0] : VRAM Total Memory (B): 68702699520`; as JSON `"card0": {"VRAM Total Memory (B)": "68702699520", ...`, on one line or
/// on several. `GPU[0] : vram Total Memory (B)` in early versions.
fn rocm_smi(lines: &[Line], readings: &mut Vec<Reading>) {
    let mut gpu = None;
    for line in lines {
        let mut text = line.text.as_str();
        // A JSON text has several GPUs on one line: each opens a part.
        while !text.is_empty() {
            let next = text.get(1..).and_then(|rest| rest.find("\"card")).map_or(text.len(), |at| at + 1);
            let (part, rest) = text.split_at_checked(next).unwrap_or((text, ""));
            gpu = value_after(part, "GPU[").or_else(|| value_after(part, "\"card")).or(gpu);
            if let Some(index) = gpu {
                rocm_figures(part, index, line, readings);
            }
            text = rest;
        }
    }
}

fn rocm_figures(part: &str, index: u64, line: &Line, readings: &mut Vec<Reading>) {
    let lower = part.to_ascii_lowercase();
    for (mark, is_total) in [("vram total memory (b)", true), ("vram total used memory (b)", false)] {
        let Some((_, after)) = lower.split_once(mark) else { continue };
        let Some((digits, _)) = number(after.trim_start_matches(['"', ':', ' '])) else { continue };
        let Some(amount) = scaled(digits, 0) else { continue };
        if let Some(reading) = of_gpu(readings, Format::RocmSmi, index, line) {
            *(if is_total { &mut reading.total_bytes } else { &mut reading.used_bytes }) = Some(amount.bytes);
        }
    }
}

/// The table that `rocm-smi` prints by itself: percentages, of which the fullest GPU is read and no bytes.
fn rocm_concise(lines: &[Line], readings: &mut Vec<Reading>) {
    let Some(start) = lines.iter().position(|line| line.text.contains("VRAM%") && line.text.contains("GPU%")) else {
        return;
    };
    let mut fullest: Option<(u64, u64, &Line)> = None;
    for line in lines.iter().skip(start + 1) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let Some(index) = words.first().and_then(|word| word.parse().ok()) else { continue };
        // The last two are the shares of memory and of time; either may be unknown.
        let share = words.iter().rev().nth(1).and_then(|word| word.strip_suffix('%')?.parse().ok()).unwrap_or(0);
        if fullest.is_none_or(|(most, ..)| share > most) {
            fullest = Some((share, index, line));
        }
    }
    if let Some((_, index, line)) = fullest {
        of_gpu(readings, Format::RocmSmi, index, line);
    }
}

/// `device,VRAM Total Memory (B),VRAM Total Used Memory (B)` and `card0,68702699520,12345`.
fn rocm_csv(lines: &[Line], readings: &mut Vec<Reading>) {
    let mut heading: Vec<String> = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.text.split(',').map(str::trim).collect();
        if cells.first() == Some(&"device") {
            heading = cells.iter().map(|cell| cell.to_ascii_lowercase()).collect();
            continue;
        }
        let Some(index) = cells.first().and_then(|cell| cell.strip_prefix("card")?.parse().ok()) else { continue };
        let of = |name: &str| -> Option<u64> {
            let at = heading.iter().position(|cell| cell.starts_with(name))?;
            cells.get(at)?.parse().ok()
        };
        let (total, used) = (of("vram total memory"), of("vram total used memory"));
        if let Some(reading) = total.or(used).and_then(|_| of_gpu(readings, Format::RocmSmi, index, line)) {
            (reading.total_bytes, reading.used_bytes) = (total, used);
        }
    }
}

/// `rocm-smi --showpids`: `4711  python3  1  32212254720  0  unknown`, bytes.
fn rocm_processes(lines: &[Line], readings: &mut Vec<Reading>) {
    let is_heading = |line: &Line| line.text.contains("VRAM USED") && line.text.contains("PROCESS NAME");
    let Some(start) = lines.iter().position(is_heading) else { return };
    for line in lines.iter().skip(start + 1) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let Some(pid) = words.first().and_then(|word| word.parse().ok()) else { break };
        let Some(bytes) = words.get(3).and_then(|word| word.parse().ok()) else { break };
        if readings.is_empty() {
            readings.push(Reading::new(Format::RocmSmi, line.number, &line.text));
        }
        if let Some(reading) = readings.first_mut() {
            reading.processes.push(Process { pid: Some(pid), name: words.get(1).map(|&name| name.to_owned()), bytes });
            reading.other_processes_bytes = Some(reading.other_processes_bytes.unwrap_or(0).saturating_add(bytes));
        }
    }
}

/// `amd-smi metric --mem-usage`: `GPU: 0`, then `TOTAL_VRAM: 196592 MB`, `USED_VRAM: 283 MB`, `FREE_VRAM: 196309 MB`.
fn amd_smi(lines: &[Line], readings: &mut Vec<Reading>) {
    let mut gpu = None;
    for line in lines {
        let Some((key, value)) = line.text.trim().split_once(':') else { continue };
        if key == "GPU" {
            gpu = whole(value);
            continue;
        }
        let (Some(index), Some((amount, _))) = (gpu, leading(value)) else { continue };
        if !matches!(key, "TOTAL_VRAM" | "USED_VRAM" | "FREE_VRAM") {
            continue;
        }
        let Some(reading) = of_gpu(readings, Format::AmdSmi, index, line) else { continue };
        match key {
            "TOTAL_VRAM" => reading.total_bytes = Some(amount.bytes),
            "USED_VRAM" => reading.used_bytes = Some(amount.bytes),
            _ => reading.free_bytes = Some(amount.bytes),
        }
    }
}

/// `amd-smi monitor`: a heading with `VRAM_USED` and `VRAM_TOTAL`, or `VRAM_USAGE` with `12.3/191.7 GB`; a unit may stand apart.
fn amd_monitor(lines: &[Line], readings: &mut Vec<Reading>) {
    let is_heading = |line: &Line| line.text.contains("GPU") && line.text.contains("VRAM_");
    let Some(start) = lines.iter().position(is_heading) else { return };
    let heading: Vec<&str> = lines.get(start).map(|line| line.text.split_whitespace().collect()).unwrap_or_default();
    for line in lines.iter().skip(start + 1) {
        let cells = with_units(&line.text);
        let Some(index) = cells.first().and_then(|cell| cell.parse().ok()) else { break };
        let of = |name: &str| -> Option<&String> { cells.get(heading.iter().position(|word| *word == name)?) };
        let bytes = |name: &str| leading(of(name)?).map(|(amount, _)| amount.bytes);
        let pair = of("VRAM_USAGE").and_then(|cell| {
            let (used, rest) = number(cell)?;
            let (total, unit) = number(rest.trim_start().strip_prefix('/')?)?;
            let with_unit =
                |digits: &str| leading(&format!("{digits} {}", unit.trim())).map(|(amount, _)| amount.bytes);
            Some((with_unit(used)?, with_unit(total)?))
        });
        let (used, total) =
            pair.map_or((bytes("VRAM_USED"), bytes("VRAM_TOTAL")), |(used, total)| (Some(used), Some(total)));
        if total.or(used).is_none() || heading.len() > cells.len() {
            continue;
        }
        if let Some(reading) = of_gpu(readings, Format::AmdSmi, index, line) {
            (reading.used_bytes, reading.total_bytes) = (used, total);
            reading.free_bytes = bytes("VRAM_FREE");
        }
    }
}

/// `amd-smi` by itself, since ROCm 7: `|   0       0       5        SPX/NPS1 | 0 %        N/A           285/196592 MB |`.
fn amd_table(lines: &[Line], readings: &mut Vec<Reading>) {
    if !lines.iter().any(|line| line.text.contains("AMD-SMI")) {
        return;
    }
    for line in lines {
        let text = line.text.trim();
        let Some(row) = text.strip_prefix('|').and_then(|row| row.strip_suffix('|')) else { continue };
        let Some(index) = row.split_whitespace().next().and_then(|word| word.parse().ok()) else { continue };
        let Some(pair) = row.trim_end().strip_suffix("MB").and_then(|row| row.split_whitespace().last()) else {
            continue;
        };
        let Some((used, total)) = pair.split_once('/') else { continue };
        let (Some(used), Some(total)) = (whole(used), whole(total)) else { continue };
        if let Some(reading) = of_gpu(readings, Format::AmdSmi, index, line) {
            (reading.used_bytes, reading.total_bytes) = (Some(mib(used)), Some(mib(total)));
        }
    }
}

/// The words of a row, each figure together with the unit that follows it.
fn with_units(row: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for word in row.split_whitespace() {
        let is_unit = matches!(word, "MB" | "GB" | "MiB" | "GiB" | "W" | "%" | "MHz" | "°C" | "C" | "Mb/s" | "KB/s");
        let joins = word.starts_with('/') || cells.last().is_some_and(|last| last.ends_with('/'));
        match cells
            .last_mut()
            .filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit()) || joins && !last.is_empty())
        {
            Some(last) => last.push_str(word),
            None => cells.push(word.to_owned()),
        }
    }
    cells
}

/// `xpu-smi stats -d 0` and `discovery`: `| GPU Memory Used (MiB)  | 1234 |`, `| Memory Physical Size: 16288.00 MiB |`.
fn xpu_smi(lines: &[Line], readings: &mut Vec<Reading>) {
    let mut device = 0;
    for line in lines {
        let text = line.text.as_str();
        device = value_after(text, "| Device ID                    | ")
            .or_else(|| value_after(text, "Device ID: "))
            .unwrap_or(device);
        if let Some((_, value)) = text.split_once("GPU Memory Used (MiB)")
            && let Some(used) = whole(value.trim_start_matches(['|', ' ', ';', ',']))
            && let Some(reading) = of_gpu(readings, Format::XpuSmi, device, line)
        {
            reading.used_bytes = Some(mib(used));
        }
        if let Some((_, value)) = text.split_once("Memory Physical Size:")
            && let Some((amount, _)) = leading(value)
            && let Some(reading) = of_gpu(readings, Format::XpuSmi, device, line)
        {
            reading.total_bytes = Some(amount.bytes);
        }
    }
}
