//! Making a plan fit: at each level the quickest sequence of levers.

use super::hardware::{Hardware, hardware};
use super::lever::{Level, Lever, has_wide_adapters, mini_batches, shardings, shorter, smaller_batches, smaller_model};
use super::oracle::{FitOracle, Remembering};
use super::precision::Precision;
use super::search::{Choice, Question, choices, least, quickest};
use super::waterfall::{Stage, waterfall};
use crate::job::Job;
use crate::order;
use crate::plan::{Framework, Method, MixedPrecision, Plan, Task};
use crate::speed::{self, Range};
use std::rc::Rc;

/// How a plan can be made to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Levers in the order they are pulled: mild ones first, of those the ones that cost least time.
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

/// The answer of one level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelAnswer {
    /// Which.
    pub level: Level,
    /// What was found there.
    pub found: Found,
    /// The mildest level that fits too and takes hardly longer: then nobody has to go as far as this one.
    pub enough: Option<Level>,
}

/// What a level offers: its own best way, whether or not a milder level suffices.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// With these changes it fits.
    Fits(Box<Advice>),
    /// Nothing suffices.
    Short(Option<Box<Leanest>>),
}

/// The least that a level reaches.
#[derive(Debug, Clone, PartialEq)]
pub struct Leanest {
    /// The plan.
    pub plan: Plan,
    /// Its expected need, bytes.
    pub need_bytes: u64,
}

/// The answer for a plan that does not fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Escalation {
    /// One answer for each of [`Level::ALL`].
    pub levels: Vec<LevelAnswer>,
    /// Where no level suffices: hardware that would, the mildest and fewest changes first. Empty: none is known.
    pub hardware: Vec<Hardware>,
}

impl Escalation {
    /// The mildest advice there is.
    pub fn mildest(&self) -> Option<&Advice> {
        self.levels.iter().find_map(|answer| match &answer.found {
            Found::Fits(advice) => Some(&**advice),
            Found::Short(_) => None,
        })
    }
}

/// A harsher level has to be so much quicker than a milder one to be worth its price: less is within the noise of runs.
const WORTH_IT: f64 = 0.95;

/// The levers that are asked about.
///
/// Ordered questions are those whose answers save memory whatever else is chosen. Sharding is not: DeepSpeed's buckets can
/// cost a small model more than sharding saves. Nor is checkpointing: under autocast it lets the 16-bit copies of all
/// weights live until forward ends. Nor are Liger's kernels, which make the head's gradient in forward, nor 4 bits, which
/// are unpacked for use, nor activation offloading, which brings back several tensors at once.
pub(super) fn questions(job: &Job, level: Level) -> Vec<Question> {
    let plan = &job.plan;
    let batches: Vec<Lever> = smaller_batches(plan).into_iter().map(Lever::MicroBatch).collect();
    let caches: Vec<Lever> = mini_batches(plan).into_iter().map(Lever::GradCache).collect();
    // The pass that computes them beforehand is not part of a step: worth it where a whole model goes.
    let precomputed: &[Lever] = if plan.method == Method::Full { &[Lever::PrecomputedReference] } else { &[] };
    let coarser = level >= Level::Coarser;
    let shardings = shardings(plan.num_gpus);
    // Without accumulation no gradients live while forward runs; the first accumulation brings them.
    let batches = match plan.gradient_accumulation_steps {
        1 => Question::ordered_among(&batches),
        _ => Question::ordered(&batches),
    }
    .of_forward();
    let shardings = match plan.distributed.framework {
        // FSDP casts as it gathers, DeepSpeed casts wide adapters, and autocast keeps 16-bit copies of whole weights:
        // forward then keeps other tensors.
        Framework::Fsdp1 | Framework::Fsdp2 => Question::free(&shardings),
        _ if has_wide_adapters(plan) || plan.mixed_precision != MixedPrecision::No => Question::free(&shardings),
        Framework::Ddp | Framework::Deepspeed => Question::free(&shardings).of_sharding(),
    };
    let mut questions = vec![
        Question::ordered(&[Lever::ExpandableSegments]).of_forward(),
        Question::ordered(&[Lever::Sdpa]).of_forward(),
        Question::ordered(&[Lever::FusedOptimizer]).of_optimizer(),
        Question::ordered(&[Lever::DropOutputs]).of_forward(),
        Question::ordered(&[Lever::AdapterReference]),
        Question::ordered(&[Lever::SharedInstances]),
        Question::ordered(&[Lever::OffloadedInstances]),
        Question::ordered(precomputed),
        batches,
        Question::free(&[Lever::PaddingFree, Lever::Padded]).of_forward(),
        Question::free(&[Lever::Liger, Lever::LigerLayers, Lever::ChunkedLoss]).of_forward(),
        Question::free(&caches).of_forward(),
        Question::free(&[Lever::Checkpointing]).of_forward(),
        Question::free(&[Lever::OffloadActivations]).of_forward(),
        Question::free(&[Lever::NewerTrainer]),
        shardings,
        // Asked once the sharding is known: without any there are no buckets.
        Question::free(&[Lever::SmallBuckets]).of_buckets(),
    ];
    if coarser {
        let optimizers = [Lever::EightBitOptimizer, Lever::PagedOptimizer, Lever::Adafactor];
        // The states of adapters are small: one way to make them smaller is enough to ask about.
        let optimizers = if plan.method == Method::Full { &optimizers[..] } else { &optimizers[..1] };
        questions.push(Question::free(optimizers).of_optimizer());
        questions.push(Question::free(&[Lever::HalfPrecisionBase, Lever::PureBfloat16]));
        questions.push(Question::free(&[Lever::NarrowAdapters]));
        questions.push(Question::free(&[Lever::QuantizedInstances]));
    }
    questions.retain_mut(|question| {
        question.levers.retain(|lever| lever.apply(job).is_some());
        !question.levers.is_empty()
    });
    questions
}

