//! `headroom models` and `headroom gpus`: what plans can name.

use std::io::Write;

use headroom_core::gpu::Gpu;
use headroom_core::model::CatalogueModel;
use headroom_core::search::{Found, Meaning};
use headroom_core::units::count_text;
use headroom_core::{gpu, model};
use serde::Serialize;

use crate::json;
use crate::layout::{Align, Table};
use crate::outcome::Failure;

/// Options of both.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Listing {
    /// What to search for; everything is listed without it.
    #[arg(value_name = "TEXT")]
    pub(crate) words: Vec<String>,
    /// Machine-readable: JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Listing {
    /// Of `all`, what the text can mean, the best first.
    fn of<T>(&self, all: &'static [T], search: fn(&str) -> Found) -> Result<Vec<&'static T>, Failure> {
        if self.words.is_empty() {
            return Ok(all.iter().collect());
        }
        // `headroom gpus rtx 4090` needs no quotes.
        let text = self.words.join(" ");
        let found = search(&text);
        if found.meaning == Meaning::Nothing {
            let near = match found.candidates().join(", ") {
                near if near.is_empty() => String::new(),
                near => format!("; did you mean {near}?"),
            };
            return Err(Failure::BadInput(format!("nothing in the catalogue is called {text}{near}")));
        }
        Ok(found.hits.iter().map(|hit| &all[hit.place]).collect())
    }
}

/// Lists the models.
pub(crate) fn models(listing: &Listing, out: &mut dyn Write) -> Result<(), Failure> {
    let all = listing.of(model::catalogue(), model::search)?;
    if listing.json {
        return json::write_sorted(&all.iter().map(|model| ModelJson::from(*model)).collect::<Vec<_>>(), out);
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["id", "parameters", "active a token", "group"]);
    for model in all {
        table.row([model.id, &count_text(model.param_count), &count_text(model.active_param_count), model.group]);
    }
    Ok(table.write(out)?)
}

/// Lists the GPUs.
pub(crate) fn gpus(listing: &Listing, out: &mut dyn Write) -> Result<(), Failure> {
    let all = listing.of(gpu::catalogue(), gpu::search)?;
    if listing.json {
        return json::write_sorted(&all.iter().map(|gpu| GpuJson::from(*gpu)).collect::<Vec<_>>(), out);
    }
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Right, Align::Right]);
    table.row(["id", "name", "MiB", "GB/s", "TFLOP/s"]);
    for gpu in all {
        let figure = |value: f64| format!("{value:.0}");
        let (bandwidth, compute) = (figure(gpu.memory_bandwidth_gb_s), figure(gpu.half_tflops));
        table.row([gpu.id.as_ref(), gpu.name.as_ref(), &gpu.memory_mib.to_string(), &bandwidth, &compute]);
    }
    Ok(table.write(out)?)
}

#[derive(Serialize)]
struct ModelJson {
    id: &'static str,
    label: &'static str,
    group: &'static str,
    also: &'static [&'static str],
    source: &'static str,
    param_count: u64,
    active_param_count: u64,
}

impl From<&'static CatalogueModel> for ModelJson {
    fn from(model: &'static CatalogueModel) -> Self {
        let CatalogueModel { id, label, group, also, source, param_count, active_param_count, .. } = *model;
        Self { id, label, group, also, source, param_count, active_param_count }
    }
}

#[derive(Serialize)]
struct GpuJson {
    id: &'static str,
    name: &'static str,
    memory_mib: u64,
    bf16: bool,
    memory_bandwidth_gb_s: f64,
    half_tflops: f64,
    compute_capability: Option<String>,
    source: &'static str,
}

impl From<&'static Gpu> for GpuJson {
    fn from(gpu: &'static Gpu) -> Self {
        Self {
            id: &gpu.id,
            name: &gpu.name,
            memory_mib: gpu.memory_mib,
            bf16: gpu.bf16,
            memory_bandwidth_gb_s: gpu.memory_bandwidth_gb_s,
            half_tflops: gpu.half_tflops,
            compute_capability: gpu.compute_capability.map(|(major, minor)| format!("{major}.{minor}")),
            source: &gpu.source,
        }
    }
}
