//! What vLLM logs of its memory while it starts (vllm/v1/worker/gpu_worker.py, gpu_model_runner.py and v1/core/kv_cache_utils.py;
//! before 0.9 vllm/worker/worker.py).

use super::super::super::log::{Line, Stream};
use super::super::super::quantity::{leading, number, scaled, trailing};
use super::super::super::reading::EngineFigures;

/// Where a figure stands beside its words.
#[derive(Debug, Clone, Copy)]
enum At {
    /// Right behind them.
    Behind,
    /// Right before them.
    Before,
    /// Behind them and the next one of these, with or without a unit.
    After(&'static str),
}

type Place = fn(&mut EngineFigures) -> &mut Option<u64>;

/// Words without spaces, and which figure stands there.
const FIGURES: &[(&str, At, Place)] = &[
    ("modelweightstake", At::Behind, |engine| &mut engine.weights_bytes),
    ("Loadingmodelweightstook", At::Behind, |engine| &mut engine.weights_bytes),
    ("Modelloadingtook", At::Behind, |engine| &mut engine.weights_bytes),
    ("weightsmemory:", At::Behind, |engine| &mut engine.weights_bytes),
    ("forweight,", At::Before, |engine| &mut engine.weights_bytes),
    ("PyTorchactivationpeakmemorytakes", At::Behind, |engine| &mut engine.activation_bytes),
    ("torchpeakmemoryincrease:", At::Behind, |engine| &mut engine.activation_bytes),
    ("forpeakactivation", At::Before, |engine| &mut engine.activation_bytes),
    ("non_torch_memorytakes", At::Behind, |engine| &mut engine.non_torch_bytes),
    ("non-torchforwardincreasememory:", At::Behind, |engine| &mut engine.non_torch_bytes),
    ("fornon-torchmemory", At::Before, |engine| &mut engine.non_torch_bytes),
    ("Graphcapturingfinishedin", At::After("took"), |engine| &mut engine.graphs_bytes),
    ("forCUDAGraphmemory", At::Before, |engine| &mut engine.graphs_bytes),
    ("thememoryreservedforKVCacheis", At::Behind, |engine| &mut engine.kv_cache_bytes),
    ("AvailableKVcachememory:", At::Behind, |engine| &mut engine.kv_cache_bytes),
    ("Currentkvcachememoryinuseis", At::Behind, |engine| &mut engine.kv_cache_bytes),
    ("Replacegpu_memory_utilizationconfigwith`--kv-cache-memory", At::After("="), |engine| {
        &mut engine.suggested_cache_bytes
    }),
    ("gpu_memory_utilization(", At::After(")="), |engine| &mut engine.share_bytes),
    ("DesiredGPUmemoryutilizationis(", At::After(","), |engine| &mut engine.share_bytes),
    ("GPUKVcachesize:", At::After(""), |engine| &mut engine.kv_cache_tokens),
    ("Maximumconcurrencyfor", At::After(""), |engine| &mut engine.request_tokens),
];

/// Bytes without spaces beside the words that a figure stands in.
const AROUND: usize = 60;

/// What is said last of each, and the first line that says any of it.
pub(super) fn engine<'l>(lines: &'l [Line], streams: &[Stream]) -> Option<(EngineFigures, &'l Line)> {
    let mut engine = EngineFigures::default();
    let mut first: Option<usize> = None;
    for stream in streams {
        for (words, at, place) in FIGURES {
            let Some(start) = stream.all(words).pop() else { continue };
            let Some(figure) = figure(stream, start, words, *at) else { continue };
            // Ranks say the same of themselves.
            place(&mut engine).get_or_insert(figure);
            let line = stream.line_at(start);
            first = Some(first.map_or(line, |before| before.min(line)));
        }
        let concurrency = stream.all("tokensperrequest:").pop();
        engine.concurrency_hundredths = engine.concurrency_hundredths.or_else(|| {
            let digits = number(stream.window(concurrency? + "tokensperrequest:".len(), AROUND))?.0;
            // Two digits behind the point are printed.
            Some(scaled(&digits.replacen('.', "", 1), 0)?.bytes).filter(|_| digits.contains('.'))
        });
    }
    Some((engine, lines.get(first?)?))
}

fn figure(stream: &Stream, start: usize, words: &str, at: At) -> Option<u64> {
    let behind = stream.window(start + words.len(), AROUND);
    let amount = match at {
        At::Behind => leading(behind)?.0,
        At::Before => {
            let mut from = start.saturating_sub(AROUND);
            while !stream.text.is_char_boundary(from) {
                from += 1;
            }
            trailing(stream.text.get(from..start)?)?
        }
        At::After(mark) => {
            let rest = behind.split_once(mark)?.1;
            match leading(rest) {
                Some((amount, _)) if !mark.is_empty() => amount,
                _ => scaled(number(rest)?.0, 0)?,
            }
        }
    };
    Some(amount.bytes)
}
