//! What programs print of their GPUs themselves: a figure a line, or several, each behind its name.

use super::super::log::{Line, value_after};
use super::super::quantity::{Amount, leading, scaled, trailing};
use super::super::reading::{Format, Reading};

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Total,
    Free,
    Used,
    Allocated,
    Reserved,
    PeakAllocated,
    PeakReserved,
    Retries,
    Ooms,
    /// Something else, whose amount belongs to no other name.
    Other,
}

/// Names of figures in lower case, the longer before those they contain.
const NAMES: &[(&str, Figure)] = &[
    ("peak allocated", Figure::PeakAllocated),
    ("max allocated", Figure::PeakAllocated),
    ("max memory allocated", Figure::PeakAllocated),
    ("max mem allocated", Figure::PeakAllocated),
    ("max mem active", Figure::Other),
    // ms-swift's log: `torch.cuda.max_memory_reserved` (utils/torch_utils.py `get_max_reserved_memory`).
    ("'memory(", Figure::PeakReserved),
    // unsloth's notebooks: what the GPU has.
    ("max memory =", Figure::Total),
    // axolotl's log.
    ("memory usage while training", Figure::Allocated),
    // Of blocks, which are more than what is handed out of them.
    ("max active", Figure::Other),
    ("peak active", Figure::Other),
    ("peak reserved", Figure::PeakReserved),
    ("max reserved", Figure::PeakReserved),
    ("max memory reserved", Figure::PeakReserved),
    ("峰值已分配", Figure::PeakAllocated),
    ("峰值分配", Figure::PeakAllocated),
    ("alloc retries", Figure::Retries),
    ("allocation retries", Figure::Retries),
    ("cudamalloc retries", Figure::Retries),
    ("分配重试", Figure::Retries),
    ("oom count", Figure::Ooms),
    ("num ooms", Figure::Ooms),
    ("ooms", Figure::Ooms),
    ("oom 次数", Figure::Ooms),
    ("oom次数", Figure::Ooms),
    ("unallocated", Figure::Used),
    ("allocated", Figure::Allocated),
    ("已分配", Figure::Allocated),
    ("reserved", Figure::Reserved),
    ("cached", Figure::Reserved),
    ("已预留", Figure::Reserved),
    ("已保留", Figure::Reserved),
    ("缓存", Figure::Reserved),
    ("total", Figure::Total),
    ("capacity", Figure::Total),
    ("总显存", Figure::Total),
    ("总内存", Figure::Total),
    ("free", Figure::Free),
    ("available", Figure::Free),
    ("可用", Figure::Free),
    ("空闲", Figure::Free),
    ("剩余", Figure::Free),
    ("used", Figure::Used),
    ("已用", Figure::Used),
    ("已使用", Figure::Used),
];

/// Most GPUs and figures of a line that are read.
const MOST: usize = 4_096;
const MOST_OF_A_LINE: usize = 32;

/// A reading for each GPU, in their order; none where fewer than two figures are named.
pub(super) fn read(lines: &[Line]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    for line in lines {
        if let Some((index, name)) = gpu(&line.text)
            && readings
                .last()
                .is_none_or(|last| last.gpu_index != Some(index) || last.allocated.is_some() && name.is_some())
            && readings.len() < MOST
        {
            let mut reading = Reading::new(Format::Monitor, line.number, &line.text);
            (reading.gpu_index, reading.gpu_name) = (Some(index), name);
            readings.push(reading);
        }
        for (figure, amount) in figures(&line.text) {
            if readings.is_empty() {
                readings.push(Reading::new(Format::Monitor, line.number, &line.text));
            }
            if let Some(reading) = readings.last_mut() {
                put(reading, figure, amount);
            }
        }
    }
    // One figure alone counts if its name says whose it is.
    let named = |reading: &Reading| {
        let peak = reading.peak_allocated_bytes.or(reading.peak_reserved_bytes);
        reading.allocated.is_some() || peak.or(reading.reserved_bytes).is_some()
    };
    let figures = |reading: &Reading| reading.figures().iter().filter(|(name, _)| *name != "gpu_index").count();
    readings.retain(|reading| figures(reading) >= 2 || named(reading));
    if readings.is_empty() {
        readings.extend(mem_get_info(lines));
    }
    readings
}

