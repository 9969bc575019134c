//! Why a change surprises, in Simplified Chinese.

use headroom_core::advise::why::Cause;

use super::terms::phase;
use crate::why::WhyTexts;

pub(crate) static TEXTS: WhyTexts = WhyTexts {
    ask: "为什么？",
    takes: |change| format!("为什么反而多占显存：{change}"),
    saves_little: |change| format!("为什么几乎省不下显存：{change}"),
    needs_more: |plan, bytes, other| format!("为什么 {plan} 比 {other} 多占 {bytes}？"),
    cause: |cause| {
        match cause {
        Cause::KbitUpcast => "基座权重确实变小了，但 peft 的 prepare_model_for_kbit_training 会把未量化的部分（嵌入、归一化、输出头）都转成 fp32，各层之间传递的张量也随之变成 fp32，占用是 bf16 的两倍。".to_owned(),
        Cause::SmallStatesStayWide => "不足 4096 个元素的张量，bitsandbytes 仍以 fp32 保存其优化器状态，比原来的 bf16 更大。".to_owned(),
        Cause::Pieces => "张量并没有变大，只是排列位置变了：分配器里有更多空闲显存因为不连续而无法分配。".to_owned(),
        Cause::PeakElsewhere(at) => format!("峰值出现在另一个阶段（{}），那时省下的这些张量本来就不在显存里。", phase(at)),
    }
    },
    at_peak: |[before, after], is_same| {
        if is_same {
            format!("峰值时刻的占用（{before}）")
        } else {
            format!("峰值时刻的占用（原为{before}，现为{after}）")
        }
    },
    elsewhere: "确实省下、但峰值时刻不占显存的张量",
    in_phase: |tensors, phase| format!("{tensors}（{phase}）"),
    column_tensors: "张量",
    column_difference: "变化",
    others: "其余合计",
    sum: "所需显存",
    provisional: "暂按其他方案的经验值估算，两者都模拟完成后会更新。",
};
