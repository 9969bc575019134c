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
/// What loads a model.
pub(super) const LOADING: &str = "from_pretrained";
const TRL: &str = "trl";
const TRANSFORMERS: &str = "transformers";
const SWIFT: &str = "ms-swift";
const FACTORY: &str = "llamafactory";

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
    // Options of examples/scripts/sft.py.
    of(
        TRL,
        &[Sft],
        release(0, 7),
        "batch_size>per_device_train_batch_size peft_lora_r>lora_r peft_lora_alpha>lora_alpha seq_length>max_length",
    ),
    of(
        TRL,
        &[Ppo],
        release(0, 11),
        "model_name steps init_kl_coef>kl_coef adap_kl_ctrl ppo_epochs>num_ppo_epochs horizon optimize_cuda_cache log_with>report_to \
         optimize_device_cache forward_batch_size ratio_threshold use_score_scaling use_score_norm score_clip tracker_project_name",
    ),
    of(TRL, &[Dpo], release(0, 13), "max_target_length"),
    // `deprecate_kwarg("tokenizer", "0.16.0", "processing_class")` of every trainer.
    of(CALL, &[], release(0, 15), "tokenizer>processing_class"),
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
    // Read in LLaMA-Factory's tags (hparams/*_args.py).
    of(
        FACTORY,
        &[],
        release(0, 1),
        "max_source_length>cutoff_len max_target_length>cutoff_len dev_ratio>val_size padding_side source_prefix \
         prompt_template>template",
    ),
    of(
        FACTORY,
        &[],
        release(0, 3),
        "checkpoint_dir>adapter_name_or_path resume_lora_training>create_new_adapter neft_alpha>neftune_noise_alpha \
         system_prompt>default_system ref_model_checkpoint>ref_model reward_model_checkpoint>reward_model",
    ),
    of(FACTORY, &[], release(0, 5), "sft_packing>packing lora_bf16_mode>pure_bf16"),
    of(
        FACTORY,
        &[],
        release(0, 7),
        "name_module_trainable>freeze_trainable_modules num_layer_trainable>freeze_trainable_layers dpo_beta>pref_beta \
         dpo_loss>pref_loss dpo_ftx>pref_ftx orpo_beta>pref_beta",
    ),
    // Read in ms-swift 2.6.1, 3.0 to 3.12, 4.0 to 4.6. Whole releases differ in names: `train_type` is of 3.0 to 4.0.
    of(
        SWIFT,
        &[],
        release(2, 6),
        "sft_type>tuner_type model_id_or_path>model template_type>template dataset_test_ratio>split_dataset_ratio \
         custom_train_dataset_path>dataset custom_val_dataset_path>val_dataset check_dataset_strategy lora_dropout_p>lora_dropout \
         lora_target_modules>target_modules lora_target_regex>target_regex lora_modules_to_save>modules_to_save lora_lr_ratio \
         batch_size>per_device_train_batch_size eval_batch_size>per_device_eval_batch_size quantization_bit>quant_bits \
         use_flash_attn>attn_impl eval_human only_save_model>save_only_model self_cognition_sample neftune_backend \
         deepspeed_config_path>deepspeed ref_model_id_or_path>ref_model additional_trainable_parameters>trainable_parameters \
         train_dataset_mix_ratio preprocess_num_proc>dataset_num_proc gpu_memory_fraction predict_with_generate use_loss_scale \
         lora_bias_trainable>lora_bias streaming_val_size model_cache_dir",
    ),
    of(SWIFT, &[], release(3, 0), "train_dataset_sample"),
    of(SWIFT, &[], release(3, 2), "tools_prompt>agent_template"),
    of(SWIFT, &[], release(3, 3), "load_dataset_config"),
    of(SWIFT, &[], release(3, 4), "use_lmdeploy"),
    of(SWIFT, &[], release(3, 5), "num_infer_workers vllm_device"),
    of(SWIFT, &[], release(3, 9), "multi_turn_func gc_collect_after_offload"),
    of(SWIFT, &[], release(4, 0), "train_type>tuner_type"),
    of(TRANSFORMERS, &[], release(4, 50), "evaluation_strategy>eval_strategy dispatch_batches split_batches"),
    of(
        TRANSFORMERS,
        &[],
        release(4, 57),
        "per_gpu_train_batch_size>per_device_train_batch_size per_gpu_eval_batch_size>per_device_eval_batch_size no_cuda>use_cpu \
         fp16_backend half_precision_backend fp16_opt_level adafactor jit_mode_eval mp_parameters use_mps_device tpu_num_cores \
         overwrite_output_dir save_safetensors push_to_hub_token include_tokens_per_second fsdp_min_num_params \
         tokenizer>processing_class \
         fsdp_transformer_layer_cls_to_wrap",
    ),
    of(LOADING, &[], release(4, 57), "load_in_4bit>quantization_config load_in_8bit>quantization_config"),
    of(TRANSFORMERS, &[], release(5, 0), "group_by_length>train_sampling_strategy"),
    of(TRANSFORMERS, &[], release(5, 10), "warmup_ratio>warmup_steps logging_dir"),
];

impl Removed {
    /// The package whose releases differ.
    pub(crate) fn package(&self) -> &'static str {
        match self.tool {
            CALL => TRL,
            LOADING => TRANSFORMERS,
            tool => tool,
        }
    }

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