/// Other methods to train the same model on the same data, the mildest first.
fn methods(plan: &Plan) -> Vec<Vec<Lever>> {
    match plan.method {
        Method::Full => vec![vec![Lever::Lora], vec![Lever::Qlora]],
        Method::Lora => vec![vec![Lever::Qlora]],
        Method::Qlora => Vec::new(),
    }
}

/// What changes the training itself, the mildest first: each is tried with all other levers before the next.
fn departures(plan: &Plan) -> Vec<Vec<Lever>> {
    let mut departures = methods(plan);
    let lengths = shorter(plan.max_length);
    if plan.is_reinforcement() {
        let completion = Lever::CompletionLength((plan.rollout.max_completion_length() / 2).max(1));
        let generations = Lever::Generations((plan.rollout.num_generations() / 2).max(2));
        departures.extend([vec![completion], vec![generations], vec![generations, completion]]);
    } else {
        departures.extend(lengths.iter().map(|length| vec![Lever::Length(*length)]));
    }
    if plan.method != Method::Qlora {
        departures.extend(lengths.iter().map(|length| vec![Lever::Qlora, Lever::Length(*length)]));
    }
    if let Some(model) = smaller_model(plan) {
        departures.push(vec![Lever::Model(model)]);
        departures.push(vec![Lever::Model(model), Lever::Qlora]);
    }
    departures
}

/// What each level can do for `plan`: within a level the fastest combination of levers with which it fits.
pub fn escalate(job: &Job, oracle: &dyn FitOracle) -> Escalation {
    let oracle = &Remembering::new(oracle);
    let mut levels = Vec::with_capacity(Level::ALL.len());
    let mut fitting: Vec<(Level, f64)> = Vec::new();
    for level in Level::ALL.iter().copied() {
        let found = at_level(job, level, fitting.is_empty(), oracle);
        let mut enough = None;
        if let Found::Fits(advice) = &found {
            let seconds = advice.seconds_per_token;
            enough = fitting.iter().find(|(_, milder)| *milder * WORTH_IT <= seconds).map(|(level, _)| *level);
            fitting.push((level, seconds));
        }
        levels.push(LevelAnswer { level, found, enough });
    }
    let short = |answer: &LevelAnswer| match &answer.found {
        Found::Short(Some(leanest)) => Some(leanest.clone()),
        Found::Short(None) | Found::Fits(_) => None,
    };
    let leanest = levels.iter().filter_map(short).min_by_key(|leanest| leanest.need_bytes);
    let hardware = if fitting.is_empty() { hardware(job, leanest.as_deref(), oracle) } else { Vec::new() };
    Escalation { levels, hardware }
}

