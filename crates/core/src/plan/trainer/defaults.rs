//! What each trainer takes where the user says nothing, at each version.
//!
//! Each line names the file of the library that sets the default.

use super::super::{Dtype, MixedPrecision, Optimizer, Plan, TrainerName};
use super::Release;

/// Puts the defaults of the plan's trainer, at its version and for its task and method, into `plan`.
pub(super) fn apply(plan: &mut Plan) {
    match plan.trainer.name {
        TrainerName::Custom | TrainerName::Unsloth | TrainerName::Verl | TrainerName::Torchtune => {}
        TrainerName::Transformers => transformers(plan),
        TrainerName::Trl => trl(plan),
        TrainerName::LlamaFactory => llamafactory(plan),
        TrainerName::MsSwift => ms_swift(plan),
        TrainerName::Axolotl => axolotl(plan),
    }
}

/// `TrainingArguments` (transformers training_args.py): fused AdamW, batch 8, no autocast, nothing recomputed.
fn transformers(plan: &mut Plan) {
    plan.optim = Optimizer::AdamwTorchFused;
    plan.per_device_train_batch_size = 8;
    if plan.trainer.name == TrainerName::Transformers && plan.trainer.release() < Release::new(5, 0, 0) {
        // modeling_utils.py `from_pretrained`: fp32 unless told otherwise; since 5.0 the checkpoint's own dtype.
        plan.torch_dtype = Dtype::Float32;
    }
}

/// `SFTConfig` and its siblings (trl trainer/*_config.py): bf16 and checkpointing on.
fn trl(plan: &mut Plan) {
    transformers(plan);
    plan.mixed_precision = MixedPrecision::Bf16;
    plan.gradient_checkpointing = true;
    // trainer/utils.py `create_model_from_path`: fp32 unless `model_init_kwargs` say otherwise.
    plan.torch_dtype = Dtype::Float32;
    // models/utils.py `prepare_peft_model`, gone with 1.0.
    plan.quantization.prepare_for_kbit_training = plan.trainer.release() < Release::new(1, 0, 0);
}

fn llamafactory(plan: &mut Plan) {
    transformers(plan);
}

fn ms_swift(plan: &mut Plan) {
    transformers(plan);
}

fn axolotl(plan: &mut Plan) {
    transformers(plan);
}
