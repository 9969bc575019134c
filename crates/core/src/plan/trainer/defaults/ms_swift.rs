//! ms-swift 4.6.0: arguments/*.py and trainers/arguments.py over `TrainingArguments`.

use crate::plan::{Dtype, MixedPrecision, Plan};

pub(super) fn apply(plan: &mut Plan) {
    super::transformers::apply(plan);
    // trainers/arguments.py `TrainArgumentsMixin`.
    plan.per_device_train_batch_size = 1;
    plan.gradient_checkpointing = true;
    // arguments/base_args/model_args.py `_init_torch_dtype`: as config.json says.
    plan.torch_dtype = Dtype::Bfloat16;
    // arguments/tuner_args.py `lora_rank`, `lora_alpha`, `lora_dropout`.
    plan.lora.r = 8;
    plan.lora.lora_alpha = 32.0;
    plan.lora.lora_dropout = 0.05;
    // pipelines/train/tuner.py never calls peft's `prepare_model_for_kbit_training`.
    plan.quantization.prepare_for_kbit_training = false;
}

/// What follows from the batch and from the weights' dtype.
pub(super) fn apply_derived(plan: &mut Plan, given: impl Fn(&str) -> bool) {
    if !given("gradient_accumulation_steps") {
        // trainers/arguments.py `__post_init__`: 16 sequences a step.
        const SEQUENCES_PER_STEP: u64 = 16;
        let sequences = plan.per_device_train_batch_size.saturating_mul(plan.num_gpus).max(1);
        plan.gradient_accumulation_steps = SEQUENCES_PER_STEP.div_ceil(sequences);
    }
    if !given("mixed_precision") {
        // arguments/base_args/model_args.py `_init_mixed_precision`: float16 for weights in fp32 too.
        plan.mixed_precision = match plan.torch_dtype {
            Dtype::Bfloat16 => MixedPrecision::Bf16,
            Dtype::Float16 | Dtype::Float32 => MixedPrecision::Fp16,
        };
    }
}