/// Which choices are a level's own: at the first nothing has fewer bits than in the plan, at the second something has.
fn belongs(level: Level, own: &Precision) -> impl Fn(&Job) -> bool + '_ {
    move |changed| match level {
        Level::Same => !Precision::of(changed).is_below(own),
        Level::Coarser => Precision::of(changed).is_below(own),
        Level::Different => true,
    }
}

/// The questions of a level, in the passes in which they are asked. One GPU has nobody to shard with: there DeepSpeed is an engine to
/// install for its offload alone, which comes once nothing else fits, however quick it is.
fn passes(job: &Job, level: Level) -> Vec<Vec<Question>> {
    let all = questions_of(job, level);
    let offloads_alone = job.plan.num_gpus == 1 && job.plan.zero_stage == 0;
    let mut without = all.clone();
    without.retain(|question| !question.levers.iter().any(|lever| matches!(lever, Lever::Sharding { .. })));
    if offloads_alone && without.len() < all.len() { vec![without, all] } else { vec![all] }
}

/// The quickest advice of one level; where nothing fits and `is_short` asks for it, the least that it reaches.
fn at_level(job: &Job, level: Level, is_short: bool, oracle: &dyn FitOracle) -> Found {
    let mut leanest: Option<Box<Leanest>> = None;
    let own = Precision::of(job);
    let own_need = if is_short { oracle.judge(job).map(|judged| judged.need_bytes) } else { None };
    for departure in starts(&job.plan, level) {
        let Some(start) = pulled(job, &departure) else { continue };
        for questions in passes(&start, level) {
            let mut all = choices(&start, &questions);
            // How far a level reaches counts what milder levels may do as well.
            let within = if level == Level::Same { Vec::new() } else { all.clone() };
            all.retain(|choice| belongs(level, &own)(&choice.job));
            if let Some(choice) = quickest(&all, &questions, oracle) {
                let levers = departure.iter().copied().chain(levers_of(&choice, &questions)).collect();
                if let Some(advice) = advice(job, levers, &choice.job, level, oracle) {
                    return Found::Fits(Box::new(advice));
                }
            } else if is_short
                && let Some((choice, judged)) =
                    least(if level == Level::Same { &all } else { &within }, &questions, oracle)
                && leanest
                    .as_ref()
                    .map(|least| least.need_bytes)
                    .or(own_need)
                    .is_none_or(|least| judged.need_bytes < least)
            {
                let plan = Rc::unwrap_or_clone(choice.job).into_plan();
                leanest = Some(Box::new(Leanest { plan, need_bytes: judged.need_bytes }));
            }
        }
    }
    Found::Short(leanest)
}

/// The quickest levers with which `plan` fits at the mildest level at which it does, none of them changing what is
/// trained nor moving the training state to the host, which makes a step many times as long; where it fits as it is, none.
pub(super) fn savers(job: &Job, oracle: &dyn FitOracle) -> Option<(Vec<Lever>, Job)> {
    if oracle.suits(job) {
        return Some((Vec::new(), job.clone()));
    }
    [Level::Same, Level::Coarser].into_iter().find_map(|level| {
        let questions = questions_on_gpu(job, level);
        let mut all = choices(job, &questions);
        if level == Level::Same {
            let own = Precision::of(job);
            all.retain(|choice| belongs(level, &own)(&choice.job));
        }
        let choice = quickest(&all, &questions, oracle)?;
        let levers = in_order(job, levers_of(&choice, &questions), &choice.job);
        let levers = without_needless(job, (levers, level), &choice.job, oracle);
        let changed = pulled(job, &levers)?;
        Some((levers, changed))
    })
}

/// The levers with which `plan` needs least, under the same limits: what may fit by its replay where nothing surely does
/// at a quick look.
pub(super) fn all_savers(job: &Job, oracle: &dyn FitOracle) -> Option<(Vec<Lever>, Job)> {
    let questions = questions_on_gpu(job, Level::Coarser);
    let (choice, judged) = least(&choices(job, &questions), &questions, oracle)?;
    let mut levers = in_order(job, levers_of(&choice, &questions), &choice.job);
    for at in (0..levers.len()).rev() {
        let mut fewer = levers.clone();
        fewer.remove(at);
        let need = pulled(job, &fewer).and_then(|job| oracle.judge(&job)).map(|judged| judged.need_bytes);
        if need.is_some_and(|need| need <= judged.need_bytes) {
            levers = fewer;
        }
    }
    let changed = pulled(job, &levers)?;
    Some((levers, changed))
}

