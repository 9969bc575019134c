//! How the frozen base is held.

use headroom_core::plan::QuantType;
use leptos::prelude::*;

use super::choice_field::{ButtonsField, ChoiceField};
use super::switch_field::SwitchField;
use crate::state::State;
use crate::text::{ChoiceText, NO_CHOICE};

/// Bits, format, double quantisation, peft's preparation.
#[component]
pub(super) fn QuantizationFields() -> impl IntoView {
    let plan = State::of_page().plan();
    let four_bits = Memo::new(move |_| plan.read().quantization.bits == 4);
    view! {
        <div class="subfields">
            <ButtonsField
                name="quantization.bits"
                words=|t| &t.fields.bits
                value_words=|_, name| ChoiceText { label: name, gloss: "" }
            />
            <Show when=move || four_bits.get()>
                <ChoiceField
                    name="quantization.quant_type"
                    words=|t| &t.fields.quant_type
                    value_words=|t, name| QuantType::from_name(name).map_or(NO_CHOICE, t.quant_type)
                />
                <SwitchField name="quantization.double_quant" words=|t| &t.fields.double_quant/>
            </Show>
            <SwitchField
                name="quantization.prepare_for_kbit_training"
                words=|t| &t.fields.prepare_for_kbit_training
            />
        </div>
    }
}
