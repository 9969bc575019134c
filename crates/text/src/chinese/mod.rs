//! The page in Simplified Chinese.

mod accuracy;
mod advice;
mod charts;
mod choices;
mod embedding;
mod fields;
mod form;
mod gallery;
pub(crate) mod guide;
mod notes;
mod options;
mod problems;
mod sources;
mod tabs;
mod tasks;
mod terms;
pub(crate) mod why;

use crate::labels::{choice, field};
use crate::texts::Texts;

pub(super) const TEXTS: Texts = Texts {
    full_fine_tuning: "全参数微调",
    open_in_headroom: "在 Headroom 中打开",
    versus: "对比",
    tagline: "训练开跑之前，先算清显存",
    skip_to_result: "跳到结论",
    language: "语言",
    theme: "外观",
    theme_system: "跟随系统",
    theme_light: "浅色",
    theme_dark: "深色",
    read_files: "粘贴或拖入",
    write_files: "导出",
    copy_link: "复制链接",
    link_copied: "链接已复制",
    copy_by_hand: "浏览器不允许自动复制，请选中下面的内容手动复制：",
    start_over: "重新开始",
    undo: "撤销",
    redo: "重做",
    recent: "最近",
    recent_none: "还没有方案。",
    recent_where: "仅保存在本浏览器中。",
    recent_forget: "清除这些方案",
    close: "关闭",
    link_problems_title: "链接中有一部分无法读取",
    link_problems_intro: "其余内容已照常打开，以下各项保留默认值：",
    private_note: "训练方案保存在网址 # 之后的部分，浏览器不会把它发送给任何服务器。",
    units_note: "GiB = 2³⁰ 字节；GB = 10⁹ 字节，仅用于厂商标称值。",
    licence_note: "自由软件，许可证任选其一：",
    source_code: "源代码",
    tabs: tabs::TEXTS,
    charts: charts::TEXTS,

    form_title: "训练方案",
    section_method: "训练方式",
    section_savers: "省显存手段",
    section_parallel: "分片与卸载",
    section_advanced: "高级选项",
    advanced_general: "训练步",
    advanced_lora: "适配器",
    form: form::TEXTS,
    fields: fields::FIELDS,
    further_fields: || &fields::FURTHER,
    last_good_stays: "目前仍使用上一个有效值。",
    no_match: "没有匹配项。可以少输几个字母，或在下方提供 config.json。",
    no_gpu_match: "没有匹配项。可以少输几个字母，或直接填写显存。",
    only_near: "没有这个名称，最接近的有：",
    matches: |count| format!("{count} 个匹配项"),
    parameters: "参数",
    active: "激活",
    own_config: "使用自己的 config.json",
    own_config_help: "粘贴内容、选择文件，或把文件拖到这里。内容只留在浏览器中，并随链接一起分享。",
    program_fetching: |class| format!("正在获取 {class} 的前向计算记录……"),
    program_not_fetched: |class| {
        format!("没能取到 {class} 的前向计算记录，暂按类 Llama 结构估算。请检查网络连接，然后重新选择模型。")
    },
    config_text: "config.json",
    config_file: "选择文件",
    config_name: "显示名称",
    config_use: "使用这份配置",
    config_drop: "松开即可读取文件",
    config_empty: "请先粘贴 config.json 的内容。",
    config_unreadable: "无法按文本读取该文件，请改为粘贴内容。",
    config_too_large: |size| {
        format!(
            "内容有 {size}，而 config.json 不会超过 1 MiB。请选择名为 config.json 的文件（不是 tokenizer.json 或权重索引）。"
        )
    },
    config_read: |class, layers, params| format!("已按 {class} 读取：{layers} 层，{params} 参数。"),
    config_complete: "决定模型大小的各项都已写明。",
    config_assumed: "以下各项没有写明，按该模型类的默认值计算；如有不同请补上：",
    config_assumed_rest: |count| format!("另有 {count} 项取默认值"),
    own_model: "我的模型",
    trainer_decides: "由训练器决定",
    computing: "计算中…",
    custom_gpu: "其他显卡：直接填写显存",
    tasks: || &tasks::TEXTS,
    sources: || &sources::TEXTS,
    embedding: || &embedding::EMBEDDING,
    gallery: || &gallery::TEXTS,
    options: || &options::TEXTS,
    effective_batch: |batch, steps, gpus, effective| format!("{batch} × {steps} × {gpus} = 每步 {effective} 条序列"),
    tokens_per_step: |tokens| format!("{tokens} 个 token"),
    all_linear: "全部线性层",
    attention_only: "注意力：q、k、v、o",
    named_modules: "按名称指定",
    named_modules_label: "模块名称，用逗号分隔",
    auto: "自动",
    on: "开",
    off: "关",
    as_weights: "与权重相同",
    zero_stages: [choice("0", "不分片"), choice("1", "优化器状态"), choice("2", "再加梯度"), choice("3", "再加权重")],

    verdict_title: "结论",
    used_of: |used, total| format!("{used} / {total}"),
    headroom: |bytes| format!("还剩 {bytes}"),
    missing: |bytes| format!("超出 {bytes}"),
    band: |low, high| format!("预计范围：{low} 到 {high}。"),
    expandable_saves: |less| format!("设置 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True 可再省 {less}。"),
    limit: |name, request, phase, stranded| {
        format!(
            "显存再小一些，最先失败的是“{name}”（{request}，{phase}阶段）；此时还有 {stranded} 空闲，但都是无法利用的显存碎片。"
        )
    },
    fails: |place, tried, free, name| {
        format!(
            "会在{place}失败：“CUDA out of memory. Tried to allocate {tried}”，此时只剩 {free}。这次申请用于：{name}。"
        )
    },
    while_loading: "加载模型时",
    in_step: |phase, step| format!("第 {step} 步的{phase}阶段"),
    times_used: |times| format!("是显存的 {times} 倍"),
    percent_used: |percent| format!("占显存的 {percent}%"),
    capacity: "显存上限",
    peak: tasks::peak,
    how_accurate: "这个估算有多准？",
    per_gpu: "每张卡",
    cannot_estimate: "这个方案暂时无法估算",
    fix_it: |field, value| format!("把 {field} 设为 {value}"),
    fix_these: "请修正以下设置：",
    changed_with_it: "同时调整了：",
    why: "原因：",
    last_good: "下面的数字属于上一个可以估算的方案。",
    trainable: |trainable, all, percent| format!("共 {all} 参数，训练其中 {trainable}（{percent}%）"),
    accuracy: || &accuracy::TEXTS,
    advice: advice::TEXTS,

    comparison_title: "方案对比",
    comparison_intro: "同样的模型、数据和显卡，换不同的训练与分片方式。点选其中一种，即可切换到该方案。",
    comparison_table: "以表格查看对比",
    current_plan: "当前方案",
    use_plan: "采用",
    offload_optimizer_short: "卸载",
    offload_param_short: "参数卸载",
    offload_all_short: "全部卸载",
    unsharded: "不分片",
    bits: |bits| format!("{bits} 位"),
    gpu_capacity: |bytes| format!("显存：{bytes}"),
    column_plan: "方案",
    column_total: "需要",
    column_verdict: "结论",
    cannot_run: "无法运行",
    bar_description: |plan, bytes, fit| format!("{plan}：{bytes}，{fit}"),

    phases_title: "一步之内的显存",
    phases_intro: "一步之内每个阶段各自的峰值所需的显存；额外开销是 CUDA 上下文（含 NCCL）以及分配器在该阶段张量之外占用的部分。结论取其中最高的一个，而不是所有分配之和。",
    phases_table: "以表格查看各阶段",
    column_phase: "阶段",
    peak_mark: "峰值",
    waterfall_before: "当前方案",
    waterfall_after: "建议方案",
    level_coarser: "计算或优化器状态的精度降低",
    level_different: "训练内容会改变",
    breakdown_title: "每个字节的去向",
    breakdown_intro: |phase, bytes| {
        format!("峰值出现在“{phase}”阶段：张量共 {bytes}，另有张量之外的开销。展开任意一行即可查看公式。")
    },
    breakdown_sum: "总共需要（即结论中的数值）",
    formula: "公式",
    with_numbers: "代入数值",
    result: "结果",
    result_bytes: |bytes, exact| format!("{bytes} = {exact} 字节"),
    source: "出处",
    lives_in: "存在于",
    not_at_peak: "峰值时不存在的分配",
    exact_bytes: |exact| format!("{exact} 字节"),

    metrics_title: "各种工具会显示的数值",
    metric_allocated: field("已分配", "", "峰值时存活的张量：torch.cuda.max_memory_allocated。"),
    metric_required: field("最低需要", "", "使用 PyTorch 默认分配器时，能跑完一步的最小显存，不含 CUDA 上下文。"),
    metric_required_expandable: field("最低需要（可扩展段）", "", "同上，但启用 expandable_segments:True，碎片更少。"),
    metric_reserved: field("已保留", "", "显存充裕时缓存分配器占有的总量：torch.cuda.max_memory_reserved。"),
    metric_context: field("上下文", "", "CUDA 上下文、各种库以及 NCCL，不归 PyTorch 分配器管理。"),
    metric_device: field("设备占用", "", "nvidia-smi 显示的数值：已保留加上下文。"),
    host_title: "主机内存",
    host_intro: |machines| match machines {
        1 => "本机所有进程合计。".to_owned(),
        _ => format!("{machines} 台机器合计。"),
    },
    pinned: "锁页",
    notes_title: "假设与提醒",

    category: terms::category,
    phase: terms::phase,
    term: terms::term,
    fit: terms::fit,
    guessed_fit: terms::guessed_fit,
    step_alone_fits: "训练放得下，评估放不下",
    note: notes::note,
    problem: problems::problem,
    segment: terms::segment,
    task: choices::task,
    method: choices::method,
    dtype: choices::dtype,
    precision: choices::precision,
    trainer: choices::trainer,
    optimizer: choices::optimizer,
    attention: choices::attention,
    kernel: choices::kernel,
    framework: choices::framework,
    adapter_dtype: choices::adapter_dtype,
    quant_type: choices::quant_type,
    quant_storage: choices::quant_storage,
    loss: choices::loss,
    loss_type: choices::loss_type,
    eval_strategy: choices::eval_strategy,
    packing_strategy: choices::packing_strategy,
    pooling: choices::pooling,
    embedding_loss: choices::embedding_loss,
    sharding_strategy: choices::sharding_strategy,
    backward_prefetch: choices::backward_prefetch,
};
