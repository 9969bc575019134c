//! What part of a layer an operator belongs to: for names, and to look for eager attention in.

/// Part of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    /// The residual stream.
    Residual,
    /// A norm, but for what it gives.
    Norm,
    /// What a norm gives.
    NormOutput,
    /// Cosine and sine of positions.
    Rotary,
    /// Attention, or another mixer of tokens, up to its kernel.
    Attention,
    /// The same behind it.
    AttentionOutput,
    /// A feed-forward part.
    FeedForward,
    /// What chooses experts.
    Router,
    /// Experts.
    Experts,
    /// Tables of embeddings.
    Embedding,
    /// Anything else.
    Other,
}

impl Region {
    /// Of a module called `name` of class `class`.
    pub(super) fn of(name: &str, class: &str) -> Self {
        let last = name.rsplit('.').next().unwrap_or(name);
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let in_class = |parts: &[&str]| parts.iter().any(|part| class.contains(part));
        if in_class(&["Norm"]) {
            Self::Norm
        } else if in_class(&["Rotary"]) {
            Self::Rotary
        } else if in_class(&["Embedding"]) {
            Self::Embedding
        } else if in_class(&["Router", "TopK"]) || last == "gate" || last == "router" {
            Self::Router
        } else if in_class(&["Experts"]) || has(&["expert", "moe"]) {
            Self::Experts
        } else if ["o_proj", "out_proj", "c_proj", "wo"].contains(&last) && !has(&["mlp", "feed_forward"])
            || last == "dense" && has(&["att"])
        {
            Self::AttentionOutput
        } else if last == "dense"
            || has(&["mlp", "feed_forward", "ffn", "fc1", "fc2", "gate_proj", "up_proj", "down_proj"])
        {
            Self::FeedForward
        } else if has(&["att", "mixer", "mamba", "conv", "ssm", "delta"]) {
            Self::Attention
        } else {
            Self::Other
        }
    }
}
