//! What follows from the release of the trainer: keys that it does not take, whose measured step stands for it, and what an older
//! one would change.

use headroom_core::plan::{Release, Trainer, TrainerName, changed_before};

use super::super::draft::renaming;
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::trainers::REMOVED;

/// Most changes between releases that are told.
const MOST_CHANGES: usize = 4;

impl Resolver {
    /// A key that the release in force has no more stops the run.
    pub(super) fn removed_keys(&mut self) {
        if self.launched_by.is_some() {
            return;
        }
        for statement in std::mem::take(&mut self.gathered.draft.of_classes) {
            // TRL's classes take what `TrainingArguments` takes.
            let over = (statement.tool == "trl").then_some("transformers");
            let of = REMOVED.iter().filter(|removed| removed.tool == statement.tool || Some(removed.tool) == over);
            let found = of.filter(|removed| removed.tasks.is_empty() || removed.tasks.contains(&self.task)).find_map(
                |removed| {
                    let now = removed.now(&statement.key)?;
                    let release = self.release_of(removed.tool)?;
                    removed.is_gone(release).then_some((removed, now, release))
                },
            );
            if let Some((removed, now, release)) = found {
                let last = [removed.last.major().to_string(), removed.last.minor().to_string()].join(".");
                let kind = Kind::RemovedKey {
                    tool: removed.tool,
                    release: release.to_string(),
                    key: statement.key.clone(),
                    last,
                    now,
                };
                // The former name is told once, with what corrects it.
                let here = |found: &Finding| (found.file, found.span) == (Some(statement.file), statement.span);
                let told = &mut self.gathered.draft.findings;
                let former = told.iter().position(here).map(|at| told.remove(at));
                let fix = former.and_then(|former| former.fix).or_else(|| renaming(&statement, now));
                self.findings.push(Finding { fix, ..Finding::at(kind, statement.file, statement.span) });
            }
        }
    }

    /// Devices of other makers have kernels and an allocator of their own.
    pub(super) fn other_device(&mut self) {
        const VARIABLES: [&str; 4] =
            ["ASCEND_RT_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF"];
        let said =
            self.gathered.draft.facts.values().flatten().find(|said| VARIABLES.contains(&said.key.as_str())).cloned();
        if let Some(statement) = said {
            self.find(Kind::OtherDevice { key: statement.key.clone() }, &statement);
        } else if let Some(module) = self.gathered.device_module {
            self.findings.push(Finding::nowhere(Kind::OtherDevice { key: module.to_owned() }));
        }
    }

    /// The release of a tool that is in force: the stated one, or the newest of the plan's own trainer.
    fn release_of(&self, tool: &str) -> Option<Release> {
        let package = if tool.starts_with("trl") { "trl" } else { tool };
        let stated = self.gathered.versions.get(package).and_then(|version| Release::parse(version));
        stated.or_else(|| (self.trainer.name() == package).then(|| self.runs.stated()))
    }

    /// Tells which release was taken, whose step stands for it, and what an older one would change.
    pub(super) fn release_taken(&mut self) {
        let Trainer { name, version } = &self.runs;
        let (name, version) = (*name, version.clone().unwrap_or_default());
        if self.launched_by.is_some() || name.measured().is_empty() || self.gathered.trainer.is_none() {
            return;
        }
        if self.gathered.versions.contains_key(name.name()) {
            let measured = self.release;
            if self.runs.stated() != measured {
                let kind = Kind::StepOfRelease { trainer: name, stated: version, measured: measured.to_string() };
                self.findings.push(Finding::nowhere(kind));
            }
            return;
        }
        let changes = self.changes(name);
        self.findings.push(Finding::nowhere(Kind::ReleaseAssumed { trainer: name, taken: version, changes }));
    }

    /// What older releases take otherwise, of what the files leave open, the latest change first.
    fn changes(&self, name: TrainerName) -> Vec<String> {
        let mut changes = changed_before(name, self.task, self.runs.stated());
        changes.retain(|(_, new)| !self.is_set(new.name()) && self.applies(new.name()));
        changes.sort_by_key(|(_, new)| std::cmp::Reverse(new.since));
        let said = |(old, new): &(headroom_core::plan::DefaultOf, headroom_core::plan::DefaultOf)| {
            format!("`{} = {}` < {}", new.name(), old.value, new.since)
        };
        changes.iter().take(MOST_CHANGES).map(said).collect()
    }
}
