//! Advice in English.

use headroom_core::advise::{Level, Lever};
use headroom_core::speed::{Part, Range};

use crate::advice::{AdviceTexts, TokenTime};
use crate::labels::{ChoiceText, choice};

pub(super) const TEXTS: AdviceTexts = AdviceTexts {
    compare: "Compare",
    title: "Advice",
    working: "Computing: every change is verified by simulation before it is advised…",
    fit_title: "Make it fit",
    fill_title: "Use the GPU",
    fit_intro: |need, gpu| {
        format!("The plan needs {need} of {gpu}. Each way below is the fastest of its kind for this very plan.")
    },
    tight_intro: |need, gpu| {
        format!(
            "The plan may just fit: it needs about {need} of {gpu}. These changes make sure of it, each way the fastest of its kind."
        )
    },
    fill_intro: |share, need, gpu| format!("{share} % of the GPU is in use, {need} of {gpu}."),
    used_intro: |share, need, gpu| format!("{share} % of the GPU is in use, {need} of {gpu}: nothing to raise."),

    applied: |count| match count {
        1 => "Applied: 1 field changed".to_owned(),
        _ => format!("Applied: {count} fields changed"),
    },
    undo: "Undo",
    copy_code: "Copy code",
    code_copied: "Code copied",

    level_group: "How much may change?",
    level,
    level_short: |level| match level {
        Level::Same => "the same",
        Level::Coarser => "lower precision",
        Level::Different => "different",
    },
    level_warning: |level, trains| match level {
        Level::Same => None,
        Level::Coarser if !trains => {
            Some("This changes how exactly the model computes. Compare its answers before relying on it.")
        }
        Level::Different if !trains => Some("This changes the model or what it reads, and with it its answers."),
        Level::Coarser => Some(
            "Weights, gradients, optimizer state or arithmetic take fewer bits. Losses mostly stay close; compare a short run.",
        ),
        Level::Different => Some(
            "This changes what is trained, and with it the quality of the result. Compare it before relying on it.",
        ),
    },
    fits_with: |changes, time| {
        let noun = if changes == 1 { "change" } else { "changes" };
        format!("fits with {changes} {noun}; {}", token_time(time))
    },
    not_needed: |level| format!("not needed: option {} fits and is as fast", number(level)),
    vllm_title: "Generate with vLLM",
    vllm: |time, memory| {
        format!(
            "The plan generates with transformers. With a vLLM on the same GPUs a step takes {time} of its time; memory {memory}."
        )
    },
    evaluation_title: "First: evaluate fewer sequences at once",
    smaller_evaluation: |batch| {
        format!(
            "Evaluation runs out of memory between steps. With per_device_eval_batch_size={batch} it may fit; training stays the same."
        )
    },
    frozen_title: "First: load the frozen weights in 16 bits",
    frozen_in_float32: |saved| {
        format!(
            "The frozen weights load in float32, because nothing says otherwise. Loading them in 16 bits saves {saved}; the adapters train as before."
        )
    },
    reaches: |least, gpu| format!("not enough: reaches {least} of {gpu}"),
    no_lever: "not enough",
    short_why: "No combination of these changes is enough on this GPU.",
    host_limit: |bytes| {
        format!(
            "Offload was counted on with up to {bytes} of host memory, the most that machines with such GPUs usually have."
        )
    },

    lever,
    lever_short,
    only_this: "Only this",
    apply_all: |changes| match changes {
        1 => "Apply this change".to_owned(),
        _ => format!("Apply all {changes} changes"),
    },
    token_takes: token_time,
    effective_batch: |[before, after]| {
        if before == after {
            format!("the effective batch stays {before}")
        } else {
            format!("the effective batch goes from {before} to {after}")
        }
    },

    host_takes: |bytes| format!("{bytes} of host memory"),

    nothing_short: |gpus| format!("No change is enough on these GPUs: nothing short of {gpus} does."),
    no_hardware: "No change is enough, and no GPU of the catalogue suffices, however many.",
    gpus: |count, name| format!("{count} × {name}"),
    gpu_of: |memory| format!("GPU of {memory}"),
    hardware: |level| match level {
        Level::Same => "with the training as it is",
        Level::Coarser => "with lower precision",
        Level::Different => "with another training: QLoRA, shorter sequences or a smaller model",
    },

    waterfall_title: "What each change saves in turn",
    waterfall_why: "Savings in per cent do not add up: each is a share of what the changes before it left. The bytes do, step by step.",
    waterfall_table: "The savings as a table",
    column_bytes: "Bytes",
    column_then_bytes: "Then needs, bytes",

    target_group: "Share of the GPU to aim at",
    target: |low, high| format!("{low}–{high} %"),
    cautious: |range| format!("{range}, cautious"),
    recommended: "Same training, faster",
    aggressive: "Larger effective batch",
    share_used: |share, need, gpu| format!("{share} % of the GPU: {need} of {gpu}"),
    gain: |gain| format!("Tokens a second: {gain}"),
    nothing_fills: "Nothing is worth raising: no other batch that fits, and no less checkpointing, offload or sharding, makes the run 1.05 times as fast.",
    back_off_title: "If it still runs out of memory, reduce in this order",
    others_title: "Or raise something else by itself; this changes what is trained",
    longer_only_if: "Helps only if the data has longer sequences.",

    levers_title: "Every change by itself",
    levers_intro: "Each change alone on this plan: what it saves or takes, and how long each sequence then takes.",
    levers_provisional: "Provisional, by what other plans needed: each change is being simulated…",
    column_change: "Change",
    column_need: "Memory",
    column_then_needs: "Then needs",
    column_token_time: "Time per token",
    column_sequence_time: "Time per sequence",
    column_result: "Result",

    time_title: "Time of a step",
    generation_title: "Time of a generation",
    time_rough: "Rough: the figure can be off by a factor; trust the ratio of two plans.",
    step_time: |seconds, tokens| format!("About {seconds}, {tokens} tokens a second."),
    parts_title: "Where the time goes",
    column_part: "Part",
    column_seconds: "Time",
    column_share: "Share",
    part: |part| match part {
        Part::Prefill => "Reading the prompts",
        Part::Decoding => "Generating tokens",
        Part::Scoring => "Forwards without gradients",
        Part::ForwardMatmuls => "Matmuls, forward",
        Part::BackwardMatmuls => "Matmuls, backward",
        Part::Recomputation => "Recomputation",
        Part::Attention => "Attention",
        Part::MemoryTraffic => "Norms, activations, casts",
        Part::Loss => "Loss over the vocabulary",
        Part::Dequantization => "Unpacking quantised weights",
        Part::Optimizer => "Clipping and optimizer",
        Part::Communication => "Communication between GPUs",
        Part::Offload => "Transfers between GPU and host",
        Part::HostOptimizer => "Optimizer on the host",
        Part::Launches => "Waiting for kernel launches",
    },
};

