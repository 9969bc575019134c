//! Why a setting is what it is: data, said as a comment in a file.

use headroom_core::units::bytes_text;
use headroom_text::Language;

/// A reason.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Why {
    /// Sequences of an optimizer step on all GPUs together.
    EffectiveBatch {
        /// Sequences in one forward on one GPU.
        batch: u64,
        /// Forwards summed.
        accumulation: u64,
        /// GPUs.
        gpus: u64,
    },
    /// Length sets activations.
    Length,
    /// Layers run again in backward.
    Recomputed,
    /// What forward keeps stays.
    Kept,
    /// Bytes of optimizer state on each GPU.
    OptimizerState(u64),
    /// Bytes of weights on each GPU.
    Weights(u64),
    /// Matmuls in this format; weights stay as loaded.
    Autocast,
    /// DeepSpeed's engine computes in it, without autocast.
    CastByEngine,
    /// The trainer loads weights in it, too.
    LoadedAndAutocast,
    /// Matmuls in this format; the trainer holds what trains in fp32.
    TrainedInFp32,
    /// DeepSpeed makes this dtype of them, so that so many bytes are on each GPU.
    WeightsCast {
        /// The engine's.
        dtype: &'static str,
        /// On each GPU.
        bytes: u64,
    },
    /// The base is quantised: this dtype is that of the rest.
    Unquantised {
        /// Of a quantised weight.
        bits: u8,
        /// Of all weights on each GPU.
        bytes: u64,
    },
    /// Weights are loaded in it.
    LoadedIn,
    /// Adapters: parameters that train.
    Trainable(u64),
    /// The GPU has a kernel that keeps no scores.
    AttentionKernel,
    /// What the stage shards over so many GPUs.
    Sharded(u64),
    /// So many copies of what is sharded.
    Replicated(u64),
    /// Bytes of host memory that offload takes on this machine.
    OnHost(u64),
    /// Workers take host memory, none of the GPU's.
    HostWorkers,
    /// Each checkpoint takes space on disk.
    Checkpoints,
    /// Evaluation has a peak of its own.
    EvaluationPeak,
    /// The allocator grows segments in place of cutting them anew.
    Expandable,
    /// The loss keeps no logits of all tokens.
    ChunkedLoss,
    /// Only packed tensors of the group's dtype are sharded.
    QuantStorage,
    /// One process to a GPU.
    Processes,
    /// To be replaced by one's own data.
    YourData,
    /// DeepSpeed trains in bf16 by its own section, which the Trainer must ask for too.
    DeepspeedBf16,
    /// Whole groups of answers are generated.
    WholeGroups,
    /// The norm at which gradients are clipped, or 0 for none.
    Clipping(f64),
    /// A loss scale guards fp16 alone.
    NotFp16,
    /// Layers are recomputed by hooks.
    NotReentrant,
    /// How often state is written.
    Saving,
    /// Bytes of logits of one sequence in evaluation.
    EvaluationLogits(u64),
    /// Forwards before an optimizer step.
    Accumulated(u64),
    /// What is added is scaled by alpha / r.
    Scaled,
}

