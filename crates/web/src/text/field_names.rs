//! What the form calls a field.

use super::{FieldText, Texts};

/// The form's texts for the field called `name` in JSON; `None` for those that only files and links have.
pub(crate) fn field_text(texts: &'static Texts, name: &str) -> Option<&'static FieldText> {
    let (fields, tasks) = (&texts.fields, &texts.tasks.fields);
    Some(match name {
        "model" => &fields.model,
        "task" => &fields.task,
        "num_labels" => &fields.num_labels,
        "gpu" => &fields.gpu,
        "gpu.memory_gib" => &fields.memory_gib,
        "gpu.compute_capability" => &fields.compute_capability,
        "num_gpus" => &fields.num_gpus,
        "method" => &fields.method,
        "lora.r" => &fields.lora_r,
        "lora.lora_alpha" => &fields.lora_alpha,
        "lora.lora_dropout" => &fields.lora_dropout,
        "lora.target_modules" => &fields.lora_targets,
        "lora.modules_to_save" => &fields.modules_to_save,
        "lora.adapter_dtype" => &fields.adapter_dtype,
        "quantization.bits" => &fields.bits,
        "quantization.quant_type" => &fields.quant_type,
        "quantization.double_quant" => &fields.double_quant,
        "quantization.prepare_for_kbit_training" => &fields.prepare_for_kbit_training,
        "quantization.fused_4bit_gemm" => &fields.fused_4bit_gemm,
        "torch_dtype" | "mixed_precision" => &fields.precision,
        "optim" => &fields.optim,
        "per_device_train_batch_size" => &fields.batch,
        "gradient_accumulation_steps" => &fields.accumulation,
        "max_length" => &fields.max_length,
        "gradient_checkpointing" => &fields.gradient_checkpointing,
        "attn_implementation" => &fields.attn_implementation,
        "attention_kernel" => &fields.attention_kernel,
        "expand_kv_heads" => &fields.expand_kv_heads,
        "use_liger_kernel" => &fields.use_liger_kernel,
        "max_grad_norm" => &fields.max_grad_norm,
        "padded_batch" => &fields.padded_batch,
        "logits_to_fp32" => &fields.logits_to_fp32,
        "keep_outputs" => &fields.keep_outputs,
        "expandable_segments" => &fields.expandable_segments,
        "enable_input_require_grads" => &fields.enable_input_require_grads,
        "zero_stage" => &fields.zero_stage,
        "offload_optimizer" => &fields.offload_optimizer,
        "offload_param" => &fields.offload_param,
        "distributed.framework" => &fields.framework,
        "distributed.reduce_bucket_size" => &fields.reduce_bucket_size,
        "distributed.allgather_bucket_size" => &fields.allgather_bucket_size,
        "distributed.stage3_prefetch_bucket_size" => &fields.prefetch_bucket_size,
        "distributed.stage3_param_persistence_threshold" => &fields.persistence_threshold,
        "distributed.stage3_max_live_parameters" => &fields.max_live_parameters,
        "distributed.sub_group_size" => &fields.sub_group_size,
        "distributed.overlap_comm" => &fields.overlap_comm,
        "distributed.contiguous_gradients" => &fields.contiguous_gradients,
        "distributed.round_robin_gradients" => &fields.round_robin_gradients,
        "distributed.pin_memory" => &fields.pin_memory,
        "distributed.reshard_after_forward" => &fields.reshard_after_forward,
        "distributed.param_dtype" => &fields.param_dtype,
        "distributed.reduce_dtype" => &fields.reduce_dtype,
        "distributed.cpu_offload" => &fields.cpu_offload,
        "distributed.wrap" => &fields.wrap_embedding,
        "distributed.bucket_cap_mb" => &fields.bucket_cap_mb,
        "distributed.gradient_as_bucket_view" => &fields.gradient_as_bucket_view,
        "distributed.static_graph" => &fields.static_graph,
        "rollout.new_tokens" => &fields.new_tokens,
        "rollout.engine" => &tasks.engine,
        "rollout.prompts" => &tasks.prompts,
        "rollout.num_generations" => &tasks.num_generations,
        "rollout.max_prompt_length" => &tasks.max_prompt_length,
        "rollout.max_completion_length" => &tasks.max_completion_length,
        "rollout.sequences_at_once" => &tasks.sequences_at_once,
        "rollout.vllm_mode" => &tasks.vllm_mode,
        "rollout.vllm_gpu_memory_utilization" => &tasks.memory_share,
        "rollout.vllm_tensor_parallel_size" => &tasks.tensor_parallel_size,
        "rollout.vllm_enable_sleep_mode" => &tasks.sleep_mode,
        "rollout.kv_cache_dtype" => &tasks.kv_cache_dtype,
        "rollout.enforce_eager" => &tasks.enforce_eager,
        "reference.kind" => &tasks.reference,
        "beta" => &tasks.beta,
        "steps_per_generation" => &tasks.steps_per_generation,
        "use_liger_loss" => &tasks.use_liger_loss,
        "padding_free" => &tasks.padding_free,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use headroom_core::plan;

    use super::super::Language;
    use super::field_text;

    #[test]
    fn fields_have_the_same_names_in_links_and_here() {
        let named = plan::fields().iter().filter(|field| field_text(Language::English.texts(), field.name).is_some());
        // As many as the match has names: one that is misspelt belongs to no field.
        assert_eq!(named.count(), 76);
    }
}
