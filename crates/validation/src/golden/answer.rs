//! What the core answers to one plan, and import to the files of one run, as lines of text.

use std::collections::BTreeMap;

use headroom_core::advise::difference::changed;
use headroom_core::advise::fill::{Filled, Target, fill};
use headroom_core::advise::fit::{Found, escalate};
use headroom_core::advise::tiers::tiers;
use headroom_core::advise::{Heuristic, usual_host};
use headroom_core::job::Job;
use headroom_core::memory::{self, Allocation, Estimate, FailedRequest, Fit, PhaseUse, Term};
use headroom_core::plan::Plan;
use headroom_files::import::{File, import};
use headroom_text::problem_line;

use super::plans::{Asked, Subject};

/// The answer to one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Where the plan comes from: `allocator alloc-lora-101`, `link 007`, `draw 0012`.
    pub origin: String,
    /// The plan as a link, or the folder of files.
    pub key: String,
    /// The answer, line by line; each begins with what it is about.
    pub lines: Vec<String>,
}

/// FNV-1a, 64 bits folded to 32: for what is compared and never read.
fn hash(parts: impl IntoIterator<Item = String>) -> u64 {
    let bytes = parts.into_iter().flat_map(|part| (part + "\n").into_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 32) ^ (hash & 0xffff_ffff)
}

/// The answer to `asked`.
pub(super) fn answer(asked: &Asked) -> Answered {
    let lines = match &asked.subject {
        Subject::Plan(plan) => of_plan(plan, false),
        Subject::Drawn(plan) => of_plan(plan, true),
        Subject::Files(files) => of_files(files),
    };
    Answered { origin: asked.origin.clone(), key: asked.key(), lines }
}

fn of_plan(plan: &Plan, drawn: bool) -> Vec<String> {
    let job = match Job::resolve(plan) {
        Ok(job) => job,
        Err(problems) => {
            let said = |problem| format!("problem {}", problem_line(problem)).replace('\n', " ");
            return problems.iter().map(said).collect();
        }
    };
    let estimate = memory::estimate_replayed(&job);
    [figures(&estimate), vec![quick(&job)], terms(&estimate, drawn), advice(&job, &estimate)].concat()
}

/// What a search judges by, before any replay.
fn quick(job: &Job) -> String {
    let estimate = memory::outline(job);
    let (peak, band) = (&estimate.peak, estimate.peak.band);
    format!(
        "quick {} {} required {} expandable {} reserved {} band {} {} {} sure {}",
        estimate.verdict.fit.name(),
        peak.phase.name(),
        peak.required_bytes,
        peak.required_bytes_expandable,
        peak.reserved_bytes,
        band.low,
        band.expected,
        band.high,
        peak.safe_bytes,
    )
}

/// The plan that import makes of files, by the fields that are not a plan's own defaults, and what it says of the rest.
fn of_files(files: &[File]) -> Vec<String> {
    let imported = import(files);
    let (name, version) = &imported.trainer;
    let mut lines = vec![format!("trainer {name} {}", version.as_deref().unwrap_or("none"))];
    let fields = changed(&Plan::default(), &imported.plan);
    lines.extend(fields.iter().map(|one| format!("field {}={}", one.field, one.after.replace('\n', " "))));
    lines.extend(imported.missing.iter().map(|name| format!("missing {name}")));
    lines.extend(imported.not_expressible.iter().map(|listed| format!("not_expressible {}", listed.key)));
    lines.push(format!("ignored {}", imported.ignored));
    lines.extend(imported.unknown.iter().map(|unknown| format!("unknown {}", unknown.key)));
    lines.extend(imported.findings.iter().map(|finding| format!("finding {}", finding.kind.id())));
    lines
}

