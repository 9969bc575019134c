//! Optimizers by their Hugging Face names (transformers training_args.py `OptimizerNames`), what kind each is, and the names
//! that are known and not modelled.

use super::ProblemKind;
use super::names::names;

names! {
    /// Optimizers under their Hugging Face names.
    Optimizer {
        /// `torch.optim.AdamW` as PyTorch defaults: foreach on CUDA.
        AdamwTorch = "adamw_torch",
        /// `torch.optim.AdamW(fused=True)`.
        AdamwTorchFused = "adamw_torch_fused",
        /// `torch.optim.AdamW(foreach=False)`.
        AdamwTorchForloop = "adamw_torch_forloop",
        /// bitsandbytes AdamW, 8-bit states.
        AdamwBnb8bit = "adamw_bnb_8bit",
        /// bitsandbytes AdamW, 8-bit states in managed memory.
        PagedAdamw8bit = "paged_adamw_8bit",
        /// bitsandbytes AdamW, fp32 states in managed memory.
        PagedAdamw32bit = "paged_adamw_32bit",
        /// `torch.optim.SGD` without momentum.
        Sgd = "sgd",
        /// `torch.optim.SGD` with momentum.
        SgdMomentum = "sgd_momentum",
        /// transformers' Adafactor without first moment.
        Adafactor = "adafactor",
        /// bitsandbytes Lion, fp32 state.
        Lion32bit = "lion_32bit",
        /// bitsandbytes Lion, 8-bit state.
        Lion8bit = "lion_8bit",
        /// GaLore over AdamW.
        GaloreAdamw = "galore_adamw",
        /// APOLLO over AdamW.
        ApolloAdamw = "apollo_adamw",
        /// `torch.optim.Muon` for the layers' matrices, fused AdamW for the rest.
        Muon = "muon",
        /// bitsandbytes Lion, fp32 state in managed memory.
        PagedLion32bit = "paged_lion_32bit",
        /// bitsandbytes Lion, 8-bit state in managed memory.
        PagedLion8bit = "paged_lion_8bit",
        /// bitsandbytes AdEMAMix, fp32 states.
        Ademamix = "ademamix",
        /// bitsandbytes AdEMAMix, 8-bit states.
        Ademamix8bit = "ademamix_8bit",
        /// bitsandbytes AdEMAMix, fp32 states in managed memory.
        PagedAdemamix32bit = "paged_ademamix_32bit",
        /// bitsandbytes AdEMAMix, 8-bit states in managed memory.
        PagedAdemamix8bit = "paged_ademamix_8bit",
        /// `torch.optim.RMSprop` as PyTorch defaults: foreach on CUDA, no momentum.
        Rmsprop = "rmsprop",
        /// bitsandbytes RMSprop, fp32 state.
        RmspropBnb = "rmsprop_bnb",
        /// bitsandbytes RMSprop, 8-bit state.
        RmspropBnb8bit = "rmsprop_bnb_8bit",
        /// `torch.optim.Adagrad` as PyTorch defaults: foreach on CUDA.
        Adagrad = "adagrad",
        /// GaLore over bitsandbytes' 8-bit AdamW.
        GaloreAdamw8bit = "galore_adamw_8bit",
        /// GaLore over Adafactor.
        GaloreAdafactor = "galore_adafactor",
        /// GaLore over AdamW, each weight updated as soon as its gradient is there.
        GaloreAdamwLayerwise = "galore_adamw_layerwise",
        /// GaLore over bitsandbytes' 8-bit AdamW, each weight updated as soon as its gradient is there.
        GaloreAdamw8bitLayerwise = "galore_adamw_8bit_layerwise",
        /// APOLLO over AdamW, each weight updated as soon as its gradient is there.
        ApolloAdamwLayerwise = "apollo_adamw_layerwise",
        /// LOMO: SGD, each weight updated while backward runs.
        Lomo = "lomo",
        /// AdaLomo: Adafactor's factored second moment, each weight updated while backward runs.
        Adalomo = "adalomo",
        /// schedulefree's AdamW.
        ScheduleFreeAdamw = "schedule_free_adamw",
        /// schedulefree's RAdam.
        ScheduleFreeRadam = "schedule_free_radam",
        /// schedulefree's SGD.
        ScheduleFreeSgd = "schedule_free_sgd",
        /// torch-optimi's StableAdamW, in Triton kernels.
        StableAdamw = "stable_adamw",
        /// grokadamw's AdamW, whose state rests on the host.
        Grokadamw = "grokadamw",
        /// torchao's AdamW, 8-bit states.
        AdamwTorch8bit = "adamw_torch_8bit",
        /// torchao's AdamW, 4-bit states.
        AdamwTorch4bit = "adamw_torch_4bit",
    }
}

