//! What reinforcement tasks add to a plan: how answers are generated, and how the policy is updated from them.
//!
//! Names are TRL's where it has one (trl/trainer/grpo_config.py, ppo_config.py), else verl's or Headroom's own.

use super::names::{Task, names};

names! {
    /// What generates the answers.
    RolloutEngine {
        /// transformers' `model.generate`, with the weights that train.
        Generate = "generate",
        /// vLLM, which takes a share of the GPU's *total* memory.
        Vllm = "vllm",
        /// SGLang, which takes a share of the *free* memory for weights and cache.
        Sglang = "sglang",
    }
}
names! {
    /// Where the engine runs.
    VllmMode {
        /// On the GPUs that train.
        Colocate = "colocate",
        /// On GPUs of its own.
        Server = "server",
    }
}
names! {
    /// dtype of an engine's cached keys and values.
    KvCacheDtype {
        /// The model's.
        Auto = "auto",
        /// bf16.
        Bfloat16 = "bfloat16",
        /// 1 byte an element.
        Fp8 = "fp8",
    }
}

names! {
    /// How GRPO weighs the tokens of a group (trl grpo_trainer.py `_compute_loss`): all hold a few numbers a token, and none
    /// takes memory that another does not. What SFT computes (trl sft_config.py). And what preference trainers make of
    /// log-probabilities (trl dpo_config.py, cpo_config.py, kto_config.py): a few numbers a pair, but for `sft`.
    LossType {
        /// A mean over the tokens of all accumulated batches; TRL's default.
        Dapo = "dapo",
        /// A mean over each answer's tokens, then over answers.
        Grpo = "grpo",
        /// A mean over a batch's tokens.
        Bnpo = "bnpo",
        /// A sum over the longest answer that may be.
        DrGrpo = "dr_grpo",
        /// Clipped importance weights without a gradient.
        Cispo = "cispo",
        /// Soft gates instead of clipping.
        Sapo = "sapo",
        /// Answers weighed by their length.
        Luspo = "luspo",
        /// Weights of a variational bound.
        Vespo = "vespo",
        /// SFT: cross-entropy.
        Nll = "nll",
        /// SFT: cross-entropy, in chunks under checkpoints where the trainer has no fused head.
        ChunkedNll = "chunked_nll",
        /// SFT: cross-entropy weighed by each token's own probability.
        Dft = "dft",
        /// DPO and CPO: the logistic loss of the margin.
        Sigmoid = "sigmoid",
        /// DPO and CPO: hinge loss.
        Hinge = "hinge",
        /// DPO and CPO: squared distance from a margin.
        Ipo = "ipo",
        /// DPO: efficient exact optimisation.
        ExoPair = "exo_pair",
        /// DPO: noise contrastive alignment.
        NcaPair = "nca_pair",
        /// DPO: the logistic loss under noisy preferences.
        Robust = "robust",
        /// DPO: binary classifier optimisation.
        BcoPair = "bco_pair",
        /// DPO: self-play preference optimisation.
        SppoHard = "sppo_hard",
        /// DPO: alignment by optimal transport, pairs sorted together.
        Aot = "aot",
        /// DPO: the same, answers sorted by themselves, by its name before TRL 1.0.
        AotPair = "aot_pair",
        /// DPO: the same since TRL 1.0.
        AotUnpaired = "aot_unpaired",
        /// DPO: anchored preference optimisation.
        ApoZero = "apo_zero",
        /// DPO: the same where the model is better than its answers.
        ApoDown = "apo_down",
        /// DPO: log-ratio modulated loss.
        Discopop = "discopop",
        /// DPO: cross-entropy of the chosen answers.
        Sft = "sft",
        /// DPO: the logistic loss of means a token.
        SigmoidNorm = "sigmoid_norm",
        /// CPO: SimPO.
        Simpo = "simpo",
        /// CPO: SimPO without cross-entropy, of reshaped rewards.
        Alphapo = "alphapo",
        /// KTO's own.
        Kto = "kto",
        /// KTO: answers by themselves, without a baseline from other prompts.
        ApoZeroUnpaired = "apo_zero_unpaired",
    }
}

