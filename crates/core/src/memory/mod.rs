//! The estimate: the training step replayed in a ledger of named allocations.
//!
//! [`step`] runs the model's forward code, backward, clipping and the optimizer on tensors that are only sizes
//! ([`autograd`]); every allocation and free goes onto a tape; [`ledger`] reads the tape phase by phase.

mod activations;
mod allocator;
mod autograd;
mod communication;
mod estimate;
mod kv_cache;
mod ledger;
mod logits;
mod optimizer;
mod overhead;
mod period;
mod phase;
mod replay;
mod step;
mod term;
mod weights;

pub use estimate::*;
pub use phase::Phase;
pub use replay::{Limit, Replay, Replayer, replay};
pub use term::{Category, Term};

use crate::gpu::{context_bytes, nccl_bytes};
use crate::model::{self, Reading};
use crate::plan::{Method, Optimizer, Plan, Problem, Subject, Task};
use period::Extent;

/// Replays one step of `plan` and says what it holds, when, and whether it fits.
///
/// # Errors
/// Every problem of a plan that cannot be estimated, each with its field and mend.
pub fn estimate(plan: &Plan) -> Result<Estimate, Vec<Problem>> {
    plan.subject().map(|subject| estimate_subject(plan, &subject))
}

/// The same for a plan whose model and card are already found.
pub fn estimate_subject(plan: &Plan, subject: &Subject) -> Estimate {
    answer(plan, subject, true)
}

/// The same without the list of allocations: what a comparison of many plans needs, in less time.
///
/// # Errors
/// As [`estimate`].
pub fn outline(plan: &Plan) -> Result<Estimate, Vec<Problem>> {
    plan.subject().map(|subject| answer(plan, &subject, false))
}

fn answer(plan: &Plan, subject: &Subject, with_rows: bool) -> Estimate {
    let Subject { model, card, memory_bytes } = subject;
    let step = step::run(plan, model, card, Extent::Representative);
    let ledger = ledger::read(&step.record, model.num_hidden_layers(), with_rows);
    let counts = step.counts;
    let ranks = step.sharding.ranks;
    let context = context_bytes(card);
    let nccl = nccl_bytes(card, if plan.num_gpus > 1 { ranks } else { 1 });
    let required = overhead::required(ledger.peak_bytes);
    let reserved = overhead::reserved(ledger.peak_bytes);
    let beside = context.expected.saturating_add(nccl.expected);
    let band = Band {
        low: required.low.saturating_add(context.low).saturating_add(nccl.low),
        expected: required.expected.saturating_add(beside),
        high: required.high.saturating_add(context.high).saturating_add(nccl.high),
    };
    let peak = Peak {
        phase: ledger.peak_phase,
        allocated_bytes: ledger.peak_bytes,
        required_bytes: required.expected,
        required_bytes_expandable: overhead::required_expandable(ledger.peak_bytes),
        reserved_bytes: reserved,
        device_bytes: reserved.saturating_add(beside),
        context_bytes: beside,
        band,
    };
    let active = model.active_param_count().saturating_add(counts.adapters);
    Estimate {
        param_count: counts.base.saturating_add(counts.adapters),
        active_param_count: active,
        trainable_count: counts.trainable,
        peak,
        phases: ledger.phases,
        allocations: ledger.allocations,
        host: step.sharding.host(plan, counts.trainable, counts.base, step.paged),
        card_bytes: *memory_bytes,
        verdict: verdict(&band, *memory_bytes),
        notes: notes(plan, subject, &step),
    }
}

fn verdict(band: &Band, card: u64) -> Verdict {
    let fit = if band.high <= card {
        Fit::Fits
    } else if band.expected <= card {
        Fit::Tight
    } else {
        Fit::DoesNotFit
    };
    let headroom = i128::from(card) - i128::from(band.expected);
    let headroom_bytes = i64::try_from(headroom).unwrap_or(if headroom < 0 { i64::MIN } else { i64::MAX });
    Verdict { fit, headroom_bytes, used_share: band.expected as f64 / card.max(1) as f64 }
}

/// Families whose steps were compared with PyTorch's allocator.
const MEASURED_FAMILIES: [&str; 24] = [
    "bloom",
    "cohere",
    "deepseek_v3",
    "falcon",
    "gemma",
    "gemma2",
    "gemma3_text",
    "glm4",
    "gpt2",
    "gpt_neox",
    "granite",
    "llama",
    "mistral",
    "mixtral",
    "olmo2",
    "opt",
    "phi",
    "phi3",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "stablelm",
    "starcoder2",
];

fn notes(plan: &Plan, subject: &Subject, step: &step::Step) -> Vec<Note> {
    let mut notes = Vec::new();
    if subject.model.reading == Reading::Generic {
        notes.push(Note::GenericModel { model_type: subject.model.model_type.clone() });
    }
    for model::Note::TextPart { of } in &subject.model.notes {
        notes.push(Note::TextPart { of: of.clone() });
    }
    let model_type = &subject.model.model_type;
    if subject.model.reading == Reading::Known && !MEASURED_FAMILIES.contains(&model_type.as_str()) {
        notes.push(Note::FamilyNotMeasured { model_type: model_type.clone() });
    }
    if plan.attn_implementation.name() == "sdpa" && step::runs_eagerly(&subject.model) {
        notes.push(Note::EagerOnly { model_type: model_type.clone() });
    }
    if plan.zero_stage > 0 && plan.num_gpus == 1 {
        notes.push(Note::ZeroOnOneCard);
    }
    if !subject.card.bf16 && (plan.torch_dtype.name() == "bfloat16" || plan.mixed_precision.name() == "bf16") {
        notes.push(Note::CardLacksBfloat16);
    }
    if plan.attn_implementation.name() == "sdpa" && step.kernel == activations::Kernel::Efficient {
        notes.push(Note::AttentionKernel { kernel: "efficient" });
    }
    if let Some(max) = subject.model.max_position_embeddings.filter(|max| plan.max_length > *max) {
        notes.push(Note::LongerThanPositions { max_position_embeddings: max });
    }
    notes.extend(not_measured(plan).into_iter().map(|what| Note::NotMeasured { what }));
    if plan.method == Method::Qlora && plan.task != Task::Inference {
        notes.push(Note::UnquantizedParts { bytes: step.counts.unquantized_bytes });
    }
    notes
}

/// Options whose allocations were read off the library's code and not compared with a measurement.
fn not_measured(plan: &Plan) -> Vec<&'static str> {
    let mut options = Vec::new();
    if plan.task == Task::Inference {
        return options;
    }
    if plan.use_liger_kernel {
        options.push("use_liger_kernel");
    }
    if plan.method == Method::Qlora && plan.quantization.bits == 8 {
        options.push("quantization.bits = 8");
    }
    match plan.optim {
        Optimizer::GaloreAdamw | Optimizer::ApolloAdamw | Optimizer::Muon | Optimizer::Lion32bit => {
            options.push(plan.optim.name());
        }
        _ => {}
    }
    options
}
