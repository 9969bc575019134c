//! What only preference and reinforcement tasks have: the reference, the groups of answers, what generates them.

use headroom_core::plan::{KvCacheDtype, Plan, ReferenceKind, RolloutEngine, Task, VllmMode};
use leptos::prelude::*;

use super::advanced::LOSS_TYPES;
use super::choice_field::ChoiceField;
use super::models::ModelsFields;
use super::number_field::NumberField;
use super::rows::{Row, Rows, row};
use super::switch_field::SwitchField;
use crate::state::State;
use crate::text::{ChoiceText, Texts, text};

/// Group sizes that people use.
const GENERATIONS: &[u64] = &[2, 3, 4, 6, 8, 12, 16, 24, 32, 64];
/// Lengths that people give prompts and answers.
const LENGTHS: &[u64] =
    &[64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 20480, 32768];

/// Which fields a task has.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Parts {
    reference: bool,
    beta: bool,
    groups: bool,
    lengths: bool,
    liger_loss: bool,
    padding_free: bool,
    loss_type: bool,
    cpo_alpha: bool,
}

impl Parts {
    fn of(plan: &Plan) -> Self {
        let task = plan.task;
        Self {
            // GRPO without a weight has no reference.
            reference: match task {
                Task::Dpo | Task::Kto | Task::Ppo => true,
                Task::Rloo => plan.policy.beta.is_none_or(|beta| beta > 0.0),
                Task::Grpo => {
                    plan.policy.beta.is_some_and(|beta| beta > 0.0) || plan.reference.kind != ReferenceKind::Auto
                }
                _ => false,
            },
            beta: matches!(task, Task::Grpo | Task::Rloo),
            groups: matches!(task, Task::Grpo | Task::Rloo),
            lengths: plan.is_reinforcement(),
            liger_loss: matches!(task, Task::Dpo | Task::Grpo),
            padding_free: task == Task::Dpo && (plan.can_flatten_batch() || plan.policy.padding_free),
            loss_type: matches!(task, Task::Grpo | Task::Cpo),
            cpo_alpha: task == Task::Cpo,
        }
    }
}

/// Whether `task` has fields of this section.
fn has_fields(task: Task) -> bool {
    matches!(task, Task::Reward | Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo | Task::Grpo | Task::Rloo | Task::Ppo)
}

/// The section, for the tasks that have one.
#[component]
pub(super) fn TaskSection() -> impl IntoView {
    let plan = State::of_page().plan();
    view! {
        <Show when=move || has_fields(plan.read().task)>
            <section class="form-section" aria-labelledby="task-title">
                <h3 id="task-title">{text(|t| t.tasks.section)}</h3>
                <div class="fields"><TaskFields/></div>
            </section>
        </Show>
    }
}

/// How GRPO weighs tokens, and what CPO makes of the margin.
const LOSS_TYPE: &[Row] = &[row("loss_type", |t| &t.fields.loss_type, LOSS_TYPES)];

