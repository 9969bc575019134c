//! Which trainer's step runs, at which measured version, and what that says about the step.
//!
//! What a trainer takes by default stands in `plan/trainer`; here stands what its own code does in a step, whatever is
//! chosen: which loss it computes, what it casts and what it keeps. Everything else asks these questions and compares no
//! version itself.

use super::LogitsMetrics;
use crate::plan::{AttnImplementation, Auto, Framework, LossImplementation, Method, Plan, Release, Task, TrainerName};

/// How accelerate drives FSDP, by version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accelerate {
    /// Up to 1.12: under mixed precision FSDP2 holds every weight in fp32 (utils/fsdp_utils.py `model.to(torch.float32)`).
    UpcastsAll,
    /// 1.13 and 1.14: only what trains.
    UpcastsTrained,
    /// From 1.15 on the embedding is a group of its own, and the final norm with the head another.
    GroupsEnds,
}

/// The trainer of a job and the measured version that its step is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainerStep {
    name: TrainerName,
    release: Release,
}

impl TrainerStep {
    pub(crate) fn of(plan: &Plan) -> Self {
        Self { name: plan.trainer.name, release: plan.trainer.release() }
    }

    /// Who runs the step.
    pub const fn name(self) -> TrainerName {
        self.name
    }

    /// The measured version whose step is estimated.
    pub const fn release(self) -> Release {
        self.release
    }

    /// Whether it is a loop of one's own: no trainer makes the optimizer or its parameter groups.
    pub fn is_custom(self) -> bool {
        self.name == TrainerName::Custom
    }

    /// How accelerate drives FSDP, as the trainer's release was measured with it; `None`: a loop of one's own.
    pub fn accelerate(self) -> Option<Accelerate> {
        let since = |release: Release| self.release >= release;
        Some(match self.name {
            TrainerName::Custom | TrainerName::Unsloth | TrainerName::Verl | TrainerName::Torchtune => return None,
            TrainerName::Transformers if !since(Release::new(5, 0, 0)) => Accelerate::UpcastsAll,
            TrainerName::Trl if !since(Release::new(1, 0, 0)) => Accelerate::UpcastsAll,
            TrainerName::LlamaFactory => Accelerate::UpcastsAll,
            TrainerName::Axolotl => Accelerate::UpcastsTrained,
            TrainerName::Transformers | TrainerName::Trl | TrainerName::MsSwift => Accelerate::GroupsEnds,
        })
    }

    /// accelerate's version where it drives FSDP in `plan`: with one process too (commands/launch.py `launch_command` takes
    /// the launcher of several GPUs wherever FSDP is asked for).
    pub(super) fn accelerated_fsdp(plan: &Plan) -> Option<Accelerate> {
        Self::of(plan).accelerate().filter(|_| plan.distributed.framework.is_fsdp())
    }

    /// Whether a frozen model is wrapped by FSDP2 as one group: TRL does it past accelerate, which wraps layers (trl models/utils.py
    /// `prepare_fsdp`).
    pub(super) fn wraps_frozen_whole(self) -> bool {
        self.name == TrainerName::Trl
    }

    /// Whether FSDP wraps no model that only scores answers.
    pub(super) fn leaves_judges_whole(self) -> bool {
        self.name == TrainerName::Trl
    }

    /// Whether the base is loaded by transformers 5, which quantises weight by weight (core_model_loading.py).
    pub(super) fn loads_weight_by_weight(self) -> bool {
        match self.name {
            TrainerName::Custom => false,
            TrainerName::Transformers => self.release >= Release::new(5, 0, 0),
            TrainerName::Trl => self.is_trl_since(1, 0),
            _ => true,
        }
    }

    /// Whether this is TRL at `major.minor` or later.
    pub fn is_trl_since(self, major: u32, minor: u32) -> bool {
        self.name == TrainerName::Trl && self.release >= Release::new(major, minor, 0)
    }

    /// Whether losses are computed by TRL's fused LM head (trl trainer/utils.py `add_fused_lm_head`).
    pub fn fuses_lm_head(self) -> bool {
        self.is_trl_since(1, 16)
    }

    /// Whether the step is accelerate's: that of every trainer but a loop of one's own.
    pub fn runs_accelerate(self) -> bool {
        self.name != TrainerName::Custom
    }

    /// Whether SFT can take `chunked_nll` (trl trainer/sft_trainer.py `_patch_chunked_ce_lm_head`).
    pub fn offers_chunked_nll(self) -> bool {
        self.is_trl_since(1, 6) && !self.fuses_lm_head()
    }

