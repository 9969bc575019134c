//! The Plan's fields, under the names the ecosystem gives them, and their defaults.

use serde_json::Value;

use super::companion::Companion;
use super::rollout::{PolicyUpdate, Rollout};

/// Everything the user chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The model.
    pub model: ModelChoice,
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
    /// b, sequences in one forward on one card.
    pub per_device_train_batch_size: u64,
    /// Forwards summed before the optimizer steps.
    pub gradient_accumulation_steps: u64,
    /// s, tokens in a sequence.
    pub max_length: u64,
    /// Recompute each layer in backward instead of keeping it.
    pub gradient_checkpointing: bool,
    /// How attention is computed.
    pub attn_implementation: AttnImplementation,
    /// What `sdpa` dispatches to.
    pub attention_kernel: AttentionKernel,
    /// Whether k and v are repeated to all heads before attention.
    pub expand_kv_heads: Auto,
    /// Liger's fused linear cross-entropy, norms and SwiGLU.
    pub use_liger_kernel: bool,
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
    /// N, cards that share the work by data parallelism.
    pub num_gpus: u64,
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
    /// The card.
    pub gpu: GpuChoice,
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

/// The card: by catalogue id, or described.
#[derive(Debug, Clone, PartialEq)]
pub enum GpuChoice {
    /// Catalogue id.
    Catalogue(String),
    /// Any other card.
    Custom {
        /// Name to show, if any.
        name: Option<String>,
        /// Memory in GiB (2^30 bytes).
        memory_gib: f64,
        /// CUDA compute capability.
        compute_capability: (u8, u8),
    },
}

/// Declares an enum whose variants have a name in JSON and links.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
        impl $name {
            /// Every value, in the order lists show them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// Names of [`Self::ALL`], in that order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];
            /// Name in JSON and links.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
            /// The value with `name`.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(super) use names;

names! {
    /// What is trained or run.
    Task {
        /// Supervised fine-tuning of a causal language model.
        Sft = "sft",
        /// A classification or score head instead of the vocabulary.
        SequenceClassification = "sequence_classification",
        /// Prefill and generation, nothing trained.
        Inference = "inference",
        /// Reward model over chosen and rejected answers.
        Reward = "reward",
        /// Direct preference optimisation.
        Dpo = "dpo",
        /// Group relative policy optimisation.
        Grpo = "grpo",
        /// Proximal policy optimisation.
        Ppo = "ppo",
    }
}
names! {
    /// Which weights are trained, and how the others are held.
    Method {
        /// All weights.
        Full = "full",
        /// Low-rank adapters over a frozen base.
        Lora = "lora",
        /// Low-rank adapters over a frozen quantised base.
        Qlora = "qlora",
    }
}
names! {
    /// Number formats of weights.
    Dtype {
        /// 2 bytes, 8-bit exponent.
        Bfloat16 = "bfloat16",
        /// 2 bytes, 5-bit exponent.
        Float16 = "float16",
        /// 4 bytes.
        Float32 = "float32",
    }
}
names! {
    /// Autocast.
    MixedPrecision {
        /// None.
        No = "no",
        /// To bfloat16.
        Bf16 = "bf16",
        /// To float16, with a gradient scaler.
        Fp16 = "fp16",
    }
}
names! {
    /// Optimizers under their Hugging Face names.
    Optimizer {
        /// `torch.optim.AdamW` as PyTorch defaults: foreach on CUDA.
        AdamwTorch = "adamw_torch",
        /// `torch.optim.AdamW(fused=True)`.
        AdamwTorchFused = "adamw_torch_fused",
        /// `torch.optim.AdamW(foreach=False)`.
        AdamwTorchForloop = "adamw_torch_forloop",
        /// bitsandbytes AdamW, 8-bit states.
        AdamwBnb8bit = "adamw_bnb_8bit",
        /// bitsandbytes AdamW, 8-bit states in managed memory.
        PagedAdamw8bit = "paged_adamw_8bit",
        /// bitsandbytes AdamW, fp32 states in managed memory.
        PagedAdamw32bit = "paged_adamw_32bit",
        /// `torch.optim.SGD` without momentum.
        Sgd = "sgd",
        /// `torch.optim.SGD` with momentum.
        SgdMomentum = "sgd_momentum",
        /// transformers' Adafactor without first moment.
        Adafactor = "adafactor",
        /// bitsandbytes Lion, fp32 state.
        Lion32bit = "lion_32bit",
        /// bitsandbytes Lion, 8-bit state.
        Lion8bit = "lion_8bit",
        /// GaLore over AdamW.
        GaloreAdamw = "galore_adamw",
        /// APOLLO over AdamW.
        ApolloAdamw = "apollo_adamw",
        /// Muon for matrices, AdamW for the rest.
        Muon = "muon",
    }
}
names! {
    /// How attention is computed.
    AttnImplementation {
        /// `torch.nn.functional.scaled_dot_product_attention`.
        Sdpa = "sdpa",
        /// The flash-attn package.
        FlashAttention2 = "flash_attention_2",
        /// Written out: scores and probabilities exist.
        Eager = "eager",
    }
}
names! {
    /// What `sdpa` dispatches to.
    AttentionKernel {
        /// Follows card, dtype, mask and length.
        Auto = "auto",
        /// Flash kernel.
        Flash = "flash",
        /// Memory-efficient kernel.
        Efficient = "efficient",
        /// Plain mathematics.
        Math = "math",
    }
}
names! {
    /// Where something lives between uses.
    Offload {
        /// On the card.
        None = "none",
        /// In host memory.
        Cpu = "cpu",
    }
}
names! {
    /// Sharding frameworks.
    Framework {
        /// DeepSpeed ZeRO.
        Deepspeed = "deepspeed",
        /// `torch.distributed.fsdp.fully_shard`.
        Fsdp2 = "fsdp2",
        /// `torch.nn.parallel.DistributedDataParallel`.
        Ddp = "ddp",
    }
}
names! {
    /// dtype of the adapters.
    AdapterDtype {
        /// peft's default: fp32 when the base is fp16 or bf16.
        Auto = "auto",
        /// bf16.
        Bfloat16 = "bfloat16",
        /// fp16.
        Float16 = "float16",
        /// fp32.
        Float32 = "float32",
    }
}
names! {
    /// 4-bit number formats.
    QuantType {
        /// Normal float.
        Nf4 = "nf4",
        /// 4-bit float.
        Fp4 = "fp4",
    }
}
names! {
    /// How the frozen reference exists.
    ReferenceKind {
        /// As the task's trainer does: adapter switched off for LoRA, a copy otherwise.
        Auto = "auto",
        /// A second, frozen model.
        Copy = "copy",
        /// The policy with its adapter switched off.
        AdapterDisabled = "adapter_disabled",
        /// Log-probabilities computed before training (TRL's `precompute_ref_log_probs`).
        Precomputed = "precomputed",
        /// None.
        None = "none",
    }
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
    /// Modules trained in full beside the adapters.
    pub modules_to_save: Vec<String>,
    /// dtype of the adapters.
    pub adapter_dtype: AdapterDtype,
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
    /// DeepSpeed `pin_memory` of the offload sections.
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
}

impl Dtype {
    /// Bytes of one element.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bfloat16 | Self::Float16 => 2,
            Self::Float32 => 4,
        }
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
}
