//! The largest models that fit: one of each family, with what has to be changed for it, the newest first.
//!
//! The method stays, and what is trained; everything that saves memory and leaves the result as it is, or coarser, may be
//! switched on, but for host memory: offload goes further, at many times the time of a step. As in [`solve`](super::solve) verdicts by replay come from outside: the search goes on in steps of some
//! milliseconds, and says which replay it wants next, or which program: a page fetches those of the few models that are likely offers.

use std::cell::RefCell;

use super::difference::{Changed, changed};
use super::fit::{all_savers, savers};
use super::lever::{Lever, shardings, shorter, smaller_batches};
use super::oracle::{FitOracle, Heuristic, Judgement, Replayed};
use crate::job::Job;
use crate::model::{self, CatalogueModel, Programs};
use crate::plan::{Method, ModelChoice, Plan, ProblemKind};

/// How many models are offered.
pub const OFFERED: usize = 5;

/// A model that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The model.
    pub model: &'static CatalogueModel,
    /// The plan with it and all that was changed for it.
    pub plan: Plan,
    /// What it needs.
    pub judgement: Judgement,
    /// What was switched on for it.
    pub levers: Vec<Lever>,
    /// The fields that differ from the reader's plan besides the model.
    pub changed: Vec<Changed>,
}

/// How far a search is.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// There is more to do.
    Working,
    /// It goes on once this plan's replay is known.
    Wants(Box<Plan>),
    /// It goes on with the program of this class ([`Largest::read_by`]), or without its models ([`Largest::go_without`]).
    WantsProgram(String),
    /// What was found is all there is.
    Done,
}

/// Models of one group of the catalogue, and how far the search among them is.
#[derive(Debug, Clone, PartialEq)]
struct Family {
    /// The largest first, of equally large ones the newest.
    models: Vec<&'static CatalogueModel>,
    /// Which is looked at; beyond the last none fits.
    at: usize,
    state: State,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// Nobody has looked at the model yet.
    New,
    /// With everything switched on that saves memory it may fit; so may one whose program is not there yet, by its weights.
    Possible,
    /// It fits at a quick look: its replay is wanted.
    Likely(Box<Offer>),
    /// It does not surely fit at a quick look, but with everything switched on its replay may say that it does.
    LastTry(Box<Offer>),
    /// It fits.
    Found(Box<Offer>),
}

impl Family {
    fn model(&self) -> Option<&'static CatalogueModel> {
        self.models.get(self.at).copied()
    }

    /// Goes on to the next smaller model.
    fn pass(&mut self) {
        self.at += 1;
        self.state = State::New;
    }
}

/// A search for the largest models that fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Largest {
    asked: Job,
    /// The same, with shorter sequences where nothing fits.
    plan: Plan,
    /// Lengths to fall back to where nothing fits, the longest last.
    shorter: Vec<u64>,
    families: Vec<Family>,
    /// Classes whose programs cannot be had.
    missed: Vec<String>,
}

impl Largest {
    /// Asks which models fit where `job` is to run.
    pub fn new(job: Job) -> Self {
        let plan = job.plan.clone();
        let mut shorter = if plan.is_reinforcement() { Vec::new() } else { shorter(plan.max_length) };
        shorter.reverse();
        Self { families: families(), shorter, asked: job, plan, missed: Vec::new() }
    }

    /// Goes on with programs that have come since.
    pub fn read_by(&mut self, programs: &Programs) {
        self.plan.programs = programs.clone();
        let asked = Plan { programs: programs.clone(), ..self.asked.plan.clone() };
        if let Ok(asked) = self.asked.with(asked) {
            self.asked = asked;
        }
    }

    /// Goes on without the models of a class whose program cannot be had.
    pub fn go_without(&mut self, model_type: &str) {
        self.missed.push(model_type.to_owned());
    }

