//! "How accurate is this?" in Simplified Chinese.

use crate::accuracy::AccuracyTexts;

pub(super) const TEXTS: AccuracyTexts = AccuracyTexts {
    not_fetched: "没能取到实测训练步。请检查网络连接，然后重新展开此处。",
    intro: "与当前方案最接近的实测训练步：先看设置是否相同，再看模型规模和 token 数是否相近。",
    column_step: "实测训练步",
    column_measured: "实测",
    column_estimated: "估算",
    column_error: "误差",
    batch: |batch, tokens| format!("{batch} × {tokens} token"),
    gpus: |count| format!("{count} 张卡"),
    on_gpu: |gpu| format!("在 {gpu} 上实测"),
    by_allocator: "由 PyTorch 自身的分配器计数",
    same_settings: "设置与当前方案相同",
    differs: |fields| format!("设置不同：{fields}"),
    comma: "、",
    error: |share| format!("{:+.2}%", share * 100.0),
    carried: |low, high| {
        if low == high {
            format!("如果当前方案的误差与这些训练步的“最低需要”相同，实际需要 {low}。")
        } else {
            format!("如果当前方案的误差与这些训练步的“最低需要”相当，实际需要在 {low} 到 {high} 之间。")
        }
    },
    band: |low, high, covered, of| {
        format!(
            "结论按 {low} 到 {high} 的范围给出。在 {of} 个逐步缩小显存、找出最低需要的训练步中，同样得出的范围有 {covered} 次包含了实测值。"
        )
    },
};
