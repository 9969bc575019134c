//! The form: whose step runs and what decides its memory, then groups for the rest.
//!
//! On top stands what decides the defaults of all else, trainer and task (with the method below: `Plan::adopting`). Then the
//! essentials, which people come with and which decide most of the memory: model, method, GPU, how many, batch and length.
//! The rest is folded, and says in its summaries what differs from what the trainer gives. Narrow screens show one part at a
//! time (`steps`).

mod advanced;
mod choice;
mod combobox;
mod companions;
mod effects;
mod field;
mod given;
mod gpu;
mod groups;
mod hub;
mod images;
mod lora;
mod model;
mod number;
mod own_config;
mod parallelism;
mod quantization;
mod record;
mod rows;
mod steps;
mod tasks;
#[cfg(test)]
mod tests;
mod trainer;
mod training;

use headroom_view::{Content, Element, History, Node, el};

use crate::page::Page;
use crate::state::State;
use groups::group;

/// What the form keeps beside the plan.
#[derive(Default)]
pub(crate) struct Entered {
    /// What is typed and open in the searchable lists, in the order of [`combobox::PICKERS`].
    lists: [combobox::List; 2],
    /// The box for the reader's own config.json.
    config: own_config::OwnConfig,
    /// What was asked of Hugging Face.
    hub: hub::Hub,
    /// The box for a recorded program of the reader's own.
    record: record::Record,
    /// The part that narrow screens show.
    step: steps::Step,
    /// Whether the reader wants to name the modules that LoRA adapts.
    targets_by_name: bool,
    /// Id of the element that is to take the focus, until the page has been told: the one that had it is gone.
    pub(crate) focus: Option<String>,
}

/// The whole form.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let texts = page.texts;
    let form = el("form")
        .class("form")
        .attr("aria-labelledby", "form-title")
        .attr("data-at", page.state.form.step.name())
        .with(el("h2").key("title").attr("id", "form-title").class("visually-hidden").text(texts.form_title));
    let essentials = essentials(page);
    let mut rest = vec![group(page, ("training", texts.section_method), training::METHOD, training::method_fields)];
    rest.extend(tasks::section(page));
    rest.push(group(page, ("savers", texts.section_savers), training::SAVERS, training::saver_fields));
    rest.push(group(page, ("parallel", texts.section_parallel), parallelism::NAMES, parallelism::fields));
    rest.push(advanced::section(page));
    let steps = steps::bar(page, &essentials, &rest);
    let essentials = el("div").class("fields").with_all(essentials);
    let form = form
        .with(steps)
        .with(el("section").key("essentials").class("form-section essentials").with(essentials))
        .with_all(rest);
    Some(form.into())
}

/// The fields called `names` alone, in this order; those that mean nothing for the plan are left out.
pub(crate) fn only(page: &Page, names: &[&str]) -> Vec<Element> {
    let Some(Node::Element(form)) = panel(page) else { return Vec::new() };
    names.iter().filter_map(|name| within(&form, name)).collect()
}

/// The place of the field called `key`, wherever it stands in `element`; sections may have the name of one of their fields.
fn within(element: &Element, key: &str) -> Option<Element> {
    let is_field = || element.attribute("class").is_some_and(|class| class.starts_with("field"));
    if element.key == key && is_field() {
        return Some(element.clone());
    }
    let Content::Children(children) = &element.content else { return None };
    children.iter().find_map(|child| match child {
        Node::Element(child) => within(child, key),
        Node::Text(_) => None,
    })
}

/// What everyone has to say, in the parts that narrow screens show one at a time.
fn essentials(page: &Page) -> Vec<Element> {
    let mut what = vec![trainer::row(page)];
    what.extend(model::task_fields(page));
    what.extend(model::fields(page));
    what.push(training::method(page));
    let parts = [
        (steps::Step::Model, what),
        (steps::Step::Gpu, gpu::fields(page)),
        (steps::Step::Batch, training::batch_fields(page)),
    ];
    parts.map(|(step, fields)| steps::part(page, step, fields)).into()
}

/// What the form's own actions do.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    match verb {
        "type" => return number::take_typed(state, about, value),
        "stop" => return number::take_stop(state, about, value),
        "choose" => return choice::choose(state, about, value),
        "switch" => return choice::turn(state, about, value),
        "undo-adjusted" => {
            if let Some(adjusted) = state.adjusted.clone() {
                state.edit(History::Step, adjusted.before);
            }
        }
        "form-step" => steps::choose(state, about),
        "reset" => return given::take(state, about),
        "choose-trainer" => trainer::choose_name(state, value),
        "choose-version" => trainer::choose_version(state, value),
        "choose-targets" => lora::choose_targets(state, value),
        "pick-pair" => training::pick_pair(state, value),
        "companion" => companions::choose(state, about, value),
        "add-companion" => companions::add(state),
        "remove-companion" => companions::remove(state, about),
        _ => return combobox::act(state, verb, about, value) || own_config::act(state, verb, about, value),
    }
    true
}

/// Takes a config that waited for its class's program.
pub(crate) fn take_waiting_config(state: &mut State) {
    own_config::take_waiting(state);
}

/// Follows the plan after whatever changed it: what was typed beside it ends where something else was chosen.
pub(crate) fn settle(state: &mut State) {
    combobox::settle(state);
    own_config::settle(state);
    lora::settle(state);
}
