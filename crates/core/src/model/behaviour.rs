//! What a class's code does beside its modules, as far as it decides memory.

/// How a class runs, as far as that is not in its recorded operators; the default is how Llama's does.
///
/// Each fact was read off the class's modeling file in transformers 5.23, or is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// Whether the class can hand attention to `scaled_dot_product_attention` (`_supports_sdpa`); otherwise it runs eagerly.
    pub supports_sdpa: bool,
    /// Attention is in operators of the class's own, whatever implementation is asked for.
    pub attends_by_itself: bool,
    /// ZeRO-3 gathers a block of experts with its router as one module (`DEFAULT_LEAF_MODULE_CLASSES` in DeepSpeed 0.19
    /// runtime/zero/leaf_module_config.py).
    pub gathers_experts_at_once: bool,
    /// Before transformers 4.48 keys and values that heads share are repeated for the flash-attention package, too.
    pub flash_repeats_heads: bool,
    /// Before transformers 5 the class's own `enable_input_require_grads` reaches its tower.
    pub hooks_tower_by_itself: bool,
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
            gathers_experts_at_once: false,
            flash_repeats_heads: false,
            hooks_tower_by_itself: false,
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
}