/// Names of `OptimizerNames` that are refused. The XLA and NPU forms run on no CUDA GPU. torchdistx, which
/// `adamw_anyprecision` imports, has no release that installs beside a current PyTorch.
/// `galore_adafactor_layerwise` cannot be made: trainer_optimizer.py passes a learning rate beside Adafactor's
/// `relative_step=True`, which raises. axolotl's own names come last (utils/schemas/enums.py `CustomSupportedOptimizers`).
const NOT_MODELLED: &[&str] = &[
    "adamw_torch_xla",
    "adamw_torch_npu_fused",
    "adamw_anyprecision",
    "galore_adafactor_layerwise",
    "ao_adamw_fp8",
    "optimi_adamw",
    "came_pytorch",
    "dion",
];

impl Optimizer {
    /// The problem of a name that Headroom knows and does not model.
    pub(super) fn not_modelled(name: &str) -> Option<ProblemKind> {
        let known = NOT_MODELLED.contains(&name);
        known.then(|| ProblemKind::NotModelled { value: name.to_owned(), modelled: Self::NAMES.to_vec() })
    }

    /// Whether it projects the gradients of the layers' matrices to a low rank.
    pub(crate) const fn is_low_rank(self) -> bool {
        matches!(
            self,
            Self::GaloreAdamw
                | Self::GaloreAdamw8bit
                | Self::GaloreAdafactor
                | Self::GaloreAdamwLayerwise
                | Self::GaloreAdamw8bitLayerwise
                | Self::ApolloAdamw
                | Self::ApolloAdamwLayerwise
        )
    }

    /// Whether a hook updates each weight once its gradient has been summed, and frees the gradient
    /// (trainer_optimizer.py `_setup_low_rank_optimizer`, `register_post_accumulate_grad_hook`).
    pub(crate) const fn is_layerwise(self) -> bool {
        matches!(self, Self::GaloreAdamwLayerwise | Self::GaloreAdamw8bitLayerwise | Self::ApolloAdamwLayerwise)
    }

    /// Whether weights are updated while backward runs, so that no gradient is left for clipping.
    pub(crate) const fn steps_in_backward(self) -> bool {
        self.is_layerwise() || matches!(self, Self::Lomo | Self::Adalomo)
    }

    /// Whether each rank of a sharded run can update its part of a tensor as if it were a tensor of its own, and this is
    /// what is estimated.
    pub(crate) const fn updates_shards(self) -> bool {
        !(self.steps_in_backward()
            || matches!(
                self,
                Self::GaloreAdamw8bit
                    | Self::GaloreAdafactor
                    | Self::ScheduleFreeAdamw
                    | Self::ScheduleFreeRadam
                    | Self::ScheduleFreeSgd
                    | Self::StableAdamw
                    | Self::Grokadamw
                    | Self::AdamwTorch8bit
                    | Self::AdamwTorch4bit
            ))
    }

    /// Whether bitsandbytes' RMSprop runs, which has no kernel for bf16 gradients over an fp32 state
    /// (backends/cuda/ops.py `_optimizer_update_32bit_impl`).
    pub(crate) const fn is_bitsandbytes_rmsprop(self) -> bool {
        matches!(self, Self::RmspropBnb | Self::RmspropBnb8bit)
    }
}
