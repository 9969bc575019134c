//! What a bar of a waterfall does: a lever, or the need of a whole plan.

use headroom_core::advise::Level;

use crate::axis::value_text;
use crate::elements::with_unit;
use crate::ink::Ink;
use crate::look::Texts;

/// One lever of the waterfall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeverBar {
    /// Its short name: `Liger`, `8-bit AdamW`.
    pub label: String,
    /// Expected need once it is pulled, bytes. What it saves is the difference to the bar before, so that the savings sum exactly to the
    /// difference of the two plans.
    pub need_bytes: u64,
    /// What it does to the result of training.
    pub level: Level,
    /// What a click on it means; becomes `data-id`.
    pub id: String,
}

/// What a bar of a waterfall does.
pub(crate) struct Step {
    /// Level before it, bytes; 0 for a whole need.
    pub(crate) from_bytes: u64,
    /// Level after it, bytes.
    pub(crate) to_bytes: u64,
    /// Its colour.
    pub(crate) ink: Ink,
    /// What the lever does to the result; none for a whole need.
    pub(crate) level: Option<Level>,
    /// What is printed at its end.
    pub(crate) value: String,
    /// Its tooltip.
    pub(crate) title: String,
}

impl Step {
    /// Where it reaches highest, bytes.
    pub(crate) fn highest(&self) -> u64 {
        self.from_bytes.max(self.to_bytes)
    }

    /// The need of a whole plan.
    pub(crate) fn whole(bytes: u64, name: &str, gpu_bytes: u64, texts: &Texts) -> Self {
        Self {
            from_bytes: 0,
            to_bytes: bytes,
            ink: Ink::Need,
            level: None,
            value: value_text(bytes),
            title: format!("{name}: {}", need_text(bytes, gpu_bytes, texts)),
        }
    }

    /// What `lever` does from the level `from_bytes` on.
    pub(crate) fn of(lever: &LeverBar, from_bytes: u64, gpu_bytes: u64, texts: &Texts) -> Self {
        let to_bytes = lever.need_bytes;
        let (sign, ink) = match to_bytes.cmp(&from_bytes) {
            std::cmp::Ordering::Less => ("−", Ink::Saves),
            std::cmp::Ordering::Equal => ("", Ink::Saves),
            std::cmp::Ordering::Greater => ("+", Ink::Adds),
        };
        let bytes = from_bytes.abs_diff(to_bytes);
        let effect = match lever.level {
            Level::Same => String::new(),
            Level::Coarser => format!("; {}", texts.coarser),
            Level::Different => format!("; {}", texts.different),
        };
        Self {
            from_bytes,
            to_bytes,
            ink,
            level: Some(lever.level),
            value: format!("{sign}{}", value_text(bytes)),
            title: format!(
                "{}: {sign}{} → {}{effect}",
                lever.label,
                with_unit(bytes, texts),
                need_text(to_bytes, gpu_bytes, texts)
            ),
        }
    }
}

/// Bytes and whether they fit the GPU: `21.3 GiB, fits`.
fn need_text(bytes: u64, gpu_bytes: u64, texts: &Texts) -> String {
    let fit = if bytes <= gpu_bytes { &texts.fits } else { &texts.does_not_fit };
    format!("{}, {fit}", with_unit(bytes, texts))
}
