//! What a plan is where the user chose nothing.
//!
//! Links have their own, frozen defaults; changing one here lengthens links and breaks none.

use super::{
    AdapterDtype, AttentionKernel, AttnImplementation, Auto, BucketSize, Distributed, Dtype, Embedding, Evaluation,
    Framework, GpuChoice, Lora, LossImplementation, Method, MixedPrecision, ModelChoice, Offload, Optimizer,
    PackingStrategy, Plan, PolicyUpdate, Pooling, QuantStorage, QuantType, Quantization, Reference, ReferenceKind,
    Rollout, SampleImages, Software, TargetModules, Task, Trainer, TrainerName,
};
use crate::model::Programs;

impl Default for Plan {
    /// The first plan a newcomer sees: LoRA on a small current model, on one 80 GB GPU.
    fn default() -> Self {
        Self {
            model: ModelChoice::Catalogue("Qwen/Qwen3-4B".to_owned()),
            trainer: Trainer { name: TrainerName::Custom, version: None },
            launched_by: None,
            task: Task::Sft,
            method: Method::Lora,
            lora: Lora::default(),
            quantization: Quantization::default(),
            torch_dtype: Dtype::Bfloat16,
            mixed_precision: MixedPrecision::No,
            optim: Optimizer::AdamwTorch,
            per_device_train_batch_size: 1,
            gradient_accumulation_steps: 1,
            max_length: 1024,
            max_target_length: None,
            gradient_checkpointing: false,
            activation_offloading: false,
            loss_implementation: LossImplementation::Auto,
            label_tokens: None,
            packing: false,
            packing_strategy: PackingStrategy::Bfd,
            attn_implementation: AttnImplementation::Sdpa,
            attention_kernel: AttentionKernel::Auto,
            expand_kv_heads: Auto::Auto,
            use_liger_kernel: false,
            torch_compile: false,
            max_grad_norm: 1.0,
            padded_batch: false,
            logits_to_fp32: false,
            keep_outputs: false,
            expandable_segments: false,
            enable_input_require_grads: Auto::Auto,
            num_gpus: 1,
            num_nodes: None,
            zero_stage: 0,
            offload_optimizer: Offload::None,
            offload_param: Offload::None,
            distributed: Distributed::default(),
            num_labels: 1,
            pooling: Pooling::Mean,
            embedding: Embedding::default(),
            reference: Reference { kind: ReferenceKind::Auto, logits_fp32: false },
            rollout: Rollout::default(),
            value_model: None,
            reward_models: None,
            policy: PolicyUpdate::default(),
            software: Software::default(),
            host_memory_gib: None,
            non_pytorch_memory_mib: None,
            evaluation: Evaluation::default(),
            images: SampleImages::default(),
            freeze: Vec::new(),
            gpu: GpuChoice::Catalogue("a100-80gb".to_owned()),
            programs: Programs::default(),
        }
    }
}

impl Default for Lora {
    fn default() -> Self {
        Self {
            r: 16,
            lora_alpha: 32.0,
            lora_dropout: 0.0,
            target_modules: TargetModules::AllLinear,
            target_parameters: Vec::new(),
            modules_to_save: Vec::new(),
            adapter_dtype: AdapterDtype::Auto,
            kernels: Auto::Auto,
        }
    }
}

impl Default for Quantization {
    fn default() -> Self {
        Self {
            bits: 4,
            quant_type: QuantType::Nf4,
            double_quant: true,
            prepare_for_kbit_training: true,
            fused_4bit_gemm: true,
            bnb_4bit_quant_storage: QuantStorage::Uint8,
            quantize_moe_experts: false,
        }
    }
}

impl Default for Distributed {
    fn default() -> Self {
        Self {
            framework: Framework::Deepspeed,
            reduce_bucket_size: BucketSize::Default,
            allgather_bucket_size: BucketSize::Default,
            stage3_prefetch_bucket_size: BucketSize::Default,
            stage3_param_persistence_threshold: BucketSize::Default,
            stage3_max_live_parameters: BucketSize::Default,
            stage3_max_reuse_distance: BucketSize::Default,
            sub_group_size: BucketSize::Default,
            bf16_enabled: Auto::Auto,
            overlap_comm: Auto::Auto,
            contiguous_gradients: true,
            round_robin_gradients: false,
            grad_accum_dtype: None,
            pin_memory: true,
            reshard_after_forward: true,
            param_dtype: None,
            reduce_dtype: None,
            cpu_offload: false,
            wrap_embedding: false,
            bucket_cap_mb: 25,
            gradient_as_bucket_view: false,
            static_graph: false,
            find_unused_parameters: false,
            sharding_strategy: None,
            dp_replicate_size: None,
            backward_prefetch: None,
            // accelerate commands/launch.py.
            cpu_ram_efficient_loading: true,
        }
    }
}
