//! What the form says beside its fields' own words.

/// The texts of groups, resets and effects.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct FormTexts {
    pub skip_to_form: &'static str,
    /// How many fields of a group differ from what the trainer gives.
    pub changed: fn(usize) -> String,
    /// How many more differ than are named.
    pub more: fn(usize) -> String,
    /// A field's label, and the value it goes back to.
    pub reset: fn(&str, &str) -> String,
    /// What a field stands at that is left empty.
    pub left_open: &'static str,
    /// What a switch saves or takes, by the way it would be turned.
    pub effect_if_on: fn(&str) -> String,
    pub effect_if_off: fn(&str) -> String,
    /// What one other value saves or takes: the size, the value.
    pub effect_at: fn(&str, &str) -> String,
    /// The same where the value is a name.
    pub effect_with: fn(&str, &str) -> String,
    /// What other values save at least and at most.
    pub effect_between: fn(&str, &str) -> String,
    /// Where screens have room for a part of the form at a time: what its parts are together called, each of them, and what leads to
    /// the next.
    pub steps: &'static str,
    pub step: [&'static str; 4],
    pub next_step: fn(&str) -> String,
    /// Of a part with something to fix.
    pub step_to_fix: fn(&str) -> String,
    /// What formulas call L, h, V, a, k and d.
    pub symbols: [&'static str; 6],
}
