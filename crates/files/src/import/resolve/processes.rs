//! How many processes there are.

use headroom_core::plan::TrainerName;

use super::super::convert;
use super::super::draft::{Rank, Statement};
use super::super::gather::Launcher;
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::syntax::Value;
use crate::trainers::{Fact, Topic};

/// What a cluster is asked for, as findings call it.
pub(in crate::import) const ASKED: &str = "--gres=gpu";

impl Resolver {
    /// GPUs that work together, and what says so. More processes than the GPUs that they see are told.
    pub(super) fn processes(&mut self) -> Option<(u64, Statement)> {
        let facts = &self.gathered.draft.facts;
        let stated = |fact: Fact| facts.get(&fact).into_iter().flatten();
        let listed_by = |said: &Statement| convert::text(&said.node).as_deref().and_then(listed);
        let visible = stated(Fact::VisibleGpus).filter_map(|said| Some((listed_by(said)?, said.key.clone())));
        let asked = stated(Fact::GivenGpus).filter(|said| said.key == ASKED);
        let asked = asked.filter_map(|said| Some((convert::whole(&said.node)?, said.key.clone())));
        let least = visible.chain(asked).min();
        let found = self.counted();
        if let (Some((count, statement)), Some((seen, by))) = (&found, least) {
            let processes = count / self.machines();
            if processes > seen && by != statement.key {
                let key = statement.key.clone();
                self.find(Kind::ProcessesBeyondGpus { key, processes, by, seen }, statement);
            }
            // Each process of ms-swift spreads its layers over its part of the GPUs (swift/llm/utils/utils.py `is_mp`,
            // swift/model/utils.py `get_default_device_map`).
            if self.named == TrainerName::MsSwift && processes > 0 && seen / processes > 1 {
                let visible = self.gathered.draft.fact(Fact::VisibleGpus).cloned();
                visible.iter().for_each(|said| self.cannot_say(said, Topic::Placement));
            }
        }
        found
    }

    fn counted(&mut self) -> Option<(u64, Statement)> {
        let machines = self.machines();
        let visible = self.visible();
        let per_machine = self.per_machine();
        // axolotl and LLaMA-Factory print one Ray worker by default, whether Ray is used or not.
        if let Some(stated) = self.gathered.draft.facts.get_mut(&Fact::Processes) {
            stated.retain(|said| said.key != "ray_num_workers" || convert::whole(&said.node) != Some(1));
        }
        let total = self.whole(Fact::Processes);
        let ids = self.gpu_ids();
        let tasks = self.whole(Fact::Tasks);
        if let Some((total, statement)) = total {
            // One process has one GPU: of a configuration that counts more than the run sees, these are as many as there can be.
            let seen = visible.clone().filter(|(seen, _)| *seen < total && machines == 1);
            if let (Rank::Accelerate, Some((seen, of_run))) = (statement.rank, seen) {
                self.overridden(&of_run, &[statement]);
                return Some((seen.max(1), of_run));
            }
            return Some((total.max(1), statement));
        }
        let times = |(count, statement): (u64, Statement)| (count.saturating_mul(machines).max(1), statement);
        if let Some(found) = per_machine {
            return Some(times(found));
        }
        if self.gathered.launcher.is_none() && matches!(self.named, TrainerName::LlamaFactory | TrainerName::Axolotl) {
            // Their own commands start a process for every GPU that they see (llamafactory/launcher.py, axolotl
            // cli/utils/train.py).
            return ids.or(visible).map(times);
        }
        match self.gathered.launcher {
            Some(
                Launcher::Accelerate | Launcher::Axolotl | Launcher::LlamaFactory | Launcher::Trl | Launcher::Deepspeed,
            ) => {
                let found = ids.or(visible).map(times);
                if found.is_none() {
                    self.unknown();
                }
                found
            }
            Some(Launcher::Torchrun) if !self.launcher_is_open() => None,
            Some(Launcher::Torchrun) => {
                let found = ids.or(visible).map(times);
                if found.is_none() {
                    self.missing.push("num_gpus");
                    self.findings.push(Finding::nowhere(Kind::LauncherOpen));
                    self.default("distributed.framework", "ddp");
                }
                found
            }
            Some(Launcher::Swift | Launcher::Python) | None => {
                if let Some(found @ (2.., _)) = tasks {
                    return Some(found);
                }
                self.one_process(visible);
                None
            }
            Some(Launcher::Ray) if !self.is_reinforcement() => None,
            // Stated, and by what nothing here computes: the GPUs that the run sees, else they are asked for.
            Some(Launcher::Ray) if self.gathered.draft.fact(Fact::ProcessesPerMachine).is_some() => {
                if visible.is_none() {
                    self.unknown();
                }
                visible.map(times)
            }
            Some(Launcher::Ray) => {
                if let Some(found) = self.given() {
                    return Some(found);
                }
                // verl/trainer/config/ppo_trainer.yaml `n_gpus_per_node`.
                self.default("num_gpus", machines.saturating_mul(8));
                None
            }
        }
    }

    /// Whether the number of processes stands behind the launcher in a variable that no file sets.
    fn launcher_is_open(&self) -> bool {
        self.gathered.is_launcher_open || self.gathered.draft.facts.contains_key(&Fact::ProcessesPerMachine)
    }