/// What a ratio of times per token means, with its range.
fn token_time(time: Range) -> String {
    let times =
        |range: Option<[f64; 2]>| range.map_or_else(String::new, |[low, high]| format!(" ({low:.1} to {high:.1})"));
    let shares =
        |range: Option<[String; 2]>| range.map_or_else(String::new, |[low, high]| format!(" ({low} to {high} %)"));
    match TokenTime::from(time) {
        TokenTime::Times(factor, range) => format!("takes {factor:.1} times as long per token{}", times(range)),
        TokenTime::Same(range) => format!("as fast per token{}", shares(range)),
        TokenTime::More(share, range) => format!("{share} % slower per token{}", shares(range)),
        TokenTime::Less(share, range) => format!("takes {share} % less time per token{}", shares(range)),
    }
}

/// The number that a level has in its label.
fn number(level: Level) -> usize {
    Level::ALL.iter().position(|other| *other == level).map_or(0, |place| place + 1)
}

fn level(level: Level) -> ChoiceText {
    match level {
        Level::Same => choice("1 · The same result", "nothing is held or computed in fewer bits"),
        Level::Coarser => choice("2 · Lower precision", "weights, gradients or optimizer state in fewer bits"),
        Level::Different => choice("3 · Change the training", "adapters, shorter sequences, a smaller model"),
    }
}

fn lever(lever: Lever) -> String {
    let fixed = match lever {
        Lever::ExpandableSegments => "Expandable segments",
        Lever::Sdpa => "Fused attention instead of eager",
        Lever::FusedOptimizer => "Fused optimizer kernel",
        Lever::Liger => "Liger kernels: the loss in chunks",
        Lever::LigerLayers => "Liger kernels: norms and SwiGLU fused",
        Lever::ChunkedLoss => "The loss in chunks of 256 tokens",
        Lever::OffloadActivations => "Activations wait in host memory",
        Lever::KeepActivations => "Activations stay on the GPU",
        Lever::PaddingFree => "Sequences end to end, no padding mask",
        Lever::Padded => "Sequences in rows of their own, no mask between them",
        Lever::Checkpointing => "Gradient checkpointing",
        Lever::NoCheckpointing => "No gradient checkpointing: activations are kept",
        Lever::SmallBuckets => "DeepSpeed buckets as small as the Trainer makes them",
        Lever::NewerTrainer => "The newest version of the trainer",
        Lever::DropOutputs => "Free the outputs before backward",
        Lever::EightBitOptimizer => "Optimizer state in 8 bits",
        Lever::PagedOptimizer => "Optimizer state in 8 bits, paged to the host",
        Lever::Adafactor => "Adafactor: factored second moments",
        Lever::HalfPrecisionBase => "Frozen base in 16 bits",
        Lever::PureBfloat16 => "Weights and optimizer state in bf16, without an fp32 master copy",
        Lever::AdapterReference => "The reference is the policy without its adapter",
        Lever::PrecomputedReference => "Reference log-probabilities computed beforehand",
        Lever::SharedInstances => "Judges share the policy's weights",
        Lever::OffloadedInstances => "Frozen models wait in host memory",
        Lever::ResidentInstances => "Frozen models stay on the GPU",
        Lever::QuantizedInstances => "Frozen models in 4 bits",
        Lever::Vllm => "Generate with vLLM on the same GPUs",
        Lever::Lora => "LoRA adapters instead of all weights",
        Lever::Qlora => "Base weights in 4 bits",
        Lever::NarrowAdapters => "Adapters trained in 16 bits",
        Lever::AttentionAdapters => "Adapters on attention only",
        Lever::GradCache(rows) => return format!("Texts in mini-batches of {rows} (GradCache)"),
        Lever::MicroBatch(batch) => return format!("Micro-batch {batch}, more accumulation"),
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let what = match (zero_stage, offload_optimizer, offload_param) {
                (0, ..) => return "Nothing sharded over the GPUs".to_owned(),
                (1, false, _) => ": optimizer state sharded over the GPUs",
                (2, false, _) => ": optimizer state and gradients sharded over the GPUs",
                (_, false, false) => ": everything sharded over the GPUs",
                (_, true, false) => ", optimizer state in host memory",
                (_, _, true) => ", optimizer state and parameters in host memory",
            };
            return format!("ZeRO-{zero_stage}{what}");
        }
        Lever::Rank(r) => return format!("Adapters of rank {r}"),
        Lever::Length(length) => return format!("Sequences of {length} tokens"),
        Lever::Generations(generations) => return format!("{generations} answers to each prompt"),
        Lever::CompletionLength(tokens) => return format!("Answers of {tokens} tokens at most"),
        Lever::Model(_) => "A smaller model",
        Lever::Gpus(1) => "1 GPU",
        Lever::Gpus(count) => return format!("{count} GPUs"),
        Lever::Gpu(_) => "Another GPU",
    };
    fixed.to_owned()
}

