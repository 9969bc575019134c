//! What a link may say beside a plan: which part of the answer to open, in which language and colours.

use crate::plan::{Problem, ProblemKind, field, fields, nearest_key};

/// How a link asks to be shown. Nothing of it changes a plan, and who opens the link may choose otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// The part of the answer to open.
    pub view: Option<View>,
    /// The language, as a BCP 47 tag: `en`, `zh-Hans`.
    pub lang: Option<String>,
    /// Light or dark.
    pub theme: Option<Theme>,
    /// Of an embedded plan: names of the fields that its readers may change, in the order in which they stand.
    pub inputs: Vec<&'static str>,
    /// The tab of the answer, or the page beside it.
    pub tab: Option<Tab>,
}

/// A part of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Whether it fits, and what it needs.
    Verdict,
    /// The plan beside its alternatives.
    Comparison,
    /// Memory over the phases of a step.
    Phases,
    /// Batch size by length.
    Map,
    /// Every allocation at the peak.
    Table,
}

impl View {
    /// All of them, the first being what is shown where none is named.
    pub const ALL: [Self; 5] = [Self::Verdict, Self::Comparison, Self::Phases, Self::Map, Self::Table];

    /// Its name in links and attributes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Comparison => "comparison",
            Self::Phases => "phases",
            Self::Map => "map",
            Self::Table => "table",
        }
    }

    /// The view called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }
}

/// What is open: a tab of the answer, or a page that stands in place of form and answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// What to change so that the plan fits, or uses its GPUs.
    Fix,
    /// The plan beside its alternatives.
    Compare,
    /// How far batch, length and model can go.
    Limits,
    /// Where every byte goes.
    Memory,
    /// What starts the run: files, checklist, summary.
    Run,
    /// Real situations as plans.
    Scenarios,
    /// How an estimate comes about.
    HowItWorks,
    /// What was measured, and how far estimates are off.
    Accuracy,
    /// What the words mean.
    Glossary,
}

impl Tab {
    /// The tabs of the answer, the first being what is open where none is named.
    pub const ANSWER: [Self; 5] = [Self::Fix, Self::Compare, Self::Limits, Self::Memory, Self::Run];

    /// The pages beside it.
    pub const PAGES: [Self; 4] = [Self::Scenarios, Self::HowItWorks, Self::Accuracy, Self::Glossary];

    /// All of both.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ANSWER.into_iter().chain(Self::PAGES)
    }

    /// Its name in links.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fix => "fix",
            Self::Compare => "compare",
            Self::Limits => "limits",
            Self::Memory => "memory",
            Self::Run => "run",
            Self::Scenarios => "scenarios",
            Self::HowItWorks => "how-it-works",
            Self::Accuracy => "accuracy",
            Self::Glossary => "glossary",
        }
    }

    /// The tab or page called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|tab| tab.name() == name)
    }

    /// Whether it stands in place of form and answer.
    pub fn is_page(self) -> bool {
        Self::PAGES.contains(&self)
    }
}

impl From<View> for Tab {
    /// The tab in which a view stands.
    fn from(view: View) -> Self {
        match view {
            View::Verdict => Self::Fix,
            View::Comparison => Self::Compare,
            View::Map => Self::Limits,
            View::Phases | View::Table => Self::Memory,
        }
    }
}

/// Colours for a light or a dark ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// For a light ground.
    Light,
    /// For a dark ground.
    Dark,
}

impl Theme {
    /// Its name in links and attributes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The keys, in the order in which they are written.
pub(super) const KEYS: [&str; 5] = ["view", "lang", "theme", "inputs", "tab"];

/// Longest language tag, bytes: what RFC 5646 (section 4.4.1) asks every reader of tags to take.
const LONGEST_TAG: usize = 35;

impl Shown {
    /// The value of the key at `place` of [`KEYS`].
    pub(super) fn text(&self, place: usize) -> Option<String> {
        match place {
            0 => self.view.map(|view| view.name().to_owned()),
            1 => self.lang.clone(),
            2 => self.theme.map(|theme| theme.name().to_owned()),
            4 => self.tab.map(|tab| tab.name().to_owned()),
            _ => {
                let keys: Vec<&str> = self.inputs.iter().filter_map(|name| Some(field(name)?.link)).collect();
                (!keys.is_empty()).then(|| keys.join(","))
            }
        }
    }

    /// Sets the key at `place` of [`KEYS`].
    pub(super) fn set(&mut self, place: usize, text: &str) -> Result<(), Problem> {
        let none_of = |allowed: Vec<&'static str>| {
            let nearest = nearest_key(text, allowed.iter().copied()).map(str::to_owned);
            let value = text.chars().take(64).collect();
            Problem::new(KEYS[place], ProblemKind::NotOneOf { value, allowed, nearest })
        };
        match place {
            0 => {
                let all = || View::ALL.map(View::name).to_vec();
                self.view = Some(View::named(text).ok_or_else(|| none_of(all()))?);
            }
            1 => {
                let is_tag = (2..=LONGEST_TAG).contains(&text.len())
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                if !is_tag {
                    return Err(Problem::new(KEYS[place], ProblemKind::WrongType { expected: "language tag" }));
                }
                self.lang = Some(text.to_owned());
            }
            2 => {
                let all = [Theme::Light, Theme::Dark];
                let theme = all.into_iter().find(|theme| theme.name() == text);
                self.theme = Some(theme.ok_or_else(|| none_of(all.map(Theme::name).to_vec()))?);
            }
            4 => self.tab = Some(Tab::named(text).ok_or_else(|| none_of(Tab::all().map(Tab::name).collect()))?),
            _ => {
                for key in text.split(',').map(str::trim).filter(|key| !key.is_empty()) {
                    let Some(field) = fields().iter().find(|field| field.link == key || field.name == key) else {
                        let nearest = nearest_key(key, fields().iter().map(|field| field.link)).map(str::to_owned);
                        let value = key.chars().take(64).collect();
                        let kind = ProblemKind::NotOneOf { value, allowed: vec!["the keys of links"], nearest };
                        return Err(Problem::new(KEYS[place], kind));
                    };
                    if !self.inputs.contains(&field.name) {
                        self.inputs.push(field.name);
                    }
                }
            }
        }
        Ok(())
    }
}
