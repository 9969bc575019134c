//! The scenario gallery in Simplified Chinese.

use headroom_core::scenario::{Figures, Quantity, Reason};

use crate::gallery::{GalleryTexts, NO_SCENARIO, ScenarioText};

pub(super) const TEXTS: GalleryTexts = GalleryTexts {
    button: "实战场景",
    title: "常用方案与六个真实场景",
    intro: "打开方案可以随意修改。每个真实场景都来自某个团队在显存不足（或发现显卡闲置）之后公开的文档。文档里的数字是作者给出的，与我们的估算并排列出，并说明每处差异的原因。",
    scenario,
    source: "文档：",
    figures,
    rules: "文档数字与估算对照",
    rules_of: |plan| format!("文档数字与估算对照：{plan}"),
    column_quantity: "单卡",
    column_guide: "文档",
    column_ours: "Headroom",
    column_why: "差异原因",
    agrees: "相差不到 10%",
    quantity,
    reason,
};

static EVERYDAY: ScenarioText = ScenarioText {
    title: "四个常用方案",
    story: "大多数人的需求，按 TRL 1.16 的做法运行。先选最接近的一个，再换成自己的模型、显卡、批量和长度。",
    plans: &[
        ("qlora_8b_rtx_4090", "RTX 4090 上用 QLoRA 训练 8B 模型"),
        ("qlora_7b_t4", "T4（免费笔记本）上用 QLoRA 训练 7B 模型"),
        ("full_8b_h100", "八张 H100 用 ZeRO-3 全参数微调 8B 模型"),
        ("grpo_4b", "一张 A100 上用 LoRA 和 vLLM 对 4B 模型做 GRPO"),
    ],
};
static REWARD_MODEL: ScenarioText = ScenarioText {
    title: "八张 64 GB 显卡训练奖励模型",
    story: "Mistral 7B 加一个打分头，全量训练或用 LoRA。关键在于 AdamW 状态的精度：bf16 时全量训练放得下，fp32 时必须分片。",
    plans: &[
        ("full", "全量，状态为 bf16"),
        ("full_fp32_state", "全量，状态与主权重为 fp32"),
        ("full_zero1", "全量，八卡 ZeRO-1"),
        ("lora", "LoRA，序列更长、批量更大"),
    ],
};
static SAFE_DPO: ScenarioText = ScenarioText {
    title: "带两个奖励模型的 DPO",
    story: "策略、冻结的参考模型、有用性和安全性两个打分模型，都是 7B。可以四个模型一起分片，也可以关掉适配器当参考模型，并把打分模型量化到 4 位。",
    plans: &[("full_zero3", "全量，全部用 ZeRO-3 分片"), ("lora_quantized_rewards", "LoRA，奖励模型 4 位")],
};
static GRPO_OUT_OF_MEMORY: ScenarioText = ScenarioText {
    title: "单张 40 GB 显卡跑 GRPO 显存不足",
    story: "7B 策略模型加 LoRA，每条提示四个回答。减少同时处理的序列数最见效，其余靠梯度检查点；降低秩几乎没有用。",
    plans: &[
        ("before", "之前：一次前向 16 条序列"),
        ("after", "之后：8 条序列，回答更短，秩减半"),
        ("checkpointed", "之后，再加梯度检查点"),
        ("level1", "第 1 级：4 条序列"),
        ("level2", "第 2 级：3 个回答，64 token"),
        ("level3", "第 3 级：2 个回答，秩 4"),
    ],
};
static IDLE_GPU: ScenarioText = ScenarioText {
    title: "只用到十分之一显存的训练",
    story: "16 层的小模型在 32 GB 显卡上跑 GRPO，显存大半空着。这里的建议正好相反：按能整除的步子加大批量，直到显卡真正忙起来。",
    plans: &[
        ("now", "现在：批量 4，16 个回答"),
        ("recommended", "推荐：批量 8，32 个回答"),
        ("aggressive", "激进：批量 12，24 个回答"),
    ],
};
static DEEPSPEED_TIERS: ScenarioText = ScenarioText {
    title: "小显存卡的四档 DeepSpeed 配置",
    story: "约 1B 的模型用 LoRA 训练，按显卡大小选档。只有一张卡时 ZeRO 什么也分不掉，真正起作用的是缩短序列和卸载。",
    plans: &[
        ("zero2", "16 GB：第 2 阶段"),
        ("zero2_offload", "12 GB：第 2 阶段，优化器放内存"),
        ("zero3", "6 GB：第 3 阶段"),
        ("minimal", "4 GB：第 3 阶段，全部卸载到内存"),
    ],
};
static TWO_INSTANCES: ScenarioText = ScenarioText {
    title: "一张卡上放两份同样的模型",
    story: "Qwen3-4B 既是智能体，又扮演与之对话的模拟用户。只加载一份、两边共用，就只计一次；再量化到 4 位，省下的也不到四分之三。",
    plans: &[
        ("two_instances", "两份 bf16 实例"),
        ("shared", "一份实例，共用"),
        ("shared_4bit", "一份实例，共用，4 位"),
    ],
};

fn scenario(id: &str) -> &'static ScenarioText {
    match id {
        "everyday" => &EVERYDAY,
        "reward_model" => &REWARD_MODEL,
        "safe_dpo" => &SAFE_DPO,
        "grpo_out_of_memory" => &GRPO_OUT_OF_MEMORY,
        "idle_card" => &IDLE_GPU,
        "deepspeed_tiers" => &DEEPSPEED_TIERS,
        "two_instances" => &TWO_INSTANCES,
        _ => &NO_SCENARIO,
    }
}

fn figures(figures: Figures) -> &'static str {
    match figures {
        Figures::AddedUp => "数字：逐项相加。",
        Figures::Expected => "数字：预期值，并非实测。",
        Figures::None => "文档没有给出这些方案的显存数字。",
    }
}

fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Device => "合计（nvidia-smi）",
        Quantity::Weights => "权重",
        Quantity::Gradients => "梯度",
        Quantity::OptimizerStates => "优化器状态",
        Quantity::Activations => "激活值",
        Quantity::KvCache => "KV 缓存",
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::GradientsInBuckets => "梯度放在 DDP 的桶里，这里计入通信缓冲区。",
        Reason::ShortSequences => "一次前向只有 256 个 token，保留的很少；只有 eager 注意力才随长度平方增长。",
        Reason::StateDtype => "文档的数字是 bf16 状态；fp32 状态加主权重是它的三倍。",
        Reason::Fp32Adapters => "peft 的适配器保持 fp32，梯度和优化器状态也随之为 fp32。",
        Reason::AdapterInputs => "每个适配器都要为反向传播保留一份 fp32 输入，不开梯度检查点时累积可观。",
        Reason::EverySequenceKept => "没有梯度检查点，16 条序列的每一层都要为反向传播保留，这张卡远远不够。",
        Reason::SavingsDoNotAdd => {
            "文档从 40 GB 里直接减去 60%。各项手段省下的比例不能相加：权重不变，秩减半只省几兆字节。文档没有写明模型，这里用的是 7B 模型。"
        }
        Reason::LengthAssumed => "这里按最长的提示和回答计算，文档那次训练的序列更短。",
        Reason::GrowsWithBatchOnly => {
            "这是文档对加大批量的预期。随批量增长的只有激活值、logits 和缓存，权重与优化器状态不变。"
        }
        Reason::FormulaGivesLess => "按文档自己的公式，算出来只有它所写的一半。",
        Reason::UnquantizedParts => "词嵌入、输出头和归一化层仍是 16 位，而这个模型的词表很大。",
    }
}
