//! What the texts of preference and reinforcement tasks are: form, timeline, models on the GPU.

use headroom_core::memory::ModelRole;
use headroom_core::plan::{InstanceRole, KvCacheDtype, ReferenceKind, RolloutEngine, Round, VllmMode};

use crate::labels::{ChoiceText, FieldText};

/// Texts of the inputs that only these tasks have.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct TaskFields {
    pub reference: FieldText,
    pub beta: FieldText,
    pub cpo_alpha: FieldText,
    pub num_generations: FieldText,
    pub prompts: FieldText,
    pub steps_per_generation: FieldText,
    pub num_iterations: FieldText,
    pub max_prompt_length: FieldText,
    pub max_completion_length: FieldText,
    pub sequences_at_once: FieldText,
    pub engine: FieldText,
    pub vllm_mode: FieldText,
    pub memory_share: FieldText,
    pub tensor_parallel_size: FieldText,
    pub max_model_length: FieldText,
    pub sleep_mode: FieldText,
    pub kv_cache_dtype: FieldText,
    pub enforce_eager: FieldText,
    pub use_liger_loss: FieldText,
    pub padding_free: FieldText,
}

/// All of them.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct TaskTexts {
    pub section: &'static str,
    pub rollout_group: &'static str,
    pub fields: TaskFields,
    pub reference: fn(ReferenceKind) -> ChoiceText,
    pub engine: fn(RolloutEngine) -> ChoiceText,
    pub mode: fn(VllmMode) -> ChoiceText,
    pub kv_cache: fn(KvCacheDtype) -> ChoiceText,

    // Models beside the policy.
    pub models_group: &'static str,
    pub models_help: &'static str,
    pub value_model: &'static str,
    /// Of a number from 1.
    pub model_number: fn(usize) -> String,
    pub add_model: &'static str,
    pub remove: &'static str,
    pub role_label: &'static str,
    pub model_label: &'static str,
    pub policys_model: &'static str,
    pub weights_label: &'static str,
    pub weights_as_loaded: &'static str,
    pub shared_label: &'static str,
    pub host_label: &'static str,
    pub instance_role: fn(InstanceRole) -> &'static str,

    // Batches.
    /// Batch, steps, GPUs and their product, in pairs.
    pub effective_pairs: fn(u64, u64, u64, u64) -> String,
    /// Sequences in one forward, where a pair makes two.
    pub pairs_note: fn(u64) -> String,
    /// Texts of a batch of an embedding model, and with each query.
    pub texts_note: fn(u64, u64) -> String,
    pub round: fn(&Round) -> String,

    // Peak and models.
    /// Where the peak is, with its size.
    pub timeline_peak: fn(&str, &str) -> String,
    pub models_title: &'static str,
    pub models_table: &'static str,
    pub models_intro: &'static str,
    /// What sharing saves altogether.
    pub sharing_saves: fn(&str) -> String,
    pub column_role: &'static str,
    pub column_weights: &'static str,
    pub column_place: &'static str,
    pub column_bytes: &'static str,
    pub column_shared: &'static str,
    pub model_role: fn(ModelRole) -> &'static str,
    pub on_gpu: &'static str,
    pub in_host: &'static str,
    pub not_loaded: &'static str,
    /// With the policy, saving so much.
    pub shared_saving: fn(&str) -> String,
    pub precomputed_saving: fn(&str) -> String,
    pub own_weights: &'static str,
}
