//! What a field could do to memory, beside it: what "every change by itself" knows of the plan as it is.

use headroom_core::advise::difference::changed;
use headroom_core::advise::{Impact, Lever};
use headroom_core::plan::Plan;
use headroom_view::{Element, el};

use super::field::{id_of, set_with};
use crate::advice::levers::saved_text;
use crate::page::Page;
use crate::state::text_of;
use crate::why;

/// The field that a lever is pulled by; `None` for those that no single field of the form is.
const fn field_of(lever: Lever) -> Option<&'static str> {
    Some(match lever {
        Lever::ExpandableSegments => "expandable_segments",
        Lever::Sdpa => "attn_implementation",
        Lever::FusedOptimizer | Lever::EightBitOptimizer | Lever::PagedOptimizer | Lever::Adafactor => "optim",
        Lever::Liger | Lever::LigerLayers => "use_liger_kernel",
        Lever::ChunkedLoss => "loss_type",
        Lever::GradCache(_) => "embedding.loss",
        Lever::OffloadActivations | Lever::KeepActivations => "activation_offloading",
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
        Lever::Vllm => "rollout.engine",
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
        Lever::Gpu(_)
        | Lever::SharedInstances
        | Lever::OffloadedInstances
        | Lever::ResidentInstances
        | Lever::QuantizedInstances => return None,
    })
}

/// Less than this is the optimizer's counters, not an effect: bytes.
const LEAST_BYTES: u64 = 1 << 20;

/// Most letters of a value that stand beside its effect.
const LONGEST_VALUE: usize = 20;

/// The effect of the field called `name` on what the plan needs; empty where it is not known, or none. One that surprises can be
/// asked about.
pub(super) fn beside(page: &Page, name: &'static str) -> Element {
    let impacts = impacts(page, name);
    let said = said(page, name, &impacts).unwrap_or_default();
    let effect = el("span").class("effect").flag("hidden", page.state.embedded.is_some()).text(&said);
    match surprise(page, &impacts) {
        Some((impact, asked)) => effect.text(" ").with(question(page, name, impact, &asked)),
        None => effect,
    }
}

/// What is behind an effect that surprises, below the field, once it was asked for.
pub(super) fn explained(page: &Page, name: &'static str) -> Option<Element> {
    let (impact, asked) = surprise(page, &impacts(page, name))?;
    let shows = page.state.embedded.is_none() && page.state.is_open(&in_form(&asked));
    shows.then(|| why::answer(page, [page.plan(), &impact.plan]).attr("id", &answer_id(name)))
}

/// What an answer in the form is called among what can be opened: the same question may be open elsewhere.
fn in_form(asked: &str) -> String {
    ["form-", asked].concat()
}

fn answer_id(name: &str) -> String {
    [&id_of(name), "-why"].concat()
}

fn question(page: &Page, name: &str, impact: &Impact, asked: &str) -> Element {
    let open = in_form(asked);
    let is_open = page.state.is_open(&open);
    let lever = (page.texts.advice.lever)(impact.lever);
    el("button")
        .attr("type", "button")
        .class("word")
        .attr("data-do", &["explain ", &open].concat())
        .aria("aria-expanded", is_open)
        .maybe("aria-controls", is_open.then(|| answer_id(name)).as_deref())
        .attr("aria-label", &why::question(page, &lever, impact.saved_bytes))
        .text(headroom_text::why(page.state.language).ask)
}

/// The first of these that does not do what it is known for, and what the question is called.
fn surprise<'a>(page: &Page, impacts: &[&'a Impact]) -> Option<(&'a Impact, String)> {
    impacts.iter().find_map(|impact| why::name_of(page, impact).map(|name| (*impact, name)))
}

/// What is known of the levers that the field called `name` is pulled by, the largest saving first.
fn impacts<'a>(page: &Page<'a>, name: &'static str) -> Vec<&'a Impact> {
    let plan = page.state.plan();
    let of_field = |impact: &&Impact| field_of(impact.lever) == Some(name) && is_of_alone(name, plan, &impact.plan);
    page.found.levers.changes_to(plan).iter().filter(of_field).collect()
}

fn said(page: &Page, name: &'static str, impacts: &[&Impact]) -> Option<String> {
    let words = &page.texts.form;
    let impacts: Vec<_> = impacts.iter().filter(|impact| impact.saved_bytes.unsigned_abs() >= LEAST_BYTES).collect();
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
        "embedding.loss" => other == "embedding.mini_batch_size",
        _ => set_with(name).contains(&other),
    };
    changed(plan, after).iter().all(|changed| changed.field == name || goes_with(changed.field))
}
