//! DeepSpeed's JSON, as transformers' integration takes it: `"auto"` is what the trainer's own arguments say.

use headroom_core::plan::{Auto, BucketSize, Distributed, Dtype, Offload, Plan};

use super::planned::Planned;
use super::setting::{Setting, Written, set};

/// The whole file.
pub(super) fn config(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let mut settings = vec![
        set("train_batch_size", "auto"),
        set("train_micro_batch_size_per_gpu", "auto"),
        set("gradient_accumulation_steps", "auto"),
        set("gradient_clipping", "auto"),
        set("bf16", vec![set("enabled", auto_or(plan.distributed.bf16_enabled))]),
        set("fp16", vec![set("enabled", "auto")]),
        set("zero_optimization", zero_optimization(plan)),
    ];
    if let Some(dtype) = plan.distributed.grad_accum_dtype {
        settings.push(set("data_types", vec![set("grad_accum_dtype", short_dtype(dtype))]));
    }
    if plan.offload_optimizer == Offload::Cpu {
        // The optimizer of `optim` steps on the host, where DeepSpeed would otherwise ask for its own.
        settings.push(set("zero_force_ds_cpu_optimizer", false));
    }
    settings
}

/// `zero_optimization`.
fn zero_optimization(plan: &Plan) -> Vec<Setting> {
    let of = &plan.distributed;
    let mut settings = vec![set("stage", u64::from(plan.zero_stage))];
    for (key, offload) in [("offload_optimizer", plan.offload_optimizer), ("offload_param", plan.offload_param)] {
        if offload == Offload::Cpu {
            settings.push(set(key, vec![set("device", "cpu"), set("pin_memory", of.pin_memory)]));
        }
    }
    for (key, size) in sizes(plan.zero_stage, of) {
        match size {
            BucketSize::Default => {}
            BucketSize::Auto => settings.push(set(key, "auto")),
            BucketSize::Elements(elements) => settings.push(set(key, elements)),
        }
    }
    if let Auto::Set(overlap) = of.overlap_comm {
        settings.push(set("overlap_comm", overlap));
    }
    settings.push(set("contiguous_gradients", of.contiguous_gradients));
    if of.round_robin_gradients {
        settings.push(set("round_robin_gradients", true));
    }
    if plan.zero_stage == 3 {
        settings.push(set("stage3_gather_16bit_weights_on_model_save", true));
    }
    settings
}

/// Settings that stage 3 alone reads (runtime/zero/config.py).
const OF_STAGE_3: [&str; 5] = [
    "stage3_prefetch_bucket_size",
    "stage3_param_persistence_threshold",
    "stage3_max_live_parameters",
    "stage3_max_reuse_distance",
    "sub_group_size",
];

/// Whether DeepSpeed reads `key` at `stage`.
pub(super) fn is_read(key: &str, stage: u8) -> bool {
    stage == 3 || !OF_STAGE_3.contains(&key)
}

/// Sizes of buckets and limits, under DeepSpeed's names.
fn sizes(stage: u8, of: &Distributed) -> Vec<(&'static str, BucketSize)> {
    let mut sizes = vec![
        ("reduce_bucket_size", of.reduce_bucket_size),
        ("allgather_bucket_size", of.allgather_bucket_size),
        ("stage3_prefetch_bucket_size", of.stage3_prefetch_bucket_size),
        ("stage3_param_persistence_threshold", of.stage3_param_persistence_threshold),
        ("stage3_max_live_parameters", of.stage3_max_live_parameters),
        ("stage3_max_reuse_distance", of.stage3_max_reuse_distance),
        ("sub_group_size", of.sub_group_size),
    ];
    sizes.retain(|(key, _)| is_read(key, stage));
    sizes
}

fn auto_or(switch: Auto) -> Written {
    match switch {
        Auto::Auto => "auto".into(),
        Auto::Set(on) => on.into(),
    }
}

/// DeepSpeed's own words for number formats.
fn short_dtype(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bfloat16 => "bf16",
        Dtype::Float16 => "fp16",
        Dtype::Float32 => "fp32",
    }
}
