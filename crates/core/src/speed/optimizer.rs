//! Clipping and the optimizer's step: bytes read and written for each element, library by library.

use super::Part;
use super::inputs::TimingInputs;
use super::rates::{FORWARD_LAUNCH, Precision};
use super::tally::Tally;
use super::trained::Trained;
use crate::job::Job;
use crate::plan::{Dtype, Optimizer};

/// Time Python spends on a tensor in an optimizer's step and in clipping, seconds: a dozen list operations of
/// `_init_group` and `_foreach_norm`, at about a microsecond and a half each.
const PYTHON_PER_TENSOR: f64 = 20e-6;
/// Tensors that one multi-tensor kernel takes (aten/src/ATen/native/cuda/MultiTensorApply.cuh, depth_to_max_tensors).
const TENSORS_PER_LAUNCH: f64 = 30.0;
/// Elements a kernel of it takes at once: 320 chunks of 65,536 (the same file).
const ELEMENTS_PER_LAUNCH: f64 = 320.0 * 65_536.0;
/// Newton-Schulz iterations of Muon (torch.optim.Muon `ns_steps`), three matmuls each.
const MUON_PRODUCTS: f64 = 15.0;

/// What the step of one rank takes on the GPU, and seconds that Python takes for it.
pub(super) fn step(inputs: &TimingInputs, trained: &Trained) -> (Tally, f64) {
    let mut tally = Tally::default();
    let Job { plan, sharding, numerics, .. } = inputs.job;
    let share = if sharding.shards_optimizer() { 1.0 / sharding.ranks as f64 } else { 1.0 };
    let groups = [(trained.base, inputs.updated()), (trained.adapters, inputs.setting.adapter)];
    let per_launch = |passes: f64, elements: f64| {
        let tensors = (trained.tensors / TENSORS_PER_LAUNCH).ceil();
        passes * tensors.max((elements / ELEMENTS_PER_LAUNCH).ceil())
    };
    for (elements, width) in groups {
        let elements = elements * share;
        if elements == 0.0 {
            continue;
        }
        clip(&mut tally, inputs, elements, width);
        if sharding.offload_optimizer {
            continue;
        }
        if plan.optim == Optimizer::Grokadamw {
            // Three states come from the host and go back, tensor by tensor.
            tally.charge(Part::Offload, 6.0 * width * elements / inputs.rates.host_link);
        }
        if numerics.fp32_master {
            // DeepSpeed: the gradient to fp32, unscaled and clipped; fp32 master updated; the 16-bit weight written.
            let bytes = 6.0 + 8.0 + update_bytes(plan.optim, 4.0).0 + 6.0;
            tally.traffic(&inputs.rates, Part::Optimizer, elements * bytes, per_launch(8.0, elements));
        } else {
            let (bytes, passes) = update_bytes(plan.optim, width);
            let launches = match plan.optim {
                optim if runs_over_lists(optim) => per_launch(passes, elements),
                _ => passes * trained.tensors,
            };
            tally.traffic(&inputs.rates, Part::Optimizer, elements * bytes, launches);
        }
    }
    whole_matrix_matmuls(&mut tally, inputs, trained, share);
    let loops = if inputs.is_deepspeed() { 0.0 } else { trained.tensors };
    (tally, loops * PYTHON_PER_TENSOR + tally.launches * FORWARD_LAUNCH)
}

/// Whether one kernel takes many tensors (`torch._foreach_*` and fused forms), and not one.
const fn runs_over_lists(optimizer: Optimizer) -> bool {
    matches!(
        optimizer,
        Optimizer::AdamwTorch
            | Optimizer::AdamwTorchFused
            | Optimizer::Sgd
            | Optimizer::SgdMomentum
            | Optimizer::Rmsprop
            | Optimizer::Adagrad
            | Optimizer::ScheduleFreeAdamw
            | Optimizer::ScheduleFreeRadam
            | Optimizer::ScheduleFreeSgd
            // Their cost is the matrices' (`matrix_products`).
            | Optimizer::GaloreAdamw
            | Optimizer::ApolloAdamw
            | Optimizer::Muon
    )
}

/// Norm of all gradients, then all of them scaled; DeepSpeed scales while it updates. A gradient scaler looks for
/// infinities and unscales first.
fn clip(tally: &mut Tally, inputs: &TimingInputs, elements: f64, width: f64) {
    let mut bytes = 0.0;
    if inputs.job.plan.max_grad_norm > 0.0 {
        bytes += width * if inputs.is_deepspeed() { 1.0 } else { 3.0 };
    }
    if inputs.job.numerics.autocast == Some(Dtype::Float16) && !inputs.is_deepspeed() {
        bytes += 2.0 * width;
    }
    if bytes > 0.0 {
        let launches = 2.0 * (elements / ELEMENTS_PER_LAUNCH).ceil();
        tally.traffic(&inputs.rates, Part::Optimizer, elements * bytes, launches);
    }
}

