//! The values of a plan's fields, in Simplified Chinese.

use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, BackwardPrefetch, Dtype, EmbeddingLoss, EvalStrategy, Framework,
    LossImplementation, LossType, Method, MixedPrecision, Optimizer, PackingStrategy, Pooling, QuantStorage, QuantType,
    ShardingStrategy, Task, TrainerName,
};

use crate::labels::{ChoiceText, choice};

pub(super) fn task(task: Task) -> ChoiceText {
    match task {
        Task::Sft => choice("监督微调", "SFT"),
        Task::SequenceClassification => choice("序列分类", "打分或分类头"),
        Task::Inference => choice("推理", "预填充与生成"),
        Task::Reward => choice("奖励模型", "成对回答，各打一分"),
        Task::Dpo => choice("DPO", "成对回答与参考模型"),
        Task::Grpo => choice("GRPO", "成组生成回答"),
        Task::Ppo => choice("PPO", "策略、价值、参考与奖励模型"),
        Task::Rloo => choice("RLOO", "生成的回答与同组其余回答的均值相比"),
        Task::Kto => choice("KTO", "标注好坏的回答与参考模型"),
        Task::Orpo => choice("ORPO", "成对回答，无需参考模型"),
        Task::Cpo => choice("CPO", "成对回答，无需参考模型；SimPO 是其损失之一"),
        Task::Embedding => choice("向量模型", "查询与文档，批内负例"),
    }
}

pub(super) fn method(method: Method) -> ChoiceText {
    match method {
        Method::Full => choice("全参数", "训练全部权重"),
        Method::Lora => choice("LoRA", "只训练适配器"),
        Method::Qlora => choice("QLoRA", "适配器 + 量化基座"),
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
        (Dtype::Bfloat16, MixedPrecision::No) => choice("bf16", "权重为 bf16，无混合精度"),
        (Dtype::Float16, MixedPrecision::No) => choice("fp16", "权重为 fp16，无混合精度"),
        (Dtype::Float32, MixedPrecision::No) => choice("fp32", "权重为 fp32，无混合精度"),
        (Dtype::Float32, MixedPrecision::Bf16) => choice("fp32 + bf16", "权重为 fp32，混合精度 bf16"),
        (Dtype::Float32, MixedPrecision::Fp16) => choice("fp32 + fp16", "权重为 fp32，混合精度 fp16"),
        (Dtype::Bfloat16, MixedPrecision::Bf16) => choice("bf16 + bf16", "权重为 bf16，混合精度 bf16"),
        (Dtype::Float16, MixedPrecision::Fp16) => choice("fp16 + fp16", "权重为 fp16，混合精度 fp16"),
        (Dtype::Bfloat16, MixedPrecision::Fp16) => choice("bf16 + fp16", "权重为 bf16，混合精度 fp16"),
        (Dtype::Float16, MixedPrecision::Bf16) => choice("fp16 + bf16", "权重为 fp16，混合精度 bf16"),
    }
}

