//! `headroom link`: a plan, or two that are compared, as a link; its title; what a link says as JSON.

use std::io::Write;

use headroom_core::job::Job;
use headroom_core::link::{Link, Theme, View};
use headroom_core::plan::{Plan, Problem, ProblemKind};
use headroom_text::Language;
use serde::Serialize;
use serde_json::Value;

use crate::{Failure, estimate, input, json};

/// Options of `headroom link`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct LinkOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    source: Option<String>,
    /// A second plan: the link compares the two.
    #[arg(value_name = "OTHER")]
    other: Option<String>,
    /// The page that the link opens, before the #; without it the fragment alone is printed.
    #[arg(long, value_name = "ADDRESS")]
    page: Option<String>,
    /// The part of the answer to open: verdict, comparison, phases, map or table.
    #[arg(long, value_name = "VIEW", value_parser = view)]
    view: Option<View>,
    /// The language to open it in: en or zh.
    #[arg(long, value_name = "TAG", value_parser = lang)]
    lang: Option<String>,
    /// The colours to open it in: light or dark.
    #[arg(long, value_name = "THEME", value_parser = theme)]
    theme: Option<Theme>,
    /// A short title of what it shows instead of the link, in the language of --lang.
    #[arg(long, conflicts_with = "json")]
    title: bool,
    /// What the link says as JSON: every field of the plan.
    #[arg(long)]
    json: bool,
}

fn view(text: &str) -> Result<View, String> {
    View::named(text).ok_or_else(|| format!("choose one of {}", View::ALL.map(View::name).join(", ")))
}

fn lang(text: &str) -> Result<String, String> {
    match Language::from_tag(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("choose one of {}", Language::ALL.map(Language::code).join(", "))),
    }
}

fn theme(text: &str) -> Result<Theme, String> {
    let all = [Theme::Light, Theme::Dark];
    all.into_iter().find(|theme| theme.name() == text).ok_or_else(|| "choose one of light, dark".to_owned())
}

/// What `--json` prints.
#[derive(Serialize)]
struct LinkJson {
    link: String,
    title: String,
    plan: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theme: Option<&'static str>,
}

/// A link is to mean one model and one GPU: what means several is answered with them.
fn names_one_of_each(plan: &Plan) -> Result<(), Failure> {
    let is_of_names =
        |problem: &Problem| matches!(problem.kind, ProblemKind::UnknownModel { .. } | ProblemKind::UnknownGpu { .. });
    let problems: Vec<Problem> = Job::resolve(plan).err().unwrap_or_default().into_iter().filter(is_of_names).collect();
    if problems.is_empty() { Ok(()) } else { Err(input::bad_plan(&problems)) }
}

/// Runs the command.
pub(crate) fn run(options: &LinkOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let mut link = estimate::link_from(options.source.as_deref())?;
    if let Some(other) = &options.other {
        link.other = Some(input::read_link(other)?.plan);
    }
    for plan in [Some(&link.plan), link.other.as_ref()].into_iter().flatten() {
        names_one_of_each(plan)?;
    }
    let shown = &mut link.shown;
    shown.view = options.view.or(shown.view);
    shown.lang = options.lang.clone().or(shown.lang.take());
    shown.theme = options.theme.or(shown.theme);
    let language = link.shown.lang.as_deref().and_then(Language::from_tag).unwrap_or(Language::English);
    let texts = language.texts();
    let title = match &link.other {
        Some(other) => texts.pair_title(&link.plan, other),
        None => texts.plan_title(&link.plan),
    };
    let page = options.page.as_deref().unwrap_or_default();
    let address = format!("{}#{}", page.trim_end_matches('#'), link.encode());
    if options.title {
        return Ok(writeln!(out, "{title}")?);
    }
    if options.json {
        let Link { plan, other, shown } = link;
        let answer = LinkJson {
            link: address,
            title,
            plan: plan.to_value(),
            other: other.map(|other| other.to_value()),
            view: shown.view.map(View::name),
            lang: shown.lang,
            theme: shown.theme.map(Theme::name),
        };
        return json::write(&answer, out);
    }
    Ok(writeln!(out, "{address}")?)
}
