//! Every text a reader sees, in one place per language.
//!
//! A language is a [`Texts`] value and matches over the core's enums: a text that a language lacks does not compile.

mod accuracy;
mod advice;
mod chinese;
mod chinese_advice;
mod chinese_gallery;
mod chinese_options;
mod chinese_tasks;
mod chinese_terms;
mod english;
mod english_advice;
mod english_gallery;
mod english_options;
mod english_tasks;
mod english_terms;
mod field_names;
mod gallery;
mod options;
mod tasks;

use headroom_core::gpu::Segment;
use headroom_core::memory::{Category, Fit, Note, Phase, Term};
use headroom_core::model::AssumedKey;
use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, Dtype, Framework, Method, MixedPrecision, Optimizer, Problem,
    QuantType, Task,
};
use leptos::prelude::*;

use crate::address;
use accuracy::AccuracyTexts;
use advice::AdviceTexts;
pub(crate) use field_names::field_text;
pub(crate) use gallery::GalleryTexts;
pub(crate) use options::OptionTexts;
pub(crate) use tasks::TaskTexts;

/// Languages the page speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Chinese,
}

impl Language {
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Value of `?lang=`.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Value of `<html lang>`.
    pub(crate) const fn html_lang(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// What its readers call it.
    pub(crate) const fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "简体中文",
        }
    }

    /// The language that a BCP 47 tag asks for, if the page speaks it.
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| primary.eq_ignore_ascii_case(language.code()))
    }

    /// What the address says, else the first language of the browser that the page speaks, else English.
    pub(crate) fn of_reader() -> Self {
        let asked = address::query("lang");
        let preferred = window().navigator().languages();
        asked
            .as_deref()
            .and_then(Self::from_tag)
            .or_else(|| preferred.iter().find_map(|tag| Self::from_tag(&tag.as_string()?)))
            .unwrap_or(Self::English)
    }

    pub(crate) const fn texts(self) -> &'static Texts {
        match self {
            Self::English => &english::TEXTS,
            Self::Chinese => &chinese::TEXTS,
        }
    }
}

/// Keys with what was assumed of them, as sentences list them.
fn assumed_keys(keys: &[AssumedKey], between: &str) -> String {
    keys.iter().map(|assumed| format!("{} = {}", assumed.key, assumed.value)).collect::<Vec<_>>().join(between)
}

/// The language in use, from the context.
pub(crate) fn language() -> RwSignal<Language> {
    expect_context()
}

/// A text that follows the language: `{text(|t| t.copy_link)}`.
///
/// Takes a function pointer, not a closure type, so that all texts share one compiled view.
pub(crate) fn text(pick: fn(&'static Texts) -> &'static str) -> impl Fn() -> &'static str + Copy + Send + Sync {
    let language = language();
    move || pick(language.get().texts())
}

/// The texts in use, tracked.
pub(crate) fn texts() -> Signal<&'static Texts> {
    let language = language();
    Signal::derive(move || language.get().texts())
}

/// What stands around one input.
pub(crate) struct FieldText {
    /// The human name.
    pub(crate) label: &'static str,
    /// Unit, or empty.
    pub(crate) unit: &'static str,
    /// One sentence of help.
    pub(crate) help: &'static str,
}

/// A choice of an enum: its name and, where it needs one, a short gloss.
#[derive(Clone, Copy)]
pub(crate) struct ChoiceText {
    pub(crate) label: &'static str,
    pub(crate) gloss: &'static str,
}

/// For a name that is none of an enum's; the form offers only the enum's own.
pub(crate) const NO_CHOICE: ChoiceText = choice("", "");

/// Short-hand for [`ChoiceText`] in the languages' matches.
const fn choice(label: &'static str, gloss: &'static str) -> ChoiceText {
    ChoiceText { label, gloss }
}

