//! Why a plan needs what it does beside another: the tensors that it holds more or less of.
//!
//! Some changes do not do what they are known for: a base of 4 bits can need more than one of 16, a kernel that saves logits
//! nothing where no logits are held at the peak. Both answers name every tensor, so the reason can be read off them.

use super::lever::Lever;
use super::oracle::{Judgement, saved_bytes};
use crate::job::Job;
use crate::memory::{Estimate, Phase, Term};
use crate::order;
use crate::plan::{Method, Optimizer, Plan};

/// A kind of tensor that two plans hold different amounts of at their peaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which.
    pub term: Term,
    /// Bytes at the first plan's peak and at the second's.
    pub bytes: [u64; 2],
    /// The modules where that differs most, the largest difference first, in the direction of the whole; none where the kind is
    /// told apart by none.
    pub modules: Vec<String>,
}

impl Part {
    /// What the second plan holds more of it, bytes; negative where it holds less.
    pub fn more(&self) -> i64 {
        difference(self.bytes)
    }
}

/// A kind of tensor that the second plan holds less of, though not when it needs the most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// Which.
    pub term: Term,
    /// The phase in which the first plan holds most of it.
    pub phase: Phase,
    /// The most that each plan ever holds of it, bytes.
    pub bytes: [u64; 2],
}

/// Why two plans differ in what they need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The phases of their peaks.
    pub phases: [Phase; 2],
    /// What they need, bytes.
    pub need_bytes: [u64; 2],
    /// What differs at the peaks, the largest differences first. Sums to the difference of the needs.
    pub parts: Vec<Part>,
    /// What the second plan saves without needing less for it, the most first.
    pub elsewhere: Vec<Elsewhere>,
    /// What is behind it, where that is known.
    pub causes: Vec<Cause>,
}

/// What is behind a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// `prepare_model_for_kbit_training` makes fp32 of all that is not quantised, and so of what the layers pass on.
    KbitUpcast,
    /// bitsandbytes keeps the state of small tensors in fp32.
    SmallStatesStayWide,
    /// The free memory of the allocator lies in pieces: not the tensors decide but where they lie.
    Pieces,
    /// The step needs the most in this phase, in which none of what is saved is held.
    PeakElsewhere(Phase),
}

/// Modules that a part names.
const MOST_MODULES: usize = 3;

/// Sets two jobs side by side by their answers, which list their allocations.
pub fn why(jobs: [&Job; 2], both: [&Estimate; 2]) -> Why {
    let mut parts: Vec<Part> = Term::ALL.iter().filter_map(|term| part(both, *term)).collect();
    order::sort(&mut parts, |one, other| other.more().unsigned_abs().cmp(&one.more().unsigned_abs()));
    let mut elsewhere: Vec<Elsewhere> =
        Term::ALL.iter().filter(|term| saves_nothing(&parts, **term)).filter_map(|term| saved(both, *term)).collect();
    let saving = |one: &Elsewhere| one.bytes[0] - one.bytes[1];
    order::sort(&mut elsewhere, |one, other| saving(other).cmp(&saving(one)));
    let mut why = Why {
        phases: both.map(|estimate| estimate.peak.phase),
        need_bytes: both.map(|estimate| estimate.peak.band.expected),
        parts,
        elsewhere,
        causes: Vec::new(),
    };
    why.causes = causes(jobs.map(Job::plan), &why);
    why
}

