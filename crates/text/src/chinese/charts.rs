//! The charts in Chinese.

use crate::charts::ChartTexts;

pub(super) const TEXTS: ChartTexts = ChartTexts {
    download: "下载此图",
    keys: "用方向键在数值间移动。",
    value: |name, memory, exact, share| format!("{name}：{memory}（{exact} 字节），占显存 {share}%"),
    part: |category, phase| format!("{phase}：{category}"),
    change: |lever, change, need, share| format!("{lever}：{change} → {need}，占显存 {share}%"),
    kinds: |count| format!("{count} 种"),
    to_chart: |category| format!("{category}：在图中查看"),
    method: "方法",
    category: "类别",
    total: "合计",
    memory_bytes: "显存（字节）",
    gpu_bytes: "GPU 显存（字节）",
    share: "占 GPU 显存（%）",
    effect: "对结果的影响",
    change_bytes: "变化（字节）",
    then_bytes: "改后需要（字节）",
    curve: "曲线",
    passed: "一步内的请求（%）",
};