fn figures(estimate: &Estimate) -> Vec<String> {
    let peak = &estimate.peak;
    let host: u64 = estimate.host.iter().map(|used| used.bytes).fold(0, u64::saturating_add);
    let mut lines = vec![
        format!("count {} {} {}", estimate.param_count, estimate.active_param_count, estimate.trainable_count),
        format!("verdict {} peak {}", estimate.verdict.fit.name(), peak.phase.name()),
        format!("required {} expandable {}", peak.required_bytes, peak.required_bytes_expandable),
        format!("reserved {} context {} host {host}", peak.reserved_bytes, peak.context_bytes),
        format!("band {} {} {} sure {}", peak.band.low, peak.band.expected, peak.band.high, peak.safe_bytes),
    ];
    lines.extend(estimate.phases.iter().map(phase));
    let failed = |what: &str, failed: &FailedRequest| {
        let FailedRequest { step, phase, term, request_bytes, tried_bytes, free_bytes, .. } = failed;
        format!("{what} {step} {} {} {request_bytes} {tried_bytes} {free_bytes}", phase.name(), term.name())
    };
    lines.extend(peak.limit.as_ref().map(|limit| failed("limit", limit)));
    lines.extend(estimate.failure.as_ref().map(|failure| failed("failure", failure)));
    let notes = estimate.notes.iter().map(|note| format!("{note:?}"));
    lines.push(format!("notes {:08x}", hash(notes)));
    lines
}

/// Every term with its sums; of a plan that was drawn, all of them as one number: its phases say by how much they moved.
fn terms(estimate: &Estimate, drawn: bool) -> Vec<String> {
    let mut terms: BTreeMap<Term, Vec<&Allocation>> = BTreeMap::new();
    estimate.allocations.iter().for_each(|row| terms.entry(row.term).or_default().push(row));
    let lines: Vec<String> = terms.iter().map(|(term, rows)| allocations(*term, rows)).collect();
    if drawn { vec![format!("terms {:08x}", hash(lines))] } else { lines }
}

fn phase(used: &PhaseUse) -> String {
    let parts = used.by_category.iter().filter(|(_, bytes)| *bytes > 0);
    let parts: Vec<String> = parts.map(|(category, bytes)| format!("{} {bytes}", category.name())).collect();
    let (allocated, fragmentation) = (used.allocated_bytes, used.fragmentation_bytes);
    format!("phase {} {allocated} {fragmentation} {}", used.phase.name(), parts.join(" "))
}

/// The sums of a term, and everything about its rows as one number.
fn allocations(term: Term, rows: &[&Allocation]) -> String {
    let most = |row: &&&Allocation| row.phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let held: u64 = rows.iter().map(|row| most(&row)).fold(0, u64::saturating_add);
    let at_peak: u64 = rows.iter().map(|row| row.bytes_at_peak).fold(0, u64::saturating_add);
    let whole = rows.iter().map(|row| {
        format!("{} {:?} {} {} {}", row.module, row.phases, row.formula, row.formula_with_numbers, row.formula_bytes)
    });
    format!("term {} {} {held} {at_peak} {:08x}", term.name(), rows.len(), hash(whole))
}

/// Judged at once, not by replays: what a search asks for hundreds of plans.
fn advice(job: &Job, estimate: &Estimate) -> Vec<String> {
    let to = |other: &Plan| {
        let fields = changed(job.plan(), other);
        fields.iter().map(|one| format!("{}={}", one.field, one.after)).collect::<Vec<_>>().join(",")
    };
    let mut lines = Vec::new();
    if estimate.verdict.fit == Fit::Fits {
        let fill = fill(job, Target::default(), &Heuristic);
        let filled =
            |what: &str, filled: &Filled| format!("fill {what} {} {}", filled.judgement.need_bytes, to(&filled.plan));
        lines.extend(fill.recommended.iter().map(|one| filled("recommended", one)));
        lines.extend(fill.aggressive.iter().map(|one| filled("aggressive", one)));
        lines.extend(fill.others.iter().map(|one| filled("other", one)));
    } else {
        let escalation = escalate(job, &Heuristic);
        lines.extend(escalation.levels.iter().map(|answer| match &answer.found {
            Found::Fits(advice) => format!("advice {:?} fits {}", answer.level, to(&advice.plan)),
            Found::Short(None) => format!("advice {:?} none", answer.level),
            Found::Short(Some(leanest)) => {
                format!("advice {:?} {} {}", answer.level, leanest.need_bytes, to(&leanest.plan))
            }
        }));
    }
    let cells = tiers(job, &Heuristic).into_iter().map(|tier| {
        let need = tier.judgement.map(|judged| (judged.need_bytes, judged.host_bytes, judged.fit.name()));
        format!("{:?} {need:?} {:?} {}", tier.alternative.method, tier.reason, to(&tier.alternative.plan))
    });
    lines.push(format!("tiers {:08x} host {}", hash(cells), usual_host(job)));
    lines
}
