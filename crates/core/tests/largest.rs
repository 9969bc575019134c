//! The largest models: each offered one fits by its own replay, with every change named.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use headroom_core::advise::difference::changed;
use headroom_core::advise::largest::{Largest, LargestModels, OFFERED, Offer, Progress, largest_models};
use headroom_core::advise::{FitOracle, Heuristic, Judgement, Lever};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{Fit, estimate_replayed};
use headroom_core::model::{self, CatalogueModel, Program, Programs};
use headroom_core::plan::{Method, ModelChoice, Offload, Optimizer, Plan};

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

const ASKED: [&str; 6] = [
    "v=1&gpu=t4&method=qlora&torch_dtype=float16",
    "v=1&gpu=rtx-4090&method=lora",
    "v=1&gpu=a100-80gb&num_gpus=8&method=full",
    "v=1&gpu=a100-80gb&num_gpus=8&method=full&zero_stage=3&per_device_train_batch_size=4&max_length=4096",
    "v=1&gpu=rtx-4090&task=grpo&method=lora&num_generations=8&per_device_train_batch_size=8",
    "v=1&gpu=rtx-3060&task=sequence_classification&method=full",
];

fn plan(fragment: &str) -> Plan {
    let decoded = link::decode(fragment);
    assert!(decoded.problems.is_empty(), "{fragment}: {:?}", decoded.problems);
    decoded.plan
}

fn with_model(plan: &Plan, id: &str) -> Plan {
    Plan { model: ModelChoice::Catalogue(id.to_owned()), ..plan.clone() }
}

#[test]
fn families_that_people_train_fit_by_their_own_replays_every_change_named() {
    for fragment in ASKED {
        let plan = plan(fragment);
        let LargestModels { offers, more } = largest_models(&job(&plan));
        assert_eq!(offers.len(), OFFERED, "{fragment}");
        assert!(more > 0, "{fragment}");
        for offer in &offers {
            let name = format!("{fragment}: {}", offer.model.id);
            let estimate = estimate_replayed(&job(&offer.plan));
            assert_eq!(estimate.verdict.fit, Fit::Fits, "{name}");
            assert_eq!(estimate.peak.band.expected, offer.judgement.need_bytes, "{name}");
            check_changes(&plan, offer, &name);
        }
        let families: HashSet<&str> = offers.iter().map(|offer| offer.model.group).collect();
        assert_eq!(families.len(), OFFERED, "{fragment}");
    }
}

/// Nothing differs but the model and what is named, and none of that is what the reader asked to train.
fn check_changes(plan: &Plan, offer: &Offer, name: &str) {
    assert_eq!(changed(&with_model(plan, offer.model.id), &offer.plan), offer.changed, "{name}");
    assert_eq!(offer.levers.is_empty(), offer.changed.is_empty(), "{name}");
    let changes = [Lever::Lora, Lever::Qlora, Lever::AttentionAdapters];
    assert!(!offer.levers.iter().any(|lever| changes.contains(lever)), "{name}: {:?}", offer.levers);
    let kept = |plan: &Plan| (plan.task, plan.method, plan.max_length, plan.num_gpus, plan.gpu.clone());
    assert_eq!(kept(&offer.plan), kept(plan), "{name}");
    assert_eq!(offer.plan.batches().effective_batch_size, plan.batches().effective_batch_size, "{name}");
    assert_eq!((offer.plan.offload_optimizer, offer.plan.offload_param), (Offload::None, Offload::None), "{name}");
}

#[test]
fn no_larger_model_of_a_family_fits_with_everything_on() {
    for fragment in &ASKED[..3] {
        let plan = plan(fragment);
        for offer in largest_models(&job(&plan)).offers {
            // Of a family a model of text comes before those that see images.
            let sees = |model: &CatalogueModel| model.config.contains("\"vision_config\"");
            let family = model::catalogue().iter().filter(|other| other.group == offer.model.group);
            let family = family.filter(|other| sees(other) == sees(offer.model));
            for larger in family.filter(|other| other.param_count > offer.model.param_count) {
                let mut lean = with_model(&plan, larger.id);
                lean.gradient_checkpointing = true;
                lean.expandable_segments = true;
                (lean.optim, lean.zero_stage) = match plan.method {
                    Method::Full => (Optimizer::PagedAdamw8bit, 3),
                    Method::Lora | Method::Qlora => (Optimizer::AdamwBnb8bit, 0),
                };
                let lean = job(&lean);
                for lean in [Lever::Liger.apply(&lean), Lever::NarrowAdapters.apply(&lean), Some(lean)] {
                    let fits = lean.is_some_and(|lean| estimate_replayed(&lean).verdict.fit == Fit::Fits);
                    assert!(!fits, "{fragment}: {} fits, {} was offered", larger.id, offer.model.id);
                }
            }
        }
    }
}

