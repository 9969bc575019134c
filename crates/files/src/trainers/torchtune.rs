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
];

pub(super) const KNOWN: &str = "tokenizer._component_ dataset._component_ checkpointer._component_ lr_scheduler._component_ \
    profiler._component_ metric_logger._component_ tokenizer.path optimizer.lr optimizer.weight_decay";
