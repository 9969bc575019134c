//! The measured steps nearest to a plan, and what their errors say about it, as JSON.

use headroom_core::accuracy::{Accuracy, Aspect, Figure, Metric, Near, Sharding};
use headroom_core::plan::{AttnImplementation, Dtype, Method, MixedPrecision, Optimizer, Task};
use serde::Serialize;
use serde_json::Value;

use crate::json;

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

/// What measurements say, as JSON.
pub(crate) fn json(Accuracy { near, carried, coverage }: &Accuracy) -> serde_json::Result<Value> {
    json::sorted(&AccuracyJson {
        near: near.iter().map(NearJson::from).collect(),
        carried_bytes: carried.map(|(low, high)| Ends { low, high }),
        band_covered: coverage.map(|(cases, of)| Covered { cases, of }),
    })
}
