//! Advice in Simplified Chinese.

use headroom_core::advise::{Level, Lever};
use headroom_core::speed::{Part, Range};

use crate::advice::{AdviceTexts, TokenTime};
use crate::labels::{ChoiceText, choice};

pub(super) const TEXTS: AdviceTexts = AdviceTexts {
    compare: "对比",
    title: "建议",
    working: "正在计算：每项改动都先经模拟验证，再给出建议…",
    fit_title: "怎样才能放下",
    fill_title: "用满显卡",
    fit_intro: |need, gpu| {
        format!("方案需要 {need}，显卡只有 {gpu}。下面每一种办法都针对这个方案算出，是同类中最快的。")
    },
    tight_intro: |need, gpu| {
        format!("方案大约需要 {need}，显卡有 {gpu}，只是勉强放得下。下面的改动能确保放下，每一种都是同类中最快的。")
    },
    fill_intro: |share, need, gpu| format!("显存用了 {share}%（{need} / {gpu}）。"),
    used_intro: |share, need, gpu| format!("显存已用 {share}%（{need} / {gpu}），没有什么需要再调高。"),

    applied: |count| format!("已采用：改了 {count} 个字段"),
    undo: "撤销",
    copy_code: "复制代码",
    code_copied: "代码已复制",

    level_group: "允许改动到什么程度？",
    level,
    level_short: |level| match level {
        Level::Same => "不变",
        Level::Coarser => "降低精度",
        Level::Different => "会改变",
    },
    level_warning: |level, trains| match level {
        Level::Same => None,
        Level::Coarser if !trains => Some("模型的运算精度会降低，采用前请先比较回答。"),
        Level::Different if !trains => Some("模型或它读到的内容变了，回答也会随之改变。"),
        Level::Coarser => Some("权重、梯度、优化器状态或运算的位数会减少。损失通常相差不大，建议先跑一小段比较。"),
        Level::Different => Some("训练的内容变了，结果质量也会随之改变，采用前请先比较。"),
    },
    fits_with: |changes, time| format!("改 {changes} 处即可放下，{}", token_time(time)),
    not_needed: |level| format!("不必：方案 {} 已放得下，而且一样快", number(level)),
    vllm_title: "用 vLLM 生成",
    vllm: |time, memory| {
        format!("方案用 transformers 生成。在同一批显卡上改用 vLLM，每步用时为原来的 {time}；显存 {memory}。")
    },
    evaluation_title: "首先：减小评估批次",
    smaller_evaluation: |batch| {
        format!("训练步之间的评估会显存不足。设 per_device_eval_batch_size={batch} 后有望放下，训练不受影响。")
    },
    frozen_title: "首先：以 16 位加载冻结的权重",
    frozen_in_float32: |saved| {
        format!(
            "没有任何设置指定数据类型，冻结的权重因此以 float32 加载。改用 16 位加载可省 {saved}；适配器的训练不变。"
        )
    },
    reaches: |least, gpu| format!("还不够：最少仍需 {least}，显卡只有 {gpu}"),
    no_lever: "还不够",
    short_why: "在这张卡上，这些改动怎么组合都不够。",
    host_limit: |bytes| format!("卸载最多按 {bytes} 主机内存计算，配这种显卡的机器通常不会更多。"),

    lever,
    lever_short,
    only_this: "仅应用此项",
    apply_all: |changes| match changes {
        1 => "采用这项改动".to_owned(),
        _ => format!("采用全部 {changes} 项改动"),
    },
    token_takes: token_time,
    effective_batch: |[before, after]| {
        if before == after {
            format!("有效批量仍为 {before}")
        } else {
            format!("有效批量从 {before} 变为 {after}")
        }
    },

    host_takes: |bytes| format!("占用主机内存 {bytes}"),

    nothing_short: |gpus| format!("在现有显卡上怎么改都不够，至少需要 {gpus}。"),
    no_hardware: "怎么改都不够，显卡目录里的任何型号、再多张也放不下。",
    gpus: |count, name| format!("{count} × {name}"),
    gpu_of: |memory| format!("{memory} 显卡"),
    hardware: |level| match level {
        Level::Same => "训练方式不变",
        Level::Coarser => "降低精度",
        Level::Different => "训练内容有变：QLoRA、更短的序列或更小的模型",
    },

    waterfall_title: "逐项改动各省多少",
    waterfall_why: "百分比不能直接相加：每一项省下的，都只是前面各项改完之后剩余部分的一个比例。字节数逐项相加则分毫不差。",
    waterfall_table: "以表格查看逐项节省",
    column_bytes: "字节",
    column_then_bytes: "改后占用（字节）",

    target_group: "希望用到显存的多少",
    target: |low, high| format!("{low}–{high}%"),
    cautious: |range| format!("{range}（保守）"),
    recommended: "训练不变，更快",
    aggressive: "增大有效批量",
    share_used: |share, need, gpu| format!("占显存的 {share}%：{need} / {gpu}"),
    gain: |gain| format!("每秒 token 数：{gain}"),
    nothing_fills: "没有值得调高的设置：在放得下的前提下，改变批大小，或减少重计算、卸载和分片，都不能让训练快到 1.05 倍。",
    back_off_title: "如果仍然显存不足，按以下顺序调低",
    others_title: "也可以单独调高别的数值，但训练内容会随之改变",
    longer_only_if: "数据里确有更长的序列时才有用。",

    levers_title: "每项改动单独的效果",
    levers_intro: "在这个方案上只改一项：省下或多占多少显存，以及之后每条序列要多久。",
    levers_provisional: "暂按其他方案的经验估算，每项改动正在逐一模拟…",
    column_change: "改动",
    column_need: "显存",
    column_then_needs: "改后占用",
    column_token_time: "每 token 耗时",
    column_sequence_time: "每条序列耗时",
    column_result: "训练结果",

    time_title: "每步耗时",
    generation_title: "一次生成的耗时",
    time_rough: "粗略估计：绝对值可能相差数倍，两个方案之比才可信。",
    step_time: |seconds, tokens| format!("约 {seconds}，每秒 {tokens} 个 token。"),
    parts_title: "时间花在哪里",
    column_part: "部分",
    column_seconds: "耗时",
    column_share: "占比",
    part: |part| match part {
        Part::Prefill => "读入提示",
        Part::Decoding => "逐个生成 token",
        Part::Scoring => "不求梯度的前向",
        Part::ForwardMatmuls => "矩阵乘（前向）",
        Part::BackwardMatmuls => "矩阵乘（反向）",
        Part::Recomputation => "重算",
        Part::Attention => "注意力",
        Part::MemoryTraffic => "归一化、激活函数、类型转换",
        Part::Loss => "词表上的损失",
        Part::Dequantization => "反量化权重",
        Part::Optimizer => "梯度裁剪与优化器",
        Part::Communication => "卡间通信",
        Part::Offload => "显卡与主机之间的传输",
        Part::HostOptimizer => "主机上的优化器",
        Part::Launches => "等待内核启动",
    },
};

