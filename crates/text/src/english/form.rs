//! Groups, resets and effects in English.

use crate::form::FormTexts;

pub(super) const TEXTS: FormTexts = FormTexts {
    skip_to_form: "Skip to the plan",
    changed: |count| format!("{count} changed"),
    more: |count| format!("+{count} more"),
    reset: |label, value| format!("Reset {label} to {value}"),
    left_open: "the trainer's choice",
    effect_if_on: |size| format!("{size} if on"),
    effect_if_off: |size| format!("{size} if off"),
    effect_at: |size, value| format!("{size} at {value}"),
    effect_with: |size, value| format!("{size} with {value}"),
    effect_between: |least, most| format!("{least} to {most}"),
    steps: "Parts of the plan",
    step: ["Model", "GPU", "Batch", "More"],
    next_step: |step| format!("Next: {step}"),
    step_to_fix: |step| format!("{step}, something to fix"),
    symbols: ["layers", "hidden size", "vocabulary", "attention heads", "key/value heads", "head size"],
};
