//! What the time of a step goes to.

/// What a share of a step's time goes to. Every second of a step belongs to exactly one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Prompts read before generation, all of it.
    Prefill,
    /// Tokens generated one after another.
    Decoding,
    /// Forwards without gradients beside the update: reference, old log-probabilities, values, rewards; all of them.
    Scoring,
    /// Matmuls of linear layers, experts and head in forward.
    ForwardMatmuls,
    /// Matmuls in backward: gradients of inputs, and of those weights that train.
    BackwardMatmuls,
    /// The layers' forward again, under gradient checkpointing: matmuls, attention and memory traffic of it.
    Recomputation,
    /// Scores, softmax and values, forward and backward.
    Attention,
    /// Norms, activations, rotary positions, residual additions, casts, dropout: limited by memory bandwidth.
    MemoryTraffic,
    /// Softmax and cross-entropy over the vocabulary: limited by memory bandwidth.
    Loss,
    /// Materialising 4-bit and 8-bit weights before matmuls.
    Dequantization,
    /// Clipping and the optimizer's step on the GPU.
    Optimizer,
    /// Collectives between GPUs that nothing hides.
    Communication,
    /// Parameters, gradients and pages moving between GPU and host that nothing hides.
    Offload,
    /// The optimizer's step on the host's processors.
    HostOptimizer,
    /// The GPU waits for Python and the driver to launch kernels.
    Launches,
}

impl Part {
    /// Every part, in the order a table shows them.
    pub const ALL: [Self; 15] = [
        Self::Prefill,
        Self::Decoding,
        Self::Scoring,
        Self::ForwardMatmuls,
        Self::BackwardMatmuls,
        Self::Recomputation,
        Self::Attention,
        Self::MemoryTraffic,
        Self::Loss,
        Self::Dequantization,
        Self::Optimizer,
        Self::Communication,
        Self::Offload,
        Self::HostOptimizer,
        Self::Launches,
    ];

    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decoding => "decoding",
            Self::Scoring => "scoring",
            Self::ForwardMatmuls => "forward_products",
            Self::BackwardMatmuls => "backward_products",
            Self::Recomputation => "recomputation",
            Self::Attention => "attention",
            Self::MemoryTraffic => "memory_traffic",
            Self::Loss => "loss",
            Self::Dequantization => "dequantization",
            Self::Optimizer => "optimizer",
            Self::Communication => "communication",
            Self::Offload => "offload",
            Self::HostOptimizer => "host_optimizer",
            Self::Launches => "launches",
        }
    }
}

serialize_by_name!(Part);
