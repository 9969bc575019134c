//! One transformer layer.

use super::super::autograd::Tensor;
use super::super::weights::LayerWeights;
use super::ForwardContext;
use super::block::run_recorded;

/// Runs a layer over the residual stream `x`.
pub(in crate::memory) fn run_layer(context: &ForwardContext, layer: &LayerWeights, x: &Tensor) -> Tensor {
    context.module("layer", &[], x, |x| run_recorded(context, &layer.block, Some(x), None).unwrap_or_else(|| x.clone()))
}
