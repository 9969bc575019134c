//! One plan through the phases of its step.

use headroom_core::memory::{Category, Estimate, PhaseUse};

use crate::comparison::{Content, picture};
use crate::look::{Bar, Look, Picture};

/// Memory at the fullest moment of each phase as one stacked area, with the card's memory as a line and the peak marked.
///
/// What the card gives up beyond the tensors at the peak (CUDA context, libraries, NCCL, what the allocator cannot use) is
/// counted as overhead in every phase, so that the peak is the expected need, `peak.band.expected`, that the verdict states.
pub fn phases_svg(estimate: &Estimate, look: &Look) -> Picture {
    let bars: Vec<Bar> = estimate.phases.iter().map(|phase| bar(phase, estimate, look)).collect();
    let content = Content {
        bars: &bars,
        card_bytes: estimate.card_bytes,
        fit_marks: false,
        note: Some(look.texts.peak.as_str()),
        joined: true,
        steps: &[],
        key: Vec::new(),
    };
    picture(&content, look)
}

fn bar(phase: &PhaseUse, estimate: &Estimate, look: &Look) -> Bar {
    let beyond = estimate.peak.band.expected.saturating_sub(estimate.peak.allocated_bytes);
    let mut parts = phase.by_category.clone();
    parts.push((Category::Overhead, beyond));
    Bar {
        label: look.texts.phase(phase.phase).to_owned(),
        group: String::new(),
        parts,
        total: phase.allocated_bytes.saturating_add(beyond),
        selected: phase.phase == estimate.peak.phase,
        id: phase.phase.name().to_owned(),
    }
}
