//! Method, precision, optimizer; batch and length; memory savers.

use headroom_core::plan::{AttnImplementation, Dtype, Method, MixedPrecision, Optimizer, Task};
use headroom_core::units::count_text;
use leptos::ev::Event;
use leptos::prelude::*;

use super::choice_field::{ButtonsField, ChoiceField, Select};
use super::field::{FieldWords, sentence};
use super::lora::LoraFields;
use super::number_field::NumberField;
use super::quantization::QuantizationFields;
use super::rows::{Input, Row, Rows, row_where};
use super::switch_field::SwitchField;
use crate::state::State;
use crate::text::{NO_CHOICE, texts};

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

/// What is trained, and in which numbers.
#[component]
pub(super) fn MethodSection() -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let trains = Memo::new(move |_| plan.read().task != Task::Inference);
    let adapts = Memo::new(move |_| trains.get() && plan.read().method != Method::Full);
    let quantizes = Memo::new(move |_| plan.read().method == Method::Qlora);
    view! {
        <ButtonsField
            name="method"
            words=|t| &t.fields.method
            value_words=|t, name| Method::from_name(name).map_or(NO_CHOICE, t.method)
        />
        <Show when=move || adapts.get()><LoraFields/></Show>
        <Show when=move || quantizes.get()><QuantizationFields/></Show>
        <PrecisionField/>
        <Show when=move || trains.get()>
            <ChoiceField
                name="optim"
                words=|t| &t.fields.optim
                value_words=|t, name| Optimizer::from_name(name).map_or(NO_CHOICE, t.optimizer)
            />
        </Show>
    }
}

/// The dtype of the weights and autocast as one choice: readers think of them together.
#[component]
fn PrecisionField() -> impl IntoView {
    const NAME: &str = "torch_dtype";
    /// The usual pairs first.
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
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let words: FieldWords = |t| &t.fields.precision;
    let weights_error = sentence(state.problem(NAME).into(), false);
    let autocast_error = sentence(state.problem("mixed_precision").into(), false);
    let error = Signal::derive(move || weights_error.get().or_else(|| autocast_error.get()));
    let choose = Callback::new(move |event: Event| {
        let chosen = event_target_value(&event).parse::<usize>().ok().and_then(|index| PAIRS.get(index).copied());
        if let Some((weights, autocast)) = chosen {
            state.choose(&[NAME, "mixed_precision"], |plan| {
                plan.torch_dtype = weights;
                plan.mixed_precision = autocast;
            });
        }
    });
    let options: Vec<_> = PAIRS
        .into_iter()
        .enumerate()
        .map(|(index, (weights, autocast))| {
            let selected = move || {
                let plan = plan.read();
                (plan.torch_dtype, plan.mixed_precision) == (weights, autocast)
            };
            let said = move || {
                let said = (texts.get().precision)(weights, autocast);
                format!("{} · {}", said.label, said.gloss)
            };
            view! { <option value=index prop:selected=selected>{said}</option> }
        })
        .collect();
    view! { <Select name=NAME words also="mixed_precision" error choose>{options}</Select> }
}

/// How much data at once.
#[component]
pub(super) fn BatchSection() -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let trains = Memo::new(move |_| plan.read().task != Task::Inference);
    let given_length = Memo::new(move |_| !plan.read().is_reinforcement());
    let effective = move || {
        let texts = texts.get();
        let plan = plan.read();
        let batches = plan.batches();
        let pairs = matches!(plan.task, Task::Dpo | Task::Reward | Task::Orpo | Task::Cpo);
        let said = if pairs { texts.tasks.effective_pairs } else { texts.effective_batch };
        let batch = plan.per_device_train_batch_size;
        said(batch, batches.forwards_per_step, plan.num_gpus, batches.effective_batch_size)
    };
    let tokens = move || (texts.get().tokens_per_step)(&count_text(plan.read().batches().tokens_per_step));
    let further = move || {
        let texts = texts.get();
        let plan = plan.read();
        let batches = plan.batches();
        let pairs = batches.sequences_per_forward > plan.per_device_train_batch_size;
        let round = batches.round.map(|round| (texts.tasks.round)(&round));
        round.or_else(|| pairs.then(|| (texts.tasks.pairs_note)(batches.sequences_per_forward))).unwrap_or_default()
    };
    view! {
        <NumberField name="per_device_train_batch_size" words=|t| &t.fields.batch stops=BATCHES/>
        <Show when=move || trains.get()>
            <NumberField name="gradient_accumulation_steps" words=|t| &t.fields.accumulation stops=STEPS/>
        </Show>
        <Show when=move || given_length.get()>
            <NumberField name="max_length" words=|t| &t.fields.max_length stops=LENGTHS/>
        </Show>
        <Show when=move || trains.get()>
            <output class="effective" for="field-per_device_train_batch_size field-gradient_accumulation_steps">
                <strong>{effective}</strong>
                " "
                <span>{tokens}</span>
                " "
                <span class="further">{further}</span>
            </output>
        </Show>
    }
}

/// Only where the trainer has it.
const ACTIVATION_OFFLOADING: &[Row] = &[row_where(
    "activation_offloading",
    |t| &t.fields.activation_offloading,
    Input::Switch,
    |plan, _| plan.can_offload_activations() || plan.activation_offloading,
)];

/// What costs time or a package and saves memory.
#[component]
pub(super) fn SaversSection() -> impl IntoView {
    view! {
        <SwitchField name="gradient_checkpointing" words=|t| &t.fields.gradient_checkpointing/>
        <Rows rows=ACTIVATION_OFFLOADING/>
        <SwitchField name="use_liger_kernel" words=|t| &t.fields.use_liger_kernel/>
        <ChoiceField
            name="attn_implementation"
            words=|t| &t.fields.attn_implementation
            value_words=|t, name| AttnImplementation::from_name(name).map_or(NO_CHOICE, t.attention)
        />
    }
}