/// What a ratio of times per token means, with its range.
fn token_time(time: Range) -> String {
    let times =
        |range: Option<[f64; 2]>| range.map_or_else(String::new, |[low, high]| format!("（{low:.1}–{high:.1} 倍）"));
    let shares =
        |range: Option<[String; 2]>| range.map_or_else(String::new, |[low, high]| format!("（{low}% 到 {high}%）"));
    match TokenTime::from(time) {
        TokenTime::Times(factor, range) => format!("每 token 耗时为 {factor:.1} 倍{}", times(range)),
        TokenTime::Same(range) => format!("每 token 耗时不变{}", shares(range)),
        TokenTime::More(share, range) => format!("每 token 慢 {share}%{}", shares(range)),
        TokenTime::Less(share, range) => format!("每 token 耗时少 {share}%{}", shares(range)),
    }
}

/// 级别在标签中的编号。
fn number(level: Level) -> usize {
    Level::ALL.iter().position(|other| *other == level).map_or(0, |place| place + 1)
}

fn level(level: Level) -> ChoiceText {
    match level {
        Level::Same => choice("1 · 结果不变", "任何数值的存储和计算位数都不减少"),
        Level::Coarser => choice("2 · 降低精度", "权重、梯度或优化器状态的位数减少"),
        Level::Different => choice("3 · 改变训练内容", "改用适配器、缩短序列或换小模型"),
    }
}

