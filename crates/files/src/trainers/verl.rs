//! verl's hydra keys (verl/trainer/config/ppo_trainer.yaml).

use super::{As, Fact, Row, Topic, bears, nothing, says, sets};

pub(super) const ROWS: &[Row] = &[
    says("actor_rollout_ref.model.path", Fact::Model),
    says("model.partial_pretrain", Fact::Model),
    says("model.path", Fact::Model),
    says("algorithm.adv_estimator", Fact::Estimator),
    says("actor_rollout_ref.model.enable_gradient_checkpointing", Fact::Checkpointing),
    says("model.enable_gradient_checkpointing", Fact::Checkpointing),
    sets("actor_rollout_ref.model.enable_activation_offload", "activation_offloading", As::Flag),
    sets("actor_rollout_ref.model.lora_rank", "lora.r", As::Whole),
    sets("actor_rollout_ref.model.lora_alpha", "lora.lora_alpha", As::Real),
    sets("model.lora_rank", "lora.r", As::Whole),
    sets("model.lora_alpha", "lora.lora_alpha", As::Real),
    says("actor_rollout_ref.model.target_modules", Fact::Targets),
    says("model.target_modules", Fact::Targets),
    sets("actor_rollout_ref.model.use_remove_padding", "padding_free", As::Flag),
    sets("actor_rollout_ref.model.use_liger", "use_liger_kernel", As::Flag),
    sets("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "per_device_train_batch_size", As::Whole),
    sets("data.micro_batch_size_per_gpu", "per_device_train_batch_size", As::Whole),
    says("actor_rollout_ref.actor.ppo_micro_batch_size", Fact::MicroBatchOfAll),
    says("actor_rollout_ref.actor.ppo_mini_batch_size", Fact::MiniBatch),
    says("actor_rollout_ref.actor.optim.optimizer", Fact::OptimizerClass),
    says("actor_rollout_ref.actor.optim.optimizer_impl", Fact::OptimizerModule),
    says("actor_rollout_ref.actor.optim.override_optimizer_config.fused", Fact::OptimizerFused),
    says("optim.override_optimizer_config.fused", Fact::OptimizerFused),
    says("optim.optimizer", Fact::OptimizerClass),
    says("optim.optimizer_impl", Fact::OptimizerModule),
    sets("actor_rollout_ref.actor.ppo_epochs", "num_iterations", As::Whole),
    says("actor_rollout_ref.actor.use_kl_loss", Fact::UsesReference),
    says("algorithm.use_kl_in_reward", Fact::KlInReward),
    sets("actor_rollout_ref.actor.kl_loss_coef", "beta", As::Real),
    bears("actor_rollout_ref.actor.use_dynamic_bsz", Topic::DynamicBatch),
    bears("actor_rollout_ref.actor.ppo_max_token_len_per_gpu", Topic::DynamicBatch),
    bears("actor_rollout_ref.actor.ulysses_sequence_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.entropy_checkpointing", Topic::Activations),
    sets("actor_rollout_ref.actor.grad_clip", "max_grad_norm", As::Real),
    says("actor_rollout_ref.actor.strategy", Fact::Fsdp),
    // workers/fsdp_workers.py loads both back for the step: only what the rollout leaves is less.
    bears("actor_rollout_ref.actor.fsdp_config.param_offload", Topic::Offload),
    bears("actor_rollout_ref.actor.fsdp_config.optimizer_offload", Topic::Offload),
    says("actor_rollout_ref.actor.fsdp_config.offload_policy", Fact::FsdpOffload),
    sets("actor_rollout_ref.model.lora.rank", "lora.r", As::Whole),
    sets("actor_rollout_ref.model.lora.alpha", "lora.lora_alpha", As::Real),
    sets("actor_rollout_ref.model.lora.dropout", "lora.lora_dropout", As::Real),
    says("actor_rollout_ref.model.lora.target_modules", Fact::Targets),
    bears("actor_rollout_ref.model.exclude_modules", Topic::AdapterKind),
    bears("actor_rollout_ref.model.use_fused_kernels", Topic::Kernels),
    says("data.micro_batch_size", Fact::MicroBatchOfAll),
    sets("use_remove_padding", "padding_free", As::Flag),
    sets("model.use_remove_padding", "padding_free", As::Flag),
    sets("model.enable_activation_offload", "activation_offloading", As::Flag),
    sets("model.use_liger", "use_liger_kernel", As::Flag),
    bears("model.use_fused_kernels", Topic::Kernels),
    bears("data.use_dynamic_bsz", Topic::DynamicBatch),
    bears("data.max_token_len_per_gpu", Topic::DynamicBatch),
    says("model.fsdp_config.model_dtype", Fact::Dtype),
    bears("model.fsdp_config.offload_params", Topic::Offload),
    says("engine.strategy", Fact::Fsdp),
    says("engine.model_dtype", Fact::Dtype),
    says("engine.reshard_after_forward", Fact::Reshard),
    says("engine.offload_policy", Fact::FsdpOffload),
    bears("engine.param_offload", Topic::Offload),
    // Since 0.9: gradients stay whole between the micro-batches of an update, packed batches are filled up.
    bears("engine.use_no_sync_for_gradient_accumulation", Topic::NoSetting),
    bears("actor_rollout_ref.actor.fsdp_config.use_no_sync_for_gradient_accumulation", Topic::NoSetting),
    bears("engine.pad_to_length", Topic::DynamicBatch),
    bears("actor_rollout_ref.actor.pad_to_length", Topic::DynamicBatch),
    bears("actor_rollout_ref.actor.fsdp_config.pad_to_length", Topic::DynamicBatch),
    bears("actor_rollout_ref.actor.fsdp_config.entropy_checkpointing", Topic::Activations),
    bears("actor_rollout_ref.actor.fsdp_config.entropy_from_logits_with_chunking", Topic::Loss),
    bears("engine.optimizer_offload", Topic::Offload),
    bears("engine.ulysses_sequence_parallel_size", Topic::Parallelism),
    says("engine.fsdp_size", Fact::ShardSize),
    bears("actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size", Topic::Parallelism),
    bears("critic.model.lora.rank", Topic::SecondModel),
    sets("actor_rollout_ref.actor.optim.clip_grad", "max_grad_norm", As::Real),
    sets("optim.clip_grad", "max_grad_norm", As::Real),
    says("model.strategy", Fact::Fsdp),
    bears("model.fsdp_config.cpu_offload", Topic::Offload),
    bears("ulysses_sequence_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.ref.ulysses_sequence_parallel_size", Topic::SecondModel),
    bears("critic.ulysses_sequence_parallel_size", Topic::SecondModel),
    bears("critic.use_dynamic_bsz", Topic::SecondModel),
    bears("critic.ppo_max_token_len_per_gpu", Topic::SecondModel),
    bears("critic.forward_max_token_len_per_gpu", Topic::SecondModel),
    bears("critic.model.lora_rank", Topic::SecondModel),
    bears("actor_rollout_ref.rollout.log_prob_use_dynamic_bsz", Topic::DynamicBatch),
    bears("actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", Topic::DynamicBatch),
    bears("actor_rollout_ref.ref.log_prob_use_dynamic_bsz", Topic::DynamicBatch),
    bears("actor_rollout_ref.ref.log_prob_max_token_len_per_gpu", Topic::DynamicBatch),
    bears("actor_rollout_ref.rollout.data_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.rollout.expert_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.entropy_from_logits_with_chunking", Topic::Loss),
    bears("actor_rollout_ref.ref.entropy_from_logits_with_chunking", Topic::Loss),
    bears("actor_rollout_ref.actor.megatron.tensor_model_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.megatron.context_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.megatron.expert_model_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.megatron.expert_tensor_parallel_size", Topic::Parallelism),
    bears("actor_rollout_ref.actor.megatron.param_offload", Topic::Offload),
    bears("actor_rollout_ref.actor.megatron.grad_offload", Topic::Offload),
    bears("actor_rollout_ref.actor.megatron.optimizer_offload", Topic::Offload),
    bears("actor_rollout_ref.ref.megatron.param_offload", Topic::SecondModel),
    bears("actor_rollout_ref.ref.megatron.tensor_model_parallel_size", Topic::SecondModel),
    bears("actor_rollout_ref.ref.megatron.pipeline_model_parallel_size", Topic::SecondModel),
    bears("actor_rollout_ref.ref.megatron.expert_model_parallel_size", Topic::SecondModel),
    bears("actor_rollout_ref.ref.megatron.expert_tensor_parallel_size", Topic::SecondModel),
    bears("actor_rollout_ref.ref.megatron.context_parallel_size", Topic::SecondModel),
    bears("actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method", Topic::Activations),
    bears("actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity", Topic::Activations),
    bears("actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers", Topic::Activations),
    bears("actor_rollout_ref.actor.megatron.override_transformer_config.gradient_accumulation_fusion", Topic::Kernels),
    bears("actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction", Topic::Offload),
    bears("actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload", Topic::Offload),
    bears(
        "actor_rollout_ref.actor.optim.override_optimizer_config.use_precision_aware_optimizer",
        Topic::OptimizerKind,
    ),
    bears("reward_model.rollout.gpu_memory_utilization", Topic::SecondModel),
    bears("reward_model.rollout.tensor_model_parallel_size", Topic::SecondModel),
    bears("reward_model.model.fsdp_config.param_offload", Topic::SecondModel),
    says("actor_rollout_ref.actor.fsdp_config.fsdp_size", Fact::ShardSize),
    says("actor_rollout_ref.actor.fsdp_config.reshard_after_forward", Fact::Reshard),
    says("actor_rollout_ref.actor.fsdp_config.model_dtype", Fact::Dtype),
    bears("actor_rollout_ref.ref.fsdp_config.param_offload", Topic::SecondModel),
    sets("actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", "logprob_batch_size", As::Whole),
    sets("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "logprob_batch_size", As::Whole),
    says("actor_rollout_ref.rollout.log_prob_micro_batch_size", Fact::LogprobBatchOfAll),
    bears("actor_rollout_ref.ref.log_prob_micro_batch_size", Topic::SecondModel),
    bears("actor_rollout_ref.actor.fsdp_config.grad_offload", Topic::Offload),
    says("actor_rollout_ref.rollout.name", Fact::Engine),
    sets("actor_rollout_ref.rollout.n", "rollout.num_generations", As::Whole),
    sets("actor_rollout_ref.rollout.gpu_memory_utilization", "rollout.vllm_gpu_memory_utilization", As::Real),
    sets("actor_rollout_ref.rollout.tensor_model_parallel_size", "rollout.vllm_tensor_parallel_size", As::Whole),
    sets("actor_rollout_ref.rollout.enforce_eager", "rollout.enforce_eager", As::Flag),
    sets("actor_rollout_ref.rollout.free_cache_engine", "rollout.vllm_enable_sleep_mode", As::Flag),
    bears("actor_rollout_ref.rollout.max_num_batched_tokens", Topic::NoSetting),
    bears("actor_rollout_ref.rollout.max_num_seqs", Topic::NoSetting),
    sets("actor_rollout_ref.rollout.max_model_len", "rollout.vllm_max_model_length", As::Whole),
    nothing("actor_rollout_ref.rollout.dtype"),
    says("data.train_batch_size", Fact::Prompts),
    sets("data.max_prompt_length", "rollout.max_prompt_length", As::Whole),
    sets("data.max_response_length", "rollout.max_completion_length", As::Whole),
    says("data.max_length", Fact::Length),
    says("critic.model.path", Fact::ValueModel),
    bears("critic.ppo_micro_batch_size_per_gpu", Topic::SecondModel),
    bears("critic.model.enable_gradient_checkpointing", Topic::SecondModel),
    bears("critic.model.fsdp_config.param_offload", Topic::SecondModel),
    bears("critic.model.fsdp_config.optimizer_offload", Topic::SecondModel),
    bears("reward_model.enable", Topic::SecondModel),
    says("reward_model.model.path", Fact::RewardModel),
    bears("reward_model.micro_batch_size_per_gpu", Topic::SecondModel),
    // EasyR1's names for the same (examples/config.yaml).
    says("worker.actor.model.model_path", Fact::Model),
    says("worker.actor.model.enable_gradient_checkpointing", Fact::Checkpointing),
    sets("worker.actor.model.lora.rank", "lora.r", As::Whole),
    sets("worker.actor.model.lora.alpha", "lora.lora_alpha", As::Real),
    says("worker.actor.model.lora.target_modules", Fact::Targets),
    bears("worker.actor.model.lora.exclude_modules", Topic::AdapterKind),
    says("worker.actor.model.freeze_vision_tower", Fact::FreezesTower),
    sets("worker.actor.micro_batch_size_per_device_for_update", "per_device_train_batch_size", As::Whole),
    sets("worker.actor.micro_batch_size_per_device_for_experience", "logprob_batch_size", As::Whole),
    says("worker.actor.global_batch_size", Fact::MiniBatch),
    sets("worker.actor.max_grad_norm", "max_grad_norm", As::Real),
    sets("worker.actor.padding_free", "padding_free", As::Flag),
    bears("worker.actor.dynamic_batching", Topic::DynamicBatch),
    bears("worker.actor.ulysses_size", Topic::Parallelism),
    bears("worker.actor.optim.strategy", Topic::OptimizerKind),
    says("worker.actor.fsdp.torch_dtype", Fact::Dtype),
    says("worker.actor.fsdp.enable_full_shard", Fact::Reshard),
    bears("worker.actor.fsdp.enable_cpu_offload", Topic::Offload),
    bears("worker.actor.offload.offload_params", Topic::Offload),
    bears("worker.actor.offload.offload_optimizer", Topic::Offload),
    bears("worker.ref.fsdp.enable_cpu_offload", Topic::SecondModel),
    bears("worker.ref.offload.offload_params", Topic::SecondModel),
    bears("worker.critic.model.model_path", Topic::SecondModel),
    sets("worker.rollout.n", "rollout.num_generations", As::Whole),
    says("worker.rollout.name", Fact::Engine),
    sets("worker.rollout.gpu_memory_utilization", "rollout.vllm_gpu_memory_utilization", As::Real),
    sets("worker.rollout.tensor_parallel_size", "rollout.vllm_tensor_parallel_size", As::Whole),
    sets("worker.rollout.enforce_eager", "rollout.enforce_eager", As::Flag),
    bears("worker.rollout.max_num_batched_tokens", Topic::NoSetting),
    sets("worker.rollout.max_model_len", "rollout.vllm_max_model_length", As::Whole),
    says("data.rollout_batch_size", Fact::Prompts),
    bears("data.max_pixels", Topic::Vision),
    says("algorithm.use_kl_loss", Fact::UsesReference),
    sets("algorithm.kl_coef", "beta", As::Real),
    says("trainer.n_gpus_per_node", Fact::ProcessesPerMachine),
    says("trainer.nnodes", Fact::Machines),
];

/// An optimizer as verl makes it, and its name in transformers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Optimizer {
    pub(crate) module: &'static str,
    pub(crate) class: &'static str,
    pub(crate) optim: &'static str,
}

const fn class(module: &'static str, class: &'static str, optim: &'static str) -> Optimizer {
    Optimizer { module, class, optim }
}

/// Classes that are called with a learning rate, a decay and betas alone (verl/workers/config/optimizer.py). PyTorch's AdamW is
/// the one that runs over all tensors at once; it is fused where its options say so.
pub(crate) const OPTIMIZERS: [Optimizer; 16] = [
    class("torch.optim", "AdamW", "adamw_torch"),
    class("torch.optim", "Adam", "adamw_torch"),
    class("torch.optim", "SGD", "sgd"),
    class("torch.optim", "Adagrad", "adagrad"),
    class("torch.optim", "RMSprop", "rmsprop"),
    class("bitsandbytes.optim", "AdamW8bit", "adamw_bnb_8bit"),
    class("bitsandbytes.optim", "PagedAdamW8bit", "paged_adamw_8bit"),
    class("bitsandbytes.optim", "PagedAdamW", "paged_adamw_32bit"),
    class("bitsandbytes.optim", "PagedAdamW32bit", "paged_adamw_32bit"),
    class("bitsandbytes.optim", "Lion", "lion_32bit"),
    class("bitsandbytes.optim", "Lion8bit", "lion_8bit"),
    class("bitsandbytes.optim", "PagedLion", "paged_lion_32bit"),
    class("bitsandbytes.optim", "PagedLion8bit", "paged_lion_8bit"),
    class("bitsandbytes.optim", "AdEMAMix8bit", "ademamix_8bit"),
    class("torchao.optim", "AdamW8bit", "adamw_torch_8bit"),
    class("torchao.optim", "AdamW4bit", "adamw_torch_4bit"),
];

/// Sections whose other keys bear on no memory, or on what the plan has no setting for.
pub(super) const KNOWN: &str = "algorithm.kl_ctrl.kl_coef algorithm.gamma algorithm.lam algorithm.kl_penalty \
    config_path config_name data.response_key data.prompt_dict_keys data.response_dict_keys data.custom_cls.path data.custom_cls.name data.tokenizer \
    data.return_raw_input_ids data.return_full_prompt data.seed data.balance_dp_token data.multiturn.enable data.multiturn.messages_key \
    trainer.device trainer.balance_batch trainer.log_val_generations trainer.rollout_data_dir trainer.validation_data_dir \
    trainer.max_actor_ckpt_to_keep trainer.max_ckpt_to_keep trainer.val_only trainer.resume_from_path trainer.seed \
    actor_rollout_ref.actor.ppo_epochs actor_rollout_ref.actor.shuffle \
    data.train_files data.val_files data.prompt_key data.filter_overlong_prompts data.truncation data.shuffle \
    data.val_batch_size data.return_raw_chat data.image_key data.reward_fn_key trainer.logger trainer.project_name \
    trainer.experiment_name trainer.save_freq trainer.test_freq trainer.total_epochs trainer.total_training_steps \
    trainer.critic_warmup trainer.val_before_train trainer.default_local_dir trainer.resume_mode \
    trainer.default_hdfs_dir actor_rollout_ref.actor.optim.lr actor_rollout_ref.actor.optim.weight_decay \
    actor_rollout_ref.actor.optim.lr_warmup_steps_ratio actor_rollout_ref.actor.optim.lr_warmup_steps \
    actor_rollout_ref.actor.kl_loss_type actor_rollout_ref.actor.entropy_coeff actor_rollout_ref.actor.clip_ratio \
    actor_rollout_ref.actor.clip_ratio_low actor_rollout_ref.actor.clip_ratio_high actor_rollout_ref.actor.loss_agg_mode \
    actor_rollout_ref.rollout.temperature actor_rollout_ref.rollout.top_p actor_rollout_ref.rollout.top_k \
    actor_rollout_ref.rollout.do_sample actor_rollout_ref.rollout.mode actor_rollout_ref.rollout.val_kwargs.n \
    actor_rollout_ref.rollout.load_format actor_rollout_ref.hybrid_engine actor_rollout_ref.rollout.ignore_eos \
    actor_rollout_ref.rollout.val_kwargs.temperature actor_rollout_ref.rollout.val_kwargs.top_p \
    actor_rollout_ref.rollout.enable_chunked_prefill actor_rollout_ref.rollout.layered_summon \
    actor_rollout_ref.rollout.val_kwargs.do_sample actor_rollout_ref.rollout.disable_log_stats \
    actor_rollout_ref.model.use_shm actor_rollout_ref.rollout.calculate_log_probs \
    actor_rollout_ref.rollout.val_kwargs.top_k actor_rollout_ref.actor.clip_ratio_c actor_rollout_ref.ref.strategy \
    actor_rollout_ref.actor.use_torch_compile actor_rollout_ref.ref.use_torch_compile critic.strategy \
    actor_rollout_ref.rollout.trace.backend critic.model.trust_remote_code model.trust_remote_code \
    actor_rollout_ref.actor.megatron.use_mbridge actor_rollout_ref.actor.megatron.use_dist_checkpointing \
    actor_rollout_ref.ref.megatron.use_dist_checkpointing critic.optim.lr critic.model.use_remove_padding critic.cliprange_value custom_reward_function.path \
    custom_reward_function.name reward_model.reward_manager actor_rollout_ref.model.external_lib \
    actor_rollout_ref.model.trust_remote_code data.trust_remote_code optim.lr actor_rollout_ref.nccl_timeout \
    actor_rollout_ref.actor.checkpoint.contents ray_init.num_cpus ray_kwargs.ray_init.num_cpus \
    actor_rollout_ref.actor.optim.override_optimizer_config optim.override_optimizer_config";
