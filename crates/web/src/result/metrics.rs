//! The figures that tools report, side by side.

use headroom_core::memory::Peak;
use headroom_core::units::{bytes_text, count_text};
use leptos::prelude::*;

use crate::form::FieldWords;
use crate::state::State;
use crate::text::{text, texts};

/// What each tool would show at the peak.
#[component]
pub(super) fn MetricsPanel() -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="metrics-title">
            <h2 id="metrics-title">{text(|t| t.metrics_title)}</h2>
            <dl class="metrics">
                <Metric words=|t| &t.metric_allocated pick=|peak| peak.allocated_bytes/>
                <Metric words=|t| &t.metric_required pick=|peak| peak.required_bytes/>
                <Metric words=|t| &t.metric_required_expandable pick=|peak| peak.required_bytes_expandable/>
                <Metric words=|t| &t.metric_reserved pick=|peak| peak.reserved_bytes/>
                <Metric words=|t| &t.metric_context pick=|peak| peak.context_bytes/>
                <Metric words=|t| &t.metric_device pick=|peak| peak.device_bytes/>
            </dl>
        </section>
    }
}

#[component]
fn Metric(words: FieldWords, pick: fn(&Peak) -> u64) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let bytes = Memo::new(move |_| state.estimate.read().as_ref().map_or(0, |estimate| pick(&estimate.peak)));
    view! {
        <div class="metric">
            <dt>{move || words(texts.get()).label}</dt>
            <dd class="number" title=move || (texts.get().exact_bytes)(&count_text(bytes.get()))>
                {move || bytes_text(bytes.get())}
            </dd>
            <dd class="metric-help">{move || words(texts.get()).help}</dd>
        </div>
    }
}
