//! The models beside the policy, as a small list.

use headroom_core::model;
use headroom_core::plan::{self, InstanceRole, Plan, Task};
use leptos::prelude::*;
use serde_json::{Map, Value};

use super::field::AdjustedNote;
use crate::state::{Pace, State};
use crate::text::{Texts, text, texts};

/// Which model of the plan a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// PPO's critic.
    Value,
    /// One of `reward_models`.
    Reward(usize),
}

impl Place {
    /// Its field, as problems name it.
    fn field(self) -> String {
        match self {
            Self::Value => "value_model".to_owned(),
            Self::Reward(index) => format!("reward_models.{index}"),
        }
    }

    fn id(self, part: &str) -> String {
        format!("field-{}-{part}", self.field().replace('.', "-"))
    }

    fn entry(self, plan: &Plan) -> Value {
        match self {
            Self::Value => kept(plan, "value_model"),
            Self::Reward(index) => rewards(plan).get(index).cloned().unwrap_or_default(),
        }
    }

    fn write(self, plan: &mut Plan, entry: Value) {
        match self {
            Self::Value => keep(plan, "value_model", if is_empty(&entry) { Value::Null } else { entry }),
            Self::Reward(index) => {
                let mut entries = rewards(plan);
                if let Some(place) = entries.get_mut(index) {
                    *place = entry;
                }
                keep(plan, "reward_models", Value::Array(entries));
            }
        }
    }
}

fn kept(plan: &Plan, name: &str) -> Value {
    plan::field(name).map(|field| field.value(plan)).unwrap_or_default()
}

fn keep(plan: &mut Plan, name: &str, value: Value) {
    if let Some(field) = plan::field(name) {
        // Too much JSON for a link is refused, and the plan stays as it was.
        let _ = field.set_value(plan, &value);
    }
}

fn is_empty(entry: &Value) -> bool {
    entry.as_object().is_some_and(Map::is_empty)
}

fn rewards(plan: &Plan) -> Vec<Value> {
    match kept(plan, "reward_models") {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    }
}

fn set_rewards(plan: &mut Plan, entries: Vec<Value>) {
    keep(plan, "reward_models", if entries.is_empty() { Value::Null } else { Value::Array(entries) });
}

/// An entry with its parts by name, however it was written.
fn parts(entry: &Value) -> Map<String, Value> {
    match entry {
        Value::Object(entries) if !entries.contains_key("config") && !entries.contains_key("name") => entries.clone(),
        Value::Null => Map::new(),
        model => Map::from_iter([("model".to_owned(), model.clone())]),
    }
}

/// The model of an entry as the list shows it; empty for the policy's own.
fn model_of(entry: &Value) -> String {
    match parts(entry).get("model") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Object(own)) => own.get("name").and_then(Value::as_str).unwrap_or("config.json").to_owned(),
        _ => String::new(),
    }
}

/// Value model where the task has one, then the list, with a way to add to it.
#[component]
pub(super) fn ModelsFields() -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let critic = move || plan.read().task == Task::Ppo;
    let count = Memo::new(move |_| rewards(&plan.read()).len());
    let add = move |_| {
        state.edit(Pace::Step, |plan| {
            let mut entries = rewards(plan);
            entries.push(Value::Object(Map::new()));
            set_rewards(plan, entries);
        });
    };
    view! {
        <h4>{text(|t| t.tasks.models_group)}</h4>
        <p class="field-help models-help">{text(|t| t.tasks.models_help)}</p>
        <Show when=critic><Row place=Place::Value/></Show>
        <For each=move || 0..count.get() key=|index| *index let:index><Row place=Place::Reward(index)/></For>
        <AdjustedNote name="value_model"/>
        <div class="actions"><button type="button" on:click=add>{text(|t| t.tasks.add_model)}</button></div>
    }
}

