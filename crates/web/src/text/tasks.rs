//! What the texts of preference and reinforcement tasks are: form, timeline, models on the card.

use headroom_core::memory::{ModelRole, Phase};
use headroom_core::plan::{InstanceRole, KvCacheDtype, ReferenceKind, RolloutEngine, Round, Task, VllmMode};

use super::{ChoiceText, FieldText};

/// Texts of the inputs that only these tasks have.
pub(crate) struct TaskFields {
    pub(crate) reference: FieldText,
    pub(crate) beta: FieldText,
    pub(crate) num_generations: FieldText,
    pub(crate) prompts: FieldText,
    pub(crate) steps_per_generation: FieldText,
    pub(crate) max_prompt_length: FieldText,
    pub(crate) max_completion_length: FieldText,
    pub(crate) sequences_at_once: FieldText,
    pub(crate) engine: FieldText,
    pub(crate) vllm_mode: FieldText,
    pub(crate) memory_share: FieldText,
    pub(crate) tensor_parallel_size: FieldText,
    pub(crate) sleep_mode: FieldText,
    pub(crate) kv_cache_dtype: FieldText,
    pub(crate) enforce_eager: FieldText,
    pub(crate) use_liger_loss: FieldText,
    pub(crate) padding_free: FieldText,
}

/// All of them.
pub(crate) struct TaskTexts {
    pub(crate) section: &'static str,
    pub(crate) rollout_group: &'static str,
    pub(crate) fields: TaskFields,
    pub(crate) reference: fn(ReferenceKind) -> ChoiceText,
    pub(crate) engine: fn(RolloutEngine) -> ChoiceText,
    pub(crate) mode: fn(VllmMode) -> ChoiceText,
    pub(crate) kv_cache: fn(KvCacheDtype) -> ChoiceText,
    /// A choice left to the trainer.
    pub(crate) trainer_decides: &'static str,

    // Models beside the policy.
    pub(crate) models_group: &'static str,
    pub(crate) models_help: &'static str,
    pub(crate) value_model: &'static str,
    /// Of a number from 1.
    pub(crate) model_number: fn(usize) -> String,
    pub(crate) add_model: &'static str,
    pub(crate) remove: &'static str,
    pub(crate) role_label: &'static str,
    pub(crate) model_label: &'static str,
    pub(crate) policys_model: &'static str,
    pub(crate) weights_label: &'static str,
    pub(crate) weights_as_loaded: &'static str,
    pub(crate) shared_label: &'static str,
    pub(crate) host_label: &'static str,
    pub(crate) instance_role: fn(InstanceRole) -> &'static str,

    // Batches.
    /// Batch, steps, cards and their product, in pairs.
    pub(crate) effective_pairs: fn(u64, u64, u64, u64) -> String,
    /// Sequences in one forward, where a pair makes two.
    pub(crate) pairs_note: fn(u64) -> String,
    pub(crate) round: fn(&Round) -> String,

    // Peak and models.
    /// Where the peak is, in plain words.
    pub(crate) peak: fn(Task, Phase) -> String,
    /// The same with its size.
    pub(crate) timeline_peak: fn(&str, &str) -> String,
    pub(crate) models_title: &'static str,
    pub(crate) models_table: &'static str,
    pub(crate) models_intro: &'static str,
    /// What sharing saves altogether.
    pub(crate) sharing_saves: fn(&str) -> String,
    pub(crate) column_role: &'static str,
    pub(crate) column_weights: &'static str,
    pub(crate) column_place: &'static str,
    pub(crate) column_bytes: &'static str,
    pub(crate) column_shared: &'static str,
    pub(crate) model_role: fn(ModelRole) -> &'static str,
    pub(crate) on_card: &'static str,
    pub(crate) in_host: &'static str,
    pub(crate) not_loaded: &'static str,
    /// With the policy, saving so much.
    pub(crate) shared_saving: fn(&str) -> String,
    pub(crate) precomputed_saving: fn(&str) -> String,
    pub(crate) own_weights: &'static str,
}
