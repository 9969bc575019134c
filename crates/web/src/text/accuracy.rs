//! Words of "How accurate is this?".

/// Everything it says besides the names of fields, settings and metrics.
pub(crate) struct AccuracyTexts {
    /// What opens it.
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) column_step: &'static str,
    pub(crate) column_measured: &'static str,
    pub(crate) column_estimated: &'static str,
    pub(crate) column_error: &'static str,
    /// Sequences, tokens in each.
    pub(crate) batch: fn(u64, &str) -> String,
    pub(crate) cards: fn(u64) -> String,
    /// How it was measured, by the card's name.
    pub(crate) on_card: fn(&str) -> String,
    pub(crate) by_allocator: &'static str,
    pub(crate) same_settings: &'static str,
    /// Of the names of fields.
    pub(crate) differs: fn(&str) -> String,
    pub(crate) comma: &'static str,
    /// A signed share of 1.
    pub(crate) error: fn(f64) -> String,
    /// What errors of the same size mean for this plan.
    pub(crate) carried: fn(&str, &str) -> String,
    /// Both ends of the band, in how many steps it held, of how many.
    pub(crate) band: fn(&str, &str, u64, u64) -> String,
}

pub(super) const ENGLISH: AccuracyTexts = AccuracyTexts {
    title: "How accurate is this?",
    intro: "Real training steps nearest to this plan: those of the same settings first, then of a similar model and number of tokens.",
    column_step: "Measured step",
    column_measured: "Measured",
    column_estimated: "Estimated",
    column_error: "Error",
    batch: |batch, tokens| format!("{batch} × {tokens} tokens"),
    cards: |count| format!("{count} cards"),
    on_card: |card| format!("Measured on a {card}"),
    by_allocator: "Counted by PyTorch's own allocator",
    same_settings: "same settings as this plan",
    differs: |fields| format!("differs in: {fields}"),
    comma: ", ",
    error: |share| format!("{:+.2} %", share * 100.0),
    carried: |low, high| {
        if low == high {
            format!("If this plan's estimate is off as the required memory of these steps is, it needs {low}.")
        } else {
            format!(
                "If this plan's estimate is off as the required memory of these steps is, it needs {low} to {high}."
            )
        }
    },
    band: |low, high, covered, of| {
        format!(
            "The verdict allows for {low} to {high}. A band made in the same way held the measured figure in {covered} of the {of} steps whose smallest possible card was searched for."
        )
    },
};

pub(super) const CHINESE: AccuracyTexts = AccuracyTexts {
    title: "这个估算有多准？",
    intro: "与当前方案最接近的实测训练步：先看设置是否相同，再看模型规模和 token 数是否相近。",
    column_step: "实测训练步",
    column_measured: "实测",
    column_estimated: "估算",
    column_error: "误差",
    batch: |batch, tokens| format!("{batch} × {tokens} token"),
    cards: |count| format!("{count} 张卡"),
    on_card: |card| format!("在 {card} 上实测"),
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
