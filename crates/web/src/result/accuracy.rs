//! "How accurate is this?": measured steps near the plan, and what their errors say about it.

use headroom_core::accuracy::{self, Accuracy, Figure, Near};
use headroom_core::memory::Basis;
use headroom_core::units::bytes_text;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::sync::OnceLock;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

use crate::figures;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Where the measured steps lie beside the page: they are fetched when they are asked for.
const CASES: &str = "cases.txt";

/// The measured steps, once they are there.
static FETCHED: OnceLock<String> = OnceLock::new();

/// Where the measured steps are.
#[derive(Clone, Copy, PartialEq)]
enum Cases {
    Unasked,
    Asked,
    Here(&'static str),
    Failed,
}

/// Fetches the measured steps.
async fn fetch() -> Result<&'static str, JsValue> {
    if FETCHED.get().is_none() {
        let response: Response = JsFuture::from(window().fetch_with_str(CASES)).await?.unchecked_into();
        if !response.ok() {
            return Err(response.status_text().into());
        }
        let text = JsFuture::from(response.text()?).await?;
        // Two that are under way at once bring the same.
        let _ = FETCHED.set(text.as_string().unwrap_or_default());
    }
    FETCHED.get().map(String::as_str).ok_or(JsValue::UNDEFINED)
}

/// What opens under the verdict.
#[component]
pub(super) fn AccuracyDetails() -> impl IntoView {
    let state = State::of_page();
    // Nothing is looked up before it is asked for.
    let cases = RwSignal::new(Cases::Unasked);
    let ask = move |_| {
        if matches!(cases.get_untracked(), Cases::Unasked | Cases::Failed) {
            cases.set(Cases::Asked);
            spawn_local(async move { cases.set(fetch().await.map_or(Cases::Failed, Cases::Here)) });
        }
    };
    let accuracy = Memo::new(move |_| {
        let Cases::Here(cases) = cases.get() else { return None };
        let (job, estimate) = (state.job.read(), state.estimate.read());
        let (job, estimate) = (job.as_ref().ok()?, estimate.as_ref()?);
        // The measured errors are those of replays: until this plan has its own, they say nothing about its figures.
        let band = (estimate.peak.basis == Basis::Replayed).then_some(estimate.peak.band);
        Some((accuracy::of_job_by(cases, job, estimate), band))
    });
    let texts = texts();
    let said = move || {
        let (Accuracy { near, carried, coverage }, band) = accuracy.get()?;
        let texts = texts.get();
        let words = &texts.accuracy;
        let bodies: Vec<_> = near.into_iter().map(|near| step(texts, &near)).collect();
        let carried = carried.filter(|_| band.is_some());
        let carried = carried.map(|(low, high)| (words.carried)(&figures::glance(low), &figures::glance(high)));
        let band = band.zip(coverage).map(|(band, (covered, of))| {
            (words.band)(&figures::glance(band.low), &figures::glance(band.high), covered, of)
        });
        Some(view! {
            <p>{words.intro}</p>
            <div class="table-scroll" tabindex="0" role="region" aria-label=words.title>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{words.column_step}</th>
                            <th scope="col" class="number">{words.column_measured}</th>
                            <th scope="col" class="number">{words.column_estimated}</th>
                            <th scope="col" class="number">{words.column_error}</th>
                        </tr>
                    </thead>
                    {bodies}
                </table>
            </div>
            <p>{carried}</p>
            <p>{band}</p>
        })
    };
    view! {
        <details class="accuracy" on:toggle=ask>
            <summary>{text(|t| t.accuracy.title)}</summary>
            {move || (cases.get() == Cases::Failed).then(|| view! { <p role="alert">{text(|t| t.accuracy.not_fetched)}</p> })}
            {said}
        </details>
    }
}

/// A measured step: what it was, and a row for each of its figures.
fn step(texts: &'static Texts, near: &Near) -> impl IntoView + use<> {
    let words = &texts.accuracy;
    let case = &near.case;
    let how = case.gpu.map_or_else(|| words.by_allocator.to_owned(), words.on_gpu);
    let differs: Vec<&str> = near.differs.iter().map(|aspect| texts.aspect(*aspect)).collect();
    let differs = match differs.as_slice() {
        [] => words.same_settings.to_owned(),
        fields => (words.differs)(&fields.join(words.comma)),
    };
    let rows: Vec<_> = case.figures.iter().map(|figure| figure_row(texts, figure)).collect();
    view! {
        <tbody>
            <tr>
                <th scope="rowgroup" colspan="4">
                    <strong>{case.model}</strong>
                    <span class="accuracy-setting">{texts.setting(case)}</span>
                    <small>{how}{words.comma}{differs}</small>
                </th>
            </tr>
            {rows}
        </tbody>
    }
}

fn figure_row(texts: &'static Texts, figure: &Figure) -> impl IntoView + use<> {
    let name = texts.metric(figure.metric).label;
    view! {
        <tr>
            <th scope="row">{name}</th>
            <td class="number">{bytes_text(figure.measured_bytes())}</td>
            <td class="number">{bytes_text(figure.estimated_bytes())}</td>
            <td class="number">{(texts.accuracy.error)(figure.error())}</td>
        </tr>
    }
}