/// What may be asked without moving training state to the host.
fn questions_on_gpu(job: &Job, level: Level) -> Vec<Question> {
    let mut questions = questions_of(job, level);
    questions.retain_mut(|question| {
        question.levers.retain(|lever| !lever.offloads());
        !question.levers.is_empty()
    });
    questions
}

/// Levers to begin with, one list after the other.
type Starts = Vec<Vec<Lever>>;

/// Where the search of a level begins: the plan itself, or each departure from it.
fn starts(plan: &Plan, level: Level) -> Starts {
    match level {
        Level::Same | Level::Coarser => vec![Vec::new()],
        Level::Different if plan.task == Task::Inference => {
            let shorter = shorter(plan.max_length).into_iter().map(|length| vec![Lever::Length(length)]);
            shorter.chain(smaller_model(plan).map(|model| vec![Lever::Model(model)])).collect()
        }
        Level::Different => departures(plan),
    }
}

fn questions_of(job: &Job, level: Level) -> Vec<Question> {
    if job.trains() {
        return questions(job, level);
    }
    let mut questions = vec![Question::ordered(&[Lever::ExpandableSegments])];
    if level >= Level::Coarser {
        questions.push(Question::free(&[Lever::Qlora]));
    }
    questions
}

/// Seconds a token of the quickest plan that fits at `level`, found by estimating every combination in order of time: what
/// [`escalate`] is checked against.
pub fn exhaustive(job: &Job, level: Level, oracle: &dyn FitOracle) -> Option<f64> {
    let own = Precision::of(job);
    starts(&job.plan, level).into_iter().find_map(|departure| {
        let start = pulled(job, &departure)?;
        let suits = |choice: &Choice| belongs(level, &own)(&choice.job) && oracle.suits(&choice.job);
        let fitting =
            passes(&start, level).into_iter().find_map(|pass| choices(&start, &pass).into_iter().find(suits))?;
        Some(seconds_per_token(&fitting.job))
    })
}

/// Seconds a token, rough.
fn seconds_per_token(job: &Job) -> f64 {
    let time = speed::step_time(job);
    time.seconds.expected / time.tokens.max(1) as f64
}

pub(super) fn levers_of(choice: &Choice, questions: &[Question]) -> Vec<Lever> {
    let of = |(answer, question): (&usize, &Question)| question.levers.get(answer.checked_sub(1)?).copied();
    choice.answers.iter().zip(questions).filter_map(of).collect()
}

fn advice(before: &Job, levers: Vec<Lever>, reached: &Job, level: Level, oracle: &dyn FitOracle) -> Option<Advice> {
    let levers = without_needless(before, (in_order(before, levers, reached), level), reached, oracle);
    let stages = savers_first(before, waterfall(before, &levers, oracle), oracle);
    let plan = stages.last()?.plan.clone();
    let changed = before.with(plan).ok()?;
    Some(Advice {
        levers: stages.iter().map(|stage| stage.lever).collect(),
        level,
        seconds_per_token: seconds_per_token(&changed),
        time: speed::ratio_per(&speed::step_time(before), &speed::step_time(&changed), speed::Per::Token),
        plan: changed.into_plan(),
        stages,
    })
}

