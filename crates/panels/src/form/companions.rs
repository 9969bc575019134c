//! The models beside the policy, as a small list.

use headroom_core::model;
use headroom_core::plan::{Companion, CompanionModel, InstanceRole, Offload, Plan, Task};
use headroom_view::{Element, History, el};

use super::field::adjusted_note;
use crate::page::Page;
use crate::pieces::button;
use crate::state::State;

/// Which model of the plan a row is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// PPO's critic.
    Value,
    /// One of `reward_models`.
    Reward(usize),
}

impl Place {
    /// The place of this field.
    fn from_field(field: &str) -> Option<Self> {
        match field.strip_prefix("reward_models.") {
            Some(index) => index.parse().ok().map(Self::Reward),
            None => (field == "value_model").then_some(Self::Value),
        }
    }

    /// Its field, as problems name it.
    fn field(self) -> String {
        match self {
            Self::Value => "value_model".to_owned(),
            Self::Reward(index) => "reward_models.".to_owned() + &index.to_string(),
        }
    }

    fn id(self, part: &str) -> String {
        ["field-", &self.field().replace('.', "-"), "-", part].concat()
    }

    fn companion(self, plan: &Plan) -> Companion {
        let companion = match self {
            Self::Value => plan.value_model.as_ref(),
            Self::Reward(index) => rewards(plan).get(index),
        };
        companion.cloned().unwrap_or_default()
    }

