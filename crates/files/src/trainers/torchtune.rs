//! torchtune's recipes (recipes/configs/*.yaml).

use super::{As, Fact, Row, Topic, bears, says, sets};

pub(super) const ROWS: &[Row] = &[
    says("model._component_", Fact::Component),
    sets("model.lora_rank", "lora.r", As::Whole),
    sets("model.lora_alpha", "lora.lora_alpha", As::Real),
    sets("model.lora_dropout", "lora.lora_dropout", As::Real),
    says("model.lora_attn_modules", Fact::Targets),
    says("model.apply_lora_to_mlp", Fact::TargetsMlp),
    bears("model.apply_lora_to_output", Topic::AdapterKind),
    bears("model.use_dora", Topic::Dora),
    sets("batch_size", "per_device_train_batch_size", As::Whole),
    sets("gradient_accumulation_steps", "gradient_accumulation_steps", As::Whole),
    says("tokenizer.max_seq_len", Fact::Length),
    says("dtype", Fact::Dtype),
    says("enable_activation_checkpointing", Fact::Checkpointing),
    sets("enable_activation_offloading", "activation_offloading", As::Flag),
    bears("optimizer_in_bwd", Topic::OptimizerKind),
    says("optimizer._component_", Fact::OptimizerClass),
    says("optimizer.fused", Fact::OptimizerFused),
    bears("loss._component_", Topic::Loss),
    says("fsdp_cpu_offload", Fact::FsdpOffload),
    bears("tensor_parallel_dim", Topic::Parallelism),
    sets("compile", "torch_compile", As::Flag),
    sets("clip_grad_norm", "max_grad_norm", As::Real),
    sets("dataset.packed", "packing", As::Flag),
    sets("loss.beta", "beta", As::Real),
    bears("custom_sharded_layers", Topic::NoSetting),
    bears("fsdp_reshard_after_forward", Topic::NoSetting),
    bears("context_parallel_dim", Topic::Parallelism),
    bears("data_parallel_replicate_dim", Topic::Parallelism),
    bears("enable_fp8_training", Topic::Fp8),
    bears("enable_async_checkpointing", Topic::NoSetting),
];

pub(super) const KNOWN: &str = "tokenizer._component_ dataset._component_ checkpointer._component_ lr_scheduler._component_ \
    profiler._component_ metric_logger._component_ tokenizer.path tokenizer.prompt_template optimizer.lr optimizer.weight_decay \
    optimizer.betas optimizer.eps loss.num_output_chunks loss.label_smoothing \
    ref_checkpointer ref_checkpointer._component_ output_dir checkpointer resume_from_checkpoint save_adapter_weights_only \
    save_last_epoch_only shuffle epochs max_steps_per_epoch lr_scheduler metric_logger profiler log_every_n_steps log_level \
    log_peak_memory_stats device seed cudnn_deterministic_mode dataset.split dataset.source dataset.column_map dataset.train_on_input \
    dataset.data_files dataset.conversation_column dataset.conversation_style dataset.filter_fn dataset.new_system_prompt run_val_every_n_steps \
    dataset_val collate_fn";