/// Short-hand for [`FieldText`] in the languages' tables.
const fn field(label: &'static str, unit: &'static str, help: &'static str) -> FieldText {
    FieldText { label, unit, help }
}

/// The texts of the inputs.
pub(crate) struct Fields {
    pub(crate) model: FieldText,
    pub(crate) task: FieldText,
    pub(crate) num_labels: FieldText,
    pub(crate) new_tokens: FieldText,
    pub(crate) gpu: FieldText,
    pub(crate) memory_gib: FieldText,
    pub(crate) compute_capability: FieldText,
    pub(crate) num_gpus: FieldText,
    pub(crate) method: FieldText,
    pub(crate) lora_r: FieldText,
    pub(crate) lora_targets: FieldText,
    pub(crate) lora_dropout: FieldText,
    pub(crate) lora_alpha: FieldText,
    pub(crate) modules_to_save: FieldText,
    pub(crate) adapter_dtype: FieldText,
    pub(crate) bits: FieldText,
    pub(crate) quant_type: FieldText,
    pub(crate) double_quant: FieldText,
    pub(crate) prepare_for_kbit_training: FieldText,
    pub(crate) fused_4bit_gemm: FieldText,
    pub(crate) precision: FieldText,
    pub(crate) optim: FieldText,
    pub(crate) batch: FieldText,
    pub(crate) accumulation: FieldText,
    pub(crate) max_length: FieldText,
    pub(crate) gradient_checkpointing: FieldText,
    pub(crate) attn_implementation: FieldText,
    pub(crate) use_liger_kernel: FieldText,
    pub(crate) framework: FieldText,
    pub(crate) zero_stage: FieldText,
    pub(crate) offload_optimizer: FieldText,
    pub(crate) offload_param: FieldText,
    pub(crate) padded_batch: FieldText,
    pub(crate) logits_to_fp32: FieldText,
    pub(crate) keep_outputs: FieldText,
    pub(crate) expandable_segments: FieldText,
    pub(crate) attention_kernel: FieldText,
    pub(crate) expand_kv_heads: FieldText,
    pub(crate) enable_input_require_grads: FieldText,
    pub(crate) max_grad_norm: FieldText,
    pub(crate) reduce_bucket_size: FieldText,
    pub(crate) allgather_bucket_size: FieldText,
    pub(crate) prefetch_bucket_size: FieldText,
    pub(crate) persistence_threshold: FieldText,
    pub(crate) max_live_parameters: FieldText,
    pub(crate) sub_group_size: FieldText,
    pub(crate) overlap_comm: FieldText,
    pub(crate) contiguous_gradients: FieldText,
    pub(crate) round_robin_gradients: FieldText,
    pub(crate) pin_memory: FieldText,
    pub(crate) reshard_after_forward: FieldText,
    pub(crate) param_dtype: FieldText,
    pub(crate) reduce_dtype: FieldText,
    pub(crate) cpu_offload: FieldText,
    pub(crate) wrap_embedding: FieldText,
    pub(crate) bucket_cap_mb: FieldText,
    pub(crate) gradient_as_bucket_view: FieldText,
    pub(crate) static_graph: FieldText,
}

/// Everything else, and the words for the core's enums.
pub(crate) struct Texts {
    // Frame.
    pub(crate) page_title: &'static str,
    pub(crate) tagline: &'static str,
    pub(crate) skip_to_result: &'static str,
    pub(crate) language: &'static str,
    pub(crate) theme: &'static str,
    pub(crate) theme_system: &'static str,
    pub(crate) theme_light: &'static str,
    pub(crate) theme_dark: &'static str,
    pub(crate) copy_link: &'static str,
    pub(crate) link_copied: &'static str,
    pub(crate) copy_by_hand: &'static str,
    pub(crate) start_over: &'static str,
    pub(crate) close: &'static str,
    pub(crate) link_problems_title: &'static str,
    pub(crate) link_problems_intro: &'static str,
    pub(crate) private_note: &'static str,
    pub(crate) units_note: &'static str,

