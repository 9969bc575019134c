//! Advice of which every figure that it shows has been replayed: the same plan gets the same advice on the page and in a terminal.
//!
//! A search judges hundreds of plans, too many to replay each. So it judges by what is known at once, what it found is replayed,
//! and it searches anew with those replays, until all that it shows has been replayed. Only replays that a search asked for
//! itself count: other replays depend on what the reader opened before.

use std::cell::{Cell, RefCell};

use super::fill::{Fill, Target, fill};
use super::fit::{Escalation, Found, LevelAnswer, escalate};
use super::frozen::frozen_in_float32;
use super::impact::{Baseline, Impact};
use super::lever::Lever;
use super::oracle::{FitOracle, Judgement, Remembering};
use crate::job::Job;
use crate::memory::{self, EvaluationNeed, Fit, Replay};
use crate::plan::{Evaluation, Plan};

/// The most plans that are replayed for the advice on one plan.
const MOST_ASKED: usize = 128;

/// The most plans that are replayed to make sure that nothing is worth raising.
const MOST_IN_VAIN: usize = 48;

/// What is advised on a plan.
#[derive(Debug, Clone)]
pub struct Advised {
    /// What it is about.
    pub job: Job,
    /// What that plan needs.
    pub judgement: Judgement,
    /// What loading frozen weights in 16 bits saves, where they load in fp32: what a reader hears first.
    pub frozen_in_float32: Option<Impact>,
    /// What a vLLM would change for a plan that generates with transformers.
    pub vllm: Option<Impact>,
    /// The plan with the largest evaluation batch that may fit, where its own runs out of memory: training goes on as it would.
    pub smaller_evaluation: Option<Plan>,
    /// The advice itself.
    pub kind: Direction,
}

/// Which advice a plan gets.
#[derive(Debug, Clone)]
pub enum Direction {
    /// It does not surely fit: what to change, and what each level's advice and each hardware's plan take of the host's
    /// memory, bytes.
    Fit(Escalation, [Vec<u64>; 2]),
    /// It fits: what to undo or to raise.
    Fill(Box<Fill>),
}

impl Advised {
    /// Advice on `job` by what `oracle` knows; `None` where it does not know `job` itself.
    fn of(job: &Job, target: Target, looking: &Looking<'_>) -> Option<Self> {
        let oracle = &Remembering::new(looking);
        let judgement = oracle.judge(job)?;
        let kind = match judgement.fit {
            Fit::Tight | Fit::DoesNotFit => {
                let escalation = escalate(job, oracle);
                let judged = |plan: &Plan| oracle.judge(&job.with(plan.clone()).ok()?);
                let host = |plan: &Plan| judged(plan).map_or(0, |judged| judged.host_bytes);
                let of_level = |answer: &LevelAnswer| match &answer.found {
                    Found::Fits(advice) => host(&advice.plan),
                    Found::Short(_) => 0,
                };
                let host_bytes = [
                    escalation.levels.iter().map(of_level).collect(),
                    escalation.hardware.iter().map(|hardware| host(&hardware.plan)).collect(),
                ];
                Direction::Fit(escalation, host_bytes)
            }
            Fit::Fits => Direction::Fill(Box::new(fill(job, target, &Extrapolating(looking)))),
        };
        let frozen_in_float32 = frozen_in_float32(job, oracle);
        let base = if job.plan().is_reinforcement() { Baseline::of(job, oracle) } else { None };
        let vllm = base.and_then(|base| base.impact(job, Lever::Vllm, oracle));
        let smaller_evaluation = judgement.evaluation.and_then(|need| smaller_evaluation(job.plan(), need));
        Some(Self { job: job.clone(), judgement, frozen_in_float32, vllm, smaller_evaluation, kind })
    }

    /// Every plan whose figures it shows or relies on.
    pub fn plans(&self) -> Vec<Plan> {
        let mut plans: Vec<Plan> = match &self.kind {
            Direction::Fit(Escalation { levels, hardware }, _) => {
                let of_level = |found: &Found| match found {
                    Found::Fits(advice) => advice.stages.iter().map(|stage| stage.plan.clone()).collect(),
                    Found::Short(Some(leanest)) => vec![leanest.plan.clone()],
                    Found::Short(None) => Vec::new(),
                };
                let of_levels = levels.iter().flat_map(|answer| of_level(&answer.found));
                of_levels.chain(hardware.iter().map(|hardware| hardware.plan.clone())).collect()
            }
            Direction::Fill(fill) => {
                let both = [&fill.recommended, &fill.aggressive].into_iter().flatten();
                both.chain(&fill.others).map(|filled| filled.plan.clone()).collect()
            }
        };
        plans.extend([&self.frozen_in_float32, &self.vllm].into_iter().flatten().map(|impact| impact.plan.clone()));
        plans
    }

