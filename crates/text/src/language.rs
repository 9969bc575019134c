//! The languages, and what each says.

use crate::guide::Guide;
use crate::texts::Texts;
use crate::why::WhyTexts;
use crate::{chinese, english};

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

/// The pages in `language`.
pub fn guide(language: Language) -> &'static Guide {
    match language {
        Language::English => &english::guide::GUIDE,
        Language::Chinese => &chinese::guide::GUIDE,
    }
}

/// Those of `language`.
pub fn why(language: Language) -> &'static WhyTexts {
    match language {
        Language::English => &english::why::TEXTS,
        Language::Chinese => &chinese::why::TEXTS,
    }
}

#[cfg(test)]
mod tests {
    use headroom_core::memory::{Category, Term};
    use headroom_core::plan::{Problem, ProblemKind};

    use super::{Language, guide};

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

    #[test]
    fn both_languages_explain_the_same_words() {
        let ids = |language| -> Vec<&str> { guide(language).entries.iter().map(|entry| entry.id).collect() };
        assert_eq!(ids(Language::English), ids(Language::Chinese));
        let mut sorted = ids(Language::English);
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), guide(Language::English).entries.len(), "a word stands twice");
        let counts = |language| (guide(language).how.len(), guide(language).accuracy.sections.len());
        assert_eq!(counts(Language::English), counts(Language::Chinese));
    }
}
