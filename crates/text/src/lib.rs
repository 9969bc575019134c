//! Every sentence that people read, in one place per language, for the page and the terminal.
//!
//! A language is a [`Texts`] value whose members match over the core's enums: a text that a language lacks does not compile.
//! The core says what it knows as data ([`Note`], [`Problem`], [`Term`], …) and speaks no language. The page speaks all of
//! them; the terminal speaks English, [`ENGLISH`].

mod accuracy;
mod advice;
mod charts;
mod chinese;
mod embedding;
mod english;
mod fields;
mod form;
mod gallery;
mod guide;
mod later;
mod named;
mod options;
mod sources;
mod tabs;
mod tasks;
mod title;
mod why;

use headroom_core::gpu::Segment;
use headroom_core::memory::{Category, Fit, Note, Phase, Term};
use headroom_core::model::AssumedKey;
use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, BackwardPrefetch, Dtype, EmbeddingLoss, EvalStrategy, Framework,
    LossImplementation, LossType, Method, MixedPrecision, Optimizer, PackingStrategy, Pooling, Problem, QuantStorage,
    QuantType, ShardingStrategy, Task, TrainerName,
};

pub use accuracy::AccuracyTexts;
pub use advice::AdviceTexts;
pub use charts::ChartTexts;
pub use embedding::EmbeddingTexts;

pub use english::problem_line;
pub use fields::{Fields, FurtherFields, field_text};
pub use form::FormTexts;
pub use gallery::{GalleryTexts, ScenarioText};
pub use guide::{AccuracyPage, Entry, Guide, Section, guide};
pub use named::launched_by;
pub use options::{MapTexts, OptionTexts, PairTexts, SolveTexts, SummaryTexts, TierTexts};
pub use sources::SourceTexts;
pub use tabs::TabTexts;
pub use tasks::{TaskFields, TaskTexts};
pub use why::{WhyTexts, why};

/// English, which the terminal speaks.
pub static ENGLISH: Texts = english::TEXTS;
static CHINESE: Texts = chinese::TEXTS;

/// By language. Functions, here as in [`Texts`]: the words that a reader's first view does not show are constants that no function of
/// it names, and so they come with the parts of the page that show them.
static TEXTS: [fn() -> &'static Texts; 2] = [|| &ENGLISH, || &CHINESE];

/// Languages the page speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// Every language, in the order that lists show them.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Value of `?lang=`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Value of `<html lang>`.
    pub const fn html_lang(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// What its readers call it.
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "简体中文",
        }
    }

    /// The language that a BCP 47 tag asks for, if the page speaks it.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| primary.eq_ignore_ascii_case(language.code()))
    }

    /// Everything it says.
    pub fn texts(self) -> &'static Texts {
        TEXTS[self as usize]()
    }
}

/// Keys with what was assumed of them, as sentences list them.
fn assumed_keys(keys: &[AssumedKey], between: &str) -> String {
    keys.iter().map(|assumed| format!("{} = {}", assumed.key, assumed.value)).collect::<Vec<_>>().join(between)
}

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
const fn choice(label: &'static str, gloss: &'static str) -> ChoiceText {
    ChoiceText { label, gloss }
}

/// Short-hand for [`FieldText`] in the languages' tables.
const fn field(label: &'static str, unit: &'static str, help: &'static str) -> FieldText {
    FieldText { label, unit, help }
}

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
    further_fields: fn() -> &'static FurtherFields,
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
    tasks: fn() -> &'static TaskTexts,
    sources: fn() -> &'static SourceTexts,
    embedding: fn() -> &'static EmbeddingTexts,
    gallery: fn() -> &'static GalleryTexts,
    options: fn() -> &'static OptionTexts,
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

    accuracy: fn() -> &'static AccuracyTexts,
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

#[cfg(test)]
mod tests {
    use headroom_core::memory::{Category, Term};
    use headroom_core::plan::{Problem, ProblemKind};

    use super::Language;

    #[test]
    fn tags_choose_languages() {
        assert_eq!(Language::from_tag("zh-Hans-CN"), Some(Language::Chinese));
        assert_eq!(Language::from_tag("zh_TW"), Some(Language::Chinese));
        assert_eq!(Language::from_tag("EN-gb"), Some(Language::English));
        assert_eq!(Language::from_tag("enm"), None);
        assert_eq!(Language::from_tag(""), None);
    }

    #[test]
    fn rows_of_a_category_have_names_of_their_own() {
        for language in Language::ALL {
            for category in Category::ALL {
                let host = |term: &Term| term.name().starts_with("host_");
                let of_category = |term: &&Term| term.category() == *category && !host(term);
                let mut names: Vec<_> =
                    Term::ALL.iter().filter(of_category).map(|term| (language.texts().term)(*term)).collect();
                let all = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), all, "{language:?}, {category:?}: {names:?}");
            }
        }
    }

    #[test]
    fn problems_are_sentences_without_the_name_of_the_field() {
        let kind = ProblemKind::OutOfRange { value: "0".to_owned(), min: "1".to_owned(), max: "8".to_owned() };
        let problem = Problem::new("lora.r", kind);
        let english = (Language::English.texts().problem)(&problem);
        assert_eq!(english, "0 is outside 1 to 8; choose a value in that range.");
        let chinese = (Language::Chinese.texts().problem)(&problem);
        assert_eq!(chinese, "0 不在 1 到 8 之间，请改为范围内的值。");
    }

    #[test]
    fn a_name_stays_as_it_was_typed_and_its_candidates_are_told() {
        let said = |matches: usize, candidates: &[&str]| {
            let candidates = candidates.iter().map(|id| (*id).to_owned()).collect();
            let problem = Problem::new("gpu", ProblemKind::UnknownGpu { id: "h10".to_owned(), matches, candidates });
            [Language::English, Language::Chinese].map(|language| (language.texts().problem)(&problem))
        };
        assert_eq!(said(0, &[])[0], "h10 is not in the catalogue; give its memory in GiB.");
        assert_eq!(said(0, &["h100"])[0], "h10 is not in the catalogue; give its memory in GiB, or did you mean h100?");
        assert_eq!(
            said(3, &["a", "b"]),
            ["h10 can be a, b and 1 more; choose one.", "h10 可以指 a、b等 3 个，请选择其中一个。"]
        );
        assert_eq!(said(0, &["a", "b"])[1], "目录里没有显卡 h10，请直接填写显存（GiB）（是否想写 a、b？）。");
    }
}
