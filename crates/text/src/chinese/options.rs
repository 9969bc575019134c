//! The planning tools in Simplified Chinese.

use headroom_core::advise::solve::{Question, Unknown};
use headroom_core::advise::summary::{Check, SummaryItem};
use headroom_core::units::bytes_text;

use super::terms;
use crate::options::{MapTexts, OptionTexts, PairTexts, SolveTexts, SummaryTexts, TierTexts};

pub(super) const TEXTS: OptionTexts = OptionTexts {
    tiers: TierTexts {
        title: "微调方法与分片方式",
        intro: "条形表示每张卡需要的显存，竖线是显卡容量。时间指处理同样多的 token 需要当前方案的几倍，括号内是预计范围。",
        wide_adapters: "不分片时，适配器按 fp32 保存和计算（peft 的 autocast_adapter_dtype）；DeepSpeed 会把它们转成 16 位，所以 LoRA 在那里可能更快、更省显存。",
        one_gpu: "只有一张卡时，ZeRO 没有东西可以分片，只有卸载到主机内存才能腾出显存。",
        sharding: "分片方式",
        on_gpu: "显存",
        in_host: "内存",
        time: "时间",
        quickest: "放得下的最快方案",
        slower: "较慢",
        shards_nothing: "单卡没有可分片的内容",
        host_too_small: "主机内存超过这类机器的配置",
        not_offered: "这种量化权重不支持分片",
        pin: "把当前方案固定为时间基准",
        unpin: "取消固定",
        pinned: |title| format!("时间以固定的方案为基准：{title}"),
        baseline: "时间基准",
        as_chart: "以图表查看，可保存",
        ladder_title: "按显存大小划分的四档 DeepSpeed 预设",
        ladder_intro: "每一档同时设定分片、卸载、批量、累积步数和长度，并标出放得下的最快一档。",
        ladder_gpu,
        ladder_setting: |batch, steps, length| format!("批量 {batch} × {steps}，长度 {length}"),
    },
    solve: SolveTexts {
        title: "最多能放下多少？",
        intro: "其他设置保持不变。每个答案都经模拟验证，下一个值放不下也已确认。",
        question,
        searching: "正在查找…",
        fits: |value| format!("{value} 放得下"),
        beyond: |value, fit| format!("{value}：{}", terms::fit(fit)),
        no_beyond: "没有更大的值可试",
        nothing: "无论取什么值都放不下，请参考上面的建议。",
        is_current: "与当前方案相同",
        largest: "最大的模型",
        largest_intro: "每个系列放得下的最大模型，常用于训练的系列在前。省显存的选项可以打开，但不卸载到主机；方法、有效批量和长度不变，有变化会列出。",
        largest_more: |count| format!("另有 {count} 个系列有放得下的模型。"),
        released: |month, size| format!("{month} 发布，{size} 参数"),
        only_model: "只换模型，其他不变",
    },
    map: MapTexts {
        title: "批量与长度",
        intro: "每一种组合会占用多少显存。点选一格，即可采用；能整除时由梯度累积保持全局批量。",
        batch: "每卡批量",
        length: "序列长度（token）",
        answer_length: "回答长度（token）",
        used: "显存的 0 到 100%",
        keys: "用方向键移动，按回车键采用。",
        place: |batch, length, need, fit| format!("批量 {batch}，长度 {length}：{need}，{fit}"),
        accumulates: |steps, keeps| match (steps, keeps) {
            (steps, true) => format!("；梯度累积 {steps} 步，全局批量不变"),
            (steps, false) => format!("；梯度累积仍为 {steps} 步，全局批量随之改变"),
        },
        with_advice: "采用建议后",
        sentence: |length, batch, own, longest| {
            let at_length = match batch {
                Some(batch) => format!("长度为 {length} 时，批量最大可取 {batch}"),
                None => format!("长度为 {length} 时，任何批量都放不下"),
            };
            let at_batch = match longest {
                Some(longest) => format!("批量为 {own} 时，长度最大可取 {longest}"),
                None => format!("批量为 {own} 时，任何长度都放不下"),
            };
            format!("就图中的取值而言：{at_length}；{at_batch}。")
        },
        table: "以表格查看",
        column_length: "长度",
        column_batch: "图中放得下的最大批量",
        none_fits: "无",
    },
    pair: PairTexts {
        title: "前后对比",
        intro: "把两个方案放在一起看：先保留当前方案，再修改设置，看看有什么变化。",
        keep: "把当前方案保留为“之前”",
        paste: "或者粘贴另一个方案的链接",
        paste_help: "完整网址或 # 之后的部分均可，只在本页读取，不会发送到任何地方。",
        no_link: "这不是方案的链接：",
        partly: "链接中有一部分无法读取，以下各项取默认值：",
        copy_link: "复制对比链接",
        swap: "两者互换",
        kept: "当前方案已保留。修改任意设置，即可看到差别。",
        before: "之前",
        after: "之后",
        same: "两个方案完全相同。",
        change: "差值",
        differs: "不同之处",
        field: "设置项",
        empty: "未设置",
        figures: "结果",
        figure: "指标",
        need: "每卡需要",
        verdict: "结论",
        effective_batch: "有效批量",
        tokens: "每步 token 数",
        time: "处理同样多 token 的时间",
        by_category: "峰值时的各类别占用",
        category: "类别",
        by_phase: "各阶段的峰值",
        phase: "阶段",
        estimated: "尚未回放，暂按其他方案的经验估算。",
    },
    summary: SummaryTexts {
        title: "开跑之前",
        intro: "训练启动时应当打印的信息，以及最先要检查的事项。",
        figure: "指标",
        value: "数值",
        checklist: "检查清单",
        copy_text: "复制为文本",
        copy_markdown: "复制为 Markdown",
        copied: "已复制",
        json: "完整结果（JSON）",
        json_intro: "供脚本使用：与 headroom estimate --json 以及 Node、Python 包的输出逐字节一致。大小单位均为字节。",
        copy_json: "复制 JSON",
        item,
        check,
    },
};

