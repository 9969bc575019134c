//! Method, precision, optimizer; batch and length; memory savers.

use headroom_core::plan::{AttnImplementation, Dtype, Method, MixedPrecision, Optimizer, Task};
use headroom_core::units::count_text;
use headroom_text::NO_CHOICE;
use headroom_view::{Element, el};

use super::choice::{buttons, choice, select, switch};
use super::field::objection;
use super::number::slid;
use super::{images, lora, quantization, tasks};
use crate::page::Page;
use crate::state::State;

/// Batch sizes that people use.
const BATCHES: &[u64] = &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
/// Accumulation steps that people use.
const STEPS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Four lengths an octave, all multiples of 32.
const LENGTHS: &[u64] = &[
    128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096,
    5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384, 20480, 24576, 28672, 32768, 40960, 49152, 57344, 65536, 81920,
    98304, 114688, 131072,
];

/// Generated lengths that people use.
const NEW_TOKENS: &[u64] = &[16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

/// Which weights are trained.
pub(super) fn method(page: &Page) -> Element {
    buttons(page, "method", |t, name| Method::from_name(name).map_or(NO_CHOICE, t.method))
}

/// The fields that [`method_fields`] may have.
pub(super) const METHOD: &[&str] = &[
    "lora.r",
    "lora.target_modules",
    "lora.lora_dropout",
    "quantization.bits",
    "quantization.quant_type",
    "quantization.double_quant",
    "quantization.prepare_for_kbit_training",
    WEIGHTS,
    "optim",
    "gradient_accumulation_steps",
];

/// What the method leaves to choose, and in which numbers all is held.
pub(super) fn method_fields(page: &Page) -> Vec<Element> {
    let plan = page.plan();
    let trains = plan.task != Task::Inference;
    let mut fields = Vec::new();
    if trains && plan.method != Method::Full {
        fields.push(lora::fields(page));
    }
    if plan.method == Method::Qlora {
        fields.push(quantization::fields(page));
    }
    fields.push(precision(page));
    if trains {
        fields.push(choice(page, "optim", |t, name| Optimizer::from_name(name).map_or(NO_CHOICE, t.optimizer)));
        fields.push(slid(page, "gradient_accumulation_steps", STEPS));
    }
    fields
}

const WEIGHTS: &str = "torch_dtype";
const AUTOCAST: &str = "mixed_precision";
/// Dtypes of the weights with autocast, the usual pairs first.
const PAIRS: [(Dtype, MixedPrecision); 9] = [
    (Dtype::Bfloat16, MixedPrecision::No),
    (Dtype::Float32, MixedPrecision::Bf16),
    (Dtype::Bfloat16, MixedPrecision::Bf16),
    (Dtype::Float16, MixedPrecision::No),
    (Dtype::Float32, MixedPrecision::Fp16),
    (Dtype::Float16, MixedPrecision::Fp16),
    (Dtype::Float32, MixedPrecision::No),
    (Dtype::Bfloat16, MixedPrecision::Fp16),
    (Dtype::Float16, MixedPrecision::Bf16),
];

/// The dtype of the weights and autocast as one choice: readers think of them together.
fn precision(page: &Page) -> Element {
    let plan = page.plan();
    let option = |(index, pair): (usize, &(Dtype, MixedPrecision))| {
        let words = (page.texts.precision)(pair.0, pair.1);
        let is_chosen = (plan.torch_dtype, plan.mixed_precision) == *pair;
        let option = el("option").attr("value", &index.to_string()).flag("selected", is_chosen);
        option.text(&[words.label, " · ", words.gloss].concat())
    };
    let options = PAIRS.iter().enumerate().map(option).collect();
    let error = objection(page, WEIGHTS).or_else(|| objection(page, AUTOCAST));
    select(page, WEIGHTS, error.as_deref(), "pick-pair", options)
}

/// Takes one of the pairs by its index.
pub(super) fn pick_pair(state: &mut State, index: &str) {
    let chosen = index.parse().ok().and_then(|index: usize| PAIRS.get(index).copied());
    if let Some((weights, autocast)) = chosen {
        state.choose(&[WEIGHTS, AUTOCAST], |plan| {
            plan.torch_dtype = weights;
            plan.mixed_precision = autocast;
        });
    }
}

/// How much data at once: the batch, and the lengths that the task has.
pub(super) fn batch_fields(page: &Page) -> Vec<Element> {
    let plan = page.plan();
    let mut fields = vec![slid(page, "per_device_train_batch_size", BATCHES)];
    if plan.is_reinforcement() {
        fields.extend(tasks::lengths(page));
    } else {
        fields.push(slid(page, "max_length", LENGTHS));
    }
    fields.extend(images::fields(page));
    if plan.task == Task::Inference {
        fields.push(slid(page, "rollout.new_tokens", NEW_TOKENS));
    } else {
        fields.push(effective(page));
    }
    fields
}

/// What one optimizer step takes in.
fn effective(page: &Page) -> Element {
    let (plan, texts) = (page.plan(), page.texts);
    let batches = plan.batches();
    let batch = plan.per_device_train_batch_size;
    let pairs = matches!(plan.task, Task::Dpo | Task::Reward | Task::Orpo | Task::Cpo);
    let said = if pairs { texts.tasks().effective_pairs } else { texts.effective_batch };
    let effective = said(batch, batches.forwards_per_step, plan.num_gpus, batches.effective_batch_size);
    let further = match &batches.round {
        Some(round) => (texts.tasks().round)(round),
        None if plan.task == Task::Embedding => {
            (texts.tasks().texts_note)(batches.sequences_per_forward, plan.embedding.texts())
        }
        None if batches.sequences_per_forward > batch => (texts.tasks().pairs_note)(batches.sequences_per_forward),
        None => String::new(),
    };
    el("output")
        .key("effective")
        .class("effective")
        .attr("aria-live", "off")
        .attr("for", "field-per_device_train_batch_size field-gradient_accumulation_steps")
        .with(el("strong").text(&effective))
        .text(" ")
        .with(el("span").text(&(texts.tokens_per_step)(&count_text(batches.tokens_per_step))))
        .text(" ")
        .with(el("span").class("further").text(&further))
}

/// The fields that [`saver_fields`] may have.
pub(super) const SAVERS: &[&str] =
    &["gradient_checkpointing", "activation_offloading", "use_liger_kernel", "attn_implementation"];

/// What costs time or a package and saves memory.
pub(super) fn saver_fields(page: &Page) -> Vec<Element> {
    let plan = page.plan();
    let mut fields = vec![switch(page, "gradient_checkpointing")];
    // Only where the trainer has it.
    if plan.can_offload_activations() || plan.activation_offloading {
        fields.push(switch(page, "activation_offloading"));
    }
    fields.push(switch(page, "use_liger_kernel"));
    fields.push(choice(page, "attn_implementation", |t, name| {
        AttnImplementation::from_name(name).map_or(NO_CHOICE, t.attention)
    }));
    fields
}
