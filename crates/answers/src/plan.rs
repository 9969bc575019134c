//! Reading plans from text, and saying what is wrong with them.

use headroom_core::job::Job;
use headroom_core::link::{self, Link, Shown};
use headroom_core::plan::{Plan, Problem};
use headroom_text::problem_line;

/// The plan that `text` is: a JSON object, a link, or the fragment of one.
///
/// # Errors
/// A sentence that names what is wrong and its fix.
pub fn plan_from_text(text: &str) -> Result<Plan, String> {
    Ok(link_from_text(text)?.plan)
}

/// The same with what else a link says; JSON says nothing else.
///
/// # Errors
/// As [`plan_from_text`].
pub fn link_from_text(text: &str) -> Result<Link, String> {
    let text = text.trim();
    if !text.starts_with('{') && looks_like_link(text) {
        return from_link(text);
    }
    let plan = Plan::from_json(text).map_err(|problems| problems_text(&problems))?;
    Ok(Link { plan, other: None, shown: Shown::default() })
}

/// Whether `text` is a link: an address with a fragment, or the fragment alone, by hand with spaces in names.
pub fn looks_like_link(text: &str) -> bool {
    let is_address = text.contains('#') && !text.contains(char::is_whitespace);
    is_address || (!text.contains('\n') && link::is_fragment(text.trim_start_matches('#')))
}

/// What a link says. A script wants to know of every problem of it: nothing is read around here, unlike on the page.
///
/// # Errors
/// As [`plan_from_text`].
pub fn from_link(text: &str) -> Result<Link, String> {
    let pairs = text.trim_start_matches('#');
    let decoded = if link::is_fragment(pairs) { link::decode_by_hand(pairs) } else { link::decode(text) };
    if !decoded.problems.is_empty() {
        return Err(problems_text(&decoded.problems));
    }
    Ok(Link { plan: decoded.plan, other: decoded.other, shown: decoded.shown })
}

/// The job of `plan`.
///
/// # Errors
/// As [`plan_from_text`].
pub fn job_of(plan: &Plan) -> Result<Job, String> {
    Job::resolve(plan).map_err(|problems| problems_text(&problems))
}

/// Problems in one line.
pub fn problems_text(problems: &[Problem]) -> String {
    if problems.is_empty() {
        return "the plan cannot be estimated".to_owned();
    }
    one_line(&problems.iter().map(problem_line).collect::<Vec<_>>().join(" | "))
}

/// `text` without line breaks and control characters, so that hostile input cannot steer a terminal.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
