//! What Linux and the Trainer print of memory after the fact: `free`, and metrics of `skip_memory_metrics=False`.

use super::super::log::Line;
use super::super::quantity::{Amount, leading, scaled};
use super::super::reading::{Format, Reading};

/// `free`: the host's memory.
pub(super) fn free(lines: &[Line]) -> Vec<Reading> {
    let is_head = |line: &Line| {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        words.starts_with(&["total", "used", "free"])
    };
    let Some(at) = lines.iter().position(is_head) else { return Vec::new() };
    let unit = at.checked_sub(1).and_then(|before| asked(&lines[before].text));
    let Some(line) = lines.get(at + 1) else { return Vec::new() };
    let Some(("Mem", row)) = line.text.trim().split_once(':') else { return Vec::new() };
    let mut columns = row.split_whitespace().map(|word| column(word, unit));
    let (Some(Some(total)), Some(Some(used))) = (columns.next(), columns.next()) else { return Vec::new() };
    let mut reading = Reading::new(Format::Free, line.number, &line.text);
    (reading.host_total_bytes, reading.host_used_bytes) = (Some(total.bytes), Some(used.bytes));
    vec![reading]
}

/// Power of two that the command asks for: `free -m`.
fn asked(command: &str) -> Option<u32> {
    let (_, options) = command.rsplit_once("free")?;
    let words = || options.split_whitespace();
    let unit = |word: &str| match word {
        "-b" | "--bytes" => Some(0),
        "-k" | "--kibi" => Some(10),
        "-m" | "--mebi" => Some(20),
        "-g" | "--gibi" => Some(30),
        _ => None,
    };
    words().find_map(unit).or_else(|| words().next().is_none().then_some(10))
}

/// `125Gi`, or a number in the unit that was asked for: kibibytes where nothing was and it is too large for any other.
fn column(word: &str, unit: Option<u32>) -> Option<Amount> {
    const LEAST_KIBIBYTES: u64 = 1 << 20;
    if let Some((amount, "" | "i" | "B" | "iB")) = leading(word) {
        return Some(amount);
    }
    let unit = unit.or_else(|| (word.parse::<u64>().ok()? >= LEAST_KIBIBYTES).then_some(10));
    scaled(word, unit?)
}

/// `train_mem_gpu_peaked_delta = 3733MB` (trainer_utils.py `TrainerMemoryTracker`): what a stage adds to what was there before
/// the Trainer was made, and what beyond that it needed at most.
pub(super) fn trainer(lines: &[Line]) -> Vec<Reading> {
    let value = |name: &str| {
        lines.iter().rev().find_map(|line| {
            let (_, rest) = line.text.split_once(name)?;
            let rest = rest.trim_start_matches(['\'', '"', ' ', '=', ':']);
            signed(rest)
        })
    };
    let line = lines.iter().find(|line| line.text.contains("train_mem_gpu_"));
    let (Some(line), Some(before)) = (line, value("before_init_mem_gpu")) else { return Vec::new() };
    let of = |name: &str| value(name).unwrap_or(0);
    let allocated =
        before.saturating_add(of("init_mem_gpu_alloc_delta")).saturating_add(of("train_mem_gpu_alloc_delta"));
    let bytes = |signed: i64| u64::try_from(signed).ok();
    let mut reading = Reading::new(Format::TrainerMetrics, line.number, &line.text);
    reading.allocated = bytes(allocated).map(Amount::exact);
    let peaked = value("train_mem_gpu_peaked_delta");
    reading.peak_allocated_bytes = peaked.and_then(|peaked| bytes(allocated.saturating_add(peaked)));
    vec![reading]
}

/// torchtune's metrics, in GiB without a unit (torchtune/training/memory.py `get_memory_stats`): those of the last step.
pub(super) fn torchtune(lines: &[Line]) -> Vec<Reading> {
    const GIB: u32 = 30;
    let Some(line) = lines.iter().rev().find(|line| line.text.contains("peak_memory_alloc:")) else {
        return Vec::new();
    };
    let of = |name: &str| {
        let digits = line.text.split_once(name)?.1.split_whitespace().next()?;
        // More digits than any memory has bytes.
        scaled(digits.get(..digits.len().min(12))?, GIB).map(|amount| amount.bytes)
    };
    let mut reading = Reading::new(Format::Monitor, line.number, &line.text);
    reading.peak_allocated_bytes = of("peak_memory_alloc:");
    reading.peak_reserved_bytes = of("peak_memory_reserved:");
    if reading.peak_allocated_bytes.is_some() { vec![reading] } else { Vec::new() }
}

/// `-153MB`, or bytes without a unit.
fn signed(text: &str) -> Option<i64> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = text.get(..digits)?.trim_end_matches('.');
    let amount = leading(text).map(|(amount, _)| amount).or_else(|| scaled(number, 0))?;
    let bytes = i64::try_from(amount.bytes).ok()?;
    Some(if negative { -bytes } else { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_the_unit_that_was_asked_for() {
        let bytes = |word: &str, unit| column(word, unit).map(|amount| amount.bytes);
        assert_eq!(bytes("125Gi", None), Some(125 << 30));
        assert_eq!(bytes("131072000", None), Some(131_072_000 << 10));
        assert_eq!(bytes("128000", asked("$ free -m")), Some(128_000 << 20));
        assert_eq!(bytes("128000", None), None, "MiB as likely as KiB");
    }

    #[test]
    fn what_a_stage_gave_back_is_taken_off() {
        assert_eq!(signed("-153MB"), Some(-153 << 20));
        assert_eq!(signed("3914000000}"), Some(3_914_000_000));
    }
}
