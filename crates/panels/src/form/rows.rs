//! Rows as data: which field, how it is chosen, and for which plans it means something.

use headroom_core::job::Job;
use headroom_core::plan::Plan;
use headroom_view::{Element, el};

use super::choice::{Decided, Offers, ValueWords, choice, choice_or_trainer, switch, switch_of};
use super::number::typed;
use crate::page::Page;

/// How a row's value is chosen.
#[derive(Clone, Copy)]
pub(super) enum Input {
    /// On or off.
    Switch,
    /// On or off, as the two values that the plan writes.
    SwitchOf(&'static str, &'static str),
    /// Typed.
    Typed,
    /// From a list.
    List(ValueWords),
    /// From a list that leaves something to the trainer.
    ListOrTrainer(ValueWords, Offers, Decided),
}

/// One row.
pub(super) struct Row {
    name: &'static str,
    input: Input,
    matters: Matters,
}

/// Whether a row means something for a plan, whose job is there once it can be resolved.
type Matters = fn(&Plan, Option<&Job>) -> bool;

/// A row that always means something.
pub(super) const fn row(name: &'static str, input: Input) -> Row {
    row_where(name, input, |_, _| true)
}

/// A row that means something for some plans.
pub(super) const fn row_where(name: &'static str, input: Input, matters: Matters) -> Row {
    Row { name, input, matters }
}

impl Row {
    /// Its field, where the row means something for the plan as it is.
    pub(super) fn name(&self, page: &Page) -> Option<&'static str> {
        (self.matters)(page.plan(), page.job.as_ref().ok()).then_some(self.name)
    }

    /// The row, where it means something for the plan as it is.
    pub(super) fn draw(&self, page: &Page) -> Option<Element> {
        if !(self.matters)(page.plan(), page.job.as_ref().ok()) {
            return None;
        }
        Some(match self.input {
            Input::Switch => switch(page, self.name),
            Input::SwitchOf(on, off) => switch_of(page, self.name, on, off),
            Input::Typed => typed(page, self.name),
            Input::List(words) => choice(page, self.name, words),
            Input::ListOrTrainer(words, offers, decided) => choice_or_trainer(page, self.name, words, offers, decided),
        })
    }
}

/// Rows under a smaller heading, while any of them means something; `key` tells the group apart from others.
pub(super) fn group(page: &Page, key: &str, title: &str, rows: &[Row]) -> Vec<Element> {
    let fields: Vec<Element> = rows.iter().filter_map(|row| row.draw(page)).collect();
    if fields.is_empty() {
        return Vec::new();
    }
    let title = el("h4").key(&[key, " title"].concat()).text(title);
    vec![title, el("div").key(key).class("fields").with_all(fields)]
}
