//! A config.json of the reader's own: pasted, chosen as a file, or dropped.

use std::sync::Arc;

use headroom_core::job::Job;
use headroom_core::model::AssumedKey;
use headroom_core::plan::{self, ModelChoice, Plan, Problem};
use headroom_core::units::bytes_text;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ClipboardEvent, DragEvent, Event, File, HtmlTextAreaElement};

use crate::figures;
use crate::state::State;
use crate::text::{text, texts};

/// Largest text that is read, bytes: configs of classifiers with thousands of labels stay below it.
const LARGEST: u64 = plan::MAX_JSON_BYTES as u64;

/// Why a config was not taken.
#[derive(Debug, Clone, PartialEq)]
enum Refusal {
    Empty,
    Unreadable,
    /// So many bytes, or letters.
    TooLarge(u64),
    Problems(Vec<Problem>),
}

/// The box for the config.
#[component]
pub(super) fn OwnConfig() -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let draft = RwSignal::new(String::new());
    let name = RwSignal::new(String::new());
    let refusal = RwSignal::new(None::<Refusal>);
    let dragged_over = RwSignal::new(false);
    // Size of a text in the box that is not read: copying it with every key would stop the page.
    let oversize = RwSignal::new(None::<u64>);
    let file_input = NodeRef::<html::Input>::new();

    // A link that brings a config fills the box, so that the reader can see and change it.
    let brought = Memo::new(move |_| match &plan.read().model {
        ModelChoice::Config { name, config } => {
            Some((name.clone(), serde_json::to_string_pretty(config).unwrap_or_default()))
        }
        ModelChoice::Catalogue(_) => None,
    });
    Effect::new(move |_| {
        if let Some((known_as, config)) = brought.get() {
            name.set(known_as);
            draft.set(config);
            oversize.set(None);
            refusal.set(None);
        }
    });

    let take = move || {
        if let Some(size) = oversize.get_untracked() {
            refusal.set(Some(Refusal::TooLarge(size)));
            return;
        }
        let text = draft.get_untracked();
        if text.trim().is_empty() {
            refusal.set(Some(Refusal::Empty));
            return;
        }
        let given = name.get_untracked();
        let given = if given.trim().is_empty() { texts.get_untracked().own_model.to_owned() } else { given };
        let model = with_config(&plan.read_untracked(), &text, &given);
        match model {
            Ok(model) => {
                refusal.set(None);
                state.choose(&["model"], |plan| plan.model = model);
            }
            Err(problems) => refusal.set(Some(Refusal::Problems(problems))),
        }
    };
    let read_file = move |file: File| {
        let size = file.size() as u64;
        if size > LARGEST {
            refusal.set(Some(Refusal::TooLarge(size)));
            return;
        }
        spawn_local(async move {
            let text = JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string());
            match text {
                Some(text) => {
                    oversize.set(None);
                    draft.set(text);
                    // `config.json` names no model; any other file name does.
                    let stem = file.name().trim_end_matches(".json").to_owned();
                    if stem != "config" {
                        name.set(stem);
                    }
                    take();
                }
                None => refusal.set(Some(Refusal::Unreadable)),
            }
        });
    };
    let on_drop = move |event: DragEvent| {
        event.prevent_default();
        dragged_over.set(false);
        if let Some(file) = event.data_transfer().and_then(|data| data.files()).and_then(|files| files.get(0)) {
            read_file(file);
        }
    };
    let on_drag_over = move |event: DragEvent| {
        event.prevent_default();
        dragged_over.set(true);
    };
    let complaint = move || {
        let texts = texts.get();
        refusal.get().map(|refusal| match refusal {
            Refusal::Empty => texts.config_empty.to_owned(),
            Refusal::Unreadable => texts.config_unreadable.to_owned(),
            Refusal::TooLarge(size) => (texts.config_too_large)(&bytes_text(size)),
            Refusal::Problems(problems) => {
                problems.iter().map(|problem| (texts.problem)(problem)).collect::<Vec<_>>().join(" ")
            }
        })
    };
    let error = Memo::new(move |_| complaint());
    let on_paste = move |event: ClipboardEvent| {
        let pasted = event.clipboard_data().and_then(|data| data.get_data("text").ok()).unwrap_or_default();
        let size = pasted.len() as u64;
        if size > LARGEST {
            // The clipboard still has it; a box with megabytes in it stops the browser for seconds.
            event.prevent_default();
            refusal.set(Some(Refusal::TooLarge(size)));
        }
    };
    let on_input = move |event: Event| {
        let area = event_target::<HtmlTextAreaElement>(&event);
        let size = u64::from(area.text_length());
        oversize.set(Some(size).filter(|size| *size > LARGEST));
        if size > LARGEST {
            refusal.set(Some(Refusal::TooLarge(size)));
        } else {
            refusal.set(None);
            draft.set(area.value());
        }
    };
    view! {
        <details
            class="own-config"
            class:dragged-over=move || dragged_over.get()
            prop:open=move || brought.read().is_some().then_some(true)
            on:dragover=on_drag_over
            on:dragleave=move |_| dragged_over.set(false)
            on:drop=on_drop
        >
            <summary>{text(|t| t.own_config)}</summary>
            <p class="field-help" id="own-config-help">
                {move || if dragged_over.get() { texts.get().config_drop } else { texts.get().own_config_help }}
            </p>
            <div class="field" class:invalid=move || error.read().is_some()>
                <label for="own-config-text">{text(|t| t.config_text)}</label>
                <textarea
                    id="own-config-text"
                    rows="6"
                    spellcheck="false"
                    autocomplete="off"
                    placeholder="{ \"model_type\": \"llama\", … }"
                    prop:value=draft
                    on:paste=on_paste
                    on:input=on_input
                    aria-describedby="own-config-error own-config-help"
                    aria-invalid=move || error.read().is_some().to_string()
                ></textarea>
                <p class="field-error" id="own-config-error" role="alert">{move || error.get()}</p>
            </div>
            <div class="field">
                <label for="own-config-name">{text(|t| t.config_name)}</label>
                <input
                    id="own-config-name"
                    type="text"
                    autocomplete="off"
                    placeholder=text(|t| t.own_model)
                    prop:value=name
                    on:input=move |event| name.set(event_target_value(&event))
                />
            </div>
            <div class="actions">
                <button type="button" class="primary" on:click=move |_| take()>{text(|t| t.config_use)}</button>
                <label class="file-choice">
                    <input
                        node_ref=file_input
                        type="file"
                        accept=".json,application/json"
                        on:change=move |_| {
                            let Some(input) = file_input.get_untracked() else { return };
                            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                                read_file(file);
                            }
                            // The same file can be chosen again after a correction.
                            input.set_value("");
                        }
                    />
                    <span>{text(|t| t.config_file)}</span>
                </label>
            </div>
            <div class="config-read" role="status"><ConfigRead/></div>
        </details>
    }
}

