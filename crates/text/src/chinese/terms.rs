//! What memory is called, in Simplified Chinese: categories, phases, terms, verdicts; segments of the market.

use headroom_core::gpu::Segment;
use headroom_core::memory::{Category, Fit, Phase, Term};

pub(super) fn category(category: Category) -> &'static str {
    match category {
        Category::Weights => "权重",
        Category::Gradients => "梯度",
        Category::OptimizerStates => "优化器状态",
        Category::Activations => "激活值",
        Category::LogitsAndLoss => "logits 与损失",
        Category::KvCache => "KV 缓存",
        Category::CommunicationBuffers => "通信缓冲区",
        Category::Temporary => "临时张量",
        Category::Overhead => "额外开销",
    }
}

pub(super) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Load => "加载",
        Phase::Prefill => "预填充",
        Phase::Decode => "解码",
        Phase::Generation => "采样生成",
        Phase::OldLogProbs => "旧策略对数概率",
        Phase::ReferenceForward => "参考模型前向",
        Phase::RewardForward => "奖励与价值打分",
        Phase::Forward => "前向传播",
        Phase::Loss => "计算损失",
        Phase::LossBackward => "损失的反向传播",
        Phase::Backward => "反向传播",
        Phase::GradientClipping => "梯度裁剪",
        Phase::OptimizerStep => "优化器更新",
        Phase::WeightSync => "权重同步",
    }
}

pub(super) fn term(term: Term) -> &'static str {
    match term {
        Term::EmbeddingWeights => "词嵌入",
        Term::AttentionWeights => "注意力投影",
        Term::FeedForwardWeights => "前馈层投影",
        Term::ExpertWeights => "专家与路由",
        Term::NormWeights => "归一化层",
        Term::HeadWeights => "输出头",
        Term::QuantizedWeights => "量化权重",
        Term::QuantizationConstants => "量化常数",
        Term::AdapterWeights => "LoRA 适配器",
        Term::ReferenceWeights => "参考模型",
        Term::ValueWeights => "价值模型",
        Term::RewardWeights => "奖励模型",
        Term::EngineWeights => "推理引擎中的权重",
        Term::Buffers => "缓冲张量",
        Term::WeightGradients => "权重的梯度",
        Term::AdapterGradients => "适配器的梯度",
        Term::GradientShard => "梯度分片",
        Term::MasterWeights => "fp32 主权重",
        Term::FirstMoment => "一阶矩",
        Term::SecondMoment => "二阶矩",
        Term::FactoredSecondMoment => "分解的二阶矩",
        Term::BlockwiseStateScales => "8 位状态的缩放系数",
        Term::LowRankProjections => "低秩投影",
        Term::StepCounters => "步数计数器",
        Term::BatchInputs => "输入、标签与掩码",
        Term::ResidualStream => "残差流",
        Term::NormInputs => "fp32 的归一化输入",
        Term::NormStatistics => "归一化统计量",
        Term::NormalizedValues => "归一化后的值",
        Term::NormOutputs => "归一化输出",
        Term::QueryKeyValue => "查询、键与值",
        Term::RotaryTables => "旋转位置表",
        Term::AttentionOutput => "注意力输出",
        Term::AttentionScores => "注意力分数",
        Term::AttentionMask => "注意力掩码",
        Term::DropoutMasks => "dropout 掩码",
        Term::FeedForwardActivations => "前馈层激活值",
        Term::ExpertActivations => "专家激活值",
        Term::RouterActivations => "路由激活值",
        Term::AdapterActivations => "适配器激活值",
        Term::AutocastInputs => "自动混合精度转换的输入",
        Term::AutocastWeights => "自动混合精度转换的权重",
        Term::HeadInputs => "输出头的输入",
        Term::Logits => "logits",
        Term::LogitsFp32 => "fp32 的 logits",
        Term::LogSoftmax => "log-softmax",
        Term::LogitsGradients => "logits 的梯度",
        Term::ChunkedLoss => "分块损失",
        Term::ScoreHead => "分类头",
        Term::SentenceEmbeddings => "句向量",
        Term::SimilarityMatrix => "相似度矩阵",
        Term::KvCache => "键与值",
        Term::EnginePool => "推理引擎的显存池",
        Term::EngineBuffers => "推理引擎的缓冲区",
        Term::EngineActivations => "推理引擎的激活值",
        Term::CudaGraphs => "推理引擎的 CUDA Graph",
        Term::SamplingScores => "采样得分",
        Term::LogProbabilities => "对数概率",
        Term::ReduceBuckets => "规约桶",
        Term::GatheredParameters => "聚合的参数",
        Term::OffloadStaging => "卸载中转缓冲区",
        Term::ActivationGradients => "激活值的梯度",
        Term::ForwardTemporaries => "前向中间结果",
        Term::DequantizedWeights => "反量化的权重",
        Term::UnaccumulatedGradients => "尚未累加的梯度",
        Term::ClippingTemporaries => "梯度裁剪",
        Term::OptimizerTemporaries => "优化器临时张量",
        Term::ReductionBuffers => "逐 token 求和的缓冲区",
        Term::CublasWorkspace => "cuBLAS 工作区",
        Term::CudaContext => "CUDA 上下文",
        Term::NcclBuffers => "NCCL 缓冲区",
        Term::UnsplitRemainders => "未切分的块尾",
        Term::Fragmentation => "显存碎片",
        Term::HostOptimizerStates => "优化器状态",
        Term::HostParameters => "参数",
        Term::HostGradients => "梯度",
        Term::HostActivations => "激活值",
        Term::HostEngineWeights => "休眠引擎的权重",
    }
}

pub(super) fn fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "放得下",
        Fit::Tight => "很紧张",
        Fit::DoesNotFit => "放不下",
    }
}

pub(super) fn guessed_fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "推测：大概放得下",
        Fit::Tight => "推测：不确定能否放下",
        Fit::DoesNotFit => "推测：大概放不下",
    }
}

pub(super) fn segment(segment: Segment) -> &'static str {
    match segment {
        Segment::Consumer => "消费级",
        Segment::Laptop => "笔记本",
        Segment::Workstation => "工作站",
        Segment::DataCentre => "数据中心",
        Segment::Custom => "自定义",
    }
}
