//! The answer: the verdict, how the plan compares, and where every byte goes.

mod accuracy;
mod breakdown;
pub(crate) mod chart;
mod comparison;
mod host;
mod metrics;
mod models;
mod notes;
mod phases;
mod verdict;

use leptos::prelude::*;

pub(crate) use chart::{Drawing, width_of};
pub(crate) use comparison::Candidate;
pub(crate) use verdict::{FitIcon, VerdictLine, class_of, icon_path};

use crate::advice::AdvicePanel;
use crate::options::{BeforeAfterPanel, FitMapPanel, SolvePanel, SummaryPanel};
use crate::state::State;

/// Everything that is derived from the plan.
#[component]
pub(crate) fn Answer() -> impl IntoView {
    let state = State::of_page();
    let answered = Memo::new(move |_| state.estimate.read().is_some());
    view! {
        <verdict::VerdictPanel/>
        <Show when=move || answered.get()>
            <div class="answer" class:stale=move || state.outcome.read().is_err()>
                <notes::NotesPanel/>
                <AdvicePanel/>
                <comparison::ComparisonPanel/>
                <FitMapPanel/>
                <SolvePanel/>
                <BeforeAfterPanel/>
                <phases::PhasesPanel/>
                <models::ModelsPanel/>
                <breakdown::BreakdownPanel/>
                <host::HostPanel/>
                <metrics::MetricsPanel/>
                <SummaryPanel/>
            </div>
        </Show>
    }
}