fn lever_short(lever: Lever) -> String {
    let fixed = match lever {
        Lever::ExpandableSegments => "Expandable segments",
        Lever::Sdpa => "SDPA",
        Lever::FusedOptimizer => "Fused optimizer",
        Lever::Liger => "Liger",
        Lever::LigerLayers => "Liger layers",
        Lever::ChunkedLoss => "Chunked loss",
        Lever::OffloadActivations => "Activations on the host",
        Lever::KeepActivations => "Activations on the GPU",
        Lever::PaddingFree => "Padding-free",
        Lever::Padded => "Padded",
        Lever::Checkpointing => "Checkpointing",
        Lever::NoCheckpointing => "No checkpointing",
        Lever::SmallBuckets => "Small buckets",
        Lever::NewerTrainer => "Newer trainer",
        Lever::DropOutputs => "Drop outputs",
        Lever::EightBitOptimizer => "8-bit AdamW",
        Lever::PagedOptimizer => "Paged 8-bit AdamW",
        Lever::Adafactor => "Adafactor",
        Lever::HalfPrecisionBase => "16-bit base",
        Lever::PureBfloat16 => "Pure bf16",
        Lever::AdapterReference => "Adapter-off reference",
        Lever::PrecomputedReference => "Reference beforehand",
        Lever::SharedInstances => "Shared weights",
        Lever::OffloadedInstances => "Models on the host",
        Lever::ResidentInstances => "Models on the GPU",
        Lever::QuantizedInstances => "4-bit frozen models",
        Lever::Vllm => "vLLM",
        Lever::Lora => "LoRA",
        Lever::Qlora => "4-bit base",
        Lever::NarrowAdapters => "16-bit adapters",
        Lever::AttentionAdapters => "Attention only",
        Lever::Model(_) => "Smaller model",
        Lever::Gpu(_) => "Other GPU",
        Lever::GradCache(rows) => return format!("GradCache {rows}"),
        Lever::MicroBatch(batch) => return format!("Batch {batch}"),
        Lever::Sharding { zero_stage: 0, .. } => "Not sharded",
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let offload = if offload_optimizer || offload_param { " + offload" } else { "" };
            return format!("ZeRO-{zero_stage}{offload}");
        }
        Lever::Rank(r) => return format!("Rank {r}"),
        Lever::Length(length) => return format!("Length {length}"),
        Lever::Generations(generations) => return format!("{generations} answers"),
        Lever::CompletionLength(tokens) => return format!("{tokens} new tokens"),
        Lever::Gpus(count) => return format!("{count} GPUs"),
    };
    fixed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_of_times_is_said_in_words() {
        let said = |low, expected, high| token_time(Range { low, expected, high });
        assert_eq!(said(1.12, 1.29, 1.48), "29 % slower per token (12 to 48 %)");
        assert_eq!(said(0.92, 1.03, 1.15), "3 % slower per token (−8 to 15 %)");
        assert_eq!(said(0.81, 0.89, 0.98), "takes 11 % less time per token (2 to 19 %)");
        assert_eq!(said(1.0, 1.0, 1.0), "as fast per token");
        assert_eq!(said(0.95, 0.998, 1.04), "as fast per token (−5 to 4 %)");
        assert_eq!(said(2.0, 2.9, 3.8), "takes 2.9 times as long per token (2.0 to 3.8)");
    }
}
