//! Every allocation at the peak, each opening into its formula.

use headroom_charts::swatch_class;
use headroom_core::memory::{Allocation, Category, Estimate, Term};
use headroom_core::order;
use headroom_core::units::{bytes_text, count_text};
use leptos::prelude::*;

use crate::figures;
use crate::state::State;
use crate::text::{text, texts};

/// Which of the two lists a row stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    AtPeak,
    Gone,
}

impl List {
    fn holds(self, allocation: &Allocation) -> bool {
        (allocation.bytes_at_peak > 0) == (self == Self::AtPeak)
    }
}

/// The allocations of `term` in `list`, as the estimate orders them.
fn of_term(estimate: Option<&Estimate>, term: Term, list: List) -> impl Iterator<Item = &Allocation> {
    let all = estimate.map(|estimate| estimate.allocations.as_slice()).unwrap_or_default();
    all.iter().filter(move |row| row.term == term && list.holds(row))
}

/// Allocations by category, largest first, and last those that are gone at the peak.
#[component]
pub(super) fn BreakdownPanel() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let intro = move || {
        let texts = texts.get();
        let estimate = state.estimate.read();
        let peak = &estimate.as_ref()?.peak;
        Some((texts.breakdown_intro)((texts.phase)(peak.phase), &bytes_text(peak.allocated_bytes)))
    };
    let need = Signal::derive(move || {
        let estimate = state.estimate.read();
        estimate.as_ref().map_or(0, |estimate| estimate.peak.band.expected)
    });
    let groups: Vec<_> = Category::ALL.iter().map(|category| view! { <CategoryRows category=*category/> }).collect();
    let gone = Memo::new(move |_| {
        let estimate = state.estimate.read();
        let held = |term: &Term| of_term(estimate.as_ref(), *term, List::Gone).next().is_some();
        Term::ALL.iter().copied().filter(held).collect::<Vec<_>>()
    });
    view! {
        <section class="panel" aria-labelledby="breakdown-title">
            <h2 id="breakdown-title">{text(|t| t.breakdown_title)}</h2>
            <p class="panel-intro">{intro}</p>
            {groups}
            <p class="breakdown-sum"><strong>{text(|t| t.breakdown_sum)}</strong><Bytes bytes=need/></p>
            <Show when=move || !gone.read().is_empty()>
                <details class="gone">
                    <summary><h3>{text(|t| t.not_at_peak)}</h3></summary>
                    <For each=move || gone.get() key=|term| *term let:term><TermRow term list=List::Gone/></For>
                </details>
            </Show>
        </section>
    }
}

/// One category: its sum and its terms.
#[component]
fn CategoryRows(category: Category) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    // As the table of phases has it, so that the sums of all categories add up to the verdict's figure as written.
    let sum = Memo::new(move |_| {
        let estimate = state.estimate.read();
        let estimate = estimate.as_ref()?;
        let (categories, bytes): (Vec<_>, Vec<_>) =
            estimate.need_by_category(estimate.peak_phase()?).into_iter().unzip();
        let place = categories.iter().position(|of| *of == category)?;
        Some((bytes[place], figures::cells(&bytes).swap_remove(place)))
    });
    let exact = move || sum.get().map(|(bytes, _)| (texts.get().exact_bytes)(&count_text(bytes)));
    let written = move || sum.get().map(|(_, written)| format!("{written} GiB"));
    let overheads = Memo::new(move |_| {
        let estimate = state.estimate.read();
        let all = estimate.as_ref().map(Estimate::overheads).unwrap_or_default();
        all.into_iter().map(|(term, _)| term).filter(|term| term.category() == category).collect::<Vec<_>>()
    });
    let terms = Memo::new(move |_| {
        let estimate = state.estimate.read();
        let of_category = Term::ALL.iter().filter(|term| term.category() == category);
        let mut terms: Vec<(u64, Term)> = of_category
            .map(|term| (of_term(estimate.as_ref(), *term, List::AtPeak).map(|row| row.bytes_at_peak).sum(), *term))
            .filter(|(bytes, _)| *bytes > 0)
            .collect();
        order::sort(&mut terms, |(one, _), (other, _)| other.cmp(one));
        terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>()
    });
    view! {
        <Show when=move || !terms.read().is_empty() || !overheads.read().is_empty()>
            <div class="category-rows">
                <h3>
                    <span class=format!("swatch {}", swatch_class(category))></span>
                    {move || (texts.get().category)(category)}
                    <span class="number" title=exact>{written}</span>
                </h3>
                // Told apart by term, so that what is open stays open while a slider moves.
                <For each=move || terms.get() key=|term| *term let:term><TermRow term list=List::AtPeak/></For>
                <For each=move || overheads.get() key=|term| *term let:term><OverheadRow term/></For>
            </div>
        </Show>
    }
}

