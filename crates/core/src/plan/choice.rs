//! The Plan's fields, under the names the ecosystem gives them, and their defaults.

use crate::model::{KernelPackages, Programs};
use serde_json::Value;

use super::companion::Companion;
use super::embedding::Embedding;
use super::evaluation::Evaluation;
use super::launched::LaunchedBy;
use super::names::*;
use super::optimizers::Optimizer;
use super::rollout::{PolicyUpdate, Rollout};
use super::trainer::version::Trainer;

/// Everything the user chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The model.
    pub model: ModelChoice,
    /// The trainer that runs it, and its version.
    pub trainer: Trainer,
    /// What launches the run, where `trainer` only stands for it: the estimate is a guess then.
    pub launched_by: Option<LaunchedBy>,
    /// What is trained or run.
    pub task: Task,
    /// Which weights are trained, and how the others are held.
    pub method: Method,
    /// Adapters; used by [`Method::Lora`] and [`Method::Qlora`].
    pub lora: Lora,
    /// How the base is quantised; used by [`Method::Qlora`].
    pub quantization: Quantization,
    /// dtype the weights are loaded in.
    pub torch_dtype: Dtype,
    /// Autocast.
    pub mixed_precision: MixedPrecision,
    /// Optimizer under its Hugging Face name.
    pub optim: Optimizer,
    /// b, sequences in one forward on one GPU; of an embedding model queries, each with its documents.
    pub per_device_train_batch_size: u64,
    /// Forwards summed before the optimizer steps.
    pub gradient_accumulation_steps: u64,
    /// s, tokens in a sequence; of an encoder-decoder those of each source.
    pub max_length: u64,
    /// Tokens of each target of an encoder-decoder; `None`: as many as of its source.
    pub max_target_length: Option<u64>,
    /// Recompute each layer in backward instead of keeping it.
    pub gradient_checkpointing: bool,
    /// Move what forward keeps to host memory and bring it back in backward (TRL's `activation_offloading`).
    pub activation_offloading: bool,
    /// What computes a language model's loss.
    pub loss_implementation: LossImplementation,
    /// Tokens of a sequence that count in the loss; `None`: all.
    pub label_tokens: Option<u64>,
    /// Documents are put together until they fill sequences.
    pub packing: bool,
    /// How they are put together.
    pub packing_strategy: PackingStrategy,
    /// How attention is computed.
    pub attn_implementation: AttnImplementation,
    /// What `sdpa` dispatches to.
    pub attention_kernel: AttentionKernel,
    /// Whether k and v are repeated to all heads before attention.
    pub expand_kv_heads: Auto,
    /// Liger's fused linear cross-entropy, norms and SwiGLU.
    pub use_liger_kernel: bool,
    /// `TrainingArguments.torch_compile`; not modelled.
    pub torch_compile: bool,
    /// Gradient clipping; 0 switches it off.
    pub max_grad_norm: f64,
    /// A padding mask reaches attention.
    pub padded_batch: bool,
    /// accelerate's conversion of a mixed-precision forward's outputs to fp32.
    pub logits_to_fp32: bool,
    /// The model outputs, so the logits, stay alive through backward and step.
    pub keep_outputs: bool,
    /// `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.
    pub expandable_segments: bool,
    /// peft's hook that makes the embedding output require gradients.
    pub enable_input_require_grads: Auto,
    /// N, GPUs that share the work by data parallelism.
    pub num_gpus: u64,
    /// Machines that these are in, each with as many; `None`: of eight each.
    pub num_nodes: Option<u64>,
    /// DeepSpeed's ZeRO stage, 0 to 3.
    pub zero_stage: u8,
    /// Where the optimizer state lives.
    pub offload_optimizer: Offload,
    /// Where the parameters live between uses.
    pub offload_param: Offload,
    /// The sharding framework and its own keys.
    pub distributed: Distributed,
    /// Labels of a classification head; 1 for a score.
    pub num_labels: u64,
    /// How an embedding model makes one vector of a text; used by [`Task::Embedding`].
    pub pooling: Pooling,
    /// An embedding model's loss; used by [`Task::Embedding`].
    pub embedding: Embedding,
    /// Frozen reference of preference and reinforcement tasks.
    pub reference: Reference,
    /// Generation: tokens produced after the prompt, for `inference` and rollouts.
    pub rollout: Rollout,
    /// PPO's value model; `None`: the policy's own model, with a one-score head.
    pub value_model: Option<Companion>,
    /// Reward models, judges and simulated users, 16 at most; `None` and an empty list mean the same.
    pub reward_models: Option<Vec<Companion>>,
    /// Preference and reinforcement tasks: how the policy is updated.
    pub policy: PolicyUpdate,
    /// Versions that change an allocation.
    pub software: Software,
    /// Memory of the hosts together, GiB; `None`: what machines with such GPUs usually have.
    pub host_memory_gib: Option<f64>,
    /// What a process has of the GPU besides PyTorch's memory (context, kernels, NCCL), MiB, as measured on the machine;
    /// `None`: by the GPU and the number of ranks.
    pub non_pytorch_memory_mib: Option<f64>,
    /// Evaluation between optimizer steps.
    pub evaluation: Evaluation,
    /// Images of a sample, for models with a vision tower.
    pub images: SampleImages,
    /// Parts of the model that do not train, or modules by the names that its class gives them (`visual`, `lm_head`); under LoRA they
    /// get no adapters.
    pub freeze: Vec<String>,
    /// The GPU.
    pub gpu: GpuChoice,
    /// Recorded programs that models may be read by: what the caller has, no choice of the user's. Neither links nor files
    /// have it.
    pub programs: Programs,
}

