//! A config.json of the reader's own: pasted, chosen as a file, or dropped.

use headroom_core::plan::{self, ModelChoice, Plan, Problem};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DragEvent, File};

use crate::state::State;
use crate::text::{text, texts};

/// Why a config was not taken.
#[derive(Debug, Clone, PartialEq)]
enum Refusal {
    Empty,
    Unreadable,
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
            refusal.set(None);
        }
    });

    let take = move || {
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
        spawn_local(async move {
            let text = JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string());
            match text {
                Some(text) => {
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
            Refusal::Problems(problems) => {
                problems.iter().map(|problem| (texts.problem)(problem)).collect::<Vec<_>>().join(" ")
            }
        })
    };
    let error = Memo::new(move |_| complaint());
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
                    on:input=move |event| draft.set(event_target_value(&event))
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
        </details>
    }
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
    match trial.subject() {
        Err(problems) if problems.iter().any(of_model) => Err(problems.into_iter().filter(of_model).collect()),
        _ => Ok(trial.model),
    }
}