    /// Whether the answer is that for `plan` too: it differs at most in its model, or is one of those offered.
    pub fn holds_for(&self, plan: &Plan) -> bool {
        // Whatever programs either is read by.
        let is = |other: &Plan, plan: Plan| Plan { programs: other.programs.clone(), ..plan } == *other;
        is(&self.asked.plan, Plan { model: self.asked.plan.model.clone(), ..plan.clone() })
            || self.offers().iter().any(|offer| is(&offer.plan, plan.clone()))
    }

    /// A few milliseconds' work. `oracle` goes by replays where they are known, `replayed` says where they are.
    pub fn advance(&mut self, oracle: &dyn FitOracle, replayed: &dyn Fn(&Plan) -> bool) -> Progress {
        if let Some(place) = self.next_new() {
            self.look_at(place, oracle);
            return Progress::Working;
        }
        let chosen = self.chosen();
        if chosen.is_empty() {
            return match self.shorter.pop() {
                Some(length) => {
                    self.families = families();
                    self.plan.max_length = length;
                    Progress::Working
                }
                None => Progress::Done,
            };
        }
        // What counts as large follows from the largest: that one has to be sure.
        for place in self.largest().into_iter().chain(chosen) {
            let Self { asked, plan, families, missed, .. } = self;
            let Some(family) = families.get_mut(place) else { continue };
            if family.state == State::Possible
                && let Some(model) = family.model()
                && let Err(class) = read(asked, plan, model)
            {
                if class.as_ref().is_none_or(|class| missed.contains(class)) {
                    family.pass();
                    return Progress::Working;
                }
                return class.map_or(Progress::Working, Progress::WantsProgram);
            }
            match &family.state {
                State::Found(_) => continue,
                State::Likely(offer) | State::LastTry(offer) if !replayed(&offer.plan) => {
                    return Progress::Wants(Box::new(offer.plan.clone()));
                }
                State::Likely(offer) | State::LastTry(offer) => {
                    let offered = asked.with(offer.plan.clone()).ok();
                    let oracle = |job: &Job| oracle.judge(job).filter(|judged| judged.suits(job));
                    let judged = offered.as_ref().and_then(oracle);
                    match (judged, &family.state) {
                        (Some(judgement), _) => {
                            family.state = State::Found(Box::new(Offer { judgement, ..(**offer).clone() }));
                        }
                        (None, State::LastTry(_)) => family.pass(),
                        // The replay knows better: what else would do?
                        (None, _) => family.state = State::Possible,
                    }
                }
                State::New | State::Possible => {
                    let of = |way: Way| offer(asked, plan, family, way, oracle).map(Box::new);
                    let next = of(savers).map(State::Likely);
                    let last = || of(all_savers).filter(|offer| !replayed(&offer.plan)).map(State::LastTry);
                    match next.or_else(last) {
                        Some(state) => family.state = state,
                        None => family.pass(),
                    }
                }
            }
            return Progress::Working;
        }
        Progress::Done
    }

    /// What has been found, the newest first; of several of one month the largest.
    pub fn offers(&self) -> Vec<&Offer> {
        let offer = |place: usize| match &self.families.get(place)?.state {
            State::Found(offer) => Some(&**offer),
            State::New | State::Possible | State::Likely(_) | State::LastTry(_) => None,
        };
        self.chosen().into_iter().filter_map(offer).collect()
    }

    fn largest(&self) -> Option<usize> {
        let size = |family: &Family| family.model().map(|model| model.param_count);
        let largest = self.families.iter().enumerate().max_by_key(|(_, family)| size(family))?;
        size(largest.1).map(|_| largest.0)
    }

    fn next_new(&self) -> Option<usize> {
        self.families.iter().position(|family| family.state == State::New && family.model().is_some())
    }

