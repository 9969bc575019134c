//! Settings that would explain why a run takes more, or less, than its plan: each is tried.

use headroom_core::job::Job;
use headroom_core::memory::{Category, outline};
use headroom_core::plan::{Plan, field};

/// A setting and what the plan comes to with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// What was changed.
    pub change: Change,
    /// Peak of allocated memory with it, bytes.
    pub bytes: u64,
}

/// A change of a plan that explains a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Fields and their values, as links write them.
    Fields(Vec<(&'static str, String)>),
    /// The weights are there twice.
    SecondModel,
    /// Sequences have another length: the batch is padded to its longest, or to another limit.
    Length {
        /// Tokens.
        tokens: u64,
    },
}

/// Each of these by itself.
const CHANGES: &[&[(&str, &str)]] = &[
    &[("loss_implementation", "full_logits")],
    &[("loss_implementation", "chunked_nll")],
    &[("loss_implementation", "fused_lm_head")],
    &[("use_liger_kernel", "true")],
    &[("use_liger_kernel", "false")],
    &[("logits_to_fp32", "true")],
    &[("keep_outputs", "true")],
    &[("attn_implementation", "eager")],
    &[("attn_implementation", "sdpa")],
    &[("attention_kernel", "math")],
    &[("padded_batch", "true")],
    &[("gradient_checkpointing", "false")],
    &[("gradient_checkpointing", "true")],
    &[("torch_dtype", "float32")],
    &[("torch_dtype", "float32"), ("mixed_precision", "bf16")],
    &[("torch_dtype", "bfloat16"), ("mixed_precision", "no")],
    &[("optim", "adamw_torch")],
    &[("optim", "adamw_torch_fused")],
    &[("optim", "adamw_bnb_8bit")],
    &[("optim", "paged_adamw_8bit")],
    &[("method", "full")],
    &[("lora.adapter_dtype", "float32")],
    &[("quantization.prepare_for_kbit_training", "false")],
    &[("packing", "true")],
];

/// Most changes that are named.
const MOST: usize = 6;

/// What changes bring the plan to `measured` bytes, the nearest first: those that close at least half of the difference.
/// `at_least`: the run needs that much or more.
pub(super) fn explanations(job: &Job, estimated: u64, measured: u64, at_least: bool) -> Vec<Tried> {
    let mut tried: Vec<Tried> = CHANGES.iter().filter_map(|change| with_fields(job, change)).collect();
    let estimate = outline(job);
    let weights = estimate.peak_phase().and_then(|used| {
        used.by_category.iter().find(|(category, _)| *category == Category::Weights).map(|(_, bytes)| *bytes)
    });
    if let Some(weights) = weights {
        tried.push(Tried { change: Change::SecondModel, bytes: estimated.saturating_add(weights) });
    }
    tried.extend(length(job, measured));
    let off = |bytes: u64| if at_least { measured.saturating_sub(bytes) } else { bytes.abs_diff(measured) };
    let before = off(estimated);
    tried.retain(|one| off(one.bytes) <= before / 2);
    tried.sort_by_key(|one| one.bytes.abs_diff(measured));
    tried.dedup_by_key(|one| one.bytes);
    tried.truncate(MOST);
    tried
}

fn with_fields(job: &Job, change: &[(&'static str, &str)]) -> Option<Tried> {
    let mut plan = job.plan().clone();
    for (name, value) in change {
        field(name)?.set_text(&mut plan, value).ok()?;
    }
    if plan == *job.plan() {
        return None;
    }
    let bytes = peak_of(job, plan)?;
    let fields = change.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Some(Tried { change: Change::Fields(fields), bytes })
}

fn peak_of(job: &Job, plan: Plan) -> Option<u64> {
    Some(outline(&job.with(plan).ok()?).peak.allocated_bytes)
}

/// The length of sequences with which the plan comes nearest to `measured`, within 2 %.
fn length(job: &Job, measured: u64) -> Option<Tried> {
    let with = |tokens: u64| peak_of(job, Plan { max_length: tokens, ..job.plan().clone() });
    let (mut low, mut high) = (16, job.plan().max_length.saturating_mul(4).min(1 << 20));
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if with(middle)? <= measured { low = middle } else { high = middle }
    }
    let bytes = with(low)?;
    let is_near = bytes.abs_diff(measured) <= measured / 50 && low != job.plan().max_length;
    is_near.then_some(Tried { change: Change::Length { tokens: low }, bytes })
}
