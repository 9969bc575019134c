//! An engine that generates on the GPUs that train: its own weights, its pool of keys and values, its CUDA graphs.

use super::super::autograd::Stream;
use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::precision::element_type;
use super::super::term::Term;
use crate::job::{ENGINE_DTYPE, Job};
use crate::model::{Model, ModuleKind};
use crate::plan::{Plan, RolloutEngine};
use std::rc::Rc;

/// Largest batch that vLLM captures a graph for (vllm/config `max_cudagraph_capture_size`).
const LARGEST_CAPTURE: u64 = 512;

/// What an engine takes on one GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Engine {
    weights: (Shape, ElementType),
    /// Pool of keys and values with the workspaces of prefill, bytes.
    pool: u64,
    graphs: Option<(Shape, ElementType)>,
    /// Whether weights and pool are given back while the policy trains.
    pub(super) sleeps: bool,
}

impl Engine {
    /// The engine of a colocated plan; `free` is what the models that train leave of the GPU, bytes.
    pub(super) fn new(job: &Job, free: u64) -> Option<Self> {
        let Job { plan, model, .. } = job;
        if !plan.rollout.is_colocated() {
            return None;
        }
        let element = element_type(ENGINE_DTYPE);
        let tp = plan.rollout.tensor_parallel_size();
        let (shape, stored) = match job.quantizes_engine() {
            true => (dims(&[(Sym::EngineShare, four_bit_bytes(model).div_ceil(tp))]), ElementType::Byte),
            false => (dims(&[(Sym::EngineShare, model.param_count().div_ceil(tp))]), element),
        };
        // vLLM's share is of the whole GPU (gpu_memory_utilization), SGLang's of what is free when it starts
        // (mem_fraction_static): weights and pool together.
        let whole = if plan.rollout.engine() == RolloutEngine::Vllm { job.memory_bytes } else { free };
        let share = (whole as f64 * plan.rollout.memory_share()) as u64;
        Some(Self {
            weights: (shape, stored),
            pool: share.saturating_sub(shape.bytes(stored)),
            graphs: (!plan.rollout.enforce_eager).then(|| (captured(plan, model), element)),
            sleeps: plan.rollout.vllm_enable_sleep_mode,
        })
    }

    /// Weights and pool.
    pub(super) fn awake(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        let pool = dims(&[(Sym::Pool, self.pool)]);
        let mut held = self.weights(tape);
        let new = || Tensor::new(tape, tape.label(Term::EnginePool, ""), pool, ElementType::Byte);
        held.push(tape.on(self.memory(), new));
        held
    }

    /// The weights alone, as they are loaded anew after an update.
    pub(super) fn weights(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        let (shape, element) = self.weights;
        let new = || Tensor::new(tape, tape.label(Term::EngineWeights, ""), shape, element);
        vec![tape.on(self.memory(), new)]
    }

    /// Where weights and pool lie: an engine that can sleep has memory whose pages it gives back to the driver.
    fn memory(&self) -> Stream {
        if self.sleeps { Stream::UNCACHED } else { Stream::COMPUTE }
    }

    /// Sleep does not give graphs back.
    pub(super) fn graphs(&self, tape: &Rc<Tape>) -> Option<Tensor> {
        self.graphs.map(|(shape, element)| Tensor::new(tape, tape.label(Term::CudaGraphs, ""), shape, element))
    }
}

/// A copy whose layers' linears are in 4 bits, bytes: half a byte an element and an fp32 maximum a block of 64 (vllm
/// model_loader/bitsandbytes_loader.py dequantises what double quantisation made of the maxima); the rest is in
/// [`ENGINE_DTYPE`].
fn four_bit_bytes(model: &Model) -> u64 {
    let packed = |module: &ModuleKind| match module {
        ModuleKind::Linear { d_in, d_out, .. } => d_in.saturating_mul(*d_out),
        _ => 0,
    };
    let layer = |layer: &crate::model::Layer| layer.modules.iter().map(|module| packed(&module.kind)).sum::<u64>();
    let packed: u64 = model.layers.iter().map(|run| layer(&run.layer).saturating_mul(run.count)).sum();
    let others = model.param_count().saturating_sub(packed);
    others.saturating_mul(ENGINE_DTYPE.bytes()).saturating_add(packed / 2).saturating_add(packed / 64 * 4)
}

/// What the graphs' shared pool holds: inputs, outputs and one layer's temporaries of the largest captured batch. The
/// driver's own share for each graph is not known and not counted.
fn captured(plan: &Plan, model: &Model) -> Shape {
    let width = |module: &ModuleKind| match module {
        ModuleKind::Linear { d_out, .. } => *d_out,
        _ => 0,
    };
    let layer = |layer: &crate::model::Layer| layer.modules.iter().map(|module| width(&module.kind)).sum::<u64>();
    let widest = model.layers.iter().map(|run| layer(&run.layer)).max().unwrap_or(0);
    let tp = plan.rollout.tensor_parallel_size();
    let hidden = model.hidden_size.saturating_mul(4);
    dims(&[(Sym::LargestCapture, LARGEST_CAPTURE), (Sym::CapturedWidth, hidden.saturating_add(widest / tp))])
}
