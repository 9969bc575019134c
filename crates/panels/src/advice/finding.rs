//! Finding the advice: the core finds it from what it is told of plans; here it is told what has been replayed.

use std::cell::{Cell, RefCell};

use headroom_core::advise::fill::{Fill, Target, fill};
use headroom_core::advise::fit::{Advice, Escalation, Found as AtLevel, LevelAnswer, escalate};
use headroom_core::advise::{FitOracle, Judgement, Remembering};
use headroom_core::job::Job;
use headroom_core::memory::{self, Fit};
use headroom_core::plan::Plan;

use crate::engine::{Step, Work};
use crate::replays::Replays;

/// The most plans that are replayed for the advice on one plan: far fewer than are kept, so that none is asked for twice.
const MOST_ASKED: usize = 128;

/// What is advised on a plan.
pub(super) struct Advised {
    /// What it is about.
    pub(super) job: Job,
    /// What that plan needs.
    pub(super) judgement: Judgement,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// It does not surely fit: what to change, and what each level's advice and each hardware's plan take of the host's
    /// memory, bytes.
    Fit(Escalation, [Vec<u64>; 2]),
    /// It fits, and leaves more of the GPU idle than the reader wants.
    Fill(Box<Fill>),
    /// Nothing to change.
    Used,
}

/// Advice on `job` from what is known now.
fn advise(job: &Job, target: Target, looking: &Looking) -> Option<Advised> {
    let oracle = &Remembering::new(looking);
    let judgement = oracle.judge(job)?;
    let kind = match judgement.fit {
        Fit::Tight | Fit::DoesNotFit => {
            let escalation = escalate(job, oracle);
            let judged = |plan: &Plan| oracle.judge(&job.with(plan.clone()).ok()?);
            let host = |plan: &Plan| judged(plan).map_or(0, |judged| judged.host_bytes);
            let of_level = |answer: &LevelAnswer| match &answer.found {
                AtLevel::Fits(advice) => host(&advice.plan),
                AtLevel::NoQuicker | AtLevel::Short(_) => 0,
            };
            let host_bytes = [
                escalation.levels.iter().map(of_level).collect(),
                escalation.hardware.iter().map(|hardware| host(&hardware.plan)).collect(),
            ];
            Kind::Fit(escalation, host_bytes)
        }
        Fit::Fits if judgement.used_share() < target.low => {
            Kind::Fill(Box::new(fill(job, target, &Extrapolating(looking))))
        }
        Fit::Fits => Kind::Used,
    };
    Some(Advised { job: job.clone(), judgement, kind })
}

impl Advised {
    /// Every plan whose figures it shows or relies on.
    fn plans(&self) -> Vec<Plan> {
        match &self.kind {
            Kind::Fit(Escalation { levels, hardware }, _) => {
                let of_level = |found: &AtLevel| match found {
                    AtLevel::Fits(advice) => advice.stages.iter().map(|stage| stage.plan.clone()).collect(),
                    AtLevel::Short(Some(leanest)) => vec![leanest.plan.clone()],
                    AtLevel::Short(None) | AtLevel::NoQuicker => Vec::new(),
                };
                let of_levels = levels.iter().flat_map(|answer| of_level(&answer.found));
                of_levels.chain(hardware.iter().map(|hardware| hardware.plan.clone())).collect()
            }
            Kind::Fill(fill) => {
                let both = [&fill.recommended, &fill.aggressive].into_iter().flatten();
                both.chain(&fill.others).map(|filled| filled.plan.clone()).collect()
            }
            Kind::Used => Vec::new(),
        }
    }

    /// Whether a search for a plan that uses the GPU came to nothing, as it may where some of what it looked at is known
    /// from replays and some is not.
    fn searched_in_vain(&self) -> bool {
        matches!(&self.kind, Kind::Fill(fill) if fill.recommended.is_none())
    }
}

/// A plan that was judged, and whether by its replay.
struct Judged {
    plan: Plan,
    is_replayed: bool,
    judgement: Judgement,
    /// What was expected to be needed before any replay, bytes.
    at_once_bytes: u64,
}

/// Judgements that one look at the plans may take: some tens of milliseconds for the largest models, and less than a second for
/// all looks that the longest search needs.
const MOST_JUDGED: u32 = 20;

