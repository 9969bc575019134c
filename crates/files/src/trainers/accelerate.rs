//! accelerate: `accelerate config`'s YAML, the flags of `accelerate launch`, and settings of FSDP wherever they stand.

use super::{As, Fact, Row, Topic, bears, nothing, renamed, says, sets};

pub(super) const ROWS: &[Row] = &[
    says("distributed_type", Fact::DistributedType),
    says("num_processes", Fact::Processes),
    says("num_machines", Fact::Machines),
    says("gpu_ids", Fact::GpuIds),
    says("mixed_precision", Fact::Precision),
    says("use_deepspeed", Fact::UsesDeepspeed),
    says("use_fsdp", Fact::UsesFsdp),
    says("multi_gpu", Fact::MultiGpu),
    bears("use_megatron_lm", Topic::Parallelism),
    says("fp16", Fact::Fp16),
    says("zero_stage", Fact::ZeroStage),
    says("offload_optimizer_device", Fact::OptimizerDevice),
    says("offload_param_device", Fact::ParamDevice),
    says("gradient_accumulation_steps", Fact::Accumulation),
    says("gradient_clipping", Fact::Clipping),
    says("deepspeed_config_file", Fact::Deepspeed),
    says("deepspeed_config.deepspeed_config_file", Fact::Deepspeed),
    says("deepspeed_config.zero_stage", Fact::ZeroStage),
    says("deepspeed_config.offload_optimizer_device", Fact::OptimizerDevice),
    says("deepspeed_config.offload_param_device", Fact::ParamDevice),
    says("deepspeed_config.gradient_accumulation_steps", Fact::Accumulation),
    says("deepspeed_config.gradient_clipping", Fact::Clipping),
    nothing("deepspeed_config.zero3_init_flag"),
    nothing("deepspeed_config.zero3_save_16bit_model"),
    nothing("deepspeed_config.deepspeed_multinode_launcher"),
    nothing("deepspeed_config.deepspeed_hostfile"),
    nothing("deepspeed_config.deepspeed_moe_layer_cls_names"),
    nothing("deepspeed_config.offload_optimizer_nvme_path"),
    nothing("deepspeed_config.offload_param_nvme_path"),
    says("fsdp_config", Fact::FsdpConfig),
    says("fsdp_version", Fact::FsdpVersion),
    says("fsdp_sharding_strategy", Fact::Reshard),
    says("fsdp_reshard_after_forward", Fact::Reshard),
    says("fsdp_offload_params", Fact::FsdpOffload),
    says("fsdp_activation_checkpointing", Fact::FsdpCheckpointing),
    sets("fsdp_backward_prefetch", "distributed.backward_prefetch", As::Lower),
    sets("fsdp_cpu_ram_efficient_loading", "distributed.cpu_ram_efficient_loading", As::Flag),
    bears("fsdp_activation_checkpointing_offload", Topic::Activations),
    bears("fsdp_use_orig_params", Topic::NoSetting),
    bears("fsdp_forward_prefetch", Topic::NoSetting),
    bears("fsdp_min_num_params", Topic::NoSetting),
    bears("parallelism_config_tp_size", Topic::Parallelism),
    bears("parallelism_config_cp_size", Topic::Parallelism),
    bears("parallelism_config_sp_size", Topic::Parallelism),
    says("parallelism_config_dp_replicate_size", Fact::Replicas),
    says("parallelism_config_dp_shard_size", Fact::ShardSize),
    nothing("parallelism_config_cp_comm_strategy"),
    nothing("parallelism_config_sp_backend"),
    bears("parallelism_config.parallelism_config_tp_size", Topic::Parallelism),
    bears("parallelism_config.parallelism_config_cp_size", Topic::Parallelism),
    bears("parallelism_config.parallelism_config_sp_size", Topic::Parallelism),
    says("parallelism_config.parallelism_config_dp_replicate_size", Fact::Replicas),
    says("parallelism_config.parallelism_config_dp_shard_size", Fact::ShardSize),
    nothing("parallelism_config.parallelism_config_cp_backend"),
    nothing("parallelism_config.parallelism_config_cp_comm_strategy"),
    nothing("parallelism_config.parallelism_config_sp_backend"),
    nothing("parallelism_config.parallelism_config_sp_seq_length"),
    nothing("parallelism_config.parallelism_config_sp_seq_length_is_variable"),
    nothing("parallelism_config.parallelism_config_sp_attn_implementation"),
    nothing("deepspeed_config.seq_parallel_communication_data_type"),
    bears("megatron_lm_config", Topic::Parallelism),
    bears("fp8_config", Topic::Fp8),
    says("dynamo_config.dynamo_backend", Fact::Dynamo),
    says("dynamo_backend", Fact::Dynamo),
    nothing("dynamo_config.dynamo_mode"),
    nothing("dynamo_config.dynamo_use_dynamic"),
    nothing("dynamo_config.dynamo_use_fullgraph"),
    nothing("mpirun_config"),
    nothing("ipex_config"),
];

