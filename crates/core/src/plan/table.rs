//! The table of fields: name, link key, range, unit.
//!
//! One row a field. The rows drive the JSON reader and writer, links, the form's attributes and the generator of property tests.

use super::companion_json::{reward_models, set_reward_models, set_value_model, value_model};
use super::fields::{Field, Get, Set};
use super::kind::{Kind, Unit};
use super::leaf::Leaf;
use super::parts::{
    BITS, WRAPS, bits, gpu_capability, gpu_id, gpu_memory, gpu_name, model_config, model_id, model_name, set_bits,
    set_gpu_capability, set_gpu_id, set_gpu_memory, set_gpu_name, set_model_config, set_model_id, set_model_name,
    set_wrap, wrap,
};
use super::{
    AdapterDtype, AttentionKernel, AttnImplementation, BackwardPrefetch, Dtype, EmbeddingLoss, EvalStrategy, Framework,
    KvCacheDtype, LaunchedBy, LossImplementation, LossType, Method, MixedPrecision, Offload, Optimizer,
    PackingStrategy, Pooling, QuantStorage, QuantType, ReferenceKind, RolloutEngine, ShardingStrategy, Task,
    TrainerName, VllmMode,
};

/// A row whose value is one member of the plan, named as the member is: `section.member`, in links `member`.
macro_rules! row {
    ($member:ident, $kind:expr $(, $unit:ident)?) => {
        row!((stringify!($member), stringify!($member)) $member, $kind $(, $unit)?)
    };
    ($section:ident.$member:ident, $kind:expr $(, $unit:ident)?) => {
        row!((concat!(stringify!($section), ".", stringify!($member)), stringify!($member)) $section.$member, $kind $(, $unit)?)
    };
    (($name:expr, $link:expr) $($member:ident).+, $kind:expr $(, $unit:ident)?) => {
        Field {
            get: |plan| plan.$($member).+.write(),
            set: |plan, value, field| {
                plan.$($member).+ = field.read(value)?;
                Ok(())
            },
            ..Field::untyped($name, $link, $kind, row!(@unit $($unit)?))
        }
    };
    (@unit) => { None };
    (@unit $unit:ident) => { Some(Unit::$unit) };
}

/// A row whose value takes functions of its own.
const fn own_row(
    (name, link): (&'static str, &'static str),
    kind: Kind,
    unit: Option<Unit>,
    (get, set): (Get, Set),
) -> Field {
    Field { get, set, ..Field::untyped(name, link, kind, unit) }
}

const fn whole(min: u64, max: u64) -> Kind {
    Kind::Integer { min, max }
}

const fn number(min: f64, max: f64) -> Kind {
    Kind::Number { min, max }
}

const fn optional_whole(min: u64, max: u64) -> Kind {
    Kind::OptionalInteger { min, max }
}

const fn optional_number(min: f64, max: f64) -> Kind {
    Kind::OptionalNumber { min, max }
}

/// Sizes of DeepSpeed's buckets and windows.
const BUCKET: Kind = Kind::Bucket { max: 1_000_000_000_000 };

