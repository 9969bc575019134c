//! The largest models that fit, by family: found a few milliseconds at a time.

use std::time::Duration;

use headroom_core::advise::largest::{Largest, Offer, Progress};
use headroom_core::memory::Fit;
use headroom_core::plan::Plan;
use leptos::prelude::*;

use super::tables::changed_lines;
use super::{Tool, Wishes};
use crate::advice::oracle::Known;
use crate::advice::sheet::{Sheet, SheetView};
use crate::figures;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// How long one turn may take before the browser gets its own, milliseconds; a step of the search may take as long again.
const TURN: f64 = 8.0;

/// The question, once it is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    state: State,
    search: RwSignal<Option<Largest>>,
    /// The plan whose replay it waits for.
    wanted: RwSignal<Option<Plan>>,
    is_done: RwSignal<bool>,
}

impl Asked {
    pub(super) fn nothing(state: State, wishes: Wishes) -> Self {
        let this =
            Self { state, search: RwSignal::new(None), wanted: RwSignal::new(None), is_done: RwSignal::new(false) };
        let plan = state.settled_plan();
        // An answer is one to a plan: it stays only while nothing but the model changes.
        Effect::new(move |_| {
            let plan = plan.read();
            if this.search.read_untracked().as_ref().is_some_and(|search| !search.holds_for(&plan)) {
                this.search.set(None);
                this.wanted.set(None);
            }
        });
        Effect::new(move |_| {
            // Another plan of the reader's empties the queue.
            plan.track();
            wishes.want(state.replays, Tool::Largest, this.wanted.get().into_iter().collect());
        });
        Effect::new(move |_| {
            let is_there = this.wanted.read().as_ref().is_some_and(|plan| state.replays.answered(plan));
            if is_there {
                this.wanted.set(None);
                this.take_turn();
            }
        });
        this
    }

    fn take_turn(self) {
        set_timeout(move || self.work(), Duration::ZERO);
    }

    fn work(self) {
        let now = || window().performance().map_or(0.0, |clock| clock.now());
        let replays = self.state.replays;
        let began = now();
        let mut search = self.search.write_untracked();
        let Some(search) = search.as_mut() else { return };
        loop {
            match search.advance(&Known(replays), &|plan| untrack(|| replays.answered(plan))) {
                Progress::Working if now() - began < TURN => {}
                Progress::Working => return self.take_turn(),
                Progress::Wants(plan) => return self.wanted.set(Some(*plan)),
                Progress::Done => return self.is_done.set(true),
            }
        }
    }

    fn toggle(self) {
        let asks = self.search.read_untracked().is_none();
        self.is_done.set(false);
        self.wanted.set(None);
        self.search.set(self.state.job.get_untracked().ok().filter(|_| asks).map(Largest::new));
        if asks {
            self.take_turn();
        }
    }

    /// The button that asks.
    pub(super) fn button(self) -> impl IntoView {
        view! {
            <button
                type="button"
                class="question"
                aria-pressed=move || self.search.read().is_some().to_string()
                on:click=move |_| self.toggle()
            >
                {text(|t| t.options.solve.largest)}
            </button>
        }
    }

    /// What came of it.
    pub(super) fn list(self) -> impl IntoView {
        let texts = texts();
        let some = Memo::new(move |_| self.search.read().is_some());
        let said = move || {
            let words = &texts.get().options.solve;
            let nothing = || self.search.read().as_ref().is_some_and(|search| search.offers().is_empty());
            match self.is_done.get() {
                false => words.searching,
                true if nothing() => words.nothing,
                true => words.largest_intro,
            }
        };
        let sheet = Signal::derive(move || {
            let search = self.search.read();
            let offers = search.as_ref().filter(|_| self.is_done.get()).map(Largest::offers).unwrap_or_default();
            sheet(texts.get(), &offers)
        });
        view! {
            <Show when=move || some.get()>
                <div class="largest" aria-busy=move || (!self.is_done.get()).to_string()>
                    <h3>{text(|t| t.options.solve.largest)}</h3>
                    <p class="panel-intro" role="status">{said}</p>
                    <SheetView sheet/>
                </div>
            </Show>
        }
    }
}

fn sheet(texts: &'static Texts, offers: &[&Offer]) -> Sheet {
    let words = &texts.options.solve;
    let mut sheet = Sheet::default();
    if offers.is_empty() {
        return sheet;
    }
    sheet.push("<ol>");
    for Offer { model, plan, judgement, changed, .. } in offers {
        let released = (words.released)(model.released, &figures::params(model.param_count));
        sheet.push(&format!("<li><div><strong>{}</strong> <small>{released}</small></div><p>", model.id));
        sheet.verdict(texts, Fit::Fits);
        let [need, gpu] = figures::glance_apart([judgement.need_bytes, judgement.gpu_bytes]);
        let used = (texts.used_of)(&need, &gpu);
        sheet.push(&used);
        if judgement.host_bytes > 0 {
            sheet.push(&format!(" · {}", (texts.advice.host_takes)(&figures::glance(judgement.host_bytes))));
        }
        let changes = changed_lines(changed).join(", ");
        sheet.push("</p><p>");
        sheet.push(if changed.is_empty() { words.only_model } else { &changes });
        sheet.push("</p>");
        sheet.button(plan, texts.use_plan, &format!("{} {}", texts.use_plan, model.id), "");
        sheet.push("</li>");
    }
    sheet.push("</ol>");
    sheet
}
