//! A plan, or two that are compared, as a link; what a link says.

use headroom_core::job::Job;
use headroom_core::link::{Link, Tab, Theme, View};
use headroom_core::plan::{Plan, Problem, ProblemKind};
use headroom_text::Language;
use serde::Serialize;
use serde_json::Value;

use crate::json;
use crate::plan::problems_text;

/// How a link is to open, where the plan's own link does not say so.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The page that the link opens, before the `#`; without it the link is the fragment alone.
    pub page: Option<String>,
    /// The part of the answer to open.
    pub view: Option<View>,
    /// The language to open it in.
    pub lang: Option<String>,
    /// The colours to open it in.
    pub theme: Option<Theme>,
}

impl Wanted {
    /// The part of the answer that is called `text`.
    ///
    /// # Errors
    /// Which there are.
    pub fn view(text: &str) -> Result<View, String> {
        View::named(text).ok_or_else(|| format!("choose one of {}", View::ALL.map(View::name).join(", ")))
    }

    /// A language's tag.
    ///
    /// # Errors
    /// Which there are.
    pub fn lang(text: &str) -> Result<String, String> {
        match Language::from_tag(text) {
            Some(_) => Ok(text.to_owned()),
            None => Err(format!("choose one of {}", Language::ALL.map(Language::code).join(", "))),
        }
    }

    /// Colours by their name.
    ///
    /// # Errors
    /// Which there are.
    pub fn theme(text: &str) -> Result<Theme, String> {
        let all = [Theme::Light, Theme::Dark];
        all.into_iter().find(|theme| theme.name() == text).ok_or_else(|| "choose one of light, dark".to_owned())
    }

    /// The same from words, as scripts give them.
    ///
    /// # Errors
    /// The name of what cannot be read, and what it may be.
    pub fn named(
        page: Option<&str>,
        view: Option<&str>,
        lang: Option<&str>,
        theme: Option<&str>,
    ) -> Result<Self, String> {
        let of = |name: &'static str| move |choices: String| format!("{name}: {choices}");
        Ok(Self {
            page: page.map(str::to_owned),
            view: view.map(Self::view).transpose().map_err(of("view"))?,
            lang: lang.map(Self::lang).transpose().map_err(of("lang"))?,
            theme: theme.map(Self::theme).transpose().map_err(of("theme"))?,
        })
    }
}

/// A link, and what it says.
pub struct Linked {
    /// What it says.
    pub link: Link,
    /// The link itself.
    pub address: String,
    /// A short title, in its language.
    pub title: String,
}

#[derive(Serialize)]
struct LinkJson<'a> {
    link: &'a str,
    title: &'a str,
    plan: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theme: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tab: Option<&'static str>,
}

/// A link is to mean one model and one GPU: what means several is answered with them.
fn names_one_of_each(plan: &Plan) -> Result<(), String> {
    let is_of_names =
        |problem: &Problem| matches!(problem.kind, ProblemKind::UnknownModel { .. } | ProblemKind::UnknownGpu { .. });
    let problems: Vec<Problem> = Job::resolve(plan).err().unwrap_or_default().into_iter().filter(is_of_names).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems_text(&problems)) }
}

/// The link to what `link` says, opened as it is `wanted`.
///
/// # Errors
/// A sentence with the candidates, where a plan names no model or GPU, or several.
pub fn linked(mut link: Link, wanted: &Wanted) -> Result<Linked, String> {
    for plan in [Some(&link.plan), link.other.as_ref()].into_iter().flatten() {
        names_one_of_each(plan)?;
    }
    let shown = &mut link.shown;
    shown.view = wanted.view.or(shown.view);
    shown.lang = wanted.lang.clone().or(shown.lang.take());
    shown.theme = wanted.theme.or(shown.theme);
    let language = link.shown.lang.as_deref().and_then(Language::from_tag).unwrap_or(Language::English);
    let texts = language.texts();
    let title = match &link.other {
        Some(other) => texts.pair_title(&link.plan, other),
        None => texts.plan_title(&link.plan),
    };
    let page = wanted.page.as_deref().unwrap_or_default();
    let address = format!("{}#{}", page.trim_end_matches('#'), link.encode());
    Ok(Linked { link, address, title })
}

impl Linked {
    /// What it says as JSON: every field of the plan.
    ///
    /// # Errors
    /// Where it is nothing that JSON can say: never.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let Link { plan, other, shown } = &self.link;
        json::text(&LinkJson {
            link: &self.address,
            title: &self.title,
            plan: plan.to_value(),
            other: other.as_ref().map(Plan::to_value),
            view: shown.view.map(View::name),
            lang: shown.lang.as_deref(),
            theme: shown.theme.map(Theme::name),
            tab: shown.tab.map(Tab::name),
        })
    }
}
