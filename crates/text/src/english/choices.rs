//! The values of a plan's fields, in English.

use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, BackwardPrefetch, Dtype, EmbeddingLoss, EvalStrategy, Framework,
    LossImplementation, LossType, Method, MixedPrecision, Optimizer, PackingStrategy, Pooling, QuantStorage, QuantType,
    ShardingStrategy, Task, TrainerName,
};

use crate::labels::{ChoiceText, choice};

pub(super) fn task(task: Task) -> ChoiceText {
    match task {
        Task::Sft => choice("Supervised fine-tuning", "SFT"),
        Task::SequenceClassification => choice("Sequence classification", "score or class head"),
        Task::Inference => choice("Inference", "prefill and generation"),
        Task::Reward => choice("Reward model", "pairs of answers, one score each"),
        Task::Dpo => choice("DPO", "pairs and a reference"),
        Task::Grpo => choice("GRPO", "groups of generated answers"),
        Task::Ppo => choice("PPO", "policy, value model, reference, reward"),
        Task::Rloo => choice("RLOO", "generated answers against the mean of the others"),
        Task::Kto => choice("KTO", "answers marked good or bad, and a reference"),
        Task::Orpo => choice("ORPO", "pairs, no reference"),
        Task::Cpo => choice("CPO", "pairs, no reference; SimPO is one of its losses"),
        Task::Embedding => choice("Embedding model", "queries and documents, in-batch negatives"),
    }
}

pub(super) fn method(method: Method) -> ChoiceText {
    match method {
        Method::Full => choice("Full", "all weights"),
        Method::Lora => choice("LoRA", "adapters"),
        Method::Qlora => choice("QLoRA", "adapters, quantised base"),
    }
}

pub(super) fn dtype(dtype: Dtype) -> ChoiceText {
    match dtype {
        Dtype::Bfloat16 => choice("bf16", "bfloat16"),
        Dtype::Float16 => choice("fp16", "float16"),
        Dtype::Float32 => choice("fp32", "float32"),
    }
}

pub(super) fn precision(weights: Dtype, autocast: MixedPrecision) -> ChoiceText {
    match (weights, autocast) {
        (Dtype::Bfloat16, MixedPrecision::No) => choice("bf16", "weights in bf16, no autocast"),
        (Dtype::Float16, MixedPrecision::No) => choice("fp16", "weights in fp16, no autocast"),
        (Dtype::Float32, MixedPrecision::No) => choice("fp32", "weights in fp32, no autocast"),
        (Dtype::Float32, MixedPrecision::Bf16) => choice("fp32 + bf16", "weights in fp32, autocast to bf16"),
        (Dtype::Float32, MixedPrecision::Fp16) => choice("fp32 + fp16", "weights in fp32, autocast to fp16"),
        (Dtype::Bfloat16, MixedPrecision::Bf16) => choice("bf16 + bf16", "weights in bf16, autocast to bf16"),
        (Dtype::Float16, MixedPrecision::Fp16) => choice("fp16 + fp16", "weights in fp16, autocast to fp16"),
        (Dtype::Bfloat16, MixedPrecision::Fp16) => choice("bf16 + fp16", "weights in bf16, autocast to fp16"),
        (Dtype::Float16, MixedPrecision::Bf16) => choice("fp16 + bf16", "weights in fp16, autocast to bf16"),
    }
}

