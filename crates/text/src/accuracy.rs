//! Words of "How accurate is this?".

/// Everything it says besides the names of fields, settings and metrics.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct AccuracyTexts {
    /// Where the file of measured steps did not come.
    pub not_fetched: &'static str,
    pub intro: &'static str,
    pub column_step: &'static str,
    pub column_measured: &'static str,
    pub column_estimated: &'static str,
    pub column_error: &'static str,
    /// Sequences, tokens in each.
    pub batch: fn(u64, &str) -> String,
    pub gpus: fn(u64) -> String,
    /// How it was measured, by the GPU's name.
    pub on_gpu: fn(&str) -> String,
    pub by_allocator: &'static str,
    pub same_settings: &'static str,
    /// Of the names of fields.
    pub differs: fn(&str) -> String,
    pub comma: &'static str,
    /// A signed share of 1.
    pub error: fn(f64) -> String,
    /// What errors of the same size mean for this plan.
    pub carried: fn(&str, &str) -> String,
    /// Both ends of the band, in how many steps it held, of how many.
    pub band: fn(&str, &str, u64, u64) -> String,
}
