//! Times of layers that are known, and all that they depend on.
//!
//! Searches time hundreds of plans of one model, most of which differ in what happens outside the layers: in sharding, in the
//! optimizer, in what is kept or computed twice.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::rates::{Precision, Rates};
use super::tally::{Passes, Tally};
use crate::job::{AttentionKernel, FusedGemm, InputGrads, Job};
use crate::model::{BatchImages, KernelPackages, Model};
use crate::plan::{AdapterTargets, Method};

/// Times of a model's blocks; the head is none of them.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockTimes {
    /// Outside the layers, once.
    pub(super) outside: Passes,
    /// All layers.
    pub(super) layers: Passes,
    /// Forward of those that gradient checkpointing runs again.
    pub(super) recomputed: Tally,
    /// Bytes that all layers keep for backward.
    pub(super) saved: f64,
    /// The same where each keeps what it takes alone.
    pub(super) checkpointed: f64,
}

/// Times of layers that are known so far.
#[derive(Debug, Default)]
pub struct LayerTimes {
    known: RefCell<Vec<(Inputs, Rc<BlockTimes>)>>,
}

impl LayerTimes {
    /// The layers of a pass over `job`'s model, known or found out now by `time`.
    pub(super) fn of(&self, job: &Job, scalars: Scalars, time: impl FnOnce() -> BlockTimes) -> Rc<BlockTimes> {
        let found = |known: &(Inputs, Rc<BlockTimes>)| known.0.are_of(job, &scalars).then(|| known.1.clone());
        let known = self.known.borrow().iter().find_map(found);
        known.unwrap_or_else(|| {
            let timed = Rc::new(time());
            self.known.borrow_mut().push((Inputs::new(job, scalars), timed.clone()));
            timed
        })
    }
}

/// All that the time of a layer depends on.
#[derive(Debug)]
struct Inputs {
    scalars: Scalars,
    model: Arc<Model>,
    targets: AdapterTargets,
    modules_to_save: Vec<String>,
    freeze: Vec<String>,
    /// Which input embeddings are made to require gradients.
    input_grads: InputGrads,
}

impl Inputs {
    fn new(job: &Job, scalars: Scalars) -> Self {
        Self {
            scalars,
            model: job.model.clone(),
            targets: job.targets.clone(),
            modules_to_save: job.plan.lora.modules_to_save.clone(),
            freeze: job.plan.freeze.clone(),
            input_grads: job.input_grads(),
        }
    }

    fn are_of(&self, job: &Job, scalars: &Scalars) -> bool {
        self.scalars == *scalars
            && Arc::ptr_eq(&self.model, &job.model)
            && self.targets == job.targets
            && self.modules_to_save == job.plan.lora.modules_to_save
            && self.freeze == job.plan.freeze
            && self.input_grads == job.input_grads()
    }
}

/// What of it is no name, as in [`super::inputs::TimingInputs`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scalars {
    pub(super) method: Method,
    pub(super) bits: u8,
    pub(super) rates: Rates,
    pub(super) batch: f64,
    pub(super) length: f64,
    pub(super) source: f64,
    pub(super) images: BatchImages,
    pub(super) kernels: KernelPackages,
    pub(super) precision: Precision,
    pub(super) stream: f64,
    pub(super) weight: f64,
    pub(super) casts: bool,
    pub(super) attention: AttentionKernel,
    pub(super) padded: bool,
    pub(super) documents: f64,
    pub(super) training: bool,
    pub(super) adapters: bool,
    pub(super) forwards: f64,
    pub(super) setting: LayerSetting,
}

/// What of the plan the time of a layer depends on, besides shapes and dtypes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LayerSetting {
    /// Liger's kernels replace norms, rotation and gated activation.
    pub(super) liger: bool,
    /// The flash-attn package runs attention.
    pub(super) flash_package: bool,
    /// No layer of the head of masked tokens runs.
    pub(super) embeds: bool,
    /// Operations that unpacking a 4-bit value takes.
    pub(super) lookup_operations: f64,
    /// Scales of quantised blocks are quantised themselves.
    pub(super) double_quant: bool,
    pub(super) fused_gemm: FusedGemm,
    /// r.
    pub(super) lora_r: u64,
    /// Adapters drop out some of their input.
    pub(super) lora_dropout: bool,
    /// Adapters run under autocast.
    pub(super) autocast: bool,
    /// Bytes of an adapter's element.
    pub(super) adapter: f64,
}