/// Every field, in the order of JSON files and links.
pub(super) static FIELDS: &[Field] = &[
    own_row(("model", "model"), Kind::ModelId, None, (model_id, set_model_id)),
    own_row(("model.config", "config"), Kind::Json, None, (model_config, set_model_config)),
    own_row(("model.name", "name"), Kind::Text, None, (model_name, set_model_name)),
    own_row(("gpu", "gpu"), Kind::GpuId, None, (gpu_id, set_gpu_id)),
    own_row(("gpu.memory_gib", "memory_gib"), number(0.25, 4_194_304.0), Some(Unit::Gib), (gpu_memory, set_gpu_memory)),
    own_row(
        ("gpu.compute_capability", "compute_capability"),
        Kind::ComputeCapability,
        None,
        (gpu_capability, set_gpu_capability),
    ),
    own_row(("gpu.name", "gpu_name"), Kind::Text, None, (gpu_name, set_gpu_name)),
    row!(num_gpus, whole(1, 65_536), Gpus),
    row!(("trainer.name", "trainer") trainer.name, Kind::Choice(TrainerName::NAMES)),
    row!(("trainer.version", "trainer_version") trainer.version, Kind::Version),
    row!(task, Kind::Choice(Task::NAMES)),
    row!(num_labels, whole(1, 1_000_000), Labels),
    row!(pooling, Kind::Choice(Pooling::NAMES)),
    row!(("embedding.loss", "embedding_loss") embedding.loss, Kind::Choice(EmbeddingLoss::NAMES)),
    row!(embedding.num_negatives, whole(0, 1_024), Sequences),
    row!(embedding.mini_batch_size, whole(1, 65_536), Sequences),
    row!(method, Kind::Choice(Method::NAMES)),
    row!(lora.r, whole(1, 65_536)),
    row!(lora.lora_alpha, number(0.0, 1e9)),
    row!(lora.lora_dropout, number(0.0, 1.0)),
    row!(lora.target_modules, Kind::TargetModules),
    row!(lora.target_parameters, Kind::Names),
    row!(lora.modules_to_save, Kind::Names),
    row!(lora.adapter_dtype, Kind::Choice(AdapterDtype::NAMES)),
    row!(("lora.kernels", "lora_kernels") lora.kernels, Kind::AutoFlag),
    own_row(("quantization.bits", "bits"), Kind::Choice(BITS), Some(Unit::Bits), (bits, set_bits)),
    row!(quantization.quant_type, Kind::Choice(QuantType::NAMES)),
    row!(quantization.double_quant, Kind::Flag),
    row!(quantization.prepare_for_kbit_training, Kind::Flag),
    row!(quantization.fused_4bit_gemm, Kind::Flag),
    row!(quantization.bnb_4bit_quant_storage, Kind::Choice(QuantStorage::NAMES)),
    row!(quantization.quantize_moe_experts, Kind::Flag),
    row!(torch_dtype, Kind::Choice(Dtype::NAMES)),
    row!(mixed_precision, Kind::Choice(MixedPrecision::NAMES)),
    row!(optim, Kind::Choice(Optimizer::NAMES)),
    row!(per_device_train_batch_size, whole(1, 65_536), Sequences),
    row!(gradient_accumulation_steps, whole(1, 1_048_576), Forwards),
    row!(max_length, whole(1, 16_777_216), Tokens),
    row!(max_target_length, optional_whole(1, 16_777_216), Tokens),
    row!(gradient_checkpointing, Kind::Flag),
    row!(activation_offloading, Kind::Flag),
    row!(loss_implementation, Kind::Choice(LossImplementation::NAMES)),
    row!(label_tokens, optional_whole(1, 16_777_216), Tokens),
    row!(packing, Kind::Flag),
    row!(packing_strategy, Kind::Choice(PackingStrategy::NAMES)),
    row!(attn_implementation, Kind::Choice(AttnImplementation::NAMES)),
    row!(attention_kernel, Kind::Choice(AttentionKernel::NAMES)),
    row!(expand_kv_heads, Kind::AutoFlag),
    row!(use_liger_kernel, Kind::Flag),
    row!(torch_compile, Kind::Flag),
    row!(max_grad_norm, number(0.0, 1e9)),
    row!(padded_batch, Kind::Flag),
    row!(logits_to_fp32, Kind::Flag),
    row!(keep_outputs, Kind::Flag),
    row!(expandable_segments, Kind::Flag),
    row!(enable_input_require_grads, Kind::AutoFlag),
    row!(zero_stage, whole(0, 3)),
    row!(offload_optimizer, Kind::Choice(Offload::NAMES)),
    row!(offload_param, Kind::Choice(Offload::NAMES)),
    row!(distributed.framework, Kind::Choice(Framework::NAMES)),
    row!(("distributed.bf16.enabled", "bf16") distributed.bf16_enabled, Kind::AutoFlag),
    row!(distributed.reduce_bucket_size, BUCKET, Elements),
    row!(distributed.allgather_bucket_size, BUCKET, Elements),
    row!(distributed.stage3_prefetch_bucket_size, BUCKET, Elements),
    row!(distributed.stage3_param_persistence_threshold, BUCKET, Elements),
    row!(distributed.stage3_max_live_parameters, BUCKET, Elements),
    row!(distributed.stage3_max_reuse_distance, BUCKET, Elements),
    row!(distributed.sub_group_size, BUCKET, Elements),
    row!(distributed.overlap_comm, Kind::AutoFlag),
    row!(distributed.contiguous_gradients, Kind::Flag),
    row!(distributed.round_robin_gradients, Kind::Flag),
    row!(distributed.grad_accum_dtype, Kind::OptionalChoice(Dtype::NAMES)),
    row!(distributed.pin_memory, Kind::Flag),
    row!(distributed.reshard_after_forward, Kind::Flag),
    row!(distributed.param_dtype, Kind::OptionalChoice(Dtype::NAMES)),
    row!(distributed.reduce_dtype, Kind::OptionalChoice(Dtype::NAMES)),
    row!(distributed.cpu_offload, Kind::Flag),
    own_row(("distributed.wrap", "wrap"), Kind::Choice(WRAPS), None, (wrap, set_wrap)),
    row!(distributed.bucket_cap_mb, whole(1, 1_048_576), Mib),
    row!(distributed.gradient_as_bucket_view, Kind::Flag),
    row!(distributed.static_graph, Kind::Flag),
    row!(distributed.find_unused_parameters, Kind::Flag),
    row!(distributed.sharding_strategy, Kind::OptionalChoice(ShardingStrategy::NAMES)),
    row!(distributed.dp_replicate_size, optional_whole(1, 65_536)),
    row!(distributed.backward_prefetch, Kind::OptionalChoice(BackwardPrefetch::NAMES)),
    row!(distributed.cpu_ram_efficient_loading, Kind::Flag),
    row!(("reference.kind", "reference") reference.kind, Kind::Choice(ReferenceKind::NAMES)),
    row!(("reference.logits_fp32", "reference_logits_fp32") reference.logits_fp32, Kind::Flag),
    row!(rollout.new_tokens, whole(0, 16_777_216), Tokens),
    row!(rollout.engine, Kind::OptionalChoice(RolloutEngine::NAMES)),
    row!(rollout.prompts, optional_whole(1, 16_777_216), Prompts),
    row!(rollout.num_generations, optional_whole(1, 65_536), Sequences),
    row!(rollout.max_prompt_length, optional_whole(1, 16_777_216), Tokens),
    row!(rollout.max_completion_length, optional_whole(1, 16_777_216), Tokens),
    row!(rollout.sequences_at_once, optional_whole(1, 16_777_216), Sequences),
    row!(rollout.keep_scores, Kind::OptionalFlag),
    row!(rollout.top_k, optional_whole(0, 16_777_216), Tokens),
    row!(rollout.top_p, optional_number(0.0, 1.0)),
    row!(rollout.min_length_processor, Kind::OptionalFlag),
    row!(rollout.vllm_mode, Kind::OptionalChoice(VllmMode::NAMES)),
    row!(rollout.vllm_gpu_memory_utilization, optional_number(0.0, 1.0)),
    row!(rollout.vllm_tensor_parallel_size, optional_whole(1, 65_536), Gpus),
    row!(rollout.vllm_enable_sleep_mode, Kind::Flag),
    row!(rollout.vllm_max_model_length, optional_whole(1, 16_777_216), Tokens),
    row!(rollout.kv_cache_dtype, Kind::OptionalChoice(KvCacheDtype::NAMES)),
    row!(rollout.enforce_eager, Kind::Flag),
    own_row(("value_model", "value_model"), Kind::Companion, None, (value_model, set_value_model)),
    own_row(("reward_models", "reward_models"), Kind::Companions, None, (reward_models, set_reward_models)),
    row!(("beta", "beta") policy.beta, optional_number(0.0, 1e9)),
    row!(("entropy", "entropy") policy.entropy, Kind::OptionalFlag),
    row!(("vf_coef", "vf_coef") policy.vf_coef, optional_number(0.0, 1e9)),
    row!(("logprob_batch_size", "logprob_batch_size") policy.logprob_batch_size, optional_whole(1, 16_777_216), Sequences),
    row!(("old_logprobs_pass", "old_logprobs_pass") policy.old_logprobs_pass, Kind::OptionalFlag),
    row!(("steps_per_generation", "steps_per_generation") policy.steps_per_generation, optional_whole(1, 1_048_576), Forwards),
    row!(("use_liger_loss", "use_liger_loss") policy.use_liger_loss, Kind::Flag),
    row!(("padding_free", "padding_free") policy.padding_free, Kind::Flag),
    row!(("loss_type", "loss_type") policy.loss_type, Kind::OptionalChoice(LossType::NAMES)),
    row!(("num_iterations", "num_iterations") policy.num_iterations, optional_whole(1, 1_048_576)),
    row!(("cpo_alpha", "cpo_alpha") policy.cpo_alpha, optional_number(0.0, 1e9)),
    row!(software.torch, Kind::Version),
    row!(software.transformers, Kind::Version),
    row!(software.peft, Kind::Version),
    row!(software.bitsandbytes, Kind::Version),
    row!(software.flash_linear_attention, Kind::Version),
    row!(software.causal_conv1d, Kind::Version),
    row!(software.mamba_ssm, Kind::Version),
    row!(host_memory_gib, optional_number(0.25, 4_194_304.0), Gib),
    row!(non_pytorch_memory_mib, optional_number(0.0, 1_048_576.0), Mib),
    row!(("images.per_sample", "images") images.per_sample, optional_whole(1, 4_096)),
    row!(("images.height", "image_height") images.height, optional_whole(1, 65_536), Pixels),
    row!(("images.width", "image_width") images.width, optional_whole(1, 65_536), Pixels),
    row!(("images.max_pixels", "image_max_pixels") images.max_pixels, optional_whole(1, 4_294_967_296), Pixels),
    row!(("images.tiles", "image_tiles") images.tiles, optional_whole(1, 4_096)),
    row!(("images.patches", "image_patches") images.patches, optional_whole(1, 16_777_216)),
    row!(("images.positions", "image_positions") images.positions, optional_whole(0, 16_777_216), Tokens),
    row!(freeze, Kind::Names),
    row!(launched_by, Kind::OptionalChoice(LaunchedBy::NAMES)),
    row!(num_nodes, optional_whole(1, 65_536)),
    row!(("eval_strategy", "eval_strategy") evaluation.eval_strategy, Kind::Choice(EvalStrategy::NAMES)),
    row!(("per_device_eval_batch_size", "per_device_eval_batch_size") evaluation.per_device_eval_batch_size, optional_whole(1, 65_536), Sequences),
    row!(("eval_length", "eval_length") evaluation.eval_length, optional_whole(1, 16_777_216), Tokens),
    row!(("compute_metrics", "compute_metrics") evaluation.compute_metrics, Kind::Flag),
];

/// Every field, in the order of JSON files and links.
pub fn fields() -> &'static [Field] {
    FIELDS
}

/// The field called `name` in JSON: `lora.r`.
pub fn field(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}