pub(super) fn optimizer(optimizer: Optimizer) -> ChoiceText {
    match optimizer {
        Optimizer::AdamwTorch => choice("AdamW", "PyTorch, foreach"),
        Optimizer::AdamwTorchFused => choice("AdamW, fused", "PyTorch"),
        Optimizer::AdamwTorchForloop => choice("AdamW, for-loop", "PyTorch"),
        Optimizer::AdamwBnb8bit => choice("AdamW 8-bit", "bitsandbytes"),
        Optimizer::PagedAdamw8bit => choice("AdamW 8-bit, paged", "bitsandbytes"),
        Optimizer::PagedAdamw32bit => choice("AdamW 32-bit, paged", "bitsandbytes"),
        Optimizer::Sgd => choice("SGD", "no momentum"),
        Optimizer::SgdMomentum => choice("SGD", "with momentum"),
        Optimizer::Adafactor => choice("Adafactor", "factored second moment"),
        Optimizer::Lion32bit => choice("Lion", "bitsandbytes, 32-bit"),
        Optimizer::Lion8bit => choice("Lion 8-bit", "bitsandbytes"),
        Optimizer::GaloreAdamw => choice("GaLore AdamW", "low-rank gradients"),
        Optimizer::ApolloAdamw => choice("APOLLO AdamW", "low-rank scaling"),
        Optimizer::Muon => choice("Muon", "AdamW for the rest"),
        Optimizer::PagedLion32bit => choice("Lion, paged", "bitsandbytes, 32-bit"),
        Optimizer::PagedLion8bit => choice("Lion 8-bit, paged", "bitsandbytes"),
        Optimizer::Ademamix => choice("AdEMAMix", "bitsandbytes, 32-bit"),
        Optimizer::Ademamix8bit => choice("AdEMAMix 8-bit", "bitsandbytes"),
        Optimizer::PagedAdemamix32bit => choice("AdEMAMix, paged", "bitsandbytes, 32-bit"),
        Optimizer::PagedAdemamix8bit => choice("AdEMAMix 8-bit, paged", "bitsandbytes"),
        Optimizer::Rmsprop => choice("RMSprop", "PyTorch"),
        Optimizer::RmspropBnb => choice("RMSprop", "bitsandbytes, 32-bit"),
        Optimizer::RmspropBnb8bit => choice("RMSprop 8-bit", "bitsandbytes"),
        Optimizer::Adagrad => choice("Adagrad", "PyTorch"),
        Optimizer::GaloreAdamw8bit => choice("GaLore AdamW 8-bit", "low-rank gradients"),
        Optimizer::GaloreAdafactor => choice("GaLore Adafactor", "low-rank gradients"),
        Optimizer::GaloreAdamwLayerwise => choice("GaLore AdamW, layer-wise", "updates during backward"),
        Optimizer::GaloreAdamw8bitLayerwise => choice("GaLore AdamW 8-bit, layer-wise", "updates during backward"),
        Optimizer::ApolloAdamwLayerwise => choice("APOLLO AdamW, layer-wise", "updates during backward"),
        Optimizer::Lomo => choice("LOMO", "updates during backward"),
        Optimizer::Adalomo => choice("AdaLomo", "updates during backward"),
        Optimizer::ScheduleFreeAdamw => choice("AdamW, schedule-free", "schedulefree"),
        Optimizer::ScheduleFreeRadam => choice("RAdam, schedule-free", "schedulefree"),
        Optimizer::ScheduleFreeSgd => choice("SGD, schedule-free", "schedulefree"),
        Optimizer::StableAdamw => choice("StableAdamW", "torch-optimi"),
        Optimizer::Grokadamw => choice("GrokAdamW", "states on the host"),
        Optimizer::AdamwTorch8bit => choice("AdamW, 8-bit states", "torchao"),
        Optimizer::AdamwTorch4bit => choice("AdamW, 4-bit states", "torchao"),
    }
}

pub(super) fn attention(attention: AttnImplementation) -> ChoiceText {
    match attention {
        AttnImplementation::Sdpa => choice("SDPA", "PyTorch picks the kernel"),
        AttnImplementation::FlashAttention2 => choice("FlashAttention-2", "flash-attn package"),
        AttnImplementation::Eager => choice("Eager", "materialises the score matrix"),
    }
}

pub(super) fn kernel(kernel: AttentionKernel) -> ChoiceText {
    match kernel {
        AttentionKernel::Auto => choice("Auto", "as PyTorch decides"),
        AttentionKernel::Flash => choice("Flash", ""),
        AttentionKernel::Efficient => choice("Memory-efficient", ""),
        AttentionKernel::Math => choice("Math", "materialises the scores"),
    }
}

pub(super) fn framework(framework: Framework) -> ChoiceText {
    match framework {
        Framework::Deepspeed => choice("DeepSpeed", "ZeRO"),
        Framework::Fsdp2 => choice("FSDP2", "fully_shard"),
        Framework::Fsdp1 => choice("FSDP1", "flat parameters"),
        Framework::Ddp => choice("DDP", "copies, no sharding"),
    }
}

pub(super) fn adapter_dtype(dtype: AdapterDtype) -> ChoiceText {
    match dtype {
        AdapterDtype::Auto => choice("Auto", "fp32 over a half-precision base"),
        AdapterDtype::Bfloat16 => choice("bf16", ""),
        AdapterDtype::Float16 => choice("fp16", ""),
        AdapterDtype::Float32 => choice("fp32", ""),
    }
}

pub(super) fn quant_type(quant_type: QuantType) -> ChoiceText {
    match quant_type {
        QuantType::Nf4 => choice("NF4", "normal float"),
        QuantType::Fp4 => choice("FP4", "4-bit float"),
    }
}

pub(super) fn trainer(trainer: TrainerName) -> ChoiceText {
    match trainer {
        TrainerName::Custom => choice("Own loop", "the plain step: no trainer's defaults"),
        TrainerName::Transformers => choice("transformers.Trainer", ""),
        TrainerName::Trl => choice("TRL", "SFT, DPO, GRPO"),
        TrainerName::LlamaFactory => choice("LLaMA-Factory", ""),
        TrainerName::MsSwift => choice("ms-swift", ""),
        TrainerName::Axolotl => choice("axolotl", ""),
        TrainerName::Unsloth => choice("Unsloth", "not modelled yet"),
        TrainerName::Verl => choice("verl", "not modelled yet"),
        TrainerName::Torchtune => choice("torchtune", "not modelled yet"),
    }
}