impl Why {
    /// The comment, without its mark.
    pub(super) fn say(&self, language: Language) -> String {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::EffectiveBatch { batch, accumulation, gpus } => {
                let effective = batch.saturating_mul(*accumulation).saturating_mul(*gpus);
                format!("{batch} x {accumulation} x {gpus} GPU(s) = {effective} sequences an optimizer step")
            }
            Self::Length => "tokens of a sequence: activations grow with it".to_owned(),
            Self::Recomputed => "layers run again in backward instead of keeping activations".to_owned(),
            Self::Kept => "activations are kept: quicker, for more memory".to_owned(),
            Self::OptimizerState(bytes) => format!("{} of state on each GPU", bytes_text(*bytes)),
            Self::Weights(bytes) => format!("{} of weights on each GPU", bytes_text(*bytes)),
            Self::Autocast => "autocast: matmuls in this format, weights stay as loaded".to_owned(),
            Self::CastByEngine => {
                "DeepSpeed casts weights to this format; its optimizer keeps fp32 copies of what trains".to_owned()
            }
            Self::LoadedAndAutocast => "weights are loaded in this format, and matmuls run in it".to_owned(),
            Self::TrainedInFp32 => "autocast: matmuls in this format, what trains is held in float32".to_owned(),
            Self::WeightsCast { dtype, bytes } => {
                format!("DeepSpeed makes the weights {dtype}: {} on each GPU", bytes_text(*bytes))
            }
            Self::Unquantised { bits, bytes } => format!(
                "of what stays unquantised; with the {bits}-bit base {} of weights on each GPU",
                bytes_text(*bytes)
            ),
            Self::LoadedIn => "weights are loaded in this format".to_owned(),
            Self::Trainable(count) => format!("{count} parameters train"),
            Self::AttentionKernel => "keeps no scores of b x heads x s x s".to_owned(),
            Self::Sharded(gpus) => format!("sharded over {gpus} GPUs"),
            Self::Replicated(copies) => format!("{copies} copies of the sharded model"),
            Self::OnHost(bytes) => format!("{} of host memory on this machine", bytes_text(*bytes)),
            Self::HostWorkers => "workers take host memory, none of the GPU's".to_owned(),
            Self::Checkpoints => {
                "each checkpoint takes disk: adapters little, full weights and optimizer state a lot".to_owned()
            }
            Self::EvaluationPeak => {
                "evaluation has a peak of its own (its logits): switch it on with per_device_eval_batch_size=1"
                    .to_owned()
            }
            Self::Expandable => "segments grow in place: less fragmentation".to_owned(),
            Self::ChunkedLoss => "never holds the logits of all tokens".to_owned(),
            Self::QuantStorage => "4-bit weights are packed in this format, so that they can be sharded".to_owned(),
            Self::Processes => "one process to a GPU".to_owned(),
            Self::YourData => "an example: put your own data here".to_owned(),
            Self::DeepspeedBf16 => "as DeepSpeed's own bf16 section, which the Trainer compares with this".to_owned(),
            Self::Clipping(norm) if *norm > 0.0 => "gradients are clipped at this norm".to_owned(),
            Self::Clipping(_) => "gradients are not clipped".to_owned(),
            Self::NotFp16 => "needs a loss scale: bf16 where the GPU has it".to_owned(),
            Self::NotReentrant => "works with frozen inputs, and with DDP".to_owned(),
            Self::Saving => "a checkpoint every so many optimizer steps".to_owned(),
            Self::EvaluationLogits(bytes) => {
                format!("evaluation makes logits, {} for one sequence; the default batch is 8", bytes_text(*bytes))
            }
            Self::Accumulated(1) => "an optimizer step after every forward and backward".to_owned(),
            Self::Accumulated(count) => format!("gradients of {count} batches are summed: no memory for activations"),
            Self::Scaled => "adapters count alpha / r times; no memory".to_owned(),
            Self::WholeGroups => "batch x GPUs x this must hold whole groups of num_generations".to_owned(),
        }
    }

    fn chinese(&self) -> String {
        match self {
            Self::EffectiveBatch { batch, accumulation, gpus } => {
                let effective = batch.saturating_mul(*accumulation).saturating_mul(*gpus);
                format!("{batch} × {accumulation} × {gpus} 张 GPU = 每个优化器步 {effective} 条序列")
            }
            Self::Length => "序列的 token 数：激活随之增长".to_owned(),
            Self::Recomputed => "反向时重新计算各层，不保存激活".to_owned(),
            Self::Kept => "保存激活：更快，但占更多显存".to_owned(),
            Self::OptimizerState(bytes) => format!("每张 GPU 的优化器状态 {}", bytes_text(*bytes)),
            Self::Weights(bytes) => format!("每张 GPU 的权重 {}", bytes_text(*bytes)),
            Self::Autocast => "自动混合精度：矩阵乘用该格式，权重保持加载时的格式".to_owned(),
            Self::CastByEngine => "DeepSpeed 把权重转换为该格式，优化器另存训练参数的 fp32 副本".to_owned(),
            Self::LoadedAndAutocast => "权重按该格式加载，矩阵乘也用该格式".to_owned(),
            Self::TrainedInFp32 => "自动混合精度：矩阵乘用该格式，参与训练的权重保持 float32".to_owned(),
            Self::WeightsCast { dtype, bytes } => {
                format!("DeepSpeed 把权重转换为 {dtype}：每张 GPU {}", bytes_text(*bytes))
            }
            Self::Unquantised { bits, bytes } => {
                format!("未量化部分的格式；连同 {bits} 位基座，每张 GPU 的权重 {}", bytes_text(*bytes))
            }
            Self::LoadedIn => "权重按该格式加载".to_owned(),
            Self::Trainable(count) => format!("{count} 个参数参与训练"),
            Self::AttentionKernel => "不保存 b × 头数 × s × s 的注意力分数".to_owned(),
            Self::Sharded(gpus) => format!("切分到 {gpus} 张 GPU"),
            Self::Replicated(copies) => format!("切分后的模型共 {copies} 份"),
            Self::OnHost(bytes) => format!("本机占用主机内存 {}", bytes_text(*bytes)),
            Self::HostWorkers => "数据加载进程占主机内存，不占显存".to_owned(),
            Self::Checkpoints => "每个检查点占磁盘：适配器很小，全量权重和优化器状态很大".to_owned(),
            Self::EvaluationPeak => "评估有自己的峰值（logits）：需要时请设 per_device_eval_batch_size=1".to_owned(),
            Self::Expandable => "段可原地扩展：碎片更少".to_owned(),
            Self::ChunkedLoss => "不会同时保存所有 token 的 logits".to_owned(),
            Self::QuantStorage => "4 位权重以该格式打包，才能被切分".to_owned(),
            Self::Processes => "每张 GPU 一个进程".to_owned(),
            Self::YourData => "示例：请换成自己的数据".to_owned(),
            Self::DeepspeedBf16 => "与 DeepSpeed 自己的 bf16 段一致，否则 Trainer 会报错".to_owned(),
            Self::Clipping(norm) if *norm > 0.0 => "梯度按此范数裁剪".to_owned(),
            Self::Clipping(_) => "不裁剪梯度".to_owned(),
            Self::NotFp16 => "需要损失缩放：GPU 支持时用 bf16".to_owned(),
            Self::NotReentrant => "输入被冻结时也可用，也可与 DDP 同用".to_owned(),
            Self::Saving => "每隔多少个优化器步保存一次".to_owned(),
            Self::EvaluationLogits(bytes) => {
                format!("评估会产生 logits，每条序列 {}；默认批大小为 8", bytes_text(*bytes))
            }
            Self::Accumulated(1) => "每次前向和反向后更新一次".to_owned(),
            Self::Accumulated(count) => format!("累加 {count} 个批的梯度：不增加激活显存"),
            Self::Scaled => "适配器按 alpha / r 缩放；不占显存".to_owned(),
            Self::WholeGroups => "批大小 × GPU 数 × 该值必须是 num_generations 的整数倍".to_owned(),
        }
    }
}
