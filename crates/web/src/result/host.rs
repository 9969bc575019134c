//! Host memory, when anything is offloaded.

use headroom_core::units::{bytes_text, count_text};
use leptos::prelude::*;

use crate::state::State;
use crate::text::{text, texts};

/// What lives in host memory, with its formulas.
#[component]
pub(super) fn HostPanel() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let rows = move || {
        let texts = texts.get();
        let host = state.estimate.read().as_ref().map(|estimate| estimate.host.clone()).unwrap_or_default();
        host.into_iter()
            .map(|row| {
                let exact = (texts.exact_bytes)(&count_text(row.bytes));
                view! {
                    <details class="allocation">
                        <summary>
                            <span class="allocation-name">
                                {(texts.term)(row.term)}
                                {row.pinned.then(|| view! { " "<span class="badge">{texts.pinned}</span> })}
                            </span>
                            <span class="number" title=exact>{bytes_text(row.bytes)}</span>
                        </summary>
                        <dl>
                            <dt>{texts.formula}</dt>
                            <dd class="formula">{row.formula}</dd>
                            <dt>{texts.with_numbers}</dt>
                            <dd class="formula">{row.formula_with_numbers}</dd>
                            <dt>{texts.source}</dt>
                            <dd>{row.term.source()}</dd>
                        </dl>
                    </details>
                }
            })
            .collect::<Vec<_>>()
    };
    let some = Memo::new(move |_| state.estimate.read().as_ref().is_some_and(|estimate| !estimate.host.is_empty()));
    view! {
        <Show when=move || some.get()>
            <section class="panel" aria-labelledby="host-title">
                <h2 id="host-title">{text(|t| t.host_title)}</h2>
                <p class="panel-intro">{text(|t| t.host_intro)}</p>
                {rows}
            </section>
        </Show>
    }
}
