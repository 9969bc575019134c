//! What is the same for every operator of a step.

use super::rates::{Precision, Rates};
use crate::memory::{AttentionPath, attention_path};
use crate::model::Module;
use crate::plan::{
    AdapterDtype, Auto, Dtype, Framework, Method, MixedPrecision, Plan, Subject, TargetModules, Task, names_module,
};

/// What is the same for every operator of a step.
pub(super) struct Setting<'a> {
    pub(super) plan: &'a Plan,
    pub(super) subject: &'a Subject,
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
    /// Whether anything trains in this pass.
    pub(super) training: bool,
    /// Share of micro-batches that add to a gradient instead of writing it.
    pub(super) accumulating: f64,
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
        let micro_batches = plan.gradient_accumulation_steps.max(1) as f64;
        Self {
            plan,
            subject,
            rates: Rates::of(&subject.card, plan.num_gpus, bf16),
            batch: plan.per_device_train_batch_size as f64,
            length: plan.max_length as f64,
            precision: if half { Precision::Half } else { Precision::Single },
            stream: weight,
            weight,
            casts: autocast && weight > 2.0,
            attention: attention_path(plan, &subject.model, &subject.card),
            training: plan.task != Task::Inference,
            accumulating: (micro_batches - 1.0) / micro_batches,
        }
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
            && match self.plan.method {
                Method::Full => true,
                Method::Lora | Method::Qlora => {
                    self.plan.lora.modules_to_save.iter().any(|saved| names_module(saved, name))
                }
            }
    }

    /// Whether a linear module gets an adapter; "all-linear" leaves what is outside the layers out.
    pub(super) fn adapts(&self, module: &Module, outside: bool) -> bool {
        self.training
            && self.plan.method != Method::Full
            && match &self.plan.lora.target_modules {
                TargetModules::AllLinear => !outside,
                TargetModules::Names(names) => names.iter().any(|target| names_module(target, &module.name)),
            }
    }

    pub(super) fn quantizes(&self, outside: bool) -> bool {
        self.plan.method == Method::Qlora && !outside
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
