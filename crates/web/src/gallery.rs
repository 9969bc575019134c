//! Real situations as plans that open, with the figures of their guides beside ours.

use std::ops::RangeFrom;
use std::time::Duration;

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::Plan;
use headroom_core::scenario::{SCENARIOS, Scenario, ScenarioPlan};
use leptos::prelude::*;

use crate::figures;
use crate::replays::{Asker, Replays};
use crate::result::{class_of, icon_path};
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Whether the gallery is open.
#[derive(Clone, Copy)]
pub(crate) struct Gallery(RwSignal<bool>);

impl Gallery {
    pub(crate) fn closed() -> Self {
        Self(RwSignal::new(false))
    }
}

/// Id of the panel.
const PANEL: &str = "gallery";

/// Opens and closes the gallery.
#[component]
pub(crate) fn GalleryButton() -> impl IntoView {
    let Gallery(open) = expect_context();
    view! {
        <button
            type="button"
            aria-expanded=move || open.get().to_string()
            aria-controls=PANEL
            on:click=move |_| open.update(|open| *open = !*open)
        >
            {text(|t| t.gallery.button)}
        </button>
    }
}

/// Estimates of the scenarios' plans, in the order of [`SCENARIOS`], as far as they are there.
#[derive(Clone, Copy)]
struct Estimates {
    found: StoredValue<Vec<Option<Estimate>>>,
    count: RwSignal<usize>,
}

impl Estimates {
    /// Makes the next estimate, then leaves the browser its turn.
    fn go_on(self) {
        let done = self.count.get_untracked();
        let Some(next) = all_plans().nth(done) else { return };
        self.found.update_value(|found| found.push(Job::resolve(&next.plan()).ok().map(|job| memory::estimate(&job))));
        self.count.set(done + 1);
        set_timeout(move || self.go_on(), Duration::ZERO);
    }

    /// The estimate in place `at`: at once by what other plans needed, then by the plan's own replay.
    fn of(self, at: usize, plan: &Plan, replays: Replays) -> Option<Estimate> {
        self.count.track();
        let estimate = self.found.with_value(|found| found.get(at).cloned().flatten())?;
        Some(match replays.of(plan) {
            Some(replay) => estimate.refined(&replay),
            None => estimate,
        })
    }
}

fn all_plans() -> impl Iterator<Item = &'static ScenarioPlan> {
    SCENARIOS.iter().flat_map(|scenario| scenario.plans)
}

/// The panel.
#[component]
pub(crate) fn GalleryPanel() -> impl IntoView {
    let Gallery(open) = expect_context();
    let replays = State::of_page().replays;
    let texts = texts();
    let estimates = Estimates { found: StoredValue::new(Vec::new()), count: RwSignal::new(0) };
    Effect::new(move |_| {
        if open.get() {
            estimates.go_on();
            replays.want(Asker::Gallery, all_plans().map(ScenarioPlan::plan));
        }
    });
    let cards = move || {
        let texts = texts.get();
        let mut plans = 0..;
        let card = |scenario: &'static Scenario| card(texts, scenario, &mut plans, estimates, replays);
        SCENARIOS.iter().map(card).collect::<Vec<_>>()
    };
    view! {
        <div id=PANEL class="gallery-place">
            <Show when=move || open.get()>
                <section class="panel gallery" aria-labelledby="gallery-title">
                    <div class="gallery-head">
                        <div>
                            <h2 id="gallery-title">{text(|t| t.gallery.title)}</h2>
                            <p class="panel-intro">{text(|t| t.gallery.intro)}</p>
                        </div>
                        <button type="button" on:click=move |_| open.set(false)>{text(|t| t.close)}</button>
                    </div>
                    <div class="gallery-cards">{cards}</div>
                </section>
            </Show>
        </div>
    }
}

/// One situation: its plans as links, each with its answer and the guide's figures. `places` counts plans.
fn card(
    texts: &'static Texts,
    scenario: &'static Scenario,
    places: &mut RangeFrom<usize>,
    estimates: Estimates,
    replays: Replays,
) -> AnyView {
    let Gallery(open) = expect_context();
    let words = (texts.gallery.scenario)(scenario.id);
    let plans = scenario.plans.iter().zip(places).map(|(plan, at)| {
        let name = words.plan(plan.key);
        let opened = plan.plan();
        // What follows the estimate is text of the page's own and figures: no reader's words, so nothing to escape.
        let answer = move || answer_html(texts, name, plan, estimates.of(at, &opened, replays).as_ref());
        // The address holds the plan: the page follows it as it follows any other link.
        view! {
            <li>
                <a href=format!("#{}", plan.link) on:click=move |_| open.set(false)>{name}</a>
                <div inner_html=answer></div>
            </li>
        }
    });
    let plans = plans.collect::<Vec<_>>();
    view! {
        <article class="scenario" aria-labelledby=format!("scenario-{}", scenario.id)>
            <h3 id=format!("scenario-{}", scenario.id)>{words.title}</h3>
            <p>{words.story}</p>
            <ul>{plans}</ul>
        </article>
    }
    .into_any()
}

/// Verdict of a plan, then each figure of the guide, ours, and why they differ.
fn answer_html(texts: &Texts, name: &str, plan: &ScenarioPlan, estimate: Option<&Estimate>) -> String {
    let words = &texts.gallery;
    let Some(estimate) = estimate else { return format!("<p class=\"computing\">{}</p>", words.computing) };
    let (fit, path) = (estimate.verdict.fit, icon_path(estimate.verdict.fit));
    let [need, card] = figures::glance_apart([estimate.peak.band.expected, estimate.gpu_bytes]);
    let used = (texts.used_of)(&need, &card);
    let mut html = format!(
        "<p class=\"scenario-answer\"><span class=\"fit {}\"><svg class=\"fit-icon\" viewBox=\"0 0 24 24\" \
         aria-hidden=\"true\"><circle cx=\"12\" cy=\"12\" r=\"11\"/><path d=\"{path}\"/></svg>{}</span> {used}</p>",
        class_of(fit),
        (texts.fit)(fit)
    );
    if plan.rules.is_empty() {
        return html;
    }
    html.push_str(&format!(
        "<div class=\"table-scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>\
         <th scope=\"col\">{}</th><th scope=\"col\" class=\"number\">{}</th><th scope=\"col\" class=\"number\">{}</th>\
         <th scope=\"col\">{}</th></tr></thead><tbody>",
        (words.rules_of)(name),
        words.column_quantity,
        words.column_guide,
        words.column_ours,
        words.column_why
    ));
    for rule in plan.rules {
        let guide = figures::decimal_range(rule.low_bytes, rule.high_bytes);
        let ours = figures::decimal(rule.quantity.of(estimate));
        let why = rule.reason.map_or(words.agrees, words.reason);
        html.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{guide}</td><td class=\"number\">{ours}</td>\
             <td class=\"why\">{why}</td></tr>",
            (words.quantity)(rule.quantity)
        ));
    }
    html.push_str("</tbody></table></div>");
    html
}
