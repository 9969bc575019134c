//! The Job: what follows from a plan, worked out once.
//!
//! A [`Plan`] says what the user chose, "auto" and defaults included. What such choices come to (the model, the GPU, which
//! ranks keep which share, the dtype of a matmul, the kernel attention runs in) is decided here and nowhere else: modules
//! above read the answer off the job. A line of code belongs here if it derives something from several fields of a plan,
//! or from a plan and its model or GPU, and neither allocates nor takes time.

mod attention;
mod engine;
mod experts;
mod four_bit;
mod images;
mod input_grads;
mod instances;
mod liger;
mod loss;
mod models;
mod numerics;
mod pairs;
mod policy;
mod resolve;
mod settle;
mod sharding;
#[cfg(test)]
mod tests;
mod trainer;

pub use attention::AttentionKernel;
pub(crate) use engine::{MAX_NUM_SEQS, captured};
pub(crate) use experts::HeldExperts;
pub(crate) use four_bit::FusedGemm;
pub use images::ImageRule;
pub(crate) use images::SeenImage;
pub(crate) use input_grads::InputGrads;
pub use instances::Instance;
pub(crate) use liger::{
    applies as applies_liger, fuses_experts, fuses_gate, fuses_loss as fuses_liger_loss, norm_in_place,
};
pub use loss::LossImplementation;
pub(crate) use loss::{HeadPositions, LogitsMetrics, ShiftedLogits};
pub use numerics::Numerics;
pub(crate) use numerics::adapter_dtype;
pub(crate) use pairs::{AnswerCopies, AnswerLogits, ChosenLoss};
pub(crate) use policy::ENGINE_DTYPE;
pub use sharding::{FlatStrategy, Scheme, Sharding};
pub use trainer::{Accelerate, TrainerStep};

use std::sync::Arc;

use crate::gpu::{Gpu, HostMemory};
use crate::model::{BatchImages, Model, ModelKind, ModelPart, Module};
use crate::plan::{AdapterTargets, Batches, Frozen, Method, Plan, ReferenceKind, Task};
use crate::units::GIB;

/// A plan with everything that follows from it: what an estimate, a step time or an advice is about.
///
/// Made by [`Job::resolve`], and by [`Job::with`] for a plan that differs in a few fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What the user chose; for fields that mean what they say.
    pub(crate) plan: Plan,
    /// The model that trains or runs.
    pub(crate) model: Arc<Model>,
    /// The GPU, from the catalogue or as the plan describes it.
    pub(crate) gpu: Gpu,
    /// Memory of the GPU, bytes.
    pub(crate) memory_bytes: u64,
    /// The models beside policy and reference, the value model first.
    pub(crate) instances: Vec<Instance>,
    /// Whose step runs.
    pub(crate) trainer: TrainerStep,
    /// Who keeps which share.
    pub(crate) sharding: Sharding,
    /// Which dtype everything is in.
    pub(crate) numerics: Numerics,
    /// What gets adapters.
    pub(crate) targets: AdapterTargets,
    /// How the policy's routed experts are held.
    pub(crate) experts: HeldExperts,
    /// What of the model stays as it is.
    pub(crate) frozen: Frozen,
    /// What computes the loss.
    pub(crate) loss: LossImplementation,
    /// What attention runs in.
    pub(crate) attention: AttentionKernel,
    /// How the sequences of a step are cut.
    pub(crate) batches: Batches,
    /// The images of a forward.
    pub(crate) images: BatchImages,
    /// How the reference exists; never `Auto`.
    pub(crate) reference: ReferenceKind,
    /// Sequences are padded, so that a mask reaches attention: as the plan says, and where a loop of one's own generates
    /// answers, whose prompts are padded on the left and answers on the right.
    pub(crate) padded: bool,
}

impl Job {
    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan, for those who need no more of the job.
    pub fn into_plan(self) -> Plan {
        self.plan
    }

    /// The model that trains or runs.
    pub const fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The GPU, from the catalogue or as the plan describes it.
    pub const fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Memory of the GPU, bytes.
    pub const fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// The models beside policy and reference, the value model first.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Memory of the hosts together: as the plan states it, or what machines with such GPUs usually have at most.
    pub fn host_memory(&self) -> HostMemory {
        let stated = |gib: f64| HostMemory { bytes: (gib * GIB as f64) as u64, source: "host_memory_gib" };
        let of = |gpus: u64| self.gpu.segment.host_memory(gpus);
        let usual = || match self.plan.num_nodes {
            None => of(self.plan.num_gpus),
            // Every machine has at least what one of its kind has.
            Some(nodes) => {
                let one = of(self.plan.gpus_per_machine());
                HostMemory { bytes: one.bytes.saturating_mul(nodes), ..one }
            }
        };
        self.plan.host_memory_gib.map_or_else(usual, stated)
    }

    /// Whose step runs, at which measured version.
    pub const fn trainer(&self) -> TrainerStep {
        self.trainer
    }

    /// Who keeps which share of weights, gradients and optimizer state.
    pub const fn sharding(&self) -> &Sharding {
        &self.sharding
    }