/// Images of a sample as its processor makes them; what is `None` follows from the rest and from the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleImages {
    /// Images of each sequence; `None`: text alone.
    pub per_sample: Option<u64>,
    /// Pixels of its height; `None`: as many as of its width, and 1,024 where neither is said.
    pub height: Option<u64>,
    /// Pixels of its width; likewise.
    pub width: Option<u64>,
    /// Pixels of an image's area that it is scaled down to where it has more; `None`: what its class's processor takes at most.
    pub max_pixels: Option<u64>,
    /// Tiles that an image is cut into, each seen by the tower as an image of its own. `None`: by the rule of its class's processor, as
    /// patches and positions are.
    pub tiles: Option<u64>,
    /// Patches that the tower sees of an image.
    pub patches: Option<u64>,
    /// Positions that an image takes in the text; they count among `max_length`.
    pub positions: Option<u64>,
}

/// The model: by catalogue id, or as a config.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelChoice {
    /// Catalogue id, which is the Hugging Face id.
    Catalogue(String),
    /// A `config.json` and the name to show.
    Config {
        /// Name to show.
        name: String,
        /// The config as pasted.
        config: Value,
    },
}

/// The GPU: by catalogue id, or described.
#[derive(Debug, Clone, PartialEq)]
pub enum GpuChoice {
    /// Catalogue id.
    Catalogue(String),
    /// Any other GPU.
    Custom {
        /// Name to show, if any.
        name: Option<String>,
        /// Memory in GiB (2^30 bytes).
        memory_gib: f64,
        /// CUDA compute capability.
        compute_capability: (u8, u8),
    },
}

/// A switch that can follow what the libraries would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Auto {
    /// As the libraries do.
    Auto,
    /// Forced.
    Set(bool),
}

/// Adapters.
#[derive(Debug, Clone, PartialEq)]
pub struct Lora {
    /// r, rank.
    pub r: u64,
    /// Scale; does not change memory.
    pub lora_alpha: f64,
    /// Dropout probability before the adapter; above 0 a mask is kept.
    pub lora_dropout: f64,
    /// Which modules get one.
    pub target_modules: TargetModules,
    /// Parameters that are no linear module and get one too: peft's `target_parameters`, for stacked experts.
    pub target_parameters: Vec<String>,
    /// Modules trained in full beside the adapters.
    pub modules_to_save: Vec<String>,
    /// dtype of the adapters.
    pub adapter_dtype: AdapterDtype,
    /// axolotl's kernels for adapted projections (its `lora_mlp_kernel`, `lora_qkv_kernel` and `lora_o_kernel`).
    pub kernels: Auto,
}

