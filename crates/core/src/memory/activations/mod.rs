//! What forward keeps for backward, layer by layer: the model's forward code, in the order transformers runs it.

mod attention;
mod biased_experts;
mod context;
mod eager_attention;
mod experts;
mod feed_forward;
mod fused_attention;
mod layer;
mod liger_experts;
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
mod recorded_liger;
mod recorded_loops;
mod recorded_modules;
mod recorded_parameters;
mod rotary;
mod scope;
mod tower_attention;

pub(super) use context::{BackwardHook, ForwardContext};
pub(super) use layer::run_layer;
pub(super) use masks::prepare_masks;
pub(super) use norm::run_norm;
pub(super) use recorded_blocks::{arguments, run_between, run_recorded};
pub(super) use rotary::rotary_tables;
