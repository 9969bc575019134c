//! accelerate's YAML, as `accelerate config` writes it: one process, several, FSDP, DeepSpeed.

use headroom_core::plan::{BackwardPrefetch, Framework, MixedPrecision, Plan, ShardingStrategy};

use super::planned::{DEEPSPEED_FILE, Planned, Sharding};
use super::setting::{Setting, set};
use super::why::Why;

/// The whole file.
pub(super) fn config(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let gpus = plan.num_gpus;
    let kind = match planned.sharding() {
        Sharding::None if gpus == 1 => "NO",
        Sharding::None => "MULTI_GPU",
        Sharding::Zero => "DEEPSPEED",
        Sharding::Fsdp => "FSDP",
    };
    let mut settings = vec![set("compute_environment", "LOCAL_MACHINE"), set("distributed_type", kind)];
    match planned.sharding() {
        Sharding::Zero => {
            let file = vec![set("deepspeed_config_file", DEEPSPEED_FILE), set("zero3_init_flag", plan.zero_stage == 3)];
            settings.push(set("deepspeed_config", file));
        }
        Sharding::Fsdp => {
            settings.push(set("fsdp_config", fsdp(planned, true)).because(Why::Sharded(gpus / plan.replicas().max(1))));
            settings.extend(copies(plan).map(|copies| {
                let sizes = [
                    set("parallelism_config_dp_replicate_size", copies),
                    set("parallelism_config_dp_shard_size", gpus / copies),
                ];
                set("parallelism_config", sizes.to_vec()).because(Why::Replicated(copies))
            }));
        }
        Sharding::None => {}
    }
    if planned.sharding() != Sharding::Zero {
        // With a DeepSpeed file accelerate refuses a precision of its own.
        settings.push(set("mixed_precision", precision(plan.mixed_precision)));
    }
    settings.extend([
        set("num_machines", plan.machines()),
        set("num_processes", gpus).because(Why::Processes),
        // Of several machines each says its own when it launches.
        set("machine_rank", 0),
        set("main_training_function", "main"),
        set("rdzv_backend", "static"),
        set("same_network", true),
        set("use_cpu", false),
    ]);
    settings
}

/// Copies of the model that FSDP2 shards, where there are several.
pub(super) fn copies(plan: &Plan) -> Option<u64> {
    (plan.distributed.framework == Framework::Fsdp2).then(|| plan.replicas()).filter(|copies| *copies > 1)
}

/// FSDP's settings; `prefixed` as accelerate's YAML names them.
pub(super) fn fsdp(planned: &Planned<'_>, prefixed: bool) -> Vec<Setting> {
    let plan = planned.plan;
    let of = &plan.distributed;
    let key = |name: &'static str| if prefixed { name } else { name.trim_start_matches("fsdp_") };
    let mut settings = Vec::new();
    if of.framework == Framework::Fsdp2 {
        settings.push(set(key("fsdp_version"), 2));
        settings.push(set(key("fsdp_reshard_after_forward"), of.reshard_after_forward));
    } else {
        let strategy = of.sharding_strategy.unwrap_or(match of.reshard_after_forward {
            true => ShardingStrategy::FullShard,
            false => ShardingStrategy::ShardGradOp,
        });
        settings.push(set(key("fsdp_version"), 1));
        settings.push(set(key("fsdp_sharding_strategy"), strategy.name().to_ascii_uppercase()));
        let prefetch = of.backward_prefetch.unwrap_or(BackwardPrefetch::NoPrefetch);
        settings.push(set(key("fsdp_backward_prefetch"), prefetch.name().to_ascii_uppercase()));
        settings.push(set(key("fsdp_use_orig_params"), true));
    }
    settings.extend([
        set(key("fsdp_auto_wrap_policy"), "TRANSFORMER_BASED_WRAP"),
        set(key("fsdp_offload_params"), of.cpu_offload),
        set(key("fsdp_cpu_ram_efficient_loading"), of.cpu_ram_efficient_loading),
        set(key("fsdp_state_dict_type"), "SHARDED_STATE_DICT"),
        // The trainer's own switch checkpoints: both at once recompute twice.
        set(key("fsdp_activation_checkpointing"), false),
    ]);
    settings
}

/// accelerate's words for autocast.
pub(super) fn precision(mixed: MixedPrecision) -> &'static str {
    match mixed {
        MixedPrecision::No => "no",
        MixedPrecision::Bf16 => "bf16",
        MixedPrecision::Fp16 => "fp16",
    }
}
