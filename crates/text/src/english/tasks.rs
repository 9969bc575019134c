//! Preference and reinforcement tasks in English.

use headroom_core::memory::{ModelRole, Phase};
use headroom_core::plan::{InstanceRole, KvCacheDtype, ReferenceKind, RolloutEngine, Round, Task, VllmMode};
use headroom_core::units::count_text;

use super::terms;
use crate::labels::{ChoiceText, choice, field};
use crate::tasks::{TaskFields, TaskTexts};

pub(super) const TEXTS: TaskTexts = TaskTexts {
    section: "Preference and reinforcement",
    rollout_group: "Generation",
    fields: TaskFields {
        reference: field("Reference", "", "Where the frozen policy that training is held to comes from."),
        cpo_alpha: field("Weight of cross-entropy", "", "0 leaves it out, and its copy of half the logits with it."),
        beta: field("Weight of the reference", "", "0 drops the reference, and its memory with it."),
        num_generations: field(
            "Answers to each prompt",
            "sequences",
            "The group that rewards are compared in; it has to divide the generation batch.",
        ),
        prompts: field(
            "Prompts a round",
            "prompts",
            "On all GPUs together; empty: as many as batch and accumulation make.",
        ),
        steps_per_generation: field(
            "Forwards a round",
            "forwards",
            "Micro-batches that one generation round is cut into; empty: the accumulation steps.",
        ),
        num_iterations: field("Iterations", "", "How many updates each round of answers serves (μ)."),
        max_prompt_length: field("Prompt length", "tokens", "Every prompt is counted at this length."),
        max_completion_length: field("Answer length", "tokens", "The most that is generated after a prompt."),
        sequences_at_once: field(
            "Sequences at once",
            "sequences",
            "How many generate side by side on one GPU; empty: all of the GPU's share.",
        ),
        engine: field("Engine", "", "What generates the answers; vLLM and SGLang hold a second copy of the weights."),
        vllm_mode: field("Where it runs", "", "On a server's GPUs it takes nothing from those that train."),
        memory_share: field(
            "Share of the GPU",
            "",
            "vLLM's of the total memory: weights, cache, graphs and profiling. SGLang's of what is free. 0 to 1.",
        ),
        tensor_parallel_size: field("GPUs for one engine", "GPUs", "They shard its weights and its cache."),
        sleep_mode: field("Sleep while training", "", "The engine gives weights and cache back during the update."),
        max_model_length: field(
            "vLLM's longest sequence",
            "tokens",
            "Its cache must hold one this long; empty: as the trainer does, since TRL 0.26 the model's own longest.",
        ),
        kv_cache_dtype: field("KV cache dtype", "", "fp8 halves the cache of each sequence."),
        enforce_eager: field("No CUDA graphs", "", "Saves what captured graphs hold, and generates more slowly."),
        use_liger_loss: field("Liger loss", "", "The loss over chunks of the logits: full logits never exist."),
        padding_free: field("Padding-free", "", "Sequences are laid end to end, so that no padding is computed."),
    },
    reference,
    engine,
    mode,
    kv_cache,

    models_group: "Models beside the policy",
    models_help: "Reward models, judges, simulated users: frozen, and counted once where they share the policy's weights.",
    value_model: "Value model",
    model_number: |number| format!("Model {number}"),
    add_model: "Add a model",
    remove: "Remove",
    role_label: "Role",
    model_label: "Model",
    policys_model: "the policy's",
    weights_label: "Weights",
    weights_as_loaded: "as loaded",
    shared_label: "Shares the policy's weights",
    host_label: "In host memory while it does not run",
    instance_role,

    effective_pairs: |batch, steps, gpus, effective| {
        let noun = if effective == 1 { "pair" } else { "pairs" };
        format!("{batch} × {steps} × {gpus} = {effective} {noun} a step")
    },
    pairs_note: |sequences| format!("A pair is two sequences: {sequences} in one forward."),
    texts_note: |all, each| format!("The batch counts queries, each of {each} texts with its documents: {all} in all."),
    round: |round| round_text(round),

    timeline_peak: |bytes, place| format!("{bytes} · {place}"),
    models_title: "Models on the GPU",
    models_table: "Models as a table",
    models_intro: "Weights of each model that takes part, at the most they ever are on one GPU.",
    sharing_saves: |bytes| format!("Sharing saves {bytes}."),
    column_role: "Role",
    column_weights: "Weights",
    column_place: "Place",
    column_bytes: "On the GPU",
    column_shared: "Sharing",
    model_role,
    on_gpu: "GPU",
    in_host: "host between uses",
    not_loaded: "not loaded",
    shared_saving: |bytes| format!("with the policy, saves {bytes}"),
    precomputed_saving: |bytes| format!("computed beforehand, saves {bytes}"),
    own_weights: "own weights",
};

