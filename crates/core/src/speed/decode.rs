//! Generation: the prompt in one forward, then a token at a time.

use super::Part;
use super::head::ends;
use super::layer::layer;
use super::rates::FORWARD_LAUNCH;
use super::setting::Setting;
use super::tally::{Passes, Tally};
use crate::model::{Attention, Projection};

/// What is generated on one card: by `inference`, or by the rollout of a reinforcement task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    /// Sequences side by side.
    pub batch: u64,
    /// Tokens of each prompt.
    pub prompt: u64,
    /// Tokens generated for each.
    pub new_tokens: u64,
}

/// Seconds of a generation by part.
pub(super) fn generate(setting: &Setting, generation: Generation) -> Tally {
    let mut out = prefill(setting, generation);
    out.add(&decode(setting, generation), 1.0);
    out
}

/// The prompt: one forward, compute-bound unless it is short; only each sequence's last position reaches the head.
fn prefill(setting: &Setting, generation: Generation) -> Tally {
    let batch = generation.batch as f64;
    let prompt = setting.without_gradients(batch, generation.prompt as f64);
    wait(forward(&prompt, batch))
}

/// Tokens one after another: every weight is read for each, and the cache so far, unless the batch is so large that
/// products take longer, or the host so slow that launches do.
fn decode(setting: &Setting, generation: Generation) -> Tally {
    let (batch, new_tokens) = (generation.batch as f64, generation.new_tokens as f64);
    // One token of each sequence; attention reads the cache instead of forming scores of a length.
    let token = forward(&setting.without_gradients(batch, 1.0), batch);
    // The cache holds the prompt and, in the mean, half of what is generated.
    let held = generation.prompt as f64 + new_tokens / 2.0;
    let cache: f64 = setting
        .subject
        .model
        .layers
        .iter()
        .map(|run| run.count as f64 * cached_width(&run.layer.attention) * seen(&run.layer.attention, held))
        .sum();
    let cache = cache * batch * setting.weight.min(setting.element()) / setting.rates.bandwidth;
    let device = token.total() + cache;
    let host = token.launches * FORWARD_LAUNCH;
    let mut out = Tally::default();
    out.charge(Part::Decoding, device * new_tokens);
    out.charge(Part::Launches, (host - device).max(0.0) * new_tokens);
    out
}

/// One forward of which `scored` tokens reach the head.
pub(super) fn forward(setting: &Setting, scored: f64) -> Tally {
    let mut passes = Passes::default();
    ends(&mut passes, setting, scored);
    for run in &setting.subject.model.layers {
        let mut one = Passes::default();
        layer(&mut one, setting, &run.layer);
        passes.forward.add(&one.forward, run.count as f64);
    }
    passes.forward
}

fn seen(attention: &Attention, held: f64) -> f64 {
    attention.sliding_window.map_or(held, |window| held.min(window as f64))
}

/// Numbers a token leaves in a layer's cache: transformers keeps latent attention's keys and values written out.
fn cached_width(attention: &Attention) -> f64 {
    let heads = match attention.projection {
        Projection::Latent { .. } => attention.num_attention_heads,
        _ => attention.num_key_value_heads,
    };
    (heads * (attention.head_dim + attention.value_head_dim)) as f64
}

/// The host launches while the card works: whichever is longer.
pub(super) fn wait(mut tally: Tally) -> Tally {
    let waiting = tally.launches * FORWARD_LAUNCH - tally.total();
    tally.charge(Part::Launches, waiting.max(0.0));
    tally
}
