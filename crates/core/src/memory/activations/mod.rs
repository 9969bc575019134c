//! What forward keeps for backward, layer by layer: the model's forward code, in the order transformers runs it.

mod cache;
mod context;
mod eager_attention;
mod fused_attention;
mod layer;
mod liger_experts;
mod liger_gate;
mod lora_kernels;
mod masks;
mod merged_weight;
mod norm;
mod projection;
mod recorded;
mod recorded_adapters;
mod recorded_blocks;
mod recorded_cache;
mod recorded_casts;
mod recorded_eager;
mod recorded_labels;
mod recorded_liger;
mod recorded_loops;
mod recorded_modules;
mod recorded_parameters;
mod scope;
mod tower_attention;

pub(super) use context::{BackwardHook, ForwardContext};
pub(super) use layer::run_layer;
pub(super) use masks::prepare_masks;
pub(super) use norm::run_norm;
pub(super) use recorded_blocks::{arguments, run_between, run_recorded};
