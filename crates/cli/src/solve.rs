//! `headroom solve`: the most of something that fits.

use std::io::Write;

use headroom_core::advise::solve::{Unknown, fewest_cards, largest_model, most, smallest_card};
use headroom_core::advise::{Judge, Quick, Replayed};
use headroom_core::link;
use headroom_core::plan::Plan;
use serde_json::json;

use crate::estimate;
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
    /// What is asked for.
    pub(crate) question: Option<Question>,
    /// Machine-readable.
    pub(crate) json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &SolveOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = estimate::plan_from(options.source.as_deref())?;
    plan.subject().map_err(|problems| input::bad_plan(&problems))?;
    let Some(question) = options.question else {
        return Err(Failure::BadInput(
            "solve needs --max batch, length, rank, generations, completion_length or model, or --min cards or card"
                .to_owned(),
        ));
    };
    let (name, value, next, solved) = match question {
        Question::Most(unknown) => {
            let Some(most) = most(&plan, unknown, &Replayed) else { return nothing(options, unknown.name(), out) };
            (unknown.name(), most.value.to_string(), most.next, most.plan)
        }
        Question::Cards => match fewest_cards(&plan, &Replayed) {
            Some(solved) => ("num_gpus", solved.num_gpus.to_string(), None, solved),
            None => return nothing(options, "num_gpus", out),
        },
        Question::Card => match smallest_card(&plan, &Confirmed) {
            Some(solved) => ("gpu", named(&solved, "gpu"), None, solved),
            None => return nothing(options, "gpu", out),
        },
        Question::Model => match largest_model(&plan, &Confirmed) {
            Some(solved) => ("model", named(&solved, "model"), None, solved),
            None => return nothing(options, "model", out),
        },
    };
    if options.json {
        let answer = json!({"unknown": name, "value": value, "next_does_not_fit": next, "link": link::encode(&solved)});
        serde_json::to_writer_pretty(&mut *out, &answer).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    writeln!(out, "{name}    {value} fits{}", next.map_or_else(String::new, |next| format!("; {next} does not")))?;
    Ok(writeln!(out, "link     #{}", link::encode(&solved))?)
}

/// Replays only what the quick look lets pass: for long lists.
struct Confirmed;

impl Judge for Confirmed {
    fn judge(&self, plan: &Plan) -> Option<headroom_core::advise::Judgement> {
        let quick = Quick.judge(plan)?;
        // A quarter above the card cannot be made up for by any layout of segments.
        if quick.need_bytes > quick.card_bytes.saturating_add(quick.card_bytes / 4) {
            Some(quick)
        } else {
            Replayed.judge(plan)
        }
    }
}

fn named(plan: &Plan, field: &str) -> String {
    headroom_core::plan::field(field).map_or_else(String::new, |field| field.text(plan))
}

fn nothing(options: &SolveOptions, name: &str, out: &mut dyn Write) -> Result<(), Failure> {
    if options.json {
        return Ok(writeln!(out, "{}", json!({"unknown": name, "value": null}))?);
    }
    Ok(writeln!(out, "{name}    nothing fits: see headroom advise")?)
}
