//! "How accurate is this?" in English.

use crate::accuracy::AccuracyTexts;

pub(super) const TEXTS: AccuracyTexts = AccuracyTexts {
    not_fetched: "The measured steps could not be fetched. Check the connection, then open this again.",
    intro: "Real training steps nearest to this plan: those of the same settings first, then of a similar model and number of tokens.",
    column_step: "Measured step",
    column_measured: "Measured",
    column_estimated: "Estimated",
    column_error: "Error",
    batch: |batch, tokens| format!("{batch} × {tokens} tokens"),
    gpus: |count| format!("{count} GPUs"),
    on_gpu: |gpu| format!("Measured on a {gpu}"),
    by_allocator: "Counted by PyTorch's own allocator",
    same_settings: "same settings as this plan",
    differs: |fields| format!("differs in: {fields}"),
    comma: ", ",
    error: |share| format!("{:+.2} %", share * 100.0),
    carried: |low, high| {
        if low == high {
            format!("If this plan's estimate is off as the required memory of these steps is, it needs {low}.")
        } else {
            format!(
                "If this plan's estimate is off as the required memory of these steps is, it needs {low} to {high}."
            )
        }
    },
    band: |low, high, covered, of| {
        format!(
            "The verdict allows for {low} to {high}. A band made in the same way held the measured figure in {covered} of the {of} steps whose smallest possible GPU was searched for."
        )
    },
};
