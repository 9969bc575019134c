//! The parts of the form: wide screens show all of them, narrow ones the chosen one, so that the answer is near.

use headroom_view::{Element, el};

use super::groups::{keys_within, needs_seeing};
use crate::page::Page;
use crate::pieces::button;
use crate::state::State;

/// A part of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Step {
    /// Whose step runs, which task, model and method.
    #[default]
    Model,
    /// On what.
    Gpu,
    /// How much at once.
    Batch,
    /// The groups.
    More,
}

impl Step {
    const ALL: [Self; 4] = [Self::Model, Self::Gpu, Self::Batch, Self::More];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Gpu => "gpu",
            Self::Batch => "batch",
            Self::More => "more",
        }
    }

    fn words(self, page: &Page) -> &'static str {
        page.texts.form.step[self as usize]
    }

    fn next(self) -> Option<Self> {
        Self::ALL.get(self as usize + 1).copied()
    }
}

/// Fields as a part, with what leads to the next one.
pub(super) fn part(page: &Page, step: Step, fields: Vec<Element>) -> Element {
    let next = step.next().map(|next| {
        let label = (page.texts.form.next_step)(next.words(page));
        button(&["form-step ", next.name()].concat(), &label).key("next").class("form-next")
    });
    el("div").key(step.name()).class("form-step").attr("data-step", step.name()).with_all(fields).with_some(next)
}

/// What chooses the part, for narrow screens. Parts with something to fix are marked.
pub(super) fn bar(page: &Page, essentials: &[Element], rest: &[Element]) -> Element {
    let words = &page.texts.form;
    let one = |step: Step| {
        let mut keys = Vec::new();
        match essentials.get(step as usize) {
            Some(part) => keys_within(part, &mut keys),
            None => rest.iter().for_each(|group| keys_within(group, &mut keys)),
        }
        let is_open = page.state.form.step == step;
        let label = step.words(page);
        // What was typed and could not be taken is in no plan.
        let is_refused = page.state.drafts.iter().any(|draft| draft.problem.is_some() && keys.contains(&draft.field));
        let needs_fixing = is_refused || page.outcome.is_err() && needs_seeing(page, &keys);
        button(&["form-step ", step.name()].concat(), label)
            .key(step.name())
            .maybe("aria-current", is_open.then_some("step"))
            .maybe("aria-label", needs_fixing.then(|| (words.step_to_fix)(label)).as_deref())
            .maybe("class", needs_fixing.then_some("to-fix"))
    };
    let steps = Step::ALL.map(one).into();
    el("div").key("steps").class("form-steps").attr("role", "group").attr("aria-label", words.steps).with_all(steps)
}

/// Shows the part called `name`.
pub(super) fn choose(state: &mut State, name: &str) {
    if let Some(step) = Step::ALL.into_iter().find(|step| step.name() == name) {
        state.form.step = step;
    }
}
