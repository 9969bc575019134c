//! peft's `LoraConfig` (tuners/lora/config.py).

use super::{As, Fact, Row, Topic, bears, nothing, says, sets};

pub(super) const ROWS: &[Row] = &[
    sets("r", "lora.r", As::Whole),
    sets("lora_alpha", "lora.lora_alpha", As::Real),
    sets("lora_dropout", "lora.lora_dropout", As::Real),
    says("target_modules", Fact::Targets),
    sets("target_parameters", "lora.target_parameters", As::Names),
    sets("modules_to_save", "lora.modules_to_save", As::Names),
    bears("use_dora", Topic::Dora),
    bears("exclude_modules", Topic::AdapterKind),
    bears("layers_to_transform", Topic::AdapterKind),
    bears("rank_pattern", Topic::AdapterKind),
    bears("trainable_token_indices", Topic::AdapterKind),
    bears("layer_replication", Topic::AdapterKind),
    bears("lora_bias", Topic::AdapterKind),
    bears("use_qalora", Topic::AdapterKind),
    bears("velora_config", Topic::AdapterKind),
    says("base_model_name_or_path", Fact::BaseModel),
    nothing("bias"),
    nothing("task_type"),
    nothing("use_rslora"),
    nothing("inference_mode"),
    nothing("init_lora_weights"),
    nothing("fan_in_fan_out"),
    nothing("peft_type"),
    nothing("alpha_pattern"),
    nothing("loftq_config"),
    nothing("eva_config"),
    nothing("megatron_config"),
    nothing("megatron_core"),
    nothing("auto_mapping"),
    nothing("runtime_config"),
];

/// The same under names that scripts give them.
pub(super) const PREFIXED_ROWS: &[Row] = &[
    sets("lora_rank", "lora.r", As::Whole),
    sets("r", "lora.r", As::Whole),
    says("lora_target", Fact::Targets),
    says("target_modules", Fact::Targets),
    says("lora_modules", Fact::Targets),
    // Chinese-LLaMA-Alpaca's scripts (scripts/training/run_clm_sft_with_peft.py).
    says("trainable", Fact::Targets),
    sets("modules_to_save", "lora.modules_to_save", As::Names),
    sets("lora_dim", "lora.r", As::Whole),
    nothing("lora_bias"),
    nothing("lora_weight_path"),
];