/// One model: role, which model, its weights, sharing, placement.
#[component]
fn Row(place: Place) -> impl IntoView {
    const ROLES: [InstanceRole; 3] = [InstanceRole::Reward, InstanceRole::Judge, InstanceRole::SimulatedUser];
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let entry = move || place.entry(&plan.read());
    let part = move |key: &str| match parts(&entry()).remove(key) {
        Some(Value::String(text)) => text,
        Some(value) if !value.is_null() => value.to_string(),
        _ => String::new(),
    };
    // Empty leaves the part to its default.
    let put = Callback::new(move |(key, text): (&'static str, String)| {
        state.choose(&["value_model", "reward_models"], |plan| {
            let mut entries = parts(&place.entry(plan));
            let value = match (key, text.as_str()) {
                (_, "") => None,
                ("shared", _) => Some(Value::Bool(true)),
                ("bits", bits) => bits.parse::<u64>().ok().map(Value::from),
                (_, text) => Some(Value::from(text)),
            };
            // Another model cannot have the policy's weights, and shared weights are as the policy's and where they are.
            match (key, &value) {
                ("model", Some(_)) => drop(entries.remove("shared")),
                ("shared", Some(_)) => entries.retain(|key, _| key == "role"),
                _ => {}
            }
            match value {
                Some(value) => drop(entries.insert(key.to_owned(), value)),
                None => drop(entries.remove(key)),
            }
            place.write(plan, Value::Object(entries));
        });
    });
    let is_reward = matches!(place, Place::Reward(_));
    let role = Signal::derive(move || part("role"));
    let chosen_model = Signal::derive(move || model_of(&entry()));
    let bits = Signal::derive(move || part("bits"));
    let shared = Signal::derive(move || part("shared"));
    let placement = Signal::derive(move || part("placement"));
    let roles = move |texts: &'static Texts| {
        let named = |role: InstanceRole| (texts.tasks.instance_role)(role).to_owned();
        // The first is what a model is unless it says otherwise.
        let value = |role: InstanceRole| if role == InstanceRole::Reward { "" } else { role.name() };
        ROLES.iter().map(|role| (value(*role).to_owned(), named(*role))).collect()
    };
    let models = move |texts: &'static Texts| {
        let mut models = vec![(String::new(), texts.tasks.policys_model.to_owned())];
        let chosen = chosen_model.get();
        // A model that the catalogue does not have is in the list while it is chosen.
        if !chosen.is_empty() && !model::catalogue().iter().any(|model| model.id == chosen) {
            models.push((chosen.clone(), chosen));
        }
        models.extend(model::catalogue().iter().map(|model| (model.id.to_owned(), model.id.to_owned())));
        models
    };
    let widths = move |texts: &'static Texts| {
        let mut widths = vec![(String::new(), texts.tasks.weights_as_loaded.to_owned())];
        widths.extend([8u8, 4].map(|bits| (bits.to_string(), (texts.bits)(bits))));
        widths
    };
    let name = move || match place {
        Place::Value => texts.get().tasks.value_model.to_owned(),
        Place::Reward(index) => (texts.get().tasks.model_number)(index + 1),
    };
    let remove = move |_| {
        if let Place::Reward(index) = place {
            state.edit(Pace::Step, |plan| {
                let mut entries = rewards(plan);
                if index < entries.len() {
                    entries.remove(index);
                }
                set_rewards(plan, entries);
            });
        }
    };
    let problems = move || {
        let texts = texts.get();
        let field = place.field();
        let outcome = state.outcome.read();
        let problems = outcome.as_ref().err().map(Vec::as_slice).unwrap_or_default();
        let own = |name: &str| name.strip_prefix(&field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let said: Vec<_> =
            problems.iter().filter(|problem| own(&problem.field)).map(|problem| (texts.problem)(problem)).collect();
        said.join(" ")
    };
    view! {
        <fieldset class="model-row">
            <legend>{name}</legend>
            {is_reward.then(|| view! {
                <button
                    type="button"
                    class="remove"
                    on:click=remove
                    aria-label=move || format!("{} {}", texts.get().tasks.remove, name())
                >
                    {text(|t| t.tasks.remove)}
                </button>
                <Select id=place.id("role") key="role" words=|t| t.tasks.role_label options=Box::new(roles) chosen=role put/>
            })}
            <Select
                id=place.id("model")
                key="model"
                words=|t| t.tasks.model_label
                options=Box::new(models)
                chosen=chosen_model
                put
            />
            <Check key="shared" on="true" words=|t| t.tasks.shared_label chosen=shared put/>
            <Show when=move || is_reward && shared.read().is_empty()>
                <Select
                    id=place.id("bits")
                    key="bits"
                    words=|t| t.tasks.weights_label
                    options=Box::new(widths)
                    chosen=bits
                    put
                />
                <Check key="placement" on="cpu" words=|t| t.tasks.host_label chosen=placement put/>
            </Show>
            <p class="field-error">{problems}</p>
        </fieldset>
    }
}

/// Sets a part of an entry.
type Put = Callback<(&'static str, String)>;
/// Values and names to choose from.
type Options = Box<dyn Fn(&'static Texts) -> Vec<(String, String)> + Send>;

/// One part of an entry, from a list.
#[component]
fn Select(
    id: String,
    key: &'static str,
    words: fn(&'static Texts) -> &'static str,
    options: Options,
    chosen: Signal<String>,
    put: Put,
) -> impl IntoView {
    let texts = texts();
    let options = move || {
        let chosen = chosen.get();
        let option = |(value, name): (String, String)| {
            let selected = value == chosen;
            view! { <option value=value prop:selected=selected>{name}</option> }
        };
        options(texts.get()).into_iter().map(option).collect::<Vec<_>>()
    };
    let bound_to = id.clone();
    view! {
        <label class="labelled" for=bound_to>
            {text(words)}
            <select id=id on:change=move |event| put.run((key, event_target_value(&event)))>{options}</select>
        </label>
    }
}

/// One part of an entry that is there or not.
#[component]
fn Check(
    key: &'static str,
    on: &'static str,
    words: fn(&'static Texts) -> &'static str,
    chosen: Signal<String>,
    put: Put,
) -> impl IntoView {
    let set = move |event| {
        let value = if event_target_checked(&event) { on } else { "" };
        put.run((key, value.to_owned()));
    };
    view! {
        <label class="check">
            <input type="checkbox" prop:checked=move || *chosen.read() == on on:change=set/>
            {text(words)}
        </label>
    }
}
