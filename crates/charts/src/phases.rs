//! One plan through the phases of its step.

use headroom_core::memory::{Category, Estimate, PhaseUse};

use crate::comparison::{Content, picture};
use crate::look::{Bar, Look, Picture};

/// Memory at the fullest moment of each phase, stacked by category, with the card's memory as a line and the peak marked.
///
/// What the card gives up besides the allocator's memory (CUDA context, libraries, NCCL) is counted as overhead in every phase, so that
/// bars and card can be compared.
pub fn phases_svg(estimate: &Estimate, look: &Look) -> Picture {
    let bars: Vec<Bar> = estimate.phases.iter().map(|phase| bar(phase, estimate, look)).collect();
    let content =
        Content { bars: &bars, card_bytes: estimate.card_bytes, fit_marks: false, note: Some(&look.texts.peak) };
    picture(&content, look)
}

fn bar(phase: &PhaseUse, estimate: &Estimate, look: &Look) -> Bar {
    let mut parts = phase.by_category.clone();
    parts.push((Category::Overhead, estimate.peak.context_bytes));
    Bar {
        label: look.texts.phase(phase.phase).to_owned(),
        group: String::new(),
        parts,
        total: phase.allocated_bytes.saturating_add(estimate.peak.context_bytes),
        selected: phase.phase == estimate.peak.phase,
        id: phase.phase.name().to_owned(),
    }
}
