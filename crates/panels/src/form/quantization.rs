//! How the frozen base is held.

use headroom_core::plan::QuantType;
use headroom_text::{ChoiceText, NO_CHOICE};
use headroom_view::{Element, el};

use super::choice::{buttons, choice, switch};
use crate::page::Page;

/// Bits, format, double quantisation, peft's preparation.
pub(super) fn fields(page: &Page) -> Element {
    let mut fields = vec![buttons(page, "quantization.bits", |_, name| ChoiceText { label: name, gloss: "" })];
    if page.plan().quantization.bits == 4 {
        fields.push(choice(page, "quantization.quant_type", |t, name| {
            QuantType::from_name(name).map_or(NO_CHOICE, t.quant_type)
        }));
        fields.push(switch(page, "quantization.double_quant"));
    }
    fields.push(switch(page, "quantization.prepare_for_kbit_training"));
    el("div").key("quantization").class("subfields").with_all(fields)
}
