//! Making a plan fit: the quickest sequence of levers, quality kept as long as it can be.

use super::judge::Judge;
use super::lever::{Level, Lever, shardings, shorter, smaller_batches};
use super::search::{Choice, Question, choices, leanest, quickest};
use super::waterfall::{Stage, waterfall};
use crate::gpu;
use crate::plan::{GpuChoice, Method, Plan, Task};
use crate::speed::{self, Range};

/// How a plan can be made to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Levers in the order they are pulled.
    pub levers: Vec<Lever>,
    /// The plan with all of them.
    pub plan: Plan,
    /// The mildest level that suffices.
    pub level: Level,
    /// Time of a step beside the plan's own, for as many tokens.
    pub time: Range,
    /// Seconds a token, rough.
    pub seconds_per_token: f64,
    /// What each lever saves in turn.
    pub stages: Vec<Stage>,
}

/// The answer for a plan.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It fits as it is.
    FitsAlready,
    /// It fits with these changes.
    Fits(Box<Advice>),
    /// No combination of levers suffices on its cards; the smallest hardware on which some does, if there is any.
    NothingFits {
        /// How many cards of which memory would do.
        hardware: Option<Box<Hardware>>,
    },
}

/// Cards on which a plan would fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// How many.
    pub num_gpus: u64,
    /// Catalogue id.
    pub gpu: &'static str,
    /// What each has, bytes.
    pub memory_bytes: u64,
    /// The plan on them.
    pub plan: Plan,
}

/// The levers that are asked about, in the order in which they are pulled and shown.
///
/// Ordered questions are those whose answers save memory whatever else is chosen. Sharding is not: DeepSpeed's buckets can
/// cost a small model more than sharding saves. Nor is checkpointing: under autocast it lets the 16-bit copies of all
/// weights live until forward ends. Nor are Liger's kernels, which make the head's gradient in forward.
fn questions(plan: &Plan, level: Level) -> Vec<Question> {
    let ordered = |levers: &[Lever]| Question { levers: levers.to_vec(), ordered: true };
    let mut questions = vec![
        ordered(&[Lever::ExpandableSegments]),
        ordered(&[Lever::Sdpa]),
        ordered(&[Lever::FusedOptimizer]),
        ordered(&[Lever::DropOutputs]),
        ordered(&[Lever::AdapterReference]),
        Question { levers: smaller_batches(plan).into_iter().map(Lever::MicroBatch).collect(), ordered: true },
        Question { levers: vec![Lever::Liger], ordered: false },
        Question { levers: vec![Lever::Checkpointing], ordered: false },
        Question { levers: shardings(plan.num_gpus), ordered: false },
    ];
    if level >= Level::Coarser {
        questions.push(Question {
            levers: vec![Lever::EightBitOptimizer, Lever::PagedOptimizer, Lever::Adafactor],
            ordered: false,
        });
        questions.push(Question { levers: vec![Lever::PureBfloat16], ordered: false });
    }
    questions.retain_mut(|question| {
        question.levers.retain(|lever| lever.apply(plan).is_some());
        !question.levers.is_empty()
    });
    questions
}

/// What changes the training itself, the mildest first: each is tried with all other levers before the next.
fn departures(plan: &Plan) -> Vec<Vec<Lever>> {
    let mut departures: Vec<Vec<Lever>> = Vec::new();
    let lengths = shorter(plan.max_length);
    match plan.method {
        Method::Full => departures.extend([vec![Lever::Lora], vec![Lever::Qlora]]),
        Method::Lora => departures.push(vec![Lever::Qlora]),
        Method::Qlora => {}
    }
    if plan.is_reinforcement() {
        let completion = plan.rollout.max_completion_length();
        let generations = plan.rollout.num_generations();
        departures.push(vec![Lever::CompletionLength((completion / 2).max(1))]);
        departures.push(vec![Lever::Generations((generations / 2).max(2))]);
        departures
            .push(vec![Lever::Generations((generations / 2).max(2)), Lever::CompletionLength((completion / 2).max(1))]);
    } else {
        departures.extend(lengths.iter().map(|length| vec![Lever::Length(*length)]));
    }
    if plan.method != Method::Qlora {
        departures.extend(lengths.iter().map(|length| vec![Lever::Qlora, Lever::Length(*length)]));
    }
    departures
}

/// The quickest way to make `plan` fit: levels in turn, within a level the fastest combination.
pub fn fit(plan: &Plan, judge: &impl Judge) -> Outcome {
    if judge.fits(plan) {
        return Outcome::FitsAlready;
    }
    if let Some(advice) = on_these_cards(plan, judge) {
        return Outcome::Fits(Box::new(advice));
    }
    Outcome::NothingFits { hardware: smallest_hardware(plan, judge).map(Box::new) }
}

