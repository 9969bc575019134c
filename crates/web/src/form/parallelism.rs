//! Sharding over cards, and offload to the host.

use headroom_core::plan::Framework;
use leptos::prelude::*;

use super::choice_field::{ButtonsField, ChoiceField};
use super::switch_field::SwitchField;
use crate::state::State;
use crate::text::NO_CHOICE;

/// Framework, stage, offload. Each framework is asked only for what it has.
#[component]
pub(super) fn ParallelSection() -> impl IntoView {
    let plan = State::of_page().plan();
    let framework = Memo::new(move |_| plan.read().distributed.framework);
    view! {
        <ChoiceField
            name="distributed.framework"
            words=|t| &t.fields.framework
            value_words=|t, name| Framework::from_name(name).map_or(NO_CHOICE, t.framework)
        />
        <ButtonsField
            name="zero_stage"
            words=|t| &t.fields.zero_stage
            value_words=|t, name| name.parse().ok().and_then(|stage: usize| t.zero_stages.get(stage).copied()).unwrap_or(NO_CHOICE)
            values=&["0", "1", "2", "3"]
        />
        <Show when=move || framework.get() != Framework::Ddp>
            <SwitchField name="offload_optimizer" words=|t| &t.fields.offload_optimizer on="cpu" off="none"/>
            <SwitchField name="offload_param" words=|t| &t.fields.offload_param on="cpu" off="none"/>
        </Show>
    }
}
