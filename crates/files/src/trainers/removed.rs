//! Keys that releases of trainers have taken away, each with the last minor release that had it: read in the published packages.

use headroom_core::plan::Release;
use headroom_core::plan::Task::{self, Cpo, Dpo, Grpo, Kto, Orpo, Ppo, Rloo, Sft};

/// Keys of a class, and the last release that had them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removed {
    /// The tool, as its table is called.
    pub(crate) tool: &'static str,
    /// Tasks whose class it is; none: all.
    pub(crate) tasks: &'static [Task],
    /// The keys, separated by blanks; one that has another name since stands with it: `old>new`.
    keys: &'static str,
    /// The last minor release that had them.
    pub(crate) last: Release,
}

/// What a trainer's own call takes, beside its configuration.
pub(super) const CALL: &str = "trl trainers";
const TRL: &str = "trl";
const TRANSFORMERS: &str = "transformers";

const fn of(tool: &'static str, tasks: &'static [Task], last: Release, keys: &'static str) -> Removed {
    Removed { tool, tasks, keys, last }
}

const fn release(major: u32, minor: u32) -> Release {
    Release::new(major, minor, 0)
}

pub(crate) static REMOVED: &[Removed] = &[
    of(
        CALL,
        &[Sft],
        release(0, 12),
        "chars_per_token dataset_batch_size dataset_kwargs dataset_num_proc dataset_text_field eval_packing infinite \
         max_seq_length>max_length model_init_kwargs neftune_noise_alpha num_of_sequences packing",
    ),
    of(
        CALL,
        &[Dpo],
        release(0, 12),
        "beta dataset_num_proc disable_dropout force_use_ref_model generate_during_eval is_encoder_decoder label_pad_token_id \
         label_smoothing loss_type max_length max_prompt_length max_target_length model_adapter_name model_init_kwargs \
         padding_value precompute_ref_log_probs ref_adapter_name ref_model_init_kwargs reference_free truncation_mode",
    ),
    of(TRL, &[Dpo], release(0, 13), "max_target_length"),
    of(TRL, &[Dpo], release(0, 16), "use_num_logits_to_keep"),
    of(TRL, &[Grpo], release(0, 17), "vllm_device vllm_dtype vllm_enable_prefix_caching vllm_max_model_len"),
    of(TRL, &[Sft], release(0, 17), "chars_per_token dataset_batch_size num_of_sequences use_liger>use_liger_kernel"),
    of(TRL, &[Sft], release(0, 19), "max_seq_length>max_length"),
    of(
        TRL,
        &[Rloo],
        release(0, 21),
        "local_batch_size local_mini_batch_size mini_batch_size reward_model_path sft_model_path",
    ),
    of(
        TRL,
        &[Rloo],
        release(0, 24),
        "kl_coef>beta local_rollout_forward_batch_size num_mini_batches num_ppo_epochs>num_iterations \
         response_length>max_completion_length rloo_k>num_generations total_episodes token_level_kl",
    ),
    of(TRL, &[Kto], release(0, 26), "max_completion_length max_prompt_length truncation_mode is_encoder_decoder"),
    of(TRL, &[Cpo, Orpo], release(0, 27), "max_prompt_length label_pad_token_id"),
    of(TRL, &[Grpo], release(0, 27), "max_prompt_length use_liger_loss>use_liger_kernel vllm_guided_decoding_regex"),
    of(TRL, &[Dpo, Kto], release(0, 27), "use_liger_loss>use_liger_kernel"),
    of(
        TRL,
        &[Dpo],
        release(0, 28),
        "max_prompt_length max_completion_length force_use_ref_model generate_during_eval label_pad_token_id model_adapter_name \
         ref_adapter_name ref_model_init_kwargs reference_free rpo_alpha use_logits_to_keep",
    ),
    of(TRL, &[Rloo], release(0, 28), "max_prompt_length"),
    of(
        TRL,
        &[Ppo],
        release(1, 12),
        "num_ppo_epochs num_mini_batches response_length local_rollout_forward_batch_size vf_coef",
    ),
    of(TRANSFORMERS, &[], release(4, 50), "evaluation_strategy>eval_strategy dispatch_batches split_batches"),
    of(
        TRANSFORMERS,
        &[],
        release(4, 57),
        "per_gpu_train_batch_size>per_device_train_batch_size per_gpu_eval_batch_size>per_device_eval_batch_size no_cuda>use_cpu \
         fp16_backend half_precision_backend fp16_opt_level adafactor jit_mode_eval mp_parameters use_mps_device tpu_num_cores \
         overwrite_output_dir save_safetensors push_to_hub_token include_tokens_per_second fsdp_min_num_params \
         fsdp_transformer_layer_cls_to_wrap",
    ),
    of(TRANSFORMERS, &[], release(5, 0), "group_by_length>train_sampling_strategy"),
    of(TRANSFORMERS, &[], release(5, 10), "warmup_ratio>warmup_steps logging_dir"),
];

impl Removed {
    /// The name of `key` since, or nothing in its place; `None` where it is not among the keys.
    pub(crate) fn now(&self, key: &str) -> Option<&'static str> {
        self.keys.split_whitespace().find_map(|entry| {
            let (old, now) = entry.split_once('>').unwrap_or((entry, ""));
            (old == key).then_some(now)
        })
    }

    /// Whether a release newer than the last that had the keys is `release`.
    pub(crate) fn is_gone(&self, release: Release) -> bool {
        !release.is_before(self.last.major(), self.last.minor() + 1)
    }
}