pub(super) fn optimizer(optimizer: Optimizer) -> ChoiceText {
    match optimizer {
        Optimizer::AdamwTorch => choice("AdamW", "PyTorch，foreach"),
        Optimizer::AdamwTorchFused => choice("AdamW（融合）", "PyTorch"),
        Optimizer::AdamwTorchForloop => choice("AdamW（逐张量）", "PyTorch"),
        Optimizer::AdamwBnb8bit => choice("8 位 AdamW", "bitsandbytes"),
        Optimizer::PagedAdamw8bit => choice("8 位分页 AdamW", "bitsandbytes"),
        Optimizer::PagedAdamw32bit => choice("32 位分页 AdamW", "bitsandbytes"),
        Optimizer::Sgd => choice("SGD", "无动量"),
        Optimizer::SgdMomentum => choice("SGD", "带动量"),
        Optimizer::Adafactor => choice("Adafactor", "分解的二阶矩"),
        Optimizer::Lion32bit => choice("Lion", "bitsandbytes，32 位"),
        Optimizer::Lion8bit => choice("8 位 Lion", "bitsandbytes"),
        Optimizer::GaloreAdamw => choice("GaLore AdamW", "低秩梯度"),
        Optimizer::ApolloAdamw => choice("APOLLO AdamW", "低秩缩放"),
        Optimizer::Muon => choice("Muon", "其余参数用 AdamW"),
        Optimizer::PagedLion32bit => choice("分页 Lion", "bitsandbytes，32 位"),
        Optimizer::PagedLion8bit => choice("8 位分页 Lion", "bitsandbytes"),
        Optimizer::Ademamix => choice("AdEMAMix", "bitsandbytes，32 位"),
        Optimizer::Ademamix8bit => choice("8 位 AdEMAMix", "bitsandbytes"),
        Optimizer::PagedAdemamix32bit => choice("分页 AdEMAMix", "bitsandbytes，32 位"),
        Optimizer::PagedAdemamix8bit => choice("8 位分页 AdEMAMix", "bitsandbytes"),
        Optimizer::Rmsprop => choice("RMSprop", "PyTorch"),
        Optimizer::RmspropBnb => choice("RMSprop", "bitsandbytes，32 位"),
        Optimizer::RmspropBnb8bit => choice("8 位 RMSprop", "bitsandbytes"),
        Optimizer::Adagrad => choice("Adagrad", "PyTorch"),
        Optimizer::GaloreAdamw8bit => choice("8 位 GaLore AdamW", "低秩梯度"),
        Optimizer::GaloreAdafactor => choice("GaLore Adafactor", "低秩梯度"),
        Optimizer::GaloreAdamwLayerwise => choice("逐层 GaLore AdamW", "反向传播中更新"),
        Optimizer::GaloreAdamw8bitLayerwise => choice("逐层 8 位 GaLore AdamW", "反向传播中更新"),
        Optimizer::ApolloAdamwLayerwise => choice("逐层 APOLLO AdamW", "反向传播中更新"),
        Optimizer::Lomo => choice("LOMO", "反向传播中更新"),
        Optimizer::Adalomo => choice("AdaLomo", "反向传播中更新"),
        Optimizer::ScheduleFreeAdamw => choice("AdamW（schedule-free）", "schedulefree"),
        Optimizer::ScheduleFreeRadam => choice("RAdam（schedule-free）", "schedulefree"),
        Optimizer::ScheduleFreeSgd => choice("SGD（schedule-free）", "schedulefree"),
        Optimizer::StableAdamw => choice("StableAdamW", "torch-optimi"),
        Optimizer::Grokadamw => choice("GrokAdamW", "状态在主机内存"),
        Optimizer::AdamwTorch8bit => choice("AdamW，8 位状态", "torchao"),
        Optimizer::AdamwTorch4bit => choice("AdamW，4 位状态", "torchao"),
    }
}

pub(super) fn attention(attention: AttnImplementation) -> ChoiceText {
    match attention {
        AttnImplementation::Sdpa => choice("SDPA", "由 PyTorch 选择内核"),
        AttnImplementation::FlashAttention2 => choice("FlashAttention-2", "flash-attn 库"),
        AttnImplementation::Eager => choice("Eager", "完整存下分数矩阵"),
    }
}

pub(super) fn kernel(kernel: AttentionKernel) -> ChoiceText {
    match kernel {
        AttentionKernel::Auto => choice("自动", "由 PyTorch 决定"),
        AttentionKernel::Flash => choice("Flash", ""),
        AttentionKernel::Efficient => choice("省显存内核", ""),
        AttentionKernel::Math => choice("数学实现", "存下分数矩阵"),
    }
}

pub(super) fn framework(framework: Framework) -> ChoiceText {
    match framework {
        Framework::Deepspeed => choice("DeepSpeed", "ZeRO"),
        Framework::Fsdp2 => choice("FSDP2", "fully_shard"),
        Framework::Fsdp1 => choice("FSDP1", "展平参数"),
        Framework::Ddp => choice("DDP", "每卡一份，不分片"),
    }
}

pub(super) fn adapter_dtype(dtype: AdapterDtype) -> ChoiceText {
    match dtype {
        AdapterDtype::Auto => choice("自动", "半精度基座上用 fp32"),
        AdapterDtype::Bfloat16 => choice("bf16", ""),
        AdapterDtype::Float16 => choice("fp16", ""),
        AdapterDtype::Float32 => choice("fp32", ""),
    }
}

pub(super) fn quant_type(quant_type: QuantType) -> ChoiceText {
    match quant_type {
        QuantType::Nf4 => choice("NF4", "正态浮点"),
        QuantType::Fp4 => choice("FP4", "4 位浮点"),
    }
}

pub(super) fn trainer(trainer: TrainerName) -> ChoiceText {
    match trainer {
        TrainerName::Custom => choice("自写循环", "普通训练步，不含任何框架的默认值"),
        TrainerName::Transformers => choice("transformers.Trainer", ""),
        TrainerName::Trl => choice("TRL", "SFT, DPO, GRPO"),
        TrainerName::LlamaFactory => choice("LLaMA-Factory", ""),
        TrainerName::MsSwift => choice("ms-swift", ""),
        TrainerName::Axolotl => choice("axolotl", ""),
        TrainerName::Unsloth => choice("Unsloth", "尚未支持"),
        TrainerName::Verl => choice("verl", "尚未支持"),
        TrainerName::Torchtune => choice("torchtune", "尚未支持"),
    }
}

