//! The measured steps nearest to a plan, and what their errors say about it.

use std::io::Write;

use headroom_core::accuracy::{self, Accuracy, Near, Setting, Sharding, Validated};
use headroom_core::plan::MixedPrecision;
use headroom_core::units::{bytes_text, count_text, gib_text};
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
    writeln!(out, "\nHow accurate: the measured steps nearest to this plan")?;
    for Near { case, differs } in &near {
        let differs: Vec<&str> = differs.iter().map(|aspect| aspect.name()).collect();
        let differs =
            if differs.is_empty() { "same settings".to_owned() } else { format!("other {}", differs.join(", ")) };
        writeln!(out, "{}: {}, {} ({differs})", case.id, case.model, setting_text(case))?;
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Right, Align::Left, Align::Right]);
        for figure in &case.figures {
            table.row([
                &format!("  {}", figure.metric.name().replace('_', " ")),
                &bytes_text(figure.measured_bytes()),
                "measured",
                &bytes_text(figure.estimated_bytes()),
                "estimated",
                &format!("{:+.2} %", figure.error() * 100.0),
            ]);
        }
        table.write(out)?;
    }
    if let Some((low, high)) = carried {
        writeln!(out, "off as their required memory is, this plan needs {} to {} GiB", gib_text(low), gib_text(high))?;
    }
    if let Some((covered, of)) = coverage {
        let band = estimated.estimate.peak.band;
        writeln!(
            out,
            "the band, {} to {} GiB, is made as those that held what was measured in {covered} of {of} searched steps",
            gib_text(band.low),
            gib_text(band.high)
        )?;
    }
    Ok(())
}

/// `lora, bfloat16, adamw_torch, sdpa, 1 x 2,048 tokens`.
fn setting_text(case: &Validated<'_>) -> String {
    let Setting { task, method, bits, sharding, gradient_checkpointing, dtype, mixed_precision, attention, optimizer } =
        case.setting;
    let mut parts = vec![task.name().to_owned(), method.name().to_owned()];
    if bits != 0 {
        parts.push(format!("{bits} bit"));
    }
    parts.push(dtype.name().to_owned());
    if mixed_precision != MixedPrecision::No {
        parts.push(format!("autocast to {}", mixed_precision.name()));
    }
    parts.extend(optimizer.map(|optimizer| optimizer.name().to_owned()));
    if gradient_checkpointing {
        parts.push("gradient checkpointing".to_owned());
    }
    parts.push(attention.name().to_owned());
    if sharding != Sharding::None {
        parts.push(format!("{} over {}", sharding.name(), case.cards));
    }
    parts.push(format!("{} x {} tokens", case.batch, count_text(case.length)));
    parts.extend(case.card.map(str::to_owned));
    parts.join(", ")
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