    /// Whether SFT's loss is `chunked_nll` unless told otherwise (trl trainer/sft_config.py `loss_type`).
    pub fn chunks_loss(self) -> bool {
        self.is_trl_since(1, 7) && !self.fuses_lm_head()
    }

    /// Whether a quantised base goes through peft's `prepare_model_for_kbit_training` and what that made fp32 is cast back
    /// (trl models/utils.py `prepare_peft_model`, before 1.0; ORPO and CPO at every version, and KTO before 1.6, each in its
    /// own trainer).
    pub fn prepares_quantized_by_peft(self, task: Task) -> bool {
        let own = matches!(task, Task::Orpo | Task::Cpo) || task == Task::Kto && !self.is_trl_since(1, 6);
        self.name == TrainerName::Trl && (own || !self.is_trl_since(1, 0))
    }

    /// Whether what trains beside a quantised base is cast to bf16 (trl trainer/sft_trainer.py, dpo_trainer.py and others,
    /// since 1.0).
    pub fn casts_adapters_of_quantized(self, task: Task) -> bool {
        self.is_trl_since(1, 0) && !self.prepares_quantized_by_peft(task)
    }

    /// Whether adapters stay in fp32 beside a base in 16 bits under ZeRO-3. `zero.Init` has made the base as it was loaded
    /// (transformers modeling_utils.py `get_init_context`), so that the engine casts nothing more (runtime/engine.py
    /// `is_zero_init_model`); a quantised base is loaded without it. TRL lets peft cast nothing up since 1.9
    /// (`get_peft_model_kwargs`).
    pub(super) fn keeps_adapters_beside_zero_init(self, plan: &Plan) -> bool {
        let makes_base = plan.zero_stage == 3 && plan.task != Task::Inference && self.runs_accelerate();
        makes_base && plan.method == Method::Lora && !self.is_trl_since(1, 9)
    }

    /// What SFT computes of whole logits: TRL shifts them before both metrics since 1.6, and before accuracy alone earlier.
    pub(crate) fn logits_metrics(self) -> LogitsMetrics {
        if self.name != TrainerName::Trl {
            LogitsMetrics::None
        } else if self.is_trl_since(1, 6) {
            LogitsMetrics::Shifted
        } else {
            LogitsMetrics::WholeThenShifted
        }
    }

    /// Whether a variable of reinforcement trainers holds the model's outputs until their log-probabilities are taken: TRL
    /// 1.9 and later (grpo_trainer.py `outputs = model(**model_inputs)`); before, they were gone once divided.
    pub fn names_outputs(self) -> bool {
        self.is_trl_since(1, 9)
    }

    /// Whether reinforcement trainers divide logits by the temperature in place: TRL 1.0, 1.6 and 1.9
    /// (grpo_trainer.py `logits.div_(self.temperature)`); 0.24 and 1.12 into a new tensor.
    pub fn divides_logits_in_place(self) -> bool {
        self.is_trl_since(1, 0) && !self.is_trl_since(1, 12)
    }

    /// Whether pairs go through the policy before the frozen reference reads them (llamafactory train/dpo/trainer.py and
    /// ms-swift rlhf_trainers/dpo_trainer.py, `get_batch_loss_metrics`).
    pub fn reads_reference_last(self) -> bool {
        matches!(self.name, TrainerName::LlamaFactory | TrainerName::MsSwift)
    }

    /// Whether ORPO is a loss of DPO's trainer, without a reference (llamafactory train/dpo/trainer.py `pref_loss`).
    pub fn reads_orpo_as_dpo(self) -> bool {
        self.name == TrainerName::LlamaFactory
    }

    /// Whether log-probabilities of pairs are the labels' logits less `logsumexp` (trl trainer/utils.py
    /// `selective_log_softmax`), which keeps the logits and no log-softmax.
    pub fn subtracts_logsumexp(self) -> bool {
        self.name == TrainerName::MsSwift
    }

    /// Whether Gemma-2 runs in `sdpa`, which leaves its softcapping out: with transformers to 5.19 at least, as the trainer
    /// was measured (modeling_gemma2.py `_supports_sdpa`).
    pub(super) fn softcaps_outside_sdpa(self) -> bool {
        match self.name {
            TrainerName::Transformers => self.release < Release::new(5, 0, 0),
            TrainerName::Trl => !self.is_trl_since(1, 0),
            TrainerName::LlamaFactory | TrainerName::MsSwift | TrainerName::Axolotl => true,
            _ => false,
        }
    }

