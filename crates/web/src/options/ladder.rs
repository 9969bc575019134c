//! Four DeepSpeed presets by GPU size, side by side.

use headroom_core::advise::Remembering;
use headroom_core::advise::tiers::{Rung, ladder};
use headroom_core::job::Job;
use headroom_core::plan::{Offload, Plan};
use leptos::prelude::*;

use super::tiers::{Choice, choice};
use super::{Tool, Wishes};
use crate::advice::oracle::Known;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// The presets, computed only while they are looked at.
#[component]
pub(super) fn LadderDetails(plan: ReadSignal<Plan>) -> impl IntoView {
    let state = State::of_page();
    let wishes: Wishes = expect_context();
    let texts = texts();
    let is_open = RwSignal::new(false);
    let rungs = RwSignal::new(Vec::<Rung>::new());
    // The plan that the presets are of, and what is still to be replayed for them.
    let asked = RwSignal::new((None::<Plan>, Vec::<Plan>::new()));
    let waits = Memo::new(move |_| {
        let asked = asked.read();
        asked.0.as_ref() == Some(&*plan.read()) && asked.1.iter().any(|plan| !state.replays.answered(plan))
    });
    Effect::new(move |_| {
        let plan = plan.get();
        if !is_open.get() {
            return;
        }
        if !waits.get() {
            // Where no preset fits, this searches for what makes the last one fit: not for every replay that arrives.
            let found = Job::resolve(&plan).map(|job| ladder(&job, &Remembering::new(&Known(state.replays))));
            let found = found.unwrap_or_default();
            let plans = found.iter().map(|rung| rung.plan.clone());
            let missing = untrack(|| plans.filter(|plan| !state.replays.answered(plan)).collect());
            rungs.set(found);
            asked.set((Some(plan), missing));
        }
        // Another plan of the reader's empties the queue.
        wishes.want(state.replays, Tool::Ladder, asked.get_untracked().1);
    });
    let trains_on_own = Memo::new(move |_| !plan.read().is_reinforcement());
    let rows = move || {
        let texts = texts.get();
        rungs.get().into_iter().map(|rung| row(texts, state, rung)).collect::<Vec<_>>()
    };
    let toggled = move |event: web_sys::Event| {
        is_open.set(event_target::<web_sys::HtmlDetailsElement>(&event).open());
    };
    view! {
        <Show when=move || trains_on_own.get()>
            <details class="chart-table" on:toggle=toggled>
                <summary>{text(|t| t.options.tiers.ladder_title)}</summary>
                <p class="panel-intro">{text(|t| t.options.tiers.ladder_intro)}</p>
                <div class="ladder" role="group" aria-label=text(|t| t.options.tiers.ladder_title)>{rows}</div>
            </details>
        </Show>
    }
}

fn row(texts: &'static Texts, state: State, rung: Rung) -> AnyView {
    let words = &texts.options.tiers;
    let Rung { name, plan, judgement, time, reason, levers, shards_nothing } = rung;
    let Plan { per_device_train_batch_size: batch, gradient_accumulation_steps: steps, max_length, .. } = plan;
    let offloads = plan.offload_optimizer == Offload::Cpu || plan.offload_param == Offload::Cpu;
    let sharding = texts.sharding(&plan, plan.zero_stage, offloads);
    let more: String = levers.iter().map(|lever| format!(" + {}", (texts.advice.lever)(*lever))).collect();
    let setting = (words.ladder_setting)(batch, steps, max_length);
    let setting = format!("{}: {sharding}, {setting}{more}", (words.ladder_card)(name));
    let why_not = Job::resolve(&plan).err().map(|problems| {
        let why: Vec<_> = problems.iter().map(texts.problem).collect();
        format!("{}: {}", texts.cannot_run, why.join(" "))
    });
    let is_current = *state.plan().read_untracked() == plan;
    choice(
        texts,
        Choice {
            name: view! { <span class="ladder-name"><code>{name}</code>" "<span>{setting}</span></span> }.into_any(),
            judgement,
            time,
            reason,
            shards_nothing,
            of_ladder: true,
            why_not: why_not.unwrap_or_default(),
            is_current,
        },
        Callback::new(move |()| state.apply(plan.clone())),
    )
}
