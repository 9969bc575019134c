//! What stands at the charts: values under the pointer, downloads, headings of their tables.

/// All of it.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct ChartTexts {
    /// Of the buttons that make files of a chart.
    pub download: &'static str,
    /// How the values of a chart are reached by keyboard.
    pub keys: &'static str,
    /// Name, memory with its unit, exact bytes, per cent of the GPU.
    pub value: fn(&str, &str, &str, &str) -> String,
    /// A category in a phase.
    pub part: fn(&str, &str) -> String,
    /// What a lever takes or saves: its name, the change, what is then needed, per cent of the GPU.
    pub change: fn(&str, &str, &str, &str) -> String,
    /// How many kinds of tensors a category has: what unfolds them.
    pub kinds: fn(usize) -> String,
    /// At a category of the breakdown: leads to it in the chart.
    pub to_chart: fn(&str) -> String,

    // Headings of tables, with units.
    pub method: &'static str,
    pub category: &'static str,
    pub total: &'static str,
    pub memory_bytes: &'static str,
    pub gpu_bytes: &'static str,
    pub share: &'static str,
    pub effect: &'static str,
    pub change_bytes: &'static str,
    pub then_bytes: &'static str,
    pub curve: &'static str,
    pub passed: &'static str,
}