    /// Which dtype weights, adapters and matmuls are in.
    pub const fn numerics(&self) -> &Numerics {
        &self.numerics
    }

    /// What computes the loss.
    pub const fn loss(&self) -> LossImplementation {
        self.loss
    }

    /// What attention runs in.
    pub const fn attention(&self) -> AttentionKernel {
        self.attention
    }

    /// How the sequences of one optimizer step are cut.
    pub const fn batches(&self) -> &Batches {
        &self.batches
    }

    /// How the reference model exists; never `Auto`.
    pub const fn reference(&self) -> ReferenceKind {
        self.reference
    }

    /// Whether anything is trained.
    pub fn trains(&self) -> bool {
        trains(&self.plan)
    }

    /// Whether adapters are trained beside a frozen base.
    pub fn adapts(&self) -> bool {
        adapts(&self.plan)
    }

    /// Whether the base is quantised.
    pub fn quantizes(&self) -> bool {
        self.plan.method == Method::Qlora
    }

    /// Whether transformers quantises the base weight by weight as it loads it; 8-bit weights are not followed that far.
    pub(crate) fn quantizes_while_loading(&self) -> bool {
        self.quantizes() && self.plan.quantization.bits == 4 && self.trainer.loads_weight_by_weight()
    }

    /// Whether every process reads the checkpoint, as transformers 5 does under FSDP too.
    pub(crate) fn reads_weights_in_every_process(&self) -> bool {
        self.trainer.loads_weight_by_weight()
    }

    /// Whether a module of the model stays as it is.
    pub(crate) fn freezes(&self, module: &Module) -> bool {
        self.frozen.has(module)
    }

    /// Whether a whole part of it does.
    pub(crate) fn freezes_part(&self, part: ModelPart) -> bool {
        self.frozen.has_part(part)
    }

    /// Whether a score head stands in for the language-model head.
    pub fn scores(&self) -> bool {
        matches!(self.plan.task, Task::SequenceClassification | Task::Reward) && !self.has_value_head()
    }

    /// Whether an embedding model trains: no head runs, and the class is the one without (`AutoModel`).
    pub fn embeds(&self) -> bool {
        self.plan.task == Task::Embedding
    }

    /// Whether the classification head reads one token of each sequence through the layers of the masked-language-model head.
    pub(crate) fn pools_before_head_layers(&self) -> bool {
        let reads_layers = || self.model.recorded.program.classifies_by_head_layers();
        self.scores() && self.model.kind == ModelKind::Encoder && reads_layers()
    }

    /// Whether the class that trains has no layers of a masked-language-model head: that without a head, or one that classifies
    /// without them.
    pub(crate) fn lacks_head_layers(&self) -> bool {
        let classifies = self.scores() && self.model.kind == ModelKind::Encoder;
        self.embeds() || classifies && !self.pools_before_head_layers()
    }

    /// Whether the trainer sets every dropout of the model to 0.
    pub(crate) fn disables_dropout(&self) -> bool {
        self.trainer.disables_dropout(self.plan.task)
    }

    /// Dropout probability before adapters.
    pub(crate) fn lora_dropout(&self) -> f64 {
        if self.disables_dropout() { 0.0 } else { self.plan.lora.lora_dropout }
    }

    /// Whether a value head scores every token beside the language-model head, which runs as well.
    pub fn has_value_head(&self) -> bool {
        self.plan.task == Task::Reward && self.trainer.adds_value_head()
    }

    /// What an image of the plan becomes; `None` without images.
    pub(crate) fn image(&self) -> Option<SeenImage> {
        images::seen(&self.plan, &self.model)
    }

    /// Which 4-bit matmuls run in one kernel.
    pub(crate) fn fused_gemm(&self) -> FusedGemm {
        FusedGemm::of(&self.plan, &self.gpu, self.numerics.float16)
    }

    /// Whether bitsandbytes multiplies `tokens` by a 4-bit weight of d_out x d_in in one kernel, without materialising the
    /// weight in 16 bits.
    pub fn uses_fused_4bit_gemm(&self, tokens: u64, (d_out, d_in): (u64, u64)) -> bool {
        self.fused_gemm().serves(tokens, (d_out, d_in))
    }
}

fn trains(plan: &Plan) -> bool {
    plan.task != Task::Inference
}

fn adapts(plan: &Plan) -> bool {
    plan.method != Method::Full && trains(plan)
}

/// How the reference exists for a plan; never `Auto`.
pub(crate) fn reference_kind(plan: &Plan) -> ReferenceKind {
    // trl grpo_config.py and rloo_config.py `beta`.
    let beta = plan.policy.beta.unwrap_or(if plan.task == Task::Rloo { 0.05 } else { 0.0 });
    if matches!(plan.task, Task::Orpo | Task::Cpo) || matches!(plan.task, Task::Grpo | Task::Rloo) && beta <= 0.0 {
        return ReferenceKind::None;
    }
    match plan.reference.kind {
        // trl: create_reference_model without peft, the adapter switched off with it.
        ReferenceKind::Auto if plan.method == Method::Full => ReferenceKind::Copy,
        ReferenceKind::Auto => ReferenceKind::AdapterDisabled,
        kind => kind,
    }
}
