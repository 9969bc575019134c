//! verl's commands (verl/trainer/config/ppo_trainer.yaml and sft_trainer_engine.yaml, and what they include).

use headroom_core::plan::{
    Framework, Method, Offload, Optimizer, Plan, ReferenceKind, RolloutEngine, TargetModules, Task, VllmMode,
};

use super::launch::Command;
use super::notation::assignments;
use super::planned::Planned;
use super::setting::{Setting, set, whole_or_real};
use super::why::Why;
use crate::trainers::VERL_OPTIMIZERS;

/// The command, for supervised runs and tasks that generate.
pub(super) fn command(planned: &Planned<'_>) -> Option<Command> {
    let plan = planned.plan;
    if plan.task == Task::Sft {
        return Some(supervised(planned));
    }
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
        set("trainer.n_gpus_per_node", plan.num_gpus.div_ceil(plan.machines())),
        set("trainer.nnodes", plan.machines()),
        set("trainer.save_freq", 100),
        // Validation generates with the same engine; its answers are those of the test file.
        set("trainer.test_freq", 100),
        set("trainer.max_actor_ckpt_to_keep", 2).because(Why::Checkpoints),
        set("trainer.total_epochs", 1),
    ]);
    let start = "python3 -m verl.trainer.main_ppo";
    Some(Command::new(start, &assignments(&settings), &settings, planned.language))
}

/// The batch counts prompts, each with its group of answers.
fn lengths(plan: &Plan) -> Vec<Setting> {
    let of = &plan.rollout;
    let group = of.num_generations.unwrap_or(1).max(1);
    let sequences = [plan.num_gpus, plan.gradient_accumulation_steps]
        .iter()
        .fold(plan.per_device_train_batch_size, |product, factor| product.saturating_mul(*factor));
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
        set("actor_rollout_ref.model.enable_gradient_checkpointing", plan.gradient_checkpointing)
            .because(planned.checkpointing()),
        set("actor_rollout_ref.model.enable_activation_offload", plan.activation_offloading),
        set("actor_rollout_ref.model.use_remove_padding", plan.policy.padding_free),
        set("actor_rollout_ref.model.use_liger", plan.use_liger_kernel),
    ];
    settings.extend(adapters(
        plan,
        [
            "actor_rollout_ref.model.lora_rank",
            "actor_rollout_ref.model.lora_alpha",
            "actor_rollout_ref.model.target_modules",
        ],
    ));
    settings
}

/// Rank, alpha and targets under these keys, where adapters are trained.
fn adapters(plan: &Plan, [rank, alpha, targets]: [&'static str; 3]) -> Vec<Setting> {
    if plan.method != Method::Lora {
        return Vec::new();
    }
    let targets = match &plan.lora.target_modules {
        TargetModules::AllLinear => set(targets, "all-linear"),
        TargetModules::Names(names) => set(targets, names.as_slice()),
    };
    vec![set(rank, plan.lora.r), set(alpha, whole_or_real(plan.lora.lora_alpha)), targets]
}

fn actor(plan: &Plan) -> Vec<Setting> {
    let (parameters, states) = offloads(plan);
    let mut settings = vec![
        set("actor_rollout_ref.actor.strategy", strategy(plan)),
        set("actor_rollout_ref.actor.fsdp_config.model_dtype", plan.torch_dtype.name()).because(Why::LoadedIn),
        set("actor_rollout_ref.actor.fsdp_config.param_offload", parameters),
        set("actor_rollout_ref.actor.fsdp_config.optimizer_offload", states),
        set("actor_rollout_ref.actor.fsdp_config.reshard_after_forward", plan.distributed.reshard_after_forward),
        set("actor_rollout_ref.actor.grad_clip", plan.max_grad_norm).because(Why::Clipping(plan.max_grad_norm)),
    ];
    const OPTIMIZER: [&str; 3] = [
        "actor_rollout_ref.actor.optim.optimizer_impl",
        "actor_rollout_ref.actor.optim.optimizer",
        "actor_rollout_ref.actor.optim.override_optimizer_config",
    ];
    settings.extend(optimizer(plan, OPTIMIZER));
    settings.extend(plan.policy.num_iterations.map(|epochs| set("actor_rollout_ref.actor.ppo_epochs", epochs)));
    let beta = plan.policy.beta.filter(|beta| *beta > 0.0 && plan.reference.kind != ReferenceKind::None);
    settings.push(set("actor_rollout_ref.actor.use_kl_loss", beta.is_some()));
    settings.extend(beta.map(|beta| set("actor_rollout_ref.actor.kl_loss_coef", beta)));
    settings
}

const fn strategy(plan: &Plan) -> &'static str {
    match plan.distributed.framework {
        Framework::Fsdp2 => "fsdp2",
        _ => "fsdp",
    }
}