/// What the verdict's figure has besides PyTorch's tensors: no allocation of a module, so without parts.
#[component]
fn OverheadRow(term: Term) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let bytes = Signal::derive(move || {
        let estimate = state.estimate.read();
        let all = estimate.as_ref().map(Estimate::overheads).unwrap_or_default();
        all.into_iter().find(|(of, _)| *of == term).map_or(0, |(_, bytes)| bytes)
    });
    let numbers = move || {
        let estimate = state.estimate.read();
        let peak = &estimate.as_ref()?.peak;
        let required = peak.band.expected - peak.context_bytes;
        let formula = format!("{} − {} B", count_text(required), count_text(peak.allocated_bytes));
        (term == Term::Fragmentation)
            .then(|| view! { <dt>{texts.get().with_numbers}</dt><dd class="formula">{formula}</dd> })
    };
    view! {
        <details class="allocation">
            <summary>
                <span class="allocation-name">{move || (texts.get().term)(term)}</span>
                <Bytes bytes/>
            </summary>
            <dl>
                {numbers}
                <dt>{text(|t| t.source)}</dt>
                <dd>{term.source()}</dd>
            </dl>
        </details>
    }
}

/// All allocations of one term. A single one opens into its formula, several into a row each.
#[component]
fn TermRow(term: Term, list: List) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let bytes = Signal::derive(move || {
        let estimate = state.estimate.read();
        of_term(estimate.as_ref(), term, list).map(|row| row.bytes_at_peak).sum()
    });
    let count = Memo::new(move |_| of_term(state.estimate.read().as_ref(), term, list).count());
    let only_module = move || {
        let estimate = state.estimate.read();
        let module = of_term(estimate.as_ref(), term, list).next()?.module.clone();
        (count.get() == 1 && !module.is_empty()).then(|| view! { " "<code>{module}</code> })
    };
    // Most rows are never opened: what they would show is made when they are.
    let opened = RwSignal::new(false);
    view! {
        <details class="allocation" on:toggle=move |_| opened.set(true)>
            <summary>
                <span class="allocation-name">
                    {move || (texts.get().term)(term)}
                    {only_module}
                    {move || (count.get() > 1).then(|| view! { " "<small>"× "{count.get()}</small> })}
                </span>
                <Bytes bytes/>
            </summary>
            {move || match count.get() {
                _ if !opened.get() => ().into_any(),
                0 => ().into_any(),
                1 => view! { <Formula term list nth=0/> }.into_any(),
                count => {
                    let parts: Vec<_> = (0..count).map(|nth| view! { <PartRow term list nth/> }).collect();
                    view! { <div class="parts">{parts}</div> }.into_any()
                }
            }}
        </details>
    }
}

/// One of several allocations of a term: its module and its formula at a glance.
#[component]
fn PartRow(term: Term, list: List, nth: usize) -> impl IntoView {
    let allocation = allocation(term, list, nth);
    let of = move |pick: fn(&Allocation) -> String| allocation.read().as_ref().map(pick).unwrap_or_default();
    let opened = RwSignal::new(false);
    view! {
        <details class="allocation" on:toggle=move |_| opened.set(true)>
            <summary>
                <span class="allocation-name">
                    <code>{move || of(|row| row.module.clone())}</code>
                    " "
                    <span class="formula-glance">{move || of(|row| row.formula.clone())}</span>
                </span>
                <Bytes bytes=Signal::derive(move || allocation.read().as_ref().map_or(0, |row| row.bytes_at_peak))/>
            </summary>
            <Show when=move || opened.get()><Formula term list nth/></Show>
        </details>
    }
}

/// The `nth` allocation of `term`.
fn allocation(term: Term, list: List, nth: usize) -> Memo<Option<Allocation>> {
    let state = State::of_page();
    Memo::new(move |_| of_term(state.estimate.read().as_ref(), term, list).nth(nth).cloned())
}

/// The formula in symbols, with the numbers put in, what it comes to, when it lives, and where it comes from.
#[component]
fn Formula(term: Term, list: List, nth: usize) -> impl IntoView {
    let texts = texts();
    let allocation = allocation(term, list, nth);
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
        let said = held.map(|(phase, bytes)| format!("{} {}", (texts.phase)(*phase), figures::glance(*bytes)));
        said.collect::<Vec<_>>().join(" · ")
    };
    view! {
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
    }
}

/// Bytes with a unit; exact on pointing.
#[component]
fn Bytes(#[prop(into)] bytes: Signal<u64>) -> impl IntoView {
    let texts = texts();
    view! {
        <span class="number" title=move || (texts.get().exact_bytes)(&count_text(bytes.get()))>
            {move || bytes_text(bytes.get())}
        </span>
    }
}
