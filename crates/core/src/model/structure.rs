//! What a model is made of: modules, layers, and the facts about them that decide memory.
//!
//! Symbols used in all docs: b batch, s tokens a sequence, h hidden size, L layers, V vocabulary, I intermediate size,
//! a attention heads, k key/value heads, d head dimension.

use std::sync::Arc;

use super::behaviour::Behaviour;
use super::program::Recorded;

/// A model as its `config.json` describes it, class defaults applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name to show: the Hugging Face id, or what the user called a pasted config.
    pub name: String,
    /// `model_type` of the config, or of its text part.
    pub model_type: String,
    /// How the config was read.
    pub reading: Reading,
    /// What a reader of the figures should know about how they came about.
    pub notes: Vec<Note>,
    /// What the config leaves to its class, in the order in which it was needed.
    pub assumed: Vec<AssumedKey>,
    /// h, the width of the residual stream.
    pub hidden_size: u64,
    /// V, rows of the token embedding.
    pub vocab_size: u64,
    /// Longest sequence the model was made for, in tokens; learned positions cannot exceed it.
    pub max_position_embeddings: Option<u64>,
    /// Whether the output head is the token embedding itself (`tie_word_embeddings`).
    pub tie_word_embeddings: bool,
    /// Encoder (`bert`, `roberta`) or decoder.
    pub kind: ModelKind,
    /// Modules before the first layer: token, position and type embeddings, their norms and projections.
    pub embeddings: Vec<Module>,
    /// Dropout probability after the embeddings (0 where there is none).
    pub embedding_dropout: f64,
    /// Runs of identical layers, in order.
    pub layers: Vec<LayerRun>,
    /// Modules after the last layer: final norm, projections.
    pub final_modules: Vec<Module>,
    /// The language-model head `lm_head` when it is not tied; for encoders the masked-language-model head's modules.
    /// Empty when tied (the embedding's weight is used).
    pub head: Vec<Module>,
    /// `final_logit_softcapping` (Gemma-2, -3): logits pass through tanh.
    pub final_logit_softcapping: bool,
    /// Whether the class scales the logits or the embeddings by a constant (a further elementwise copy: Gemma's embedding, Cohere's and Granite's logits).
    pub scales_embeddings: bool,
    /// See [`Model::scales_embeddings`].
    pub scales_logits: bool,
    /// What the class does beside its modules.
    pub behaviour: Behaviour,
    /// Whether steps of the class were compared with PyTorch's allocator.
    pub is_measured: bool,
    /// The class's recorded code with this config's figures; `None`: its code is written by hand.
    pub recorded: Option<Arc<Recorded>>,
    /// The tower that sees images, where the model was read with it.
    pub vision: Option<Vision>,
    /// Modules that are loaded and run for no batch of the plan: a tower that sees no image.
    pub idle: Vec<Module>,
}

/// What decides how many patches an image becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vision {
    /// Whether the patches of all images are one sequence.
    pub packs: bool,
    /// Whether eager attention was recorded, too.
    pub runs_eager: bool,
    /// Whether it takes images as pixels, each with sides of its own.
    pub takes_pixels: bool,
    /// Whether its processor cuts images into tiles.
    pub splits: bool,
    /// Tiles that every image takes, be they full or padded.
    pub tiles: Option<u64>,
    /// Pixels of a patch's side.
    pub patch_size: Option<u64>,
    /// Patches of a side that become one position of the text together.
    pub merge_size: u64,
    /// Pixels of the side of an attention window.
    pub window_size: Option<u64>,
    /// Pixels of an image's side, where every image is brought to it.
    pub image_size: Option<u64>,
    /// Of a class that cuts an image into tiles by its shape and puts together what they give as the image was.
    pub any_resolution: Option<AnyResolution>,
}

/// How images of any shape are cut into tiles and put together again (LLaVA-NeXT, LLaVA-OneVision).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnyResolution {
    /// Height and width in pixels that an image may be brought to (`image_grid_pinpoints`).
    pub resolutions: Vec<(u64, u64)>,
    /// Tiles whose features stay as they are; those of more are scaled down to as many (`vision_aspect_ratio`). `None`: all do.
    pub most_tiles: Option<u64>,
    /// Whether the images of a sample that has several are cut, too.
    pub cuts_several: bool,
}