/// Whether parameters and states of the optimizer rest in host memory.
fn offloads(plan: &Plan) -> (bool, bool) {
    match plan.distributed.framework.is_fsdp() {
        true => (plan.distributed.cpu_offload, plan.distributed.cpu_offload),
        false => (plan.offload_param == Offload::Cpu, plan.offload_optimizer == Offload::Cpu),
    }
}

/// Module, class and options of the optimizer, under the keys that stand for them; nothing where verl makes no such one.
fn optimizer(plan: &Plan, [module, class, options]: [&'static str; 3]) -> Vec<Setting> {
    let fused = plan.optim == Optimizer::AdamwTorchFused;
    let name = if fused { Optimizer::AdamwTorch.name() } else { plan.optim.name() };
    let Some(known) = VERL_OPTIMIZERS.iter().find(|known| known.optim == name) else { return Vec::new() };
    let mut settings = vec![set(module, known.module), set(class, known.class)];
    if fused {
        settings.push(set(options, "{fused: True}"));
    }
    settings
}

/// Supervised runs, which torchrun starts (verl/trainer/sft_trainer.py).
fn supervised(planned: &Planned<'_>) -> Command {
    let plan = planned.plan;
    let (parameters, states) = offloads(plan);
    let sequences = [plan.num_gpus, plan.gradient_accumulation_steps]
        .iter()
        .fold(plan.per_device_train_batch_size, |product, factor| product.saturating_mul(*factor));
    let mut settings = vec![
        set("data.train_files", "train.parquet"),
        set("data.train_batch_size", sequences),
        // Otherwise rows are put together up to a number of tokens, whatever their own.
        set("data.use_dynamic_bsz", false),
        set("data.micro_batch_size_per_gpu", plan.per_device_train_batch_size),
        set("data.max_length", plan.max_length),
        set("data.truncation", "right"),
        set("model.path", planned.model()),
        set("model.enable_gradient_checkpointing", plan.gradient_checkpointing).because(planned.checkpointing()),
        set("model.enable_activation_offload", plan.activation_offloading),
        set("model.use_remove_padding", plan.policy.padding_free),
        set("model.use_liger", plan.use_liger_kernel),
    ];
    settings.extend(adapters(plan, ["model.lora_rank", "model.lora_alpha", "model.target_modules"]));
    settings.extend([
        set("engine.strategy", strategy(plan)),
        set("engine.model_dtype", plan.torch_dtype.name()).because(Why::LoadedIn),
        set("engine.param_offload", parameters),
        set("engine.optimizer_offload", states),
        set("engine.reshard_after_forward", plan.distributed.reshard_after_forward),
        set("optim.clip_grad", plan.max_grad_norm).because(Why::Clipping(plan.max_grad_norm)),
    ]);
    settings.extend(optimizer(plan, ["optim.optimizer_impl", "optim.optimizer", "optim.override_optimizer_config"]));
    settings.extend([
        set("trainer.save_freq", 100),
        set("trainer.max_ckpt_to_keep", 2).because(Why::Checkpoints),
        set("trainer.total_epochs", 1),
    ]);
    let each = plan.num_gpus.div_ceil(plan.machines());
    let machines = match plan.machines() {
        1 => "--standalone".to_owned(),
        machines => {
            format!("--nnodes={machines} --node_rank=\"$NODE_RANK\" --master_addr=\"$MASTER_ADDR\" --master_port=29500")
        }
    };
    let start = format!("torchrun {machines} --nproc_per_node={each} -m verl.trainer.sft_trainer");
    Command::new(&start, &assignments(&settings), &settings, planned.language)
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
