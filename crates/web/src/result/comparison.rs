//! The plan beside its alternatives.

use headroom_charts::{Bar, Picture, comparison_svg, need_by_category};
use headroom_core::job::Job;
use headroom_core::memory::{self, Category, Estimate, Fit};
use headroom_core::plan::{self, Alternative, Plan, Problem, Task};
use leptos::html;
use leptos::prelude::*;

use super::chart::{Drawing, Legend, look, width_of};
use super::verdict::{FitIcon, class_of};
use crate::figures;
use crate::options::TierMatrix;
use crate::replays::Asker;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Height of the columns, pixels.
const HEIGHT: u32 = 380;

/// One alternative with its answer.
#[derive(Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) alternative: Alternative,
    pub(crate) outcome: Result<Estimate, Vec<Problem>>,
    pub(crate) is_current: bool,
}

impl Candidate {
    pub(crate) fn estimate(&self) -> Option<&Estimate> {
        self.outcome.as_ref().ok()
    }

    /// What makes it no plan at all; empty where it is one.
    pub(crate) fn why_not(&self, texts: &Texts) -> String {
        let Err(problems) = &self.outcome else { return String::new() };
        let why: Vec<_> = problems.iter().map(texts.problem).collect();
        format!("{}: {}", texts.cannot_run, why.join(" "))
    }

    /// The method: what bars are grouped by.
    pub(crate) fn group(&self, texts: &Texts) -> String {
        texts.alternative_group(&self.alternative)
    }

    /// What tells it from the others of its group.
    pub(crate) fn label(&self, texts: &Texts) -> String {
        texts.alternative_label(&self.alternative)
    }

    fn full_name(&self, texts: &Texts) -> String {
        format!("{}, {}", self.group(texts), self.label(texts))
    }
}

/// Chart, legend, and the matrix or table.
#[component]
pub(super) fn ComparisonPanel() -> impl IntoView {
    let state = State::of_page();
    // Twenty estimates: the verdict, which needs one, does not wait for them.
    let plan = state.settled_plan();
    let texts = texts();
    let place = NodeRef::<html::Div>::new();
    let width = width_of(place);

    let at_once = Memo::new(move |_| {
        let plan = plan.read();
        let own = Job::resolve(&plan);
        let of = |alternative: Alternative| {
            let is_current = alternative.plan == *plan;
            let job = match &own {
                Ok(own) => own.with(alternative.plan.clone()),
                Err(_) => Job::resolve(&alternative.plan),
            };
            let outcome = job.map(|job| memory::outline(&job));
            Candidate { alternative, outcome, is_current }
        };
        plan::alternatives(&plan).into_iter().map(of).collect::<Vec<_>>()
    });
    let replays = state.replays;
    Effect::new(move |_| {
        // Another plan makes what was asked for forgotten, even where the alternatives are the same.
        plan.track();
        let compared = at_once.read();
        let answered = compared.iter().filter(|compared| compared.outcome.is_ok());
        replays.want(Asker::Comparison, answered.map(|compared| compared.alternative.plan.clone()));
    });
    let compared = Memo::new(move |_| {
        let refine = |compared: Candidate| match (&compared.outcome, replays.of(&compared.alternative.plan)) {
            (Ok(estimate), Some(replay)) => Candidate { outcome: Ok(estimate.clone().refined(&replay)), ..compared },
            _ => compared,
        };
        at_once.get().into_iter().map(refine).collect::<Vec<_>>()
    });
    let gpu_bytes = Memo::new(move |_| state.estimate.read().as_ref().map_or(0, |estimate| estimate.gpu_bytes));
    let picture = Memo::new(move |_| {
        let texts = texts.get();
        let bars: Vec<Bar> =
            compared.read().iter().enumerate().filter_map(|(index, compared)| bar(index, compared, texts)).collect();
        let gpu = gpu_bytes.get();
        let capacity = (texts.gpu_capacity)(&figures::glance(gpu));
        match width.get() {
            0 => Picture { svg: String::new(), width: 1, height: 1, hits: Vec::new() },
            width => comparison_svg(&bars, gpu, &look(texts, texts.comparison_title, capacity, width, HEIGHT)),
        }
    });
    let categories = Memo::new(move |_| {
        let compared = compared.read();
        let seen = |category: &Category| {
            let estimates = compared.iter().filter_map(Candidate::estimate);
            estimates.flat_map(need_by_category).any(|(of, bytes)| of == *category && bytes > 0)
        };
        Category::ALL.iter().copied().filter(seen).collect::<Vec<_>>()
    });
    let choose = move |index: usize| {
        let chosen: Option<Plan> =
            compared.read_untracked().get(index).map(|compared| compared.alternative.plan.clone());
        if let Some(chosen) = chosen {
            state.apply(chosen);
        }
    };
    let trains = Memo::new(move |_| plan.read().task != Task::Inference);
    let table = move || match trains.get() {
        true => view! { <TierMatrix plan candidates=compared choose=Callback::new(choose)/> }.into_any(),
        // Nothing is trained, so nothing is sharded.
        false => view! {
            <details class="chart-table">
                <summary>{text(|t| t.comparison_table)}</summary>
                <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.comparison_table)>
                    <ComparisonTable compared choose=Callback::new(choose)/>
                </div>
            </details>
        }
        .into_any(),
    };
    view! {
        <section class="panel" aria-labelledby="comparison-title">
            <h2 id="comparison-title">{text(|t| t.comparison_title)}</h2>
            <p class="panel-intro">{text(|t| t.comparison_intro)}</p>
            <figure class="chart" aria-labelledby="comparison-title">
                <div class="chart-place" node_ref=place>
                    <Drawing picture/>
                    <Touch picture compared choose=Callback::new(choose)/>
                </div>
                <figcaption><Legend categories/></figcaption>
            </figure>
            {table}
        </section>
    }
}

