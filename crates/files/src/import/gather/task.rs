//! What is trained, where no class and no command says it: by the keys that one method alone has, and by folders and names.

use headroom_core::plan::{Task, TrainerName};

use crate::syntax::Entry;

/// Keys of `GRPOConfig` and its kin (trl trainer/grpo_config.py).
const REINFORCEMENT: [&str; 9] = [
    "num_generations",
    "reward_funcs",
    "max_completion_length",
    "use_vllm",
    "vllm_mode",
    "num_iterations",
    "reward_weights",
    "scale_rewards",
    "steps_per_generation",
];
/// Keys of `KTOConfig`.
const KTO: [&str; 2] = ["desirable_weight", "undesirable_weight"];
/// Keys of `CPOConfig`.
const CPO: [&str; 3] = ["cpo_alpha", "simpo_gamma", "gamma_beta_ratio"];
/// Keys of `DPOConfig` and its kin (trl trainer/dpo_config.py).
const PREFERENCE: [&str; 9] = [
    "beta",
    "precompute_ref_log_probs",
    "rpo_alpha",
    "ref_model_init_kwargs",
    "sync_ref_model",
    "label_smoothing",
    "f_divergence_type",
    "max_prompt_length",
    "use_weighting",
];
/// Keys of `RewardConfig`.
const REWARD: [&str; 1] = ["center_rewards_coefficient"];
/// Folders above a file that may be called after a method.
const FOLDERS: usize = 3;

/// The task of TRL's `entries` in the file or script `path`.
pub(super) fn of_settings(entries: &[Entry], path: &str) -> Option<Task> {
    let has = |keys: &[&str]| {
        let set = |entry: &&Entry| !crate::import::convert::is_off(&entry.node);
        entries.iter().filter(set).any(|entry| keys.contains(&entry.key.replace('-', "_").as_str()))
    };
    let by_keys = if has(&REINFORCEMENT) {
        Some(Task::Grpo)
    } else if has(&KTO) {
        Some(Task::Kto)
    } else if has(&CPO) {
        Some(Task::Cpo)
    } else if has(&REWARD) {
        Some(Task::Reward)
    } else if has(&PREFERENCE) {
        Some(Task::Dpo)
    } else {
        None
    };
    let parts = path.rsplit(['/', '\\']).take(FOLDERS);
    let by_name = parts.filter_map(|part| of_name(part, TrainerName::Trl)).next();
    // A folder tells RLOO from GRPO and ORPO from DPO; where it speaks of something else, keys count.
    let same = |name: Task, keys: Task| {
        let reinforces = |task| matches!(task, Task::Grpo | Task::Rloo | Task::Ppo);
        let prefers = |task| matches!(task, Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo | Task::Reward);
        reinforces(name) && reinforces(keys) || prefers(name) && prefers(keys)
    };
    match (by_name, by_keys) {
        (Some(name), Some(keys)) if !same(name, keys) => Some(keys),
        (name, keys) => name.or(keys),
    }
}

/// The task that a script's or a folder's name tells.
pub(super) fn of_name(word: &str, trainer: TrainerName) -> Option<Task> {
    let word = word.to_ascii_lowercase();
    if trainer == TrainerName::Verl {
        // verl/trainer/config/ppo_trainer.yaml `adv_estimator`: gae.
        // EasyR1's verl/trainer/config.py `adv_estimator`: grpo.
        let grpo = word == "verl.trainer.main";
        return Some(if word.contains("sft") {
            Task::Sft
        } else if grpo {
            Task::Grpo
        } else {
            Task::Ppo
        });
    }
    let parts: Vec<&str> = word.split(['_', '-', '.', '/']).collect();
    let has = |name: &str| parts.contains(&name);
    [
        ("dpo", Task::Dpo),
        ("grpo", Task::Grpo),
        ("kto", Task::Kto),
        ("orpo", Task::Orpo),
        ("cpo", Task::Cpo),
        ("simpo", Task::Cpo),
        ("rloo", Task::Rloo),
        ("ppo", Task::Ppo),
        ("reward", Task::Reward),
        ("rm", Task::Reward),
        ("glue", Task::SequenceClassification),
        ("classification", Task::SequenceClassification),
        ("infer", Task::Inference),
        ("sft", Task::Sft),
        ("clm", Task::Sft),
    ]
    .into_iter()
    .find(|(name, _)| has(name))
    .map(|(_, task)| task)
}
