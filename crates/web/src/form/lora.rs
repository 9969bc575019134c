//! Adapters.

use headroom_core::plan::{TargetModules, attention_module_names};
use leptos::prelude::*;

use super::field::{FieldWords, Help, Label, described_by, id_of, sentence};
use super::number_field::{DraftInput, NumberField};
use crate::state::State;
use crate::text::{text, texts};

/// Ranks that people use.
const RANKS: &[u64] = &[4, 8, 16, 32, 64, 128, 256];
/// The projections of attention in most models.
const ATTENTION: [&str; 4] = ["q_proj", "k_proj", "v_proj", "o_proj"];

/// Rank, targets, dropout.
#[component]
pub(super) fn LoraFields() -> impl IntoView {
    view! {
        <div class="subfields">
            <NumberField name="lora.r" words=|t| &t.fields.lora_r stops=RANKS/>
            <TargetsField/>
            <NumberField name="lora.lora_dropout" words=|t| &t.fields.lora_dropout/>
        </div>
    }
}

/// Whether two lists hold the same names, in whatever order.
fn same_names(one: &[String], other: &[String]) -> bool {
    one.len() == other.len() && one.iter().all(|name| other.contains(name))
}

/// Which modules are adapted: the two usual sets, or names.
#[component]
fn TargetsField() -> impl IntoView {
    const NAME: &str = "lora.target_modules";
    let words: FieldWords = |t| &t.fields.lora_targets;
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let refusal = RwSignal::new(None);
    let kept = sentence(refusal.into(), true);
    let objected = sentence(state.problem(NAME).into(), false);
    let error = Signal::derive(move || kept.get().or_else(|| objected.get()));
    // "By name" is the reader's wish as much as a property of the plan: the usual sets can be reached by name too.
    let by_name = RwSignal::new(false);
    // What this model calls them; nothing while the model is not known.
    let attention = move || {
        let job = state.job.read();
        let names = job.as_ref().map(|job| attention_module_names(job.model())).unwrap_or_default();
        names.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let usual = move || match &plan.read().lora.target_modules {
        TargetModules::AllLinear => Some("all-linear"),
        TargetModules::Names(names) if same_names(names, &attention()) => Some("attention"),
        TargetModules::Names(_) => None,
    };
    let chosen = Memo::new(move |_| if by_name.get() { "names" } else { usual().unwrap_or("names") });
    let choose = move |event| {
        let choice = event_target_value(&event);
        by_name.set(choice == "names");
        let attention = attention();
        let names = if attention.is_empty() { ATTENTION.map(str::to_owned).to_vec() } else { attention };
        state.choose(&[NAME], |plan| match (choice.as_str(), &plan.lora.target_modules) {
            ("all-linear", _) => plan.lora.target_modules = TargetModules::AllLinear,
            ("attention", _) | (_, TargetModules::AllLinear) => plan.lora.target_modules = TargetModules::Names(names),
            _ => {}
        });
    };
    view! {
        <div class="field" class:invalid=move || error.read().is_some()>
            <Label name=NAME words/>
            <select id=id_of(NAME) on:change=choose aria-describedby=described_by(NAME, error)>
                <option value="all-linear" prop:selected=move || chosen.get() == "all-linear">
                    {text(|t| t.all_linear)}
                </option>
                <option value="attention" prop:selected=move || chosen.get() == "attention">
                    {text(|t| t.attention_only)}
                </option>
                <option value="names" prop:selected=move || chosen.get() == "names">{text(|t| t.named_modules)}</option>
            </select>
            <Show when=move || chosen.get() == "names">
                <DraftInput
                    name=NAME
                    id=format!("{}-names", id_of(NAME))
                    refusal
                    error
                    label=Signal::derive(move || texts.get().named_modules_label)
                />
            </Show>
            <Help name=NAME words error/>
        </div>
    }
}
