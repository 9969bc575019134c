//! The fastest combination of levers with which a plan fits.

use super::judge::{Judge, Judgement};
use super::lever::Lever;
use crate::plan::Plan;
use crate::speed;

/// One question: nothing, or one of some levers. Within a question later levers save at least as much as earlier ones when
/// `ordered`.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// The answers besides "leave it".
    pub(super) levers: Vec<Lever>,
    /// Whether later answers take less memory than earlier ones, whatever the other answers are.
    pub(super) ordered: bool,
}

/// A combination: which answer to each question, 0 for "leave it".
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) answers: Vec<usize>,
    pub(super) plan: Plan,
    /// Seconds of a step, rough; for ordering.
    pub(super) seconds: f64,
}

/// What a change is worth in time: of two plans that are equally quick the one with fewer changes is taken.
const A_CHANGE: f64 = 1.0005;

/// Every combination that makes a plan, the quickest first.
pub(super) fn choices(plan: &Plan, questions: &[Question]) -> Vec<Choice> {
    let mut all = vec![(Vec::new(), plan.clone())];
    for question in questions {
        let mut next = Vec::with_capacity(all.len() * (question.levers.len() + 1));
        for (answers, plan) in all {
            for (i, lever) in question.levers.iter().enumerate() {
                if let Some(changed) = lever.change(&plan) {
                    next.push((with(&answers, i + 1), changed));
                }
            }
            next.push((with(&answers, 0), plan));
        }
        all = next;
    }
    let mut choices: Vec<Choice> = all
        .into_iter()
        .filter_map(|(answers, plan)| {
            let subject = plan.subject().ok()?;
            let changes = answers.iter().filter(|answer| **answer > 0).count();
            let time = speed::step_time(&plan, &subject);
            let seconds = time.seconds.expected / time.tokens.max(1) as f64;
            Some(Choice { answers, plan, seconds: seconds * A_CHANGE.powi(i32::try_from(changes).unwrap_or(i32::MAX)) })
        })
        .collect();
    choices.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    choices
}

fn with(answers: &[usize], answer: usize) -> Vec<usize> {
    answers.iter().copied().chain([answer]).collect()
}

/// The quickest choice that fits.
///
/// A choice that saves no more than one that did not fit is not estimated: the same answer to questions without order,
/// and an earlier or the same answer to ordered ones.
pub(super) fn quickest(choices: &[Choice], questions: &[Question], judge: &impl Judge) -> Option<Choice> {
    let mut too_big: Vec<&[usize]> = Vec::new();
    // What saves most is asked first: mostly it does not fit either, and rules out the rest.
    for choice in extremes(choices, questions) {
        if !judge.fits(&choice.plan) {
            too_big.push(&choice.answers);
        }
    }
    for choice in choices {
        if too_big.iter().any(|big| saves_no_more(&choice.answers, big, questions)) {
            continue;
        }
        if judge.fits(&choice.plan) {
            return Some(choice.clone());
        }
        too_big.push(&choice.answers);
    }
    None
}

/// The choice that needs least, among those that save most by their questions' order.
pub(super) fn leanest(choices: &[Choice], questions: &[Question], judge: &impl Judge) -> Option<(Choice, Judgement)> {
    let judged = |choice: &Choice| judge.judge(&choice.plan).map(|judged| (choice.clone(), judged));
    let all = extremes(choices, questions).into_iter().filter_map(judged);
    all.min_by_key(|(_, judged)| judged.need_bytes)
}

/// For each combination of answers to questions without order, the choice with the last answer to all others.
fn extremes<'a>(choices: &'a [Choice], questions: &[Question]) -> Vec<&'a Choice> {
    let mut extremes: Vec<&Choice> = Vec::new();
    for choice in choices {
        let beaten = |other: &&Choice| saves_no_more(&choice.answers, &other.answers, questions);
        if !extremes.iter().any(beaten) {
            extremes.retain(|other| !saves_no_more(&other.answers, &choice.answers, questions));
            extremes.push(choice);
        }
    }
    extremes
}

/// Whether `one` takes at least as much memory as `other`, by the questions' order alone.
fn saves_no_more(one: &[usize], other: &[usize], questions: &[Question]) -> bool {
    one.iter().zip(other).zip(questions).all(
        |((one, other), question)| {
            if question.ordered { one <= other } else { one == other }
        },
    )
}
