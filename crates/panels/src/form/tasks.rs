//! What only preference and reinforcement tasks have: the reference, the groups of answers, what generates them.

use headroom_core::plan::{KvCacheDtype, Plan, ReferenceKind, RolloutEngine, Task, VllmMode};
use headroom_view::{Element, el};

use super::choice::{choice, or_trainer, switch};
use super::groups::group;
use super::number::{number, typed};
use super::rows::{Row, row};
use super::{advanced, companions};
use crate::page::Page;

/// Group sizes that people use.
const GENERATIONS: &[u64] = &[2, 3, 4, 6, 8, 12, 16, 24, 32, 64];
/// Lengths that people give prompts and answers.
const LENGTHS: &[u64] =
    &[64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 20480, 32768];

/// Whether `task` has fields of this section.
fn has_fields(task: Task) -> bool {
    matches!(task, Task::Reward | Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo | Task::Grpo | Task::Rloo | Task::Ppo)
}

/// The section, for the tasks that have one.
pub(super) fn section(page: &Page) -> Option<Element> {
    if !has_fields(page.plan().task) {
        return None;
    }
    let drawn = |page: &Page| vec![el("div").class("fields").with_all(fields(page))];
    Some(group(page, ("task", page.texts.tasks().section), NAMES, drawn))
}

/// The fields that the section may have.
pub(super) const NAMES: &[&str] = &[
    "rollout.num_generations",
    "beta",
    "loss_type",
    "cpo_alpha",
    "reference.kind",
    "use_liger_loss",
    "padding_free",
    "rollout.engine",
    "rollout.vllm_mode",
    "rollout.vllm_gpu_memory_utilization",
    "rollout.vllm_max_model_length",
    "rollout.kv_cache_dtype",
    "rollout.vllm_tensor_parallel_size",
    "rollout.vllm_enable_sleep_mode",
    "rollout.enforce_eager",
    "rollout.sequences_at_once",
    "steps_per_generation",
    "num_iterations",
    "rollout.prompts",
    "value_model",
    "reward_models",
    "instances",
];

/// How GRPO weighs tokens, and what CPO makes of the margin.
const LOSS_TYPE: Row = row("loss_type", advanced::LOSS_TYPES);

/// Whether answers come in groups to one prompt.
fn has_groups(plan: &Plan) -> bool {
    matches!(plan.task, Task::Grpo | Task::Rloo)
}

fn has_reference(plan: &Plan) -> bool {
    match plan.task {
        Task::Dpo | Task::Kto | Task::Ppo => true,
        Task::Rloo => plan.policy.beta.is_none_or(|beta| beta > 0.0),
        // GRPO without a weight has no reference.
        Task::Grpo => plan.policy.beta.is_some_and(|beta| beta > 0.0) || plan.reference.kind != ReferenceKind::Auto,
        _ => false,
    }
}

/// How long prompts and answers are, which the policy makes itself.
pub(super) fn lengths(page: &Page) -> [Element; 2] {
    let prompt = |plan: &Plan| plan.rollout.max_prompt_length() as f64;
    let completion = |plan: &Plan| plan.rollout.max_completion_length() as f64;
    [
        number(page, "rollout.max_prompt_length", LENGTHS, Some(prompt)),
        number(page, "rollout.max_completion_length", LENGTHS, Some(completion)),
    ]
}

fn fields(page: &Page) -> Vec<Element> {
    let plan = page.plan();
    let task = plan.task;
    let mut fields = Vec::new();
    if has_groups(plan) {
        let usual = |plan: &Plan| plan.rollout.num_generations() as f64;
        fields.push(number(page, "rollout.num_generations", GENERATIONS, Some(usual)));
    }
    if has_groups(plan) {
        fields.push(number(page, "beta", &[], Some(|_| 0.0)));
    }
    if matches!(task, Task::Grpo | Task::Cpo) {
        fields.extend(LOSS_TYPE.draw(page));
    }
    if task == Task::Cpo {
        fields.push(number(page, "cpo_alpha", &[], Some(|_| 1.0)));
    }
    if has_reference(plan) {
        fields.push(choice(page, "reference.kind", |t, name| {
            or_trainer(t, ReferenceKind::from_name(name).map(t.tasks().reference))
        }));
    }
    if matches!(task, Task::Dpo | Task::Grpo) {
        fields.push(switch(page, "use_liger_loss"));
    }
    if task == Task::Dpo && (plan.can_flatten_batch() || plan.policy.padding_free) {
        fields.push(switch(page, "padding_free"));
    }
    if plan.is_reinforcement() {
        fields.extend(rollout(page));
    }
    fields.extend(companions::draw(page));
    fields
}

/// What generates, and with how much of the GPU.
fn rollout(page: &Page) -> Vec<Element> {
    let plan = page.plan();
    let mut fields = vec![
        el("h4").key("rollout title").text(page.texts.tasks().rollout_group),
        choice(page, "rollout.engine", |t, name| or_trainer(t, RolloutEngine::from_name(name).map(t.tasks().engine))),
    ];
    if plan.rollout.engine() != RolloutEngine::Generate {
        fields.push(el("div").key("engine").class("subfields").with_all(engine(page)));
    }
    fields.push(typed(page, "rollout.sequences_at_once"));
    if has_groups(plan) {
        for name in ["steps_per_generation", "num_iterations", "rollout.prompts"] {
            fields.push(typed(page, name));
        }
    }
    fields
}

/// Where the engine runs, and what it takes of the GPU.
fn engine(page: &Page) -> Vec<Element> {
    let plan = page.plan();
    let mut fields =
        vec![choice(page, "rollout.vllm_mode", |t, name| or_trainer(t, VllmMode::from_name(name).map(t.tasks().mode)))];
    if plan.rollout.is_colocated() {
        let share = |plan: &Plan| plan.rollout.memory_share();
        fields.push(number(page, "rollout.vllm_gpu_memory_utilization", &[], Some(share)));
        if plan.rollout.engine() == RolloutEngine::Vllm {
            fields.push(typed(page, "rollout.vllm_max_model_length"));
        }
        fields.push(choice(page, "rollout.kv_cache_dtype", |t, name| {
            or_trainer(t, KvCacheDtype::from_name(name).map(t.tasks().kv_cache))
        }));
        if plan.num_gpus > 1 {
            let size = |plan: &Plan| plan.rollout.tensor_parallel_size() as f64;
            fields.push(number(page, "rollout.vllm_tensor_parallel_size", &[], Some(size)));
        }
        fields.push(switch(page, "rollout.vllm_enable_sleep_mode"));
        fields.push(switch(page, "rollout.enforce_eager"));
    }
    fields
}