#[test]
fn a_tesla_t4_is_offered_what_people_train() {
    let offers = largest_models(&job(&plan(ASKED[0]))).offers;
    let groups: Vec<&str> = offers.iter().map(|offer| offer.model.group).collect();
    for expected in ["Qwen3", "Gemma 4", "Llama 3", "Phi"] {
        assert!(groups.contains(&expected), "{groups:?}");
    }
    let largest = |group: &str| offers.iter().find(|offer| offer.model.group == group).map(|offer| offer.model.id);
    assert_eq!(largest("Qwen3"), Some("Qwen/Qwen3-14B"));
}

/// Replays that say what those of a smaller GPU would: less fits than at a quick look.
struct Stricter(RefCell<Vec<Plan>>);

impl FitOracle for Stricter {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let mut judged = Heuristic.judge(job)?;
        if self.0.borrow().contains(job.plan()) && judged.need_bytes > judged.gpu_bytes / 5 * 4 {
            judged.fit = Fit::DoesNotFit;
        }
        Some(judged)
    }
}

#[test]
fn what_a_replay_refuses_is_not_offered() {
    let oracle = Stricter(RefCell::default());
    let mut search = Largest::new(job(&plan(ASKED[1])));
    let mut steps = 0;
    loop {
        match search.advance(&oracle, &|plan| oracle.0.borrow().contains(plan)) {
            Progress::Working => steps += 1,
            Progress::Wants(plan) => oracle.0.borrow_mut().push(*plan),
            Progress::WantsProgram(class) => search.go_without(&class),
            Progress::Done => break,
        }
        assert!(steps < 2000 && oracle.0.borrow().len() < 200, "the search does not end");
    }
    let offers = search.offers();
    assert_eq!(offers.len(), OFFERED);
    // Whoever takes one can still take another.
    assert!(offers.iter().all(|offer| search.holds_for(&offer.plan)));
    for offer in offers {
        assert!(oracle.0.borrow().contains(&offer.plan) && oracle.suits(&job(&offer.plan)), "{}", offer.model.id);
    }
}

#[test]
fn shorter_sequences_come_last_and_are_named() {
    let plan = plan("v=1&gpu=gtx-1050-ti&method=lora&max_length=65536");
    let offers = largest_models(&job(&plan)).offers;
    assert!(!offers.is_empty());
    for offer in offers {
        assert!(offer.plan.max_length < plan.max_length, "{}", offer.model.id);
        assert!(offer.changed.iter().any(|change| change.field == "max_length"), "{:?}", offer.changed);
        assert_eq!(offer.levers[0], Lever::Length(offer.plan.max_length));
        assert_eq!(estimate_replayed(&job(&offer.plan)).verdict.fit, Fit::Fits);
    }
}

#[test]
fn the_answer_is_the_same_whatever_the_model_of_the_plan() {
    let search = Largest::new(job(&plan(ASKED[0])));
    assert!(search.holds_for(&with_model(&plan(ASKED[0]), "openai-community/gpt2")));
    assert!(!search.holds_for(&plan(ASKED[1])));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static/programs")
}

/// What a page does: programs come one by one, as the search asks for them.
fn fetched(asked: &Plan) -> (Vec<&'static str>, Vec<String>) {
    let files = fs::read_dir(folder()).unwrap().flatten();
    let names = files.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()));
    let read = |class: &str| {
        let text = fs::read_to_string(folder().join(class).with_extension("json")).unwrap();
        Program::from_json(&text).unwrap()
    };
    // That of the plan's own model, a Qwen3, is there before anything is searched.
    let listed = Programs::none().listing(names).with(read("qwen3"));
    let mut search = Largest::new(job(&Plan { programs: listed.clone(), ..asked.clone() }));
    let (mut programs, mut came, mut replays) = (listed, Vec::new(), Vec::new());
    loop {
        match search.advance(&Heuristic, &|plan| replays.contains(plan)) {
            Progress::Working => {}
            Progress::Wants(plan) => replays.push(*plan),
            Progress::WantsProgram(class) => {
                assert!(!came.contains(&class), "{class} came already");
                programs = programs.with(read(&class));
                search.read_by(&programs);
                came.push(class);
            }
            Progress::Done => return (search.offers().iter().map(|offer| offer.model.id).collect(), came),
        }
    }
}

#[test]
fn a_page_fetches_the_programs_of_likely_models_alone() {
    for fragment in &ASKED[1..4] {
        let asked = plan(fragment);
        let (offered, came) = fetched(&asked);
        assert!(came.len() <= 28, "{fragment}: {came:?}");
        let mut search = Largest::new(job(&asked));
        let mut replays = Vec::new();
        loop {
            match search.advance(&Heuristic, &|plan| replays.contains(plan)) {
                Progress::Working => {}
                Progress::Wants(plan) => replays.push(*plan),
                Progress::WantsProgram(class) => panic!("{class} is there"),
                Progress::Done => break,
            }
        }
        let with_all: Vec<&str> = search.offers().iter().map(|offer| offer.model.id).collect();
        assert_eq!(offered, with_all, "{fragment}");
    }
}
