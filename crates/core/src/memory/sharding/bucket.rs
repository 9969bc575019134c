//! The bucket that gradients of ZeRO-2 and -3 wait in until it is full (`ipg_buckets` in both stages' code).

use super::unroll::{Held, Writer};

/// Gradients on their way.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    /// Elements of each gradient.
    pub(super) gradients: Vec<u64>,
    /// Elements of all.
    pub(super) elements: u64,
    /// Gradients too large to be copied into the bucket: reduced where they are.
    pub(super) outside: Vec<Held>,
}

impl Bucket {
    /// Whether a further gradient makes it overflow a bucket of `limit` elements, so that it is reduced before.
    pub(super) fn is_full_for(&self, elements: u64, limit: u64) -> bool {
        self.elements > 0 && self.elements.saturating_add(elements) > limit
    }

    /// Takes a gradient in: copied into the bucket on the stream that reduces it, or waiting outside where it is larger than `limit`.
    pub(super) fn take_in(&mut self, writer: &mut Writer<'_>, gradient: Held, elements: u64, limit: u64) {
        if self.elements.saturating_add(elements) > limit {
            self.outside.push(gradient);
        } else {
            writer.free_recorded(gradient);
        }
        self.gradients.push(elements);
        self.elements = self.elements.saturating_add(elements);
    }
}
