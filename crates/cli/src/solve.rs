//! `headroom solve`: the most of something that fits.

use std::io::Write;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use headroom_core::advise::difference::Changed;
use headroom_core::advise::largest::{LargestModels, Offer, largest_models};
use headroom_core::advise::solve::{Unknown, fewest_gpus, most, smallest_gpu};
use headroom_core::advise::{Replayed, ReplayedIfClose};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::plan::Plan;
use headroom_core::units::bytes_text;
use headroom_text::ENGLISH;
use serde::Serialize;

use crate::layout::{Align, Table};
use crate::levers::changed_text;
use crate::outcome::{Failure, Outcome};
use crate::{estimate, json};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The largest value of a field.
    Most(Unknown),
    /// The fewest GPUs.
    Gpus,
    /// The smallest GPU.
    Gpu,
    /// The largest models.
    Model,
}

/// The questions that `--max` asks, by name.
fn largest() -> impl TypedValueParser<Value = Question> {
    let names = Unknown::ALL.iter().map(|unknown| unknown.name()).chain(["model"]);
    // Whatever is no field is the model: the parser lets no other name through.
    let question = |name: String| Unknown::from_name(&name).map_or(Question::Model, Question::Most);
    PossibleValuesParser::new(names).map(question)
}

/// The questions that `--min` asks, by name.
fn smallest() -> impl TypedValueParser<Value = Question> {
    let question =
        |name: String| if matches!(name.as_str(), "gpus" | "cards") { Question::Gpus } else { Question::Gpu };
    PossibleValuesParser::new([PossibleValue::new("gpus").alias("cards"), PossibleValue::new("gpu").alias("card")])
        .map(question)
}

/// Options of `headroom solve`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct SolveOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    pub(crate) source: Option<String>,
    /// The largest value of this that fits; without --max and --min everything is answered.
    #[arg(long, value_name = "WHAT", value_parser = largest())]
    max: Option<Question>,
    /// The fewest GPUs of this kind, or the smallest GPU.
    #[arg(long, value_name = "WHAT", value_parser = smallest(), conflicts_with = "max")]
    min: Option<Question>,
    /// Machine-readable: JSON.
    #[arg(long)]
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

/// Runs the command. Where nothing that was asked for fits, the outcome says so.
pub(crate) fn run(options: &SolveOptions, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let job = estimate::job_from(options.source.as_deref())?;
    let Some(question) = options.max.or(options.min) else { return all(&job, options.json, out) };
    if question == Question::Model {
        return models(&job, options.json, out);
    }
    let Answered { name, found, next } = answer(&job, question);
    let outcome = outcome(found.is_some());
    if options.json {
        json::write_sorted(&SolvedJson::of(name, found.as_ref(), next), out)?;
        return Ok(outcome);
    }
    if let Some((value, solved)) = found {
        writeln!(out, "{name}    {value} fits{}", next.map_or_else(String::new, |next| format!("; {next} does not")))?;
        writeln!(out, "link     #{}", link::encode(&solved))?;
    } else {
        writeln!(out, "{name}    nothing fits: see headroom advise")?;
    }
    Ok(outcome)
}

/// What the exit code says of a search.
const fn outcome(has_found: bool) -> Outcome {
    if has_found { Outcome::Fine } else { Outcome::DoesNotFit }
}

/// The largest models that fit, one of each family, and what has to be changed for each.
fn models(job: &Job, json: bool, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let LargestModels { offers, more } = largest_models(job);
    let outcome = outcome(!offers.is_empty());
    if json {
        let largest = offers.iter().max_by_key(|offer| offer.model.param_count);
        let answer = ModelsJson {
            unknown: "model",
            value: largest.map(|offer| offer.model.id),
            link: largest.map(|offer| link::encode(&offer.plan)),
            models: offers.iter().map(OfferJson::from).collect(),
            more,
        };
        json::write_sorted(&answer, out)?;
        return Ok(outcome);
    }
    if offers.is_empty() {
        writeln!(out, "model    nothing fits: see headroom advise")?;
    }
    for Offer { model, plan, judgement, changed, .. } in &offers {
        writeln!(
            out,
            "model    {} ({}) fits: {} of {}",
            model.id,
            model.released,
            bytes_text(judgement.need_bytes),
            bytes_text(judgement.gpu_bytes)
        )?;
        let changes = if changed.is_empty() { "nothing but the model".to_owned() } else { changed_text(changed) };
        writeln!(out, "change   {changes}")?;
        if judgement.host_bytes > 0 {
            writeln!(out, "host     {}", bytes_text(judgement.host_bytes))?;
        }
        writeln!(out, "link     #{}", link::encode(plan))?;
    }
    if more > 0 {
        writeln!(out, "{}", (ENGLISH.options().solve.largest_more)(more))?;
    }
    Ok(outcome)
}

