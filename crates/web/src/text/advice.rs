//! What the texts of advice are.

use headroom_core::advise::{Level, Lever};
use headroom_core::speed::Part;

use super::ChoiceText;

/// All of them. Figures arrive written; of two numbers the first is the plan's, the second the advised one's.
pub(crate) struct AdviceTexts {
    pub(crate) title: &'static str,
    pub(crate) working: &'static str,
    pub(crate) fit_title: &'static str,
    pub(crate) fill_title: &'static str,
    /// Of need and card.
    pub(crate) fit_intro: fn(&str, &str) -> String,
    pub(crate) tight_intro: fn(&str, &str) -> String,
    /// Of share, need and card.
    pub(crate) fill_intro: fn(&str, &str, &str) -> String,
    pub(crate) used_intro: fn(&str, &str, &str) -> String,

    // What was applied.
    /// Number of fields.
    pub(crate) applied: fn(usize) -> String,
    pub(crate) undo: &'static str,
    pub(crate) copy_code: &'static str,
    pub(crate) code_copied: &'static str,

    // Levels.
    pub(crate) level_group: &'static str,
    pub(crate) level: fn(Level) -> ChoiceText,
    pub(crate) level_short: fn(Level) -> &'static str,
    /// Of a level, for a task that trains or one that does not.
    pub(crate) level_warning: fn(Level, bool) -> Option<&'static str>,
    /// Number of changes and time of a token.
    pub(crate) fits_with: fn(usize, &str) -> String,
    pub(crate) no_quicker: &'static str,
    pub(crate) no_quicker_why: &'static str,
    /// The least and the card.
    pub(crate) reaches: fn(&str, &str) -> String,
    pub(crate) no_lever: &'static str,
    pub(crate) short_why: &'static str,
    /// Of the host memory that was counted on.
    pub(crate) host_limit: fn(&str) -> String,

    // Steps.
    pub(crate) lever: fn(Lever) -> String,
    /// For the axis of a picture.
    pub(crate) lever_short: fn(Lever) -> String,
    pub(crate) only_this: &'static str,
    pub(crate) apply_all: fn(usize) -> String,
    /// Time of a token.
    pub(crate) token_takes: fn(&str) -> String,
    pub(crate) effective_batch: fn([u64; 2]) -> String,

    /// Host memory, all processes together.
    pub(crate) host_takes: fn(&str) -> String,

    // Cards that would do.
    pub(crate) nothing_short: fn(&str) -> String,
    pub(crate) no_hardware: &'static str,
    pub(crate) cards: fn(u64, &str) -> String,
    /// A card known by its memory only.
    pub(crate) card_of: fn(&str) -> String,
    /// Whether the training stays as it is on other cards.
    pub(crate) hardware: fn(Level) -> &'static str,

    // Waterfall.
    pub(crate) waterfall_title: &'static str,
    pub(crate) waterfall_why: &'static str,
    pub(crate) waterfall_table: &'static str,
    pub(crate) column_bytes: &'static str,
    pub(crate) column_then_bytes: &'static str,

    // Filling an idle card.
    pub(crate) target_group: &'static str,
    /// Low and high end, per cent.
    pub(crate) target: fn(&str, &str) -> String,
    /// Of the lower range.
    pub(crate) cautious: fn(&str) -> String,
    pub(crate) recommended: &'static str,
    pub(crate) aggressive: &'static str,
    /// Share, need and card.
    pub(crate) share_used: fn(&str, &str, &str) -> String,
    pub(crate) gain: fn(&str) -> String,
    pub(crate) nothing_fills: &'static str,
    pub(crate) back_off_title: &'static str,
    pub(crate) others_title: &'static str,
    /// Of longer sequences.
    pub(crate) longer_only_if: &'static str,

    // Every change by itself.
    pub(crate) levers_title: &'static str,
    pub(crate) levers_intro: &'static str,
    pub(crate) levers_provisional: &'static str,
    pub(crate) column_change: &'static str,
    pub(crate) column_need: &'static str,
    pub(crate) column_then_needs: &'static str,
    pub(crate) column_token_time: &'static str,
    pub(crate) column_sequence_time: &'static str,
    pub(crate) column_result: &'static str,

    // Time of a step.
    pub(crate) time_title: &'static str,
    pub(crate) generation_title: &'static str,
    pub(crate) time_rough: &'static str,
    /// Seconds and tokens a second.
    pub(crate) step_time: fn(&str, &str) -> String,
    pub(crate) parts_title: &'static str,
    pub(crate) column_part: &'static str,
    pub(crate) column_seconds: &'static str,
    pub(crate) column_share: &'static str,
    pub(crate) part: fn(Part) -> &'static str,
}
