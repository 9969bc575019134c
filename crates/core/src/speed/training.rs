//! One optimizer step of one model: forwards and backwards, then clipping and the optimizer, with what sharding adds.

use super::Part;
use super::blocks::timed_blocks;
use super::head::head;
use super::inputs::TimingInputs;
use super::offload;
use super::optimizer;
use super::rates::{BACKWARD_LAUNCH, FORWARD_LAUNCH};
use super::sharding::{Collectives, Compute};
use super::tally::{Passes, Tally};
use super::trained::Trained;

/// A step over all forwards of `inputs`; `scored` tokens of each reach the head.
pub(super) fn training_step(inputs: &TimingInputs, scored: f64) -> Tally {
    let trained = Trained::of(inputs);
    let collectives = Collectives::new(inputs);
    let checkpoints = inputs.job.plan.gradient_checkpointing;
    let mut outside = Passes::default();
    head(&mut outside, inputs, scored);
    let blocks = timed_blocks(inputs);
    outside.add(&blocks.outside, 1.0);
    let layers = &blocks.layers;
    let mut micro = Tally::default();
    micro.add(&outside.forward, 1.0);
    micro.add(&layers.forward, 1.0);
    let forward = micro.total();
    if checkpoints {
        micro.add_as(Part::Recomputation, &blocks.recomputed, 1.0);
    }
    micro.add(&outside.backward, 1.0);
    micro.add(&layers.backward, 1.0);
    let backward = micro.total() - forward;
    let link = if inputs.job.plan.activation_offloading { offload::seconds(inputs, &blocks) } else { 0.0 };
    micro.charge(Part::Offload, (link - forward).max(0.0) + (link - backward).max(0.0));
    // What is waited for on the link hides collectives as computing does.
    let (forward, backward) = (forward.max(link), backward.max(link));
    // The host runs ahead of the GPU or behind it.
    let again = if checkpoints { blocks.recomputed.launches } else { 0.0 };
    let host = (outside.forward.launches + layers.forward.launches + again) * FORWARD_LAUNCH
        + (outside.backward.launches + layers.backward.launches) * BACKWARD_LAUNCH
        + collectives.hooks(inputs, &trained);
    let waiting = (host - micro.total()).max(0.0);
    micro.charge(Part::Launches, waiting);
    let longer = 1.0 + waiting / (forward + backward).max(f64::MIN_POSITIVE);
    let compute = Compute { forward: forward * longer, backward: backward * longer };
    let mut step = Tally::default();
    step.add(&micro, inputs.forwards);
    let (update, python) = optimizer::step(inputs, &trained);
    step.add(&update, 1.0);
    step.charge(Part::Launches, (python - update.total()).max(0.0));
    collectives.step(inputs, &trained, compute, &mut step);
    step
}