    /// Whether a search for a plan that uses an idle GPU came to nothing, as it may where some of what it looked at is known
    /// from replays and some is not.
    fn searched_in_vain(&self, target: Target) -> bool {
        let found = |fill: &Fill| fill.recommended.is_some() || fill.aggressive.is_some();
        let is_idle = self.judgement.used_share() < target.low;
        matches!(&self.kind, Direction::Fill(fill) if is_idle && !found(fill))
    }
}

/// `plan` with the largest evaluation batch that may fit; `None` where its own does, or none does.
fn smaller_evaluation(plan: &Plan, need: EvaluationNeed) -> Option<Plan> {
    let fitting = Some(need.fitting_batch_size).filter(|batch| *batch > 0 && !need.fits())?;
    let evaluation = Evaluation { per_device_eval_batch_size: Some(fitting), ..plan.evaluation };
    Some(Plan { evaluation, ..plan.clone() })
}

/// Where replays come from.
pub trait Replays {
    /// The replay of a plan, where it is there.
    fn of(&self, plan: &Plan) -> Option<&Replay>;

    /// Whether nothing more will be known of `plan`.
    fn answered(&self, plan: &Plan) -> bool {
        self.of(plan).is_some()
    }
}

/// A plan that was judged, and whether by its replay.
#[derive(Debug)]
struct Judged {
    plan: Plan,
    is_replayed: bool,
    judgement: Judgement,
    /// What was expected to be needed before any replay, bytes.
    at_once_bytes: u64,
}

/// A search for advice: what it shows is replayed, then it is found anew, until all of it has been.
#[derive(Debug)]
pub struct Search {
    target: Target,
    /// What has been replayed for it, or will be; the plan itself first.
    asked: Vec<Plan>,
    /// What has been judged for it.
    judged: Vec<Judged>,
}

/// What one look found.
#[derive(Debug)]
pub enum Look {
    /// It took long enough: one look more is needed.
    CutShort,
    /// These plans should be replayed before anything is shown, the first last.
    Wants(Vec<Plan>),
    /// All that it shows has been replayed; `None` where the plan itself cannot be judged.
    Final(Option<Box<Advised>>),
}

impl Search {
    /// A search for advice on `plan`, whose own replay it goes by, aiming at `target` of an idle GPU.
    pub fn new(plan: &Plan, target: Target) -> Self {
        Self { target, asked: vec![plan.clone()], judged: Vec::new() }
    }

    /// How many plans have been judged so far.
    pub fn judged(&self) -> usize {
        self.judged.len()
    }

    /// Looks for advice with the replays that are there; judges no more than `most` plans that it has not judged before.
    pub fn look(&mut self, job: &Job, replays: &dyn Replays, most: u32) -> Look {
        let oracle = Looking {
            replays,
            asked: &self.asked,
            judged: RefCell::new(std::mem::take(&mut self.judged)),
            unknown: RefCell::default(),
            left: Cell::new(most),
            is_cut_short: Cell::new(false),
        };
        let advised = Advised::of(job, self.target, &oracle);
        let Looking { judged, unknown, is_cut_short, .. } = oracle;
        self.judged = judged.into_inner();
        if is_cut_short.get() {
            return Look::CutShort;
        }
        let mut plans = advised.as_ref().map(Advised::plans).unwrap_or_default();
        if advised.as_ref().is_some_and(|advised| advised.searched_in_vain(self.target)) {
            // The quickest were asked about first.
            plans.extend(unknown.into_inner().into_iter().take(MOST_IN_VAIN));
        }
        let mut missing: Vec<Plan> = Vec::new();
        for plan in plans {
            if !self.asked.contains(&plan) && !missing.contains(&plan) {
                missing.push(plan);
            }
        }
        if missing.is_empty() || self.asked.len().saturating_add(missing.len()) > MOST_ASKED {
            return Look::Final(advised.map(Box::new));
        }
        self.asked.extend(missing.iter().cloned());
        missing.reverse();
        Look::Wants(missing)
    }
}

/// Judges by a plan's replay where the search has asked for it, else by what other plans needed beyond their peak; each plan once.
/// Where that has taken long enough for one look, every other plan counts as one that fits, so that the search soon ends: what it
/// has found is dropped, and the next look gets further, as what was judged is known by then.
struct Looking<'a> {
    replays: &'a dyn Replays,
    asked: &'a [Plan],
    judged: RefCell<Vec<Judged>>,
    /// What was asked about without a replay.
    unknown: RefCell<Vec<Plan>>,
    left: Cell<u32>,
    is_cut_short: Cell<bool>,
}

