//! The largest models that fit: one of each family, with what has to be changed for it, families that people train most first.
//!
//! The method stays, and what is trained; everything that saves memory and leaves the result as it is, or coarser, may be
//! switched on, but for host memory: offload goes further, at many times the time of a step. As in [`solve`](super::solve) verdicts by replay come from outside: the search goes on in steps of some
//! milliseconds, and says which replay it wants next, or which program: a page fetches those of the few models that are likely offers. Families
//! behind the last that is offered are looked at only to say how many more fit.

use std::cell::RefCell;
use std::cmp::Reverse;

use super::difference::{Changed, changed};
use super::fit::{all_savers, savers};
use super::lever::{Lever, shardings, shorter, smaller_batches};
use super::oracle::{FitOracle, Heuristic, Judgement, Replayed};
use crate::job::Job;
use crate::model::{self, CatalogueModel, Programs};
use crate::order;
use crate::plan::{Method, ModelChoice, Plan, ProblemKind};

/// How many models are offered.
pub const OFFERED: usize = 6;

/// Groups of the catalogue that people fine-tune most, those of text first: the order in which the shipped configurations of
/// axolotl, ms-swift, verl and Unsloth name them (counted in November 2026). The others follow, the newest first.
const TRAINED: [&str; 24] = [
    "Qwen3.8",
    "Qwen3.6",
    "Qwen3.5",
    "Qwen3",
    "Gemma 4",
    "Llama 3",
    "gpt-oss",
    "Phi",
    "Mistral Small",
    "Ministral 3",
    "Gemma",
    "Qwen2.5",
    "Mistral",
    "Qwen3-Next",
    "Gemma 3n",
    "LFM2",
    "Granite 4.0",
    "Nemotron",
    "GLM-4.5 and later",
    "DeepSeek",
    "Llama 4",
    "Qwen3-VL",
    "Qwen2.5-VL",
    "InternVL3.5",
];

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
        let Some(place) = self.next() else {
            if self.found().count() > 0 {
                return self.count_more(oracle);
            }
            return match self.shorter.pop() {
                Some(length) => {
                    self.families = families();
                    self.plan.max_length = length;
                    Progress::Working
                }
                None => Progress::Done,
            };
        };
        if self.families.get(place).is_some_and(|family| family.state == State::New) {
            self.look_at(place, oracle);
            return Progress::Working;
        }
        self.decide(place, oracle, replayed)
    }

    /// The next piece of deciding about the model that the family at `place` has come to.
    fn decide(&mut self, place: usize, oracle: &dyn FitOracle, replayed: &dyn Fn(&Plan) -> bool) -> Progress {
        let Self { asked, plan, families, missed, .. } = self;
        let Some(family) = families.get_mut(place) else { return Progress::Done };
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
            State::Found(_) => {}
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
        Progress::Working
    }

    /// What has been found, in the order of the families.
    pub fn offers(&self) -> Vec<&Offer> {
        self.found().collect()
    }

    /// Families behind those that are offered of which a model fits too, at a quick look.
    pub fn more(&self) -> usize {
        self.families.iter().filter(|family| family.state == State::Possible && family.model().is_some()).count()
    }

    fn found(&self) -> impl Iterator<Item = &Offer> {
        self.families.iter().filter_map(|family| match &family.state {
            State::Found(offer) => Some(&**offer),
            State::New | State::Possible | State::Likely(_) | State::LastTry(_) => None,
        })
    }

    /// The first family that is not decided yet; none once enough has been found.
    fn next(&self) -> Option<usize> {
        if self.found().count() >= OFFERED {
            return None;
        }
        let is_open = |family: &Family| !matches!(family.state, State::Found(_)) && family.model().is_some();
        self.families.iter().position(is_open)
    }

    /// Looks at the next family behind those that are offered.
    fn count_more(&mut self, oracle: &dyn FitOracle) -> Progress {
        let is_new = |family: &Family| family.state == State::New && family.model().is_some();
        let Some(place) = self.families.iter().position(is_new) else { return Progress::Done };
        self.look_at(place, oracle);
        Progress::Working
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
}

/// The largest models that fit, as [`largest_models`] finds them.
#[derive(Debug, Clone, PartialEq)]
pub struct LargestModels {
    /// One of each family, the families that people train most first.
    pub offers: Vec<Offer>,
    /// How many more families have a model that fits, at a quick look.
    pub more: usize,
}

/// The largest models that fit where `job` is to run, each confirmed by its own replay, of those that the plan's programs read.
pub fn largest_models(job: &Job) -> LargestModels {
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
            Progress::Done => {
                return LargestModels { offers: search.found().cloned().collect(), more: search.more() };
            }
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

/// The groups of the catalogue, those that people train most first, then the newest.
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
    // In the catalogue the smallest comes first, of equally large ones the oldest. Models of text come before those that see images.
    let sees = |model: &&CatalogueModel| model.config.contains("\"vision_config\"");
    for family in &mut families {
        family.models.reverse();
        order::sort(&mut family.models, |a, b| sees(a).cmp(&sees(b)));
    }
    let rank = |family: &Family| {
        let group = family.models.first().map_or("", |model| model.group);
        let newest = family.models.iter().map(|model| model.released).max().unwrap_or_default();
        (TRAINED.iter().position(|trained| *trained == group).unwrap_or(TRAINED.len()), Reverse(newest))
    };
    order::sort(&mut families, |a, b| rank(a).cmp(&rank(b)));
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
    let mut shardings = shardings(job.plan.num_gpus);
    shardings.retain(|sharding| !sharding.offloads());
    [Some(lean), chunked].into_iter().flatten().flat_map(move |lean| {
        let smaller = if lean.plan.method == Method::Full { Lever::PagedOptimizer } else { Lever::EightBitOptimizer };
        let lean = pull(lean, smaller);
        let spread: Vec<Job> = shardings.iter().filter_map(|sharding| sharding.apply(&lean)).collect();
        std::iter::once(lean).chain(spread)
    })
}
