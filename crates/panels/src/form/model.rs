//! The model, from the catalogue or by its own config.json; and the task.

use headroom_core::model::{self, CatalogueModel};
use headroom_core::plan::{EmbeddingLoss, ModelChoice, Plan, Pooling, Task};
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

/// Hard negatives that people mine for a query.
const NEGATIVES: &[u64] = &[0, 1, 2, 3, 4, 5, 7, 10, 15];
/// Mini-batches of GradCache that people use.
const MINI_BATCHES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256];

/// What runs.
pub(super) fn task_fields(page: &Page) -> Vec<Element> {
    let mut fields = vec![choice(page, "task", |t, name| Task::from_name(name).map_or(NO_CHOICE, t.task))];
    if page.plan().task == Task::SequenceClassification {
        fields.push(slid(page, "num_labels", LABELS));
    }
    if page.plan().task == Task::Embedding {
        fields.extend(embedding_fields(page));
    }
    fields
}

/// How texts become vectors, and what they are compared with.
fn embedding_fields(page: &Page) -> Vec<Element> {
    let mut fields = vec![
        choice(page, "pooling", |t, name| Pooling::from_name(name).map_or(NO_CHOICE, t.pooling)),
        choice(page, "embedding.loss", |t, name| EmbeddingLoss::from_name(name).map_or(NO_CHOICE, t.embedding_loss)),
        slid(page, "embedding.num_negatives", NEGATIVES),
    ];
    if page.plan().caches_gradients() {
        fields.push(slid(page, "embedding.mini_batch_size", MINI_BATCHES));
    }
    fields
}

/// Model and its facts.
pub(super) fn fields(page: &Page) -> Vec<Element> {
    let mut fields = vec![combobox::draw(page, 0), own_config::draw(page)];
    fields.extend(facts(page));
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

/// The figures that formulas speak of, under the letters that they have there.
fn facts(page: &Page) -> Option<Element> {
    let model = page.job.as_ref().ok()?.model();
    let attention = model.first_attention();
    let figures = [
        ("L", Some(model.num_hidden_layers())),
        ("h", Some(model.hidden_size)),
        ("V", Some(model.vocab_size)),
        ("a", attention.map(|attention| attention.num_attention_heads)),
        ("k", attention.map(|attention| attention.num_key_value_heads)),
        ("d", attention.map(|attention| attention.head_dim)),
    ];
    let mut symbols = el("ul").class("symbols");
    for ((symbol, value), name) in figures.into_iter().zip(page.texts.form.symbols) {
        if let Some(value) = value {
            let said = el("li").text(name).text("\u{a0}").with(el("var").text(symbol)).text("\u{a0}");
            symbols = symbols.with(said.with(el("b").text(&count_text(value)))).text(" ");
        }
    }
    let params = el("p").with(el("strong").text(&count_text(model.param_count()))).text(" ");
    Some(el("div").key("facts").class("facts").with(params.text(page.texts.parameters)).with(symbols))
}
