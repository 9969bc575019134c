//! What follows from the release of the trainer: keys that it does not take, whose measured step stands for it, and what an older
//! one would change.

use headroom_core::plan::{Release, Trainer, TrainerName, changed_before};

use super::super::draft::{Statement, renaming};
use super::{Implied, Resolver};
use crate::finding::{Finding, Kind};
use crate::trainers::{REMOVED, Removed};

/// Most changes between releases that are told.
const MOST_CHANGES: usize = 4;

/// The first release of TRL that needs a newer transformers than the last that took `evaluation_strategy` (setup.cfg:
/// `transformers>=4.51.0` of 0.19), and the last one before it.
const TRL_BEFORE_4_51: Release = Release::new(0, 18, 0);

impl Resolver {
    /// Where no file states a release, keys that newer ones have no more say that it is an older one: the last that took all of
    /// them. It counts like one that is stated.
    pub(super) fn imply_releases(&mut self) {
        const KNOWN: [TrainerName; 4] =
            [TrainerName::Trl, TrainerName::Transformers, TrainerName::MsSwift, TrainerName::LlamaFactory];
        if self.launched_by.is_some() || !KNOWN.contains(&self.trainer) {
            return;
        }
        match self.trainer {
            TrainerName::MsSwift => self.implied.extend(self.implied("ms-swift", TrainerName::MsSwift)),
            TrainerName::LlamaFactory => {
                let by_keys = self.implied("llamafactory", TrainerName::LlamaFactory);
                let at_most = self.gathered.at_most.filter(|_| !self.gathered.versions.contains_key("llamafactory"));
                match (by_keys, at_most) {
                    (by_keys, Some(most)) if by_keys.as_ref().is_none_or(|implied| most < implied.release) => {
                        self.gathered.versions.insert("llamafactory".to_owned(), most.to_string());
                    }
                    (by_keys, _) => self.implied.extend(by_keys),
                }
            }
            _ => {}
        }
        let transformers = self.implied("transformers", TrainerName::Transformers);
        if self.trainer == TrainerName::Transformers {
            self.implied.extend(transformers);
        } else if self.trainer == TrainerName::Trl && !self.gathered.versions.contains_key("trl") {
            // Of transformers beside TRL only what changes a default counts: dtypes and sharding of releases before 5.0.
            let transformers = transformers.filter(|implied| implied.release.is_before(5, 0));
            let own = self.implied("trl", TrainerName::Trl);
            let by_library =
                transformers.as_ref().filter(|implied| implied.release.is_before(4, 51)).map(|implied| Implied {
                    tool: "trl",
                    statement: implied.statement.clone(),
                    release: TRL_BEFORE_4_51,
                    now: implied.now,
                });
            let oldest = own.into_iter().chain(by_library).min_by_key(|implied| implied.release);
            self.implied.extend(oldest.into_iter().chain(transformers));
        }
        for Implied { tool, release, .. } in &self.implied {
            self.gathered.versions.insert((*tool).to_owned(), release.to_string());
        }
    }

    /// The last release of `tool` that took every key of the files, where the newest does not and none is stated.
    fn implied(&self, tool: &'static str, trainer: TrainerName) -> Option<Implied> {
        if self.gathered.versions.contains_key(tool) {
            return None;
        }
        let newest = Trainer::newest(trainer).stated();
        let removed = self.gathered.draft.of_classes.iter().flat_map(|statement| {
            let of_tool = move |removed: &&Removed| {
                let package = removed.package();
                // TRL's classes take what `TrainingArguments` takes.
                let takes = removed.tool == statement.tool || removed.tool == "transformers";
                package == tool && takes && (removed.tasks.is_empty() || removed.tasks.contains(&self.task))
            };
            REMOVED
                .iter()
                .filter(of_tool)
                .filter_map(move |removed| Some((statement, removed, removed.now(&statement.key)?)))
        });
        let gone = removed.filter(|(_, removed, _)| removed.is_gone(newest));
        let (statement, removed, now) = gone.min_by_key(|(_, removed, _)| removed.last)?;
        Some(Implied { tool, statement: statement.clone(), release: removed.last, now })
    }

    /// The release of the trainer whose files are named, as far as it is known before the trainer is: what is stated, what its keys
    /// and scripts imply. A state before a release is older than it.
    pub(super) fn release_of_files(&self, trainer: TrainerName) -> Option<(Release, bool)> {
        let name = trainer.name();
        let stated = self.gathered.versions.get(name).and_then(|version| Release::parse(version));
        let is_before = self.gathered.unreleased.iter().any(|package| package == name);
        let by_script = self.gathered.at_most.filter(|_| trainer == TrainerName::LlamaFactory);
        let by_keys = || {
            let implied = match trainer {
                TrainerName::LlamaFactory => self.implied("llamafactory", trainer),
                TrainerName::MsSwift => self.implied("ms-swift", trainer),
                _ => None,
            };
            implied.map(|implied| implied.release)
        };
        stated
            .map(|release| (release, is_before))
            .or_else(|| Some((by_keys().into_iter().chain(by_script).min()?, false)))
    }

