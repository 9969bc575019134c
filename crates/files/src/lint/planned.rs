//! What the plan itself cannot be, and lengths that the model does not have.

use headroom_core::job::Job;
use headroom_core::plan::{Problem, ProblemKind, Task};

use super::Linter;
use crate::finding::{Finding, Kind};
use crate::syntax::Span;

impl Linter<'_> {
    pub(super) fn planned(&mut self) {
        match Job::resolve(&self.plan) {
            Ok(job) => self.length(&job),
            Err(problems) => problems.into_iter().for_each(|problem| self.problem(problem)),
        }
        self.groups();
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
        if told {
            return;
        }
        let field = problem.field.clone();
        self.put(Kind::Planned { problem }, &field);
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
        if group > 0 && !sequences.is_multiple_of(group) {
            self.put(Kind::PartialGroup { sequences, group }, "rollout.num_generations");
        }
    }
}
