//! Activations that wait in host memory: what crosses the link between forward and backward.

use super::inputs::TimingInputs;
use super::layer_times::BlockTimes;

/// Seconds that one micro-batch's saved tensors take to cross the link in one direction: what the layers' operators keep for backward,
/// or what checkpointed layers take.
///
/// A stream of their own moves them beside the computation (trl models/activation_offloading.py), so that only what takes
/// longer than that counts.
pub(super) fn seconds(inputs: &TimingInputs, blocks: &BlockTimes) -> f64 {
    let bytes = if inputs.job.plan.gradient_checkpointing { blocks.checkpointed } else { blocks.saved };
    bytes / inputs.rates.host_link
}