/// The bar of one alternative; one that cannot be estimated has none and stands in the table.
fn bar(index: usize, compared: &Candidate, texts: &Texts) -> Option<Bar> {
    let estimate = compared.estimate()?;
    Some(Bar {
        label: compared.label(texts),
        group: compared.group(texts),
        parts: need_by_category(estimate),
        total: estimate.peak.band.expected,
        selected: compared.is_current,
        id: index.to_string(),
    })
}

/// A button over each bar, so that bars can be chosen by mouse, finger and keyboard.
#[component]
fn Touch(picture: Memo<Picture>, compared: Memo<Vec<Candidate>>, choose: Callback<usize>) -> impl IntoView {
    let texts = texts();
    // Buttons stay while the picture changes, and with them the focus.
    let button = move |nth: usize| {
        let hit = move || picture.read().hits.get(nth).cloned();
        let index = move || hit().and_then(|hit| hit.id.parse::<usize>().ok());
        let percent = move |part: f64, whole: u32| format!("{:.3}%", 100.0 * part / f64::from(whole.max(1)));
        let said = move || {
            let texts = texts.get();
            let compared = compared.read();
            let compared = compared.get(index()?)?;
            let estimate = compared.estimate()?;
            let need = figures::glance(estimate.peak.band.expected);
            Some((texts.bar_description)(&compared.full_name(texts), &need, (texts.fit)(estimate.verdict.fit)))
        };
        let is_current =
            move || index().is_some_and(|index| compared.read().get(index).is_some_and(|one| one.is_current));
        view! {
            <button
                type="button"
                class="bar-button"
                style:left=move || hit().map(|hit| percent(f64::from(hit.x), picture.read().width))
                style:top=move || hit().map(|hit| percent(f64::from(hit.y), picture.read().height))
                style:width=move || hit().map(|hit| percent(f64::from(hit.width), picture.read().width))
                style:height=move || hit().map(|hit| percent(f64::from(hit.height), picture.read().height))
                aria-pressed=move || is_current().to_string()
                aria-label=said
                title=said
                on:click=move |_| if let Some(index) = index() { choose.run(index) }
            ></button>
        }
    };
    view! {
        <div class="bar-buttons" role="group" aria-labelledby="comparison-title">
            <For each=move || 0..picture.read().hits.len() key=|nth| *nth children=button/>
        </div>
    }
}

/// The same as a table.
#[component]
fn ComparisonTable(compared: Memo<Vec<Candidate>>, choose: Callback<usize>) -> impl IntoView {
    let texts = texts();
    let rows = move || {
        let texts = texts.get();
        let row = |(index, compared): (usize, Candidate)| {
            let name = compared.full_name(texts);
            let (need, fit) = match &compared.outcome {
                Ok(estimate) => {
                    let band = estimate.peak.band;
                    (figures::glance(band.expected), view! { <Verdict fit=estimate.verdict.fit/> }.into_any())
                }
                Err(_) => ("–".to_owned(), compared.why_not(texts).into_any()),
            };
            let action = if compared.is_current {
                view! { <strong>{texts.current_plan}</strong> }.into_any()
            } else {
                let label = format!("{} {name}", texts.use_plan);
                view! {
                    <button type="button" aria-label=label on:click=move |_| choose.run(index)>{texts.use_plan}</button>
                }
                .into_any()
            };
            view! { <tr><th scope="row">{name}</th><td class="number">{need}</td><td>{fit}</td><td>{action}</td></tr> }
        };
        compared.get().into_iter().enumerate().map(row).collect::<Vec<_>>()
    };
    view! {
        <table>
            <thead>
                <tr>
                    <th scope="col">{text(|t| t.column_plan)}</th>
                    <th scope="col" class="number">{text(|t| t.column_total)}</th>
                    <th scope="col">{text(|t| t.column_verdict)}</th>
                    <th scope="col"><span class="visually-hidden">{text(|t| t.use_plan)}</span></th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

/// A verdict in a table: sign and word.
#[component]
fn Verdict(fit: Fit) -> impl IntoView {
    let texts = texts();
    view! { <span class=format!("fit {}", class_of(fit))><FitIcon fit/>{move || (texts.get().fit)(fit)}</span> }
}