fn causes([before, after]: [&Plan; 2], why: &Why) -> Vec<Cause> {
    let more = |terms: &[Term]| {
        let of = why.parts.iter().filter(|part| terms.contains(&part.term));
        of.fold(0_i64, |sum, part| sum.saturating_add(part.more()))
    };
    let needs_more = why.need_bytes[1] >= why.need_bytes[0];
    let mut causes = Vec::new();
    let quantizes = after.method == Method::Qlora && before.method != Method::Qlora;
    if quantizes && after.quantization.prepare_for_kbit_training {
        causes.push(Cause::KbitUpcast);
    }
    if before.optim != after.optim && is_eight_bit(after.optim) && more(&[Term::FirstMoment, Term::SecondMoment]) > 0 {
        causes.push(Cause::SmallStatesStayWide);
    }
    let grown = why.parts.iter().map(Part::more).filter(|more| *more > 0).fold(0, i64::saturating_add);
    let in_pieces = more(&[Term::Fragmentation, Term::UnsplitRemainders]);
    if needs_more && in_pieces > grown / 2 {
        causes.push(Cause::Pieces);
    }
    // What was saved at the old peak, another phase takes; or the most of it was never held at the peak.
    let less = why.parts.iter().map(Part::more).filter(|more| *more < 0).fold(0, i64::saturating_add);
    let missed = why.elsewhere.first().map_or(0, |one| one.bytes[0] - one.bytes[1]);
    if missed > less.unsigned_abs() || less < 0 && why.phases[0] != why.phases[1] {
        causes.push(Cause::PeakElsewhere(why.phases[1]));
    }
    causes
}

fn is_eight_bit(optimizer: Optimizer) -> bool {
    optimizer.name().contains("8bit")
}

/// Whether less of `term` at its own most is not less at the peak.
fn saves_nothing(parts: &[Part], term: Term) -> bool {
    parts.iter().find(|part| part.term == term).is_none_or(|part| part.more() >= 0)
}

/// What differs of `term` at the peaks; `None` where nothing does.
fn part(both: [&Estimate; 2], term: Term) -> Option<Part> {
    let beyond = |estimate: &Estimate| {
        estimate.overheads().into_iter().find(|(other, _)| *other == term).map_or(0, |(_, bytes)| bytes)
    };
    let mut modules: Vec<(&str, [u64; 2])> = Vec::new();
    let mut bytes = both.map(beyond);
    for (i, estimate) in both.iter().enumerate() {
        for row in estimate.allocations.iter().filter(|row| row.term == term) {
            bytes[i] = bytes[i].saturating_add(row.bytes_at_peak);
            match modules.iter_mut().find(|(module, _)| *module == row.module) {
                Some((_, own)) => own[i] = own[i].saturating_add(row.bytes_at_peak),
                None => {
                    let mut own = [0, 0];
                    own[i] = row.bytes_at_peak;
                    modules.push((&row.module, own));
                }
            }
        }
    }
    if bytes[0] == bytes[1] {
        return None;
    }
    let grows = difference(bytes) > 0;
    modules.retain(|(module, own)| !module.is_empty() && own[0] != own[1] && (difference(*own) > 0) == grows);
    order::sort(&mut modules, |(_, one), (_, other)| other[0].abs_diff(other[1]).cmp(&one[0].abs_diff(one[1])));
    let modules = modules.into_iter().take(MOST_MODULES).map(|(module, _)| module.to_owned()).collect();
    Some(Part { term, bytes, modules })
}

/// What the second plan has less of `term` where it has most of it; `None` where it has as much.
fn saved(both: [&Estimate; 2], term: Term) -> Option<Elsewhere> {
    let [(before, phase), (after, _)] = both.map(|estimate| most_of(estimate, term));
    (after < before).then_some(Elsewhere { term, phase, bytes: [before, after] })
}

/// The most that a plan ever holds of `term`, bytes, and when.
fn most_of(estimate: &Estimate, term: Term) -> (u64, Phase) {
    let mut most = (0, estimate.peak.phase);
    for used in &estimate.phases {
        let held = estimate.allocations.iter().filter(|row| row.term == term).flat_map(|row| &row.phases);
        let held =
            held.filter(|(phase, _)| *phase == used.phase).fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        if held > most.0 {
            most = (held, used.phase);
        }
    }
    most
}

fn difference([before, after]: [u64; 2]) -> i64 {
    -saved_bytes(before, after)
}

/// A saving below this share of what the plan then needs is next to none.
const LEAST_SHARE: f64 = 0.01;

/// Whether `saved_bytes` beside what `judged` says are less than `lever` is pulled for: nothing, or more memory than before.
pub fn is_surprising(lever: Lever, saved_bytes: i64, judged: &Judgement) -> bool {
    lever.promises_memory() && (saved_bytes as f64) < LEAST_SHARE * judged.need_bytes as f64
}