impl LossType {
    /// Whether `task` has it.
    pub const fn is_of(self, task: Task) -> bool {
        match self {
            Self::Nll | Self::ChunkedNll | Self::Dft => matches!(task, Task::Sft),
            Self::Sigmoid | Self::Hinge | Self::Ipo => matches!(task, Task::Dpo | Task::Cpo),
            Self::Simpo | Self::Alphapo => matches!(task, Task::Cpo),
            Self::Kto | Self::ApoZeroUnpaired => matches!(task, Task::Kto),
            Self::Dapo
            | Self::Grpo
            | Self::Bnpo
            | Self::DrGrpo
            | Self::Cispo
            | Self::Sapo
            | Self::Luspo
            | Self::Vespo => matches!(task, Task::Grpo),
            _ => matches!(task, Task::Dpo),
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

// Every name has a bit.
const _: () = assert!(LossType::ALL.len() <= u32::BITS as usize);

/// Losses that a step adds up: one, or several of DPO's (trl dpo_config.py `loss_type`, a list); none: the trainer's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LossTypes(u32);

impl LossTypes {
    /// Whether `loss` is one of them.
    pub const fn has(self, loss: LossType) -> bool {
        self.0 & loss.bit() != 0
    }

    /// Whether none is chosen.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds `loss`.
    pub const fn insert(&mut self, loss: LossType) {
        self.0 |= loss.bit();
    }

    /// All of them, in the order of [`LossType::ALL`].
    pub fn iter(self) -> impl Iterator<Item = LossType> {
        LossType::ALL.iter().copied().filter(move |loss| self.has(*loss))
    }
}

impl From<LossType> for LossTypes {
    fn from(loss: LossType) -> Self {
        Self(loss.bit())
    }
}

/// Generation. `None` everywhere: what the trainer would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollout {
    /// Tokens generated after the prompt, for `inference`.
    pub new_tokens: u64,
    /// What generates.
    pub engine: Option<RolloutEngine>,
    /// Prompts of one generation round on all GPUs together; `None`: as many as the batch sizes make.
    pub prompts: Option<u64>,
    /// G, answers to each prompt.
    pub num_generations: Option<u64>,
    /// Tokens of the longest prompt.
    pub max_prompt_length: Option<u64>,
    /// Tokens of the longest answer.
    pub max_completion_length: Option<u64>,
    /// Sequences that generate side by side on one GPU.
    pub sequences_at_once: Option<u64>,
    /// PPO: `output_scores`, one fp32 row of V numbers for each generated token, kept until log-probabilities are taken.
    pub keep_scores: Option<bool>,
    /// Sampling from the k likeliest tokens; 0: from all.
    pub top_k: Option<u64>,
    /// Sampling from the likeliest tokens that make up this probability; 1: from all.
    pub top_p: Option<f64>,
    /// A logits processor that forbids an early end (`min_new_tokens`).
    pub min_length_processor: Option<bool>,
    /// Where the engine runs.
    pub vllm_mode: Option<VllmMode>,
    /// vLLM's share of the GPU's total memory, SGLang's of what is free.
    pub vllm_gpu_memory_utilization: Option<f64>,
    /// GPUs that share one copy of the engine's weights and cache.
    pub vllm_tensor_parallel_size: Option<u64>,
    /// The engine gives weights and cache back while the policy trains.
    pub vllm_enable_sleep_mode: bool,
    /// vLLM's `max_model_len`: tokens of the longest sequence that its cache must hold.
    pub vllm_max_model_length: Option<u64>,
    /// dtype of the engine's cache.
    pub kv_cache_dtype: Option<KvCacheDtype>,
    /// The engine captures no CUDA graphs.
    pub enforce_eager: bool,
}

/// TRL's default of `num_generations` (grpo_config.py).
const NUM_GENERATIONS: u64 = 8;
/// TRL's former default of `max_prompt_length` (grpo_config.py).
const MAX_PROMPT_LENGTH: u64 = 512;
/// TRL's default of `max_completion_length` (grpo_config.py).
const MAX_COMPLETION_LENGTH: u64 = 256;
/// TRL's default of `vllm_gpu_memory_utilization` (grpo_config.py).
const GPU_MEMORY_UTILIZATION: f64 = 0.3;

impl Default for Rollout {
    fn default() -> Self {
        Self {
            new_tokens: 256,
            engine: None,
            prompts: None,
            num_generations: None,
            max_prompt_length: None,
            max_completion_length: None,
            sequences_at_once: None,
            keep_scores: None,
            top_k: None,
            top_p: None,
            min_length_processor: None,
            vllm_mode: None,
            vllm_gpu_memory_utilization: None,
            vllm_tensor_parallel_size: None,
            vllm_enable_sleep_mode: false,
            vllm_max_model_length: None,
            kv_cache_dtype: None,
            enforce_eager: false,
        }
    }
}

impl Rollout {
    /// What generates: `generate` unless chosen otherwise.
    pub fn engine(&self) -> RolloutEngine {
        self.engine.unwrap_or(RolloutEngine::Generate)
    }

    /// G, answers to each prompt: 8 unless chosen otherwise.
    pub fn num_generations(&self) -> u64 {
        self.num_generations.unwrap_or(NUM_GENERATIONS)
    }

    /// Tokens of the longest prompt: 512 unless chosen otherwise.
    pub fn max_prompt_length(&self) -> u64 {
        self.max_prompt_length.unwrap_or(MAX_PROMPT_LENGTH)
    }

    /// Tokens of the longest answer: 256 unless chosen otherwise.
    pub fn max_completion_length(&self) -> u64 {
        self.max_completion_length.unwrap_or(MAX_COMPLETION_LENGTH)
    }

    /// Whether an engine shares the GPUs that train.
    pub fn is_colocated(&self) -> bool {
        self.engine() != RolloutEngine::Generate && self.vllm_mode != Some(VllmMode::Server)
    }

    /// The engine's share: 0.3 unless chosen otherwise.
    pub fn memory_share(&self) -> f64 {
        self.vllm_gpu_memory_utilization.unwrap_or(GPU_MEMORY_UTILIZATION)
    }

    /// GPUs that share one copy of the engine: 1 unless chosen otherwise.
    pub fn tensor_parallel_size(&self) -> u64 {
        self.vllm_tensor_parallel_size.unwrap_or(1).max(1)
    }
}

/// How the policy is updated. `None`: what the trainer would do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyUpdate {
    /// Weight of the distance to the reference; 0 drops GRPO's reference.
    pub beta: Option<f64>,
    /// Whether the entropy of the policy is computed.
    pub entropy: Option<bool>,
    /// PPO: weight of the value model's loss.
    pub vf_coef: Option<f64>,
    /// Sequences in one forward that takes log-probabilities without a gradient.
    pub logprob_batch_size: Option<u64>,
    /// Whether the policy's log-probabilities are taken once more before the update.
    pub old_logprobs_pass: Option<bool>,
    /// Micro-batches that one generation round is cut into.
    pub steps_per_generation: Option<u64>,
    /// μ, updates that each answer serves; GRPO and RLOO.
    pub num_iterations: Option<u64>,
    /// What is computed of log-probabilities.
    pub loss_type: LossTypes,
    /// CPO: weight of the chosen answers' cross-entropy; at 0 it is not computed.
    pub cpo_alpha: Option<f64>,
    /// Liger's loss over chunks of the logits.
    pub use_liger_loss: bool,
    /// DPO: sequences without padding, laid end to end. The longest batch, which decides the peak, is the same.
    pub padding_free: bool,
}
