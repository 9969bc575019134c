//! Every model that takes part, where it is, and what sharing saves.

use headroom_core::job::Job;
use headroom_core::memory::{ModelRole, ModelUse};
use headroom_core::plan::{Method, Plan};
use headroom_core::units::{bytes_text, count_text};
use leptos::prelude::*;

use crate::state::State;
use crate::text::{Texts, text, texts};

/// The table, where the plan has more than one model.
#[component]
pub(super) fn ModelsPanel() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let models = move || {
        let estimate = state.estimate.read();
        estimate.as_ref().map(|estimate| estimate.task.models.clone()).unwrap_or_default()
    };
    let several = Memo::new(move |_| models().len() > 1);
    let saved = move || {
        let saved = models().iter().filter(|model| model.shared).map(|model| model.saved_bytes).sum::<u64>();
        if saved > 0 { (texts.get().tasks.sharing_saves)(&bytes_text(saved)) } else { String::new() }
    };
    let rows = move || {
        let texts = texts.get();
        let plan = state.plan();
        let plan = plan.read();
        let job = state.job.read();
        let models = models();
        let bits = precisions(&plan, job.as_ref().ok(), &models);
        let rows = models.into_iter().zip(bits);
        rows.map(|(model, bits)| row(texts, &plan, &model, bits)).collect::<Vec<_>>()
    };
    view! {
        <Show when=move || several.get()>
            <section class="panel" aria-labelledby="models-title">
                <h2 id="models-title">{text(|t| t.tasks.models_title)}</h2>
                <p class="panel-intro">{text(|t| t.tasks.models_intro)}" "<strong>{saved}</strong></p>
                <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.tasks.models_table)>
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">{text(|t| t.tasks.column_role)}</th>
                                <th scope="col">{text(|t| t.tasks.model_label)}</th>
                                <th scope="col">{text(|t| t.tasks.column_weights)}</th>
                                <th scope="col">{text(|t| t.tasks.column_place)}</th>
                                <th scope="col" class="number">{text(|t| t.tasks.column_bytes)}</th>
                                <th scope="col">{text(|t| t.tasks.column_shared)}</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </section>
        </Show>
    }
}

/// Bits a weight of each model, where it is quantised; models beside the policy stand in the job's order.
fn precisions(plan: &Plan, job: Option<&Job>, models: &[ModelUse]) -> Vec<Option<u8>> {
    let base = (plan.method == Method::Qlora).then_some(plan.quantization.bits);
    let mut beside = job.map(Job::instances).unwrap_or_default().iter();
    let of = |model: &ModelUse| match model.role {
        ModelRole::Policy => base,
        ModelRole::Reference => base.filter(|_| model.shared),
        ModelRole::Engine => None,
        ModelRole::Companion(_) => {
            beside.next().and_then(|instance| if instance.shared { base } else { instance.bits })
        }
    };
    models.iter().map(of).collect()
}

fn row(texts: &'static Texts, plan: &Plan, model: &ModelUse, bits: Option<u8>) -> impl IntoView + use<> {
    let words = &texts.tasks;
    let weights = bits.map_or_else(|| (texts.dtype)(plan.torch_dtype).label.to_owned(), texts.bits);
    let saved = bytes_text(model.saved_bytes);
    let absent = model.bytes == 0 && !model.shared && !model.offloaded && model.saved_bytes > 0;
    let (place, sharing) = match () {
        () if absent => (words.not_loaded, (words.precomputed_saving)(&saved)),
        () if model.shared => (words.on_gpu, (words.shared_saving)(&saved)),
        () if model.offloaded => (words.in_host, words.own_weights.to_owned()),
        () => (words.on_gpu, words.own_weights.to_owned()),
    };
    let exact = (texts.exact_bytes)(&count_text(model.bytes));
    view! {
        <tr>
            <th scope="row">{(words.model_role)(model.role)}</th>
            <td>{model.name.clone()}</td>
            <td>{weights}</td>
            <td>{place}</td>
            <td class="number" title=exact>{bytes_text(model.bytes)}</td>
            <td>{sharing}</td>
        </tr>
    }
}