impl FitOracle for Looking<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let plan = job.plan();
        let replay = if self.asked.contains(plan) { self.replays.of(plan) } else { None };
        if replay.is_none() {
            self.unknown.borrow_mut().push(plan.clone());
        }
        let is_known = |known: &&Judged| known.is_replayed == replay.is_some() && known.plan == *plan;
        if let Some(known) = self.judged.borrow().iter().find(is_known) {
            return Some(known.judgement);
        }
        let Some(left) = self.left.get().checked_sub(1) else {
            self.is_cut_short.set(true);
            return Some(full(job));
        };
        self.left.set(left);
        let outline = memory::outline(job);
        let at_once_bytes = outline.peak.band.expected;
        let judgement = Judgement::from(&match replay {
            Some(replay) => outline.refined(replay),
            None => outline,
        });
        let (plan, is_replayed) = (plan.clone(), replay.is_some());
        self.judged.borrow_mut().push(Judged { plan, is_replayed, judgement, at_once_bytes });
        Some(judgement)
    }
}

/// Judges plans that have no replay yet by the nearest that differs in sizes alone and has one: as much more, or less, as that
/// plan's replay needed beside what was expected. A search for the largest batch then asks for two or three replays, where
/// expectations that each replay refutes for one batch alone would have it go down batch by batch.
///
/// Before its replay a plan is hoped to fit that is only expected to: the search asks for its replay before it offers it. Taken for
/// one that does not fit, the quickest plan was never looked at.
struct Extrapolating<'a>(&'a Looking<'a>);

impl FitOracle for Extrapolating<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let judgement = self.0.judge(job)?;
        let plan = without_sizes(job.plan());
        let judged = self.0.judged.borrow();
        if judged.iter().any(|known| known.is_replayed && known.plan == *job.plan()) {
            return Some(judgement);
        }
        let like = judged.iter().filter(|known| known.is_replayed && without_sizes(&known.plan) == plan);
        let nearest = like.min_by_key(|known| known.at_once_bytes.abs_diff(judgement.need_bytes));
        let times = nearest.map_or(1.0, |known| known.judgement.need_bytes as f64 / known.at_once_bytes.max(1) as f64);
        let need_bytes = (judgement.need_bytes as f64 * times) as u64;
        // One that needs no more was replayed, and does not surely fit.
        let is_refuted = nearest
            .is_some_and(|known| known.judgement.fit != Fit::Fits && known.at_once_bytes <= judgement.need_bytes);
        let fit = match judgement.fit {
            _ if need_bytes > judgement.gpu_bytes => Fit::DoesNotFit,
            Fit::Tight if !is_refuted => Fit::Fits,
            fit => fit,
        };
        Some(Judgement { fit, need_bytes, ..judgement })
    }
}

/// `plan` with every size that fills a GPU at its least.
fn without_sizes(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    (plan.per_device_train_batch_size, plan.gradient_accumulation_steps, plan.max_length, plan.lora.r) = (1, 1, 1, 1);
    plan.rollout.sequences_at_once = plan.rollout.sequences_at_once.map(|_| 1);
    plan.rollout.num_generations = plan.rollout.num_generations.map(|_| 1);
    plan.rollout.max_completion_length = plan.rollout.max_completion_length.map(|_| 1);
    plan
}

/// A judgement with which every search ends: it fits, and nothing could be raised.
fn full(job: &Job) -> Judgement {
    Judgement {
        fit: Fit::Fits,
        is_guess: false,
        evaluation: None,
        need_bytes: job.memory_bytes(),
        gpu_bytes: job.memory_bytes(),
        host_bytes: 0,
        without_optimizer_bytes: 0,
        activation_bytes: 0,
        standing_bytes: 0,
        update_bytes: 0,
    }
}

/// Replays that are kept as they come.
#[derive(Default)]
struct Kept(Vec<(Plan, Option<Replay>)>);

impl Kept {
    fn replay(&mut self, job: &Job, plan: &Plan) {
        let replay = job.with(plan.clone()).ok().map(|job| memory::replay(&job));
        self.0.push((plan.clone(), replay));
    }
}

impl Replays for Kept {
    fn of(&self, plan: &Plan) -> Option<&Replay> {
        self.0.iter().find(|(other, _)| other == plan)?.1.as_ref()
    }
}

/// The advice on `job`, every figure of it replayed: some seconds. The page finds the same, a little at a time.
pub fn confirmed(job: &Job, target: Target) -> Option<Advised> {
    let mut replays = Kept::default();
    replays.replay(job, job.plan());
    let mut search = Search::new(job.plan(), target);
    loop {
        match search.look(job, &replays, u32::MAX) {
            Look::Wants(plans) => plans.iter().for_each(|plan| replays.replay(job, plan)),
            Look::Final(advised) => return advised.map(|advised| *advised),
            Look::CutShort => {}
        }
    }
}
