//! verl's command (verl/trainer/config/ppo_trainer.yaml and what it includes).

use headroom_core::plan::{
    Framework, Method, Offload, Plan, ReferenceKind, RolloutEngine, TargetModules, Task, VllmMode,
};

use super::accelerate::GPUS_PER_MACHINE;
use super::notation::assignments;
use super::planned::Planned;
use super::setting::{Setting, set, whole_or_real};

/// The command, for tasks that generate.
pub(super) fn command(planned: &Planned<'_>) -> Option<String> {
    let plan = planned.plan;
    let estimator = match plan.task {
        Task::Grpo => "grpo",
        Task::Rloo => "rloo",
        Task::Ppo => "gae",
        _ => return None,
    };
    let mut settings = vec![
        set("algorithm.adv_estimator", estimator),
        set("data.train_files", "train.parquet"),
        set("data.val_files", "test.parquet"),
    ];
    settings.extend(lengths(plan));
    settings.extend(model(planned));
    settings.extend(actor(plan));
    settings.extend(rollout(plan));
    settings.extend([
        set("trainer.n_gpus_per_node", plan.num_gpus.min(GPUS_PER_MACHINE)),
        set("trainer.nnodes", plan.num_gpus.div_ceil(GPUS_PER_MACHINE)),
        set("trainer.save_freq", 100),
        // Validation generates with the same engine; its answers are those of the test file.
        set("trainer.test_freq", 100),
        set("trainer.max_actor_ckpt_to_keep", 2),
        set("trainer.total_epochs", 1),
    ]);
    Some(format!("python3 -m verl.trainer.main_ppo{}\n", assignments(&settings)))
}

/// The batch counts prompts, each with its group of answers.
fn lengths(plan: &Plan) -> Vec<Setting> {
    let of = &plan.rollout;
    let group = of.num_generations.unwrap_or(1).max(1);
    let sequences = plan.per_device_train_batch_size * plan.num_gpus * plan.gradient_accumulation_steps;
    let prompts = of.prompts.unwrap_or_else(|| sequences.div_ceil(group));
    let mut settings = vec![set("data.train_batch_size", prompts)];
    settings.extend(of.max_prompt_length.map(|length| set("data.max_prompt_length", length)));
    settings.extend(of.max_completion_length.map(|length| set("data.max_response_length", length)));
    let mini = (sequences / group).clamp(1, prompts);
    settings.push(set("actor_rollout_ref.actor.ppo_mini_batch_size", mini));
    settings.push(set("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", plan.per_device_train_batch_size));
    settings
}

fn model(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let mut settings = vec![
        set("actor_rollout_ref.model.path", planned.model()),
        set("actor_rollout_ref.model.enable_gradient_checkpointing", plan.gradient_checkpointing),
        set("actor_rollout_ref.model.enable_activation_offload", plan.activation_offloading),
        set("actor_rollout_ref.model.use_remove_padding", plan.policy.padding_free),
        set("actor_rollout_ref.model.use_liger", plan.use_liger_kernel),
    ];
    if plan.method == Method::Lora {
        settings.push(set("actor_rollout_ref.model.lora_rank", plan.lora.r));
        settings.push(set("actor_rollout_ref.model.lora_alpha", whole_or_real(plan.lora.lora_alpha)));
        settings.push(match &plan.lora.target_modules {
            TargetModules::AllLinear => set("actor_rollout_ref.model.target_modules", "all-linear"),
            TargetModules::Names(names) => set("actor_rollout_ref.model.target_modules", names.as_slice()),
        });
    }
    settings
}

fn actor(plan: &Plan) -> Vec<Setting> {
    let fsdp2 = plan.distributed.framework == Framework::Fsdp2;
    let (parameters, states) = match plan.distributed.framework.is_fsdp() {
        true => (plan.distributed.cpu_offload, plan.distributed.cpu_offload),
        false => (plan.offload_param == Offload::Cpu, plan.offload_optimizer == Offload::Cpu),
    };
    let mut settings = vec![
        set("actor_rollout_ref.actor.strategy", if fsdp2 { "fsdp2" } else { "fsdp" }),
        set("actor_rollout_ref.actor.fsdp_config.model_dtype", plan.torch_dtype.name()),
        set("actor_rollout_ref.actor.fsdp_config.param_offload", parameters),
        set("actor_rollout_ref.actor.fsdp_config.optimizer_offload", states),
        set("actor_rollout_ref.actor.fsdp_config.reshard_after_forward", plan.distributed.reshard_after_forward),
        set("actor_rollout_ref.actor.grad_clip", plan.max_grad_norm),
    ];
    settings.extend(plan.policy.num_iterations.map(|epochs| set("actor_rollout_ref.actor.ppo_epochs", epochs)));
    let beta = plan.policy.beta.filter(|beta| *beta > 0.0 && plan.reference.kind != ReferenceKind::None);
    settings.push(set("actor_rollout_ref.actor.use_kl_loss", beta.is_some()));
    settings.extend(beta.map(|beta| set("actor_rollout_ref.actor.kl_loss_coef", beta)));
    settings
}

fn rollout(plan: &Plan) -> Vec<Setting> {
    let of = &plan.rollout;
    let engine = match of.engine {
        Some(RolloutEngine::Sglang) => "sglang",
        Some(RolloutEngine::Generate) => "hf",
        Some(RolloutEngine::Vllm) | None => "vllm",
    };
    let mut settings = vec![set("actor_rollout_ref.rollout.name", engine)];
    settings.extend(of.num_generations.map(|group| set("actor_rollout_ref.rollout.n", group)));
    if engine != "hf" && of.vllm_mode != Some(VllmMode::Server) {
        let share = of.vllm_gpu_memory_utilization;
        settings.extend(share.map(|share| set("actor_rollout_ref.rollout.gpu_memory_utilization", share)));
        let gpus = of.vllm_tensor_parallel_size.unwrap_or(1);
        settings.push(set("actor_rollout_ref.rollout.tensor_model_parallel_size", gpus));
        settings.push(set("actor_rollout_ref.rollout.enforce_eager", of.enforce_eager));
        settings.push(set("actor_rollout_ref.rollout.free_cache_engine", of.vllm_enable_sleep_mode));
    }
    let scored = plan.policy.logprob_batch_size.unwrap_or(plan.per_device_train_batch_size);
    settings.push(set("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", scored));
    settings.push(set("actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", scored));
    settings
}
