//! How answers are generated, under the names that TRL's configurations have.

use headroom_core::plan::{Plan, RolloutEngine, Task, VllmMode};

use super::arguments::given;
use super::setting::{Setting, set};
use super::why::Why;

/// The engine.
pub(super) fn engine(plan: &Plan) -> Vec<Setting> {
    let of = &plan.rollout;
    match of.engine {
        Some(RolloutEngine::Vllm) => {
            let mut settings =
                vec![set("use_vllm", true), set("vllm_mode", of.vllm_mode.unwrap_or(VllmMode::Colocate).name())];
            settings.extend(given("vllm_gpu_memory_utilization", of.vllm_gpu_memory_utilization));
            settings.extend(given("vllm_tensor_parallel_size", of.vllm_tensor_parallel_size));
            settings.extend(given("vllm_max_model_length", of.vllm_max_model_length));
            if of.vllm_enable_sleep_mode {
                settings.push(set("vllm_enable_sleep_mode", true));
            }
            settings
        }
        Some(RolloutEngine::Generate) => vec![set("use_vllm", false)],
        // None of the trainers here has SGLang.
        Some(RolloutEngine::Sglang) | None => Vec::new(),
    }
}

/// Forwards whose answers are generated together: as planned, or as many as make whole groups, which TRL and what is built
/// on it insist on (trl grpo_config.py `__post_init__`).
pub(super) fn steps_per_generation(plan: &Plan) -> Option<Setting> {
    if let Some(steps) = plan.policy.steps_per_generation {
        return Some(set("steps_per_generation", steps));
    }
    let factor = whole_groups(plan)?;
    let steps = plan.gradient_accumulation_steps.saturating_mul(factor);
    Some(set("steps_per_generation", steps).because(Why::WholeGroups))
}

/// By how much the step must grow to hold whole groups, if it does not.
pub(super) fn whole_groups(plan: &Plan) -> Option<u64> {
    // grpo_config.py `num_generations`: 8; rloo_config.py: 2.
    let group = plan.rollout.num_generations.unwrap_or(if plan.task == Task::Rloo { 2 } else { 8 }).max(1);
    let sequences = plan.per_device_train_batch_size.checked_mul(plan.num_gpus)?;
    let sequences = sequences.checked_mul(plan.gradient_accumulation_steps)?;
    let factor = group / common_divisor(sequences, group);
    (factor > 1).then_some(factor)
}

fn common_divisor(left: u64, right: u64) -> u64 {
    let (mut left, mut right) = (left, right);
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