/// Which modules get an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetModules {
    /// Every linear layer except the head.
    AllLinear,
    /// Modules whose name ends with one of these.
    Names(Vec<String>),
}

/// How the base is quantised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantization {
    /// 4 or 8.
    pub bits: u8,
    /// 4-bit format.
    pub quant_type: QuantType,
    /// Whether the blocks' maxima are quantised again.
    pub double_quant: bool,
    /// Whether `peft.prepare_model_for_kbit_training` upcasts what is not quantised to fp32.
    pub prepare_for_kbit_training: bool,
    /// bitsandbytes >= 0.50 multiplies short inputs without a dequantised copy.
    pub fused_4bit_gemm: bool,
    /// dtype of the tensors that 4-bit weights are packed into: FSDP and ZeRO-3 shard only those of the group's own.
    pub bnb_4bit_quant_storage: QuantStorage,
    /// Whether a mixture's stacked experts are quantised too, which are no linear layers (axolotl's key; bitsandbytes
    /// nn/parametrize.py `replace_parameter_4bit`).
    pub quantize_moe_experts: bool,
}

/// A size that DeepSpeed takes as a number, leaves at its own default, or that Hugging Face fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketSize {
    /// DeepSpeed's own default.
    Default,
    /// Hugging Face's "auto".
    Auto,
    /// Elements.
    Elements(u64),
}

/// The sharding framework and its own keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Distributed {
    /// Which framework.
    pub framework: Framework,
    /// DeepSpeed `reduce_bucket_size`, elements.
    pub reduce_bucket_size: BucketSize,
    /// DeepSpeed `allgather_bucket_size`, elements.
    pub allgather_bucket_size: BucketSize,
    /// DeepSpeed `stage3_prefetch_bucket_size`, elements.
    pub stage3_prefetch_bucket_size: BucketSize,
    /// DeepSpeed `stage3_param_persistence_threshold`, elements.
    pub stage3_param_persistence_threshold: BucketSize,
    /// DeepSpeed `stage3_max_live_parameters`, elements.
    pub stage3_max_live_parameters: BucketSize,
    /// DeepSpeed `stage3_max_reuse_distance`, elements.
    pub stage3_max_reuse_distance: BucketSize,
    /// DeepSpeed `sub_group_size`, elements.
    pub sub_group_size: BucketSize,
    /// DeepSpeed `bf16.enabled`; `Auto`: when the weights or autocast are bf16.
    pub bf16_enabled: Auto,
    /// DeepSpeed `overlap_comm`; `Auto`: off for stages 1 and 2, on for 3.
    pub overlap_comm: Auto,
    /// DeepSpeed `contiguous_gradients`.
    pub contiguous_gradients: bool,
    /// DeepSpeed `round_robin_gradients`.
    pub round_robin_gradients: bool,
    /// DeepSpeed `data_types.grad_accum_dtype`; `None`: the weights' dtype.
    pub grad_accum_dtype: Option<Dtype>,
    /// `pin_memory` of DeepSpeed's offload sections and of FSDP2's `CPUOffloadPolicy`.
    pub pin_memory: bool,
    /// FSDP2 `reshard_after_forward`.
    pub reshard_after_forward: bool,
    /// FSDP2 `MixedPrecisionPolicy.param_dtype`.
    pub param_dtype: Option<Dtype>,
    /// FSDP2 `MixedPrecisionPolicy.reduce_dtype`.
    pub reduce_dtype: Option<Dtype>,
    /// FSDP2 `CPUOffloadPolicy`.
    pub cpu_offload: bool,
    /// FSDP2: whether the token embedding is wrapped by itself.
    pub wrap_embedding: bool,
    /// DDP `bucket_cap_mb`, MiB.
    pub bucket_cap_mb: u64,
    /// DDP `gradient_as_bucket_view`.
    pub gradient_as_bucket_view: bool,
    /// DDP `static_graph`.
    pub static_graph: bool,
    /// DDP `find_unused_parameters`.
    pub find_unused_parameters: bool,
    /// FSDP1 `sharding_strategy`; `None`: as `reshard_after_forward` says.
    pub sharding_strategy: Option<ShardingStrategy>,
    /// Copies of the sharded model (HSDP): what accelerate's `ParallelismConfig` calls `dp_replicate_size`, and under FSDP1's
    /// hybrid strategies the number of nodes. `None`: one, and of hybrid strategies one a machine of eight GPUs.
    pub dp_replicate_size: Option<u64>,
    /// FSDP1 `backward_prefetch`; `None`: the trainer's default, and PyTorch's in a loop of one's own.
    pub backward_prefetch: Option<BackwardPrefetch>,
    /// accelerate `fsdp_cpu_ram_efficient_loading`: up to transformers 4 each machine's first process alone reads the
    /// checkpoint. transformers 5 reads it in all of them, whatever this says.
    pub cpu_ram_efficient_loading: bool,
}

