//! The start-up summary and the checklist: text, Markdown or JSON.

use std::io::Write;

use headroom_core::advise::Judgement;
use headroom_core::advise::summary::{Check, SummaryItem, SummaryLine, checklist, summary};
use headroom_core::link;
use headroom_core::units::{bytes_text, count_text};
use serde_json::json;

use super::AdviseOptions;
use crate::Failure;
use crate::estimate::Estimated;
use crate::layout::{Align, Table};

/// Writes both for a plan.
pub(super) fn write(estimated: &Estimated, options: &AdviseOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, .. } = estimated;
    let plan = job.plan();
    let judged = Judgement::from(estimate);
    let (lines, checks) = (summary(job, Some(&judged)), checklist(job, Some(&judged)));
    if options.json {
        let lines = lines.iter().map(|line| json!({"item": line.item.name(), "value": line.value}));
        let checks = checks.iter().map(|check| json!({"check": check.name(), "text": check_text(*check)}));
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
        estimate.verdict.fit.name().replace('_', " ")
    );
    if options.markdown {
        writeln!(out, "## {title}\n\n| Setting | Value |\n| --- | ---: |")?;
        for line in &lines {
            writeln!(out, "| {} | {} |", item_text(line.item), value_text(line))?;
        }
        writeln!(out, "\n### Checklist\n")?;
        for check in checks {
            writeln!(out, "- [ ] {}", check_text(check))?;
        }
        return Ok(writeln!(out, "\nPlan: `#{}`", link::encode(plan))?);
    }
    writeln!(out, "{title}\n")?;
    let mut table = Table::new(&[Align::Left, Align::Right]);
    for line in &lines {
        table.row([item_text(line.item).to_owned(), value_text(line)]);
    }
    table.write(out)?;
    writeln!(out, "\nChecklist")?;
    for check in checks {
        writeln!(out, "  [ ] {}", check_text(check))?;
    }
    Ok(writeln!(out, "\nlink     #{}", link::encode(plan))?)
}

fn value_text(line: &SummaryLine) -> String {
    if line.item.is_bytes() { bytes_text(line.value) } else { count_text(line.value) }
}

const fn item_text(item: SummaryItem) -> &'static str {
    match item {
        SummaryItem::Batch => "batch per device",
        SummaryItem::Accumulation => "gradient accumulation",
        SummaryItem::Cards => "cards",
        SummaryItem::EffectiveBatch => "effective batch",
        SummaryItem::Prompts => "prompts a round",
        SummaryItem::Generations => "answers to each prompt",
        SummaryItem::RoundSequences => "sequences a round",
        SummaryItem::SequencesAtOnce => "sequences generated at once",
        SummaryItem::PromptTokens => "prompt tokens at most",
        SummaryItem::NewTokens => "new tokens at most",
        SummaryItem::Length => "sequence length",
        SummaryItem::TokensPerStep => "tokens a step",
        SummaryItem::Rank => "LoRA rank",
        SummaryItem::Need => "expected need of a card",
        SummaryItem::CardMemory => "memory of a card",
        SummaryItem::HostMemory => "host memory for offload",
    }
}

fn check_text(check: Check) -> String {
    match check {
        Check::EmptyCard => "No other process holds memory of the card: nvidia-smi before the start".to_owned(),
        Check::ExpandableSegments => {
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the environment of every process".to_owned()
        }
        Check::HostMemory { bytes } => {
            format!("The host has {} free for offload, beside what loading takes", bytes_text(bytes))
        }
        Check::ThreeSteps => {
            "Three steps without running out of memory: optimizer state and the allocator's blocks have settled by then"
                .to_owned()
        }
        Check::LongestFirst => "The longest batch is among the first steps: shorter ones need less".to_owned(),
        Check::Truncation { percent } => format!("Fewer than {percent} % of sequences are cut at the limit on length"),
        Check::Evaluation => {
            "Evaluation fits, too: a batch no larger than in training, and prediction_loss_only".to_owned()
        }
        Check::LossScale => "The loss scale stays above 1: fp16 overflows otherwise".to_owned(),
        Check::ReferenceAgrees => {
            "Policy and reference agree before the first step: rewards and margins start at 0".to_owned()
        }
        Check::KlBands { careful, free } => {
            let band = |(low, high): (u16, u16)| {
                let share = |thousandths: u16| f64::from(thousandths) / 1000.0;
                format!("{:.2} to {:.2}", share(low), share(high))
            };
            format!(
                "KL to the reference stays within {}, or {} where the run may move further",
                band(careful),
                band(free)
            )
        }
        Check::JudgeTime { seconds } => format!("The judge answers in less than {seconds} s"),
    }
}
