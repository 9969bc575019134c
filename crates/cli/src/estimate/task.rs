//! Batches, models and generation of a task, for people.

use std::io::Write;

use headroom_core::job::Job;
use headroom_core::memory::{Estimate, Fit, RolloutUse, smallest_change};
use headroom_core::plan::Batches;
use headroom_core::units::{bytes_text, count_text};
use headroom_text::ENGLISH;

use crate::layout::Table;
use crate::outcome::Failure;

/// Writes what the task holds beside one model's step, and what to change when it does not fit.
pub(super) fn write(job: &Job, estimate: &Estimate, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = job.plan();
    if estimate.verdict.fit == Fit::DoesNotFit
        && let Some(change) = smallest_change(job)
    {
        let offload = if change.offload { " with offload" } else { "" };
        let stage = change.zero_stage;
        writeln!(out, "\nSmallest change of sharding that fits: zero_stage {stage} (ZeRO-{stage}){offload}")?;
    }
    let (task, words) = (&estimate.task, ENGLISH.tasks());
    if task.models.len() > 1 {
        let mut table = Table::new(&[]);
        for model in &task.models {
            let note = match (model.shared, model.saved_bytes, model.offloaded) {
                (true, saved, _) => (words.shared_saving)(&bytes_text(saved)),
                (false, saved, _) if saved > 0 => (words.precomputed_saving)(&bytes_text(saved)),
                (false, _, true) => words.in_host.to_owned(),
                _ => String::new(),
            };
            let size = format!("{} ({} bytes)", bytes_text(model.bytes), model.bytes);
            let weights = model.bits.map_or_else(|| (ENGLISH.dtype)(model.dtype).label.to_owned(), ENGLISH.bits);
            table.row([(words.model_role)(model.role).to_owned(), model.name.clone(), weights, size, note]);
        }
        writeln!(out, "\n{}: {}", words.models_title, words.models_intro)?;
        table.write(out)?;
    }
    if let Some(rollout) = &task.rollout {
        write_rollout(rollout, out)?;
    }
    if plan.task.name() != "inference" {
        write_batches(&task.batches, out)?;
    }
    Ok(())
}

fn write_rollout(rollout: &RolloutUse, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[]);
    table.row(["engine", rollout.engine.name()]);
    let cache = format!(
        "{} bytes = {} sequences x {} tokens; {} bytes a token",
        rollout.kv_bytes, rollout.sequences, rollout.tokens_per_sequence, rollout.kv_bytes_per_token
    );
    table.row(["keys and values", &cache]);
    table.row(["of one sequence", &format!("{} bytes", rollout.kv_bytes_per_sequence)]);
    if let (Some(pool), Some(fit)) = (rollout.pool_bytes, rollout.sequences_in_pool) {
        table.row(["engine's pool", &format!("{}: room for {fit} of the longest sequences", bytes_text(pool))]);
    }
    writeln!(out, "\nGeneration")?;
    table.write(out)?;
    Ok(())
}

fn write_batches(batches: &Batches, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[]);
    table.row(["effective batch", &batches.effective_batch_size.to_string()]);
    table.row(["forwards before the optimizer steps", &batches.forwards_per_step.to_string()]);
    table.row(["tokens in an optimizer step", &count_text(batches.tokens_per_step)]);
    if let Some(round) = batches.round {
        table.row(["generation", &(ENGLISH.tasks().round)(&round)]);
    }
    writeln!(out, "\nBatches")?;
    table.write(out)?;
    Ok(())
}
