//! What launches processes, and variables of the environment.

use super::{As, Fact, Row, Topic, bears, nothing, says, sets};

pub(super) const ROWS: &[Row] = &[
    says("nproc_per_node", Fact::ProcessesPerMachine),
    says("num_gpus", Fact::ProcessesPerMachine),
    says("nnodes", Fact::Machines),
    says("num_nodes", Fact::Machines),
    says("include", Fact::Include),
    bears("exclude", Topic::Placement),
    bears("bind_cores_to_rank", Topic::NoSetting),
];

pub(super) const KNOWN: &str = "master_port master_addr node_rank rdzv_backend rdzv_endpoint rdzv_id rdzv_conf standalone \
    max_restarts monitor_interval start_method role module m no_python run_path log_dir redirects tee local_ranks_filter \
    use_env hostfile launcher launcher_args force_multi save_pid enable_each_rank_log autotuning elastic_training user_args \
    no_local_rank ssh_port no_ssh_check local_addr rdzv_timeout";

/// What variables are called that bound images and frames: trainers read more of them than have a row.
pub(crate) const SIZES_OF_IMAGES: [&str; 3] = ["_TOKEN_NUM", "_PIXELS", "_FRAMES"];

pub(super) const ENVIRONMENT_ROWS: &[Row] = &[
    says("CUDA_VISIBLE_DEVICES", Fact::VisibleGpus),
    says("HIP_VISIBLE_DEVICES", Fact::VisibleGpus),
    says("ASCEND_RT_VISIBLE_DEVICES", Fact::VisibleGpus),
    // NVIDIA's container runtime; the flags and sections of what starts a container stand under names no variable can have.
    says("NVIDIA_VISIBLE_DEVICES", Fact::GivenGpus),
    says("docker.gpus", Fact::GivenGpus),
    says("docker.device", Fact::GivenGpus),
    says("devices.device_ids", Fact::GivenGpus),
    says("devices.count", Fact::GivenGpus),
    says("limits.gpu", Fact::GivenGpus),
    says("resources.accelerators", Fact::GivenGpus),
    sets("docker.memory", "host_memory_gib", As::Real),
    sets("limits.memory", "host_memory_gib", As::Real),
    says("NPROC_PER_NODE", Fact::ProcessesPerMachine),
    says("NNODES", Fact::Machines),
    says("SLURM_NNODES", Fact::Machines),
    says("SLURM_NTASKS", Fact::Tasks),
    says("PYTORCH_CUDA_ALLOC_CONF", Fact::Allocator),
    says("PYTORCH_ALLOC_CONF", Fact::Allocator),
    says("PYTORCH_HIP_ALLOC_CONF", Fact::Allocator),
    says("FORCE_TORCHRUN", Fact::MultiGpu),
    bears("USE_MCA", Topic::Parallelism),
    says("ACCELERATE_MIXED_PRECISION", Fact::Precision),
    sets("MAX_PIXELS", "images.max_pixels", As::Whole),
    // swift/model/models/qwen.py `patch_qwen_vl_utils`: by name, those of images are the two whose bound a plan has.
    says("IMAGE_MAX_TOKEN_NUM", Fact::ImageTokens),
    bears("FPS", Topic::Vision),
    bears("NFRAMES", Topic::Vision),
    bears("NUM_FRAMES", Topic::Vision),
    bears("SPATIAL_MERGE_SIZE", Topic::Vision),
    bears("IMAGE_FACTOR", Topic::Vision),
    // swift/template/templates/internvl.py, internlm.py, minicpm.py, deepseek.py.
    bears("INPUT_SIZE", Topic::Vision),
    bears("MAX_NUM", Topic::Vision),
    bears("VIDEO_MAX_NUM", Topic::Vision),
    bears("VIDEO_SEGMENTS", Topic::Vision),
    bears("HD_NUM", Topic::Vision),
    bears("MAX_PARTITION", Topic::Vision),
    bears("MAX_SLICE_NUMS", Topic::Vision),
    bears("VIDEO_MAX_SLICE_NUMS", Topic::Vision),
    bears("DOWNSAMPLE_MODE", Topic::Vision),
    // swift/template/base.py: rows of one sample of an embedding model or a reranker.
    bears("MAX_POSITIVE_SAMPLES", Topic::NoSetting),
    bears("MAX_NEGATIVE_SAMPLES", Topic::NoSetting),
    // accelerate/accelerator.py `Accelerator.__init__`.
    says("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", Fact::Accumulation),
    bears("CUDA_LAUNCH_BLOCKING", Topic::NoSetting),
    bears("CUBLAS_WORKSPACE_CONFIG", Topic::NoSetting),
    bears("NCCL_BUFFSIZE", Topic::NoSetting),
    // What `accelerate launch` sets, and people who launch otherwise (accelerate/utils/launch.py).
    says("ACCELERATE_USE_FSDP", Fact::UsesFsdp),
    says("ACCELERATE_USE_DEEPSPEED", Fact::UsesDeepspeed),
    says("ACCELERATE_DEEPSPEED_ZERO_STAGE", Fact::ZeroStage),
    says("FSDP_VERSION", Fact::FsdpVersion),
    says("FSDP_OFFLOAD_PARAMS", Fact::FsdpOffload),
    says("FSDP_SHARDING_STRATEGY", Fact::Reshard),
    says("FSDP_RESHARD_AFTER_FORWARD", Fact::Reshard),
    nothing("WANDB_PROJECT"),
];
