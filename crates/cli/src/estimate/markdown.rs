//! An estimate as Markdown: a line with the verdict, and a table of the phases.

use std::io::{self, Write};

use headroom_core::link;
use headroom_core::units::bytes_text;
use headroom_text::ENGLISH;

use headroom_answers::Estimated;

/// Writes it; `page`: what the title leads to, as a link to the plan.
pub(super) fn write(estimated: &Estimated, page: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let Estimated { job, estimate, .. } = estimated;
    let title = escaped(&ENGLISH.plan_title(job.plan()));
    let title = match page {
        // Links have none of the characters that end an address in Markdown.
        Some(page) => format!("[{title}]({}#{})", page.trim_end_matches('#'), link::encode(job.plan())),
        None => title,
    };
    let used = (ENGLISH.used_of)(&bytes_text(estimate.peak.band.expected), &bytes_text(estimate.gpu_bytes));
    writeln!(out, "**{title}**: {}, {used} on each GPU.\n", ENGLISH.verdict_word(estimate).to_lowercase())?;
    writeln!(out, "| phase | in tensors | needed |\n| --- | ---: | ---: |")?;
    for phase in &estimate.phases {
        let mark = if phase.phase == estimate.peak.phase { " (peak)" } else { "" };
        let (tensors, needed) = (bytes_text(phase.allocated_bytes), bytes_text(estimate.need_bytes(phase)));
        writeln!(out, "| {}{mark} | {tensors} | {needed} |", (ENGLISH.phase)(phase.phase))?;
    }
    Ok(())
}

/// Readers' own names without what Markdown would take for markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if "\\`*_[]<>|#&".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