/// Bytes read and written an element whose weight, gradient and state have `width` bytes, and kernels for each tensor list.
fn update_bytes(optimizer: Optimizer, width: f64) -> (f64, f64) {
    match optimizer {
        // torch.optim.adamw._multi_tensor_adamw: decay 2, lerp 3, square's decay 2, addcmul 3, root 2, division 2, eps 2,
        // addcdiv 4.
        Optimizer::AdamwTorch | Optimizer::AdamwTorchForloop => (20.0 * width, 8.0),
        // One kernel: weight, gradient and both moments read, three written.
        Optimizer::AdamwTorchFused => (7.0 * width, 1.0),
        Optimizer::AdamwBnb8bit | Optimizer::PagedAdamw8bit => (3.0 * width + 4.0, 1.0),
        Optimizer::PagedAdamw32bit => (3.0 * width + 16.0, 1.0),
        Optimizer::Lion8bit => (3.0 * width + 2.0, 1.0),
        Optimizer::Lion32bit => (3.0 * width + 8.0, 1.0),
        Optimizer::Sgd => (3.0 * width, 1.0),
        Optimizer::SgdMomentum => (6.0 * width, 2.0),
        // transformers' Adafactor in fp32: square and eps, two means, outer product, its product with the gradient, its
        // norm, two scalings, the weight's own norm, the update.
        Optimizer::Adafactor => (if width < 4.0 { 68.0 + 12.0 } else { 68.0 }, 20.0),
        // The projected moments are small; the gradient is read and the update written whole.
        Optimizer::GaloreAdamw
        | Optimizer::GaloreAdamwLayerwise
        | Optimizer::GaloreAdafactor
        | Optimizer::ApolloAdamw
        | Optimizer::ApolloAdamwLayerwise => (8.0 * width, 20.0),
        // The same, and the weight cloned.
        Optimizer::GaloreAdamw8bit | Optimizer::GaloreAdamw8bitLayerwise => (10.0 * width, 20.0),
        // Momentum, cast to bf16, update.
        Optimizer::Muon => (10.0 * width, 10.0),
        Optimizer::PagedLion8bit | Optimizer::RmspropBnb8bit => (3.0 * width + 2.0, 1.0),
        Optimizer::PagedLion32bit | Optimizer::RmspropBnb => (3.0 * width + 8.0, 1.0),
        // Weight read and written, gradient read, three states both.
        Optimizer::Ademamix8bit | Optimizer::PagedAdemamix8bit => (3.0 * width + 6.0, 1.0),
        Optimizer::Ademamix | Optimizer::PagedAdemamix32bit => (3.0 * width + 24.0, 1.0),
        // torch.optim.rmsprop._multi_tensor_rmsprop: decay 2, addcmul 3, root 2, eps 2, addcdiv 4.
        Optimizer::Rmsprop => (13.0 * width, 5.0),
        // torch.optim.adagrad._multi_tensor_adagrad: addcmul 3, root 2, eps 2, product with the rate 2, addcdiv 4.
        Optimizer::Adagrad => (13.0 * width, 5.0),
        // schedulefree: decay 2, addcmul 3, division 2, root 2, eps 2, the gradient's division 3, lerp 3, two additions 6.
        Optimizer::ScheduleFreeAdamw | Optimizer::ScheduleFreeRadam => (23.0 * width, 9.0),
        // lerp 3, two additions 6.
        Optimizer::ScheduleFreeSgd => (9.0 * width, 3.0),
        // Two Triton kernels: moments and gradient, then moments, compensation and weight.
        Optimizer::StableAdamw => (12.0 * width, 2.0),
        // Gradient and weight to fp32, the update, the weight back.
        Optimizer::Lomo => (2.0 * width + 24.0, 4.0),
        // Adafactor's passes.
        Optimizer::Adalomo => (if width < 4.0 { 68.0 + 12.0 } else { 68.0 }, 20.0),
        // AdamW's passes, and those of the slow average between them.
        Optimizer::Grokadamw => (30.0 * width, 12.0),
        // Weight read and written, gradient read, codes of two states both.
        Optimizer::AdamwTorch8bit => (3.0 * width + 4.0, 1.0),
        // The same, and between its kernels two numbers and two codes an element are written and read.
        Optimizer::AdamwTorch4bit => (3.0 * width + 2.0 + 48.0, 5.0),
    }
}

/// Matmuls that some optimizers run on whole matrices.
fn whole_matrix_matmuls(tally: &mut Tally, inputs: &TimingInputs, trained: &Trained, share: f64) {
    let hidden = inputs.model.hidden_size as f64;
    // A matrix of h x n costs 2 h² n a matmul: 2 h for each of its elements.
    let flops = match inputs.job.plan.optim {
        Optimizer::Muon => trained.matrices * share * 2.0 * hidden * MUON_PRODUCTS,
        // Down to rank 128 and up again.
        Optimizer::GaloreAdamw => trained.matrices * share * 2.0 * 128.0 * 2.0,
        _ => return,
    };
    let square = inputs.rates.matmul((1.0, [hidden, hidden, hidden]), Precision::Half);
    let seconds = flops / (2.0 * hidden.powi(3)) * square;
    tally.operator(&inputs.rates, Part::Optimizer, seconds, 0.0);
}