pub(super) fn quant_storage(storage: QuantStorage) -> ChoiceText {
    match storage {
        QuantStorage::Uint8 => choice("uint8", "FSDP 不会切分"),
        QuantStorage::Bfloat16 => choice("bf16", ""),
        QuantStorage::Float16 => choice("fp16", ""),
        QuantStorage::Float32 => choice("fp32", ""),
    }
}

pub(super) fn loss(loss: LossImplementation) -> ChoiceText {
    match loss {
        LossImplementation::Auto => choice("由训练器决定", ""),
        LossImplementation::FullLogits => choice("完整 logits", ""),
        LossImplementation::FusedLmHead => choice("融合输出头", "TRL 1.16，分块"),
        LossImplementation::ChunkedNll => choice("chunked_nll", "TRL，每次 256 个 token"),
        LossImplementation::Liger => choice("Liger", "融合线性交叉熵"),
        LossImplementation::CutCrossEntropy => choice("Cut Cross-Entropy", "显存中没有 logits"),
    }
}

pub(super) fn loss_type(loss_type: LossType) -> ChoiceText {
    match loss_type {
        LossType::Dapo => choice("dapo", "对累积的全部 token 取平均"),
        LossType::Grpo => choice("grpo", "先按回答、再对回答取平均"),
        LossType::Bnpo => choice("bnpo", "对批内 token 取平均"),
        LossType::DrGrpo => choice("dr_grpo", "除以最长回答长度"),
        LossType::Cispo => choice("cispo", "裁剪权重，不传梯度"),
        LossType::Sapo => choice("sapo", "软门控"),
        LossType::Luspo => choice("luspo", "按长度加权"),
        LossType::Vespo => choice("vespo", "变分权重"),
        LossType::Nll => choice("nll", "交叉熵"),
        LossType::ChunkedNll => choice("chunked_nll", "按 256 个 token 分块"),
        LossType::Dft => choice("dft", "按各 token 概率加权"),
        other => choice(other.name(), ""),
    }
}

pub(super) fn eval_strategy(strategy: EvalStrategy) -> ChoiceText {
    match strategy {
        EvalStrategy::No => choice("no", "不评估"),
        EvalStrategy::Steps => choice("steps", "每隔若干步"),
        EvalStrategy::Epoch => choice("epoch", "每个 epoch 之后"),
    }
}

pub(super) fn packing_strategy(strategy: PackingStrategy) -> ChoiceText {
    match strategy {
        PackingStrategy::Bfd => choice("bfd", "完整样本，最佳适配"),
        PackingStrategy::BfdSplit => choice("bfd_split", "过长样本切开"),
        PackingStrategy::Wrapped => choice("wrapped", "连成一串，按长度切开"),
    }
}

pub(super) fn sharding_strategy(strategy: ShardingStrategy) -> ChoiceText {
    match strategy {
        ShardingStrategy::FullShard => choice("FULL_SHARD", "反向时重新聚合"),
        ShardingStrategy::ShardGradOp => choice("SHARD_GRAD_OP", "聚合后保留到反向"),
        ShardingStrategy::NoShard => choice("NO_SHARD", ""),
        ShardingStrategy::HybridShard => choice("HYBRID_SHARD", "仅在每台机器内分片"),
        ShardingStrategy::HybridShardZero2 => choice("HYBRID_SHARD_ZERO2", "同上，聚合后保留到反向"),
    }
}

pub(super) fn backward_prefetch(prefetch: BackwardPrefetch) -> ChoiceText {
    match prefetch {
        BackwardPrefetch::BackwardPre => choice("BACKWARD_PRE", "计算本层梯度之前"),
        BackwardPrefetch::BackwardPost => choice("BACKWARD_POST", "释放本层之后"),
        BackwardPrefetch::NoPrefetch => choice("NO_PREFETCH", "轮到时才聚合"),
    }
}

pub(super) fn pooling(pooling: Pooling) -> ChoiceText {
    match pooling {
        Pooling::Mean => choice("mean", "全部 token 取平均"),
        Pooling::Cls => choice("cls", "取首个 token"),
        Pooling::Last => choice("last", "取末个 token，解码器模型所需"),
    }
}

pub(super) fn embedding_loss(loss: EmbeddingLoss) -> ChoiceText {
    match loss {
        EmbeddingLoss::InfoNce => choice("InfoNCE", "自写循环，全部文本一次前向"),
        EmbeddingLoss::MultipleNegativesRanking => choice("MultipleNegativesRankingLoss", "查询与文档各一次前向"),
        EmbeddingLoss::CachedMultipleNegativesRanking => {
            choice("CachedMultipleNegativesRankingLoss", "GradCache，分小批计算")
        }
    }
}
