//! Every allocation at the peak, each opening into its formula.

use headroom_charts::swatch_class;
use headroom_core::memory::{Allocation, Category, Term};
use headroom_core::units::{bytes_text, count_text};
use leptos::prelude::*;

use crate::figures;
use crate::state::State;
use crate::text::{text, texts};

/// What tells one row from the others.
type Key = (Term, String);

fn key_of(allocation: &Allocation) -> Key {
    (allocation.term, allocation.module.clone())
}

/// Allocations by category, largest first, and last those that are gone at the peak.
#[component]
pub(super) fn BreakdownPanel() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let intro = move || {
        let texts = texts.get();
        let estimate = state.estimate.read();
        let peak = estimate.as_ref()?.peak;
        Some((texts.breakdown_intro)((texts.phase)(peak.phase), &bytes_text(peak.allocated_bytes)))
    };
    // Rows are told apart by key, so that an open formula stays open while a slider moves.
    let rows_of = move |wanted: fn(&Allocation, Category) -> bool, category: Category| {
        Memo::new(move |_| {
            let estimate = state.estimate.read();
            let all = estimate.as_ref().map(|estimate| estimate.allocations.as_slice()).unwrap_or_default();
            let mut rows: Vec<&Allocation> = all.iter().filter(|row| wanted(row, category)).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.bytes_at_peak));
            rows.into_iter().map(key_of).collect::<Vec<Key>>()
        })
    };
    let groups: Vec<_> = Category::ALL
        .iter()
        .map(|category| {
            let rows = rows_of(|row, category| row.category() == category && row.bytes_at_peak > 0, *category);
            view! { <CategoryRows category=*category rows/> }
        })
        .collect();
    let gone = rows_of(|row, _| row.bytes_at_peak == 0, Category::Weights);
    view! {
        <section class="panel" aria-labelledby="breakdown-title">
            <h2 id="breakdown-title">{text(|t| t.breakdown_title)}</h2>
            <p class="panel-intro">{intro}</p>
            {groups}
            <Show when=move || !gone.read().is_empty()>
                <details class="gone">
                    <summary><h3>{text(|t| t.not_at_peak)}</h3></summary>
                    <For each=move || gone.get() key=Clone::clone let:key><Row key/></For>
                </details>
            </Show>
        </section>
    }
}

/// One category: its sum and its rows.
#[component]
fn CategoryRows(category: Category, rows: Memo<Vec<Key>>) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let sum = Memo::new(move |_| {
        let estimate = state.estimate.read();
        let estimate = estimate.as_ref()?;
        let at_peak = estimate.phases.iter().find(|phase| phase.phase == estimate.peak.phase)?;
        at_peak.by_category.iter().find(|(of, _)| *of == category).map(|(_, bytes)| *bytes)
    });
    view! {
        <Show when=move || !rows.read().is_empty()>
            <div class="category-rows">
                <h3>
                    <span class=format!("swatch {}", swatch_class(category))></span>
                    {move || (texts.get().category)(category)}
                    <span class="number" title=move || (texts.get().exact_bytes)(&count_text(sum.get().unwrap_or_default()))>
                        {move || bytes_text(sum.get().unwrap_or_default())}
                    </span>
                </h3>
                <For each=move || rows.get() key=Clone::clone let:key><Row key/></For>
            </div>
        </Show>
    }
}

/// One allocation: name and bytes; opened, its formula, the numbers, the result and the source.
#[component]
fn Row(key: Key) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let (term, module) = key.clone();
    let allocation = Memo::new(move |_| {
        let estimate = state.estimate.read();
        estimate.as_ref()?.allocations.iter().find(|row| row.term == key.0 && row.module == key.1).cloned()
    });
    let bytes = move || allocation.read().as_ref().map_or(0, |row| row.bytes_at_peak);
    let of = move |pick: fn(&Allocation) -> String| allocation.read().as_ref().map(pick).unwrap_or_default();
    let result = move || {
        let bytes = allocation.read().as_ref().map_or(0, |row| row.formula_bytes);
        (texts.get().result_bytes)(&bytes_text(bytes), &count_text(bytes))
    };
    let lives_in = move || {
        let texts = texts.get();
        let allocation = allocation.read();
        let phases = allocation.as_ref().map(|row| row.phases.as_slice()).unwrap_or_default();
        let held = phases.iter().filter(|(_, bytes)| *bytes > 0);
        held.map(|(phase, bytes)| format!("{} {}", (texts.phase)(*phase), figures::glance(*bytes)))
            .collect::<Vec<_>>()
            .join(" · ")
    };
    view! {
        <details class="allocation">
            <summary>
                <span class="allocation-name">
                    {move || (texts.get().term)(term)}
                    {(!module.is_empty()).then(|| view! { " "<code>{module}</code> })}
                </span>
                <span class="number" title=move || (texts.get().exact_bytes)(&count_text(bytes()))>
                    {move || bytes_text(bytes())}
                </span>
            </summary>
            <dl>
                <dt>{text(|t| t.formula)}</dt>
                <dd class="formula">{move || of(|row| row.formula.clone())}</dd>
                <dt>{text(|t| t.with_numbers)}</dt>
                <dd class="formula">{move || of(|row| row.formula_with_numbers.clone())}</dd>
                <dt>{text(|t| t.result)}</dt>
                <dd>{result}</dd>
                <dt>{text(|t| t.lives_in)}</dt>
                <dd>{lives_in}</dd>
                <dt>{text(|t| t.source)}</dt>
                <dd>{term.source()}</dd>
            </dl>
        </details>
    }
}
