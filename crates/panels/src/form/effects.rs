//! What a field could do to memory, beside it: what "every change by itself" knows of the plan as it is.

use headroom_core::advise::difference::changed;
use headroom_core::advise::{Impact, Lever};
use headroom_core::plan::Plan;
use headroom_view::{Element, el};

use super::field::set_with;
use crate::advice::levers::saved_text;
use crate::page::Page;
use crate::state::text_of;

/// The field that a lever is pulled by; `None` for those that no single field of the form is.
const fn field_of(lever: Lever) -> Option<&'static str> {
    Some(match lever {
        Lever::ExpandableSegments => "expandable_segments",
        Lever::Sdpa => "attn_implementation",
        Lever::FusedOptimizer | Lever::EightBitOptimizer | Lever::PagedOptimizer | Lever::Adafactor => "optim",
        Lever::Liger | Lever::LigerLayers => "use_liger_kernel",
        Lever::ChunkedLoss => "loss_type",
        Lever::OffloadActivations => "activation_offloading",
        Lever::PaddingFree | Lever::Padded => "padding_free",
        Lever::Checkpointing | Lever::NoCheckpointing => "gradient_checkpointing",
        Lever::MicroBatch(_) => "per_device_train_batch_size",
        Lever::Sharding { offload_optimizer: false, .. } => "zero_stage",
        Lever::Sharding { offload_param: false, .. } => "offload_optimizer",
        Lever::Sharding { .. } => "offload_param",
        Lever::SmallBuckets => "distributed.reduce_bucket_size",
        Lever::NewerTrainer => "trainer.version",
        Lever::DropOutputs => "keep_outputs",
        Lever::HalfPrecisionBase | Lever::PureBfloat16 => "torch_dtype",
        Lever::AdapterReference | Lever::PrecomputedReference => "reference.kind",
        Lever::Lora | Lever::Qlora => "method",
        Lever::NarrowAdapters => "lora.adapter_dtype",
        Lever::Rank(_) => "lora.r",
        Lever::AttentionAdapters => "lora.target_modules",
        Lever::Length(_) => "max_length",
        Lever::Generations(_) => "rollout.num_generations",
        Lever::CompletionLength(_) => "rollout.max_completion_length",
        Lever::Model(_) => "model",
        Lever::Gpus(_) => "num_gpus",
        // Another GPU needs the same; the models beside the policy have rows of their own.
        Lever::Gpu(_) | Lever::SharedInstances | Lever::OffloadedInstances | Lever::QuantizedInstances => return None,
    })
}

/// Less than this is the optimizer's counters, not an effect: bytes.
const LEAST_BYTES: u64 = 1 << 20;

/// Most letters of a value that stand beside its effect.
const LONGEST_VALUE: usize = 20;

/// The effect of the field called `name` on what the plan needs; empty where it is not known, or none.
pub(super) fn beside(page: &Page, name: &'static str) -> Element {
    let said = said(page, name).unwrap_or_default();
    el("span").class("effect").flag("hidden", page.state.embedded.is_some()).text(&said)
}

fn said(page: &Page, name: &'static str) -> Option<String> {
    let (plan, words) = (page.plan(), &page.texts.form);
    let impacts = page.found.levers.changes_to(plan).iter();
    let of_field = |impact: &&Impact| {
        field_of(impact.lever) == Some(name)
            && impact.saved_bytes.unsigned_abs() >= LEAST_BYTES
            && is_of_alone(name, plan, &impact.plan)
    };
    // The largest saving first.
    let impacts: Vec<&Impact> = impacts.filter(of_field).collect();
    let (most, least) = (impacts.first()?, impacts.last()?);
    let size = saved_text(most.saved_bytes);
    let value = text_of(&most.plan, name);
    // Without the name of who published it.
    let value = match name {
        "method" => (page.texts.method)(most.plan.method).label,
        _ => value.rsplit('/').next().unwrap_or_default(),
    };
    Some(match value {
        "true" | "cpu" => (words.effect_if_on)(&size),
        "false" | "none" => (words.effect_if_off)(&size),
        _ if value.starts_with(|letter: char| letter.is_ascii_digit()) => (words.effect_at)(&size, value),
        _ if impacts.len() > 1 => (words.effect_between)(&saved_text(least.saved_bytes), &size),
        // Names of many modules would push the label away.
        _ if value.len() > LONGEST_VALUE => size,
        _ => (words.effect_with)(&size, value),
    })
}

/// Whether `after` is `plan` with another value of the field called `name` and what goes with it: what else a lever changes
/// would be no effect of the field.
fn is_of_alone(name: &'static str, plan: &Plan, after: &Plan) -> bool {
    let goes_with = |other: &str| match name {
        // Its defaults.
        "method" | "trainer.version" => true,
        // The effective batch stays.
        "per_device_train_batch_size" => other == "gradient_accumulation_steps",
        _ => set_with(name).contains(&other),
    };
    changed(plan, after).iter().all(|changed| changed.field == name || goes_with(changed.field))
}
