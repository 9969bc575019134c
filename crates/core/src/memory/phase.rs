//! The phases of a step.

/// Parts of a step during which the set of live allocations is constant or monotone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Weights, buffers and, from the second step on, optimizer state.
    Load,
    /// Reading the prompt before generation.
    Prefill,
    /// Generating token by token.
    Decode,
    /// An engine of its own generates, reading prompts and writing answers side by side.
    Generation,
    /// Log-probabilities of the policy before its update.
    OldLogProbs,
    /// The frozen reference's forward.
    ReferenceForward,
    /// Forwards of reward models and of the value model, without gradients.
    RewardForward,
    /// Embedding and layers, forward.
    Forward,
    /// Head and loss, forward.
    Loss,
    /// Backward through loss and head.
    LossBackward,
    /// Backward through the layers.
    Backward,
    /// `clip_grad_norm_`.
    GradientClipping,
    /// `optimizer.step()`.
    OptimizerStep,
    /// New weights on their way to the engine that generates.
    WeightSync,
}

impl Phase {
    /// Every phase, in the order a step runs them.
    pub const ALL: &'static [Self] = &[
        Self::Load,
        Self::Prefill,
        Self::Decode,
        Self::Generation,
        Self::OldLogProbs,
        Self::ReferenceForward,
        Self::RewardForward,
        Self::Forward,
        Self::Loss,
        Self::LossBackward,
        Self::Backward,
        Self::GradientClipping,
        Self::OptimizerStep,
        Self::WeightSync,
    ];

    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Generation => "generation",
            Self::OldLogProbs => "old_logprobs",
            Self::ReferenceForward => "reference_forward",
            Self::RewardForward => "reward_forward",
            Self::Forward => "forward",
            Self::Loss => "loss",
            Self::LossBackward => "loss_backward",
            Self::Backward => "backward",
            Self::GradientClipping => "gradient_clipping",
            Self::OptimizerStep => "optimizer_step",
            Self::WeightSync => "weight_sync",
        }
    }
}

serialize_by_name!(Phase);