pub(super) fn quant_storage(storage: QuantStorage) -> ChoiceText {
    match storage {
        QuantStorage::Uint8 => choice("uint8", "FSDP does not shard it"),
        QuantStorage::Bfloat16 => choice("bf16", ""),
        QuantStorage::Float16 => choice("fp16", ""),
        QuantStorage::Float32 => choice("fp32", ""),
    }
}

pub(super) fn loss(loss: LossImplementation) -> ChoiceText {
    match loss {
        LossImplementation::Auto => choice("as the trainer decides", ""),
        LossImplementation::FullLogits => choice("Full logits", ""),
        LossImplementation::FusedLmHead => choice("Fused LM head", "TRL 1.16, in tiles"),
        LossImplementation::ChunkedNll => choice("chunked_nll", "TRL, 256 tokens at a time"),
        LossImplementation::Liger => choice("Liger", "fused linear cross-entropy"),
        LossImplementation::CutCrossEntropy => choice("Cut Cross-Entropy", "no logits in memory"),
    }
}

pub(super) fn loss_type(loss_type: LossType) -> ChoiceText {
    match loss_type {
        LossType::Dapo => choice("dapo", "mean over all accumulated tokens"),
        LossType::Grpo => choice("grpo", "mean over each answer, then over answers"),
        LossType::Bnpo => choice("bnpo", "mean over a batch's tokens"),
        LossType::DrGrpo => choice("dr_grpo", "divided by the longest answer"),
        LossType::Cispo => choice("cispo", "clipped weights without a gradient"),
        LossType::Sapo => choice("sapo", "soft gates"),
        LossType::Luspo => choice("luspo", "weighed by length"),
        LossType::Vespo => choice("vespo", "variational weights"),
        LossType::Nll => choice("nll", "cross-entropy"),
        LossType::ChunkedNll => choice("chunked_nll", "in chunks of 256 tokens"),
        LossType::Dft => choice("dft", "weighed by each token's probability"),
        other => choice(other.name(), ""),
    }
}

pub(super) fn eval_strategy(strategy: EvalStrategy) -> ChoiceText {
    match strategy {
        EvalStrategy::No => choice("no", "never"),
        EvalStrategy::Steps => choice("steps", "after some steps"),
        EvalStrategy::Epoch => choice("epoch", "after each epoch"),
    }
}

pub(super) fn packing_strategy(strategy: PackingStrategy) -> ChoiceText {
    match strategy {
        PackingStrategy::Bfd => choice("bfd", "whole documents, best fit first"),
        PackingStrategy::BfdSplit => choice("bfd_split", "long documents are split"),
        PackingStrategy::Wrapped => choice("wrapped", "one stream, cut where a sequence is full"),
    }
}

pub(super) fn sharding_strategy(strategy: ShardingStrategy) -> ChoiceText {
    match strategy {
        ShardingStrategy::FullShard => choice("FULL_SHARD", "gathered again for backward"),
        ShardingStrategy::ShardGradOp => choice("SHARD_GRAD_OP", "stays gathered until backward"),
        ShardingStrategy::NoShard => choice("NO_SHARD", ""),
        ShardingStrategy::HybridShard => choice("HYBRID_SHARD", "within each machine"),
        ShardingStrategy::HybridShardZero2 => choice("HYBRID_SHARD_ZERO2", "the same, stays gathered until backward"),
    }
}

pub(super) fn backward_prefetch(prefetch: BackwardPrefetch) -> ChoiceText {
    match prefetch {
        BackwardPrefetch::BackwardPre => choice("BACKWARD_PRE", "before this layer's gradients"),
        BackwardPrefetch::BackwardPost => choice("BACKWARD_POST", "after this layer is freed"),
        BackwardPrefetch::NoPrefetch => choice("NO_PREFETCH", "when its turn comes"),
    }
}

pub(super) fn pooling(pooling: Pooling) -> ChoiceText {
    match pooling {
        Pooling::Mean => choice("mean", "mean of all tokens"),
        Pooling::Cls => choice("cls", "first token"),
        Pooling::Last => choice("last", "last token, as decoders need"),
    }
}

pub(super) fn embedding_loss(loss: EmbeddingLoss) -> ChoiceText {
    match loss {
        EmbeddingLoss::InfoNce => choice("InfoNCE", "own loop, one forward of all texts"),
        EmbeddingLoss::MultipleNegativesRanking => {
            choice("MultipleNegativesRankingLoss", "queries in one forward, documents in another")
        }
        EmbeddingLoss::CachedMultipleNegativesRanking => {
            choice("CachedMultipleNegativesRankingLoss", "GradCache, in mini-batches")
        }
    }
}