    /// Whether the model in question may fit at all: with everything that saves memory its tensors have room.
    fn look_at(&mut self, place: usize, oracle: &dyn FitOracle) {
        let Self { asked, plan, families, missed, .. } = self;
        let Some(family) = families.get_mut(place) else { return };
        let Some(model) = family.model() else { return };
        let has_room = |lean: Job| {
            let judged = oracle.judge(&lean);
            judged.is_some_and(|judged| judged.need_bytes <= judged.gpu_bytes && judged.suits_host(&lean))
        };
        let may_fit = match read(asked, plan, model) {
            Ok(job) => leanest(&job).any(has_room),
            Err(Some(class)) => !missed.contains(&class) && least_weights(asked, model) <= asked.memory_bytes as f64,
            Err(None) => false,
        };
        if may_fit {
            family.state = State::Possible;
        } else {
            family.pass();
        }
    }

    /// The families that are offered: of those whose largest model is two thirds as large as the largest of all the newest, then the largest of the others.
    fn chosen(&self) -> Vec<usize> {
        let of = |(place, family): (usize, &Family)| Some((place, family.model()?));
        let mut left: Vec<(usize, &CatalogueModel)> = self.families.iter().enumerate().filter_map(of).collect();
        let large = left.iter().map(|(_, model)| model.param_count).max().unwrap_or(0) / 3 * 2;
        let first = |model: &CatalogueModel| match model.param_count >= large {
            true => (true, model.released, model.param_count),
            false => (false, "", model.param_count),
        };
        let newest = |model: &CatalogueModel| (true, model.released, model.param_count);
        let mut chosen = take(&mut left, OFFERED, first);
        take(&mut chosen, OFFERED, newest).into_iter().map(|(place, _)| place).collect()
    }
}

/// Takes up to `count` of `left`, the one of highest rank first.
fn take<'a>(
    left: &mut Vec<(usize, &'a CatalogueModel)>,
    count: usize,
    rank: impl Fn(&'a CatalogueModel) -> (bool, &'static str, u64),
) -> Vec<(usize, &'a CatalogueModel)> {
    let mut taken = Vec::with_capacity(count);
    while taken.len() < count
        && let Some(best) = (0..left.len()).max_by_key(|at| left.get(*at).map(|(_, model)| rank(model)))
    {
        taken.push(left.remove(best));
    }
    taken
}

/// The largest models that fit where `job` is to run, each confirmed by its own replay, of those that the plan's programs read.
pub fn largest_models(job: &Job) -> Vec<Offer> {
    let replays = Replays(RefCell::default());
    let mut search = Largest::new(job.clone());
    loop {
        match search.advance(&replays, &|plan| replays.of(plan).is_some()) {
            Progress::Working => {}
            Progress::Wants(plan) => {
                let judged = job.with((*plan).clone()).ok().and_then(|job| Replayed.judge(&job));
                replays.0.borrow_mut().push((*plan, judged));
            }
            Progress::WantsProgram(class) => search.go_without(&class),
            Progress::Done => return search.offers().into_iter().cloned().collect(),
        }
    }
}

/// Judges by the replays that are there, else quickly.
struct Replays(RefCell<Vec<(Plan, Option<Judgement>)>>);

impl Replays {
    fn of(&self, plan: &Plan) -> Option<Option<Judgement>> {
        self.0.borrow().iter().find(|(other, _)| other == plan).map(|(_, judged)| *judged)
    }
}

impl FitOracle for Replays {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        self.of(&job.plan).unwrap_or_else(|| Heuristic.judge(job))
    }
}

/// The groups of the catalogue.
fn families() -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for model in model::catalogue() {
        match families.last_mut() {
            Some(family) if family.models.first().is_some_and(|other| other.group == model.group) => {
                family.models.push(model);
            }
            _ => families.push(Family { models: vec![model], at: 0, state: State::New }),
        }
    }
    // In the catalogue the smallest comes first, of equally large ones the oldest.
    families.iter_mut().for_each(|family| family.models.reverse());
    families
}

fn with_model(plan: &Plan, model: &CatalogueModel) -> Plan {
    Plan { model: ModelChoice::Catalogue(model.id.to_owned()), ..plan.clone() }
}

