//! axolotl 0.19.0: utils/schemas/*.py over `TrainingArguments`.

use crate::plan::{Dtype, MixedPrecision, Plan};

pub(super) fn apply(plan: &mut Plan) {
    super::transformers::apply(plan);
    // utils/schemas/training.py `micro_batch_size`, utils/schemas/config.py `sequence_len`.
    plan.per_device_train_batch_size = 1;
    plan.max_length = 512;
    // utils/config/__init__.py `resolve_dtype`: `bf16: auto` where the GPU has it; weights are loaded in the same.
    plan.mixed_precision = MixedPrecision::Bf16;
    plan.torch_dtype = Dtype::Bfloat16;
    // loaders/model.py prepares a quantised base for training and then casts norms and embeddings back.
    plan.quantization.prepare_for_kbit_training = false;
}
