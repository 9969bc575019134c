//! What is the same for every operator of a step.

use super::rates::{Precision, Rates};
use crate::gpu::Card;
use crate::memory::{AttentionPath, attention_path};
use crate::model::{Model, Module};
use crate::plan::{
    AdapterDtype, Auto, Batches, Dtype, Framework, Instance, Method, MixedPrecision, Plan, Subject, TargetModules,
    Task, names_module,
};

/// What is the same for every operator of a pass over a model.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) plan: &'a Plan,
    pub(super) model: &'a Model,
    pub(super) card: &'a Card,
    /// Which of the model's weights train.
    pub(super) method: Method,
    /// Bits of quantised weights.
    pub(super) bits: u8,
    pub(super) rates: Rates,
    /// b, sequences of a forward.
    pub(super) batch: f64,
    /// s, tokens of each.
    pub(super) length: f64,
    /// What products run in.
    pub(super) precision: Precision,
    /// Bytes of an element of the residual stream.
    pub(super) stream: f64,
    /// Bytes of a weight that is not quantised, and of its gradient.
    pub(super) weight: f64,
    /// Whether products cast fp32 weights and inputs to 16 bits.
    pub(super) casts: bool,
    pub(super) attention: AttentionPath,
    /// A mask with real padding reaches attention.
    pub(super) padded: bool,
    /// A score head stands in for the vocabulary.
    pub(super) scores: bool,
    /// Whether anything trains in this pass.
    pub(super) training: bool,
    /// Whether adapters take part.
    pub(super) adapters: bool,
    /// A, forwards of one step.
    pub(super) forwards: f64,
}

impl<'a> Setting<'a> {
    pub(super) fn new(plan: &'a Plan, subject: &'a Subject) -> Self {
        let autocast = plan.mixed_precision != MixedPrecision::No;
        // DeepSpeed and FSDP2's mixed precision compute in their own dtype, whatever the weights are kept in.
        let sixteen_bit_engine = match plan.distributed.framework {
            Framework::Deepspeed => plan.zero_stage > 0 && plan.distributed.bf16_enabled == Auto::Set(true),
            Framework::Fsdp2 => {
                plan.num_gpus > 1 && plan.distributed.param_dtype.is_some_and(|dtype| dtype != Dtype::Float32)
            }
            Framework::Ddp => false,
        };
        let weight = if sixteen_bit_engine { 2.0 } else { plan.torch_dtype.bytes() as f64 };
        let half = weight < 4.0 || autocast;
        let bf16 = match plan.mixed_precision {
            MixedPrecision::No => plan.torch_dtype != Dtype::Float16,
            MixedPrecision::Bf16 => true,
            MixedPrecision::Fp16 => false,
        };
        let training = plan.task != Task::Inference;
        Self {
            plan,
            model: &subject.model,
            card: &subject.card,
            method: plan.method,
            bits: plan.quantization.bits,
            rates: Rates::of(&subject.card, plan.num_gpus, bf16),
            batch: plan.per_device_train_batch_size as f64,
            length: plan.max_length as f64,
            precision: if half { Precision::Half } else { Precision::Single },
            stream: weight,
            weight,
            casts: autocast && weight > 2.0,
            attention: attention_path(plan, &subject.model, &subject.card),
            padded: plan.padded_batch,
            scores: matches!(plan.task, Task::SequenceClassification | Task::Reward),
            training,
            adapters: training,
            forwards: plan.gradient_accumulation_steps.max(1) as f64,
        }
    }

    /// The same for the forwards that `batches` speaks of.
    pub(super) fn over(&self, batches: &Batches) -> Self {
        Self {
            batch: batches.sequences_per_forward as f64,
            length: batches.tokens_per_sequence as f64,
            forwards: batches.forwards_per_step.max(1) as f64,
            // Prompts of unequal length are padded on the left, answers on the right.
            padded: self.padded || batches.round.is_some(),
            ..*self
        }
    }

    /// The same for a model beside the policy, which has no adapters and one score for a head.
    pub(super) fn beside(&self, instance: &'a Instance) -> Self {
        let method = if instance.bits.is_some() { Method::Qlora } else { Method::Full };
        let bits = instance.bits.unwrap_or(self.bits);
        Self { model: &instance.model, method, bits, adapters: false, scores: true, ..*self }
    }

    /// Share of forwards that add to a gradient instead of writing it.
    pub(super) fn accumulating(&self) -> f64 {
        (self.forwards - 1.0) / self.forwards
    }

    /// b·s.
    pub(super) fn tokens(&self) -> f64 {
        self.batch * self.length
    }

    /// Bytes of an element of products.
    pub(super) fn element(&self) -> f64 {
        self.precision.bytes()
    }

    /// The same for a forward without gradients over `batch` sequences of `length` tokens.
    pub(super) fn without_gradients(&self, batch: f64, length: f64) -> Self {
        Self { batch, length, training: false, ..*self }
    }

    /// Whether a parameter of the base trains: all of them, or those that are saved beside adapters.
    pub(super) fn trains_base(&self, name: &str) -> bool {
        self.training
            && match self.method {
                Method::Full => true,
                Method::Lora | Method::Qlora => {
                    self.plan.lora.modules_to_save.iter().any(|saved| names_module(saved, name))
                }
            }
    }

    /// Whether a linear module gets an adapter; "all-linear" leaves what is outside the layers out.
    pub(super) fn adapts(&self, module: &Module, outside: bool) -> bool {
        self.adapters
            && self.method != Method::Full
            && match &self.plan.lora.target_modules {
                TargetModules::AllLinear => !outside,
                TargetModules::Names(names) => names.iter().any(|target| names_module(target, &module.name)),
            }
    }

    pub(super) fn quantizes(&self, outside: bool) -> bool {
        self.method == Method::Qlora && !outside
    }

    /// Bytes of an adapter's element: peft upcasts 16-bit adapters to fp32 (`autocast_adapter_dtype`), DeepSpeed and FSDP2
    /// cast them to the base's dtype again.
    pub(super) fn adapter(&self) -> f64 {
        let engine = match self.plan.distributed.framework {
            Framework::Deepspeed => self.plan.zero_stage > 0,
            Framework::Fsdp2 => self.plan.num_gpus > 1,
            Framework::Ddp => false,
        };
        match self.plan.lora.adapter_dtype {
            AdapterDtype::Bfloat16 | AdapterDtype::Float16 => 2.0,
            AdapterDtype::Float32 => 4.0,
            AdapterDtype::Auto if engine => self.weight,
            AdapterDtype::Auto => 4.0,
        }
    }
}
