//! The core's words in Simplified Chinese.

use headroom_core::gpu::Segment;
use headroom_core::memory::{Category, Fit, Note, Phase, Term};
use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, Dtype, Framework, Method, MixedPrecision, Optimizer, Problem,
    ProblemKind, QuantType, Task,
};
use headroom_core::units::bytes_text;

use super::{ChoiceText, choice};

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
        Term::KvCache => "键与值",
        Term::EnginePool => "推理引擎的显存池",
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
    }
}

pub(super) fn fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "放得下",
        Fit::Tight => "很紧张",
        Fit::DoesNotFit => "放不下",
    }
}

pub(super) fn note(note: &Note) -> String {
    match note {
        Note::GenericModel { model_type } => {
            format!("不认识“{model_type}”这一模型家族，已按类似 Llama 的解码器读取：所有数字仅供参考。")
        }
        Note::AssumedKeys { keys } => {
            format!("config.json 没有写明以下各项，按该模型类的默认值计算：{}。", super::assumed_keys(keys, "、"))
        }
        Note::TextPart { of } => format!("只计算“{of}”的文本部分，不含视觉或音频编码器。"),
        Note::EagerOnly { model_type } => {
            format!("transformers 的“{model_type}”不支持 sdpa：注意力以 eager 方式计算，会写出完整的注意力分数矩阵。")
        }
        Note::FamilyNotMeasured { model_type } => {
            format!("“{model_type}”的激活值按 transformers 代码推导，尚未与实测对照。")
        }
        Note::ZeroOnOneCard => "单卡上的 ZeRO 不切分任何内容，只有卸载才能省显存。".to_owned(),
        Note::CardLacksBfloat16 => "这张卡没有 bf16 硬件支持，也无法运行 flash-attn，可以考虑 float16。".to_owned(),
        Note::AttentionKernel { kernel } => {
            format!("注意力使用“{kernel}”内核：显卡、精度、掩码或长度不允许使用 flash 内核。")
        }
        Note::LongerThanPositions { max_position_embeddings } => {
            format!("序列长度超过了模型设计的 {max_position_embeddings} 个 token。")
        }
        Note::HostMemory { needed, usual, source } => format!(
            "主机内存需要 {}，而配这种显卡的机器通常最多只有 {}（{source}）。",
            bytes_text(*needed),
            bytes_text(*usual)
        ),
        Note::UnquantizedParts { bytes } => {
            format!("词嵌入、输出头和归一化层不会量化，占 {}：4 位量化省不到权重的四分之三。", bytes_text(*bytes))
        }
        Note::NotMeasured { what } => format!("由库代码推导得出，尚未与实测对照：{what}。"),
    }
}

