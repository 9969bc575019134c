//! After a choice: the nearest plan that keeps it and can be estimated.

use super::{Job, models};
use crate::order;
use crate::plan::{
    Dtype, Kind, Plan, Problem, ProblemKind, RolloutEngine, TargetModules, attention_module_names, field,
    unmatched_targets,
};

/// Most fields that one choice moves: a chain of dependent fields is shorter.
const MOST_CHANGES: usize = 8;

impl Plan {
    /// The plan with other fields changed until nothing contradicts the fields `chosen`, which keep their values where any
    /// value of another field allows it: GRPO chosen with one sequence a forward gets a batch that its groups divide.
    ///
    /// `None` where no change of one field at a time leads to a plan that can be estimated: an unknown model, say.
    pub fn settled(&self, chosen: &[&str]) -> Option<Self> {
        let mut plan = self.clone();
        if chosen.contains(&"model") {
            // Targets of the model before it: peft would pass over them, and nobody meant that.
            move_targets(&mut plan);
        }
        for _ in 0..MOST_CHANGES {
            let Err(problems) = Job::resolve(&plan) else { return Some(plan) };
            plan = without_one(&plan, &problems, chosen)?;
        }
        Job::resolve(&plan).is_ok().then_some(plan)
    }
}

/// `plan` with one of its problems solved; a chosen field changes only where nothing else helps.
fn without_one(plan: &Plan, problems: &[Problem], chosen: &[&str]) -> Option<Plan> {
    let solves = |problem: &Problem, (name, value): &(String, String)| {
        let mut trial = plan.clone();
        field(name)?.set_text(&mut trial, value).ok()?;
        let left = Job::resolve(&trial).err().unwrap_or_default();
        (trial != *plan && !left.contains(problem) && left.len() <= problems.len()).then_some(trial)
    };
    let is_chosen = |fix: &(String, String)| chosen.contains(&fix.0.as_str());
    let all: Vec<(&Problem, (String, String))> =
        problems.iter().flat_map(|problem| fixes(plan, problem).into_iter().map(move |fix| (problem, fix))).collect();
    let (last, first): (Vec<_>, Vec<_>) = all.iter().partition(|(_, fix)| is_chosen(fix));
    first.into_iter().chain(last).find_map(|(problem, fix)| solves(problem, fix))
}

/// Fields and values that may solve `problem`, the likeliest first.
fn fixes(plan: &Plan, problem: &Problem) -> Vec<(String, String)> {
    let own = |value: String| (problem.field.clone(), value);
    match &problem.kind {
        ProblemKind::Contradiction { other, fix } => {
            let others = values(other).into_iter().map(|value| (other.clone(), value.to_owned()));
            std::iter::once(own(fix.clone())).chain(others).collect()
        }
        ProblemKind::EngineShare { in_16_bits: Some(_), .. } => vec![own(Dtype::Bfloat16.name().to_owned())],
        ProblemKind::EngineShare { least, shorter, .. } => {
            let shorter = shorter.as_ref().map(|(length, _)| length.to_string());
            // Where no share works the trainer has to generate by itself.
            let without = ("rollout.engine".to_owned(), RolloutEngine::Generate.name().to_owned());
            vec![least.clone().or(shorter).map_or(without, own)]
        }
        ProblemKind::NotDivisible { value, nearest, .. } => {
            let mut nearest = nearest.clone();
            order::sort(&mut nearest, |one, other| one.abs_diff(*value).cmp(&other.abs_diff(*value)));
            nearest.iter().map(|value| own(value.to_string())).collect()
        }
        ProblemKind::OutOfRange { value, min, max } => {
            let [value, least, most] = [value, min, max].map(|text| text.parse::<f64>().unwrap_or_default());
            let own = own(if value < least { min } else { max }.clone());
            // A prompt that leaves its answer next to nothing is what is too long.
            let crowded = problem.field == "rollout.max_completion_length" && most * 2.0 < value;
            let half = (plan.rollout.max_prompt_length() / 2).max(1).to_string();
            // An answer longer than all positions is cut first: no prompt is short enough for it.
            let positions = most as u64 + plan.rollout.max_prompt_length();
            let longer = crowded && value > positions as f64;
            let cut = longer.then(|| (problem.field.clone(), (positions / 2).max(1).to_string()));
            let shorter = crowded.then(|| ("rollout.max_prompt_length".to_owned(), half));
            cut.into_iter().chain(shorter).chain([own]).collect()
        }
        ProblemKind::NoSuchModule { name, .. } if problem.field == "lora.target_modules" => {
            vec![own(other_targets(plan, name))]
        }
        ProblemKind::NoSuchModule { name, .. } if problem.field == "freeze" => {
            let kept = plan.freeze.iter().filter(|other| *other != name);
            vec![own(kept.map(String::as_str).collect::<Vec<_>>().join(","))]
        }
        ProblemKind::NoSuchModule { name, .. } => {
            let kept = plan.lora.modules_to_save.iter().filter(|other| *other != name);
            vec![own(kept.map(String::as_str).collect::<Vec<_>>().join(","))]
        }
        ProblemKind::NotModelled { modelled, .. } => {
            modelled.first().map(|value| own((*value).to_owned())).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Puts the adapters of a plan whose model has not all of their targets on what it has instead.
fn move_targets(plan: &mut Plan) {
    let Ok(model) = models::read(&plan.model, plan, plan.sees_images()) else { return };
    let unmatched: Vec<String> = unmatched_targets(plan, &model).into_iter().map(str::to_owned).collect();
    let TargetModules::Names(names) = &plan.lora.target_modules else { return };
    if unmatched.is_empty() || unmatched.len() == names.len() {
        // Of a list that matches nothing the problem says so.
        return;
    }
    for name in unmatched {
        let moved = other_targets(plan, &name);
        // A field of a fixed name takes a list of modules that the model has.
        if let Some(field) = field("lora.target_modules") {
            let _ = field.set_text(plan, &moved);
        }
    }
}

/// What the adapters can sit on where the model has no module `missing`: where the others are attention's, this model's
/// attention; otherwise the others, and all linear layers where there are none.
fn other_targets(plan: &Plan, missing: &str) -> String {
    let TargetModules::Names(names) = &plan.lora.target_modules else { return "all-linear".to_owned() };
    let kept: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != missing).collect();
    let model = models::read(&plan.model, plan, plan.sees_images()).ok();
    let attention = model.as_ref().map(|model| attention_module_names(model)).unwrap_or_default();
    let exist = |name: &&&str| attention.contains(*name);
    match kept.iter().filter(exist).count() {
        _ if kept.is_empty() => "all-linear".to_owned(),
        of_attention if of_attention == kept.len() => attention.join(","),
        _ => kept.join(","),
    }
}

/// Every value of the field called `name`, where it has a few.
fn values(name: &str) -> Vec<&'static str> {
    match field(name).map(|field| field.kind) {
        Some(Kind::Choice(names) | Kind::OptionalChoice(names)) => names.to_vec(),
        Some(Kind::Flag | Kind::OptionalFlag | Kind::AutoFlag) => vec!["true", "false"],
        Some(Kind::Integer { min: 0, max: max @ 0..=9 }) => {
            ["0", "1", "2", "3"].into_iter().take(max as usize + 1).collect()
        }
        _ => Vec::new(),
    }
}
