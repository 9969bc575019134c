//! `TrainingArguments` (transformers training_args.py).

use crate::plan::{Dtype, Optimizer, Plan, TrainerName};
use crate::release::Release;

/// Fused AdamW, batch 8, no autocast, nothing recomputed.
pub(super) fn apply(plan: &mut Plan) {
    plan.optim = Optimizer::AdamwTorchFused;
    plan.per_device_train_batch_size = 8;
    if plan.trainer.name == TrainerName::Transformers && plan.trainer.release() < Release::new(5, 0, 0) {
        // modeling_utils.py `from_pretrained`: fp32 unless told otherwise; since 5.0 the checkpoint's own dtype.
        plan.torch_dtype = Dtype::Float32;
    }
}