/// `torch.cuda.mem_get_info()` and what Python prints of it: `(free, total)` in bytes, on its line or the next.
fn mem_get_info(lines: &[Line]) -> Option<Reading> {
    let at = lines.iter().position(|line| line.text.contains("mem_get_info"))?;
    lines.get(at..lines.len().min(at + 2))?.iter().find_map(|line| {
        let (free, total) = line.text.rsplit_once('(')?.1.split_once(')')?.0.split_once(',')?;
        let mut reading = Reading::new(Format::Monitor, line.number, &line.text);
        reading.free_bytes = Some(scaled(free.trim(), 0)?.bytes);
        reading.total_bytes = Some(scaled(total.trim(), 0)?.bytes);
        Some(reading)
    })
}

/// `GPU 0: NVIDIA A100-SXM4-40GB`, `cuda:0 (NVIDIA ...)`, `Device 0 - ...`.
fn gpu(text: &str) -> Option<(u64, Option<String>)> {
    let lower = text.to_ascii_lowercase();
    for mark in ["gpu ", "cuda:", "device ", "gpu:", "gpu", "显卡 ", "设备 "] {
        let Some(at) = lower.find(mark) else { continue };
        let after = text.get(at + mark.len()..)?.trim_start_matches(['[', '#', ' ', '\'', '"', ':']);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let Some(index) = after.get(..digits).and_then(|digits| digits.parse().ok()) else { continue };
        let rest =
            after.get(digits..)?.trim_start_matches([']', ' ', ':', '-', '(', '：']).trim_end_matches([')', ' ', ':']);
        // A unit after the number makes it a figure and no index.
        if leading(after).is_some() {
            continue;
        }
        let is_name = rest.starts_with(|first: char| first.is_alphabetic()) && figures(rest).is_empty();
        return Some((index, is_name.then(|| rest.to_owned())));
    }
    None
}

/// Whether the words before a name make it one of the host: `cpu_memory_used_gb`, `host memory total`.
fn is_of_host(lower: &str, at: usize) -> bool {
    let before = lower.get(..at).unwrap_or("");
    let mut words = before.rsplit(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).take(2);
    words.any(|word| matches!(word, "cpu" | "host" | "ram" | "swap" | "disk")) && !before.ends_with(['|', ';'])
}

