//! The model: from the catalogue or by its own config.json; and the task.

use headroom_core::model::{self, CatalogueModel};
use headroom_core::plan::{ModelChoice, Task};
use headroom_core::units::count_text;
use leptos::prelude::*;

use super::choice_field::ChoiceField;
use super::combobox::{Combobox, Item};
use super::number_field::NumberField;
use super::own_config::OwnConfig;
use crate::figures;
use crate::state::State;
use crate::text::{NO_CHOICE, texts};

/// Class counts that people use.
const LABELS: &[u64] = &[1, 2, 3, 5, 10, 20, 50, 100];
/// Generated lengths that people use.
const NEW_TOKENS: &[u64] = &[16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

/// Model, its facts, and what is done with it.
#[component]
pub(super) fn ModelSection() -> impl IntoView {
    let plan = State::of_page().plan();
    let task = Memo::new(move |_| plan.read().task);
    view! {
        <ModelPicker/>
        <OwnConfig/>
        <ModelFacts/>
        <ChoiceField
            name="task"
            words=|t| &t.fields.task
            value_words=|t, name| Task::from_name(name).map_or(NO_CHOICE, t.task)
        />
        <Show when=move || task.get() == Task::SequenceClassification>
            <NumberField name="num_labels" words=|t| &t.fields.num_labels stops=LABELS/>
        </Show>
        <Show when=move || task.get() == Task::Inference>
            <NumberField name="rollout.new_tokens" words=|t| &t.fields.new_tokens stops=NEW_TOKENS/>
        </Show>
    }
}

/// The catalogue.
#[component]
fn ModelPicker() -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let items = Memo::new(move |_| {
        let active = texts.get().active;
        model::catalogue().iter().map(|model| item(model, active)).collect()
    });
    let chosen = Signal::derive(move || match &plan.read().model {
        ModelChoice::Catalogue(id) => id.clone(),
        ModelChoice::Config { name, .. } => name.clone(),
    });
    let choose = Callback::new(move |text: String| state.choose_value("model", &text));
    view! {
        <Combobox
            name="model"
            words=|t| &t.fields.model
            items
            search=model::search
            no_match=|t| t.no_match
            chosen
            choose
        />
    }
}

fn item(model: &CatalogueModel, active: &str) -> Item {
    let all = figures::params(model.param_count);
    let detail = if model.active_param_count < model.param_count {
        format!("{all} · {} {active}", figures::params(model.active_param_count))
    } else {
        all
    };
    Item { value: model.id.to_owned(), label: model.id.to_owned(), detail, group: model.group.to_owned() }
}

/// The figures that formulas speak of.
#[component]
fn ModelFacts() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let facts = move || {
        let job = state.job.read();
        let model = job.as_ref().ok()?.model();
        let texts = texts.get();
        let mut symbols = vec![("L", model.num_hidden_layers()), ("h", model.hidden_size), ("V", model.vocab_size)];
        if let Some(run) = model.layers.first() {
            let attention = &run.layer.attention;
            symbols.extend([
                ("a", attention.num_attention_heads),
                ("k", attention.num_key_value_heads),
                ("d", attention.head_dim),
            ]);
        }
        let symbols: Vec<_> =
            symbols.into_iter().map(|(symbol, value)| view! { <span>{symbol}"\u{a0}"{value}</span>" " }).collect();
        Some(view! {
            <p class="facts">
                <strong>{count_text(model.param_count())}</strong>
                " "
                {texts.parameters}
                <br/>
                <span class="symbols">{symbols}</span>
            </p>
        })
    };
    view! { {facts} }
}
