//! The charts in English.

use crate::charts::ChartTexts;

pub(super) const TEXTS: ChartTexts = ChartTexts {
    download: "Download this chart",
    keys: "Arrow keys move between the values.",
    value: |name, memory, exact, share| format!("{name}: {memory} ({exact} bytes), {share} % of the GPU"),
    part: |category, phase| format!("{category}, {phase}"),
    change: |lever, change, need, share| format!("{lever}: {change} → {need}, {share} % of the GPU"),
    kinds: |count| match count {
        1 => "1 kind".to_owned(),
        _ => format!("{count} kinds"),
    },
    to_chart: |category| format!("{category}: show in the chart"),
    method: "Method",
    category: "Category",
    total: "Total",
    memory_bytes: "Memory (bytes)",
    gpu_bytes: "GPU memory (bytes)",
    share: "Share of the GPU (%)",
    effect: "Effect on the result",
    change_bytes: "Change (bytes)",
    then_bytes: "Needed then (bytes)",
    curve: "Curve",
    passed: "Requests of the step (%)",
};