fn on_these_cards(plan: &Plan, judge: &impl Judge) -> Option<Advice> {
    if plan.task == Task::Inference {
        return [Lever::ExpandableSegments, Lever::Qlora]
            .into_iter()
            .chain(shorter(plan.max_length).into_iter().map(Lever::Length))
            .find_map(|lever| {
                let changed = lever.apply(plan)?;
                judge.fits(&changed).then(|| advice(plan, vec![lever], changed, lever.level(), judge)).flatten()
            });
    }
    for level in [Level::Same, Level::Coarser] {
        let questions = questions(plan, level);
        if let Some(found) = quickest(&choices(plan, &questions), &questions, judge) {
            return advice(plan, levers_of(&found, &questions), found.plan, level, judge);
        }
    }
    departures(plan).into_iter().find_map(|departure| {
        let start = departure.iter().try_fold(plan.clone(), |plan, lever| lever.apply(&plan))?;
        let questions = questions(&start, Level::Coarser);
        let found = quickest(&choices(&start, &questions), &questions, judge)?;
        let levers = departure.into_iter().chain(levers_of(&found, &questions)).collect();
        advice(plan, levers, found.plan, Level::Different, judge)
    })
}

/// Level and seconds a token of the quickest plan that fits, found by estimating every combination in order of time: what
/// [`fit`] is checked against.
pub fn exhaustive(plan: &Plan, judge: &impl Judge) -> Option<(Level, f64)> {
    let first = |start: &Plan, level: Level| {
        let all = choices(start, &questions(start, level));
        let fitting = all.into_iter().find(|choice| judge.fits(&choice.plan))?;
        let time = speed::step_time_of(&fitting.plan).ok()?;
        Some(time.seconds.expected / time.tokens.max(1) as f64)
    };
    let on_these = [Level::Same, Level::Coarser].into_iter().find_map(|level| Some((level, first(plan, level)?)));
    on_these.or_else(|| {
        departures(plan).into_iter().find_map(|departure| {
            let start = departure.iter().try_fold(plan.clone(), |plan, lever| lever.apply(&plan))?;
            Some((Level::Different, first(&start, Level::Coarser)?))
        })
    })
}

fn levers_of(choice: &Choice, questions: &[Question]) -> Vec<Lever> {
    let of = |(answer, question): (&usize, &Question)| question.levers.get(answer.checked_sub(1)?).copied();
    choice.answers.iter().zip(questions).filter_map(of).collect()
}

fn advice(before: &Plan, levers: Vec<Lever>, plan: Plan, level: Level, judge: &impl Judge) -> Option<Advice> {
    let (base, changed) = (speed::step_time_of(before).ok()?, speed::step_time_of(&plan).ok()?);
    let stages = waterfall(before, &levers, judge);
    let seconds_per_token = changed.seconds.expected / changed.tokens.max(1) as f64;
    Some(Advice {
        levers,
        level,
        seconds_per_token,
        time: speed::ratio_per(&base, &changed, speed::Per::Token),
        plan,
        stages,
    })
}

/// The fewest, then the smallest cards on which the plan fits with levers that change nothing about the training.
fn smallest_hardware(plan: &Plan, judge: &impl Judge) -> Option<Hardware> {
    let mut cards: Vec<(u64, &'static str)> =
        gpu::catalogue().iter().map(|card| (card.memory_bytes(), card.id.as_ref())).collect();
    cards.sort_unstable();
    cards.dedup_by_key(|(bytes, _)| *bytes);
    let own = plan.subject().ok()?.memory_bytes;
    for num_gpus in [plan.num_gpus, 2, 4, 8, 16, 32, 64].into_iter().filter(|count| *count >= plan.num_gpus) {
        let more = Plan { num_gpus, ..plan.clone() };
        let questions = questions(&more, Level::Same);
        let all = choices(&more, &questions);
        let Some((leanest, judged)) = leanest(&all, &questions, judge) else { continue };
        for (memory_bytes, gpu) in cards.iter().filter(|(bytes, _)| *bytes >= own.max(judged.need_bytes)).copied() {
            let moved = Plan { gpu: GpuChoice::Catalogue(gpu.to_owned()), ..leanest.plan.clone() };
            if judge.fits(&moved) {
                return Some(Hardware { num_gpus, gpu, memory_bytes, plan: moved });
            }
        }
    }
    None
}
