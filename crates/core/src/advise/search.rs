//! The fastest combination of levers with which a plan fits.

use super::judge::{Judge, Judgement};
use super::lever::Lever;
use crate::memory::Fit;
use crate::plan::Plan;
use crate::speed;

/// One question: nothing, or one of some levers.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// The answers besides "leave it".
    pub(super) levers: Vec<Lever>,
    /// What is known of the answers' savings.
    order: Order,
    /// What all answers are about.
    about: About,
}

/// What a question's answers change, and what they therefore cannot save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The optimizer alone.
    Optimizer,
    /// Where weights, gradients and optimizer are held, and nothing about what forward keeps.
    Sharding,
    /// Anything.
    All,
}

/// Which answers save at least as much as others, whatever is chosen elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Nothing is known.
    Free,
    /// Later levers save as much as earlier ones; beside leaving it nothing is known.
    AmongLevers,
    /// Later levers save as much as earlier ones, and those as much as leaving it.
    Full,
}

impl Question {
    const fn new(levers: Vec<Lever>, order: Order) -> Self {
        Self { levers, order, about: About::All }
    }

    /// Later answers save at least as much as earlier ones, all as much as leaving it.
    pub(super) fn ordered(levers: &[Lever]) -> Self {
        Self::new(levers.to_vec(), Order::Full)
    }

    /// Later answers save at least as much as earlier ones.
    pub(super) fn ordered_among(levers: &[Lever]) -> Self {
        Self::new(levers.to_vec(), Order::AmongLevers)
    }

    /// Any answer may take more or less than another.
    pub(super) fn free(levers: &[Lever]) -> Self {
        Self::new(levers.to_vec(), Order::Free)
    }

    /// The same question, as one about the optimizer.
    pub(super) fn of_optimizer(self) -> Self {
        Self { about: About::Optimizer, ..self }
    }

    /// The same question, as one about where the training state is held.
    pub(super) fn of_sharding(self) -> Self {
        Self { about: About::Sharding, ..self }
    }

    /// Whether answer `one` saves no more than `other`, whatever the answers to other questions are.
    const fn no_more(&self, one: usize, other: usize) -> bool {
        match self.order {
            Order::Free => one == other,
            Order::AmongLevers => one == other || (one > 0 && one <= other),
            Order::Full => one <= other,
        }
    }
}

/// A combination: which answer to each question, 0 for "leave it".
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) answers: Vec<usize>,
    pub(super) plan: Plan,
    /// Seconds a token, rough; for ordering.
    pub(super) seconds: f64,
}

/// Answers that were found too big.
struct TooBig<'a> {
    answers: &'a [usize],
    /// Whether they would be with any optimizer.
    with_any_optimizer: bool,
    /// Whether they would be wherever the training state is held.
    with_any_sharding: bool,
}

impl<'a> TooBig<'a> {
    fn new(choice: &'a Choice, judged: &Judgement) -> Self {
        let with_any_sharding = judged.activation_bytes > judged.card_bytes;
        let with_any_optimizer = with_any_sharding || judged.without_optimizer_bytes > judged.card_bytes;
        Self { answers: &choice.answers, with_any_optimizer, with_any_sharding }
    }

    /// Whether `choice` is so too: it saves no more.
    fn covers(&self, choice: &Choice, questions: &[Question]) -> bool {
        choice.answers.iter().zip(self.answers).zip(questions).all(|((one, other), question)| {
            let either = match question.about {
                About::Optimizer => self.with_any_optimizer,
                About::Sharding => self.with_any_sharding,
                About::All => false,
            };
            either || question.no_more(*one, *other)
        })
    }
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
    let Ok(known) = plan.subject() else { return Vec::new() };
    let mut choices: Vec<Choice> = all
        .into_iter()
        .filter_map(|(answers, changed)| {
            let subject = changed.subject_like(plan, &known)?;
            let changes = answers.iter().filter(|answer| **answer > 0).count();
            let time = speed::step_time(&changed, &subject);
            let seconds = time.seconds.expected / time.tokens.max(1) as f64;
            let seconds = seconds * A_CHANGE.powi(i32::try_from(changes).unwrap_or(i32::MAX));
            Some(Choice { answers, plan: changed, seconds })
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
pub(super) fn quickest(choices: &[Choice], questions: &[Question], judge: &dyn Judge) -> Option<Choice> {
    let mut too_big: Vec<TooBig<'_>> = Vec::new();
    // What saves most is asked first: mostly it does not fit either, and rules out the rest.
    for choice in extremes(choices, questions) {
        if too_big.iter().any(|big| big.covers(choice, questions)) {
            continue;
        }
        let Some(judged) = judge.judge(&choice.plan) else { continue };
        if judged.fit != Fit::Fits {
            too_big.push(TooBig::new(choice, &judged));
        }
    }
    for choice in choices {
        if too_big.iter().any(|big| big.covers(choice, questions)) {
            continue;
        }
        let Some(judged) = judge.judge(&choice.plan) else { continue };
        if judged.fit == Fit::Fits {
            return Some(choice.clone());
        }
        too_big.push(TooBig::new(choice, &judged));
    }
    None
}

/// About the least that any choice needs: from the last answers to all questions, one question after the other is
/// answered as needs least, twice over. Estimates a few dozen plans where all would be hundreds.
pub(super) fn least(choices: &[Choice], questions: &[Question], judge: &dyn Judge) -> Option<(Choice, Judgement)> {
    let with = |answers: &[usize]| choices.iter().find(|choice| choice.answers == answers);
    let lasts = |choice: &&Choice| {
        choice.answers.iter().zip(questions).filter(|(answer, question)| **answer == question.levers.len()).count()
    };
    let start = choices.iter().max_by_key(lasts)?;
    let mut best = (start, judge.judge(&start.plan)?);
    for place in (0..questions.len()).chain(0..questions.len()) {
        for answer in 0..=questions.get(place).map_or(0, |question| question.levers.len()) {
            let mut answers = best.0.answers.clone();
            if let Some(slot) = answers.get_mut(place) {
                *slot = answer;
            }
            let Some(other) = with(&answers) else { continue };
            let Some(judged) = judge.judge(&other.plan) else { continue };
            if judged.need_bytes < best.1.need_bytes {
                best = (other, judged);
            }
        }
    }
    Some((best.0.clone(), best.1))
}

/// The choice that needs least, among those that save most by their questions' order.
pub(super) fn leanest(choices: &[Choice], questions: &[Question], judge: &dyn Judge) -> Option<(Choice, Judgement)> {
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
    one.iter().zip(other).zip(questions).all(|((one, other), question)| question.no_more(*one, *other))
}
