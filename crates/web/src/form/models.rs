//! The models beside the policy, as a small list.

use headroom_core::model;
use headroom_core::plan::{Companion, CompanionModel, InstanceRole, Offload, Plan, Task};
use leptos::prelude::*;

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

    fn companion(self, plan: &Plan) -> Companion {
        let companion = match self {
            Self::Value => plan.value_model.as_ref(),
            Self::Reward(index) => rewards(plan).get(index),
        };
        companion.cloned().unwrap_or_default()
    }

    /// Changes it in `plan`; too much for a link is refused, and the plan stays as it was.
    fn edit(self, plan: &mut Plan, set: Set, text: &str) {
        let mut companion = self.companion(plan);
        set(&mut companion, text);
        companion.is_bare = false;
        let _ = match self {
            Self::Value => plan.set_value_model((companion != Companion::default()).then_some(companion)),
            Self::Reward(index) => {
                let mut models = rewards(plan).to_vec();
                if let Some(place) = models.get_mut(index) {
                    *place = companion;
                }
                plan.set_reward_models(Some(models))
            }
        };
    }
}

fn rewards(plan: &Plan) -> &[Companion] {
    plan.reward_models.as_deref().unwrap_or_default()
}

/// Puts what a control says into a companion; an empty text leaves the part to its default.
type Set = fn(&mut Companion, &str);

fn set_role(companion: &mut Companion, name: &str) {
    companion.role = InstanceRole::from_name(name);
}

fn set_model(companion: &mut Companion, id: &str) {
    if id.is_empty() {
        companion.model = CompanionModel::Policy;
    } else {
        companion.model = CompanionModel::Catalogue(id.to_owned());
        // Another model cannot have the policy's weights.
        companion.shared = None;
    }
}

fn set_bits(companion: &mut Companion, bits: &str) {
    companion.bits = bits.parse().ok();
}

fn set_shared(companion: &mut Companion, on: &str) {
    if on.is_empty() {
        companion.shared = None;
    } else {
        // Shared weights are the policy's and where they are.
        *companion = Companion { role: companion.role, shared: Some(true), ..Companion::default() };
    }
}

fn set_placement(companion: &mut Companion, name: &str) {
    companion.placement = Offload::from_name(name);
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
            let mut models = rewards(plan).to_vec();
            models.push(Companion::default());
            // One more than there may be is refused.
            let _ = plan.set_reward_models(Some(models));
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
    let companion = Memo::new(move |_| place.companion(&plan.read()));
    let put = Callback::new(move |(set, text): (Set, String)| {
        state.choose(&["value_model", "reward_models"], |plan| place.edit(plan, set, &text));
    });
    let is_reward = matches!(place, Place::Reward(_));
    let of = move |part: fn(&Companion) -> Option<String>| {
        Signal::derive(move || part(&companion.read()).unwrap_or_default())
    };
    let role = of(|companion| companion.role.map(|role| role.name().to_owned()));
    let chosen_model = of(|companion| companion.model.name().map(str::to_owned));
    let bits = of(|companion| companion.bits.map(|bits| bits.to_string()));
    let shared = of(|companion| companion.is_shared().then(|| "true".to_owned()));
    let placement = of(|companion| companion.placement.map(|placement| placement.name().to_owned()));
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
                let mut models = rewards(plan).to_vec();
                if index < models.len() {
                    models.remove(index);
                }
                // Fewer are never too much.
                let _ = plan.set_reward_models((!models.is_empty()).then_some(models));
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
                <Select id=place.id("role") set=set_role words=|t| t.tasks.role_label options=Box::new(roles) chosen=role put/>
            })}
            <Select
                id=place.id("model")
                set=set_model
                words=|t| t.tasks.model_label
                options=Box::new(models)
                chosen=chosen_model
                put
            />
            <Check set=set_shared on="true" words=|t| t.tasks.shared_label chosen=shared put/>
            <Show when=move || is_reward && shared.read().is_empty()>
                <Select
                    id=place.id("bits")
                    set=set_bits
                    words=|t| t.tasks.weights_label
                    options=Box::new(widths)
                    chosen=bits
                    put
                />
                <Check set=set_placement on="cpu" words=|t| t.tasks.host_label chosen=placement put/>
            </Show>
            <p class="field-error">{problems}</p>
        </fieldset>
    }
}

/// Changes a part of the row's companion.
type Put = Callback<(Set, String)>;
/// Values and names to choose from.
type Options = Box<dyn Fn(&'static Texts) -> Vec<(String, String)> + Send>;

/// One part of a companion, from a list.
#[component]
fn Select(
    id: String,
    set: Set,
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
            <select id=id on:change=move |event| put.run((set, event_target_value(&event)))>{options}</select>
        </label>
    }
}

/// One part of a companion that is there or not.
#[component]
fn Check(
    set: Set,
    on: &'static str,
    words: fn(&'static Texts) -> &'static str,
    chosen: Signal<String>,
    put: Put,
) -> impl IntoView {
    let change = move |event| {
        let value = if event_target_checked(&event) { on } else { "" };
        put.run((set, value.to_owned()));
    };
    view! {
        <label class="check">
            <input type="checkbox" prop:checked=move || *chosen.read() == on on:change=change/>
            {text(words)}
        </label>
    }
}
