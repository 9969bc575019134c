//! The measured steps nearest to a plan, and what their errors say about it.

use std::io::Write;

use headroom_core::accuracy::{self, Accuracy, Aspect, Figure, Metric, Near, Sharding};
use headroom_core::plan::{AttnImplementation, Dtype, Method, MixedPrecision, Optimizer, Task};
use headroom_core::units::bytes_text;
use headroom_text::ENGLISH;
use serde::Serialize;
use serde_json::Value;

use super::Estimated;
use crate::layout::{Align, Table};
use crate::{Failure, json};

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
        let how = case.gpu.map_or_else(|| words.by_allocator.to_owned(), words.on_gpu);
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

#[derive(Serialize)]
struct AccuracyJson<'a> {
    near: Vec<NearJson<'a>>,
    carried_bytes: Option<Ends>,
    band_covered: Option<Covered>,
}

#[derive(Serialize)]
struct Ends {
    low: u64,
    high: u64,
}

/// In how many steps a band held what was measured.
#[derive(Serialize)]
struct Covered {
    cases: u64,
    of: u64,
}

#[derive(Serialize)]
struct NearJson<'a> {
    id: &'a str,
    file: &'a str,
    #[serde(rename = "card")]
    gpu: Option<&'a str>,
    model: &'a str,
    task: Task,
    method: Method,
    bits: u8,
    sharding: Sharding,
    gradient_checkpointing: bool,
    torch_dtype: Dtype,
    mixed_precision: MixedPrecision,
    attn_implementation: AttnImplementation,
    optim: Option<Optimizer>,
    per_device_train_batch_size: u64,
    max_length: u64,
    num_gpus: u64,
    differs: &'a [Aspect],
    figures: Vec<FigureJson>,
}

#[derive(Serialize)]
struct FigureJson {
    metric: Metric,
    measured_bytes: u64,
    estimated_bytes: u64,
    error: f64,
}

impl<'a> From<&'a Near> for NearJson<'a> {
    fn from(Near { case, differs }: &'a Near) -> Self {
        let setting = case.setting;
        let figure = |figure: &Figure| FigureJson {
            metric: figure.metric,
            measured_bytes: figure.measured_bytes(),
            estimated_bytes: figure.estimated_bytes(),
            error: figure.error(),
        };
        Self {
            id: case.id,
            file: case.file,
            gpu: case.gpu,
            model: case.model,
            task: setting.task,
            method: setting.method,
            bits: setting.bits,
            sharding: setting.sharding,
            gradient_checkpointing: setting.gradient_checkpointing,
            torch_dtype: setting.dtype,
            mixed_precision: setting.mixed_precision,
            attn_implementation: setting.attention,
            optim: setting.optimizer,
            per_device_train_batch_size: case.batch,
            max_length: case.length,
            num_gpus: case.gpus,
            differs,
            figures: case.figures.iter().map(figure).collect(),
        }
    }
}

/// The same as JSON.
pub(super) fn json(estimated: &Estimated) -> Result<Value, Failure> {
    let Accuracy { near, carried, coverage } = of(estimated);
    json::sorted(&AccuracyJson {
        near: near.iter().map(NearJson::from).collect(),
        carried_bytes: carried.map(|(low, high)| Ends { low, high }),
        band_covered: coverage.map(|(cases, of)| Covered { cases, of }),
    })
}
