//! Adapters.

use headroom_core::job::Job;
use headroom_core::plan::{Method, TargetModules, attention_module_names};
use headroom_view::{Element, el};

use super::field::{described_by, help, id_of, label, place};
use super::number::{error_of, input, slid, typed};
use crate::page::Page;
use crate::state::State;

/// Ranks that people use.
const RANKS: &[u64] = &[4, 8, 16, 32, 64, 128, 256];
/// The projections of attention in most models.
const ATTENTION: [&str; 4] = ["q_proj", "k_proj", "v_proj", "o_proj"];
const TARGETS: &str = "lora.target_modules";

/// Rank, targets, dropout.
pub(super) fn fields(page: &Page) -> Element {
    let fields = vec![slid(page, "lora.r", RANKS), targets(page), typed(page, "lora.lora_dropout")];
    el("div").key("lora").class("subfields").with_all(fields)
}

/// Whether the lists hold the same names, in whatever order.
fn same_names(given: &[String], usual: &[&str]) -> bool {
    given.len() == usual.len() && given.iter().all(|name| usual.contains(&name.as_str()))
}

/// Which way of naming the targets is in use: a usual set, or names.
fn way(page: &Page) -> &'static str {
    // What this model calls them; nothing while the model is not known.
    let attention = page.job.as_ref().map(|job| attention_module_names(job.model())).unwrap_or_default();
    match &page.plan().lora.target_modules {
        // "By name" is the reader's wish as much as a property of the plan: the usual sets can be reached by name too.
        _ if page.state.form.targets_by_name => "names",
        TargetModules::AllLinear => "all-linear",
        TargetModules::Names(names) if same_names(names, &attention) => "attention",
        TargetModules::Names(_) => "names",
    }
}

/// Which modules are adapted: the two usual sets, or names.
fn targets(page: &Page) -> Element {
    let error = error_of(page, TARGETS);
    let error = error.as_deref();
    let way = way(page);
    let option = |(value, name): (&'static str, &str)| {
        el("option").attr("value", value).flag("selected", value == way).text(name)
    };
    let texts = page.texts;
    let ways = [("all-linear", texts.all_linear), ("attention", texts.attention_only), ("names", texts.named_modules)];
    let select = el("select")
        .attr("id", &id_of(TARGETS))
        .attr("data-set", "choose-targets")
        .attr("aria-describedby", &described_by(TARGETS, error))
        .with_all(ways.into_iter().map(option).collect());
    let names = if way == "names" {
        let names = input(page, TARGETS, &(id_of(TARGETS) + "-names"), error).key("names");
        Some(names.attr("aria-label", texts.named_modules_label))
    } else {
        None
    };
    place(TARGETS, "", error)
        .with(label(page, TARGETS))
        .with(select)
        .with_some(names)
        .with_all(help(page, TARGETS, error))
}

/// Takes one of the ways of naming the targets.
pub(super) fn choose_targets(state: &mut State, way: &str) {
    state.form.targets_by_name = way == "names";
    let job = Job::resolve(state.plan());
    let own = job.as_ref().map(|job| attention_module_names(job.model())).unwrap_or_default();
    let attention: &[&str] = if own.is_empty() { &ATTENTION } else { &own };
    let names: Vec<String> = attention.iter().map(|name| (*name).to_owned()).collect();
    state.choose(&[TARGETS], |plan| match (way, &plan.lora.target_modules) {
        ("all-linear", _) => plan.lora.target_modules = TargetModules::AllLinear,
        ("attention", _) | (_, TargetModules::AllLinear) => plan.lora.target_modules = TargetModules::Names(names),
        _ => {}
    });
}

/// The wish for names goes with the adapters.
pub(super) fn settle(state: &mut State) {
    if state.plan().method == Method::Full {
        state.form.targets_by_name = false;
    }
}
