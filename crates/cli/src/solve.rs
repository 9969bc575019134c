//! `headroom solve`: the most of something that fits.

use std::io::Write;

use headroom_core::advise::solve::{Unknown, fewest_cards, largest_model, most, smallest_card};
use headroom_core::advise::{Replayed, ReplayedIfClose};
use headroom_core::link;
use headroom_core::plan::{Method, Plan, Task};
use serde_json::{Value, json};

use crate::estimate;
use crate::layout::{Align, Table};
use crate::{Failure, input};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The largest value of a field.
    Most(Unknown),
    /// The fewest cards.
    Cards,
    /// The smallest card.
    Card,
    /// The largest model.
    Model,
}

impl Question {
    /// The question that `--max NAME` asks.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        if name == "model" { Some(Self::Model) } else { Unknown::from_name(name).map(Self::Most) }
    }
}

/// Options of `headroom solve`.
#[derive(Default)]
pub(crate) struct SolveOptions {
    /// File, `-`, link or JSON; nothing: standard input.
    pub(crate) source: Option<String>,
    /// What is asked for; nothing: everything.
    pub(crate) question: Option<Question>,
    /// Machine-readable.
    pub(crate) json: bool,
}

/// What a question comes to.
struct Answered {
    name: &'static str,
    /// The value and the plan with it; none where nothing fits.
    found: Option<(String, Plan)>,
    /// The next value, which does not fit.
    next: Option<u64>,
}

/// Runs the command.
pub(crate) fn run(options: &SolveOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = estimate::plan_from(options.source.as_deref())?;
    plan.subject().map_err(|problems| input::bad_plan(&problems))?;
    let Some(question) = options.question else { return all(&plan, options.json, out) };
    let Answered { name, found, next } = answer(&plan, question);
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(name, found.as_ref(), next)).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    let Some((value, solved)) = found else { return Ok(writeln!(out, "{name}    nothing fits: see headroom advise")?) };
    writeln!(out, "{name}    {value} fits{}", next.map_or_else(String::new, |next| format!("; {next} does not")))?;
    Ok(writeln!(out, "link     #{}", link::encode(&solved))?)
}

/// Answers every question that means something for the plan.
fn all(plan: &Plan, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let means_something = |unknown: &Unknown| match unknown {
        Unknown::Batch | Unknown::Length => true,
        Unknown::Rank => plan.method != Method::Full && plan.task != Task::Inference,
        Unknown::Generations | Unknown::CompletionLength => plan.is_reinforcement(),
    };
    let unknowns = Unknown::ALL.iter().copied().filter(means_something).map(Question::Most);
    let questions = unknowns.chain([Question::Model, Question::Cards, Question::Card]);
    let answers: Vec<Answered> = questions.map(|question| answer(plan, question)).collect();
    if json {
        let answers: Vec<Value> = answers.iter().map(|one| as_json(one.name, one.found.as_ref(), one.next)).collect();
        serde_json::to_writer_pretty(&mut *out, &answers).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["", "fits", "does not"]);
    for Answered { name, found, next } in answers {
        let value = found.map_or_else(|| "nothing".to_owned(), |(value, _)| value);
        table.row([name.to_owned(), value, next.map_or_else(String::new, |next| next.to_string())]);
    }
    Ok(table.write(out)?)
}

/// Answers one question.
fn answer(plan: &Plan, question: Question) -> Answered {
    let named = |name, field, solved: Option<Plan>| {
        let text = |plan: &Plan| headroom_core::plan::field(field).map_or_else(String::new, |field| field.text(plan));
        Answered { name, found: solved.map(|plan| (text(&plan), plan)), next: None }
    };
    match question {
        Question::Most(unknown) => {
            let found = most(plan, unknown, &Replayed);
            let next = found.as_ref().and_then(|most| most.next);
            Answered { name: unknown.name(), found: found.map(|most| (most.value.to_string(), most.plan)), next }
        }
        Question::Cards => named("num_gpus", "num_gpus", fewest_cards(plan, &Replayed)),
        Question::Card => named("gpu", "gpu", smallest_card(plan, &ReplayedIfClose)),
        Question::Model => named("model", "model", largest_model(plan, &ReplayedIfClose)),
    }
}

fn as_json(name: &str, found: Option<&(String, Plan)>, next: Option<u64>) -> Value {
    match found {
        Some((value, solved)) => {
            json!({"unknown": name, "value": value, "next_does_not_fit": next, "link": link::encode(solved)})
        }
        None => json!({"unknown": name, "value": null}),
    }
}
