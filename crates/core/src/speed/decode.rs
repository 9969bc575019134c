//! Generation: the prompt in one forward, then a token at a time.

use super::Part;
use super::blocks::timed_blocks;
use super::head::head;
use super::inputs::TimingInputs;
use super::rates::FORWARD_LAUNCH;
use super::tally::{Passes, Tally};
use crate::model::Attention;

/// What is generated on one GPU: by `inference`, or by the rollout of a reinforcement task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    /// Sequences side by side.
    pub batch: u64,
    /// Tokens of each prompt.
    pub prompt: u64,
    /// Tokens generated for each.
    pub new_tokens: u64,
}

/// What generates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Generator {
    /// transformers' `generate`: a forward written in Python for each token.
    Python,
    /// vLLM or SGLang over `gpus` that share one copy: fused kernels, replayed as CUDA graphs unless `eager`.
    Engine {
        /// GPUs that share a copy.
        gpus: f64,
        /// No CUDA graphs: the host launches each kernel.
        eager: bool,
        /// Bytes of a cached number.
        cache: f64,
    },
}

/// Seconds of a generation by part.
pub(super) fn generate(inputs: &TimingInputs, generation: Generation, generator: Generator) -> Tally {
    let (batch, prompt, new_tokens) = (generation.batch as f64, generation.prompt as f64, generation.new_tokens as f64);
    let mut out = Tally::default();
    if prompt > 0.0 {
        // Only each sequence's last position reaches the head.
        let read = forward(&inputs.without_gradients(batch, prompt), batch);
        out.charge(Part::Prefill, read.total());
        let waiting = read.launches * FORWARD_LAUNCH - read.total();
        if generator == Generator::Python {
            out.charge(Part::Launches, waiting.max(0.0));
        }
    }
    let (device, host) = token(inputs, generation, generator);
    out.charge(Part::Decoding, device * new_tokens);
    out.charge(Part::Launches, (host - device).max(0.0) * new_tokens);
    out
}

/// Seconds that GPU and host take for one token of every sequence: each weight is read, and the cache so far, unless the
/// batch is so large that matmuls take longer.
fn token(inputs: &TimingInputs, generation: Generation, generator: Generator) -> (f64, f64) {
    let batch = generation.batch as f64;
    // The cache holds the prompt and, in the mean, half of what is generated.
    let held = generation.prompt as f64 + generation.new_tokens as f64 / 2.0;
    // A tower has no cache.
    let layers = inputs.model.layers.iter().enumerate().filter(|(_, run)| !run.layer.sees_images());
    let width = |attention: &Attention| cached_width(attention) * seen(attention, held);
    let numbers: f64 = layers.map(|(place, run)| inputs.model.calls(place) as f64 * width(&run.layer.attention)).sum();
    let cache = |bytes: f64| numbers * batch * bytes / inputs.rates.bandwidth;
    match generator {
        Generator::Python => {
            // Attention over one token's own scores is nothing; what it costs is the cache.
            let step = forward(&inputs.of_one_token(batch), batch);
            let bytes = inputs.weight.min(inputs.element());
            (step.total() + cache(bytes), step.launches * FORWARD_LAUNCH)
        }
        Generator::Engine { gpus, eager, cache: bytes } => {
            // The GPUs of a copy serve their sequences together, each with its share of the weights.
            let step = forward(&inputs.of_one_token(batch * gpus), batch * gpus);
            let fused = step.part(Part::ForwardMatmuls) + step.part(Part::Dequantization);
            // Matmuls, attention, two norms, activation: a third of what Python launches.
            let host = if eager { step.launches / 3.0 * FORWARD_LAUNCH } else { 0.0 };
            (fused / gpus + cache(bytes), host)
        }
    }
}

/// One forward of which `scored` tokens reach the head.
pub(super) fn forward(inputs: &TimingInputs, scored: f64) -> Tally {
    let mut passes = Passes::default();
    head(&mut passes, inputs, scored);
    let blocks = timed_blocks(inputs);
    passes.forward.add(&blocks.outside.forward, 1.0);
    passes.forward.add(&blocks.layers.forward, 1.0);
    passes.forward
}

fn seen(attention: &Attention, held: f64) -> f64 {
    attention.sliding_window.map_or(held, |window| held.min(window as f64))
}

/// Numbers a token leaves in a layer's cache: transformers keeps latent attention's keys and values materialised.
fn cached_width(attention: &Attention) -> f64 {
    let heads = match attention.latent {
        Some(_) => attention.num_attention_heads,
        None => attention.num_key_value_heads,
    };
    (heads * (attention.head_dim + attention.value_head_dim)) as f64
}
