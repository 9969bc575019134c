//! The verdict: one word, the figures behind it, and a meter.

use headroom_core::memory::{Basis, Estimate, FailedRequest, Fit};
use headroom_core::plan::{self, Problem, ProblemKind};
use headroom_core::units::count_text;
use leptos::prelude::*;

use super::accuracy::AccuracyDetails;
use crate::address;
use crate::clipboard::CopyButton;
use crate::figures;
use crate::state::{Pace, State};
use crate::text::{Texts, text, texts};

/// Class of a verdict; colour is never its only sign.
pub(crate) const fn class_of(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "fits",
        Fit::Tight => "tight",
        Fit::DoesNotFit => "does-not-fit",
    }
}

/// Outline of a verdict's sign within its circle.
pub(crate) const fn icon_path(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "M7 12.5l3.5 3.5L17.5 8.5",
        Fit::Tight => "M12 7v6.5M12 17v.5",
        Fit::DoesNotFit => "M8 8l8 8M16 8l-8 8",
    }
}

/// The sign of a verdict.
#[component]
pub(crate) fn FitIcon(fit: Fit) -> impl IntoView {
    let path = icon_path(fit);
    view! {
        <svg class="fit-icon" viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="12" cy="12" r="11"/>
            <path d=path/>
        </svg>
    }
}

/// The panel at the head of the answer.
#[component]
pub(super) fn VerdictPanel() -> impl IntoView {
    let state = State::of_page();
    let class = move || format!("panel verdict {}", state_class(state));
    let answered = Memo::new(move |_| state.outcome.read().is_ok());
    view! {
        <section
            class=class
            data-basis=move || state.outcome.read().as_ref().ok().map(|estimate| estimate.peak.basis.name())
            aria-labelledby="verdict-title"
        >
            <h2 id="verdict-title" class="visually-hidden">{text(|t| t.verdict_title)}</h2>
            <Problems/>
            // A verdict is this plan's own or none.
            <div role="status" aria-atomic="true">
                {move || state.outcome.get().ok().map(|estimate| view! { <Headline estimate/> })}
            </div>
            {move || state.outcome.get().ok().map(|estimate| view! { <Meter estimate/> })}
            <Show when=move || answered.get()><AccuracyDetails/></Show>
            <div class="actions">
                <CopyButton
                    label=|t| t.copy_link
                    done=|t| t.link_copied
                    content=Signal::derive(move || address::link_to(&state.plan().read()))
                />
            </div>
        </section>
    }
}

/// The verdict in one line, for narrow screens, where the form hides the panel; leads to it.
#[component]
pub(crate) fn VerdictLine(show: Callback<()>) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let line = move || {
        let texts = texts.get();
        match &*state.outcome.read() {
            Ok(estimate) => {
                let [used, total] = figures::glance_apart([estimate.peak.band.expected, estimate.gpu_bytes]);
                view! {
                    <strong><FitIcon fit=estimate.verdict.fit/>{(texts.fit)(estimate.verdict.fit)}</strong>
                    <span>{(texts.used_of)(&used, &total)}</span>
                }
                .into_any()
            }
            Err(_) => texts.cannot_estimate.into_any(),
        }
    };
    let class = move || format!("verdict-line {}", state_class(state));
    view! { <button type="button" class=class on:click=move |_| show.run(())>{line}</button> }
}

/// The class for what the page knows now.
fn state_class(state: State) -> &'static str {
    state.outcome.read().as_ref().map_or("unknown", |estimate| class_of(estimate.verdict.fit))
}

/// The word and the two figures that matter most.
#[component]
fn Headline(estimate: Estimate) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let verdict = estimate.verdict;
    let [used, total] = figures::glance_apart([estimate.peak.band.expected, estimate.gpu_bytes]);
    let distance = figures::glance(verdict.headroom_bytes.unsigned_abs());
    let gpus = Memo::new(move |_| state.plan().read().num_gpus);
    view! {
        <p class="verdict-word"><FitIcon fit=verdict.fit/>{move || (texts.get().fit)(verdict.fit)}</p>
        <p class="verdict-figures">
            <span class="verdict-used">
                {move || (texts.get().used_of)(&used, &total)}
                {move || (gpus.get() > 1).then(|| view! { " "<small>{text(|t| t.per_gpu)}</small> })}
            </span>
            " "
            <span class="verdict-headroom">
                {move || {
                    let texts = texts.get();
                    if verdict.headroom_bytes < 0 { (texts.missing)(&distance) } else { (texts.headroom)(&distance) }
                }}
            </span>
        </p>
    }
}

