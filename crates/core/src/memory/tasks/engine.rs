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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::{Estimate, estimate_replayed};

    /// GRPO of Qwen2.5-7B as TRL runs it on one GPU of 80 GB, its weights in fp32 as TRL loads them by name.
    fn with_engine(more: &str) -> Estimate {
        let json = [
            r#"{"model": "Qwen/Qwen2.5-7B", "trainer": {"name": "trl", "version": "1.16.0"}, "task": "grpo", "num_gpus": 1,
                "gpu": "a100-80gb-sxm", "rollout": {"engine": "vllm", "vllm_mode": "colocate""#,
            more,
            "}",
        ];
        estimate_replayed(&Job::resolve(&Plan::from_json(&json.concat()).unwrap()).unwrap())
    }

    fn weights_of(estimate: &Estimate) -> u64 {
        let rows = estimate.allocations.iter().filter(|row| row.term == Term::EngineWeights);
        rows.flat_map(|row| &row.phases).map(|(_, bytes)| *bytes).max().unwrap()
    }

    #[test]
    fn an_engine_that_sleeps_needs_no_more_than_one_that_stands() {
        let standing = with_engine(r#"}, "method": "lora""#);
        let sleeping = with_engine(r#", "vllm_enable_sleep_mode": true}, "method": "lora""#);
        assert!(sleeping.peak.required_bytes < standing.peak.required_bytes);
        assert_eq!(weights_of(&sleeping), weights_of(&standing));
        // The pages of a sleeping engine are the driver's again: what trains is met by what the GPU has.
        assert!(sleeping.failure.is_none(), "{:?}", sleeping.failure);
    }

    #[test]
    fn its_weights_are_in_16_bits_and_over_a_4_bit_base_in_4() {
        let plain = with_engine(r#"}, "method": "lora""#);
        let policy = plain.param_count - plain.trainable_count;
        assert!(weights_of(&plain).abs_diff(2 * policy) < 1 << 20);
        let quantised = with_engine(r#"}, "method": "qlora""#);
        // Embeddings and head of 152,064 rows of 3,584 stay in 16 bits.
        let ends = 2 * 152_064 * 3584;
        let expected = 2 * ends + (policy - ends) * 9 / 16;
        assert!(weights_of(&quantised).abs_diff(expected) < expected / 500);
    }
}