pub(super) const KNOWN: &str = "compute_environment debug use_cpu machine_rank main_process_ip main_process_port rdzv_backend \
    same_network main_training_function enable_cpu_affinity tpu_name tpu_zone tpu_use_cluster tpu_use_sudo command_file \
    commands tpu_vm tpu_env tpu_metadata downcast_bf16 command_file num_cpu_threads_per_process config_file module m no_python \
    cpu tpu vm env max_restarts monitor_interval role rdzv_conf log_dir tee quiet q fsdp_auto_wrap_policy \
    fsdp_state_dict_type fsdp_sync_module_states fsdp_transformer_layer_cls_to_wrap \
    zero3_init_flag zero3_save_16bit_model deepspeed_hostfile deepspeed_exclusion_filter deepspeed_inclusion_filter \
    deepspeed_multinode_launcher deepspeed_moe_layer_cls_names offload_optimizer_nvme_path offload_param_nvme_path \
    dynamo_mode dynamo_use_dynamic dynamo_use_fullgraph dynamo_use_regional_compilation tpu_cluster no_tpu_cluster \
    mpirun_hostfile mpirun_ccl aws_access_key_id aws_secret_access_key mixed_precision_backend ipex use_xpu ec2_instance_type \
    iam_role_name profile region py_version pytorch_version transformers_version base_job_name image_uri \
    additional_args deepspeed_plugin fsdp_plugin kwargs_handlers hf_ds_config use_mps_device use_parallelism_config enable_offload";

/// Arguments of `ParallelismConfig` (accelerate parallelism_config.py).
pub(super) const PARALLELISM_ROWS: &[Row] = &[
    says("dp_replicate_size", Fact::Replicas),
    says("dp_shard_size", Fact::ShardSize),
    bears("tp_size", Topic::Parallelism),
    bears("cp_size", Topic::Parallelism),
    bears("sp_size", Topic::Parallelism),
];

/// Settings of FSDP, without the `fsdp_` that accelerate's names have.
pub(super) const FSDP_ROWS: &[Row] = &[
    says("version", Fact::FsdpVersion),
    says("sharding_strategy", Fact::Reshard),
    says("reshard_after_forward", Fact::Reshard),
    says("offload_params", Fact::FsdpOffload),
    says("cpu_offload", Fact::FsdpOffload),
    says("activation_checkpointing", Fact::FsdpCheckpointing),
    says("gradient_checkpointing", Fact::FsdpCheckpointing),
    sets("backward_prefetch", "distributed.backward_prefetch", As::Lower),
    sets("cpu_ram_efficient_loading", "distributed.cpu_ram_efficient_loading", As::Flag),
    renamed("backward_prefetch_policy", "backward_prefetch", "accelerate 0.24"),
    bears("activation_checkpointing_offload", Topic::Activations),
    bears("use_orig_params", Topic::NoSetting),
    bears("forward_prefetch", Topic::NoSetting),
    bears("limit_all_gathers", Topic::NoSetting),
    bears("min_num_params", Topic::NoSetting),
    bears("mixed_precision_policy", Topic::NoSetting),
    sets("cpu_offload_pin_memory", "distributed.pin_memory", As::Flag),
    nothing("auto_wrap_policy"),
    nothing("transformer_layer_cls_to_wrap"),
    nothing("state_dict_type"),
    nothing("final_state_dict_type"),
    nothing("sync_module_states"),
    nothing("xla"),
    nothing("xla_fsdp_v2"),
    nothing("xla_fsdp_grad_ckpt"),
    nothing("ignored_modules"),
];
