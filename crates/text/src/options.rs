//! What the texts of the planning tools are: tiers, solutions, the fit map, two plans side by side, the start-up summary.

use headroom_core::advise::solve::Question;
use headroom_core::advise::summary::{Check, SummaryItem};
use headroom_core::memory::Fit;

/// Of the tiers.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct TierTexts {
    pub title: &'static str,
    pub intro: &'static str,
    pub one_gpu: &'static str,
    /// Of adapters in fp32 beside DeepSpeed's.
    pub wide_adapters: &'static str,
    /// Above the names of the shardings.
    pub sharding: &'static str,
    pub on_gpu: &'static str,
    pub in_host: &'static str,
    pub time: &'static str,
    pub quickest: &'static str,
    pub slower: &'static str,
    pub shards_nothing: &'static str,
    pub host_too_small: &'static str,
    pub not_offered: &'static str,
    /// Keeps times beside the plan as it is.
    pub pin: &'static str,
    pub unpin: &'static str,
    /// By the pinned plan's title.
    pub pinned: fn(&str) -> String,
    pub baseline: &'static str,
    /// Of the chart, with all it is saved as.
    pub as_chart: &'static str,
    pub ladder_title: &'static str,
    pub ladder_intro: &'static str,
    /// Which GPUs a preset is meant for.
    pub ladder_gpu: fn(&str) -> &'static str,
    /// Batch, accumulation, length.
    pub ladder_setting: fn(u64, u64, u64) -> String,
}

/// Of solving for the most.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct SolveTexts {
    pub title: &'static str,
    pub intro: &'static str,
    pub question: fn(Question) -> &'static str,
    pub searching: &'static str,
    /// The value that fits.
    pub fits: fn(&str) -> String,
    /// The value beyond it, with its verdict.
    pub beyond: fn(&str, Fit) -> String,
    pub no_beyond: &'static str,
    pub nothing: &'static str,
    pub is_current: &'static str,
    pub largest: &'static str,
    pub largest_intro: &'static str,
    /// How many families more have a model that fits.
    pub largest_more: fn(usize) -> String,
    /// Month of release and parameters.
    pub released: fn(&str, &str) -> String,
    pub only_model: &'static str,
}

/// Of the fit map.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct MapTexts {
    pub title: &'static str,
    pub intro: &'static str,
    pub batch: &'static str,
    pub length: &'static str,
    pub answer_length: &'static str,
    pub used: &'static str,
    pub keys: &'static str,
    /// Batch, length, need, verdict.
    pub place: fn(&str, &str, &str, &str) -> String,
    /// What becomes of the global batch in a cell with another batch: accumulation steps, and whether they are others than the
    /// plan's, so that it stays.
    pub accumulates: fn(u64, bool) -> String,
    pub with_advice: &'static str,
    /// Length, largest batch that fits there; batch, greatest length that fits there.
    pub sentence: fn(&str, Option<&str>, &str, Option<&str>) -> String,
    pub table: &'static str,
    pub column_length: &'static str,
    pub column_batch: &'static str,
    pub none_fits: &'static str,
}

/// Of two plans side by side.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct PairTexts {
    pub title: &'static str,
    pub intro: &'static str,
    pub keep: &'static str,
    pub paste: &'static str,
    pub paste_help: &'static str,
    pub no_link: &'static str,
    pub partly: &'static str,
    pub copy_link: &'static str,
    pub swap: &'static str,
    pub kept: &'static str,
    pub before: &'static str,
    pub after: &'static str,
    pub same: &'static str,
    pub change: &'static str,
    pub differs: &'static str,
    pub field: &'static str,
    pub empty: &'static str,
    pub figures: &'static str,
    pub figure: &'static str,
    pub need: &'static str,
    pub verdict: &'static str,
    pub effective_batch: &'static str,
    pub tokens: &'static str,
    pub time: &'static str,
    pub by_category: &'static str,
    pub category: &'static str,
    pub by_phase: &'static str,
    pub phase: &'static str,
    pub estimated: &'static str,
}

/// Of the start-up summary.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct SummaryTexts {
    pub title: &'static str,
    pub intro: &'static str,
    pub figure: &'static str,
    pub value: &'static str,
    pub checklist: &'static str,
    pub copy_text: &'static str,
    pub copy_markdown: &'static str,
    pub copied: &'static str,
    pub json: &'static str,
    pub json_intro: &'static str,
    pub copy_json: &'static str,
    pub item: fn(SummaryItem) -> &'static str,
    pub check: fn(Check) -> String,
}

/// All of them.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct OptionTexts {
    pub tiers: TierTexts,
    pub solve: SolveTexts,
    pub map: MapTexts,
    pub pair: PairTexts,
    pub summary: SummaryTexts,
}
