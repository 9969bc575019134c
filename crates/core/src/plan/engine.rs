//! What DeepSpeed's engine makes of a plan's weights.

use super::{Auto, Dtype, Framework, MixedPrecision, Plan, Task, TrainerName};

impl Plan {
    /// dtype of the model's weights once the framework has them: `torch_dtype`, unless DeepSpeed's engine computes in
    /// another one.
    pub fn weights_dtype(&self) -> Dtype {
        self.engine_dtype().unwrap_or(self.torch_dtype)
    }

    /// The field that decides [`Plan::weights_dtype`].
    pub(crate) fn weights_dtype_field(&self) -> &'static str {
        match (self.engine_dtype(), self.distributed.bf16_enabled) {
            (None, _) => "torch_dtype",
            (Some(_), Auto::Set(true)) => "distributed.bf16.enabled",
            (Some(_), _) => "mixed_precision",
        }
    }

    /// The 16-bit dtype that the engine converts every parameter to (runtime/engine.py `_cast_module_mixed_precision`), or
    /// that `zero.Init` makes them in at stage 3. The Trainer fills `bf16.enabled` and `fp16.enabled` with its own precision
    /// (transformers integrations/deepspeed.py `trainer_config_process`), and accelerate puts no autocast around an engine
    /// (accelerator.py `native_amp`).
    pub fn engine_dtype(&self) -> Option<Dtype> {
        let trains = self.task != Task::Inference;
        if self.distributed.framework != Framework::Deepspeed || self.zero_stage == 0 || !trains {
            return None;
        }
        match (self.distributed.bf16_enabled, self.mixed_precision) {
            (Auto::Set(true), _) => Some(Dtype::Bfloat16),
            (Auto::Set(false), _) | (Auto::Auto, MixedPrecision::No) => None,
            _ if self.trainer.name == TrainerName::Custom => None,
            (Auto::Auto, MixedPrecision::Bf16) => Some(Dtype::Bfloat16),
            (Auto::Auto, MixedPrecision::Fp16) => Some(Dtype::Float16),
        }
    }
}