    /// Changes it in `plan`; too much for a link is refused, and the plan stays as it was.
    fn edit(self, plan: &mut Plan, part: &str, value: &str) {
        let mut companion = self.companion(plan);
        set_part(&mut companion, part, value);
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
fn set_part(companion: &mut Companion, part: &str, value: &str) {
    match part {
        "role" => companion.role = InstanceRole::from_name(value),
        "model" if value.is_empty() => companion.model = CompanionModel::Policy,
        "model" => {
            companion.model = CompanionModel::Catalogue(value.to_owned());
            // Another model cannot have the policy's weights.
            companion.shared = None;
        }
        "bits" => companion.bits = value.parse().ok(),
        // Shared weights are the policy's and where they are.
        "shared" if value == "true" => {
            *companion = Companion { role: companion.role, shared: Some(true), ..Companion::default() };
        }
        "shared" => companion.shared = None,
        "placement" => companion.placement = if value == "true" { Some(Offload::Cpu) } else { None },
        _ => {}
    }
}

/// Sets a part of a model; `about` is its field and the part.
pub(super) fn choose(state: &mut State, about: &str, value: &str) {
    let Some((field, part)) = about.split_once(' ') else { return };
    if let Some(place) = Place::from_field(field) {
        state.choose(&["value_model", "reward_models"], |plan| place.edit(plan, part, value));
    }
}

/// Adds one to the list.
pub(super) fn add(state: &mut State) {
    let mut plan = state.plan().clone();
    let mut models = rewards(&plan).to_vec();
    models.push(Companion::default());
    // One more than there may be is refused.
    let _ = plan.set_reward_models(Some(models));
    state.edit(History::Step, plan);
}

/// Removes the one at this index of the list.
pub(super) fn remove(state: &mut State, index: &str) {
    let mut plan = state.plan().clone();
    let mut models = rewards(&plan).to_vec();
    match index.parse() {
        Ok(index) if index < models.len() => drop(models.remove(index)),
        _ => return,
    }
    // Fewer are never too much.
    let _ = plan.set_reward_models((!models.is_empty()).then_some(models));
    state.edit(History::Step, plan);
}

/// Value model where the task has one, then the list, with a way to add to it.
pub(super) fn draw(page: &Page) -> Vec<Element> {
    let (plan, texts) = (page.plan(), page.texts.tasks());
    let mut drawn = vec![
        el("h4").key("models title").text(texts.models_group),
        el("p").key("models help").class("field-help models-help").text(texts.models_help),
    ];
    if plan.task == Task::Ppo {
        drawn.push(row(page, Place::Value));
    }
    drawn.extend((0..rewards(plan).len()).map(|index| row(page, Place::Reward(index))));
    drawn.push(adjusted_note(page, "value_model").key("models adjusted"));
    let add = button("add-companion", texts.add_model);
    drawn.push(el("div").key("models add").class("actions").with(add));
    drawn
}

/// One model: role, which model, its weights, sharing, placement.
fn row(page: &Page, place: Place) -> Element {
    let texts = page.texts.tasks();
    let companion = place.companion(page.plan());
    let shared = companion.is_shared();
    let field = place.field();
    let name = match place {
        Place::Value => texts.value_model.to_owned(),
        Place::Reward(index) => (texts.model_number)(index + 1),
    };
    let mut row = el("fieldset").key(&field).class("model-row").with(el("legend").text(&name));
    if let Place::Reward(index) = place {
        let remove = button(&["remove-companion ", &index.to_string()].concat(), texts.remove);
        let remove = remove.class("remove").attr("aria-label", &[texts.remove, " ", &name].concat());
        row = row.with(remove).with(select(place, "role", texts.role_label, &roles(page), role_of(&companion)));
    }
    let chosen = companion.model.name().unwrap_or_default();
    row = row.with(select(place, "model", texts.model_label, &models(page, chosen), chosen)).with(check(
        place,
        "shared",
        texts.shared_label,
        shared,
    ));
    if place != Place::Value && !shared {
        let bits = companion.bits.map(|bits| bits.to_string()).unwrap_or_default();
        let on_host = companion.placement == Some(Offload::Cpu);
        row = row
            .with(select(place, "bits", texts.weights_label, &widths(page), &bits).key("bits"))
            .with(check(place, "placement", texts.host_label, on_host).key("placement"));
    }
    row.with(el("p").key("error").class("field-error").text(&problems(page, &field)))
}

/// A value with the name that it is read by.
type Named = (String, String);

fn role_of(companion: &Companion) -> &'static str {
    companion.role.map(InstanceRole::name).unwrap_or_default()
}

fn roles(page: &Page) -> Vec<Named> {
    const ROLES: [InstanceRole; 3] = [InstanceRole::Reward, InstanceRole::Judge, InstanceRole::SimulatedUser];
    // The first is what a model is unless it says otherwise.
    let value = |role: InstanceRole| if role == InstanceRole::Reward { "" } else { role.name() };
    ROLES
        .into_iter()
        .map(|role| (value(role).to_owned(), (page.texts.tasks().instance_role)(role).to_owned()))
        .collect()
}

fn models(page: &Page, chosen: &str) -> Vec<Named> {
    let mut models = vec![(String::new(), page.texts.tasks().policys_model.to_owned())];
    // A model that the catalogue does not have is in the list while it is chosen.
    if !chosen.is_empty() && !model::catalogue().iter().any(|model| model.id == chosen) {
        models.push((chosen.to_owned(), chosen.to_owned()));
    }
    models.extend(model::catalogue().iter().map(|model| (model.id.to_owned(), model.id.to_owned())));
    models
}

fn widths(page: &Page) -> Vec<Named> {
    let as_loaded = (String::new(), page.texts.tasks().weights_as_loaded.to_owned());
    let narrower = [8u8, 4].map(|bits| (bits.to_string(), (page.texts.bits)(bits)));
    [as_loaded].into_iter().chain(narrower).collect()
}

/// What the core has against the model of this field.
fn problems(page: &Page, field: &str) -> String {
    let problems = page.to_fix();
    let own = |name: &str| name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let said: Vec<_> =
        problems.iter().filter(|problem| own(&problem.field)).map(|problem| (page.texts.problem)(problem)).collect();
    said.join(" ")
}

fn action(place: Place, part: &str) -> String {
    ["companion ", &place.field(), " ", part].concat()
}

/// One part of a companion, from a list.
fn select(place: Place, part: &str, label: &str, options: &[Named], chosen: &str) -> Element {
    let id = place.id(part);
    let option = |(value, name): &Named| el("option").attr("value", value).flag("selected", value == chosen).text(name);
    let select = el("select").attr("id", &id).attr("data-set", &action(place, part));
    let select = select.with_all(options.iter().map(option).collect());
    el("label").class("labelled").attr("for", &id).text(label).with(select)
}

/// One part of a companion that is there or not.
fn check(place: Place, part: &str, label: &str, on: bool) -> Element {
    let input = el("input").attr("type", "checkbox").flag("checked", on).attr("data-set", &action(place, part));
    el("label").class("check").with(input).text(label)
}
