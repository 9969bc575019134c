//! The start-up summary and the checklist: text, Markdown or JSON.

use std::io::Write;

use headroom_core::advise::Judgement;
use headroom_core::advise::summary::{SummaryLine, checklist, summary};
use headroom_core::link;
use headroom_core::units::{bytes_text, count_text};
use headroom_text::ENGLISH;
use serde_json::json;

use super::AdviseOptions;
use crate::Failure;
use crate::estimate::Estimated;
use crate::layout::{Align, Table};

/// Writes both for a plan.
pub(super) fn write(estimated: &Estimated, options: &AdviseOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, .. } = estimated;
    let plan = job.plan();
    let words = &ENGLISH.options.summary;
    let judged = Judgement::from(estimate);
    let (lines, checks) = (summary(job, Some(&judged)), checklist(job, Some(&judged)));
    if options.json {
        let lines = lines.iter().map(|line| json!({"item": line.item.name(), "value": line.value}));
        let checks = checks.iter().map(|check| json!({"check": check.name(), "text": (words.check)(*check)}));
        let both = json!({
            "link": link::encode(plan),
            "verdict": estimate.verdict.fit.name(),
            "summary": lines.collect::<Vec<_>>(),
            "checklist": checks.collect::<Vec<_>>(),
        });
        serde_json::to_writer_pretty(&mut *out, &both).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    let title = format!(
        "{}, {} {} on {} x {}: {}",
        job.model().name,
        plan.task.name(),
        plan.method.name(),
        plan.num_gpus,
        job.gpu().name,
        (ENGLISH.fit)(estimate.verdict.fit).to_lowercase()
    );
    if options.markdown {
        writeln!(out, "## {title}\n\n| {} | {} |\n| --- | ---: |", words.figure, words.value)?;
        for line in &lines {
            writeln!(out, "| {} | {} |", (words.item)(line.item), value_text(line))?;
        }
        writeln!(out, "\n### {}\n", words.checklist)?;
        for check in checks {
            writeln!(out, "- [ ] {}", (words.check)(check))?;
        }
        return Ok(writeln!(out, "\nPlan: `#{}`", link::encode(plan))?);
    }
    writeln!(out, "{title}\n")?;
    let mut table = Table::new(&[Align::Left, Align::Right]);
    for line in &lines {
        table.row([(words.item)(line.item).to_owned(), value_text(line)]);
    }
    table.write(out)?;
    writeln!(out, "\n{}", words.checklist)?;
    for check in checks {
        writeln!(out, "  [ ] {}", (words.check)(check))?;
    }
    Ok(writeln!(out, "\nlink     #{}", link::encode(plan))?)
}

fn value_text(line: &SummaryLine) -> String {
    if line.item.is_bytes() { bytes_text(line.value) } else { count_text(line.value) }
}