    // Form.
    pub(crate) form_title: &'static str,
    pub(crate) section_model: &'static str,
    pub(crate) section_hardware: &'static str,
    pub(crate) section_method: &'static str,
    pub(crate) section_batch: &'static str,
    pub(crate) section_savers: &'static str,
    pub(crate) section_parallel: &'static str,
    pub(crate) section_advanced: &'static str,
    pub(crate) advanced_general: &'static str,
    pub(crate) advanced_lora: &'static str,
    pub(crate) fields: Fields,
    pub(crate) last_good_stays: &'static str,
    pub(crate) no_match: &'static str,
    pub(crate) no_gpu_match: &'static str,
    pub(crate) only_near: &'static str,
    pub(crate) matches: fn(usize) -> String,
    pub(crate) parameters: &'static str,
    pub(crate) active: &'static str,
    pub(crate) own_config: &'static str,
    pub(crate) own_config_help: &'static str,
    pub(crate) config_text: &'static str,
    pub(crate) config_file: &'static str,
    pub(crate) config_name: &'static str,
    pub(crate) config_use: &'static str,
    pub(crate) config_drop: &'static str,
    pub(crate) config_empty: &'static str,
    pub(crate) config_unreadable: &'static str,
    /// Of a text of that many bytes.
    pub(crate) config_too_large: fn(&str) -> String,
    /// Of a class, a number of layers, a number of parameters.
    pub(crate) config_read: fn(&str, u64, &str) -> String,
    pub(crate) config_complete: &'static str,
    pub(crate) config_assumed: &'static str,
    pub(crate) config_assumed_rest: fn(usize) -> String,
    pub(crate) own_model: &'static str,
    pub(crate) custom_card: &'static str,
    pub(crate) tasks: TaskTexts,
    pub(crate) gallery: GalleryTexts,
    pub(crate) options: OptionTexts,
    pub(crate) effective_batch: fn(u64, u64, u64, u64) -> String,
    pub(crate) tokens_per_step: fn(&str) -> String,
    pub(crate) all_linear: &'static str,
    pub(crate) attention_only: &'static str,
    pub(crate) named_modules: &'static str,
    pub(crate) named_modules_label: &'static str,
    pub(crate) auto: &'static str,
    pub(crate) on: &'static str,
    pub(crate) off: &'static str,
    pub(crate) as_weights: &'static str,
    pub(crate) zero_stages: [ChoiceText; 4],

    // Verdict.
    pub(crate) verdict_title: &'static str,
    pub(crate) used_of: fn(&str, &str) -> String,
    pub(crate) headroom: fn(&str) -> String,
    pub(crate) missing: fn(&str) -> String,
    pub(crate) band: fn(&str, &str) -> String,
    /// What `expandable_segments:True` would save.
    pub(crate) expandable_saves: fn(&str) -> String,
    /// Which request fails first on a smaller card: its name, its size, its phase, what lies free and unusable.
    pub(crate) limit: fn(&str, &str, &str, &str) -> String,
    /// The error on this GPU: where, what PyTorch says it tried to allocate, what is free, what for.
    pub(crate) fails: fn(&str, &str, &str, &str) -> String,
    pub(crate) while_loading: &'static str,
    /// A phase of an optimizer step.
    pub(crate) in_step: fn(&str, u64) -> String,
    pub(crate) percent_used: fn(&str) -> String,
    pub(crate) times_used: fn(&str) -> String,
    pub(crate) capacity: &'static str,
    pub(crate) per_card: &'static str,
    pub(crate) cannot_estimate: &'static str,
    pub(crate) mend_these: &'static str,
    /// Of a field and a value.
    pub(crate) mend_it: fn(&str, &str) -> String,
    /// Heads what a choice changed besides.
    pub(crate) changed_with_it: &'static str,
    pub(crate) why: &'static str,
    pub(crate) last_good: &'static str,
    pub(crate) trainable: fn(&str, &str, &str) -> String,