    /// Whether a model with adapters generates outside autocast: peft's `generate` (peft_model.py `PeftModelForCausalLM`)
    /// calls the base model, past the forward that accelerate wraps (accelerator.py `prepare_model`).
    pub(crate) fn generates_without_autocast(self, plan: &Plan) -> bool {
        self.runs_accelerate() && matches!(plan.method, Method::Lora | Method::Qlora)
    }

    /// Whether projections with adapters run in LoRA kernels: axolotl switches them on by itself where nothing is said of
    /// them, but under reinforcement and preference tasks and over an int8 base (utils/schemas/config.py
    /// `check_auto_enable_lora_kernels`).
    pub(crate) fn fuses_adapters(self, plan: &Plan) -> bool {
        let by_itself = plan.task == Task::Sft && !(plan.method == Method::Qlora && plan.quantization.bits == 8);
        let wanted = match plan.lora.kernels {
            Auto::Set(wanted) => wanted,
            Auto::Auto => by_itself,
        };
        self.name == TrainerName::Axolotl && matches!(plan.method, Method::Lora | Method::Qlora) && wanted
    }

    /// Whether the head reads only from the first token on that counts (ms-swift trainers/mixin.py
    /// `prepare_logits_to_keep`, on for every model that takes `logits_to_keep`).
    pub fn keeps_logits_of_labels(self) -> bool {
        self.name == TrainerName::MsSwift
    }

    /// Whether dropout is switched off in the model that trains (`disable_dropout`, True in trl's DPOConfig, KTOConfig,
    /// ORPOConfig and RewardConfig, which ms-swift and axolotl train with; llamafactory train/dpo/trainer.py and
    /// train/kto/trainer.py `disable_dropout_in_model`).
    pub(super) fn disables_dropout(self, task: Task) -> bool {
        match self.name {
            TrainerName::Trl | TrainerName::MsSwift | TrainerName::Axolotl => {
                matches!(task, Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo | Task::Reward)
            }
            TrainerName::LlamaFactory => matches!(task, Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo),
            _ => false,
        }
    }

    /// Whether layers are recomputed by the reentrant `torch.utils.checkpoint`, whose first forward records no graph
    /// (transformers 4 modeling_utils.py `gradient_checkpointing_enable`, and TRL with it; llamafactory hparams/model_args.py
    /// `use_reentrant_gc`, off under FSDP2; ms-swift trainers/mixin.py `_fix_gradient_checkpointing`, off under DDP). TRL asks
    /// for it where peft meets ZeRO-3: in SFT since 1.0, in its other trainers but ORPO's and CPO's since 1.9.
    pub(crate) fn checkpoints_reentrantly(self, plan: &Plan) -> bool {
        let several = plan.num_gpus > 1;
        match self.name {
            TrainerName::Transformers => self.release < Release::new(5, 0, 0),
            TrainerName::Trl => {
                let shards_base = plan.distributed.framework == Framework::Deepspeed && plan.zero_stage == 3;
                let asks = match plan.task {
                    Task::Sft => true,
                    Task::Orpo | Task::Cpo => false,
                    _ => self.is_trl_since(1, 9),
                };
                !self.is_trl_since(1, 0) || plan.method != Method::Full && shards_base && asks
            }
            TrainerName::LlamaFactory => !(several && plan.distributed.framework == Framework::Fsdp2),
            TrainerName::MsSwift => !(several && plan.distributed.framework == Framework::Ddp),
            _ => false,
        }
    }

    /// Whether reward models are the language model with trl's value head beside its own (llamafactory model/loader.py
    /// `load_model`).
    pub(super) fn adds_value_head(self) -> bool {
        self.name == TrainerName::LlamaFactory
    }

    /// Whether what trains in full is upcast to fp32 after loading, so that a frozen copy beside it is not
    /// (llamafactory model/adapter.py `_setup_full_tuning`).
    pub fn upcasts_trainable_only(self) -> bool {
        self.name == TrainerName::LlamaFactory
    }

    /// Whether token embeddings, head, norms and routers are held in fp32 beside a 16-bit model (axolotl loaders/model.py
    /// `_configure_embedding_dtypes`): cast up after loading, and back where adapters, FSDP or flash attention want one
    /// dtype, or Cut Cross-Entropy 16 bits.
    pub(super) fn holds_embeddings_and_norms_in_fp32(self, plan: &Plan) -> bool {
        let is_sharded = plan.num_gpus > 1 && plan.distributed.framework.is_fsdp();
        self.name == TrainerName::Axolotl
            && plan.method == Method::Full
            && plan.attn_implementation != AttnImplementation::FlashAttention2
            && !is_sharded
            && plan.loss_implementation != LossImplementation::CutCrossEntropy
    }
}
