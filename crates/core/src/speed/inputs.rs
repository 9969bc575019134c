//! What is the same for every operator of a step.

use headroom_torch::ElementType;

use super::layer_times::{LayerSetting, LayerTimes};
use super::linear::lookup_operations;
use super::rates::{Precision, Rates};
use crate::job::{AttentionKernel, Job, Scheme};
use crate::model::{BatchImages, KernelPackages, Model, Module};
use crate::plan::{AttnImplementation, Method, names_module};

/// What is the same for every operator of a pass over a model.
#[derive(Clone, Copy)]
pub(super) struct TimingInputs<'a> {
    pub(super) job: &'a Job,
    pub(super) model: &'a Model,
    /// Layers that are timed already.
    pub(super) layer_times: &'a LayerTimes,
    /// Which of the model's weights train.
    pub(super) method: Method,
    /// Bits of quantised weights.
    pub(super) bits: u8,
    pub(super) rates: Rates,
    /// b, sequences of a forward.
    pub(super) batch: f64,
    /// s, tokens of each.
    pub(super) length: f64,
    /// Tokens of each source, of an encoder-decoder.
    pub(super) source: f64,
    pub(super) images: BatchImages,
    /// Packages with kernels for recorded layers that are installed.
    pub(super) kernels: KernelPackages,
    /// What matmuls run in.
    pub(super) precision: Precision,
    /// Bytes of an element of the residual stream.
    pub(super) stream: f64,
    /// Bytes of a weight that is not quantised, and of its gradient.
    pub(super) weight: f64,
    /// Whether matmuls cast fp32 weights and inputs to 16 bits.
    pub(super) casts: bool,
    pub(super) attention: AttentionKernel,
    /// A mask with real padding reaches attention.
    pub(super) padded: bool,
    /// Documents that share a row and attend each to itself: a row of packed sequences has at least as many as it has lengths.
    pub(super) documents: f64,
    /// A score head stands in for the vocabulary.
    pub(super) scores: bool,
    /// Whether anything trains in this pass.
    pub(super) training: bool,
    /// Whether adapters take part.
    pub(super) adapters: bool,
    /// A, forwards of one step.
    pub(super) forwards: f64,
    pub(super) setting: LayerSetting,
}

fn layer_setting(job: &Job) -> LayerSetting {
    let plan = &job.plan;
    LayerSetting {
        liger: plan.use_liger_kernel,
        flash_package: plan.attn_implementation == AttnImplementation::FlashAttention2,
        embeds: job.embeds(),
        lookup_operations: lookup_operations(plan),
        double_quant: plan.quantization.double_quant,
        fused_gemm: job.fused_gemm(),
        lora_r: plan.lora.r,
        lora_dropout: plan.lora.lora_dropout > 0.0,
        autocast: job.numerics.autocast.is_some(),
        adapter: job.numerics.adapters.bytes() as f64,
    }
}

impl<'a> TimingInputs<'a> {
    pub(super) fn new(job: &'a Job, layer_times: &'a LayerTimes) -> Self {
        let Job { plan, numerics, batches, .. } = job;
        let weight = numerics.gathered.bytes() as f64;
        let (batch, forwards) = (batches.sequences_per_forward as f64, batches.forwards_per_step.max(1) as f64);
        // Under GradCache forwards are as large as its mini-batches.
        let mini_batches = plan.mini_batches().max(1) as f64;
        Self {
            job,
            model: &job.model,
            layer_times,
            method: plan.method,
            bits: plan.quantization.bits,
            rates: Rates::of(&job.gpu, super::rates::Ranks::of(job), !numerics.float16),
            batch: batch / mini_batches,
            length: batches.tokens_per_sequence as f64,
            source: batches.tokens_per_source as f64,
            images: job.images,
            kernels: plan.software.kernels(),
            precision: if numerics.multiplies_in_16_bits() { Precision::Half } else { Precision::Single },
            stream: weight,
            weight,
            casts: numerics.autocast.is_some() && weight > 2.0,
            attention: job.attention,
            padded: job.padded,
            documents: if plan.flattens_batch() && !job.padded { plan.per_device_train_batch_size as f64 } else { 1.0 },
            scores: job.scores(),
            training: job.trains(),
            adapters: job.trains(),
            forwards: forwards * mini_batches,
            setting: layer_setting(job),
        }
    }

    /// The same for a model beside the policy, whose job is `job`: it has no adapters and one score for a head.
    pub(super) fn for_companion(job: &'a Job, layer_times: &'a LayerTimes) -> Self {
        Self { adapters: false, scores: true, training: true, ..Self::new(job, layer_times) }
    }

    /// Share of forwards that add to a gradient instead of writing it.
    pub(super) fn accumulating(&self) -> f64 {
        (self.forwards - 1.0) / self.forwards
    }

    /// b·s.
    pub(super) fn tokens(&self) -> f64 {
        self.batch * self.length
    }

    /// Bytes of an element of matmuls.
    pub(super) fn element(&self) -> f64 {
        self.precision.bytes()
    }

    /// dtype of the residual stream.
    pub(super) fn stream_element(&self) -> ElementType {
        if self.stream < 4.0 { ElementType::Half } else { ElementType::F32 }
    }

    /// dtype of what matmuls make.
    pub(super) fn matmul_element(&self) -> ElementType {
        if self.precision == Precision::Half { ElementType::Half } else { ElementType::F32 }
    }

    /// The same for one token of each sequence: images were read before it.
    pub(super) fn of_one_token(&self, batch: f64) -> Self {
        Self { images: BatchImages::default(), ..self.without_gradients(batch, 1.0) }
    }

    /// The same for a forward without gradients over `batch` sequences of `length` tokens.
    pub(super) fn without_gradients(&self, batch: f64, length: f64) -> Self {
        Self { batch, length, training: false, ..*self }
    }

    /// Whether a parameter of the base trains: all of them, or those that are saved beside adapters.
    pub(super) fn trains_base(&self, module: &Module) -> bool {
        self.training
            && !self.job.freezes(module)
            && match self.method {
                Method::Full => true,
                Method::Lora | Method::Qlora => {
                    self.job.plan.lora.modules_to_save.iter().any(|saved| names_module(saved, &module.name))
                }
            }
    }

    /// Whether a linear module gets an adapter; "all-linear" leaves what is outside the layers out.
    pub(super) fn adapts(&self, module: &Module, outside: bool) -> bool {
        self.adapters
            && self.method != Method::Full
            && !self.job.freezes(module)
            && self.job.targets.has_module(&module.name, outside)
    }

    pub(super) fn quantizes(&self, outside: bool) -> bool {
        self.method == Method::Qlora && !outside
    }

    /// Bytes of a trained element of the base as the optimizer updates it: FSDP2's shards may be wider than what matmuls
    /// read.
    pub(super) fn updated(&self) -> f64 {
        self.job.numerics.unquantized.bytes() as f64
    }

    /// Whether the optimizer's step is DeepSpeed's.
    pub(super) fn is_deepspeed(&self) -> bool {
        matches!(self.job.sharding.scheme, Scheme::Zero(_))
    }
}
