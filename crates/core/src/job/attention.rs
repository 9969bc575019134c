//! Which kernel attention runs in.

use super::trainer::TrainerStep;
use crate::gpu::Gpu;
use crate::model::Model;
use crate::plan::{self, AttnImplementation, Plan};

/// What attention runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttentionKernel {
    /// Flash attention, PyTorch's or the package's.
    Flash,
    /// PyTorch's memory-efficient kernel.
    Efficient,
    /// Separate operators: scores are materialised.
    Eager,
}

impl AttentionKernel {
    /// flash-attn and PyTorch's flash kernel want 16-bit numbers and compute capability 8.0
    /// (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp).
    pub(super) fn of(plan: &Plan, model: &Model, gpu: &Gpu) -> Self {
        use plan::AttentionKernel as Chosen;
        if is_eager(plan, model) {
            return Self::Eager;
        }
        match (plan.attn_implementation, plan.attention_kernel) {
            (AttnImplementation::FlashAttention2, _) | (_, Chosen::Flash) => Self::Flash,
            (_, Chosen::Efficient) => Self::Efficient,
            (_, Chosen::Auto | Chosen::Math) => {
                let ampere = gpu.compute_capability.is_none_or(|(major, _)| major >= 8);
                if ampere { Self::Flash } else { Self::Efficient }
            }
        }
    }
}

/// Whether scores are materialised, whatever the GPU: asked for, or all that the family's class can do.
fn is_eager(plan: &Plan, model: &Model) -> bool {
    match plan.attn_implementation {
        AttnImplementation::Eager => true,
        _ if model.behaviour.attends_by_itself => true,
        AttnImplementation::Sdpa if !model.behaviour.supports_sdpa => {
            let softcaps = model.first_text_layer().is_some_and(|layer| layer.attention.logit_softcapping);
            !(softcaps && TrainerStep::of(plan).softcaps_outside_sdpa())
        }
        _ => plan.attention_kernel == plan::AttentionKernel::Math,
    }
}
