//! One transformer layer.

use super::super::autograd::{ElementType, Tensor, cast};
use super::super::weights::LayerWeights;
use super::ForwardContext;
use super::block::{arguments, run_recorded};
use super::scope::Scope;

/// Runs a layer over the residual stream `x`.
pub(in crate::memory) fn run_layer(context: &ForwardContext, layer: &LayerWeights, x: &Tensor) -> Tensor {
    context.module("layer", &[], x, |x| {
        let given = cast_arguments(context, layer, x);
        let out = run_recorded(context, &layer.block, Some(x), None).unwrap_or_else(|| x.clone());
        // The next layer is given the same, and casts it for itself.
        if let Some(given) = given {
            context.scope.borrow_mut().put_wide(&given, &Tensor::clone);
        }
        out
    })
}

/// What a layer reads in fp32 in the dtype that sharding's hooks cast it to; gives back what it was: a tower's tables of cosine and
/// sine. That a class casts them back in each layer (modeling_qwen2_5_vl.py `apply_rotary_pos_emb_vision`: `cos.float()`) no program
/// says, as nothing runs for it in a recording, where they are fp32: the copies are missing here.
fn cast_arguments(context: &ForwardContext, layer: &LayerWeights, x: &Tensor) -> Option<Scope> {
    let element = context.argument_element.filter(|element| *element != ElementType::F32)?;
    let given = arguments(context, &layer.block, x);
    let narrow = |table: &Tensor| cast(table, element, context.passing());
    context.scope.borrow_mut().put_wide(&given, &narrow);
    Some(given)
}
