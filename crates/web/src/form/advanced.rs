//! What is rarely touched: closed until asked for, or until a link or a problem needs it seen.

use headroom_core::plan::{AdapterDtype, AttentionKernel, Dtype, Framework, Method};
use leptos::prelude::*;

use super::choice_field::{ChoiceField, auto_words};
use super::number_field::NumberField;
use super::switch_field::SwitchField;
use crate::state::State;
use crate::text::{ChoiceText, NO_CHOICE, Texts, text};

/// The fields of this section that say nothing about a framework.
const STEP_FIELDS: &[&str] = &[
    "padded_batch",
    "logits_to_fp32",
    "keep_outputs",
    "expandable_segments",
    "attention_kernel",
    "expand_kv_heads",
    "enable_input_require_grads",
    "max_grad_norm",
];

/// The whole section.
#[component]
pub(super) fn Advanced() -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let adapts = Memo::new(move |_| plan.read().method != Method::Full);
    let framework = Memo::new(move |_| plan.read().distributed.framework);
    let needs_seeing = Memo::new(move |_| {
        let outcome = state.outcome.read();
        let concerns = |field: &str| STEP_FIELDS.contains(&field) || field.starts_with("distributed.");
        outcome.as_ref().is_err_and(|problems| problems.iter().any(|problem| concerns(&problem.field)))
    });
    view! {
        <details class="form-section advanced" prop:open=move || needs_seeing.get().then_some(true)>
            <summary><h3>{text(|t| t.section_advanced)}</h3></summary>
            <Group title=|t| t.advanced_general>
                <SwitchField name="padded_batch" words=|t| &t.fields.padded_batch/>
                <SwitchField name="logits_to_fp32" words=|t| &t.fields.logits_to_fp32/>
                <SwitchField name="keep_outputs" words=|t| &t.fields.keep_outputs/>
                <SwitchField name="expandable_segments" words=|t| &t.fields.expandable_segments/>
                <ChoiceField
                    name="attention_kernel"
                    words=|t| &t.fields.attention_kernel
                    value_words=|t, name| AttentionKernel::from_name(name).map_or(NO_CHOICE, t.kernel)
                />
                <ChoiceField name="expand_kv_heads" words=|t| &t.fields.expand_kv_heads value_words=auto_words/>
                <NumberField name="max_grad_norm" words=|t| &t.fields.max_grad_norm/>
            </Group>
            <Show when=move || adapts.get()>
                <Group title=|t| t.advanced_lora>
                    <ChoiceField
                        name="lora.adapter_dtype"
                        words=|t| &t.fields.adapter_dtype
                        value_words=|t, name| AdapterDtype::from_name(name).map_or(NO_CHOICE, t.adapter_dtype)
                    />
                    <NumberField name="lora.modules_to_save" words=|t| &t.fields.modules_to_save/>
                    <NumberField name="lora.lora_alpha" words=|t| &t.fields.lora_alpha/>
                    <ChoiceField
                        name="enable_input_require_grads"
                        words=|t| &t.fields.enable_input_require_grads
                        value_words=auto_words
                    />
                    <SwitchField name="quantization.fused_4bit_gemm" words=|t| &t.fields.fused_4bit_gemm/>
                </Group>
            </Show>
            {move || match framework.get() {
                Framework::Deepspeed => view! { <DeepspeedFields/> }.into_any(),
                Framework::Fsdp1 | Framework::Fsdp2 => view! { <FsdpFields/> }.into_any(),
                Framework::Ddp => view! { <DdpFields/> }.into_any(),
            }}
        </details>
    }
}

/// Fields under a smaller heading.
#[component]
fn Group(title: fn(&'static Texts) -> &'static str, children: Children) -> impl IntoView {
    view! {
        <h4>{text(title)}</h4>
        <div class="fields">{children()}</div>
    }
}

fn dtype_words(texts: &'static Texts, name: &'static str) -> ChoiceText {
    match Dtype::from_name(name) {
        Some(dtype) => (texts.dtype)(dtype),
        None => ChoiceText { label: texts.as_weights, gloss: "" },
    }
}

#[component]
fn DeepspeedFields() -> impl IntoView {
    view! {
        <h4>"DeepSpeed"</h4>
        <div class="fields">
            <NumberField name="distributed.reduce_bucket_size" words=|t| &t.fields.reduce_bucket_size/>
            <NumberField name="distributed.allgather_bucket_size" words=|t| &t.fields.allgather_bucket_size/>
            <NumberField name="distributed.stage3_prefetch_bucket_size" words=|t| &t.fields.prefetch_bucket_size/>
            <NumberField
                name="distributed.stage3_param_persistence_threshold"
                words=|t| &t.fields.persistence_threshold
            />
            <NumberField name="distributed.stage3_max_live_parameters" words=|t| &t.fields.max_live_parameters/>
            <NumberField name="distributed.sub_group_size" words=|t| &t.fields.sub_group_size/>
            <ChoiceField name="distributed.overlap_comm" words=|t| &t.fields.overlap_comm value_words=auto_words/>
            <SwitchField name="distributed.contiguous_gradients" words=|t| &t.fields.contiguous_gradients/>
            <SwitchField name="distributed.round_robin_gradients" words=|t| &t.fields.round_robin_gradients/>
            <ChoiceField
                name="distributed.grad_accum_dtype"
                words=|t| &t.fields.grad_accum_dtype
                value_words=dtype_words
            />
            <SwitchField name="distributed.pin_memory" words=|t| &t.fields.pin_memory/>
        </div>
    }
}

#[component]
fn FsdpFields() -> impl IntoView {
    view! {
        <h4>"FSDP2"</h4>
        <div class="fields">
            <SwitchField name="distributed.reshard_after_forward" words=|t| &t.fields.reshard_after_forward/>
            <ChoiceField name="distributed.param_dtype" words=|t| &t.fields.param_dtype value_words=dtype_words/>
            <ChoiceField name="distributed.reduce_dtype" words=|t| &t.fields.reduce_dtype value_words=dtype_words/>
            <SwitchField
                name="distributed.wrap"
                words=|t| &t.fields.wrap_embedding
                on="layer+embed+root"
                off="layer+root"
            />
            <SwitchField name="distributed.pin_memory" words=|t| &t.fields.pin_memory/>
        </div>
    }
}

#[component]
fn DdpFields() -> impl IntoView {
    view! {
        <h4>"DDP"</h4>
        <div class="fields">
            <NumberField name="distributed.bucket_cap_mb" words=|t| &t.fields.bucket_cap_mb/>
            <SwitchField
                name="distributed.gradient_as_bucket_view"
                words=|t| &t.fields.gradient_as_bucket_view
            />
            <SwitchField name="distributed.static_graph" words=|t| &t.fields.static_graph/>
        </div>
    }
}
