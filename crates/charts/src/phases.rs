//! One plan through the phases of its step.

use headroom_core::memory::{Estimate, PhaseUse};

use crate::comparison::picture;
use crate::content::Content;
use crate::look::{Bar, Look, Picture};

/// What each phase needs at its peak as one stacked area, with the GPU's memory as a line and the peak marked.
///
/// Overhead is the context with NCCL, the same in every phase, and what the allocator needs beyond the tensors of that
/// phase; at the peak they sum to the expected need, `peak.band.expected`, that the verdict states.
pub fn phases_svg(estimate: &Estimate, look: &Look) -> Picture {
    let bars: Vec<Bar> = estimate.phases.iter().map(|phase| bar(phase, estimate, look)).collect();
    let content = Content {
        bars: &bars,
        gpu_bytes: estimate.gpu_bytes,
        fit_marks: false,
        note: Some(look.texts.peak.as_str()),
        joined: true,
        steps: &[],
        key: Vec::new(),
    };
    picture(&content, look)
}

fn bar(phase: &PhaseUse, estimate: &Estimate, look: &Look) -> Bar {
    Bar {
        label: look.texts.phase(phase.phase).to_owned(),
        group: String::new(),
        parts: estimate.need_by_category(phase),
        total: estimate.need_bytes(phase),
        selected: phase.phase == estimate.peak.phase,
        id: phase.phase.name().to_owned(),
    }
}
