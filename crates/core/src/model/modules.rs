//! A model's modules: what they are called, what they are for, and what parameters they have.

/// A module that owns parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// Name inside its layer or model, as in `named_modules()`: `self_attn.q_proj`, `mlp.down_proj`, `embed_tokens`.
    pub name: String,
    /// What it does, so that the step can find it.
    pub role: Role,
    /// Shapes.
    pub kind: ModuleKind,
    /// The part of the model that it belongs to.
    pub part: ModelPart,
    /// Where it stands in its class's own model: `visual.merger.mlp.0`; of a module in a layer the list of those layers, `visual.blocks`,
    /// empty where a program does not say it.
    pub path: String,
}

/// Part of a model that sees images: each can train or stay frozen by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ModelPart {
    /// The text part; the whole of a model without others.
    #[default]
    LanguageModel,
    /// What makes features of images.
    VisionTower,
    /// What brings them to the width of the text.
    MultiModalProjector,
    /// What reads sound: loaded with the model, and run by no batch that a plan can have.
    AudioTower,
}

impl ModelPart {
    /// Every part, as plans name it.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("vision_tower", Self::VisionTower),
        ("multi_modal_projector", Self::MultiModalProjector),
        ("language_model", Self::LanguageModel),
        ("audio_tower", Self::AudioTower),
    ];

    /// The part called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, part)| *part)
    }

    /// What plans call it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

/// Shapes of a module's parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum ModuleKind {
    /// `torch.nn.Linear` (weight d_out x d_in) or GPT-2's `Conv1D` (weight d_in x d_out): LoRA can target it and bitsandbytes quantises it.
    Linear {
        /// Input width.
        d_in: u64,
        /// Output width.
        d_out: u64,
        /// Whether there is a bias of d_out.
        bias: bool,
        /// `Conv1D`, not `Linear`.
        conv1d: bool,
        /// Its parameters are those of another module, which counts them: each of several layers has a module of its own around one
        /// weight (Zamba 2's transformer), and so an adapter of its own.
        tied: bool,
    },
    /// `torch.nn.Embedding`.
    Embedding {
        /// Rows.
        rows: u64,
        /// Width.
        width: u64,
    },
    /// A norm's weight and, with `bias`, bias; `weight: false` for norms without parameters.
    Norm {
        /// Width.
        width: u64,
        /// Has a weight.
        weight: bool,
        /// Has a bias.
        bias: bool,
    },
    /// Bare parameters that are no module of their own: stacked experts (transformers 5 keeps `gate_up_proj` E x 2I x h and `down_proj` E x h x I), routers, gates, biases.
    Tensors {
        /// Shape of each parameter, with its name.
        shapes: Vec<(String, Vec<u64>)>,
    },
}

/// What a module does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Token embedding.
    TokenEmbedding,
    /// Learned positions.
    PositionEmbedding,
    /// Segment embedding (BERT).
    TypeEmbedding,
    /// Norm right after the embeddings (BLOOM, BERT).
    EmbeddingNorm,
    /// Norm before attention, or the only one of a parallel layer.
    InputNorm,
    /// Norm before the feed-forward part.
    FeedForwardNorm,
    /// Norm after attention.
    PostAttentionNorm,
    /// Norm after the feed-forward part.
    PostFeedForwardNorm,
    /// `q_proj`, or the query's up projection of MLA (`q_b_proj`).
    Query,
    /// MLA: `q_a_proj`.
    QueryDown,
    /// MLA: norm of the compressed query.
    QueryDownNorm,
    /// `k_proj`.
    Key,
    /// `v_proj`.
    Value,
    /// Fused q, k, v.
    QueryKeyValue,
    /// MLA: `kv_a_proj_with_mqa`.
    KeyValueDown,
    /// MLA: norm of the compressed keys and values.
    KeyValueDownNorm,
    /// MLA: `kv_b_proj`.
    KeyValueUp,
    /// Norm over q.
    QueryNorm,
    /// Norm over k.
    KeyNorm,
    /// Attention's output projection.
    Output,
    /// `gate_proj`.
    Gate,
    /// `up_proj`, `fc1`, `c_fc`.
    Up,
    /// Fused gate and up.
    GateUp,
    /// `down_proj`, `fc2`, `mlp.c_proj`.
    Down,
    /// Attention's learned logits ([`Attention::sinks`]).
    Sinks,
    /// The router of a mixture of experts.
    Router,
    /// Stacked routed experts.
    RoutedExperts,
    /// Shared expert: gate.
    SharedGateProjection,
    /// Shared expert: up.
    SharedUp,
    /// Shared expert: down.
    SharedDown,
    /// Qwen2-MoE's `shared_expert_gate`.
    SharedExpertGate,
    /// Norm after the last layer.
    FinalNorm,
    /// `lm_head`.
    Head,
    /// A factor of the head for each logit, which trains.
    HeadGain,
    /// Anything else with parameters: projections around the embeddings (OPT-350m), poolers, masked-language-model heads.
    Other,
}

impl ModuleKind {
    /// Parameters, in elements.
    pub fn param_count(&self) -> u64 {
        match self {
            Self::Linear { tied: true, .. } => 0,
            Self::Linear { d_in, d_out, bias, .. } => {
                d_in.saturating_mul(*d_out).saturating_add(if *bias { *d_out } else { 0 })
            }
            Self::Embedding { rows, width } => rows.saturating_mul(*width),
            Self::Norm { width, weight, bias } => width.saturating_mul(u64::from(*weight) + u64::from(*bias)),
            Self::Tensors { shapes } => shapes
                .iter()
                .map(|(_, shape)| shape.iter().fold(1u64, |n, d| n.saturating_mul(*d)))
                .fold(0, u64::saturating_add),
        }
    }
}

pub(super) fn count(modules: &[Module]) -> u64 {
    modules.iter().map(|module| module.kind.param_count()).fold(0, u64::saturating_add)
}
