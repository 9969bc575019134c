//! What a language says: its texts, and the words for the core's enums.

use headroom_core::gpu::Segment;
use headroom_core::memory::{Category, Fit, Note, Phase, Term};
use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, BackwardPrefetch, Dtype, EmbeddingLoss, EvalStrategy, Framework,
    LossImplementation, LossType, Method, MixedPrecision, Optimizer, PackingStrategy, Pooling, Problem, QuantStorage,
    QuantType, ShardingStrategy, Task, TrainerName,
};

use crate::accuracy::AccuracyTexts;
use crate::advice::AdviceTexts;
use crate::charts::ChartTexts;
use crate::embedding::EmbeddingTexts;
use crate::fields::{Fields, FurtherFields};
use crate::form::FormTexts;
use crate::gallery::GalleryTexts;
use crate::labels::{ChoiceText, FieldText};
use crate::options::OptionTexts;
use crate::sources::SourceTexts;
use crate::tabs::TabTexts;
use crate::tasks::TaskTexts;

/// Everything else, and the words for the core's enums.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct Texts {
    // Frame.
    /// How a title names the method that trains all weights.
    pub full_fine_tuning: &'static str,
    pub open_in_headroom: &'static str,
    /// Between two plans in a title.
    pub versus: &'static str,
    pub tagline: &'static str,
    pub skip_to_result: &'static str,
    pub language: &'static str,
    pub theme: &'static str,
    pub theme_system: &'static str,
    pub theme_light: &'static str,
    pub theme_dark: &'static str,
    pub read_files: &'static str,
    pub write_files: &'static str,
    pub copy_link: &'static str,
    pub link_copied: &'static str,
    pub copy_by_hand: &'static str,
    pub start_over: &'static str,
    pub undo: &'static str,
    pub redo: &'static str,
    pub recent: &'static str,
    pub recent_none: &'static str,
    pub recent_where: &'static str,
    pub recent_forget: &'static str,
    pub close: &'static str,
    pub link_problems_title: &'static str,
    pub link_problems_intro: &'static str,
    pub private_note: &'static str,
    pub units_note: &'static str,
    /// Licence of the source.
    pub licence_note: &'static str,
    pub source_code: &'static str,
    pub tabs: TabTexts,
    pub charts: ChartTexts,

    // Form.
    pub form_title: &'static str,
    pub section_method: &'static str,
    pub section_savers: &'static str,
    pub section_parallel: &'static str,
    pub section_advanced: &'static str,
    pub advanced_general: &'static str,
    pub advanced_lora: &'static str,
    pub fields: Fields,
    pub(crate) further_fields: fn() -> &'static FurtherFields,
    pub form: FormTexts,
    pub last_good_stays: &'static str,
    pub no_match: &'static str,
    pub no_gpu_match: &'static str,
    pub only_near: &'static str,
    pub matches: fn(usize) -> String,
    pub parameters: &'static str,
    pub active: &'static str,
    pub own_config: &'static str,
    pub own_config_help: &'static str,
    /// By the class whose recorded program is fetched, or could not be.
    pub program_fetching: fn(&str) -> String,
    pub program_not_fetched: fn(&str) -> String,
    pub config_text: &'static str,
    pub config_file: &'static str,
    pub config_name: &'static str,
    pub config_use: &'static str,
    pub config_drop: &'static str,
    pub config_empty: &'static str,
    pub config_unreadable: &'static str,
    /// Of a text of that many bytes.
    pub config_too_large: fn(&str) -> String,
    /// Of a class, a number of layers, a number of parameters.
    pub config_read: fn(&str, u64, &str) -> String,
    pub config_complete: &'static str,
    pub config_assumed: &'static str,
    pub config_assumed_rest: fn(usize) -> String,
    pub own_model: &'static str,
    /// A choice left to the trainer.
    pub trainer_decides: &'static str,
    /// What is still being worked out.
    pub computing: &'static str,
    pub custom_gpu: &'static str,
    pub(crate) tasks: fn() -> &'static TaskTexts,
    pub(crate) sources: fn() -> &'static SourceTexts,
    pub(crate) embedding: fn() -> &'static EmbeddingTexts,
    pub(crate) gallery: fn() -> &'static GalleryTexts,
    pub(crate) options: fn() -> &'static OptionTexts,
    pub effective_batch: fn(u64, u64, u64, u64) -> String,
    pub tokens_per_step: fn(&str) -> String,
    pub all_linear: &'static str,
    pub attention_only: &'static str,
    pub named_modules: &'static str,
    pub named_modules_label: &'static str,
    pub auto: &'static str,
    pub on: &'static str,
    pub off: &'static str,
    pub as_weights: &'static str,
    pub zero_stages: [ChoiceText; 4],

    // Verdict.
    pub verdict_title: &'static str,
    pub used_of: fn(&str, &str) -> String,
    pub headroom: fn(&str) -> String,
    pub missing: fn(&str) -> String,
    pub band: fn(&str, &str) -> String,
    /// What `expandable_segments:True` would save.
    pub expandable_saves: fn(&str) -> String,
    /// Which request fails first on a smaller GPU: its name, its size, its phase, what lies free and unusable.
    pub limit: fn(&str, &str, &str, &str) -> String,
    /// The error on this GPU: where, what PyTorch says it tried to allocate, what is free, what for.
    pub fails: fn(&str, &str, &str, &str) -> String,
    pub while_loading: &'static str,
    /// A phase of an optimizer step.
    pub in_step: fn(&str, u64) -> String,
    pub percent_used: fn(&str) -> String,
    pub times_used: fn(&str) -> String,
    pub capacity: &'static str,
    /// Where the peak is, in plain words.
    pub peak: fn(Task, Phase) -> String,
    /// What leads to the measured steps.
    pub how_accurate: &'static str,
    pub per_gpu: &'static str,
    pub cannot_estimate: &'static str,
    pub fix_these: &'static str,
    /// Of a field and a value.
    pub fix_it: fn(&str, &str) -> String,
    /// Heads what a choice changed besides.
    pub changed_with_it: &'static str,
    pub why: &'static str,
    pub last_good: &'static str,
    pub trainable: fn(&str, &str, &str) -> String,

    pub(crate) accuracy: fn() -> &'static AccuracyTexts,
    pub advice: AdviceTexts,

    // Comparison.
    pub comparison_title: &'static str,
    pub comparison_intro: &'static str,
    pub comparison_table: &'static str,
    pub current_plan: &'static str,
    pub use_plan: &'static str,
    pub offload_optimizer_short: &'static str,
    pub offload_param_short: &'static str,
    pub offload_all_short: &'static str,
    pub unsharded: &'static str,
    pub bits: fn(u8) -> String,
    pub gpu_capacity: fn(&str) -> String,
    pub column_plan: &'static str,
    pub column_total: &'static str,
    pub column_verdict: &'static str,
    pub cannot_run: &'static str,
    pub bar_description: fn(&str, &str, &str) -> String,

    // Phases and breakdown.
    pub phases_title: &'static str,
    pub phases_intro: &'static str,
    pub phases_table: &'static str,
    pub column_phase: &'static str,
    pub peak_mark: &'static str,
    pub waterfall_before: &'static str,
    pub waterfall_after: &'static str,
    pub level_coarser: &'static str,
    pub level_different: &'static str,
    pub breakdown_title: &'static str,
    pub breakdown_intro: fn(&str, &str) -> String,
    pub breakdown_sum: &'static str,
    pub formula: &'static str,
    pub with_numbers: &'static str,
    pub result: &'static str,
    pub result_bytes: fn(&str, &str) -> String,
    pub source: &'static str,
    pub lives_in: &'static str,
    pub not_at_peak: &'static str,
    pub exact_bytes: fn(&str) -> String,

    // Metrics, host, notes.
    pub metrics_title: &'static str,
    pub metric_allocated: FieldText,
    pub metric_required: FieldText,
    pub metric_required_expandable: FieldText,
    pub metric_reserved: FieldText,
    pub metric_context: FieldText,
    pub metric_device: FieldText,
    pub host_title: &'static str,
    /// Whose memory that is, by the number of machines.
    pub host_intro: fn(u64) -> String,
    pub pinned: &'static str,
    pub notes_title: &'static str,

    // The core's words.
    pub category: fn(Category) -> &'static str,
    pub phase: fn(Phase) -> &'static str,
    pub term: fn(Term) -> &'static str,
    pub fit: fn(Fit) -> &'static str,
    /// The verdict's word where the estimate is a guess.
    pub guessed_fit: fn(Fit) -> &'static str,
    /// The step fits, and an evaluation between steps does not.
    pub step_alone_fits: &'static str,
    pub note: fn(&Note) -> String,
    /// A problem without the name of its field.
    pub problem: fn(&Problem) -> String,
    pub segment: fn(Segment) -> &'static str,
    pub task: fn(Task) -> ChoiceText,
    pub method: fn(Method) -> ChoiceText,
    pub dtype: fn(Dtype) -> ChoiceText,
    pub precision: fn(Dtype, MixedPrecision) -> ChoiceText,
    pub trainer: fn(TrainerName) -> ChoiceText,
    pub optimizer: fn(Optimizer) -> ChoiceText,
    pub attention: fn(AttnImplementation) -> ChoiceText,
    pub kernel: fn(AttentionKernel) -> ChoiceText,
    pub framework: fn(Framework) -> ChoiceText,
    pub adapter_dtype: fn(AdapterDtype) -> ChoiceText,
    pub quant_type: fn(QuantType) -> ChoiceText,
    pub quant_storage: fn(QuantStorage) -> ChoiceText,
    pub loss: fn(LossImplementation) -> ChoiceText,
    pub loss_type: fn(LossType) -> ChoiceText,
    pub eval_strategy: fn(EvalStrategy) -> ChoiceText,
    pub packing_strategy: fn(PackingStrategy) -> ChoiceText,
    pub pooling: fn(Pooling) -> ChoiceText,
    pub embedding_loss: fn(EmbeddingLoss) -> ChoiceText,
    pub sharding_strategy: fn(ShardingStrategy) -> ChoiceText,
    pub backward_prefetch: fn(BackwardPrefetch) -> ChoiceText,
}
