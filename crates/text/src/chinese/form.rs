//! Groups, resets and effects in Chinese.

use crate::form::FormTexts;

pub(super) const TEXTS: FormTexts = FormTexts {
    skip_to_form: "跳到训练方案",
    changed: |count| format!("已改 {count} 项"),
    more: |count| format!("另有 {count} 项"),
    reset: |label, value| format!("将{label}恢复为 {value}"),
    left_open: "由训练器决定",
    effect_if_on: |size| format!("开启 {size}"),
    effect_if_off: |size| format!("关闭 {size}"),
    effect_at: |size, value| format!("{value} 时 {size}"),
    effect_with: |size, value| format!("{value} 时 {size}"),
    effect_between: |least, most| format!("{least} 至 {most}"),
    steps: "方案的各部分",
    step: ["模型", "显卡", "批量", "更多"],
    next_step: |step| format!("下一步：{step}"),
    step_to_fix: |step| format!("{step}，有需要修正的设置"),
    symbols: ["层数", "隐藏维度", "词表大小", "注意力头数", "KV 头数", "头维度"],
};
