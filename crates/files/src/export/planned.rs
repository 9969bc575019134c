//! The plan to be written, with what an estimate knows about it.

use headroom_core::job::Job;
use headroom_core::memory::{self, Category, Estimate};
use headroom_core::plan::{Auto, Dtype, Framework, Method, MixedPrecision, ModelChoice, Offload, Plan, Task};
use headroom_text::Language;

use super::why::Why;

/// Name of DeepSpeed's file beside the others.
pub(super) const DEEPSPEED_FILE: &str = "ds_config.json";
/// Name of accelerate's file.
pub(super) const ACCELERATE_FILE: &str = "accelerate.yaml";
/// Folder of a model that is known by its config alone.
pub(super) const MODEL_FOLDER: &str = "model";

/// Who shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharding {
    /// Nobody: one process, or copies (DDP).
    None,
    /// DeepSpeed.
    Zero,
    /// PyTorch, in either form.
    Fsdp,
}

/// What is written.
pub(super) struct Planned<'a> {
    pub(super) plan: &'a Plan,
    pub(super) language: Language,
    /// None where the plan cannot be estimated: files are written all the same, without figures.
    pub(super) estimate: Option<Estimate>,
    /// Whether scripts print what each step allocates.
    pub(super) checks_memory: bool,
    /// Tokens that the model knows.
    vocabulary: Option<u64>,
}

impl<'a> Planned<'a> {
    pub(super) fn new(plan: &'a Plan, language: Language) -> Self {
        let job = Job::resolve(plan).ok();
        let vocabulary = job.as_ref().map(|job| job.model().vocab_size);
        let estimate = job.map(|job| memory::estimate_replayed(&job));
        Self { plan, language, estimate, checks_memory: false, vocabulary }
    }

    /// Who shards it.
    pub(super) fn sharding(&self) -> Sharding {
        let plan = self.plan;
        match plan.distributed.framework {
            Framework::Fsdp1 | Framework::Fsdp2 if plan.num_gpus > 1 => Sharding::Fsdp,
            // Its bf16 section alone makes an optimizer with fp32 copies, at stage 0 too.
            Framework::Deepspeed
                if plan.zero_stage > 0 || self.offloads() || plan.distributed.bf16_enabled != Auto::Auto =>
            {
                Sharding::Zero
            }
            _ => Sharding::None,
        }
    }

    /// Whether DeepSpeed keeps something in host memory.
    pub(super) fn offloads(&self) -> bool {
        self.plan.offload_optimizer == Offload::Cpu || self.plan.offload_param == Offload::Cpu
    }

    /// Whether a launcher has something to say: several processes, or a framework that shards.
    pub(super) fn is_distributed(&self) -> bool {
        self.plan.num_gpus > 1 || self.sharding() != Sharding::None
    }

    /// Whether DeepSpeed's own bf16 section is on.
    pub(super) fn is_bf16_by_deepspeed(&self) -> bool {
        self.sharding() == Sharding::Zero && self.plan.distributed.bf16_enabled == Auto::Set(true)
    }

    /// The 16-bit dtype that DeepSpeed's engine makes of every weight, whatever it was loaded in, under the files' own launch
    /// (runtime/engine.py `_cast_module_mixed_precision`).
    pub(super) fn cast_by_engine(&self) -> Option<Dtype> {
        let plan = self.plan;
        if self.sharding() != Sharding::Zero
            || plan.zero_stage == 0
            || plan.distributed.bf16_enabled == Auto::Set(false)
        {
            return None;
        }
        match plan.mixed_precision {
            MixedPrecision::Fp16 => Some(Dtype::Float16),
            MixedPrecision::Bf16 => Some(Dtype::Bfloat16),
            MixedPrecision::No => self.is_bf16_by_deepspeed().then_some(Dtype::Bfloat16),
        }
    }

    /// Why autocast is on: what it does to weights is the engine's where there is one.
    pub(super) fn autocast(&self) -> Why {
        if self.cast_by_engine().is_some() { Why::CastByEngine } else { Why::Autocast }
    }

    /// What the dtype in which weights are loaded comes to.
    pub(super) fn loaded(&self) -> Why {
        let plan = self.plan;
        let Some(bytes) = self.bytes_of(Category::Weights) else { return Why::LoadedIn };
        match self.cast_by_engine().filter(|cast| *cast != plan.torch_dtype) {
            Some(dtype) => Why::WeightsCast { dtype: dtype.name(), bytes },
            None if plan.method == Method::Qlora => Why::Unquantised { bits: plan.quantization.bits, bytes },
            None => Why::Weights(bytes),
        }
    }

    /// Bytes of the logits of one sequence in fp32, which evaluation gathers: s·V·4 (transformers trainer.py
    /// `evaluation_loop`); None for tasks whose evaluation generates or scores.
    pub(super) fn evaluation_logits(&self) -> Option<u64> {
        let plan = self.plan;
        let answers = !matches!(plan.task, Task::Sft | Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo);
        let vocabulary = self.vocabulary.filter(|_| !answers)?;
        plan.max_length.checked_mul(vocabulary)?.checked_mul(4)
    }

    /// The model's id, or the folder that holds its config.
    pub(super) fn model(&self) -> String {
        match &self.plan.model {
            ModelChoice::Catalogue(id) => id.clone(),
            ModelChoice::Config { .. } => format!("./{MODEL_FOLDER}"),
        }
    }

    /// Sequences of a step.
    pub(super) fn effective_batch(&self) -> Why {
        Why::EffectiveBatch {
            batch: self.plan.per_device_train_batch_size,
            accumulation: self.plan.gradient_accumulation_steps,
            gpus: self.plan.num_gpus,
        }
    }

    /// Why checkpointing is as it is.
    pub(super) fn checkpointing(&self) -> Why {
        if self.plan.gradient_checkpointing { Why::Recomputed } else { Why::Kept }
    }

    /// Bytes of `category` at the peak, on each GPU.
    pub(super) fn bytes_of(&self, category: Category) -> Option<u64> {
        let estimate = self.estimate.as_ref()?;
        let peak = estimate.peak_phase()?;
        let parts = estimate.need_by_category(peak);
        parts.into_iter().find(|(of, _)| *of == category).map(|(_, bytes)| bytes)
    }

    /// Bytes of host memory that the plan takes.
    pub(super) fn host_bytes(&self) -> u64 {
        self.estimate.iter().flat_map(|estimate| &estimate.host).map(|part| part.bytes).sum()
    }
}