/// Judges by a plan's replay where it is there, else by what other plans needed beyond their peak; each plan once. Where that
/// has taken long enough for one look, every other plan counts as one that fits, so that the search soon ends: what it has
/// found is dropped, and the next look gets further, as what was judged is known by then.
struct Looking<'a> {
    replays: &'a Replays,
    judged: RefCell<Vec<Judged>>,
    /// What was asked about without a replay.
    unknown: RefCell<Vec<Plan>>,
    left: Cell<u32>,
    is_cut_short: Cell<bool>,
}

impl FitOracle for Looking<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let plan = job.plan();
        let replay = self.replays.of(plan);
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
struct Extrapolating<'a>(&'a Looking<'a>);

impl FitOracle for Extrapolating<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let judgement = self.0.judge(job)?;
        let plan = without_sizes(job.plan());
        let judged = self.0.judged.borrow();
        let is_replayed = judged.iter().any(|known| known.is_replayed && known.plan == *job.plan());
        let like = judged.iter().filter(|known| known.is_replayed && without_sizes(&known.plan) == plan);
        let nearest = like.min_by_key(|known| known.at_once_bytes.abs_diff(judgement.need_bytes));
        let Some(nearest) = nearest.filter(|_| !is_replayed) else { return Some(judgement) };
        let times = nearest.judgement.need_bytes as f64 / nearest.at_once_bytes.max(1) as f64;
        let need_bytes = (judgement.need_bytes as f64 * times) as u64;
        let fit = if need_bytes > judgement.gpu_bytes { Fit::DoesNotFit } else { judgement.fit };
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
        need_bytes: job.memory_bytes(),
        gpu_bytes: job.memory_bytes(),
        host_bytes: 0,
        without_optimizer_bytes: 0,
        activation_bytes: 0,
        standing_bytes: 0,
        update_bytes: 0,
    }
}

/// What is advised, as far as it is known.
#[derive(Default)]
pub(crate) struct Found {
    /// The last advice of which all that it shows has been replayed.
    pub(super) advised: Option<Advised>,
    /// The plan that it is about, and how much of the GPU was to be in use.
    of: Option<(Plan, Target)>,
    next: Option<Search>,
}

/// A search for advice: what it shows is replayed, then it is found anew, until all of it has been.
struct Search {
    of: (Plan, Target),
    /// What is still to be replayed.
    missing: Vec<Plan>,
    /// How many have been, and will be.
    asked: usize,
    /// What has been judged for it.
    judged: Vec<Judged>,
}

impl Found {
    /// Whether all that it shows has been replayed, and is about this.
    pub(super) fn is_final(&self, plan: &Plan, target: Target) -> bool {
        self.of.as_ref().is_some_and(|of| of.0 == *plan && of.1 == target)
    }

    /// Whether it is about another plan.
    pub(super) fn is_stale(&self, plan: &Plan) -> bool {
        self.advised.as_ref().is_none_or(|advised| advised.job.plan() != plan)
    }

    /// What is advised first on a plan that does not surely fit; none before that is known.
    pub(crate) fn mildest(&self, plan: &Plan) -> Option<&Advice> {
        match &self.advised.as_ref().filter(|advised| advised.job.plan() == plan)?.kind {
            Kind::Fit(escalation, _) => escalation.mildest(),
            Kind::Fill(_) | Kind::Used => None,
        }
    }

    /// Replays a little more of what the advice shows; where all of it has been, finds the advice anew.
    pub(crate) fn step(&mut self, work: &mut Work) -> Step {
        let (plan, target) = (work.job.plan(), work.state.target);
        if self.is_final(plan, target) {
            return Step::Done;
        }
        let search = self.next.take().filter(|search| search.of.0 == *plan && search.of.1 == target);
        let mut search = search.unwrap_or_else(|| Search {
            of: (plan.clone(), target),
            missing: Vec::new(),
            asked: 0,
            judged: Vec::new(),
        });
        if let Some(missing) = search.missing.last() {
            if work.replays.advance(missing) {
                search.missing.pop();
            }
            self.next = Some(search);
            return Step::Working;
        }
        let Some((advised, mut missing)) = look(work.job, &mut search, work.replays) else {
            self.next = Some(search);
            return Step::Working;
        };
        if search.asked.saturating_add(missing.len()) > MOST_ASKED {
            missing.clear();
        }
        if missing.is_empty() {
            (self.advised, self.of) = (advised, Some(search.of));
            return Step::Changed;
        }
        search.asked = search.asked.saturating_add(missing.len());
        search.missing = missing;
        self.next = Some(search);
        Step::Working
    }
}

