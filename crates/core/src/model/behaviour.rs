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
    /// How transformers 4 held the routed experts that transformers 5 stacks; `None`: it did not have the class, or its way is not known.
    pub earlier_experts: Option<EarlierExperts>,
    /// Up to transformers 5.14 its gated norm was flash-linear-attention's, where that is installed.
    pub takes_gated_norm: bool,
    /// The checkpoint is packed in MXFP4, and becomes 16-bit numbers while it is loaded.
    pub is_packed: bool,
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
            earlier_experts: None,
            takes_gated_norm: false,
            is_packed: false,
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

/// How a class of transformers 4 held routed experts (4.57 models/*/modeling_*.py).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierExperts {
    /// Stacked in bare parameters, as now.
    Stacked,
    /// Each expert is three linear layers; the experts run one after the other, each on the tokens that chose it.
    Linear(LinearExperts),
}

/// Experts that are linear layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearExperts {
    /// Last names of an expert's layers: gate, up, down.
    pub names: [&'static str; 3],
    /// The router is a linear layer as well: quantised and adapted like any other.
    pub routes_linearly: bool,
    /// How tokens reach them, and what they give becomes one.
    pub dispatch: Dispatch,
}

/// How tokens reach experts that are linear layers, and what these give becomes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// Each expert reads the tokens that chose it; what it gives is added to a sum in the dtype of the hidden states.
    SumsInHiddenDtype,
    /// The same, with the sum in the dtype of the weights that an expert counts with.
    SumsInWeightsDtype,
    /// All tokens are sorted by expert at once, each expert reads a slice of them, and what they give goes back to the tokens' order.
    SortsTokens,
}
