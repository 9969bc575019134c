//! What loads a model: `from_pretrained`, `BitsAndBytesConfig`, and Unsloth's own forms of them.

use super::{As, Fact, Row, Topic, bears, nothing, says, sets};

/// transformers utils/quantization_config.py `BitsAndBytesConfig`.
pub(super) const BITSANDBYTES_ROWS: &[Row] = &[
    says("load_in_4bit", Fact::In4Bit),
    says("load_in_8bit", Fact::In8Bit),
    sets("bnb_4bit_quant_type", "quantization.quant_type", As::Lower),
    sets("bnb_4bit_use_double_quant", "quantization.double_quant", As::Flag),
    sets("bnb_4bit_quant_storage", "quantization.bnb_4bit_quant_storage", As::Dtype),
    nothing("bnb_4bit_compute_dtype"),
    nothing("llm_int8_threshold"),
    nothing("llm_int8_has_fp16_weight"),
    bears("llm_int8_skip_modules", Topic::OtherQuantization),
    bears("llm_int8_enable_fp32_cpu_offload", Topic::Offload),
];

/// transformers modeling_utils.py `from_pretrained`.
pub(super) const FROM_PRETRAINED_ROWS: &[Row] = &[
    says("pretrained_model_name_or_path", Fact::Model),
    says("torch_dtype", Fact::Dtype),
    says("dtype", Fact::Dtype),
    says("attn_implementation", Fact::Attention),
    // The attribute that it sets, as the cards of vision models write it.
    says("_attn_implementation", Fact::Attention),
    says("use_flash_attention_2", Fact::FlashSwitch),
    says("device_map", Fact::DeviceMap),
    sets("num_labels", "num_labels", As::Whole),
    bears("max_memory", Topic::Placement),
    bears("offload_folder", Topic::Placement),
    bears("tp_plan", Topic::Parallelism),
    bears("rope_scaling", Topic::Positions),
    nothing("quantization_config"),
];

pub(super) const KNOWN: &str = "trust_remote_code revision cache_dir token use_auth_token low_cpu_mem_usage use_cache \
    local_files_only subfolder variant use_safetensors force_download config pad_token_id use_fast state_dict \
    ignore_mismatched_sizes output_loading_info problem_type id2label label2id return_dict model load_in_16bit \
    use_exact_model_name resize_model_vocab random_state loftq_config use_gradient_checkpointing_kwargs layers_pattern \
    temporary_location max_lora_rank fix_tokenizer gpu_id";

/// unsloth models/loader.py `FastLanguageModel.from_pretrained`.
pub(super) const UNSLOTH_ROWS: &[Row] = &[
    says("model_name", Fact::Model),
    says("max_seq_length", Fact::Length),
    says("load_in_4bit", Fact::In4Bit),
    says("load_in_8bit", Fact::In8Bit),
    bears("load_in_fp8", Topic::Fp8),
    says("full_finetuning", Fact::FullTuning),
    says("fast_inference", Fact::UsesVllm),
    sets("gpu_memory_utilization", "rollout.vllm_gpu_memory_utilization", As::Real),
    says("use_gradient_checkpointing", Fact::Checkpointing),
    bears("rope_scaling", Topic::Positions),
    bears("float8_kv_cache", Topic::Fp8),
    bears("offload_layers", Topic::Offload),
    // "auto" since 2026.10, which moves it where memory is tight.
    bears("offload_embedding", Topic::Offload),
    nothing("device_map_planner_kwargs"),
];

/// Options of unsloth-cli.py that say where models go and in which format they are saved.
pub(super) const UNSLOTH_CLI_KNOWN: &str = "save_model save_path save_method save_gguf quantization quantization_method push_model \
    hub_path hub_token raw_text_file chunk_size stride";

/// unsloth models/llama.py `get_peft_model`.
pub(super) const UNSLOTH_PEFT_ROWS: &[Row] = &[
    says("use_gradient_checkpointing", Fact::Checkpointing),
    nothing("max_seq_length"),
    // Since 2026.10.
    bears("finetune_last_n_layers", Topic::PartlyTrained),
    bears("offload_layers", Topic::Offload),
    bears("checkpoint_skip_layers", Topic::Activations),
    bears("qat_scheme", Topic::OtherQuantization),
    bears("finetune_audio_layers", Topic::AdapterKind),
    says("finetune_vision_layers", Fact::TunesVision),
    says("finetune_language_layers", Fact::TunesLanguage),
    nothing("finetune_attention_modules"),
    nothing("finetune_mlp_modules"),
    nothing("random_state"),
];
