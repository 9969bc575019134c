//! An engine that generates on the GPUs that train: its own weights, its pool of keys and values, its CUDA graphs.

use super::super::autograd::{ElementType, Shape, Stream, Sym, Tape, Tensor, dims};
use super::super::precision::element_type;
use super::super::term::Term;
use crate::job::{ENGINE_DTYPE, Job, MAX_NUM_SEQS, captured};
use std::rc::Rc;

/// What an engine takes on one GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Engine {
    weights: (Shape, ElementType),
    /// Table of cosine and sine, bytes.
    buffers: u64,
    /// Pool of keys and values.
    pool: (Sym, u64),
    /// CUDA graphs' own pool, and what the driver keeps of them in bytes.
    graphs: Option<((u64, u64), u64)>,
    /// Activations and logits while it generates, bytes.
    activations: u64,
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
        let tp = plan.rollout.tensor_parallel_size();
        let bytes = job.engine_weights();
        let weights = match job.quantizes_engine() {
            true => (dims(&[(Sym::EngineShare, bytes)]), ElementType::Byte),
            false => (dims(&[(Sym::EngineShare, model.param_count().div_ceil(tp))]), element_type(ENGINE_DTYPE)),
        };
        let (share, sleeps) = (plan.rollout.memory_share(), plan.rollout.vllm_enable_sleep_mode);
        if let Some(of) = job.engine_share() {
            return Some(Self {
                weights,
                buffers: of.buffers,
                pool: (Sym::CachePool, of.pool(share)),
                graphs: of.captured.map(|(tokens, width, _)| ((tokens, width), of.graphs_of_driver())),
                activations: of.transient,
                sleeps,
            });
        }
        // SGLang's share is of what is free when it starts (mem_fraction_static): weights and pool together, graphs beside it.
        let share = (free as f64 * share) as u64;
        let graphs = || {
            let (tokens, width, _) = captured(model, MAX_NUM_SEQS, tp);
            ((tokens, width), 0)
        };
        Some(Self {
            weights,
            buffers: 0,
            pool: (Sym::Pool, share.saturating_sub(bytes)),
            graphs: (!plan.rollout.enforce_eager).then(graphs),
            activations: 0,
            sleeps,
        })
    }

    /// Weights, buffers and pool.
    pub(super) fn awake(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        let (symbol, bytes) = self.pool;
        let pool = dims(&[(symbol, bytes)]);
        let mut held = self.weights(tape);
        let new = || Tensor::new(tape, tape.label(Term::EnginePool, ""), pool, ElementType::Byte);
        held.push(tape.on(self.memory(), new));
        held
    }

    /// Weights and buffers, as they are loaded anew after an update.
    pub(super) fn weights(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        let (shape, element) = self.weights;
        let weights = || Tensor::new(tape, tape.label(Term::EngineWeights, ""), shape, element);
        let table = dims(&[(Sym::RotaryTable, self.buffers)]);
        let buffers = || Tensor::new(tape, tape.label(Term::EngineBuffers, ""), table, ElementType::Byte);
        let mut held = vec![tape.on(self.memory(), weights)];
        held.extend((self.buffers > 0).then(|| tape.on(self.memory(), buffers)));
        held
    }

    /// Generates: activations and logits for a moment, beside what is held.
    pub(super) fn generate(&self, tape: &Rc<Tape>) {
        if self.activations > 0 {
            let moment = dims(&[(Sym::Profile, self.activations)]);
            tape.moment(tape.label(Term::EngineActivations, ""), moment, ElementType::Byte);
        }
    }

    /// Where weights and pool lie: an engine that can sleep has memory whose pages it gives back to the driver.
    fn memory(&self) -> Stream {
        if self.sleeps { Stream::UNCACHED } else { Stream::COMPUTE }
    }

    /// Sleep does not give graphs back.
    pub(super) fn graphs(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        let Some(((tokens, width), driver)) = self.graphs else { return Vec::new() };
        let new = |shape, element| Tensor::new(tape, tape.label(Term::CudaGraphs, ""), shape, element);
        let pool = dims(&[(Sym::LargestCapture, tokens), (Sym::CapturedWidth, width)]);
        let mut held = vec![new(pool, element_type(ENGINE_DTYPE))];
        // The driver's own part is no tensor of PyTorch's.
        let driver = (driver > 0).then(|| dims(&[(Sym::Graphs, driver)]));
        held.extend(driver.map(|shape| tape.on(Stream::UNCACHED, || new(shape, ElementType::Byte))));
        held
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::{Estimate, estimate_replayed};
    use crate::plan::Plan;

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