fn question(question: Question) -> &'static str {
    match question {
        Question::Most(Unknown::Batch) => "每卡批量",
        Question::Most(Unknown::Length) => "序列长度",
        Question::Most(Unknown::Rank) => "LoRA 秩",
        Question::Most(Unknown::Generations) => "每条提示的回答数",
        Question::Most(Unknown::CompletionLength) => "回答长度",
        Question::FewestGpus => "最少的卡数",
        Question::SmallestGpu => "最小的显卡",
    }
}

fn ladder_gpu(preset: &str) -> &'static str {
    match preset {
        "deepspeed" => "12 GB 以上",
        "stage2_offload" => "6 到 12 GB",
        "stage3" => "4 到 6 GB",
        "minimal" => "4 GB 以下",
        _ => "",
    }
}

fn item(item: SummaryItem) -> &'static str {
    match item {
        SummaryItem::Batch => "每卡批量",
        SummaryItem::Accumulation => "累积步数",
        SummaryItem::Gpus => "显卡数量",
        SummaryItem::EffectiveBatch => "有效批量",
        SummaryItem::Prompts => "每轮提示数",
        SummaryItem::Generations => "每条提示的回答数",
        SummaryItem::RoundSequences => "每轮序列数",
        SummaryItem::SequencesAtOnce => "单卡同时生成的序列数",
        SummaryItem::PromptTokens => "提示长度",
        SummaryItem::NewTokens => "生成长度",
        SummaryItem::Length => "序列长度",
        SummaryItem::TokensPerStep => "每步 token 数",
        SummaryItem::Rank => "LoRA 秩",
        SummaryItem::Need => "每卡需要",
        SummaryItem::GpuMemory => "单卡显存",
        SummaryItem::HostMemory => "卸载占用的主机内存",
    }
}

fn check(check: Check) -> String {
    let thousandths = |value: u16| format!("{:.2}", f64::from(value) / 1000.0);
    match check {
        Check::EmptyGpu => "启动前用 nvidia-smi 确认显卡上没有其他进程占用显存。".to_owned(),
        Check::ExpandableSegments => "每个进程都设置了 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True。".to_owned(),
        Check::HostMemory { bytes } => {
            format!("除加载模型所需之外，主机内存还有 {} 空闲可供卸载。", bytes_text(bytes))
        }
        Check::ThreeSteps => "连续三步没有显存不足：优化器状态从第二步起才存在。".to_owned(),
        Check::LongestFirst => "最长的批次排在最前面：更短的只会需要更少显存。".to_owned(),
        Check::Truncation { percent } => format!("因长度上限被截断的序列少于 {percent}%。"),
        Check::Evaluation => "评估批量不大于训练批量，并且只保留损失，不保留 logits。".to_owned(),
        Check::LossScale => "fp16 的损失缩放系数保持在 1 以上。".to_owned(),
        Check::ReferenceAgrees => "奖励和边际从 0 开始：此时策略与参考模型仍然一致。".to_owned(),
        Check::KlBands { careful, free } => {
            let [a, b, c, d] = [careful.0, careful.1, free.0, free.1].map(thousandths);
            format!("与参考模型的 KL：稳妥训练保持在 {a}–{b}，允许偏离更多时为 {c}–{d}。")
        }
        Check::JudgeTime { seconds } => format!("裁判或奖励模型在 {seconds} 秒内给出结果。"),
    }
}
