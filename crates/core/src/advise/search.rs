//! The fastest combination of levers with which a plan fits.

use super::lever::Lever;
use super::oracle::{FitOracle, Judgement};
use crate::job::Job;
use crate::memory::Fit;
use crate::order;
use crate::speed::{self, LayerTimes};
use std::rc::Rc;

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
    /// What forward keeps and how it is allocated, and nothing about weights, gradients and optimizer.
    Forward,
    /// What collectives use on their way, and nothing about what forward keeps nor, as long as no weights are gathered, about
    /// weights, gradients and optimizer. Stage 3 leaves parameters whole that are smaller than a threshold, which goes with its
    /// buckets.
    Buckets,
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

    /// The same question, as one about what forward keeps.
    pub(super) fn of_forward(self) -> Self {
        Self { about: About::Forward, ..self }
    }

    /// The same question, as one about what collectives use on their way.
    pub(super) fn of_buckets(self) -> Self {
        Self { about: About::Buckets, ..self }
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
    pub(super) job: Rc<Job>,
    /// Seconds a token, rough; for ordering.
    pub(super) seconds: f64,
}

/// What is known of plans that were judged: bounds for those that were not.
#[derive(Default)]
struct Bounds<'a> {
    gpu_bytes: u64,
    /// Answers that were found too big.
    too_big: Vec<&'a [usize]>,
    /// Answers that put more on the host than it has.
    too_much_for_host: Vec<&'a [usize]>,
    /// Answers, and what forward keeps with them, context included: the same wherever the training state is held.
    forward: Vec<(&'a [usize], u64)>,
    /// Answers, and what forward and backward take with them, context included, with any optimizer.
    without_optimizer: Vec<(&'a [usize], u64)>,
    /// Answers, and what weights and optimizer state take with them: the same whatever forward keeps.
    standing: Vec<(&'a [usize], u64)>,
}

impl<'a> Bounds<'a> {
    /// `choice` puts more on the host than it has: so do others that offload alike. How many activations are offloaded says
    /// nothing about another batch.
    fn add_too_much_for_host(&mut self, choice: &'a Choice) {
        if !choice.job.plan.activation_offloading {
            self.too_much_for_host.push(&choice.answers);
        }
    }

    fn add(&mut self, choice: &'a Choice, judged: &Judgement) {
        let answers = &choice.answers[..];
        self.gpu_bytes = judged.gpu_bytes;
        if judged.fit != Fit::Fits {
            self.too_big.push(answers);
        }
        self.forward.push((answers, judged.activation_bytes));
        if judged.without_optimizer_bytes > judged.gpu_bytes {
            self.without_optimizer.push((answers, judged.without_optimizer_bytes));
        }
        // Of what the optimizer's step takes, the part that is more counts as if it stood all the time: it is compared
        // with the GPU alone.
        let standing = if judged.update_bytes > judged.gpu_bytes { judged.update_bytes } else { judged.standing_bytes };
        self.standing.push((answers, standing));
    }

    /// Whether `choice` cannot fit: it saves no more than one that does not, or its parts are too much.
    fn rule_out(&self, choice: &Choice, questions: &[Question]) -> bool {
        let no_more = |other: &[usize], apart: &dyn Fn(About) -> bool| {
            let mut pairs = choice.answers.iter().zip(other).zip(questions);
            pairs.all(|((one, other), question)| apart(question.about) || question.no_more(*one, *other))
        };
        let most = |of: &[(&[usize], u64)], apart: &dyn Fn(About) -> bool| {
            let known = of.iter().filter(|(other, _)| no_more(other, apart)).map(|(_, bytes)| *bytes);
            known.max().unwrap_or(0)
        };
        // What is offloaded does not depend on what forward keeps.
        let offloads_alike = |other: &[usize]| {
            let mut pairs = choice.answers.iter().zip(other).zip(questions);
            pairs.all(|((one, other), question)| question.about == About::Forward || one == other)
        };
        if self.too_big.iter().any(|other| no_more(other, &|_| false))
            || self.too_much_for_host.iter().any(|other| offloads_alike(other))
            || self.without_optimizer.iter().any(|(other, _)| no_more(other, &|about| about == About::Optimizer))
        {
            return true;
        }
        let gathers = choice.job.plan.zero_stage == 3;
        let forward =
            most(&self.forward, &|about| matches!(about, About::Optimizer | About::Sharding | About::Buckets));
        let standing = most(&self.standing, &|about| about == About::Forward || (about == About::Buckets && !gathers));
        forward.saturating_add(standing) > self.gpu_bytes
    }
}

/// What a change is worth in time: of two plans that are equally quick the one with fewer changes is taken.
const A_CHANGE: f64 = 1.0005;

/// Every combination that makes a plan, the quickest first.
pub(super) fn choices(job: &Job, questions: &[Question]) -> Vec<Choice> {
    let mut all = vec![(Vec::new(), job.plan.clone())];
    for question in questions {
        let mut next = Vec::with_capacity(all.len() * (question.levers.len() + 1));
        for (answers, plan) in all {
            for (i, lever) in question.levers.iter().enumerate() {
                if lever.is_in_turn(&plan)
                    && let Some(changed) = lever.change(&plan)
                {
                    next.push((with(&answers, i + 1), changed));
                }
            }
            next.push((with(&answers, 0), plan));
        }
        all = next;
    }
    // Levers that take no time by themselves: what is known without them holds with them.
    let takes_time: Vec<bool> =
        questions.iter().map(|question| question.levers.iter().any(Lever::takes_time)).collect();
    let levers = |(question, counts): (&Question, &bool)| if *counts { question.levers.len() + 1 } else { 1 };
    let radices: Vec<usize> = questions.iter().zip(&takes_time).map(levers).collect();
    let mut times = vec![None; radices.iter().product()];
    let layer_times = LayerTimes::default();
    let mut choices: Vec<Choice> = all
        .into_iter()
        .filter_map(|(answers, changed)| {
            let job = job.with_valid_fields(changed)?;
            let changes = answers.iter().filter(|answer| **answer > 0).count();
            let place = answers.iter().zip(&radices).fold(0, |place, (answer, radix)| place * radix + answer % radix);
            let seconds = *times.get_mut(place)?.get_or_insert_with(|| {
                let time = speed::step_time_with(&job, &layer_times);
                time.seconds.expected / time.tokens.max(1) as f64
            });
            let seconds = seconds * A_CHANGE.powi(i32::try_from(changes).unwrap_or(i32::MAX));
            Some(Choice { answers, job: Rc::new(job), seconds })
        })
        .collect();
    order::sort(&mut choices, |a, b| a.seconds.total_cmp(&b.seconds));
    choices
}

fn with(answers: &[usize], answer: usize) -> Vec<usize> {
    answers.iter().copied().chain([answer]).collect()
}

/// The quickest choice that fits.
///
/// A choice is not estimated where others that were tell that it cannot fit. After one that does not fit comes the choice
/// that saves most among those like it, with the last answers to all ordered questions: mostly it does not fit either,
/// and rules out all between.
pub(super) fn quickest(choices: &[Choice], questions: &[Question], oracle: &dyn FitOracle) -> Option<Choice> {
    let mut bounds = Bounds::default();
    let mut unasked: Option<Vec<&Choice>> = None;
    for choice in choices {
        if bounds.rule_out(choice, questions) {
            continue;
        }
        let Some(judged) = oracle.judge(&choice.job) else { continue };
        if !judged.suits_host(&choice.job) {
            bounds.add_too_much_for_host(choice);
        } else if judged.fit == Fit::Fits {
            return Some(choice.clone());
        }
        bounds.add(choice, &judged);
        if judged.fit == Fit::Fits {
            continue;
        }
        let unasked = unasked.get_or_insert_with(|| extremes(choices, questions));
        let saves_more = |other: &&Choice| saves_no_more(&choice.answers, &other.answers, questions);
        if let Some(place) = unasked.iter().position(saves_more) {
            let extreme = unasked.swap_remove(place);
            if extreme.answers != choice.answers
                && !bounds.rule_out(extreme, questions)
                && let Some(judged) = oracle.judge(&extreme.job)
            {
                if !judged.suits_host(&extreme.job) {
                    bounds.add_too_much_for_host(extreme);
                }
                bounds.add(extreme, &judged);
            }
        }
    }
    None
}

/// About the least that any choice needs that the host has room for: from the last answers to all questions, one question after the other is
/// answered as needs least, twice over. Estimates a few dozen plans where all would be hundreds.
pub(super) fn least<'a>(
    choices: &'a [Choice],
    questions: &[Question],
    oracle: &dyn FitOracle,
) -> Option<(Choice, Judgement)> {
    let with = |answers: &[usize]| choices.iter().find(|choice| choice.answers == answers);
    let lasts = |choice: &&Choice| {
        choice.answers.iter().zip(questions).filter(|(answer, question)| **answer == question.levers.len()).count()
    };
    let rank = |choice: &Choice, judged: &Judgement| (!judged.suits_host(&choice.job), judged.need_bytes);
    let descend = |start: &'a Choice| {
        let mut best = (start, oracle.judge(&start.job)?);
        for place in (0..questions.len()).chain(0..questions.len()) {
            for answer in 0..=questions.get(place).map_or(0, |question| question.levers.len()) {
                let mut answers = best.0.answers.clone();
                if let Some(slot) = answers.get_mut(place) {
                    *slot = answer;
                }
                let Some(other) = with(&answers) else { continue };
                let Some(judged) = oracle.judge(&other.job) else { continue };
                if rank(other, &judged) < rank(best.0, &best.1) {
                    best = (other, judged);
                }
            }
        }
        Some(best)
    };
    // From where all that saves is done, and from the plan itself: levers that cost more than they save come in pairs, and
    // neither goes by itself.
    let most = choices.iter().max_by_key(lasts)?;
    let own = choices.iter().find(|choice| choice.answers.iter().all(|answer| *answer == 0));
    let found = [Some(most), own].into_iter().flatten().filter_map(descend);
    let (choice, judged) = found.min_by_key(|(choice, judged)| rank(choice, judged))?;
    judged.suits_host(&choice.job).then(|| (choice.clone(), judged))
}

/// The choices that save most by their questions' order, and what they need.
pub(super) fn leanest(choices: &[Choice], questions: &[Question], oracle: &dyn FitOracle) -> Vec<(Rc<Job>, Judgement)> {
    let judged = |choice: &Choice| oracle.judge(&choice.job).map(|judged| (choice.job.clone(), judged));
    extremes(choices, questions).into_iter().filter_map(judged).collect()
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
