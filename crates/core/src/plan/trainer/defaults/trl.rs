//! `SFTConfig` and its siblings (trl trainer/*_config.py).

use crate::plan::{Dtype, MixedPrecision, Plan};

/// bf16 and checkpointing on.
pub(super) fn apply(plan: &mut Plan) {
    super::transformers::apply(plan);
    plan.mixed_precision = MixedPrecision::Bf16;
    plan.gradient_checkpointing = true;
    // trainer/utils.py `create_model_from_path`: fp32 unless `model_init_kwargs` say otherwise.
    plan.torch_dtype = Dtype::Float32;
}
