//! `SFTConfig` and its siblings (trl trainer/*_config.py).

use crate::plan::{Dtype, MixedPrecision, Plan, Task, VllmMode};
use crate::release::Release;

/// bf16 and checkpointing on.
pub(super) fn apply(plan: &mut Plan) {
    let release = plan.trainer.release();
    super::transformers::apply(plan);
    plan.mixed_precision = MixedPrecision::Bf16;
    plan.gradient_checkpointing = true;
    // trainer/utils.py `create_model_from_path`: fp32 unless `model_init_kwargs` say otherwise.
    plan.torch_dtype = Dtype::Float32;
    // models/utils.py `prepare_peft_model`, gone with 1.0, and trainers that go on without it.
    plan.quantization.prepare_for_kbit_training = match plan.task {
        Task::Orpo | Task::Cpo => true,
        Task::Kto => release < Release::new(1, 6, 0),
        _ => release < Release::new(1, 0, 0),
    };
    if matches!(plan.task, Task::Orpo | Task::Cpo) && release >= Release::new(1, 0, 0) {
        // experimental/orpo/orpo_trainer.py and experimental/cpo/cpo_trainer.py call `from_pretrained` themselves: without a
        // dtype transformers 5 loads what config.json names, transformers 4 fp32.
        plan.torch_dtype = Dtype::Bfloat16;
    }
    if matches!(plan.task, Task::Grpo | Task::Rloo) {
        reinforcement(plan, release);
    }
}

/// trainer/grpo_config.py and rloo_config.py.
fn reinforcement(plan: &mut Plan, release: Release) {
    // `max_completion_length`: 512 since 1.12, 256 before, as a plan without a trainer has it.
    if release >= Release::new(1, 12, 0) {
        plan.rollout.max_completion_length = Some(512);
    }
    // `vllm_mode`: "server" before 1.0, "colocate" since.
    if release < Release::new(1, 0, 0) {
        plan.rollout.vllm_mode = Some(VllmMode::Server);
    }
}
