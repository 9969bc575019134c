//! What is held in each phase of the step.

use headroom_charts::{Picture, phases_svg};
use headroom_core::memory::{Category, PhaseUse};
use headroom_core::units::{count_text, gib_text};
use leptos::html;
use leptos::prelude::*;

use super::chart::{Drawing, Legend, look, width_of};
use crate::figures;
use crate::state::State;
use crate::text::{text, texts};

/// Height of the columns, pixels.
const HEIGHT: u32 = 300;

/// Chart, legend and table.
#[component]
pub(super) fn PhasesPanel() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let place = NodeRef::<html::Div>::new();
    let width = width_of(place);
    let picture = Memo::new(move |_| {
        let texts = texts.get();
        let estimate = state.estimate.read();
        match (estimate.as_ref(), width.get()) {
            (None, _) | (_, 0) => Picture { svg: String::new(), width: 1, height: 1, hits: Vec::new() },
            (Some(estimate), width) => {
                let capacity = (texts.gpu_capacity)(&figures::glance(estimate.gpu_bytes));
                phases_svg(estimate, &look(texts, texts.phases_title, capacity, width, HEIGHT))
            }
        }
    });
    let categories = Memo::new(move |_| {
        let estimate = state.estimate.read();
        let phases = estimate.as_ref().map(|estimate| estimate.phases.as_slice()).unwrap_or_default();
        // The picture counts the context as overhead in every phase.
        let seen = |category: &Category| *category == Category::Overhead || holds(phases, *category);
        Category::ALL.iter().copied().filter(seen).collect::<Vec<_>>()
    });
    let peak = move || {
        let texts = texts.get();
        let estimate = state.estimate.read();
        let Some(peak) = estimate.as_ref().map(|estimate| &estimate.peak) else { return String::new() };
        let place = (texts.tasks.peak)(state.plan().read().task, peak.phase);
        (texts.tasks.timeline_peak)(&figures::glance(peak.band.expected), &place)
    };
    view! {
        <section class="panel" aria-labelledby="phases-title">
            <h2 id="phases-title">{text(|t| t.phases_title)}</h2>
            <p class="panel-intro">{text(|t| t.phases_intro)}</p>
            <figure class="chart" aria-labelledby="phases-title">
                <div class="chart-place" node_ref=place><Drawing picture/></div>
                <figcaption>
                    <p class="timeline-peak">{peak}</p>
                    <Legend categories/>
                </figcaption>
            </figure>
            <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.phases_table)><PhasesTable/></div>
        </section>
    }
}

/// Whether any phase holds anything of `category`.
fn holds(phases: &[PhaseUse], category: Category) -> bool {
    phases.iter().flat_map(|phase| &phase.by_category).any(|(of, bytes)| *of == category && *bytes > 0)
}

/// Phase by category, in GiB; exact bytes on pointing.
#[component]
fn PhasesTable() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let table = move || {
        let texts = texts.get();
        let estimate = state.estimate.get()?;
        let seen = |category: &Category| *category == Category::Overhead || holds(&estimate.phases, *category);
        let columns: Vec<Category> = Category::ALL.iter().copied().filter(seen).collect();
        let heads: Vec<_> = columns
            .iter()
            .map(|category| {
                let swatch = format!("swatch {}", headroom_charts::swatch_class(*category));
                view! { <th scope="col" class="number"><span class=swatch></span>{(texts.category)(*category)}</th> }
            })
            .collect();
        let exact = |bytes: u64| (texts.exact_bytes)(&count_text(bytes));
        let rows: Vec<_> = estimate
            .phases
            .iter()
            .map(|phase| {
                let need = estimate.need_bytes(phase);
                let is_peak = phase.phase == estimate.peak.phase;
                let by_category = estimate.need_by_category(phase);
                let of =
                    |column: &Category| by_category.iter().find(|(of, _)| of == column).map_or(0, |(_, bytes)| *bytes);
                let parts: Vec<u64> = columns.iter().map(of).collect();
                let shown = parts.iter().zip(figures::cells(&parts));
                let cell = |(bytes, said): (&u64, String)| view! { <td class="number" title=exact(*bytes)>{said}</td> };
                let cells: Vec<_> = shown.map(cell).collect();
                view! {
                    <tr class:peak=is_peak>
                        <th scope="row">
                            {(texts.phase)(phase.phase)}
                            {is_peak.then(|| view! { " "<span class="badge">{texts.peak_mark}</span> })}
                        </th>
                        {cells}
                        <td class="number sum" title=exact(need)>{gib_text(need)}</td>
                    </tr>
                }
            })
            .collect();
        Some(view! {
            <table>
                <caption class="visually-hidden">{texts.phases_table}</caption>
                <thead>
                    <tr>
                        <th scope="col">{texts.column_phase}" "<span class="unit">"GiB"</span></th>
                        {heads}
                        <th scope="col" class="number">{texts.column_total}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        })
    };
    view! { {table} }
}
