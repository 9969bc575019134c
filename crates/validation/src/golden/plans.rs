//! Which plans and files the golden files are about.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use headroom_core::link;
use headroom_core::plan::{Plan, Release, Task, TrainerName, changed_defaults};
use headroom_core::scenario::SCENARIOS;
use headroom_files::import::File;
use serde_json::Value;

use super::draw::{self, DRAWS, RECORDED_DRAWS};
use crate::{case, kept};

/// What is asked about.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// A plan: what it needs.
    Plan(Box<Plan>),
    /// A plan that was drawn at random: its terms are kept as one number.
    Drawn(Box<Plan>),
    /// Files of a training run: what import makes of them.
    Files(Vec<File>),
}

/// What is asked about, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// `allocator alloc-lora-101`, `link 007`, `scenario reward_model lora`, `draw 0012`, `release trl 1.6.0 dpo lora`,
    /// `import lf-lora-sft`.
    pub origin: String,
    /// The plan or the files.
    pub subject: Subject,
}

impl Asked {
    fn plan(origin: String, plan: Plan) -> Self {
        Self { origin, subject: Subject::Plan(Box::new(plan)) }
    }

    fn drawn(origin: String, plan: Plan) -> Self {
        Self { origin, subject: Subject::Drawn(Box::new(plan)) }
    }

    /// What names it among all that are asked: a plan's link, or the folder of files.
    pub fn key(&self) -> String {
        match &self.subject {
            Subject::Plan(plan) | Subject::Drawn(plan) => link::encode(plan),
            Subject::Files(_) => self.origin.replace(' ', "/"),
        }
    }
}

/// Every plan once, in an order that does not change: measured cases, links, scenarios, releases, draws; then files.
pub(super) fn all() -> Result<Vec<Asked>, String> {
    let mut asked = measured()?;
    asked.extend(links()?);
    for scenario in SCENARIOS {
        let of = |plan: &headroom_core::scenario::ScenarioPlan| {
            Asked::plan(format!("scenario {} {}", scenario.id, plan.key), plan.plan())
        };
        asked.extend(scenario.plans.iter().map(of));
    }
    asked.extend(releases());
    asked.extend((0..DRAWS).map(|index| Asked::drawn(format!("draw {index:04}"), draw::plan(index))));
    let recorded = (0..RECORDED_DRAWS).map(|index| (index, draw::of_recorded(index)));
    asked.extend(recorded.map(|(index, plan)| Asked::drawn(format!("recorded-draw {index:03}"), plan)));
    asked.extend(files()?);
    let mut seen = BTreeSet::new();
    asked.retain(|one| seen.insert(one.key()));
    Ok(asked)
}

/// How each release and task is trained once.
const WAYS: [(&str, &str); 4] = [
    ("full", "method=full"),
    ("lora", "method=lora"),
    ("qlora", "method=qlora"),
    ("liger", "method=lora&use_liger_kernel=true&gradient_checkpointing=true&num_gpus=2"),
];

/// Every trainer at every measured release and at every release that changed a default, for each of its tasks. Draws meet a
/// release and a task together rarely or never.
fn releases() -> Vec<Asked> {
    let mut asked = Vec::new();
    for trainer in TrainerName::ALL.iter().filter(|trainer| trainer.is_modelled()) {
        let releases: BTreeSet<Release> =
            trainer.measured().iter().copied().chain(changed_defaults(*trainer)).collect();
        for release in releases {
            for task in Task::ALL.iter().filter(|task| trainer.models(**task)) {
                for (way, fields) in WAYS {
                    let (name, task) = (trainer.name(), task.name());
                    let fragment = format!(
                        "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&trainer={name}&trainer_version={release}&task={task}\
                         &max_length=256&{fields}"
                    );
                    let origin = format!("release {name} {release} {task} {way}");
                    asked.push(Asked::plan(origin, link::decode(&fragment).plan));
                }
            }
        }
    }
    asked
}

/// The files of the corpus of import.
fn files() -> Result<Vec<Asked>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files");
    let read =
        |path: &Path| fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()));
    let index = folder.join("index.jsonl");
    let mut asked = Vec::new();
    for line in read(&index)?.lines() {
        let case: Value =
            serde_json::from_str(line).map_err(|error| format!("{}: {error}: {line}", index.display()))?;
        let id = case["id"].as_str().unwrap_or_default();
        let names = case["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let files = names.map(|name| Ok(File { name: name.to_owned(), text: read(&folder.join(id).join(name))? }));
        let subject = Subject::Files(files.collect::<Result<_, String>>()?);
        asked.push(Asked { origin: format!("import {id}"), subject });
    }
    Ok(asked)
}

fn measured() -> Result<Vec<Asked>, String> {
    let read = |case: case::Case| {
        let plan = Plan::from_value(&case.plan).ok()?;
        Some(Asked::plan(format!("{} {}", case.file, case.id), plan))
    };
    Ok(kept::cases(&kept::folder())?.into_iter().filter_map(read).collect())
}

fn links() -> Result<Vec<Asked>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/links/v1.txt");
    let text = fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let links = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next());
    let read = |(number, text): (usize, &str)| Asked::plan(format!("link {number:03}"), link::decode(text).plan);
    Ok(links.enumerate().map(read).collect())
}