/// The job of `plan` with another model.
///
/// # Errors
/// The class whose program is not there yet; none where the plan does not go with the model.
fn read(asked: &Job, plan: &Plan, model: &CatalogueModel) -> Result<Job, Option<String>> {
    asked.with(with_model(plan, model)).map_err(|problems| {
        problems.into_iter().find_map(|problem| match problem.kind {
            ProblemKind::ProgramNotFetched { model_type } => Some(model_type),
            _ => None,
        })
    })
}

/// Bytes that no plan of the method goes below on one GPU: its share of weights in 16 bits, or in those of a quantised base, and
/// of as many gradients where all are there at once.
fn least_weights(asked: &Job, model: &CatalogueModel) -> f64 {
    let plan = &asked.plan;
    let bits = match plan.method {
        Method::Qlora => f64::from(plan.quantization.bits),
        Method::Full if asked.trains() && !plan.optim.steps_in_backward() => 32.0,
        Method::Full | Method::Lora => 16.0,
    };
    model.param_count as f64 * bits / 8.0 / plan.num_gpus.max(1) as f64
}

/// A way to make a plan need less.
type Way = fn(&Job, &dyn FitOracle) -> Option<(Vec<Lever>, Job)>;

/// The family's model with changes that make it fit; `plan` is what was asked, shorter if need be.
fn offer(asked: &Job, plan: &Plan, family: &Family, way: Way, oracle: &dyn FitOracle) -> Option<Offer> {
    let model = family.model()?;
    let (mut levers, lean) = way(&asked.with(with_model(plan, model)).ok()?, oracle)?;
    if plan.max_length != asked.plan.max_length {
        levers.insert(0, Lever::Length(plan.max_length));
    }
    let judgement = oracle.judge(&lean).filter(|judged| judged.need_bytes <= judged.gpu_bytes)?;
    let changed = changed(&with_model(&asked.plan, model), &lean.plan);
    Some(Offer { model, plan: lean.into_plan(), judgement, levers, changed })
}

/// `job` with everything that saves memory, in the few ways in which not everything can be had at once.
fn leanest(job: &Job) -> impl Iterator<Item = Job> {
    let pull = |job: Job, lever: Lever| lever.apply(&job).unwrap_or(job);
    let always = [
        Lever::ExpandableSegments,
        Lever::Sdpa,
        Lever::FusedOptimizer,
        Lever::NewerTrainer,
        Lever::DropOutputs,
        Lever::Checkpointing,
        Lever::AdapterReference,
        Lever::SharedInstances,
        Lever::OffloadedInstances,
        Lever::QuantizedInstances,
        Lever::HalfPrecisionBase,
        Lever::PureBfloat16,
        Lever::NarrowAdapters,
        Lever::SmallBuckets,
    ];
    let mut lean = always.into_iter().fold(job.clone(), pull);
    if let Some(batch) = smaller_batches(&lean.plan).last() {
        lean = pull(lean, Lever::MicroBatch(*batch));
    }
    let chunked =
        [Lever::Liger, Lever::LigerLayers, Lever::ChunkedLoss].into_iter().find_map(|lever| lever.apply(&lean));
    let offloaded = |job: Job| [Lever::OffloadActivations.apply(&job), Some(job)];
    let mut shardings = shardings(job.plan.num_gpus);
    shardings.retain(|sharding| !sharding.offloads());
    [Some(lean), chunked].into_iter().flatten().flat_map(offloaded).flatten().flat_map(move |lean| {
        let smaller = if lean.plan.method == Method::Full { Lever::PagedOptimizer } else { Lever::EightBitOptimizer };
        let lean = pull(lean, smaller);
        let spread: Vec<Job> = shardings.iter().filter_map(|sharding| sharding.apply(&lean)).collect();
        std::iter::once(lean).chain(spread)
    })
}