fn round_text(round: &Round) -> String {
    let Round { prompts, num_generations, sequences, sequences_per_gpu, sequences_at_once, forwards } = *round;
    let sequences = count_text(sequences);
    let mut said = format!("Generation round: {prompts} prompts × {num_generations} answers = {sequences} sequences");
    if sequences_per_gpu.to_string() != sequences {
        said.push_str(&format!(", {sequences_per_gpu} on each GPU"));
    }
    if sequences_at_once < sequences_per_gpu {
        said.push_str(&format!(", {sequences_at_once} at once"));
    }
    let noun = if forwards == 1 { "micro-batch" } else { "micro-batches" };
    format!("{said}; cut into {forwards} {noun}.")
}

fn reference(kind: ReferenceKind) -> ChoiceText {
    match kind {
        ReferenceKind::Auto => choice("Auto", "adapter off for LoRA, a copy otherwise"),
        ReferenceKind::Copy => choice("Copy", "a second, frozen model"),
        ReferenceKind::AdapterDisabled => choice("Adapter off", "the policy without its adapter"),
        ReferenceKind::Precomputed => choice("Precomputed", "a pass of its own before training"),
        ReferenceKind::None => choice("None", ""),
    }
}

fn engine(engine: RolloutEngine) -> ChoiceText {
    match engine {
        RolloutEngine::Generate => choice("generate", "transformers, the weights that train"),
        RolloutEngine::Vllm => choice("vLLM", "a share of the GPU"),
        RolloutEngine::Sglang => choice("SGLang", "a share of what is free"),
    }
}

fn mode(mode: VllmMode) -> ChoiceText {
    match mode {
        VllmMode::Colocate => choice("Colocated", "on the GPUs that train"),
        VllmMode::Server => choice("Server", "on GPUs of its own"),
    }
}

fn kv_cache(dtype: KvCacheDtype) -> ChoiceText {
    match dtype {
        KvCacheDtype::Auto => choice("Auto", "as the weights"),
        KvCacheDtype::Bfloat16 => choice("bf16", ""),
        KvCacheDtype::Fp8 => choice("fp8", "1 byte an element"),
    }
}

fn instance_role(role: InstanceRole) -> &'static str {
    match role {
        InstanceRole::Value => "Value model",
        InstanceRole::Reward => "Reward model",
        InstanceRole::Judge => "Judge",
        InstanceRole::SimulatedUser => "Simulated user",
    }
}

fn model_role(role: ModelRole) -> &'static str {
    match role {
        ModelRole::Policy => "Policy",
        ModelRole::Reference => "Reference",
        ModelRole::Companion(role) => instance_role(role),
        ModelRole::Engine => "Rollout engine",
    }
}

pub(super) fn peak(task: Task, phase: Phase) -> String {
    let name = terms::phase(phase);
    let mut letters = name.chars();
    let name = letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_lowercase(), letters.as_str()));
    match (task, phase) {
        (Task::Grpo | Task::Rloo | Task::Ppo, Phase::Prefill | Phase::Decode) => {
            format!("Peak: {name} of the generation, not the policy update")
        }
        (Task::Grpo | Task::Rloo | Task::Ppo, Phase::Generation) => format!("Peak: {name}, not the policy update"),
        (
            Task::Grpo | Task::Rloo | Task::Ppo,
            Phase::Forward
            | Phase::Loss
            | Phase::LossBackward
            | Phase::Backward
            | Phase::GradientClipping
            | Phase::OptimizerStep,
        ) => format!("Peak: {name} of the policy update, not generation"),
        (Task::Grpo | Task::Rloo | Task::Ppo, Phase::OldLogProbs | Phase::ReferenceForward | Phase::RewardForward) => {
            format!("Peak: {name}, between generation and the policy update")
        }
        _ => format!("Peak: {name}"),
    }
}
