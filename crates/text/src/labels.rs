//! What stands around one input, or names one choice.

/// What stands around one input.
pub struct FieldText {
    /// The human name.
    pub label: &'static str,
    /// Unit, or empty.
    pub unit: &'static str,
    /// One sentence of help.
    pub help: &'static str,
}

/// A choice of an enum: its name and, where it needs one, a short gloss.
#[derive(Clone, Copy)]
pub struct ChoiceText {
    /// The name.
    pub label: &'static str,
    /// What it means, in a few words; or empty.
    pub gloss: &'static str,
}

/// For a name that is none of an enum's; the form offers only the enum's own.
pub const NO_CHOICE: ChoiceText = choice("", "");

/// Short-hand for [`ChoiceText`] in the languages' matches.
pub(crate) const fn choice(label: &'static str, gloss: &'static str) -> ChoiceText {
    ChoiceText { label, gloss }
}

/// Short-hand for [`FieldText`] in the languages' tables.
pub(crate) const fn field(label: &'static str, unit: &'static str, help: &'static str) -> FieldText {
    FieldText { label, unit, help }
}
