//! `TrainingArguments` (transformers training_args.py).

use crate::plan::{Optimizer, Plan};

/// Fused AdamW, batch 8, no autocast, nothing recomputed.
pub(super) fn apply(plan: &mut Plan) {
    plan.optim = Optimizer::AdamwTorchFused;
    plan.per_device_train_batch_size = 8;
}
