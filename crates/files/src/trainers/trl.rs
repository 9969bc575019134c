//! TRL's configurations (trl trainer/*_config.py), `ModelConfig`, and what its trainers once took themselves.

use super::{As, Fact, Row, Topic, bears, nothing, renamed, says, sets};

pub(super) const ROWS: &[Row] = &[
    // trainer/model_config.py.
    says("model_name_or_path", Fact::Model),
    says("model", Fact::Model),
    says("dtype", Fact::Dtype),
    says("torch_dtype", Fact::Dtype),
    says("attn_implementation", Fact::Attention),
    // alignment-handbook's configurations, by the name of TRL before 0.9.
    says("use_flash_attention_2", Fact::FlashSwitch),
    says("use_peft", Fact::UsesAdapters),
    sets("lora_r", "lora.r", As::Whole),
    sets("lora_alpha", "lora.lora_alpha", As::Real),
    sets("lora_dropout", "lora.lora_dropout", As::Real),
    says("lora_target_modules", Fact::Targets),
    sets("lora_target_parameters", "lora.target_parameters", As::Names),
    sets("lora_modules_to_save", "lora.modules_to_save", As::Names),
    bears("use_dora", Topic::Dora),
    says("load_in_8bit", Fact::In8Bit),
    says("load_in_4bit", Fact::In4Bit),
    sets("bnb_4bit_quant_type", "quantization.quant_type", As::Lower),
    sets("use_bnb_nested_quant", "quantization.double_quant", As::Flag),
    sets("bnb_4bit_quant_storage", "quantization.bnb_4bit_quant_storage", As::Dtype),
    nothing("use_rslora"),
    // What Unsloth adds to the classes of TRL that it patches (unsloth models/rl.py).
    nothing("vllm_sampling_params"),
    nothing("embedding_learning_rate"),
    bears("unsloth_num_chunks", Topic::Loss),
    bears("unsloth_logit_chunk_multiplier", Topic::Loss),
    bears("unsloth_grpo_mini_batch", Topic::Loss),
    nothing("lora_task_type"),
    // sft_config.py, dpo_config.py and their siblings.
    says("max_length", Fact::Length),
    says("max_seq_length", Fact::Length),
    says("packing", Fact::Packing),
    sets("packing_strategy", "packing_strategy", As::PackingStrategy),
    sets("padding_free", "padding_free", As::Flag),
    sets("activation_offloading", "activation_offloading", As::Flag),
    says("loss_type", Fact::Loss),
    says("precompute_ref_log_probs", Fact::Precomputed),
    sets("use_liger_loss", "use_liger_loss", As::Flag),
    renamed("use_liger", "use_liger_kernel", "trl 0.18"),
    says("model_init_kwargs.torch_dtype", Fact::Dtype),
    says("model_init_kwargs.dtype", Fact::Dtype),
    says("model_init_kwargs.attn_implementation", Fact::Attention),
    says("model_init_kwargs.device_map", Fact::DeviceMap),
    nothing("model_init_kwargs.use_cache"),
    nothing("model_init_kwargs.trust_remote_code"),
    nothing("model_init_kwargs.revision"),
    nothing("model_init_kwargs.low_cpu_mem_usage"),
    bears("precompute_ref_batch_size", Topic::NoSetting),
    bears("eval_packing", Topic::Evaluation),
    bears("ref_model_init_kwargs", Topic::SecondModel),
    bears("sync_ref_model", Topic::SecondModel),
    bears("cast_lm_head_to_fp32", Topic::NoSetting),
    bears("rpo_alpha", Topic::Loss),
    bears("f_divergence_type", Topic::Loss),
    nothing("dataset_name"),
    nothing("dataset_text_field"),
    nothing("dataset_kwargs"),
    nothing("loss_weights"),
    nothing("chat_template_kwargs"),
    nothing("generation_kwargs"),
    sets("vllm_mode", "rollout.vllm_mode", As::Lower),
    // Until 0.17 vLLM had a GPU of its own, which this names.
    nothing("vllm_device"),
    // rewards and rollouts.
    sets("num_generations", "rollout.num_generations", As::Whole),
    sets("max_completion_length", "rollout.max_completion_length", As::Whole),
    sets("max_prompt_length", "rollout.max_prompt_length", As::Whole),
    sets("steps_per_generation", "steps_per_generation", As::Whole),
    sets("num_iterations", "num_iterations", As::Whole),
    sets("beta", "beta", As::Real),
    sets("cpo_alpha", "cpo_alpha", As::Real),
    sets("top_k", "rollout.top_k", As::Whole),
    sets("top_p", "rollout.top_p", As::Real),
    says("use_vllm", Fact::UsesVllm),
    sets("vllm_gpu_memory_utilization", "rollout.vllm_gpu_memory_utilization", As::Real),
    sets("vllm_tensor_parallel_size", "rollout.vllm_tensor_parallel_size", As::Whole),
    sets("vllm_enable_sleep_mode", "rollout.vllm_enable_sleep_mode", As::Flag),
    bears("generation_batch_size", Topic::NoSetting),
    sets("vllm_max_model_length", "rollout.vllm_max_model_length", As::Whole),
    bears("num_generations_eval", Topic::Evaluation),
    says("reward_model_path", Fact::RewardModel),
    says("reward_model_name_or_path", Fact::RewardModel),
    bears("sft_model_path", Topic::SecondModel),
    bears("teacher_model_name_or_path", Topic::SecondModel),
    bears("teacher_model_init_kwargs", Topic::SecondModel),
    bears("distillation_topk", Topic::Loss),
    bears("loss_top_k", Topic::Loss),
    sets("vf_coef", "vf_coef", As::Real),
    sets("response_length", "rollout.max_completion_length", As::Whole),
    sets("local_rollout_forward_batch_size", "logprob_batch_size", As::Whole),
    bears("num_mini_batches", Topic::NoSetting),
];

