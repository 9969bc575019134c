//! The form: one section a subject, the rarely used last.

mod advanced;
mod choice;
mod combobox;
mod companions;
mod field;
mod gpu;
mod lora;
mod model;
mod number;
mod own_config;
mod parallelism;
mod quantization;
mod rows;
mod tasks;
#[cfg(test)]
mod tests;
mod trainer;
mod training;

use headroom_view::{Content, Element, History, Node, el};

use crate::page::Page;
use crate::state::State;

/// What the form keeps beside the plan.
#[derive(Default)]
pub(crate) struct Entered {
    /// What is typed and open in the searchable lists, in the order of [`combobox::PICKERS`].
    lists: [combobox::List; 2],
    /// The box for the reader's own config.json.
    config: own_config::OwnConfig,
    /// Whether the reader wants to name the modules that LoRA adapts.
    targets_by_name: bool,
}

/// The whole form.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let texts = page.texts;
    let form = el("form")
        .class("form")
        .attr("aria-labelledby", "form-title")
        .with(el("h2").key("title").attr("id", "form-title").class("visually-hidden").text(texts.form_title))
        .with(section("trainer", texts.section_trainer, trainer::fields(page)))
        .with(section("model", texts.section_model, model::fields(page)))
        .with(section("hardware", texts.section_hardware, gpu::fields(page)))
        .with(section("method", texts.section_method, training::method_fields(page)))
        .with(section("batch", texts.section_batch, training::batch_fields(page)))
        .with_some(tasks::section(page))
        .with(section("savers", texts.section_savers, training::saver_fields(page)))
        .with(section("parallel", texts.section_parallel, parallelism::fields(page)))
        .with(advanced::section(page));
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

/// Fields under one heading; `key` tells the section apart from others.
fn section(key: &str, title: &str, fields: Vec<Element>) -> Element {
    let fields = el("div").class("fields").with_all(fields);
    el("section").key(key).class("form-section").with(el("h3").text(title)).with(fields)
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
        "choose-trainer" => trainer::choose_name(state, value),
        "choose-version" => trainer::choose_version(state, value),
        "choose-targets" => lora::choose_targets(state, value),
        "pick-pair" => training::pick_pair(state, value),
        "companion" => companions::choose(state, about, value),
        "add-companion" => companions::add(state),
        "remove-companion" => companions::remove(state, about),
        _ => return combobox::act(state, verb, about, value) || own_config::act(state, verb, value),
    }
    true
}

/// Follows the plan after whatever changed it: what was typed beside it ends where something else was chosen.
pub(crate) fn settle(state: &mut State) {
    combobox::settle(state);
    own_config::settle(state);
    lora::settle(state);
}
