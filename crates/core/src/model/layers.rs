//! The facts about layers that decide memory: residual stream, norms, attention, feed-forward parts.
//!
//! Symbols used in all docs: b batch, s tokens a sequence, h hidden size, L layers, V vocabulary, I intermediate size,
//! a attention heads, k key/value heads, d head dimension.

use super::modules::{ModelPart, Module, Role, count};

/// `count` identical layers in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerRun {
    /// How many.
    pub count: u64,
    /// Place of the first run whose layers are the same as these.
    pub kind: usize,
    /// What each is.
    pub layer: Layer,
}

/// One transformer layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Every module with parameters, in the order the class registers them.
    pub modules: Vec<Module>,
    /// Self-attention facts.
    pub attention: Attention,
    /// Feed-forward facts.
    pub feed_forward: FeedForward,
    /// How norms and residual additions are arranged.
    pub residual: Residual,
    /// What the norms of this layer compute.
    pub norm: NormKind,
    /// Dropout probability on the outputs of attention and feed-forward before the residual addition (GPT-2's `resid_pdrop`).
    pub residual_dropout: f64,
    /// Whether that drops out attention's output too (DistilBERT's does not: modeling_distilbert.py `DistilBertSelfAttention`).
    pub drops_attention_output: bool,
    /// Whether the class multiplies each branch by a constant before the residual addition (Granite's `residual_multiplier`).
    pub scales_residual: bool,
}

/// Arrangement of norms and residual additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residual {
    /// Norm, branch, add; twice (Llama, GPT-2).
    PreNorm,
    /// Branch, add, norm; twice (BERT).
    PostNorm,
    /// Branch, norm, add; twice, no norm before the branch (OLMo-2).
    PostBranchNorm,
    /// A norm before and a norm after each branch (Gemma-2, Gemma-3, GLM-4).
    SandwichNorm,
    /// Attention and feed-forward read the same input and are added together; `two_norms` when each has its own norm (GPT-NeoX, Falcon-40B) and not one shared (Falcon-7B, Cohere, Phi).
    Parallel {
        /// Whether attention and feed-forward have a norm each.
        two_norms: bool,
    },
}

/// What a norm computes, which decides what it keeps for backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// RMSNorm as single operators in Python: fp32 upcast, cast back, times weight (Llama).
    RmsNorm,
    /// Gemma's: fp32 throughout, times (1 + weight) in fp32, cast back last. OLMo-2's is of its kind, times weight.
    GemmaRmsNorm,
    /// gpt-oss's: fp32 throughout, times the weight as it is, cast back last.
    WideRmsNorm,
    /// `torch.nn.LayerNorm`, one fused kernel.
    LayerNorm,
    /// LayerNorm as single operators in Python with an fp32 upcast (Cohere).
    PythonLayerNorm,
}

/// Self-attention facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Attention {
    /// a.
    pub num_attention_heads: u64,
    /// k; equal to a without grouping.
    pub num_key_value_heads: u64,
    /// d, width of a query and key head.
    pub head_dim: u64,
    /// Width of a value head (differs from `head_dim` in MLA).
    pub value_head_dim: u64,
    /// How q, k and v are projected.
    pub projection: Projection,
    /// Norm over q and k before the rotary product, if any.
    pub qk_norm: Option<QkNorm>,
    /// Dimensions of a head that are rotated; 0 without rotary positions.
    pub rotary_dim: u64,
    /// ALiBi biases (BLOOM, Falcon-RW, Baichuan-13B): a bias of a x s x s reaches attention.
    pub alibi: bool,
    /// Tokens a query looks back in this layer, when limited.
    pub sliding_window: Option<u64>,
    /// `attn_logit_softcapping`: tanh over the scores, eager attention only (Gemma-2).
    pub logit_softcapping: bool,
    /// Dropout probability on attention probabilities.
    pub dropout: f64,
    /// A learned logit a head joins the scores before the softmax, and leaves them after it (gpt-oss; [`Role::Sinks`]).
    pub sinks: bool,
    /// Rotary tables are half as wide as what they rotate, and each half of a head is rotated by itself (gpt-oss).
    pub rotates_halves: bool,
}

