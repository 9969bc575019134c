//! How long a step takes, in text.

use std::io::Write;

use headroom_answers::Estimated;
use headroom_core::plan::Task;
use headroom_text::ENGLISH;

use crate::layout::{Align, Table};
use crate::outcome::Failure;

/// Parts below this share of the step are left out of the text.
const SMALL_SHARE: f64 = 0.005;

/// Writes the step's time.
pub(super) fn write_total(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let time = &estimated.time;
    let what = if estimated.job.plan().task == Task::Inference { "Generation" } else { "Step" };
    writeln!(
        out,
        "{what} time, rough: {} (between {} and {}), {:.0} tokens/s",
        seconds_text(time.seconds.expected),
        seconds_text(time.seconds.low),
        seconds_text(time.seconds.high),
        time.tokens_per_second().expected,
    )?;
    Ok(())
}

/// The same with its parts, the longest first.
pub(super) fn write(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out)?;
    write_total(estimated, out)?;
    let time = &estimated.time;
    let whole = time.seconds.expected.max(f64::MIN_POSITIVE);
    let mut parts: Vec<_> = time.parts.iter().filter(|part| part.seconds.expected / whole >= SMALL_SHARE).collect();
    parts.sort_by(|a, b| b.seconds.expected.total_cmp(&a.seconds.expected));
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    for part in parts {
        table.row([
            format!("  {}", (ENGLISH.advice.part)(part.part)),
            seconds_text(part.seconds.expected),
            format!("{:.0} %", part.seconds.expected / whole * 100.0),
        ]);
    }
    table.write(out)?;
    Ok(())
}

/// `0.034 s`, `1.2 s`, `95 s`: two digits that count.
pub(crate) fn seconds_text(seconds: f64) -> String {
    if seconds >= 10.0 {
        return format!("{seconds:.0} s");
    }
    let digits = (1.0 - seconds.max(1e-6).log10().floor()).clamp(1.0, 7.0) as usize;
    format!("{seconds:.digits$} s")
}