    /// Whether the run is ms-swift's own and older than a release; where none is stated it is the newest.
    pub(super) fn is_swift_before(&self, major: u32, minor: u32) -> bool {
        let stated =
            self.gathered.versions.get(TrainerName::MsSwift.name()).and_then(|version| Release::parse(version));
        self.named == TrainerName::MsSwift && stated.is_some_and(|release| release.is_before(major, minor))
    }

    /// Whether transformers is a release before 5.0, by itself or by the trainer that is of its time.
    pub(super) fn is_before_5(&self) -> bool {
        let stated = self.gathered.versions.get("transformers").map(|version| version.starts_with('4'));
        stated.unwrap_or(match self.trainer {
            TrainerName::Transformers => self.release.is_before(5, 0),
            TrainerName::Trl => self.release.is_before(1, 0),
            TrainerName::MsSwift => self.runs.stated().is_before(4, 0),
            _ => false,
        })
    }

    /// Tells which releases the files' own keys imply.
    fn releases_implied(&mut self) {
        for Implied { tool, statement, release, now } in std::mem::take(&mut self.implied) {
            let last = [release.major().to_string(), release.minor().to_string()].join(".");
            let key = statement.key.clone();
            let kind = match tool {
                "ms-swift" => self.not_modelled_release(last, Some(key)),
                _ => Kind::ReleaseImplied { tool, key, last, now },
            };
            let fix = self.former(&statement).and_then(|former| former.fix).or_else(|| renaming(&statement, now));
            self.findings.push(Finding { fix, ..Finding::at(kind, statement.file, statement.span) });
        }
    }

    /// That a release has no defaults of its own here: those of the measured one stand for what the files leave open.
    fn not_modelled_release(&self, release: String, key: Option<String>) -> Kind {
        let measured = self.release.to_string();
        Kind::ReleaseNotModelled { trainer: self.trainer, release, key, measured }
    }

    /// Takes away what was told of a key's former name: it is told once.
    fn former(&mut self, statement: &Statement) -> Option<Finding> {
        let here = |found: &Finding| (found.file, found.span) == (Some(statement.file), statement.span);
        let told = &mut self.gathered.draft.findings;
        told.iter().position(here).map(|at| told.remove(at))
    }

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
                    let release = self.release_of(removed.package())?;
                    removed.is_gone(release).then_some((removed, now, release))
                },
            );
            if let Some((removed, now, release)) = found {
                let last = [removed.last.major().to_string(), removed.last.minor().to_string()].join(".");
                let kind = Kind::RemovedKey {
                    tool: if removed.tool == "from_pretrained" { removed.package() } else { removed.tool },
                    release: release.to_string(),
                    key: statement.key.clone(),
                    last,
                    now,
                };
                let fix = self.former(&statement).and_then(|former| former.fix).or_else(|| renaming(&statement, now));
                self.findings.push(Finding { fix, ..Finding::at(kind, statement.file, statement.span) });
            } else if REMOVED.iter().any(|removed| {
                let is_tool = removed.tool == statement.tool || Some(removed.tool) == over;
                is_tool && removed.now(&statement.key).is_some()
            }) {
                // The release in force has it: it is not misspelt.
                let here = |found: &Finding| (found.file, found.span) == (Some(statement.file), statement.span);
                let is_unknown = |found: &Finding| matches!(found.kind, Kind::UnknownKey { .. });
                self.gathered.draft.findings.retain(|found| !(here(found) && is_unknown(found)));
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
    fn release_of(&self, package: &str) -> Option<Release> {
        let stated = self.gathered.versions.get(package).and_then(|version| Release::parse(version));
        stated.or_else(|| (self.trainer.name() == package).then(|| self.runs.stated()))
    }

    /// Tells which release was taken, whose step stands for it, and what an older one would change.
    pub(super) fn release_taken(&mut self) {
        self.releases_implied();
        let Trainer { name, version } = &self.runs;
        let (name, version) = (*name, version.clone().unwrap_or_default());
        if self.launched_by.is_some() || name.measured().is_empty() || self.gathered.trainer.is_none() {
            return;
        }
        if self.gathered.versions.contains_key(name.name()) {
            let measured = self.release;
            let is_told = self.findings.iter().any(|found| matches!(found.kind, Kind::ReleaseNotModelled { .. }));
            if self.runs.stated() != measured && !is_told {
                let kind = match name {
                    TrainerName::MsSwift => self.not_modelled_release(version, None),
                    _ => Kind::StepOfRelease { trainer: name, stated: version, measured: measured.to_string() },
                };
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
