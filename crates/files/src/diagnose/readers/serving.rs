//! vLLM and SGLang: how much their cache needs and how much there is.

mod start;

use super::super::log::{Line, Stream};
use super::super::quantity::{Amount, leading, number, scaled};
use super::super::reading::{Format, Reading};

/// Marks without spaces and who writes them.
const MARKS: &[(&str, Format)] = &[
    ("Noavailablememoryforthecacheblocks", Format::Vllm),
    ("KVcacheisneeded,whichislargerthantheavailableKVcachememory", Format::Vllm),
    ("islargerthanthemaximumnumberoftokensthatcanbestoredinKVcache", Format::Vllm),
    ("islessthandesiredGPUmemoryutilization", Format::Vllm),
    ("Errorinmemoryprofiling", Format::Vllm),
    ("AvailableKVcachememory:", Format::VllmLog),
    ("thecurrentvLLMinstancecanuse", Format::VllmLog),
    ("Notenoughmemory.Pleasetrytoincrease--mem-fraction-static", Format::Sglang),
    ("RuntimeError:Notenoughmemory.Pleasetry", Format::Sglang),
];

/// Most messages of one kind that are read.
const MOST: usize = 16;
/// Bytes without spaces before and after a mark that its figures stand in.
const AROUND: usize = 400;

/// What they say, the errors before what they log on their way there.
pub(super) fn messages(lines: &[Line], streams: &[Stream]) -> Vec<Reading> {
    let mut found: Vec<(usize, Reading)> = Vec::new();
    for stream in streams {
        for (kind, (mark, format)) in MARKS.iter().enumerate() {
            for start in stream.all(mark).into_iter().take(MOST) {
                let Some(line) = lines.get(stream.line_at(start)) else { continue };
                if found.iter().any(|(_, other)| other.line == line.number) {
                    continue;
                }
                let mut reading = Reading::new(*format, line.number, &line.text);
                reading.rank = stream.rank;
                let mut from = start.saturating_sub(AROUND);
                while !stream.text.is_char_boundary(from) {
                    from += 1;
                }
                let before = stream.text.get(from..start).unwrap_or("");
                figures(mark, before, stream.window(start + mark.len(), AROUND), &mut reading);
                found.push((kind, reading));
            }
        }
    }
    found.sort_by_key(|(kind, reading)| (*kind, reading.line));
    let mut readings: Vec<Reading> = found.into_iter().map(|(_, reading)| reading).collect();
    merge(&mut readings);
    if let Some((figures, line)) = start::engine(lines, streams) {
        if readings.is_empty() {
            readings.push(Reading::new(Format::VllmLog, line.number, &line.text));
        }
        if let Some(first) = readings.first_mut() {
            first.engine = figures;
            first.free_bytes = first.free_bytes.or(figures.kv_cache_bytes.filter(|_| first.format == Format::VllmLog));
        }
    }
    readings
}

/// What is logged before an error completes it.
fn merge(readings: &mut Vec<Reading>) {
    let Some((first, rest)) = readings.split_first_mut() else { return };
    for other in rest.iter().filter(|other| other.rank == first.rank) {
        first.tried = first.tried.or(other.tried);
        first.total_bytes = first.total_bytes.or(other.total_bytes);
        first.free_bytes = first.free_bytes.or(other.free_bytes);
    }
    readings.truncate(1);
}

fn figures(mark: &str, before: &str, after: &str, reading: &mut Reading) {
    let bytes = |amount: Option<Amount>| amount.map(|amount| amount.bytes);
    let amount = |text: &str| leading(text).map(|(amount, _)| amount);
    if mark.starts_with("KVcacheisneeded") {
        // `(16.00 GiB KV cache is needed, which is larger than the available KV cache memory (5.96 GiB)`
        reading.tried = super::super::quantity::trailing(before);
        reading.free_bytes = bytes(amount(after.trim_start_matches('(')));
    } else if mark.starts_with("islessthandesired") {
        // `Free memory on device (10.5/23.57 GiB) on startup is less than desired GPU memory utilization (0.9, 21.21 GiB)`,
        // in later versions `Free memory on device cuda:0 (10.5/23.57 GiB)`.
        let free = before.rsplit_once("Freememoryondevice").and_then(|(_, figures)| {
            let (device, figures) = figures.split_once('(')?;
            reading.gpu_index = device.rsplit_once(':').and_then(|(_, index)| index.parse().ok());
            let (free, rest) = number(figures)?;
            let (total, _) = leading(rest.strip_prefix('/').or_else(|| rest.split_once('/').map(|(_, rest)| rest))?)?;
            Some((scaled(free, 30).map(|free| free.bytes), total.bytes))
        });
        if let Some((free, total)) = free {
            (reading.free_bytes, reading.total_bytes) = (free, Some(total));
        }
        reading.tried = after.trim_start_matches('(').split_once(',').and_then(|(_, wanted)| amount(wanted));
    } else if mark.starts_with("islargerthanthemaximum") {
        // `The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (51632)`
        let inside = |text: &str| number(text.trim_start_matches('(')).and_then(|(digits, _)| digits.parse().ok());
        reading.engine.request_tokens = before.rsplit_once('(').and_then(|(_, tokens)| inside(tokens));
        reading.engine.kv_cache_tokens = inside(after);
    } else if mark.starts_with("AvailableKVcache") {
        reading.free_bytes = bytes(amount(after));
    } else if mark.starts_with("thecurrentvLLM") {
        reading.total_bytes = after.split_once("total_gpu_memory(").and_then(|(_, rest)| bytes(amount(rest)));
        let rest = after.split_once("reservedforKVCacheis");
        reading.free_bytes = rest.and_then(|(_, rest)| bytes(amount(rest)));
    } else if mark.starts_with("Errorinmemoryprofiling") {
        // `Initial free memory 40842166272, current free memory 41000000000`
        let free = after
            .split_once("Initialfreememory")
            .and_then(|(_, rest)| leading(rest).map(|(amount, _)| amount).or_else(|| scaled(number(rest)?.0, 0)));
        reading.free_bytes = bytes(free);
    }
}
