//! What the texts of advice are.

use headroom_core::advise::{Level, Lever};
use headroom_core::speed::{Part, Range};

use crate::labels::ChoiceText;

/// All of them. Figures arrive written; of two numbers the first is the plan's, the second the advised one's.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct AdviceTexts {
    /// What sets a plan beside the reader's.
    pub compare: &'static str,
    pub title: &'static str,
    pub working: &'static str,
    pub fit_title: &'static str,
    pub fill_title: &'static str,
    /// Of need and GPU.
    pub fit_intro: fn(&str, &str) -> String,
    pub tight_intro: fn(&str, &str) -> String,
    /// Of share, need and GPU.
    pub fill_intro: fn(&str, &str, &str) -> String,
    pub used_intro: fn(&str, &str, &str) -> String,

    // What was applied.
    /// Number of fields.
    pub applied: fn(usize) -> String,
    pub undo: &'static str,
    pub copy_code: &'static str,
    pub code_copied: &'static str,

    // Levels.
    pub level_group: &'static str,
    pub level: fn(Level) -> ChoiceText,
    pub level_short: fn(Level) -> &'static str,
    /// Of a level, for a task that trains or one that does not.
    pub level_warning: fn(Level, bool) -> Option<&'static str>,
    /// Number of changes and time of a token.
    pub fits_with: fn(usize, Range) -> String,
    /// A milder level suffices and takes no longer.
    pub not_needed: fn(Level) -> String,
    pub vllm_title: &'static str,
    /// What a vLLM beside the trainer would change: time of a step beside the plan's, and memory more or less, as text.
    pub vllm: fn(&str, &str) -> String,
    pub evaluation_title: &'static str,
    /// The step fits and evaluation does not: the largest batch that may fit.
    pub smaller_evaluation: fn(u64) -> String,
    pub frozen_title: &'static str,
    /// The frozen weights load in fp32: what 16 bits save, as text.
    pub frozen_in_float32: fn(&str) -> String,
    /// The least and the GPU.
    pub reaches: fn(&str, &str) -> String,
    pub no_lever: &'static str,
    pub short_why: &'static str,
    /// Of the host memory that was counted on.
    pub host_limit: fn(&str) -> String,

    // Steps.
    pub lever: fn(Lever) -> String,
    /// For the axis of a picture.
    pub lever_short: fn(Lever) -> String,
    pub only_this: &'static str,
    pub apply_all: fn(usize) -> String,
    /// Time of a token.
    pub token_takes: fn(Range) -> String,
    pub effective_batch: fn([u64; 2]) -> String,

    /// Host memory, all processes together.
    pub host_takes: fn(&str) -> String,

    // GPUs that would do.
    pub nothing_short: fn(&str) -> String,
    pub no_hardware: &'static str,
    pub gpus: fn(u64, &str) -> String,
    /// A GPU known by its memory only.
    pub gpu_of: fn(&str) -> String,
    /// Whether the training stays as it is on other GPUs.
    pub hardware: fn(Level) -> &'static str,

    // Waterfall.
    pub waterfall_title: &'static str,
    pub waterfall_why: &'static str,
    pub waterfall_table: &'static str,
    pub column_bytes: &'static str,
    pub column_then_bytes: &'static str,

    // Filling an idle GPU.
    pub target_group: &'static str,
    /// Low and high end, per cent.
    pub target: fn(&str, &str) -> String,
    /// Of the lower range.
    pub cautious: fn(&str) -> String,
    pub recommended: &'static str,
    pub aggressive: &'static str,
    /// Share, need and GPU.
    pub share_used: fn(&str, &str, &str) -> String,
    pub gain: fn(&str) -> String,
    pub nothing_fills: &'static str,
    pub back_off_title: &'static str,
    pub others_title: &'static str,
    /// Of longer sequences.
    pub longer_only_if: &'static str,

    // Every change by itself.
    pub levers_title: &'static str,
    pub levers_intro: &'static str,
    pub levers_provisional: &'static str,
    pub column_change: &'static str,
    pub column_need: &'static str,
    pub column_then_needs: &'static str,
    pub column_token_time: &'static str,
    pub column_sequence_time: &'static str,
    pub column_result: &'static str,

    // Time of a step.
    pub time_title: &'static str,
    pub generation_title: &'static str,
    pub time_rough: &'static str,
    /// Seconds and tokens a second.
    pub step_time: fn(&str, &str) -> String,
    pub parts_title: &'static str,
    pub column_part: &'static str,
    pub column_seconds: &'static str,
    pub column_share: &'static str,
    pub part: fn(Part) -> &'static str,
}

/// What a ratio of times per token means; shares in per cent with their range, none where it has no width.
pub(crate) enum TokenTime {
    /// From twice as long on: a factor, and its range.
    Times(f64, Option<[f64; 2]>),
    /// As long, to a per cent.
    Same(Option<[String; 2]>),
    /// So much longer.
    More(String, Option<[String; 2]>),
    /// So much less.
    Less(String, Option<[String; 2]>),
}

impl From<Range> for TokenTime {
    fn from(Range { low, expected, high }: Range) -> Self {
        let wide = low != high;
        let share = |ratio: f64| ((ratio - 1.0) * 100.0).round();
        let said = |share: f64| match share {
            0.0 => "0".to_owned(),
            share if share < 0.0 => format!("−{}", -share),
            share => format!("{share}"),
        };
        let more = || wide.then(|| [said(share(low)), said(share(high))]);
        match share(expected) {
            _ if expected >= 2.0 => Self::Times(expected, wide.then_some([low, high])),
            0.0 => Self::Same(more()),
            less if less < 0.0 => Self::Less(said(-less), wide.then(|| [said(-share(high)), said(-share(low))])),
            share => Self::More(said(share), more()),
        }
    }
}
