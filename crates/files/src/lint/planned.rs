//! What the plan itself cannot be, and lengths that the model does not have.

use headroom_core::job::Job;
use headroom_core::plan::{Plan, Problem, ProblemKind, Task, TrainerName, unmatched_targets};

use super::Linter;
use crate::finding::{Finding, Kind};
use crate::syntax::{Span, Value};
use crate::trainers::Fact;

impl Linter<'_> {
    pub(super) fn planned(&mut self) {
        if let Some(job) = self.problems() {
            self.length(&job);
            self.targets(&job);
        }
        self.groups();
    }

    /// The job of the plan, or why it has none.
    pub(super) fn problems(&mut self) -> Option<Job> {
        // Where the number of GPUs is asked for there are several: what only one GPU contradicts is no fault of the files.
        let is_open = self.imported.missing.contains(&"num_gpus");
        let least = if is_open { 2 } else { 1 };
        match Job::resolve(&Plan { num_gpus: self.plan.num_gpus.max(least), ..self.plan.clone() }) {
            Ok(job) => Some(job),
            // That a model's program is still under way is no fault of the files.
            Err(problems) => {
                let of_files = problems
                    .into_iter()
                    .filter(|problem| !matches!(problem.kind, ProblemKind::ProgramNotFetched { .. }));
                of_files.for_each(|problem| self.problem(problem));
                None
            }
        }
    }

    /// Where the files say a field.
    fn place(&self, field: &str) -> Option<(usize, Span)> {
        let told = self.imported.understood.iter().rfind(|told| told.field == field)?;
        Some((told.file, told.span))
    }

    fn put(&mut self, kind: Kind, field: &str) {
        let place = self.place(field);
        self.findings.push(match place {
            Some((file, span)) => Finding::at(kind, file, span),
            None => Finding::nowhere(kind),
        });
    }

    fn problem(&mut self, problem: Problem) {
        // What the import has told: a model that no catalogue has, a trainer that is not modelled.
        let told = matches!(problem.kind, ProblemKind::UnknownModel { .. })
            || (problem.field.starts_with("trainer") && matches!(problem.kind, ProblemKind::NotModelled { .. }));
        // A share of a GPU, or for a model, that no one has named.
        let is_of_default = matches!(problem.kind, ProblemKind::EngineShare { .. })
            && !(self.is_stated("model") && (self.names_gpu || self.is_stated("gpu")));
        if told || is_of_default {
            return;
        }
        let field = problem.field.clone();
        let kind = if self.runs(&problem) { Kind::NotModelled { problem } } else { Kind::Planned { problem } };
        self.put(kind, &field);
    }

    /// Whether the tool does what the plan cannot be.
    fn runs(&self, problem: &Problem) -> bool {
        let field = problem.field.as_str();
        match &problem.kind {
            ProblemKind::NotModelled { .. } => true,
            // Releases that were not measured, or that the files do not name.
            ProblemKind::Contradiction { other, .. } => {
                field.starts_with("software.")
                    || field.starts_with("trainer.")
                    // These list the linear layers themselves, so that peft converts nothing.
                    || (other == "lora.target_modules"
                        && matches!(self.plan.trainer.name, TrainerName::Axolotl | TrainerName::MsSwift | TrainerName::LlamaFactory))
            }
            // verl cuts its batches where it likes, and unsloth makes them whole groups (unsloth models/rl.py); a product is no product where a factor is not known.
            ProblemKind::NotDivisible { .. } => {
                let by_itself = [TrainerName::Verl, TrainerName::Unsloth].map(TrainerName::name);
                by_itself.contains(&self.imported.trainer.0.as_str()) || !self.knows_gpus()
            }
            // Its vLLM reads the policy's own weights (unsloth_zoo vllm_utils.py).
            ProblemKind::EngineShare { .. } => self.imported.trainer.0 == TrainerName::Unsloth.name(),
            _ => false,
        }
    }

    /// Whether the files say how many processes there are.
    fn knows_gpus(&self) -> bool {
        let said = &self.imported.said;
        let computed = |fact: Fact| {
            let statement = said.fact(fact);
            statement.is_some_and(|statement| matches!(statement.node.value, Value::Expression(_) | Value::Call { .. }))
        };
        // A script or a file alone runs on as many as it is started on; who states the group means it for one.
        let launched = self.imported.launcher.is_some()
            || ["num_gpus", "rollout.num_generations"].into_iter().any(|field| self.is_stated(field));
        let unknown = !launched
            || self.imported.missing.contains(&"num_gpus")
            || self.imported.findings.iter().any(|finding| finding.kind == Kind::GpusUnknown);
        !unknown && ![Fact::Processes, Fact::ProcessesPerMachine, Fact::Machines].into_iter().any(computed)
    }

    /// What peft passes over without a word.
    fn targets(&mut self, job: &Job) {
        let names = unmatched_targets(&self.plan, job.model()).join(", ");
        if !names.is_empty() {
            self.put(Kind::UnmatchedTargets { names }, "lora.target_modules");
        }
    }

    fn length(&mut self, job: &Job) {
        let Some(longest) = job.model().max_position_embeddings else { return };
        let length = self.plan.max_length;
        if length > longest && !matches!(self.plan.task, Task::Grpo | Task::Rloo | Task::Ppo) {
            self.put(Kind::LongerThanModel { length, longest }, "max_length");
        }
    }

    /// trl grpo_config.py: the sequences of a generation round are whole groups.
    fn groups(&mut self) {
        let plan = &self.plan;
        if !matches!(plan.task, Task::Grpo | Task::Rloo) || self.imported.trainer.0 != "trl" {
            return;
        }
        let steps = plan.policy.steps_per_generation.unwrap_or(plan.gradient_accumulation_steps);
        let sequences = plan.per_device_train_batch_size.saturating_mul(plan.num_gpus).saturating_mul(steps);
        let group = plan.rollout.num_generations();
        if group > 0 && self.knows_gpus() && !sequences.is_multiple_of(group) {
            self.put(Kind::PartialGroup { sequences, group }, "rollout.num_generations");
        }
    }
}
