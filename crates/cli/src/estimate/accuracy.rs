//! The measured steps nearest to a plan, and what their errors say about it.

use std::io::Write;

use headroom_answers::Estimated;
use headroom_core::accuracy::{Accuracy, Near};
use headroom_core::units::bytes_text;
use headroom_text::ENGLISH;

use crate::layout::{Align, Table};
use crate::outcome::Failure;

/// Writes it for people.
pub(super) fn write(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let Accuracy { near, carried, coverage } = estimated.accuracy();
    let words = ENGLISH.accuracy();
    writeln!(out, "\n{} {}", ENGLISH.how_accurate, words.intro)?;
    for Near { case, differs } in &near {
        let differs: Vec<&str> = differs.iter().map(|aspect| ENGLISH.aspect(*aspect)).collect();
        let differs = match differs.as_slice() {
            [] => words.same_settings.to_owned(),
            fields => (words.differs)(&fields.join(words.comma)),
        };
        let how = case.gpu.map_or_else(|| words.by_allocator.to_owned(), words.on_gpu);
        writeln!(out, "{}: {}, {}\n  {how}{}{differs}", case.id, case.model, ENGLISH.setting(case), words.comma)?;
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Right, Align::Left, Align::Right]);
        for figure in &case.figures {
            table.row([
                &format!("  {}", ENGLISH.metric(figure.metric).label),
                &bytes_text(figure.measured_bytes()),
                "measured",
                &bytes_text(figure.estimated_bytes()),
                "estimated",
                &(words.error)(figure.error()),
            ]);
        }
        table.write(out)?;
    }
    if let Some((low, high)) = carried {
        writeln!(out, "{}", (words.carried)(&bytes_text(low), &bytes_text(high)))?;
    }
    if let Some((covered, of)) = coverage {
        let band = estimated.estimate.peak.band;
        writeln!(out, "{}", (words.band)(&bytes_text(band.low), &bytes_text(band.high), covered, of))?;
    }
    Ok(())
}