/// A key that a `config.json` does not have, and what the class takes it to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssumedKey {
    /// The key, as today's files spell it.
    pub key: String,
    /// The value, as JSON would write it; text without quotes.
    pub value: String,
}

impl AssumedKey {
    /// Whether the model's size hangs on it: published configs never leave such a key out by design.
    pub fn decides_size(&self) -> bool {
        const SIZES: &[&str] = &[
            "hidden_size",
            "intermediate_size",
            "num_hidden_layers",
            "num_attention_heads",
            "num_key_value_heads",
            "vocab_size",
            "num_experts",
            "num_local_experts",
            "n_routed_experts",
            "moe_intermediate_size",
            "tie_word_embeddings",
        ];
        SIZES.contains(&self.key.as_str())
    }
}

/// How a config was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A family whose class Headroom knows: counts are exact.
    Known,
    /// An unknown `model_type` read as a Llama-like decoder: counts are a guess and marked so wherever they are shown.
    Generic,
}

/// Something to tell beside a model's figures. Data, not sentences: the page says it in the reader's language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Only the text part of a multimodal config was read; vision or audio towers are not counted.
    TextPart {
        /// `model_type` of the whole.
        of: String,
    },
}

/// Decoder, encoder, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// Causal decoder.
    Decoder,
    /// Bidirectional encoder.
    Encoder,
    /// An encoder of the source and a decoder of the target, which reads both (T5).
    EncoderDecoder,
}

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
    /// Norm after attention ([`Residual::PostNorm`], [`Residual::PostBranchNorm`], [`Residual::SandwichNorm`]).
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
    /// A correction of the router's choice that never trains.
    RouterStatics,
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
    /// Anything else with parameters: projections around the embeddings (OPT-350m), poolers, masked-language-model heads.
    Other,
}

impl ModuleKind {
    /// Parameters, in elements.
    pub fn param_count(&self) -> u64 {
        match self {
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

impl Layer {
    /// Parameters of one such layer, in elements.
    pub fn param_count(&self) -> u64 {
        count(&self.modules)
    }

    /// Parameters of the routed experts that a token does not visit.
    fn idle_param_count(&self) -> u64 {
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

impl Model {
    /// L, layers in all; those of a tower do not count.
    pub fn num_hidden_layers(&self) -> u64 {
        let own = self.layers.iter().filter(|run| !run.layer.sees_images());
        own.map(|run| run.count).fold(0, u64::saturating_add)
    }

    /// The text part's first layer.
    pub fn first_text_layer(&self) -> Option<&Layer> {
        self.layers.iter().map(|run| &run.layer).find(|layer| !layer.sees_images())
    }

    /// Attention of the text part's first layer that has any: a gated delta net or a convolution has none.
    pub fn first_attention(&self) -> Option<&Attention> {
        let text = self.layers.iter().map(|run| &run.layer).filter(|layer| !layer.sees_images());
        text.map(|layer| &layer.attention).find(|attention| attention.num_attention_heads > 0)
    }

    /// Every kind of layer once, with how many layers there are of it.
    pub fn layer_kinds(&self) -> impl Iterator<Item = (&Layer, u64)> {
        let first = self.layers.iter().enumerate().filter(|(place, run)| run.kind == *place);
        first.map(|(place, run)| {
            let same = self.layers.iter().filter(|other| other.kind == place);
            (&run.layer, same.map(|run| run.count).fold(0, u64::saturating_add))
        })
    }

    /// Parameters of the whole model, in elements, a tied head counted once.
    pub fn param_count(&self) -> u64 {
        let layers = self
            .layers
            .iter()
            .map(|run| run.layer.param_count().saturating_mul(run.count))
            .fold(0, u64::saturating_add);
        count(&self.embeddings)
            .saturating_add(layers)
            .saturating_add(count(&self.final_modules))
            .saturating_add(count(&self.head))
            .saturating_add(count(&self.idle))
    }

    /// Parameters that a token meets, in elements: of routed experts only those it visits; embeddings in full, as in
    /// the "A3B" of a model's name.
    pub fn active_param_count(&self) -> u64 {
        let idle = self.layers.iter().map(|run| run.layer.idle_param_count().saturating_mul(run.count));
        self.param_count().saturating_sub(idle.fold(0, u64::saturating_add))
    }
}

fn count(modules: &[Module]) -> u64 {
    modules.iter().map(|module| module.kind.param_count()).fold(0, u64::saturating_add)
}