#[component]
fn TaskFields() -> impl IntoView {
    let plan = State::of_page().plan();
    let when = move |holds: fn(&Plan) -> bool| move || holds(&plan.read());
    view! {
        <Show when=when(|plan| Parts::of(plan).groups)>
            <NumberField
                name="rollout.num_generations"
                words=|t| &t.tasks.fields.num_generations
                stops=GENERATIONS
                usual=|plan| plan.rollout.num_generations() as f64
            />
        </Show>
        <Show when=when(|plan| Parts::of(plan).lengths)>
            <NumberField
                name="rollout.max_prompt_length"
                words=|t| &t.tasks.fields.max_prompt_length
                stops=LENGTHS
                usual=|plan| plan.rollout.max_prompt_length() as f64
            />
            <NumberField
                name="rollout.max_completion_length"
                words=|t| &t.tasks.fields.max_completion_length
                stops=LENGTHS
                usual=|plan| plan.rollout.max_completion_length() as f64
            />
        </Show>
        <Show when=when(|plan| Parts::of(plan).beta)>
            <NumberField name="beta" words=|t| &t.tasks.fields.beta usual=|_| 0.0/>
        </Show>
        <Show when=when(|plan| Parts::of(plan).loss_type)><Rows rows=LOSS_TYPE/></Show>
        <Show when=when(|plan| Parts::of(plan).cpo_alpha)>
            <NumberField name="cpo_alpha" words=|t| &t.tasks.fields.cpo_alpha usual=|_| 1.0/>
        </Show>
        <Show when=when(|plan| Parts::of(plan).reference)>
            <ChoiceField
                name="reference.kind"
                words=|t| &t.tasks.fields.reference
                value_words=|t, name| named(t, ReferenceKind::from_name(name).map(t.tasks.reference))
            />
        </Show>
        <Show when=when(|plan| Parts::of(plan).liger_loss)>
            <SwitchField name="use_liger_loss" words=|t| &t.tasks.fields.use_liger_loss/>
        </Show>
        <Show when=when(|plan| Parts::of(plan).padding_free)>
            <SwitchField name="padding_free" words=|t| &t.tasks.fields.padding_free/>
        </Show>
        <Show when=when(|plan| Parts::of(plan).lengths)><RolloutFields/></Show>
        <ModelsFields/>
    }
}

/// What generates, and with how much of the GPU.
#[component]
fn RolloutFields() -> impl IntoView {
    let plan = State::of_page().plan();
    // One type of condition, and with it one compiled view of showing.
    let when = move |holds: fn(&Plan) -> bool| move || holds(&plan.read());
    view! {
        <h4>{text(|t| t.tasks.rollout_group)}</h4>
        <ChoiceField
            name="rollout.engine"
            words=|t| &t.tasks.fields.engine
            value_words=|t, name| named(t, RolloutEngine::from_name(name).map(t.tasks.engine))
        />
        <Show when=when(|plan| plan.rollout.engine() != RolloutEngine::Generate)>
            <div class="subfields">
                <ChoiceField
                    name="rollout.vllm_mode"
                    words=|t| &t.tasks.fields.vllm_mode
                    value_words=|t, name| named(t, VllmMode::from_name(name).map(t.tasks.mode))
                />
                <Show when=when(|plan| plan.rollout.is_colocated())>
                    <NumberField
                        name="rollout.vllm_gpu_memory_utilization"
                        words=|t| &t.tasks.fields.memory_share
                        usual=|plan| plan.rollout.memory_share()
                    />
                    <ChoiceField
                        name="rollout.kv_cache_dtype"
                        words=|t| &t.tasks.fields.kv_cache_dtype
                        value_words=|t, name| named(t, KvCacheDtype::from_name(name).map(t.tasks.kv_cache))
                    />
                    <Show when=when(|plan| plan.num_gpus > 1)>
                        <NumberField
                            name="rollout.vllm_tensor_parallel_size"
                            words=|t| &t.tasks.fields.tensor_parallel_size
                            usual=|plan| plan.rollout.tensor_parallel_size() as f64
                        />
                    </Show>
                    <SwitchField name="rollout.vllm_enable_sleep_mode" words=|t| &t.tasks.fields.sleep_mode/>
                    <SwitchField name="rollout.enforce_eager" words=|t| &t.tasks.fields.enforce_eager/>
                </Show>
            </div>
        </Show>
        <NumberField name="rollout.sequences_at_once" words=|t| &t.tasks.fields.sequences_at_once/>
        <Show when=when(|plan| Parts::of(plan).groups)>
            <NumberField name="steps_per_generation" words=|t| &t.tasks.fields.steps_per_generation/>
            <NumberField name="num_iterations" words=|t| &t.tasks.fields.num_iterations/>
            <NumberField name="rollout.prompts" words=|t| &t.tasks.fields.prompts/>
        </Show>
    }
}

/// The words for a value, or for leaving it to the trainer.
fn named(texts: &'static Texts, words: Option<ChoiceText>) -> ChoiceText {
    words.unwrap_or(ChoiceText { label: texts.tasks.trainer_decides, gloss: "" })
}
