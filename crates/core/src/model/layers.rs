//! The facts about layers beside their code: modules, attention, feed-forward parts.
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
    /// What it keeps of keys and values, where it compresses them.
    pub latent: Option<Latent>,
    /// Tokens a query looks back in this layer, when limited.
    pub sliding_window: Option<u64>,
    /// `attn_logit_softcapping`: tanh over the scores, eager attention only (Gemma-2).
    pub logit_softcapping: bool,
    /// Dropout probability on attention probabilities.
    pub dropout: f64,
}

impl Attention {
    /// Numbers that a layer keeps of one token: keys and values of every key-value head, k x (d + d_v), or, `compressed`, the
    /// latent r_kv + d_rope where it has one.
    pub(crate) fn cached_numbers(&self, compressed: bool) -> u64 {
        match self.latent.filter(|_| compressed) {
            Some(latent) => latent.kv_lora_rank.saturating_add(latent.qk_rope_head_dim),
            None => self.num_key_value_heads.saturating_mul(self.head_dim.saturating_add(self.value_head_dim)),
        }
    }
}

/// DeepSeek's latent attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latent {
    /// Rank of the compressed keys and values, which is what the cache could keep.
    pub kv_lora_rank: u64,
    /// Rotated dimensions of a query/key head, shared by all heads on the key side.
    pub qk_rope_head_dim: u64,
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
