//! What the reader does with the answer that the release build kept, before this engine has found it out itself: whoever takes an offer
//! there names a plan by a number that no panel has drawn yet.

use headroom_view::Event;

use super::Engine;

impl Engine {
    /// Lets an event wait that names an offer of the first view, until that stands; whether it does.
    pub(super) fn waits(&mut self, event: &Event) -> bool {
        let waits = !self.has_stood && event_number(event).is_some_and(|number| self.offered.plan(number).is_none());
        if waits {
            self.early.push(event.clone());
        }
        waits
    }

    /// Takes what waits once its offers are there, or `is_standing`: the first view stands. Whether there was anything.
    pub(super) fn take_early(&mut self, is_standing: bool) -> bool {
        self.has_stood |= is_standing;
        let are_there = self.early.iter().filter_map(event_number).all(|number| self.offered.plan(number).is_some());
        if self.early.is_empty() || !(is_standing || are_there) {
            return false;
        }
        let early = std::mem::take(&mut self.early);
        self.take(&early);
        true
    }

    /// Leaves out what waits: the plan that it was offered with is not this one any more.
    pub(super) fn leave_early(&mut self) {
        let count = u32::try_from(self.early.drain(..).count()).unwrap_or_default();
        self.events = self.events.wrapping_add(count);
    }
}

/// The number of the offer that an event names.
fn event_number(event: &Event) -> Option<&str> {
    let (verb, number) = event.action.split_once(' ')?;
    matches!(verb, "apply" | "adopt" | "compare").then_some(number)
}
