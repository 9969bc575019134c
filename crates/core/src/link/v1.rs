//! Version 1 of links.
//!
//! Frozen: a key that a link of version 1 leaves out means the default written here, for ever, whatever
//! [`Plan::default`] becomes. A field that is added later gets the default that means what old links meant.

use crate::plan::{Plan, fields};

/// Its name in links.
pub(super) const VERSION: &str = "1";

/// Link key and default of every field; empty for fields that have none.
const DEFAULTS: &[(&str, &str)] = &[
    ("model", "Qwen/Qwen3-4B"),
    ("config", ""),
    ("name", ""),
    ("gpu", "a100-80gb"),
    ("memory_gib", ""),
    ("compute_capability", ""),
    ("gpu_name", ""),
    ("num_gpus", "1"),
    ("trainer", "custom"),
    ("trainer_version", ""),
    ("task", "sft"),
    ("num_labels", "1"),
    ("pooling", "mean"),
    ("embedding_loss", "info_nce"),
    ("num_negatives", "0"),
    ("mini_batch_size", "32"),
    ("method", "lora"),
    ("r", "16"),
    ("lora_alpha", "32"),
    ("lora_dropout", "0"),
    ("target_modules", "all-linear"),
    ("target_parameters", ""),
    ("modules_to_save", ""),
    ("adapter_dtype", "auto"),
    ("lora_kernels", "auto"),
    ("bits", "4"),
    ("quant_type", "nf4"),
    ("double_quant", "true"),
    ("prepare_for_kbit_training", "true"),
    ("fused_4bit_gemm", "true"),
    ("bnb_4bit_quant_storage", "uint8"),
    ("quantize_moe_experts", "false"),
    ("torch_dtype", "bfloat16"),
    ("mixed_precision", "no"),
    ("optim", "adamw_torch"),
    ("per_device_train_batch_size", "1"),
    ("gradient_accumulation_steps", "1"),
    ("max_length", "1024"),
    ("max_target_length", ""),
    ("gradient_checkpointing", "false"),
    ("activation_offloading", "false"),
    ("loss_implementation", "auto"),
    ("label_tokens", ""),
    ("packing", "false"),
    ("packing_strategy", "bfd"),
    ("attn_implementation", "sdpa"),
    ("attention_kernel", "auto"),
    ("expand_kv_heads", "auto"),
    ("use_liger_kernel", "false"),
    ("torch_compile", "false"),
    ("max_grad_norm", "1"),
    ("padded_batch", "false"),
    ("logits_to_fp32", "false"),
    ("keep_outputs", "false"),
    ("expandable_segments", "false"),
    ("enable_input_require_grads", "auto"),
    ("zero_stage", "0"),
    ("offload_optimizer", "none"),
    ("offload_param", "none"),
    ("framework", "deepspeed"),
    ("bf16", "auto"),
    ("reduce_bucket_size", "default"),
    ("allgather_bucket_size", "default"),
    ("stage3_prefetch_bucket_size", "default"),
    ("stage3_param_persistence_threshold", "default"),
    ("stage3_max_live_parameters", "default"),
    ("stage3_max_reuse_distance", "default"),
    ("sub_group_size", "default"),
    ("overlap_comm", "auto"),
    ("contiguous_gradients", "true"),
    ("round_robin_gradients", "false"),
    ("grad_accum_dtype", ""),
    ("pin_memory", "true"),
    ("reshard_after_forward", "true"),
    ("param_dtype", ""),
    ("reduce_dtype", ""),
    ("cpu_offload", "false"),
    ("wrap", "layer+root"),
    ("bucket_cap_mb", "25"),
    ("gradient_as_bucket_view", "false"),
    ("static_graph", "false"),
    ("find_unused_parameters", "false"),
    ("sharding_strategy", ""),
    ("dp_replicate_size", ""),
    ("backward_prefetch", ""),
    ("cpu_ram_efficient_loading", "true"),
    ("reference", "auto"),
    ("reference_logits_fp32", "false"),
    ("new_tokens", "256"),
    ("engine", ""),
    ("prompts", ""),
    ("num_generations", ""),
    ("max_prompt_length", ""),
    ("max_completion_length", ""),
    ("sequences_at_once", ""),
    ("keep_scores", ""),
    ("top_k", ""),
    ("top_p", ""),
    ("min_length_processor", ""),
    ("vllm_mode", ""),
    ("vllm_gpu_memory_utilization", ""),
    ("vllm_tensor_parallel_size", ""),
    ("vllm_enable_sleep_mode", "false"),
    ("vllm_max_model_length", ""),
    ("kv_cache_dtype", ""),
    ("enforce_eager", "false"),
    ("value_model", ""),
    ("reward_models", ""),
    ("beta", ""),
    ("entropy", ""),
    ("vf_coef", ""),
    ("logprob_batch_size", ""),
    ("old_logprobs_pass", ""),
    ("steps_per_generation", ""),
    ("use_liger_loss", "false"),
    ("padding_free", "false"),
    ("loss_type", ""),
    ("num_iterations", ""),
    ("cpo_alpha", ""),
    ("torch", ""),
    ("transformers", ""),
    ("peft", ""),
    ("bitsandbytes", ""),
    ("flash_linear_attention", ""),
    ("causal_conv1d", ""),
    ("mamba_ssm", ""),
    ("host_memory_gib", ""),
    ("non_pytorch_memory_mib", ""),
    ("images", ""),
    ("image_height", ""),
    ("image_width", ""),
    ("image_max_pixels", ""),
    ("image_tiles", ""),
    ("image_patches", ""),
    ("image_positions", ""),
    ("freeze", ""),
    ("launched_by", ""),
    ("num_nodes", ""),
    ("eval_strategy", "no"),
    ("per_device_eval_batch_size", ""),
    ("eval_length", ""),
    ("compute_metrics", "false"),
];

/// The default of the field with this link key.
pub(super) fn default(link: &str) -> Option<&'static str> {
    DEFAULTS.iter().find(|(key, _)| *key == link).map(|(_, text)| *text)
}

/// The plan of a link that says nothing.
pub(super) fn defaults() -> Plan {
    let mut plan = Plan::default();
    for field in fields() {
        // The parts of a described GPU have a default only once there is one.
        if let Some(text) = default(field.link)
            && !field.name.starts_with("gpu.")
            && !field.name.starts_with("model.")
        {
            // Every default here is a value of its field: a test asserts it.
            let _ = field.set_text(&mut plan, text);
        }
    }
    plan
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_one_readable_default() {
        let keys: Vec<&str> = DEFAULTS.iter().map(|(key, _)| *key).collect();
        let links: Vec<&str> = fields().iter().map(|field| field.link).collect();
        assert_eq!(keys, links);
        for (place, link) in links.iter().enumerate() {
            assert!(!links[..place].contains(link), "{link} names two fields");
        }
        let mut plan = Plan::default();
        for field in
            fields().iter().filter(|field| !field.name.starts_with("gpu.") && !field.name.starts_with("model."))
        {
            let text = default(field.link).unwrap();
            field.set_text(&mut plan, text).unwrap();
            assert_eq!(field.text(&plan), text, "{}", field.name);
        }
    }

    /// When [`Plan::default`] changes, this test is what changes with it, never [`DEFAULTS`].
    #[test]
    fn a_new_plan_still_starts_at_the_defaults_of_version_1() {
        assert_eq!(defaults(), Plan::default());
    }
}
