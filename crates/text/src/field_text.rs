//! What the form calls a field, by its name in JSON.

use crate::labels::FieldText;
use crate::texts::Texts;

/// The form's texts for the field called `name` in JSON; `None` for those that only files and links have.
pub fn field_text(texts: &'static Texts, name: &str) -> Option<&'static FieldText> {
    let fields = &texts.fields;
    Some(match name {
        "model" => &fields.model,
        "task" => &fields.task,
        "trainer.name" => &fields.trainer,
        "trainer.version" => &fields.trainer_version,
        "gpu" => &fields.gpu,
        "num_gpus" => &fields.num_gpus,
        "method" => &fields.method,
        "per_device_train_batch_size" => &fields.batch,
        "max_length" => &fields.max_length,
        _ => return further_field_text(texts, name),
    })
}

// A first view asks for none of these.
#[inline(never)]
fn further_field_text(texts: &'static Texts, name: &str) -> Option<&'static FieldText> {
    let (further, tasks) = (texts.further_fields(), &texts.tasks().fields);
    Some(match name {
        "num_labels" => &further.num_labels,
        "pooling" => &further.pooling,
        "embedding.loss" => &further.embedding_loss,
        "embedding.num_negatives" => &further.num_negatives,
        "embedding.mini_batch_size" => &further.mini_batch_size,
        "images.per_sample" => &further.images_per_sample,
        "images.height" => &further.images_height,
        "images.width" => &further.images_width,
        "images.max_pixels" => &further.images_max_pixels,
        "images.tiles" => &further.images_tiles,
        "images.patches" => &further.images_patches,
        "images.positions" => &further.images_positions,
        "freeze" => &further.freeze,
        "gpu.memory_gib" => &further.memory_gib,
        "gpu.compute_capability" => &further.compute_capability,
        "lora.r" => &further.lora_r,
        "lora.lora_alpha" => &further.lora_alpha,
        "lora.lora_dropout" => &further.lora_dropout,
        "lora.target_modules" => &further.lora_targets,
        "lora.target_parameters" => &further.target_parameters,
        "lora.modules_to_save" => &further.modules_to_save,
        "lora.adapter_dtype" => &further.adapter_dtype,
        "lora.kernels" => &further.lora_kernels,
        "quantization.bits" => &further.bits,
        "quantization.quant_type" => &further.quant_type,
        "quantization.double_quant" => &further.double_quant,
        "quantization.prepare_for_kbit_training" => &further.prepare_for_kbit_training,
        "quantization.fused_4bit_gemm" => &further.fused_4bit_gemm,
        "quantization.bnb_4bit_quant_storage" => &further.bnb_4bit_quant_storage,
        "quantization.quantize_moe_experts" => &further.quantize_moe_experts,
        "torch_dtype" | "mixed_precision" => &further.precision,
        "optim" => &further.optim,
        "gradient_accumulation_steps" => &further.accumulation,
        "gradient_checkpointing" => &further.gradient_checkpointing,
        "activation_offloading" => &further.activation_offloading,
        "loss_implementation" => &further.loss_implementation,
        "loss_type" => &further.loss_type,
        "max_target_length" => &further.max_target_length,
        "label_tokens" => &further.label_tokens,
        "packing" => &further.packing,
        "packing_strategy" => &further.packing_strategy,
        "attn_implementation" => &further.attn_implementation,
        "attention_kernel" => &further.attention_kernel,
        "expand_kv_heads" => &further.expand_kv_heads,
        "use_liger_kernel" => &further.use_liger_kernel,
        "torch_compile" => &further.torch_compile,
        "max_grad_norm" => &further.max_grad_norm,
        "padded_batch" => &further.padded_batch,
        "logits_to_fp32" => &further.logits_to_fp32,
        "keep_outputs" => &further.keep_outputs,
        "expandable_segments" => &further.expandable_segments,
        "enable_input_require_grads" => &further.enable_input_require_grads,
        "zero_stage" => &further.zero_stage,
        "offload_optimizer" => &further.offload_optimizer,
        "offload_param" => &further.offload_param,
        "distributed.framework" => &further.framework,
        "distributed.reduce_bucket_size" => &further.reduce_bucket_size,
        "distributed.allgather_bucket_size" => &further.allgather_bucket_size,
        "distributed.stage3_prefetch_bucket_size" => &further.prefetch_bucket_size,
        "distributed.stage3_param_persistence_threshold" => &further.persistence_threshold,
        "distributed.stage3_max_live_parameters" => &further.max_live_parameters,
        "distributed.sub_group_size" => &further.sub_group_size,
        "distributed.overlap_comm" => &further.overlap_comm,
        "distributed.contiguous_gradients" => &further.contiguous_gradients,
        "distributed.round_robin_gradients" => &further.round_robin_gradients,
        "distributed.grad_accum_dtype" => &further.grad_accum_dtype,
        "distributed.pin_memory" => &further.pin_memory,
        "distributed.reshard_after_forward" => &further.reshard_after_forward,
        "distributed.param_dtype" => &further.param_dtype,
        "distributed.reduce_dtype" => &further.reduce_dtype,
        "distributed.cpu_offload" => &further.cpu_offload,
        "distributed.wrap" => &further.wrap_embedding,
        "distributed.bucket_cap_mb" => &further.bucket_cap_mb,
        "distributed.gradient_as_bucket_view" => &further.gradient_as_bucket_view,
        "distributed.static_graph" => &further.static_graph,
        "distributed.find_unused_parameters" => &further.find_unused_parameters,
        "distributed.sharding_strategy" => &further.sharding_strategy,
        "distributed.dp_replicate_size" => &further.dp_replicate_size,
        "distributed.backward_prefetch" => &further.backward_prefetch,
        "distributed.cpu_ram_efficient_loading" => &further.cpu_ram_efficient_loading,
        "host_memory_gib" => &further.host_memory_gib,
        "launched_by" => &further.launched_by,
        "num_nodes" => &further.num_nodes,
        "eval_strategy" => &further.eval_strategy,
        "per_device_eval_batch_size" => &further.per_device_eval_batch_size,
        "eval_length" => &further.eval_length,
        "compute_metrics" => &further.compute_metrics,
        "non_pytorch_memory_mib" => &further.non_pytorch_memory_mib,
        "rollout.new_tokens" => &further.new_tokens,
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
        "rollout.vllm_max_model_length" => &tasks.max_model_length,
        "rollout.kv_cache_dtype" => &tasks.kv_cache_dtype,
        "rollout.enforce_eager" => &tasks.enforce_eager,
        "reference.kind" => &tasks.reference,
        "beta" => &tasks.beta,
        "cpo_alpha" => &tasks.cpo_alpha,
        "steps_per_generation" => &tasks.steps_per_generation,
        "num_iterations" => &tasks.num_iterations,
        "use_liger_loss" => &tasks.use_liger_loss,
        "padding_free" => &tasks.padding_free,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use headroom_core::plan;

    use super::field_text;
    use crate::Language;

    #[test]
    fn fields_have_the_same_names_in_links_and_here() {
        let named = plan::fields().iter().filter(|field| field_text(Language::English.texts(), field.name).is_some());
        // As many as the match has names: one that is misspelt belongs to no field.
        assert_eq!(named.count(), 119);
    }
}