/// `levers` with the mild ones first, and among those the ones that by themselves cost least time; one that makes sense
/// only after a harsher one comes behind that. As they were if they lead to the same plan in that order only.
fn in_order(before: &Job, levers: Vec<Lever>, after: &Job) -> Vec<Lever> {
    let keyed = |lever: Lever| match lever.apply(before) {
        Some(changed) => (lever.level(before, &changed), seconds_per_token(&changed), lever),
        None => (Level::Same, f64::INFINITY, lever),
    };
    let mut keyed: Vec<(Level, f64, Lever)> = levers.iter().copied().map(keyed).collect();
    order::sort(&mut keyed, |a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut left: Vec<Lever> = keyed.into_iter().map(|(.., lever)| lever).collect();
    let (mut sorted, mut at) = (Vec::with_capacity(left.len()), before.clone());
    while let Some((i, changed)) = left.iter().enumerate().find_map(|(i, lever)| Some((i, lever.apply(&at)?))) {
        sorted.push(left.remove(i));
        at = changed;
    }
    if left.is_empty() && at == *after { sorted } else { levers }
}

pub(super) fn pulled(job: &Job, levers: &[Lever]) -> Option<Job> {
    levers.iter().try_fold(job.clone(), |job, lever| lever.apply(&job))
}

/// What may be lost in speed for one change fewer, all together: a change that is not needed to fit is the reader's own
/// affair, unless it is worth more than runs differ by.
const FOR_FEWER: f64 = 1.04;

/// `levers` without those that only make it quicker, where that is little: first without those that take memory for it.
/// What stays is of `level` still: the one change that makes it so is not left out.
pub(super) fn without_needless(
    before: &Job,
    (levers, level): (Vec<Lever>, Level),
    after: &Job,
    oracle: &dyn FitOracle,
) -> Vec<Lever> {
    let quickest = seconds_per_token(after);
    let own = Precision::of(before);
    let is_little = |left: &Job| {
        // One without which it is no slower is needed, or the search had left it out.
        let seconds = seconds_per_token(left);
        seconds > quickest && seconds <= quickest * FOR_FEWER && belongs(level, &own)(left)
    };
    let need = |job: &Job| oracle.judge(job).map_or(u64::MAX, |judged| judged.need_bytes);
    let fewer = without_each(before, levers, oracle, &|kept, left| is_little(left) && need(left) < need(kept));
    without_each(before, fewer, oracle, &|_, left| is_little(left))
}

/// Whether a lever is not worth it, by the plan with it and the plan without it.
type Needless<'a> = &'a dyn Fn(&Job, &Job) -> bool;

/// `levers` without those that are `needless`, the last first, as long as the plan still fits.
fn without_each(before: &Job, levers: Vec<Lever>, oracle: &dyn FitOracle, needless: Needless<'_>) -> Vec<Lever> {
    let mut kept = levers;
    let mut at = kept.len();
    while at > 0 && kept.len() > 1 {
        at -= 1;
        let mut fewer = kept.clone();
        fewer.remove(at);
        let Some((with, left)) = pulled(before, &kept).zip(pulled(before, &fewer)) else { continue };
        if needless(&with, &left) && oracle.suits(&left) {
            kept = fewer;
        }
    }
    kept
}

/// Less than this is no saving to show, bytes.
const MIN_SHOWN_SAVING_BYTES: i64 = 1 << 20;

/// The stages in the order in which fewest of them save nothing: the peak moves to another phase as levers are pulled. Mild ones stand
/// before harsh ones where that is as good. A stage that saves nothing in its place may do so behind the others of its level or behind
/// all others: what ZeRO-1 gains is shown of the weights that train, not of those that LoRA freezes next.
fn savers_first(before: &Job, stages: Vec<Stage>, oracle: &dyn FitOracle) -> Vec<Stage> {
    let saves = |stage: &Stage| stage.saved_bytes >= MIN_SHOWN_SAVING_BYTES;
    let takes = |stage: &Stage| stage.saved_bytes <= -MIN_SHOWN_SAVING_BYTES;
    let idle = |stages: &[Stage]| {
        let idle = stages.iter().filter(|stage| !saves(stage));
        (idle.clone().filter(|stage| takes(stage)).count(), idle.count())
    };
    if idle(&stages) == (0, 0) {
        return stages;
    }
    let reordered = |key: &dyn Fn(&Stage) -> (bool, Level, bool)| {
        let mut order: Vec<_> = stages.iter().map(|stage| (key(stage), stage.lever)).collect();
        order::sort(&mut order, |a, b| a.0.cmp(&b.0));
        let levers: Vec<Lever> = order.into_iter().map(|(_, lever)| lever).collect();
        let reached = pulled(before, &levers)?;
        let same = Some(reached.plan()) == stages.last().map(|stage| &stage.plan);
        same.then(|| waterfall(before, &levers, oracle))
    };
    let orders = [
        reordered(&|stage| (takes(stage), stage.level, !saves(stage))),
        reordered(&|stage| (false, stage.level, !saves(stage))),
        reordered(&|stage| (!saves(stage), stage.level, takes(stage))),
    ];
    let best = orders.into_iter().flatten().min_by_key(|found| idle(found));
    best.unwrap_or(stages)
}
