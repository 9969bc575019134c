//! "How accurate is this?": measured steps near the plan, and what their errors say about it.

use headroom_core::accuracy::{self, Accuracy, Aspect, Figure, Metric, Near, Setting, Sharding, Validated};
use headroom_core::memory::Basis;
use headroom_core::plan::{Method, Task};
use headroom_core::units::{bytes_text, count_text};
use leptos::prelude::*;

use crate::figures;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// What opens under the verdict.
#[component]
pub(super) fn AccuracyDetails() -> impl IntoView {
    let state = State::of_page();
    // Nothing is looked up before it is asked for.
    let opened = RwSignal::new(false);
    let accuracy = Memo::new(move |_| {
        if !opened.get() {
            return None;
        }
        let (job, estimate) = (state.job.read(), state.estimate.read());
        let (job, estimate) = (job.as_ref().ok()?, estimate.as_ref()?);
        // The measured errors are those of replays: until this plan has its own, they say nothing about its figures.
        let band = (estimate.peak.basis == Basis::Replayed).then_some(estimate.peak.band);
        Some((accuracy::of_job(job, estimate), band))
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
        <details class="accuracy" on:toggle=move |_| opened.set(true)>
            <summary>{text(|t| t.accuracy.title)}</summary>
            {said}
        </details>
    }
}

/// A measured step: what it was, and a row for each of its figures.
fn step(texts: &'static Texts, near: &Near) -> impl IntoView + use<> {
    let words = &texts.accuracy;
    let case = &near.case;
    let how = case.card.map_or_else(|| words.by_allocator.to_owned(), words.on_card);
    let differs: Vec<&str> = near.differs.iter().map(|aspect| aspect_name(texts, *aspect)).collect();
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
                    <span class="accuracy-setting">{setting(texts, case)}</span>
                    <small>{how}{words.comma}{differs}</small>
                </th>
            </tr>
            {rows}
        </tbody>
    }
}

fn figure_row(texts: &'static Texts, figure: &Figure) -> impl IntoView + use<> {
    let name = match figure.metric {
        Metric::Allocated => texts.metric_allocated.label,
        Metric::Required => texts.metric_required.label,
        Metric::RequiredExpandable => texts.metric_required_expandable.label,
        Metric::Device => texts.metric_device.label,
    };
    view! {
        <tr>
            <th scope="row">{name}</th>
            <td class="number">{bytes_text(figure.measured_bytes())}</td>
            <td class="number">{bytes_text(figure.estimated_bytes())}</td>
            <td class="number">{(texts.accuracy.error)(figure.error())}</td>
        </tr>
    }
}

/// Name of the field that decides `aspect`.
fn aspect_name(texts: &Texts, aspect: Aspect) -> &'static str {
    let fields = &texts.fields;
    match aspect {
        Aspect::Task => fields.task.label,
        Aspect::Method => fields.method.label,
        Aspect::Sharding => texts.section_parallel,
        Aspect::Checkpointing => fields.gradient_checkpointing.label,
        Aspect::Precision => fields.precision.label,
        Aspect::Attention => fields.attn_implementation.label,
        Aspect::Optimizer => fields.optim.label,
    }
}

/// `LoRA · bf16 · AdamW · SDPA · 1 × 2,048 tokens`.
fn setting(texts: &Texts, case: &Validated<'_>) -> String {
    let Setting { task, method, bits, sharding, gradient_checkpointing, dtype, mixed_precision, attention, optimizer } =
        case.setting;
    let words = &texts.accuracy;
    let mut parts = Vec::new();
    if task != Task::Sft {
        parts.push((texts.task)(task).label.to_owned());
    }
    let bits = if method == Method::Qlora { format!(" {}", (texts.bits)(bits)) } else { String::new() };
    parts.push(format!("{}{bits}", (texts.method)(method).label));
    parts.push((texts.precision)(dtype, mixed_precision).label.to_owned());
    parts.extend(optimizer.map(|optimizer| (texts.optimizer)(optimizer).label.to_owned()));
    if gradient_checkpointing {
        parts.push(texts.fields.gradient_checkpointing.label.to_owned());
    }
    parts.push((texts.attention)(attention).label.to_owned());
    parts.extend(sharding_words(texts, sharding));
    if case.cards > 1 {
        parts.push((words.cards)(case.cards));
    }
    parts.push((words.batch)(case.batch, &count_text(case.length)));
    parts.join(" · ")
}

fn sharding_words(texts: &Texts, sharding: Sharding) -> Option<String> {
    let offloaded = |name: String, offload: Option<&str>| match offload {
        Some(offload) => format!("{name} + {offload}"),
        None => name,
    };
    match sharding {
        Sharding::None => None,
        Sharding::Ddp => Some("DDP".to_owned()),
        Sharding::Zero { stage, offload_optimizer, offload_param } => {
            let offload = match (offload_optimizer, offload_param) {
                (false, false) => None,
                (true, false) => Some(texts.offload_optimizer_short),
                (false, true) => Some(texts.offload_param_short),
                (true, true) => Some(texts.offload_all_short),
            };
            Some(offloaded(format!("ZeRO-{stage}"), offload))
        }
        Sharding::Fsdp2 { cpu_offload } => {
            Some(offloaded("FSDP2".to_owned(), cpu_offload.then_some(texts.offload_all_short)))
        }
    }
}
