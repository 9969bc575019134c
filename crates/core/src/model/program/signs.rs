//! Operators by whose names one can tell what a stretch of code computes.

/// What an operator's name gives away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// What turns half of a head round.
    Negation,
    Tanh,
    Relu,
    Power,
    /// A tensor of zeros.
    Zeros,
    /// The activation of a gate.
    Gate,
    /// A product of two tensors.
    Product,
    /// A dimension more.
    Unsqueeze,
    /// A dimension repeated, without bytes of its own.
    Expand,
    /// A copy of what does not lie in one piece.
    Copy,
    /// The same, as `matmul` makes it of heads.
    CopyForMatmul,
    /// The same elements in another shape.
    View,
    /// A matrix the other way round.
    Transpose,
    /// Two dimensions in each other's place.
    Swap,
    /// Tensors one behind the other.
    Joined,
    /// Parts of a tensor.
    Split,
    /// A cast.
    Cast,
    Softmax,
    Other,
}

impl Sign {
    /// Of ATen's operator `name`.
    pub(super) fn of(name: &str) -> Self {
        match name.split('.').next().unwrap_or(name) {
            "neg" => Self::Negation,
            "tanh" => Self::Tanh,
            "relu" => Self::Relu,
            "pow" | "square" => Self::Power,
            "zeros" => Self::Zeros,
            "silu" | "gelu" => Self::Gate,
            "mul" => Self::Product,
            "unsqueeze" => Self::Unsqueeze,
            "expand" => Self::Expand,
            "clone" => Self::Copy,
            "reshape" => Self::CopyForMatmul,
            "view" | "_unsafe_view" => Self::View,
            "t" => Self::Transpose,
            "transpose" => Self::Swap,
            "cat" => Self::Joined,
            "split" | "split_with_sizes" | "chunk" => Self::Split,
            "_to_copy" => Self::Cast,
            "_softmax" => Self::Softmax,
            _ => Self::Other,
        }
    }
}