/// Options of TRL's own scripts before 0.8 (examples/scripts/sft.py of 0.7).
pub(super) const EARLIER_SCRIPT_ROWS: &[Row] = &[
    renamed("model_name", "model_name_or_path", "trl 0.8"),
    renamed("batch_size", "per_device_train_batch_size", "trl 0.8"),
    renamed("mini_batch_size", "per_device_train_batch_size", "trl 0.8"),
    renamed("seq_length", "max_seq_length", "trl 0.8"),
    renamed("peft_lora_r", "lora_r", "trl 0.8"),
    renamed("peft_lora_alpha", "lora_alpha", "trl 0.8"),
    renamed("target_modules", "lora_target_modules", "trl 0.8"),
    renamed("output", "output_dir", "trl 0.8"),
    nothing("use_auth_token"),
    nothing("log_with"),
];

/// `PPOConfig` up to 0.11, a dataclass of its own (trainer/ppo_config.py).
pub(super) const FORMER_PPO_ROWS: &[Row] = &[
    sets("mini_batch_size", "per_device_train_batch_size", As::Whole),
    bears("batch_size", Topic::NoSetting),
    bears("forward_batch_size", Topic::NoSetting),
];

/// Keys of the same that need no memory.
pub(super) const FORMER_PPO_KNOWN: &str = "exp_name log_with task_name model_name query_dataset reward_model tracker_kwargs \
    accelerator_kwargs project_kwargs tracker_project_name push_to_hub_if_best_kwargs steps adap_kl_ctrl init_kl_coef kl_penalty target \
    horizon gamma lam cliprange cliprange_value ppo_epochs max_grad_norm optimize_cuda_cache optimize_device_cache early_stopping \
    target_kl compare_steps ratio_threshold use_score_scaling use_score_norm score_clip whiten_rewards backward_batch_size";

/// The same of trainers that hand TRL's reinforcement arguments on.
pub(super) const REINFORCEMENT_ROWS: &[Row] = ROWS;

/// `SFTTrainer(max_seq_length=..., packing=...)` and its siblings, up to TRL 0.12.
pub(super) const TRAINER_ROWS: &[Row] = &[
    says("compute_metrics", Fact::ComputesMetrics),
    says("preprocess_logits_for_metrics", Fact::ReducesLogits),
    nothing("model"),
    nothing("ref_model"),
    says("max_seq_length", Fact::Length),
    says("max_length", Fact::Length),
    says("packing", Fact::Packing),
    sets("beta", "beta", As::Real),
    says("precompute_ref_log_probs", Fact::Precomputed),
    bears("neftune_noise_alpha", Topic::Noise),
];

pub(super) const TRAINER_KNOWN: &str = "args train_dataset eval_dataset tokenizer processing_class data_collator peft_config \
    callbacks compute_metrics dataset_text_field formatting_func dataset_num_proc dataset_batch_size model_init_kwargs \
    num_of_sequences chars_per_token preprocess_logits_for_metrics optimizers reward_funcs reward_processing_classes \
    infinite max_target_length label_pad_token_id padding_value truncation_mode disable_dropout is_encoder_decoder \
    loss_type label_smoothing generate_during_eval optimizer_cls_and_kwargs dataset_kwargs reward_model value_model config \
    quantization_config model_init tools environment_factory rollout_func model_name optimizer lr_scheduler num_shared_layers dataset";
