//! What Linux and the Trainer print of memory after the fact: `free`, and metrics of `skip_memory_metrics=False`.

use super::super::log::{Line, value_after};
use super::super::quantity::{Amount, leading, number, scaled};
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

/// torchtitan's metrics (torchtitan/components/metrics.py): `memory: 73.32GiB(92.70%)`, the most that was reserved since the line
/// before, and its share of the GPU; and, when it starts, `CUDA capacity: NVIDIA H100 80GB HBM3 with 79.10GiB memory`.
pub(super) fn torchtitan(lines: &[Line]) -> Vec<Reading> {
    let mut most: Option<(Amount, Option<u64>, &Line)> = None;
    for line in lines {
        let Some((amount, total)) = share_of_gpu(&line.text) else { continue };
        if most.is_none_or(|(before, ..)| amount.bytes > before.bytes) {
            most = Some((amount, total, line));
        }
    }
    let Some((amount, total, line)) = most else { return Vec::new() };
    let mut reading = Reading::new(Format::Monitor, line.number, &line.text);
    reading.rank = line.rank;
    reading.peak_reserved_bytes = Some(amount.bytes);
    reading.total_bytes = total;
    let capacity = lines.iter().find_map(|line| {
        let (name, rest) = line.text.split_once("capacity: ")?.1.split_once(" with ")?;
        Some((name.to_owned(), leading(rest)?.0.bytes))
    });
    if let Some((name, total)) = capacity {
        (reading.gpu_name, reading.total_bytes) = (Some(name), Some(total));
    }
    reading.alloc_retries = lines.iter().rev().find_map(|line| {
        let (before, _) = line.text.split_once(" CUDA memory allocation retries")?;
        before.rsplit(' ').next()?.parse().ok()
    });
    vec![reading]
}

/// The amount behind `memory:`, and what the whole is where its share in hundredths of a per cent is large enough to tell.
fn share_of_gpu(text: &str) -> Option<(Amount, Option<u64>)> {
    /// Below 10 % the share's last digit is more than a thousandth of it.
    const TELLING: u64 = 10_00;
    let (amount, rest) = leading(text.split_once("memory:")?.1)?;
    let (share, rest) = number(rest.strip_prefix('(')?)?;
    rest.strip_prefix("%)")?;
    let share = scaled(share, 0).filter(|_| share.len() < 8).and_then(|_| {
        let (whole, fraction) = share.split_once('.').unwrap_or((share, "0"));
        let hundredths: u64 = format!("{fraction:0<2}").get(..2)?.parse().ok()?;
        Some(whole.parse::<u64>().ok()?.saturating_mul(100).saturating_add(hundredths))
    });
    let whole =
        share.filter(|share| *share >= TELLING).map(|share| u128::from(amount.bytes) * 10_000 / u128::from(share));
    Some((amount, whole.and_then(|whole| u64::try_from(whole).ok())))
}

/// axolotl's `GPU memory usage while training: 17.250GB (+3.250GB cache, +0.812GB misc)` (axolotl/utils/bench.py): allocated, what
/// PyTorch has reserved beyond it, and what the GPU has in use beyond that. The last of its kind counts, one while training before
/// those that come earlier in the run.
pub(super) fn axolotl(lines: &[Line]) -> Vec<Reading> {
    let is_usage = |line: &&Line| line.text.contains("memory usage ") && line.text.contains("GB (+");
    let last = |is_wanted: fn(&Line) -> bool| lines.iter().rev().filter(is_usage).find(|line| is_wanted(line));
    let Some(line) = last(|line| line.text.contains("while training")).or_else(|| last(|_| true)) else {
        return Vec::new();
    };
    let text = line.text.as_str();
    let Some((before, extras)) = text.split_once(" (+") else { return Vec::new() };
    let Some(allocated) = before.rsplit(' ').next().and_then(|amount| leading(amount)) else { return Vec::new() };
    let allocated = allocated.0;
    let extra = |name: &str| {
        let own = extras.trim_end_matches(')').split(", ").find(|extra| extra.ends_with(name))?;
        leading(own.trim_start_matches('+')).map(|(amount, _)| amount.bytes)
    };
    let (cache, rest) = (extra("cache"), extra("misc"));
    let mut reading = Reading::new(Format::Monitor, line.number, text);
    reading.rank = value_after(text, "[RANK:").or(line.rank);
    reading.allocated = Some(allocated);
    reading.reserved_bytes = Some(allocated.bytes.saturating_add(cache.unwrap_or(0)));
    reading.used_bytes = reading.reserved_bytes.zip(rest).map(|(reserved, rest)| reserved.saturating_add(rest));
    vec![reading]
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