#[derive(Serialize)]
struct ModelsJson<'a> {
    unknown: &'static str,
    value: Option<&'static str>,
    link: Option<String>,
    models: Vec<OfferJson<'a>>,
    /// Families that have a model that fits and are not among `models`.
    more: usize,
}

#[derive(Serialize)]
struct OfferJson<'a> {
    model: &'static str,
    family: &'static str,
    released: &'static str,
    param_count: u64,
    needed_bytes: u64,
    #[serde(rename = "card_bytes")]
    gpu_bytes: u64,
    host_bytes: u64,
    changed: &'a [Changed],
    link: String,
}

impl<'a> From<&'a Offer> for OfferJson<'a> {
    fn from(Offer { model, plan, judgement, changed, .. }: &'a Offer) -> Self {
        Self {
            model: model.id,
            family: model.group,
            released: model.released,
            param_count: model.param_count,
            needed_bytes: judgement.need_bytes,
            gpu_bytes: judgement.gpu_bytes,
            host_bytes: judgement.host_bytes,
            changed,
            link: link::encode(plan),
        }
    }
}

/// Answers every question that means something for the plan.
fn all(job: &Job, json: bool, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let means_something = |unknown: &Unknown| match unknown {
        Unknown::Batch | Unknown::Length => true,
        Unknown::Rank => job.adapts(),
        Unknown::Generations | Unknown::CompletionLength => job.plan().is_reinforcement(),
    };
    let unknowns = Unknown::ALL.iter().copied().filter(means_something).map(Question::Most);
    let questions = unknowns.chain([Question::Model, Question::Gpus, Question::Gpu]);
    let answers: Vec<Answered> = questions.map(|question| answer(job, question)).collect();
    let outcome = outcome(answers.iter().any(|answer| answer.found.is_some()));
    if json {
        let solved = |one: &Answered| SolvedJson::of(one.name, one.found.as_ref(), one.next);
        json::write_sorted(&answers.iter().map(solved).collect::<Vec<_>>(), out)?;
        return Ok(outcome);
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["", "fits", "does not"]);
    for Answered { name, found, next } in answers {
        let value = found.map_or_else(|| "nothing".to_owned(), |(value, _)| value);
        table.row([name.to_owned(), value, next.map_or_else(String::new, |next| next.to_string())]);
    }
    table.write(out)?;
    Ok(outcome)
}

/// Answers one question.
fn answer(job: &Job, question: Question) -> Answered {
    let named = |name, field, solved: Option<Plan>| {
        let text = |plan: &Plan| headroom_core::plan::field(field).map_or_else(String::new, |field| field.text(plan));
        Answered { name, found: solved.map(|plan| (text(&plan), plan)), next: None }
    };
    match question {
        Question::Most(unknown) => {
            let found = most(job, unknown, &Replayed);
            let next = found.as_ref().and_then(|most| most.next);
            Answered { name: unknown.name(), found: found.map(|most| (most.value.to_string(), most.plan)), next }
        }
        Question::Gpus => named("num_gpus", "num_gpus", fewest_gpus(job, &Replayed)),
        Question::Gpu => named("gpu", "gpu", smallest_gpu(job, &ReplayedIfClose)),
        Question::Model => {
            let largest = largest_models(job).offers.into_iter().max_by_key(|offer| offer.model.param_count);
            named("model", "model", largest.map(|offer| offer.plan))
        }
    }
}

/// An answer; without the last two where nothing fits.
#[derive(Serialize)]
struct SolvedJson {
    unknown: &'static str,
    value: Option<String>,
    #[serde(flatten)]
    found: Option<FoundJson>,
}

#[derive(Serialize)]
struct FoundJson {
    next_does_not_fit: Option<u64>,
    link: String,
}

impl SolvedJson {
    fn of(unknown: &'static str, found: Option<&(String, Plan)>, next: Option<u64>) -> Self {
        Self {
            unknown,
            value: found.map(|(value, _)| value.clone()),
            found: found.map(|(_, plan)| FoundJson { next_does_not_fit: next, link: link::encode(plan) }),
        }
    }
}
