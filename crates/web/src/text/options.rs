//! What the texts of the planning tools are: tiers, solutions, the fit map, two plans side by side, the start-up summary.

use headroom_core::advise::solve::Question;
use headroom_core::advise::summary::{Check, SummaryItem};
use headroom_core::memory::Fit;

/// Of the tiers.
pub(crate) struct TierTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) one_card: &'static str,
    /// Of adapters in fp32 beside DeepSpeed's.
    pub(crate) wide_adapters: &'static str,
    /// Above the names of the shardings.
    pub(crate) sharding: &'static str,
    pub(crate) on_card: &'static str,
    pub(crate) in_host: &'static str,
    pub(crate) time: &'static str,
    pub(crate) quickest: &'static str,
    pub(crate) slower: &'static str,
    pub(crate) shards_nothing: &'static str,
    pub(crate) host_too_small: &'static str,
    pub(crate) not_offered: &'static str,
    pub(crate) ladder_title: &'static str,
    pub(crate) ladder_intro: &'static str,
    /// Which cards a preset is meant for.
    pub(crate) ladder_card: fn(&str) -> &'static str,
    /// Batch, accumulation, length.
    pub(crate) ladder_setting: fn(u64, u64, u64) -> String,
}

/// Of solving for the most.
pub(crate) struct SolveTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) question: fn(Question) -> &'static str,
    pub(crate) searching: &'static str,
    /// The value that fits.
    pub(crate) fits: fn(&str) -> String,
    /// The value beyond it, with its verdict.
    pub(crate) beyond: fn(&str, Fit) -> String,
    pub(crate) no_beyond: &'static str,
    pub(crate) nothing: &'static str,
    pub(crate) is_current: &'static str,
    pub(crate) largest: &'static str,
    pub(crate) largest_intro: &'static str,
    /// Month of release and parameters.
    pub(crate) released: fn(&str, &str) -> String,
    pub(crate) only_model: &'static str,
}

/// Of the fit map.
pub(crate) struct MapTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) batch: &'static str,
    pub(crate) length: &'static str,
    pub(crate) answer_length: &'static str,
    pub(crate) used: &'static str,
    pub(crate) keys: &'static str,
    /// Batch, length, need, verdict.
    pub(crate) place: fn(&str, &str, &str, &str) -> String,
    /// Length, largest batch that fits there; batch, greatest length that fits there.
    pub(crate) sentence: fn(&str, Option<&str>, &str, Option<&str>) -> String,
    pub(crate) table: &'static str,
    pub(crate) column_length: &'static str,
    pub(crate) column_batch: &'static str,
    pub(crate) none_fits: &'static str,
}

/// Of two plans side by side.
pub(crate) struct PairTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) keep: &'static str,
    pub(crate) paste: &'static str,
    pub(crate) paste_help: &'static str,
    pub(crate) compare: &'static str,
    pub(crate) no_link: &'static str,
    pub(crate) partly: &'static str,
    pub(crate) swap: &'static str,
    pub(crate) kept: &'static str,
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
    pub(crate) same: &'static str,
    pub(crate) change: &'static str,
    pub(crate) differs: &'static str,
    pub(crate) field: &'static str,
    pub(crate) empty: &'static str,
    pub(crate) figures: &'static str,
    pub(crate) figure: &'static str,
    pub(crate) need: &'static str,
    pub(crate) verdict: &'static str,
    pub(crate) effective_batch: &'static str,
    pub(crate) tokens: &'static str,
    pub(crate) time: &'static str,
    pub(crate) by_category: &'static str,
    pub(crate) category: &'static str,
    pub(crate) by_phase: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) estimated: &'static str,
}

/// Of the start-up summary.
pub(crate) struct SummaryTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) figure: &'static str,
    pub(crate) value: &'static str,
    pub(crate) checklist: &'static str,
    pub(crate) copy_text: &'static str,
    pub(crate) copy_markdown: &'static str,
    pub(crate) copied: &'static str,
    pub(crate) item: fn(SummaryItem) -> &'static str,
    pub(crate) check: fn(Check) -> String,
}

/// All of them.
pub(crate) struct OptionTexts {
    pub(crate) tiers: TierTexts,
    pub(crate) solve: SolveTexts,
    pub(crate) map: MapTexts,
    pub(crate) pair: PairTexts,
    pub(crate) summary: SummaryTexts,
}