/// The frozen reference of preference and reinforcement tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// How it exists.
    pub kind: ReferenceKind,
    /// Logits upcast to fp32 before log-softmax.
    pub logits_fp32: bool,
}

/// Versions that change an allocation; `None`: the newest Headroom knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Software {
    /// PyTorch, `major.minor.patch`.
    pub torch: Option<String>,
    /// transformers.
    pub transformers: Option<String>,
    /// peft.
    pub peft: Option<String>,
    /// bitsandbytes.
    pub bitsandbytes: Option<String>,
    /// flash-linear-attention, whose kernels transformers calls for gated and linear attention where it is installed; `None`:
    /// it is not, and transformers' own loop over chunks runs (`integrations/hub_kernels.py`).
    pub flash_linear_attention: Option<String>,
    /// causal-conv1d, whose kernels transformers calls for short convolutions where it is installed; `None`: it is not.
    pub causal_conv1d: Option<String>,
    /// mamba-ssm, whose kernels transformers calls for state-space layers where it is installed; `None`: it is not. It calls
    /// causal-conv1d's functions itself (mamba_ssm/ops/triton/ssd_combined.py).
    pub mamba_ssm: Option<String>,
}

impl Software {
    /// Major and minor version of PyTorch, of `2.10.0` (2, 10); `None`: today's, or no version.
    pub(crate) fn torch_version(&self) -> Option<(u32, u32)> {
        let mut parts = self.torch.as_deref()?.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    }

    /// Packages with kernels for recorded layers that are installed.
    pub(crate) fn kernels(&self) -> KernelPackages {
        KernelPackages {
            flash_linear_attention: self.flash_linear_attention.is_some(),
            causal_conv1d: self.causal_conv1d.is_some(),
            mamba_ssm: self.mamba_ssm.is_some(),
        }
    }
}

impl super::Plan {
    /// Whether stacked experts are quantised with the linear layers.
    pub(crate) fn quantizes_stacked_experts(&self) -> bool {
        self.method == super::Method::Qlora && self.quantization.quantize_moe_experts
    }
}

impl Distributed {
    /// `"auto"` for DeepSpeed's buckets that are not chosen: transformers' Trainer then makes them h² and 10·h elements
    /// (`integrations/deepspeed.py`, `trainer_config_finalize`) where DeepSpeed alone takes 5·10^8.
    pub(crate) fn let_trainer_size_buckets(&mut self) {
        let auto = |size: BucketSize| if matches!(size, BucketSize::Default) { BucketSize::Auto } else { size };
        self.reduce_bucket_size = auto(self.reduce_bucket_size);
        self.stage3_prefetch_bucket_size = auto(self.stage3_prefetch_bucket_size);
        self.stage3_param_persistence_threshold = auto(self.stage3_param_persistence_threshold);
    }

    /// The way back: without ZeRO there are no buckets, and a plan that never had any is the same plan.
    pub(crate) fn forget_trainer_sized_buckets(&mut self) {
        let default = |size: BucketSize| if matches!(size, BucketSize::Auto) { BucketSize::Default } else { size };
        self.reduce_bucket_size = default(self.reduce_bucket_size);
        self.stage3_prefetch_bucket_size = default(self.stage3_prefetch_bucket_size);
        self.stage3_param_persistence_threshold = default(self.stage3_param_persistence_threshold);
    }
}
