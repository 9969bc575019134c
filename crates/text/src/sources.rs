//! Words for models that the catalogue does not have: loaded from Hugging Face, or recorded by the reader.

/// All of them.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct SourceTexts {
    // Hugging Face.
    pub hub_id: &'static str,
    pub hub_load: &'static str,
    /// What pressing it sends, and to whom.
    pub hub_help: &'static str,
    pub hub_invalid: &'static str,
    /// Of an id that is being fetched.
    pub hub_loading: fn(&str) -> String,
    pub hub_gated: fn(&str) -> String,
    pub hub_missing: fn(&str) -> String,
    pub hub_offline: &'static str,
    /// Of an id and a status of HTTP.
    pub hub_failed: fn(&str, &str) -> String,
    /// Of a number of parameters.
    pub hub_same: fn(&str) -> String,
    /// Of the number there, and the one read here.
    pub hub_differs: fn(&str, &str) -> String,
    pub hub_no_total: &'static str,

    // A recorded program of one's own.
    /// Of a class.
    pub record_title: fn(&str) -> String,
    pub record_how: &'static str,
    pub record_own: &'static str,
    pub record_take: &'static str,
    pub record_text: &'static str,
    pub record_use: &'static str,
    pub record_empty: &'static str,
    /// A recorded program in the place of a config, where no model waits for one.
    pub record_unwanted: &'static str,
    /// Of a place in the file, and what is wrong there, in English.
    pub record_wrong: fn(&str, &str) -> String,
    /// Of the class of the file, and the one that is wanted.
    pub record_other: fn(&str, &str) -> String,
}