/// Advice from what is known now, and the plans that should be replayed before it is shown, the first last; `None` where
/// one look more is needed.
fn look(job: &Job, search: &mut Search, replays: &Replays) -> Option<(Option<Advised>, Vec<Plan>)> {
    let oracle = Looking {
        replays,
        judged: RefCell::new(std::mem::take(&mut search.judged)),
        unknown: RefCell::default(),
        left: Cell::new(MOST_JUDGED),
        is_cut_short: Cell::new(false),
    };
    let advised = advise(job, search.of.1, &oracle);
    search.judged = oracle.judged.into_inner();
    if oracle.is_cut_short.get() {
        return None;
    }
    let mut plans = advised.as_ref().map(Advised::plans).unwrap_or_default();
    if advised.as_ref().is_some_and(Advised::searched_in_vain) {
        plans.extend(oracle.unknown.into_inner());
    }
    plans.retain(|plan| !replays.answered(plan));
    plans.reverse();
    Some((advised, plans))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use headroom_core::advise::Replayed;

    use super::*;
    use crate::replays::Known;

    /// Steps until the advice on the plan of `fragment` is there, and what has been replayed for it.
    fn found(fragment: &str) -> (Advised, Replays, usize) {
        let state = crate::reader::state("", fragment);
        let job = Job::resolve(state.plan()).unwrap();
        let (mut replays, mut found, mut steps) = (Replays::default(), Found::default(), 0);
        while !replays.advance(state.plan()) {}
        loop {
            let mut work = Work { state: &state, job: &job, replays: &mut replays };
            steps += 1;
            match found.step(&mut work) {
                Step::Working => {}
                Step::Changed => assert!(found.is_final(state.plan(), state.target)),
                Step::Done => return (found.advised.unwrap(), replays, steps),
            }
        }
    }

    #[test]
    fn looks_that_are_cut_short_find_what_one_long_look_finds() {
        // Each takes more judgements than one look may.
        for fragment in [
            "v=1&model=Qwen/Qwen2.5-1.5B&memory_gib=12&compute_capability=8.6&method=full\
             &per_device_train_batch_size=4&gradient_accumulation_steps=4&max_length=1024",
            "v=1&model=Qwen/Qwen3-8B&memory_gib=4&compute_capability=8.6&method=full",
        ] {
            let (advised, replays, steps) = found(fragment);
            assert!(steps > 3, "{fragment}: {steps}");
            let Kind::Fit(escalation, _) = &advised.kind else { panic!("{fragment} fits") };
            assert_eq!(*escalation, escalate(&advised.job, &Known(&replays)), "{fragment}");
        }
        let idle = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&gradient_accumulation_steps=16&max_length=512";
        let (advised, ..) = found(idle);
        let Kind::Fill(filled) = &advised.kind else { panic!("not idle") };
        assert_eq!(**filled, fill(&advised.job, Target::default(), &Replayed));
        assert!(filled.recommended.is_some());
    }

    #[test]
    fn what_a_look_finds_that_was_cut_short_is_dropped() {
        let fragment = "v=1&model=Qwen/Qwen3-8B&memory_gib=4&compute_capability=8.6&method=full";
        let state = crate::reader::state("", fragment);
        let (job, replays) = (Job::resolve(state.plan()).unwrap(), Replays::default());
        let of = (state.plan().clone(), Target::default());
        let mut search = Search { of, missing: Vec::new(), asked: 0, judged: Vec::new() };
        let mut looks = 1;
        let (advised, missing) = loop {
            let before = search.judged.len();
            if let Some(found) = look(&job, &mut search, &replays) {
                break found;
            }
            assert_eq!(search.judged.len(), before + MOST_JUDGED as usize);
            looks += 1;
        };
        assert!(looks > 2, "{looks}");
        let Some(Advised { kind: Kind::Fit(escalation, _), .. }) = advised else { panic!("{fragment} fits") };
        assert_eq!(escalation, escalate(&job, &Known(&replays)));
        assert!(!missing.is_empty());
    }

    #[test]
    fn all_that_is_shown_has_been_replayed() {
        let fragment = "v=1&model=Qwen/Qwen2.5-1.5B&memory_gib=12&compute_capability=8.6&method=full";
        let (advised, replays, _) = found(fragment);
        let plans = advised.plans();
        assert!(plans.len() > 2);
        for plan in plans {
            assert!(replays.of(&plan).is_some(), "{plan:?}");
        }
    }
}