/// How q, k and v come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// Three modules, [`Role::Query`], [`Role::Key`], [`Role::Value`].
    Separate,
    /// One module [`Role::QueryKeyValue`] whose output is split by views.
    Fused,
    /// DeepSeek's latent attention.
    Latent {
        /// Rank of the compressed query; `None`: a plain query projection.
        q_lora_rank: Option<u64>,
        /// Rank of the compressed keys and values, which is what the cache could keep.
        kv_lora_rank: u64,
        /// Rotated dimensions of a query/key head, shared by all heads on the key side.
        qk_rope_head_dim: u64,
    },
}

/// Norm over q and k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkNorm {
    /// Over each head's d (Qwen3, Gemma-3, Cohere).
    PerHead(NormKind),
    /// Over the whole projection (OLMo-2).
    WholeProjection(NormKind),
}

/// The feed-forward part of a layer.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedForward {
    /// One MLP.
    Dense(Mlp),
    /// A mixture of experts.
    Experts(Experts),
}

/// One MLP.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mlp {
    /// I.
    pub intermediate_size: u64,
    /// Gate and up projections multiplied (SwiGLU, GeGLU) instead of one up projection.
    pub gated: bool,
    /// Gate and up in one module [`Role::GateUp`] (Phi-3).
    pub fused_gate_up: bool,
    /// Activation function.
    pub activation: Activation,
}

/// Activation functions, by what they keep for backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// One kernel that keeps its input (silu, exact gelu, tanh-gelu as `torch.nn.functional.gelu(approximate="tanh")`).
    Fused,
    /// One kernel that keeps its output (relu, tanh, sigmoid).
    Relu,
    /// GPT-2's `gelu_new`, in Python over eight elementwise kernels.
    GeluNew,
    /// BLOOM's own autograd function.
    BloomGelu,
    /// GPT-NeoX-20B's `gelu_fast`, in Python over seven elementwise kernels.
    GeluFast,
    /// `quick_gelu`, single operators in Python: x times sigmoid(1.702 x).
    QuickGelu,
    /// relu then square (Nemotron).
    SquaredRelu,
}

/// A mixture of experts.
#[derive(Debug, Clone, PartialEq)]
pub struct Experts {
    /// Routed experts in the layer.
    pub num_experts: u64,
    /// Experts a token visits.
    pub num_experts_per_tok: u64,
    /// Each routed expert.
    pub expert: Mlp,
    /// Experts every token visits, as one MLP, if any.
    pub shared: Option<Mlp>,
    /// Whether the shared expert's output passes a learned sigmoid gate (Qwen2-MoE).
    pub shared_gate: bool,
    /// How the class lays out router and experts.
    pub form: ExpertsForm,
}

/// How a class lays out the router and the experts of a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpertsForm {
    /// Softmax over all experts in fp32, then the choice; experts without biases, gate and up side by side (Mixtral, Qwen,
    /// DeepSeek).
    SoftmaxFirst,
    /// The choice, then softmax over the chosen in their own dtype; experts with biases, gate and up interleaved and
    /// clamped; the block gives its scores back beside its output (gpt-oss).
    ChoiceFirst,
}

impl Layer {
    /// Parameters of one such layer, in elements.
    pub fn param_count(&self) -> u64 {
        count(&self.modules)
    }

    /// Parameters of the routed experts that a token does not visit.
    pub(super) fn idle_param_count(&self) -> u64 {
        let FeedForward::Experts(experts) = &self.feed_forward else { return 0 };
        let routed = self.modules.iter().filter(|module| module.role == Role::RoutedExperts);
        let routed = routed.map(|module| module.kind.param_count()).fold(0, u64::saturating_add);
        let visited = experts.num_experts_per_tok.min(experts.num_experts);
        // Experts are equal, so the division is exact.
        (routed / experts.num_experts.max(1)).saturating_mul(experts.num_experts - visited)
    }

    /// Whether it is one of a tower's, which runs over patches and not over tokens.
    pub fn sees_images(&self) -> bool {
        self.modules.first().is_some_and(|module| module.part == ModelPart::VisionTower)
    }

    /// The module with `role`, if the layer has one.
    pub fn module(&self, role: Role) -> Option<&Module> {
        self.modules.iter().find(|module| module.role == role)
    }
}
