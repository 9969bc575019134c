//! What forward keeps for backward: a model's blocks as its program has them, and what runs beside them.

mod block;
mod cache;
mod context;
mod eager_attention;
mod fused_attention;
mod gated_norm;
mod layer;
mod liger_experts;
mod liger_gate;
mod linear_experts;
mod lora_kernels;
mod masks;
mod math_attention;
mod merged_weight;
mod norm;
mod projection;
mod scope;
mod tower_attention;

pub(super) use block::{arguments, run_between, run_recorded};
pub(super) use context::{BackwardHook, ForwardContext};
pub(super) use layer::run_layer;
pub(super) use masks::prepare_masks;
pub(super) use norm::run_norm;
