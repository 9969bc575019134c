//! The measured steps nearest to a plan, and what their errors say about it.

use std::io::Write;

use headroom_core::accuracy::{self, Accuracy, Near};
use headroom_core::units::bytes_text;
use headroom_text::ENGLISH;
use serde_json::{Value, json};

use super::Estimated;
use crate::Failure;
use crate::layout::{Align, Table};

/// What measurements say about `estimated`.
pub(super) fn of(estimated: &Estimated) -> Accuracy {
    accuracy::of_job(&estimated.job, &estimated.estimate)
}

/// Writes it for people.
pub(super) fn write(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let Accuracy { near, carried, coverage } = of(estimated);
    let words = &ENGLISH.accuracy;
    writeln!(out, "\n{} {}", words.title, words.intro)?;
    for Near { case, differs } in &near {
        let differs: Vec<&str> = differs.iter().map(|aspect| ENGLISH.aspect(*aspect)).collect();
        let differs = match differs.as_slice() {
            [] => words.same_settings.to_owned(),
            fields => (words.differs)(&fields.join(words.comma)),
        };
        let how = case.card.map_or_else(|| words.by_allocator.to_owned(), words.on_card);
        writeln!(out, "{}: {}, {}\n  {how}{}{differs}", case.id, case.model, ENGLISH.setting(case), words.comma)?;
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Right, Align::Left, Align::Right]);
        for figure in &case.figures {
            table.row([
                &format!("  {}", ENGLISH.metric(figure.metric).label),
                &bytes_text(figure.measured_bytes()),
                "measured",
                &bytes_text(figure.estimated_bytes()),
                "estimated",
                &(words.error)(figure.error()),
            ]);
        }
        table.write(out)?;
    }
    if let Some((low, high)) = carried {
        writeln!(out, "{}", (words.carried)(&bytes_text(low), &bytes_text(high)))?;
    }
    if let Some((covered, of)) = coverage {
        let band = estimated.estimate.peak.band;
        writeln!(out, "{}", (words.band)(&bytes_text(band.low), &bytes_text(band.high), covered, of))?;
    }
    Ok(())
}

/// The same as JSON.
pub(super) fn json(estimated: &Estimated) -> Value {
    let Accuracy { near, carried, coverage } = of(estimated);
    let near: Vec<Value> = near.iter().map(near_json).collect();
    json!({
        "near": near,
        "carried_bytes": carried.map(|(low, high)| json!({"low": low, "high": high})),
        "band_covered": coverage.map(|(covered, of)| json!({"cases": covered, "of": of})),
    })
}

fn near_json(Near { case, differs }: &Near) -> Value {
    let figures: Vec<Value> = case
        .figures
        .iter()
        .map(|figure| {
            json!({
                "metric": figure.metric.name(), "measured_bytes": figure.measured_bytes(),
                "estimated_bytes": figure.estimated_bytes(), "error": figure.error(),
            })
        })
        .collect();
    let setting = case.setting;
    json!({
        "id": case.id, "file": case.file, "card": case.card, "model": case.model,
        "task": setting.task.name(), "method": setting.method.name(), "bits": setting.bits,
        "sharding": setting.sharding.name(), "gradient_checkpointing": setting.gradient_checkpointing,
        "torch_dtype": setting.dtype.name(), "mixed_precision": setting.mixed_precision.name(),
        "attn_implementation": setting.attention.name(), "optim": setting.optimizer.map(|optim| optim.name()),
        "per_device_train_batch_size": case.batch, "max_length": case.length, "num_gpus": case.cards,
        "differs": differs.iter().map(|aspect| aspect.name()).collect::<Vec<_>>(), "figures": figures,
    })
}
