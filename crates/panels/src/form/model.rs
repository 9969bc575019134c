//! The model: from the catalogue or by its own config.json; and the task.

use headroom_core::model::{self, CatalogueModel};
use headroom_core::plan::{ModelChoice, Plan, Task};
use headroom_core::units::count_text;
use headroom_text::{NO_CHOICE, Texts};
use headroom_view::{Element, el};

use super::choice::choice;
use super::combobox::{self, Item, Picker};
use super::number::slid;
use super::own_config;
use crate::figures;
use crate::page::Page;

/// Class counts that people use.
const LABELS: &[u64] = &[1, 2, 3, 5, 10, 20, 50, 100];
/// Generated lengths that people use.
const NEW_TOKENS: &[u64] = &[16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

/// Model, its facts, and what is done with it.
pub(super) fn fields(page: &Page) -> Vec<Element> {
    let task = page.plan().task;
    let mut fields = vec![combobox::draw(page, 0), own_config::draw(page)];
    fields.extend(facts(page));
    fields.push(choice(page, "task", |t, name| Task::from_name(name).map_or(NO_CHOICE, t.task)));
    if task == Task::SequenceClassification {
        fields.push(slid(page, "num_labels", LABELS));
    }
    if task == Task::Inference {
        fields.push(slid(page, "rollout.new_tokens", NEW_TOKENS));
    }
    fields
}

/// The catalogue.
pub(super) const PICKER: Picker = Picker {
    name: "model",
    items,
    search: model::search,
    no_match: |t| t.no_match,
    last_stays: false,
    chosen,
    choose: |state, text| state.choose_value("model", text),
};

fn items(texts: &'static Texts) -> Vec<Item> {
    model::catalogue().iter().map(|model| item(model, texts.active)).collect()
}

fn chosen(_: &'static Texts, plan: &Plan) -> String {
    match &plan.model {
        ModelChoice::Catalogue(id) => id.clone(),
        ModelChoice::Config { name, .. } => name.clone(),
    }
}

fn item(model: &CatalogueModel, active: &str) -> Item {
    let all = figures::params(model.param_count);
    let detail = if model.active_param_count < model.param_count {
        [&all, " · ", &figures::params(model.active_param_count), " ", active].concat()
    } else {
        all
    };
    Item { value: model.id.to_owned(), label: model.id.to_owned(), detail, group: model.group.to_owned() }
}

/// The figures that formulas speak of.
fn facts(page: &Page) -> Option<Element> {
    let model = page.job.as_ref().ok()?.model();
    let mut figures = vec![("L", model.num_hidden_layers()), ("h", model.hidden_size), ("V", model.vocab_size)];
    if let Some(run) = model.layers.first() {
        let attention = &run.layer.attention;
        figures.extend([
            ("a", attention.num_attention_heads),
            ("k", attention.num_key_value_heads),
            ("d", attention.head_dim),
        ]);
    }
    let mut symbols = el("span").class("symbols");
    for (symbol, value) in figures {
        symbols = symbols.with(el("span").text(&[symbol, "\u{a0}", &value.to_string()].concat())).text(" ");
    }
    let facts = el("p").key("facts").class("facts").with(el("strong").text(&count_text(model.param_count())));
    Some(facts.text(" ").text(page.texts.parameters).with(el("br")).with(symbols))
}