fn lever(lever: Lever) -> String {
    let fixed = match lever {
        Lever::ExpandableSegments => "可扩展段（expandable segments）",
        Lever::Sdpa => "用融合注意力代替 eager",
        Lever::FusedOptimizer => "融合的优化器内核",
        Lever::Liger => "Liger 内核：分块计算损失",
        Lever::LigerLayers => "Liger 内核：融合归一化与 SwiGLU",
        Lever::ChunkedLoss => "按 256 个 token 分块计算损失",
        Lever::OffloadActivations => "激活值暂存到主机内存",
        Lever::KeepActivations => "激活值留在显存",
        Lever::PaddingFree => "序列首尾相接，不用填充掩码",
        Lever::Padded => "每条序列单独一行，不用分隔掩码",
        Lever::Checkpointing => "梯度检查点",
        Lever::NoCheckpointing => "关闭梯度检查点：保留激活值",
        Lever::SmallBuckets => "DeepSpeed 通信桶的大小交给 Trainer 决定",
        Lever::NewerTrainer => "使用训练框架的最新版本",
        Lever::DropOutputs => "反向传播之前释放模型输出",
        Lever::EightBitOptimizer => "优化器状态改用 8 位",
        Lever::PagedOptimizer => "优化器状态改用 8 位，并可换页到主机",
        Lever::Adafactor => "Adafactor：分解的二阶矩",
        Lever::HalfPrecisionBase => "冻结的基座以 16 位加载",
        Lever::PureBfloat16 => "权重和优化器状态改用 bf16，不保留 fp32 主权重",
        Lever::AdapterReference => "以关闭适配器的策略模型作为参考",
        Lever::PrecomputedReference => "参考模型的对数概率事先算好",
        Lever::SharedInstances => "裁判与策略共用权重",
        Lever::OffloadedInstances => "冻结的模型不运行时放在主机内存",
        Lever::ResidentInstances => "冻结的模型留在显存",
        Lever::QuantizedInstances => "冻结的模型改用 4 位",
        Lever::Vllm => "在同一批显卡上用 vLLM 生成",
        Lever::Lora => "用 LoRA 适配器代替训练全部权重",
        Lever::Qlora => "基座权重改用 4 位",
        Lever::NarrowAdapters => "适配器改用 16 位训练",
        Lever::AttentionAdapters => "只在注意力上加适配器",
        Lever::GradCache(rows) => return format!("文本按每批 {rows} 段分批计算（GradCache）"),
        Lever::MicroBatch(batch) => return format!("微批量 {batch}，增加累积步数"),
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let what = match (zero_stage, offload_optimizer, offload_param) {
                (0, ..) => return "各卡之间不分片".to_owned(),
                (1, false, _) => "：优化器状态分到各卡",
                (2, false, _) => "：优化器状态和梯度分到各卡",
                (_, false, false) => "：全部分到各卡",
                (_, true, false) => "，优化器状态放在主机内存",
                (_, _, true) => "，优化器状态和参数放在主机内存",
            };
            return format!("ZeRO-{zero_stage}{what}");
        }
        Lever::Rank(r) => return format!("适配器的秩改为 {r}"),
        Lever::Length(length) => return format!("序列缩短到 {length} 个 token"),
        Lever::Generations(generations) => return format!("每条提示 {generations} 个回答"),
        Lever::CompletionLength(tokens) => return format!("回答最多 {tokens} 个 token"),
        Lever::Model(_) => "换小一些的模型",
        Lever::Gpus(count) => return format!("用 {count} 张卡"),
        Lever::Gpu(_) => "换一种显卡",
    };
    fixed.to_owned()
}

fn lever_short(lever: Lever) -> String {
    let fixed = match lever {
        Lever::ExpandableSegments => "可扩展段",
        Lever::Sdpa => "SDPA",
        Lever::FusedOptimizer => "融合优化器",
        Lever::Liger => "Liger",
        Lever::LigerLayers => "Liger 层内核",
        Lever::ChunkedLoss => "分块损失",
        Lever::OffloadActivations => "激活值卸载",
        Lever::KeepActivations => "激活值不卸载",
        Lever::PaddingFree => "无填充",
        Lever::Padded => "逐行填充",
        Lever::Checkpointing => "梯度检查点",
        Lever::NoCheckpointing => "关闭检查点",
        Lever::SmallBuckets => "小通信桶",
        Lever::NewerTrainer => "新版框架",
        Lever::DropOutputs => "释放输出",
        Lever::EightBitOptimizer => "8 位 AdamW",
        Lever::PagedOptimizer => "分页 8 位 AdamW",
        Lever::Adafactor => "Adafactor",
        Lever::HalfPrecisionBase => "16 位基座",
        Lever::PureBfloat16 => "纯 bf16",
        Lever::AdapterReference => "关闭适配器作参考",
        Lever::PrecomputedReference => "预先算参考",
        Lever::SharedInstances => "共用权重",
        Lever::OffloadedInstances => "模型放主机",
        Lever::ResidentInstances => "冻结模型不卸载",
        Lever::QuantizedInstances => "冻结模型 4 位",
        Lever::Vllm => "vLLM",
        Lever::Lora => "LoRA",
        Lever::Qlora => "4 位基座",
        Lever::NarrowAdapters => "16 位适配器",
        Lever::AttentionAdapters => "仅注意力",
        Lever::Model(_) => "换小模型",
        Lever::Gpu(_) => "换显卡",
        Lever::GradCache(rows) => return format!("GradCache {rows}"),
        Lever::MicroBatch(batch) => return format!("批量 {batch}"),
        Lever::Sharding { zero_stage: 0, .. } => "不分片",
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let offload = if offload_optimizer || offload_param { " + 卸载" } else { "" };
            return format!("ZeRO-{zero_stage}{offload}");
        }
        Lever::Rank(r) => return format!("秩 {r}"),
        Lever::Length(length) => return format!("长度 {length}"),
        Lever::Generations(generations) => return format!("{generations} 个回答"),
        Lever::CompletionLength(tokens) => return format!("生成 {tokens}"),
        Lever::Gpus(count) => return format!("{count} 张卡"),
    };
    fixed.to_owned()
}
