//! The plans before and after the one on the page, for the reader who takes a change back.

use headroom_core::plan::Plan;
use headroom_view::History;

/// How many steps are kept: more than anybody walks back.
const MOST: usize = 100;

/// Plans in the order in which they were left.
#[derive(Default)]
pub(crate) struct Undo {
    before: Vec<Plan>,
    after: Vec<Plan>,
    /// The field whose edits the last step holds, if it may still take more of them.
    dragged: Option<String>,
}

impl Undo {
    /// Notes that `plan` is left for another. A slider's way over its stops is one step.
    pub(crate) fn leave(&mut self, plan: &Plan, history: &History) {
        let dragged = match history {
            History::Drag(field) => Some(field.clone()),
            _ => None,
        };
        let goes_on = dragged.is_some() && dragged == self.dragged;
        self.dragged = dragged;
        self.after.clear();
        if !goes_on {
            if self.before.len() == MOST {
                self.before.remove(0);
            }
            self.before.push(plan.clone());
        }
    }

    /// The plan before; `plan` is the one on the page.
    pub(crate) fn back(&mut self, plan: &Plan) -> Option<Plan> {
        let before = self.before.pop()?;
        self.after.push(plan.clone());
        self.dragged = None;
        Some(before)
    }

    /// The plan that was taken back last.
    pub(crate) fn forth(&mut self, plan: &Plan) -> Option<Plan> {
        let after = self.after.pop()?;
        self.before.push(plan.clone());
        self.dragged = None;
        Some(after)
    }

    /// Whether there is a plan before, and one after.
    pub(crate) fn can(&self) -> (bool, bool) {
        (!self.before.is_empty(), !self.after.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use headroom_core::plan::Plan;
    use headroom_view::History;

    use super::{MOST, Undo};

    fn plan(batch: u64) -> Plan {
        Plan { max_length: batch, ..Plan::default() }
    }

    #[test]
    fn steps_are_taken_back_and_forth_and_a_slider_is_one() {
        let mut undo = Undo::default();
        undo.leave(&plan(1), &History::Step);
        undo.leave(&plan(2), &History::Drag("max_length".to_owned()));
        undo.leave(&plan(3), &History::Drag("max_length".to_owned()));
        assert_eq!(undo.back(&plan(4)), Some(plan(2)));
        assert_eq!(undo.back(&plan(2)), Some(plan(1)));
        assert_eq!((undo.back(&plan(1)), undo.can()), (None, (false, true)));
        assert_eq!(undo.forth(&plan(1)), Some(plan(2)));
        undo.leave(&plan(2), &History::Step);
        assert_eq!(undo.can(), (true, false), "another way was taken");
    }

    #[test]
    fn only_so_many_steps_are_kept() {
        let mut undo = Undo::default();
        for step in 0..2 * MOST as u64 {
            undo.leave(&plan(step + 1), &History::Step);
        }
        assert_eq!(undo.before.len(), MOST);
    }
}
