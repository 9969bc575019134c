//! Values with names: what JSON and links call the choices of a plan.

use super::ProblemKind;

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
        serialize_by_name!($name);
    };
}
pub(super) use names;

names! {
    /// Who runs the step.
    TrainerName {
        /// A loop of one's own: the plain step, with nothing a trainer adds. What links of version 1 mean.
        Custom = "custom",
        /// `transformers.Trainer`.
        Transformers = "transformers",
        /// TRL.
        Trl = "trl",
        /// LLaMA-Factory.
        LlamaFactory = "llamafactory",
        /// ms-swift.
        MsSwift = "ms-swift",
        /// axolotl.
        Axolotl = "axolotl",
        /// Unsloth; not modelled.
        Unsloth = "unsloth",
        /// verl; not modelled.
        Verl = "verl",
        /// torchtune; not modelled.
        Torchtune = "torchtune",
    }
}
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
        /// REINFORCE with a leave-one-out baseline.
        Rloo = "rloo",
        /// Kahneman-Tversky optimisation: answers that are good or bad, each by itself.
        Kto = "kto",
        /// Odds ratio preference optimisation: pairs, without a reference.
        Orpo = "orpo",
        /// Contrastive preference optimisation, SimPO among its losses: pairs, without a reference.
        Cpo = "cpo",
        /// An embedding model: texts become vectors, the other texts of the batch are negatives, and no head runs.
        Embedding = "embedding",
    }
}
names! {
    /// How an embedding model makes one vector of a text's hidden states.
    Pooling {
        /// Their mean over the text.
        Mean = "mean",
        /// The first token's.
        Cls = "cls",
        /// The last token's.
        Last = "last",
    }
}
names! {
    /// How an embedding model's vectors are compared, and in how many forwards they come about.
    EmbeddingLoss {
        /// A loop of one's own: one forward of all texts, and cross-entropy over the similarity matrix.
        InfoNce = "info_nce",
        /// sentence-transformers' `MultipleNegativesRankingLoss`: one forward of the queries, one of the documents.
        MultipleNegativesRanking = "multiple_negatives_ranking",
        /// Its `CachedMultipleNegativesRankingLoss` (GradCache): vectors without gradients, the loss and its gradient of
        /// them, then each mini-batch again, forwards and backwards.
        CachedMultipleNegativesRanking = "cached_multiple_negatives_ranking",
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
    /// What computes a language model's loss.
    LossImplementation {
        /// As the trainer does.
        Auto = "auto",
        /// Whole logits.
        FullLogits = "full_logits",
        /// TRL's fused LM head.
        FusedLmHead = "fused_lm_head",
        /// TRL's `chunked_nll`.
        ChunkedNll = "chunked_nll",
        /// Liger's fused linear cross-entropy.
        Liger = "liger",
        /// Apple's Cut Cross-Entropy, as axolotl's fork of it runs in transformers' classes.
        CutCrossEntropy = "cut_cross_entropy",
    }
}
impl LossImplementation {
    /// The problem of a name that Headroom knows and does not model. Unsloth's fused cross-entropy (unsloth_zoo
    /// fused_losses/cross_entropy_loss.py) sizes its chunks by what is free on the GPU as it runs, and compiles them;
    /// torchtune's (modules/loss) reads lists of chunks that only its own models give.
    pub(super) fn not_modelled(name: &str) -> Option<ProblemKind> {
        const NAMES: [&str; 4] = ["unsloth", "unsloth_fused_ce", "torchtune", "torchtune_chunked"];
        let modelled = Self::NAMES.to_vec();
        NAMES.contains(&name).then(|| ProblemKind::NotModelled { value: name.to_owned(), modelled })
    }
}
names! {
    /// How documents are packed (trl trainer/sft_config.py `packing_strategy`).
    PackingStrategy {
        /// Whole documents, best fit first, end to end in one row with positions of their own.
        Bfd = "bfd",
        /// The same; documents that are too long are split.
        BfdSplit = "bfd_split",
        /// One stream of tokens, cut wherever a sequence is full.
        Wrapped = "wrapped",
    }
}
names! {
    /// How attention is computed.
    AttnImplementation {
        /// `torch.nn.functional.scaled_dot_product_attention`.
        Sdpa = "sdpa",
        /// The flash-attn package.
        FlashAttention2 = "flash_attention_2",
        /// Scores and probabilities are materialised.
        Eager = "eager",
    }
}
names! {
    /// What `sdpa` dispatches to.
    AttentionKernel {
        /// Follows GPU, dtype, mask and length.
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
        /// On the GPU.
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
        /// `torch.distributed.fsdp.FullyShardedDataParallel`, with flat parameters.
        Fsdp1 = "fsdp1",
        /// `torch.nn.parallel.DistributedDataParallel`.
        Ddp = "ddp",
    }
}
names! {
    /// FSDP1's `sharding_strategy`.
    ShardingStrategy {
        /// Parameters are freed after forward and gathered again for backward.
        FullShard = "full_shard",
        /// Parameters stay gathered from forward to backward.
        ShardGradOp = "shard_grad_op",
        /// Nothing is sharded.
        NoShard = "no_shard",
        /// Sharded within a node, replicated across nodes.
        HybridShard = "hybrid_shard",
        /// The same without freeing after forward.
        HybridShardZero2 = "hybrid_shard_zero2",
    }
}
names! {
    /// FSDP1's `backward_prefetch`.
    BackwardPrefetch {
        /// The next parameters are gathered before the gradients of these are computed.
        BackwardPre = "backward_pre",
        /// The next parameters are gathered once these have been freed.
        BackwardPost = "backward_post",
        /// Each is gathered when its turn comes.
        NoPrefetch = "no_prefetch",
    }
}
names! {
    /// dtype of the tensors that packed 4-bit weights lie in (`bnb_4bit_quant_storage`).
    QuantStorage {
        /// Bytes, which no framework shards.
        Uint8 = "uint8",
        /// bf16, four weights an element.
        Bfloat16 = "bfloat16",
        /// fp16, four weights an element.
        Float16 = "float16",
        /// fp32, eight weights an element.
        Float32 = "float32",
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

impl Framework {
    /// Whether it is PyTorch's own sharding, which knows no stages.
    pub const fn is_fsdp(self) -> bool {
        matches!(self, Self::Fsdp1 | Self::Fsdp2)
    }
}

impl ShardingStrategy {
    /// Whether it shards within a node and averages gradients across nodes.
    pub const fn is_hybrid(self) -> bool {
        matches!(self, Self::HybridShard | Self::HybridShardZero2)
    }
}

impl QuantStorage {
    /// The number format it is, if it is one that weights have.
    pub const fn dtype(self) -> Option<Dtype> {
        match self {
            Self::Uint8 => None,
            Self::Bfloat16 => Some(Dtype::Bfloat16),
            Self::Float16 => Some(Dtype::Float16),
            Self::Float32 => Some(Dtype::Float32),
        }
    }
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
