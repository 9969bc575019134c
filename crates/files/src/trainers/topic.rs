//! What bears on memory and no plan can say.

use crate::finding::Language;

/// Why a key that bears on memory is listed rather than set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The plan has no setting for it.
    NoSetting,
    /// Evaluation has memory of its own.
    Evaluation,
    /// Tensor, sequence, context, pipeline or expert parallelism.
    Parallelism,
    /// DoRA's magnitude vectors and the norms they need.
    Dora,
    /// A kind of adapter other than LoRA.
    AdapterKind,
    /// Part of the weights trains.
    PartlyTrained,
    /// Weights quantised by something other than bitsandbytes.
    OtherQuantization,
    /// fp8.
    Fp8,
    /// How large images are, which hangs on the images themselves.
    Vision,
    /// A second model.
    SecondModel,
    /// An optimizer that is not modelled.
    OptimizerKind,
    /// Activations that are kept or moved in another way.
    Activations,
    /// Kernels that hold other intermediate results.
    Kernels,
    /// A loss that is not modelled.
    Loss,
    /// Batches whose size is not fixed.
    DynamicBatch,
    /// Weights offloaded in a way that is not modelled.
    Offload,
    /// Noise that copies embeddings.
    Noise,
    /// How the vocabulary is changed.
    Vocabulary,
    /// Longer positions than the model's.
    Positions,
    /// Where layers are placed.
    Placement,
    /// It is computed when the program runs.
    Computed,
    /// A file that was not given.
    MissingFile,
}

impl Topic {
    /// Why, in words.
    pub const fn said(self, language: Language) -> &'static str {
        let (english, chinese) = self.sentences();
        match language {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }

    const fn sentences(self) -> (&'static str, &'static str) {
        match self {
            Self::NoSetting => ("the plan has no setting for it", "方案没有对应的设置"),
            Self::Evaluation => (
                "evaluation has memory of its own, which the plan does not contain",
                "评估有自己的显存占用，方案不含评估",
            ),
            Self::Parallelism => (
                "tensor, sequence, context, pipeline and expert parallelism are not modelled",
                "尚未建模张量、序列、上下文、流水线与专家并行",
            ),
            Self::Dora => ("DoRA's magnitudes and column norms are not modelled", "尚未建模 DoRA 的幅度向量与列范数"),
            Self::AdapterKind => (
                "this kind of adapter, or this choice of its modules, is not modelled",
                "尚未建模这种适配器或其模块选择方式",
            ),
            Self::PartlyTrained => (
                "training a part of the weights is not modelled; the plan trains all or adapters",
                "尚未建模只训练部分权重；方案训练全部权重或适配器",
            ),
            Self::OtherQuantization => ("this quantisation is not modelled", "尚未建模这种量化"),
            Self::Fp8 => ("fp8 is not modelled", "尚未建模 fp8"),
            Self::Vision => (
                "what comes of it hangs on the images themselves; say their size in the plan's images",
                "结果取决于图像本身；请在方案的 images 中给出图像尺寸",
            ),
            Self::SecondModel => {
                ("this about another model than the policy is not in the plan", "方案不含策略以外模型的这一设置")
            }
            Self::OptimizerKind => {
                ("this optimizer, or this setting of it, is not modelled", "尚未建模该优化器或它的这一设置")
            }
            Self::Activations => {
                ("activations kept or moved in this way are not modelled", "尚未建模这种激活保存或搬移方式")
            }
            Self::Kernels => ("what these kernels keep is not modelled", "尚未建模这些算子保存的中间结果"),
            Self::Loss => ("this loss is not modelled", "尚未建模该损失"),
            Self::DynamicBatch => {
                ("the batch changes at run time; the plan has a fixed one", "批大小在运行时变化；方案使用固定批大小")
            }
            Self::Offload => ("weights or states offloaded in this way are not modelled", "尚未建模这种卸载方式"),
            Self::Noise => (
                "noise is added to a copy of the embeddings, which is not modelled",
                "会在嵌入的副本上加噪声，尚未建模",
            ),
            Self::Vocabulary => (
                "the vocabulary's size changes; choose a config.json with the new size",
                "词表大小会变化；请使用新词表大小的 config.json",
            ),
            Self::Positions => {
                ("positions are scaled; the plan keeps the model's own", "位置编码被缩放；方案保留模型原有设置")
            }
            Self::Placement => ("layers placed on several devices are not modelled", "尚未建模把各层放在多个设备上"),
            Self::Computed => ("its value is computed when the program runs", "它的值在运行时才计算"),
            Self::MissingFile => ("it stands in a file that was not given", "它在没有提供的文件中"),
        }
    }
}