pub(super) fn problem(problem: &Problem) -> String {
    let Problem { field, kind } = problem;
    let near = |nearest: &Option<String>| {
        nearest.as_ref().map_or_else(String::new, |nearest| format!("（是否想写 {nearest}？）"))
    };
    match kind {
        ProblemKind::OutOfRange { value, min, max } => format!("{value} 不在 {min} 到 {max} 之间，请改为范围内的值。"),
        ProblemKind::NotOneOf { value, allowed, nearest } => {
            format!("{value} 不是可选值，可选：{}{}。", allowed.join("、"), near(nearest))
        }
        ProblemKind::WrongType { expected } => format!("这里应填{}。", kind_of_value(expected)),
        ProblemKind::UnknownKey { nearest: None } => "未知的键，请删除。".to_owned(),
        ProblemKind::UnknownKey { nearest } => format!("未知的键{}。", near(nearest)),
        ProblemKind::UnknownModel { id, matches: 0, candidates } => {
            format!("目录里没有模型 {id}，请粘贴它的 config.json{}。", near_ones(candidates))
        }
        ProblemKind::UnknownGpu { id, matches: 0, candidates } => {
            format!("目录里没有显卡 {id}，请直接填写显存（GiB）{}。", near_ones(candidates))
        }
        ProblemKind::UnknownModel { id, matches, candidates } | ProblemKind::UnknownGpu { id, matches, candidates } => {
            let rest = if *matches > candidates.len() { format!("等 {matches} 个") } else { String::new() };
            format!("{id} 可以指 {}{rest}，请选择其中一个。", candidates.join("、"))
        }
        ProblemKind::BadConfig { key, why } => format!("config.json 的 {key} 有误：{why}。"),
        ProblemKind::NoSuchModule { name, known } => {
            format!("模型里没有名为 {name} 的模块，可用的有：{}。", known.join("、"))
        }
        ProblemKind::NotDivisible { value, other, other_value, nearest } => {
            let nearest: Vec<String> = nearest.iter().map(ToString::to_string).collect();
            let choose =
                if nearest.is_empty() { String::new() } else { format!("，可改为 {}", nearest.join(" 或 ")) };
            format!("{value} 与 {other}（{other_value}）不能整除{choose}。")
        }
        ProblemKind::Contradiction { other, mend } => format!("与 {other} 矛盾，请把 {field} 设为 {mend}。"),
        ProblemKind::NotJson { line, column } => {
            format!("第 {line} 行第 {column} 列起不是合法的 JSON，请检查引号、逗号和括号。")
        }
        ProblemKind::TooLong { max_bytes } => format!("超过 {max_bytes} 字节，请缩短。"),
        ProblemKind::Missing => "尚未填写，请补上。".to_owned(),
        ProblemKind::Duplicate => "重复出现，请只保留一个。".to_owned(),
        ProblemKind::BadEscape => "链接在此处损坏，请重新复制完整的链接。".to_owned(),
        ProblemKind::UnknownVersion { value, newest } => {
            format!("未知的链接版本 {value}，已按版本 {newest} 读取；请用更新的 Headroom 打开。")
        }
    }
}

/// What may have been meant, where anything is near.
fn near_ones(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!("（是否想写 {}？）", candidates.join("、")) }
}

/// [`ProblemKind::WrongType`] names what it expects in English.
fn kind_of_value(expected: &str) -> &str {
    match expected {
        "number" => "数字",
        "whole number" => "整数",
        "true or false" => " true 或 false",
        "text" => "文本",
        "object" => "对象",
        "JSON" => " JSON",
        "module names" => "模块名称",
        "version" => "版本号",
        other => other,
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

pub(super) fn task(task: Task) -> ChoiceText {
    match task {
        Task::Sft => choice("监督微调", "SFT"),
        Task::SequenceClassification => choice("序列分类", "打分或分类头"),
        Task::Inference => choice("推理", "预填充与生成"),
        Task::Reward => choice("奖励模型", "成对回答，各打一分"),
        Task::Dpo => choice("DPO", "成对回答与参考模型"),
        Task::Grpo => choice("GRPO", "成组生成回答"),
        Task::Ppo => choice("PPO", "策略、价值、参考与奖励模型"),
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
    }
}

pub(super) fn attention(attention: AttnImplementation) -> ChoiceText {
    match attention {
        AttnImplementation::Sdpa => choice("SDPA", "由 PyTorch 选择内核"),
        AttnImplementation::FlashAttention2 => choice("FlashAttention-2", "flash-attn 库"),
        AttnImplementation::Eager => choice("Eager", "写出完整的分数矩阵"),
    }
}

pub(super) fn kernel(kernel: AttentionKernel) -> ChoiceText {
    match kernel {
        AttentionKernel::Auto => choice("自动", "由 PyTorch 决定"),
        AttentionKernel::Flash => choice("Flash", ""),
        AttentionKernel::Efficient => choice("省显存内核", ""),
        AttentionKernel::Math => choice("数学实现", "写出分数矩阵"),
    }
}

pub(super) fn framework(framework: Framework) -> ChoiceText {
    match framework {
        Framework::Deepspeed => choice("DeepSpeed", "ZeRO"),
        Framework::Fsdp2 => choice("FSDP2", "fully_shard"),
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
