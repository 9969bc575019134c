//! The start-up summary and the checklist: text, Markdown or JSON.

use std::io::Write;

use headroom_core::advise::Judgement;
use headroom_core::advise::summary::{SummaryItem, SummaryLine, checklist, summary};
use headroom_core::link;
use headroom_core::memory::Fit;
use headroom_core::units::{bytes_text, count_text};
use headroom_text::ENGLISH;
use serde::Serialize;

use super::options::AdviseOptions;
use crate::json;
use crate::layout::{Align, Table};
use crate::outcome::Failure;
use headroom_answers::Estimated;

#[derive(Serialize)]
struct SummaryJson {
    link: String,
    verdict: Fit,
    summary: Vec<LineJson>,
    checklist: Vec<CheckJson>,
}

#[derive(Serialize)]
struct LineJson {
    item: SummaryItem,
    value: u64,
}

#[derive(Serialize)]
struct CheckJson {
    check: &'static str,
    text: String,
}

/// Writes both for a plan.
pub(super) fn write(estimated: &Estimated, options: &AdviseOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, .. } = estimated;
    let plan = job.plan();
    let words = &ENGLISH.options().summary;
    let judged = Judgement::from(estimate);
    let (lines, checks) = (summary(job, Some(&judged)), checklist(job, Some(&judged)));
    if options.json {
        let summary = lines.iter().map(|line| LineJson { item: line.item, value: line.value });
        let checklist = checks.iter().map(|check| CheckJson { check: check.name(), text: (words.check)(*check) });
        let both = SummaryJson {
            link: link::encode(plan),
            verdict: estimate.verdict.fit,
            summary: summary.collect(),
            checklist: checklist.collect(),
        };
        return json::write_sorted(&both, out);
    }
    let title = format!(
        "{}, {} {} on {} x {}: {}",
        job.model().name,
        plan.task.name(),
        plan.method.name(),
        plan.num_gpus,
        job.gpu().name,
        ENGLISH.verdict_word(estimate).to_lowercase()
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