/// The GPU as a bar: what is needed, how sure that is, and where the GPU ends.
#[component]
fn Meter(estimate: Estimate) -> impl IntoView {
    let texts = texts();
    let plan = State::of_page().plan();
    let band = estimate.peak.band;
    let gpu = estimate.gpu_bytes;
    // The bar ends a little beyond whatever is longest.
    let scale = band.high.max(gpu) as f64 * 1.04;
    let place = move |bytes: u64| format!("{:.2}%", 100.0 * bytes as f64 / scale.max(1.0));
    // The label stands before its mark where there is room for it.
    let at_start = (gpu as f64) < scale / 3.0;
    let low = figures::glance(band.low);
    let high = figures::glance(band.high);
    let capacity = figures::glance(gpu);
    let share = estimate.verdict.used_share;
    let phase = estimate.peak.phase;
    let all = estimate.param_count;
    let trainable = estimate.trainable_count;
    let trained = figures::percent(trainable as f64 / all.max(1) as f64);
    let peak = estimate.peak;
    let less = peak.required_bytes.saturating_sub(peak.required_bytes_expandable);
    // Before the replay it is other plans' median and says nothing of this one.
    let saves = (peak.basis == Basis::Replayed && less > 0 && !peak.expandable).then(|| figures::glance(less));
    let (failure, limit) = (StoredValue::new(estimate.failure), StoredValue::new(peak.limit));
    let failing = move || failure.get_value().map(|failure| failure_text(texts.get(), &failure));
    let limiting = move || {
        let texts = texts.get();
        let limit = limit.get_value().filter(|_| failing().is_none())?;
        let (request, stranded) = (figures::glance(limit.request_bytes), figures::glance(limit.stranded_bytes));
        Some((texts.limit)((texts.term)(limit.term), &request, (texts.phase)(limit.phase), &stranded))
    };
    view! {
        <div class="meter" aria-hidden="true">
            <div class="meter-fill" style:width=place(band.expected)></div>
            <div class="meter-band" style:left=place(band.low) style:width=place(band.high - band.low.min(band.high))></div>
            <div class="meter-gpu" class:at-start=at_start style:left=place(gpu)>
                <span>{text(|t| t.capacity)}" "{capacity}</span>
            </div>
        </div>
        <ul class="verdict-details">
            {move || failing().map(|said| view! { <li class="failing">{said}</li> })}
            <li>{move || share_text(texts.get(), share)}</li>
            <li>{move || (texts.get().band)(&low, &high)}</li>
            <li>{move || (texts.get().tasks.peak)(plan.read().task, phase)}</li>
            {saves.map(|less| view! { <li>{move || (texts.get().expandable_saves)(&less)}</li> })}
            {move || limiting().map(|said| view! { <li>{said}</li> })}
            <li>{move || (texts.get().trainable)(&figures::params(trainable), &count_text(all), &trained)}</li>
        </ul>
    }
}

/// How much of the GPU is needed: per cent, and from ten times on how many times it is.
fn share_text(texts: &Texts, share: f64) -> String {
    if share < 10.0 {
        (texts.percent_used)(&figures::percent(share))
    } else {
        (texts.times_used)(&format!("{share:.0}"))
    }
}

/// The error that this plan ends in on this GPU, with the figures of PyTorch's own message.
fn failure_text(texts: &Texts, failure: &FailedRequest) -> String {
    let term = (texts.term)(failure.term);
    let name = if failure.module.is_empty() { term.to_owned() } else { format!("{term}, {}", failure.module) };
    let place = match failure.step {
        0 => texts.while_loading.to_owned(),
        step => (texts.in_step)((texts.phase)(failure.phase), step),
    };
    let [tried, free] = figures::glance_apart([failure.tried_bytes, failure.free_bytes]);
    (texts.fails)(&place, &tried, &free, &name)
}

/// The values that fix a problem, where the core knows them; none for what is no field of the table.
fn fixes(problem: &Problem) -> Vec<(&'static str, String)> {
    let Some(field) = plan::field(&problem.field) else { return Vec::new() };
    let values = match &problem.kind {
        ProblemKind::Contradiction { fix, .. } => vec![fix.clone()],
        ProblemKind::NotDivisible { nearest, .. } => nearest.iter().map(u64::to_string).collect(),
        ProblemKind::UnknownModel { candidates, .. } | ProblemKind::UnknownGpu { candidates, .. } => candidates.clone(),
        // Too long or too many: the nearest that is allowed.
        ProblemKind::OutOfRange { max, .. } if problem.field.starts_with("rollout.") => vec![max.clone()],
        _ => Vec::new(),
    };
    values.into_iter().map(|value| (field.name, value)).collect()
}

/// What has to be fixed before the plan can be estimated.
#[component]
fn Problems() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let lines = move || {
        let texts = texts.get();
        let outcome = state.outcome.get();
        outcome.err().map(|problems| {
            let lines: Vec<_> = problems
                .iter()
                .map(|problem| {
                    let fixes = fixes(problem).into_iter().map(|(field, value)| {
                        let name = (texts.fix_it)(field, &value);
                        // Of several to choose from each says only what it is.
                        let is_candidate =
                            matches!(problem.kind, ProblemKind::UnknownModel { .. } | ProblemKind::UnknownGpu { .. });
                        let label = if is_candidate { value.clone() } else { name.clone() };
                        // A fix is a value that the field takes.
                        let set = move |_| drop(state.set(field, &value, Pace::Step));
                        view! { " "<button type="button" aria-label=name on:click=set>{label}</button> }
                    });
                    let fixes: Vec<_> = fixes.collect();
                    view! { <li><code>{problem.field.clone()}</code>" "{(texts.problem)(problem)}{fixes}</li> }
                })
                .collect();
            view! {
                <div class="verdict-problems" role="alert">
                    <p class="verdict-word">{texts.cannot_estimate}</p>
                    <p>{texts.fix_these}</p>
                    <ul>{lines}</ul>
                    <p>{state.estimate.read().is_some().then_some(texts.last_good)}</p>
                </div>
            }
        })
    };
    view! { {lines} }
}
