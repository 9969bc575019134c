//! What a class's code does beside its modules, as far as it decides memory.

/// How a class runs its modules; the default is how Llama's does. Set by each family's reader: classes that share a reader
/// share it.
///
/// Each fact was read off the class's modeling file in transformers 5.23.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// Whether the class can hand attention to `scaled_dot_product_attention` (`_supports_sdpa`); otherwise it runs eagerly.
    pub supports_sdpa: bool,
    /// Attention is in operators of the class's own, whatever implementation is asked for.
    pub attends_by_itself: bool,
    /// Attention gets a mask whether or not anything is padded.
    pub always_masks: bool,
    /// Shared key and value heads are broadcast, never written once for each query head.
    pub broadcasts_shared_heads: bool,
    /// Eager attention takes its softmax in fp32 and casts the probabilities back.
    pub softmax_in_fp32: bool,
    /// The router's input and logits are cast to fp32: `hidden_states.type(torch.float32)`.
    pub router_in_fp32: bool,
    /// The router's weight is held in fp32 whatever the model is loaded in (`_keep_in_fp32_modules_strict`).
    pub keeps_router_in_fp32: bool,
    /// The shared experts run before router and routed experts, and their output waits.
    pub shared_experts_first: bool,
    /// The experts' outputs are weighed in fp32.
    pub weighs_experts_in_fp32: bool,
    /// ZeRO-3 gathers a block of experts with its router as one module (`DEFAULT_LEAF_MODULE_CLASSES` in DeepSpeed 0.19
    /// runtime/zero/leaf_module_config.py).
    pub gathers_experts_at_once: bool,
    /// A layer's branches stay alive until the layer returns.
    pub keeps_branches: bool,
    /// The layer's own names hold what the feed-forward's second matmul reads until the layer returns (modeling_bert.py
    /// `BertLayer.feed_forward_chunk`).
    pub keeps_intermediate: bool,
    /// The embedding module itself scales its output, inside the hooks that are set on it.
    pub scales_embeddings_within: bool,
    /// Positions are counted from the mask, for each sequence its own; otherwise one row serves all.
    pub positions_from_mask: bool,
    /// Before transformers 4.48 keys and values that heads share are repeated for the flash-attention package, too.
    pub flash_repeats_heads: bool,
    /// The class without a head has a dense layer and tanh over the first token (`BertPooler`), which runs in every forward.
    pub has_pooler: bool,
    /// The classifier reads that, and is one linear layer; otherwise an encoder's has a dense layer of its own.
    pub classifies_pooled: bool,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            supports_sdpa: true,
            attends_by_itself: false,
            always_masks: false,
            broadcasts_shared_heads: false,
            softmax_in_fp32: true,
            router_in_fp32: false,
            keeps_router_in_fp32: false,
            shared_experts_first: false,
            weighs_experts_in_fp32: false,
            gathers_experts_at_once: false,
            keeps_branches: false,
            keeps_intermediate: false,
            scales_embeddings_within: false,
            positions_from_mask: false,
            flash_repeats_heads: false,
            has_pooler: false,
            classifies_pooled: false,
        }
    }
}

impl Behaviour {
    /// A class without `sdpa`.
    pub(super) fn eager_only() -> Self {
        Self { supports_sdpa: false, ..Self::default() }
    }

    /// DeepSeek's router, and those written after it.
    pub(super) fn wide_router() -> Self {
        Self { router_in_fp32: true, ..Self::default() }
    }
}
