//! Names of modules, as peft matches them.

use super::adapter_targets::{self, AdapterTargets};
use super::{Method, Plan, Problem, ProblemKind, TargetModules, Task};
use crate::model::{Model, ModelKind, Module, ModuleKind, Role};

/// Name of the language-model head; it exists also where it is the token embedding.
const HEAD: &str = "lm_head";

/// What the classes of classifiers call their head.
const CLASSIFIER_HEADS: &[&str] = &["score", "classifier"];

/// Whether peft takes `name`, one of `target_modules` or `modules_to_save`, for the module whose dotted name is `module`:
/// the whole name, or its end after a dot.
///
/// ```
/// use headroom_core::plan::names_module;
/// assert!(names_module("q_proj", "self_attn.q_proj") && names_module("attn.c_proj", "attn.c_proj"));
/// assert!(!names_module("proj", "self_attn.q_proj"));
/// ```
pub fn names_module(name: &str, module: &str) -> bool {
    module.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// Last parts of the names of the layers' linear modules, each once, in the model's order: what a list of targets can hold.
pub fn linear_module_names(model: &Model) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for module in model.layer_kinds().flat_map(|(layer, _)| &layer.modules) {
        let last = module.name.rsplit('.').next().unwrap_or(&module.name);
        if matches!(module.kind, ModuleKind::Linear { .. }) && !names.contains(&last) {
            names.push(last);
        }
    }
    names
}

/// The same of attention alone.
pub fn attention_module_names(model: &Model) -> Vec<&str> {
    let is_attention = |role: Role| {
        use Role::{KeyValueDown, KeyValueUp, Output, Query, QueryDown, QueryKeyValue};
        matches!(role, Query | QueryDown | Role::Key | Role::Value | QueryKeyValue | KeyValueDown | KeyValueUp | Output)
    };
    let mut names: Vec<&str> = Vec::new();
    for module in model.layer_kinds().flat_map(|(layer, _)| &layer.modules).filter(|module| is_attention(module.role)) {
        // The last part alone where no module outside attention shares it.
        let last = module.name.rsplit('.').next().unwrap_or(&module.name);
        let shared = modules(model).any(|other| !is_attention(other.role) && names_module(last, &other.name));
        let name = if shared { module.name.as_str() } else { last };
        if matches!(module.kind, ModuleKind::Linear { .. }) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether peft parts the head of a model that ties it from the token embedding: it trains a copy of either, or puts an
/// adapter on the head.
pub(crate) fn unties_head(plan: &Plan, model: &Model) -> bool {
    let table = model.embeddings.iter().find(|module| module.role == Role::TokenEmbedding);
    let saves = |module: &str| plan.lora.modules_to_save.iter().any(|saved| names_module(saved, module));
    model.tie_word_embeddings
        && has_head(plan, model)
        && plan.task != Task::Embedding
        && (saves(HEAD) || targets_head(plan) || table.is_some_and(|table| saves(&table.name)))
}

/// Whether an adapter sits on the language-model head.
pub(crate) fn targets_head(plan: &Plan) -> bool {
    match &plan.lora.target_modules {
        TargetModules::Names(names) => names.iter().any(|target| names_module(target, HEAD)),
        TargetModules::AllLinear => false,
    }
}

/// Whether an adapter sits on the table of token embeddings.
pub(crate) fn adapts_table(plan: &Plan, model: &Model) -> bool {
    let TargetModules::Names(names) = &plan.lora.target_modules else { return false };
    let table = model.embeddings.iter().find(|module| module.role == Role::TokenEmbedding);
    table.is_some_and(|table| names.iter().any(|target| names_module(target, &table.name)))
}

fn modules(model: &Model) -> impl Iterator<Item = &Module> {
    let layers = model.layer_kinds().flat_map(|(layer, _)| &layer.modules);
    model.embeddings.iter().chain(layers).chain(&model.final_modules).chain(&model.head)
}

/// Names in `lora.target_modules` that no module of `model` has. peft passes over them without a word as long as another target is
/// found (tuners/tuners_utils.py `inject_adapter`); where none is, it raises.
pub fn unmatched_targets<'a>(plan: &'a Plan, model: &Model) -> Vec<&'a str> {
    let TargetModules::Names(names) = &plan.lora.target_modules else { return Vec::new() };
    if plan.method == Method::Full {
        return Vec::new();
    }
    let converted = AdapterTargets::of(plan, model);
    let has_head = has_head(plan, model);
    let is_there = |name: &str| {
        (has_head && name == HEAD)
            || converted.converts(name)
            || modules(model).any(|module| names_module(name, &module.name))
    };
    names.iter().map(String::as_str).filter(|name| !is_there(name)).collect()
}

fn has_head(plan: &Plan, model: &Model) -> bool {
    model.kind != ModelKind::Encoder && plan.task != Task::SequenceClassification
}

/// Problems of the names in `plan.lora` that no module of `model` has, or that adapters cannot sit on.
pub(crate) fn unknown_names(plan: &Plan, model: &Model) -> Vec<Problem> {
    if plan.method == Method::Full {
        return Vec::new();
    }
    let has_head = has_head(plan, model);
    let problem = |field: &str, name: &String| {
        let known = linear_module_names(model).into_iter().map(str::to_owned).collect();
        let kind = ProblemKind::NoSuchModule { name: name.clone(), known };
        Problem::new(field, kind)
    };
    // LoRA has layers for linear modules and embeddings, and refuses norms.
    let converted = AdapterTargets::of(plan, model);
    let is_target = |name: &str| {
        (has_head && name == HEAD)
            || converted.converts(name)
            || modules(model).any(|module| {
                matches!(module.kind, ModuleKind::Linear { .. } | ModuleKind::Embedding { .. })
                    && names_module(name, &module.name)
            })
    };
    let is_module = |name: &str| {
        (has_head && name == HEAD)
            || (plan.task != Task::Sft && CLASSIFIER_HEADS.contains(&name))
            || modules(model).any(|module| names_module(name, &module.name))
    };
    let targets = match &plan.lora.target_modules {
        TargetModules::AllLinear => &[],
        TargetModules::Names(names) => names.as_slice(),
    };
    let unmatched = unmatched_targets(plan, model);
    // Of bare parameters `adapter_targets` says what is not there: any that is left is found.
    let is_any_there = unmatched.len() < targets.len() || !plan.lora.target_parameters.is_empty();
    let is_passed_over = |name: &str| is_any_there && unmatched.contains(&name);
    let targets = targets.iter().filter(|name| !is_target(name) && !is_passed_over(name));
    let targets = targets.map(|name| problem("lora.target_modules", name));
    let saved = plan.lora.modules_to_save.iter().filter(|name| !is_module(name));
    let saved = saved.map(|name| problem("lora.modules_to_save", name));
    targets.chain(saved).chain(adapter_targets::problems(plan, model)).collect()
}
