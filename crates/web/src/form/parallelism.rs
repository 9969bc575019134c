//! Sharding over GPUs, and offload to the host.

use headroom_core::plan::{Framework, Offload};
use leptos::prelude::*;

use super::choice_field::{ButtonsField, ChoiceField};
use super::switch_field::SwitchField;
use crate::state::State;
use crate::text::NO_CHOICE;

/// Framework, stage, offload. Each framework is asked only for what it has; what it has not is shown only while the plan
/// still says it, so that it can be fixed.
#[component]
pub(super) fn ParallelSection() -> impl IntoView {
    let plan = State::of_page().plan();
    let stages = Memo::new(move |_| {
        let plan = plan.read();
        match plan.distributed.framework {
            Framework::Deepspeed => true,
            Framework::Fsdp1 | Framework::Fsdp2 => matches!(plan.zero_stage, 1 | 2),
            Framework::Ddp => plan.zero_stage > 0,
        }
    });
    let offloads = Memo::new(move |_| {
        let plan = plan.read();
        let says = [plan.offload_optimizer, plan.offload_param].contains(&Offload::Cpu);
        says || plan.distributed.framework == Framework::Deepspeed
    });
    let fsdp = Memo::new(move |_| plan.read().distributed.framework.is_fsdp());
    view! {
        <ChoiceField
            name="distributed.framework"
            words=|t| &t.fields.framework
            value_words=|t, name| Framework::from_name(name).map_or(NO_CHOICE, t.framework)
        />
        <Show when=move || stages.get()>
            <ButtonsField
                name="zero_stage"
                words=|t| &t.fields.zero_stage
                value_words=|t, name| {
                    name.parse().ok().and_then(|stage: usize| t.zero_stages.get(stage).copied()).unwrap_or(NO_CHOICE)
                }
                values=&["0", "1", "2", "3"]
            />
        </Show>
        <Show when=move || offloads.get()>
            <SwitchField name="offload_optimizer" words=|t| &t.fields.offload_optimizer on="cpu" off="none"/>
            <SwitchField name="offload_param" words=|t| &t.fields.offload_param on="cpu" off="none"/>
        </Show>
        <Show when=move || fsdp.get()>
            <SwitchField name="distributed.cpu_offload" words=|t| &t.fields.cpu_offload/>
        </Show>
    }
}