    /// One process that sees several GPUs.
    fn one_process(&mut self, visible: Option<(u64, Statement)>) {
        let Some((gpus @ 2.., statement)) = visible else { return };
        let trainer = matches!(self.trainer, TrainerName::Transformers | TrainerName::Trl | TrainerName::LlamaFactory);
        if trainer && self.named != TrainerName::Unsloth && self.gathered.launcher == Some(Launcher::Python) {
            self.find(Kind::DataParallel { gpus }, &statement);
            self.set("num_gpus", gpus, &statement);
        } else if trainer && self.named != TrainerName::Unsloth && self.is_begun() {
            // Of a script whose command nobody shows: the run that the sentences tell of.
            self.set("num_gpus", gpus, &statement);
        } else if self.named == TrainerName::MsSwift && self.gathered.launcher == Some(Launcher::Swift) {
            // One process spreads its layers over all of them (swift/model/utils.py `get_default_device_map`).
            self.cannot_say(&statement, Topic::Placement);
        }
    }

    /// A script without its command, that spreads no model over several GPUs by itself.
    fn is_begun(&self) -> bool {
        self.gathered.launcher.is_none()
            && self.gathered.python.is_script
            && !self.gathered.draft.facts.contains_key(&Fact::DeviceMap)
    }

    fn unknown(&mut self) {
        let single = self.gathered.draft.fact(Fact::DistributedType).is_some_and(|kind| {
            convert::text(&kind.node).is_some_and(|text| text.eq_ignore_ascii_case("no") || text == "false")
        });
        if !single {
            self.findings.push(Finding::nowhere(Kind::GpusUnknown));
        }
    }

    pub(super) fn machines(&mut self) -> u64 {
        let Some((text, statement)) = self.text(Fact::Machines) else { return 1 };
        let count = machines_of(&text);
        // Told once, however often it is asked.
        let is_told =
            self.findings.iter().any(|found| found.file == Some(statement.file) && found.span == statement.span);
        if count.is_none() && !is_told {
            self.bad(&statement, "a whole number");
        }
        count.unwrap_or(1).max(1)
    }

    /// Whether the files leave open over how many machines their count of GPUs is multiplied: `--nnodes $N`,
    /// `trainer.nnodes=TO_BE_FILLED`.
    pub(super) fn machines_are_open(&self) -> bool {
        let Some(said) = self.gathered.draft.fact(Fact::Machines) else { return false };
        let is_known = convert::text(&said.node).is_some_and(|text| machines_of(&text).is_some());
        let total = self.gathered.draft.fact(Fact::Processes);
        !is_known && total.is_none_or(|total| convert::whole(&total.node).is_none())
    }

    fn visible(&mut self) -> Option<(u64, Statement)> {
        let visible = self.text(Fact::VisibleGpus);
        let stated = visible.and_then(|(text, statement)| Some((listed(&text)?, statement)));
        stated.or_else(|| self.given())
    }

    /// GPUs of the container, which its programs all see.
    pub(super) fn given(&mut self) -> Option<(u64, Statement)> {
        let statement = self.take(Fact::GivenGpus)?;
        let count = match &statement.node.value {
            Value::Integer(count) => u64::try_from(*count).ok(),
            Value::List(ids) => Some(ids.len() as u64),
            Value::Text(text) if !matches!(text.as_str(), "none" | "void") => listed(text),
            _ => None,
        };
        Some((count.filter(|count| *count > 0)?, statement))
    }

    fn gpu_ids(&mut self) -> Option<(u64, Statement)> {
        let statement = self.take(Fact::GpuIds)?;
        let names = convert::names(&statement.node).join(",");
        let text = if names.is_empty() { convert::text(&statement.node)? } else { names };
        Some((listed(&text)?, statement))
    }

    fn per_machine(&mut self) -> Option<(u64, Statement)> {
        if let Some((include, statement)) = self.text(Fact::Include) {
            let count: u64 =
                include.split('@').filter_map(|host| host.split_once(':')).filter_map(|(_, ids)| listed(ids)).sum();
            if count > 0 {
                return Some((count, statement));
            }
        }
        let (text, statement) = self.text(Fact::ProcessesPerMachine)?;
        if let Ok(count) = text.parse::<u64>() {
            return Some((count, statement));
        }
        // `gpu`, `auto`: as many as are visible.
        let visible = self.visible();
        if visible.is_none() {
            self.unknown();
        }
        visible.map(|(count, _)| (count, statement))
    }
}

/// Machines; of `1:4`, an elastic launch, the most.
fn machines_of(text: &str) -> Option<u64> {
    text.rsplit(':').next().and_then(|count| count.parse::<u64>().ok())
}

/// How many GPUs `0,1,2` or `0-3` lists; `all` says nothing.
fn listed(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches(['\'', '"', '[', ']']);
    if text.is_empty() || text.eq_ignore_ascii_case("all") {
        return None;
    }
    let mut count = 0;
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        count += match part.split_once('-').map(|(from, to)| (from.parse::<u64>(), to.parse::<u64>())) {
            Some((Ok(from), Ok(to))) if to >= from => to - from + 1,
            _ => 1,
        };
    }
    Some(count)
}