/// What was made of the reader's own config: its class and size, and every key that it leaves to the class.
#[component]
fn ConfigRead() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let model = Memo::new(move |_| {
        let own = matches!(state.plan().read().model, ModelChoice::Config { .. });
        let job = state.job.read();
        job.as_ref().ok().filter(|_| own).map(|job| Arc::clone(job.model()))
    });
    let said = move || {
        let texts = texts.get();
        let model = model.get()?;
        let read =
            (texts.config_read)(&model.model_type, model.num_hidden_layers(), &figures::params(model.param_count()));
        let line = |key: &AssumedKey| view! { <li><code>{format!("{} = {}", key.key, key.value)}</code></li> };
        let (sizes, rest): (Vec<_>, Vec<_>) = model.assumed.iter().partition(|key| key.decides_size());
        let heading = if sizes.is_empty() { texts.config_complete } else { texts.config_assumed };
        let rest = (!rest.is_empty()).then(|| {
            view! {
                <details>
                    <summary>{(texts.config_assumed_rest)(rest.len())}</summary>
                    <ul>{rest.into_iter().map(line).collect::<Vec<_>>()}</ul>
                </details>
            }
        });
        Some(view! {
            <p><strong>{read}</strong>" "{heading}</p>
            <ul class="assumed">{sizes.into_iter().map(line).collect::<Vec<_>>()}</ul>
            {rest}
        })
    };
    view! { {said} }
}

/// The model that `text` describes, checked as part of `plan`.
fn with_config(plan: &Plan, text: &str, name: &str) -> Result<ModelChoice, Vec<Problem>> {
    let mut trial = plan.clone();
    for (field, text) in [("model.config", text), ("model.name", name)] {
        if let Some(field) = plan::field(field) {
            field.set_text(&mut trial, text).map_err(|problem| vec![problem])?;
        }
    }
    // What is wrong elsewhere in the plan is no fault of the config.
    let of_model = |problem: &Problem| problem.field == "model" || problem.field.starts_with("model.");
    match Job::resolve(&trial) {
        Err(problems) if problems.iter().any(of_model) => Err(problems.into_iter().filter(of_model).collect()),
        _ => Ok(trial.model),
    }
}