    pub(crate) accuracy: AccuracyTexts,
    pub(crate) advice: AdviceTexts,

    // Comparison.
    pub(crate) comparison_title: &'static str,
    pub(crate) comparison_intro: &'static str,
    pub(crate) comparison_table: &'static str,
    pub(crate) current_plan: &'static str,
    pub(crate) use_plan: &'static str,
    pub(crate) offload_optimizer_short: &'static str,
    pub(crate) offload_param_short: &'static str,
    pub(crate) offload_all_short: &'static str,
    pub(crate) unsharded: &'static str,
    pub(crate) bits: fn(u8) -> String,
    pub(crate) card_capacity: fn(&str) -> String,
    pub(crate) column_plan: &'static str,
    pub(crate) column_total: &'static str,
    pub(crate) column_verdict: &'static str,
    pub(crate) cannot_run: &'static str,
    pub(crate) bar_description: fn(&str, &str, &str) -> String,

    // Phases and breakdown.
    pub(crate) phases_title: &'static str,
    pub(crate) phases_intro: &'static str,
    pub(crate) phases_table: &'static str,
    pub(crate) column_phase: &'static str,
    pub(crate) peak_mark: &'static str,
    pub(crate) waterfall_before: &'static str,
    pub(crate) waterfall_after: &'static str,
    pub(crate) level_coarser: &'static str,
    pub(crate) level_different: &'static str,
    pub(crate) breakdown_title: &'static str,
    pub(crate) breakdown_intro: fn(&str, &str) -> String,
    pub(crate) breakdown_sum: &'static str,
    pub(crate) formula: &'static str,
    pub(crate) with_numbers: &'static str,
    pub(crate) result: &'static str,
    pub(crate) result_bytes: fn(&str, &str) -> String,
    pub(crate) source: &'static str,
    pub(crate) lives_in: &'static str,
    pub(crate) not_at_peak: &'static str,
    pub(crate) exact_bytes: fn(&str) -> String,

    // Metrics, host, notes.
    pub(crate) metrics_title: &'static str,
    pub(crate) metric_allocated: FieldText,
    pub(crate) metric_required: FieldText,
    pub(crate) metric_required_expandable: FieldText,
    pub(crate) metric_reserved: FieldText,
    pub(crate) metric_context: FieldText,
    pub(crate) metric_device: FieldText,
    pub(crate) host_title: &'static str,
    pub(crate) host_intro: &'static str,
    pub(crate) pinned: &'static str,
    pub(crate) notes_title: &'static str,

    // The core's words.
    pub(crate) category: fn(Category) -> &'static str,
    pub(crate) phase: fn(Phase) -> &'static str,
    pub(crate) term: fn(Term) -> &'static str,
    pub(crate) fit: fn(Fit) -> &'static str,
    pub(crate) note: fn(&Note) -> String,
    /// A problem without the name of its field.
    pub(crate) problem: fn(&Problem) -> String,
    pub(crate) segment: fn(Segment) -> &'static str,
    pub(crate) task: fn(Task) -> ChoiceText,
    pub(crate) method: fn(Method) -> ChoiceText,
    pub(crate) dtype: fn(Dtype) -> ChoiceText,
    pub(crate) precision: fn(Dtype, MixedPrecision) -> ChoiceText,
    pub(crate) optimizer: fn(Optimizer) -> ChoiceText,
    pub(crate) attention: fn(AttnImplementation) -> ChoiceText,
    pub(crate) kernel: fn(AttentionKernel) -> ChoiceText,
    pub(crate) framework: fn(Framework) -> ChoiceText,
    pub(crate) adapter_dtype: fn(AdapterDtype) -> ChoiceText,
    pub(crate) quant_type: fn(QuantType) -> ChoiceText,
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
