//! What `headroom advise` is asked.

use headroom_core::advise::fill::Target;

/// Options of `headroom advise`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct AdviseOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    pub(crate) source: Option<String>,
    /// Machine-readable: JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Up to where an idle GPU is filled, in per cent of it.
    #[arg(long, value_name = "LOW-HIGH", default_value = "75-90", value_parser = target_from)]
    pub(crate) target: Target,
    /// What the run should say before it starts, and a checklist, instead of advice.
    #[arg(long)]
    pub(crate) summary: bool,
    /// The same as Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Shares from percentages: `75-90`.
fn target_from(text: &str) -> Result<Target, &'static str> {
    let share = |text: &str| text.trim().parse::<f64>().ok().map(|percent| percent / 100.0);
    let target = text.split_once('-').and_then(|(low, high)| Some(Target { low: share(low)?, high: share(high)? }));
    target
        .filter(|target| 0.0 <= target.low && target.low < target.high && target.high <= 1.0)
        .ok_or("give two percentages of the GPU, the lower first, such as 75-90")
}