/// The figures of a line: a name, `:` or `=` or nothing, an amount; `12.3 GB / 39.4 GB` is one of how many.
fn figures(text: &str) -> Vec<(Figure, Amount)> {
    // `max_memory_allocated` is `max memory allocated`.
    let lower = text.to_lowercase().replace('_', " ");
    let mut found: Vec<(usize, usize, Figure)> = Vec::new();
    for (name, figure) in NAMES {
        for (at, _) in lower.match_indices(name).take(MOST_OF_A_LINE) {
            let end = at + name.len();
            if found.iter().all(|(start, stop, _)| end <= *start || *stop <= at) {
                found.push((at, end, if is_of_host(&lower, at) { Figure::Other } else { *figure }));
            }
        }
    }
    found.sort_unstable_by_key(|(at, _, _)| *at);
    let mut figures = Vec::new();
    // unsloth's notebooks: `4.621 GB of memory reserved.`
    if let Some(amount) = lower.split_once("of memory reserved").and_then(|(before, _)| trailing(before.trim_end())) {
        return vec![(Figure::Reserved, amount)];
    }
    for (i, (_, end, figure)) in found.iter().enumerate() {
        let next = found.get(i + 1).map_or(lower.len(), |(at, _, _)| *at);
        let Some(between) = lower.get(*end..next) else { continue };
        // verl's log: `device memory used/total (gb): 22.31/79.11`, two names and then their two amounts.
        if between.trim() == "/"
            && let Some((_, last, _)) = found.get(i + 1)
            && let Some((first, _)) = pair(lower.get(*last..).unwrap_or(""))
        {
            figures.push((*figure, first));
            continue;
        }
        let is_second = i > 0 && lower.get(found[i - 1].1..found[i].0).is_some_and(|between| between.trim() == "/");
        if is_second && let Some((_, second)) = pair(lower.get(*end..).unwrap_or("")) {
            figures.push((*figure, second));
            continue;
        }
        let counts = matches!(figure, Figure::Retries | Figure::Ooms);
        let value = between.trim_start_matches(|c: char| !c.is_ascii_digit() && !matches!(c, '\n' | '|' | ';'));
        // Words between name and figure are its own (`memory`, `by PyTorch`), a digit among them is not.
        let amount =
            if counts { value_after(value, "").map(Amount::exact) } else { leading(value).map(|(amount, _)| amount) };
        let in_unit = || {
            // `Total (GB): 39.4`, `total_gb=39.4`; Megatron's `memory (MB) | allocated: 21345.5 | ...` says it once for all.
            let own = between.split(|c: char| c.is_ascii_digit()).next().and_then(unit);
            let of_line = || unit(found.first().and_then(|(start, ..)| lower.get(..*start))?.rsplit_once('(')?.1);
            in_units_of(value, own.or_else(of_line)?)
        };
        if let Some(amount) = amount.or_else(|| if counts { None } else { in_unit() }) {
            figures.push((*figure, amount));
        }
    }
    figures
}

/// The unit that stands among words.
fn unit(words: &str) -> Option<&'static str> {
    ["gib", "gb", "mib", "mb", "bytes"].into_iter().find(|unit| words.contains(unit))
}

/// The number that `text` begins with, of that unit.
fn in_units_of(text: &str, unit: &str) -> Option<Amount> {
    let (digits, _) = super::super::quantity::number(text)?;
    leading(&format!("{digits} {unit}")).map(|(amount, _)| amount)
}

/// `(gb): 22.31/79.11` and `: 22.31 GB / 79.11 GB`.
fn pair(text: &str) -> Option<(Amount, Amount)> {
    let at = text.find(|c: char| c.is_ascii_digit() || matches!(c, '\n' | '|' | ';'))?;
    let (words, amounts) = text.split_at_checked(at)?;
    let (first, second) = amounts.split_once('/')?;
    let of = |text: &str| {
        let text = text.trim_start();
        leading(text).map(|(amount, _)| amount).or_else(|| in_units_of(text, unit(words)?))
    };
    // A unit may stand behind the second alone.
    let second_amount = of(second)?;
    let first_amount = of(first).or_else(|| in_units_of(first, unit(second.get(..12).unwrap_or(second))?))?;
    Some((first_amount, second_amount))
}

fn put(reading: &mut Reading, figure: Figure, amount: Amount) {
    let bytes = Some(amount.bytes);
    match figure {
        Figure::Total => reading.total_bytes = reading.total_bytes.or(bytes),
        Figure::Free => reading.free_bytes = reading.free_bytes.or(bytes),
        Figure::Used => reading.used_bytes = reading.used_bytes.or(bytes),
        Figure::Allocated => reading.allocated = reading.allocated.or(Some(amount)),
        Figure::Reserved => reading.reserved_bytes = reading.reserved_bytes.or(bytes),
        Figure::PeakAllocated => reading.peak_allocated_bytes = reading.peak_allocated_bytes.or(bytes),
        Figure::PeakReserved => reading.peak_reserved_bytes = reading.peak_reserved_bytes.or(bytes),
        Figure::Retries => reading.alloc_retries = reading.alloc_retries.or(bytes),
        Figure::Other => {}
        Figure::Ooms => reading.ooms = reading.ooms.or(bytes),
    }
}
