//! `headroom link`: a plan, or two that are compared, as a link; its title; what a link says as JSON.

use std::io::Write;

use headroom_answers::{Wanted, linked};
use headroom_core::link::{Theme, View};

use crate::outcome::Failure;
use crate::{estimate, input, json};

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
    #[arg(long, value_name = "VIEW", value_parser = Wanted::view)]
    view: Option<View>,
    /// The language to open it in: en or zh.
    #[arg(long, value_name = "TAG", value_parser = Wanted::lang)]
    lang: Option<String>,
    /// The colours to open it in: light or dark.
    #[arg(long, value_name = "THEME", value_parser = Wanted::theme)]
    theme: Option<Theme>,
    /// A short title of what it shows instead of the link, in the language of --lang.
    #[arg(long, conflicts_with = "json")]
    title: bool,
    /// What the link says as JSON: every field of the plan.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &LinkOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let mut link = estimate::link_from(options.source.as_deref())?;
    if let Some(other) = &options.other {
        link.other = Some(input::read_link(other)?.plan);
    }
    let wanted =
        Wanted { page: options.page.clone(), view: options.view, lang: options.lang.clone(), theme: options.theme };
    let linked = linked(link, &wanted).map_err(Failure::BadInput)?;
    if options.json {
        return json::answer(linked.to_json(), out);
    }
    Ok(writeln!(out, "{}", if options.title { linked.title } else { linked.address })?)
}
