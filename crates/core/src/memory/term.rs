//! Names of what is allocated, the category each counts in, and the source of its formula.

use crate::model::Region;

/// Where a byte is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Weights, quantised or not, adapters, buffers.
    Weights,
    /// Gradients of weights.
    Gradients,
    /// Optimizer state and master weights.
    OptimizerStates,
    /// What forward keeps for backward.
    Activations,
    /// Logits, loss and their gradients.
    LogitsAndLoss,
    /// Keys and values of generation.
    KvCache,
    /// Buckets, gathered parameters, staging buffers.
    CommunicationBuffers,
    /// What lives for moments.
    Temporary,
    /// CUDA context, libraries, fragmentation.
    Overhead,
}

impl Category {
    /// Every category, in the order charts stack them.
    pub const ALL: &'static [Self] = &[
        Self::Weights,
        Self::Gradients,
        Self::OptimizerStates,
        Self::Activations,
        Self::LogitsAndLoss,
        Self::KvCache,
        Self::CommunicationBuffers,
        Self::Temporary,
        Self::Overhead,
    ];

    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Gradients => "gradients",
            Self::OptimizerStates => "optimizer_states",
            Self::Activations => "activations",
            Self::LogitsAndLoss => "logits_and_loss",
            Self::KvCache => "kv_cache",
            Self::CommunicationBuffers => "communication_buffers",
            Self::Temporary => "temporary",
            Self::Overhead => "overhead",
        }
    }
}

/// Declares the terms: variant, name in JSON, category, source of the formula.
macro_rules! terms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $category:ident, $source:literal;)+) => {
        /// What an allocation is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Term { $($(#[$doc])* $variant),+ }
        impl Term {
            /// Every term.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// Name in JSON; with underscores as spaces, the English name.
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name),+ } }
            /// Where it is counted.
            pub const fn category(self) -> Category { match self { $(Self::$variant => Category::$category),+ } }
            /// Where its formula comes from: library file, paper or measurement.
            pub const fn source(self) -> &'static str { match self { $(Self::$variant => $source),+ } }
        }
    };
}

terms! {
    /// Token, position and type embeddings.
    EmbeddingWeights = "embedding_weights", Weights, "config.json; torch.nn.Embedding";
    /// Attention projections.
    AttentionWeights = "attention_weights", Weights, "config.json; the family's modeling file in transformers 5.23";
    /// Feed-forward projections.
    FeedForwardWeights = "feed_forward_weights", Weights, "config.json; the family's modeling file in transformers 5.23";
    /// Routed and shared experts with their router.
    ExpertWeights = "expert_weights", Weights, "config.json; the family's modeling file in transformers 5.23";
    /// Norms.
    NormWeights = "norm_weights", Weights, "config.json; the family's modeling file in transformers 5.23";
    /// Output head that is not tied to the embedding.
    HeadWeights = "head_weights", Weights, "config.json; the family's modeling file in transformers 5.23";
    /// Linear layers as 4-bit or 8-bit numbers.
    QuantizedWeights = "quantized_weights", Weights, "bitsandbytes 0.50 functional.py quantize_4bit: two values a byte; int8: one";
    /// Scales, their own quantisation, code books.
    QuantizationConstants = "quantization_constants", Weights, "bitsandbytes 0.50 functional.py QuantState: fp32 a block of 64; double_quant: 1 byte, and fp32 a block of 256 (QLoRA, arXiv:2305.14314, section 3)";
    /// LoRA A and B.
    AdapterWeights = "adapter_weights", Weights, "peft 0.21 tuners/lora/layer.py: r x d_in and d_out x r, fp32 by autocast_adapter_dtype";
    /// Frozen copy of the model as reference.
    ReferenceWeights = "reference_weights", Weights, "trl: a second frozen model";
    /// PPO's critic: a model with a one-score head.
    ValueWeights = "value_weights", Weights, "trl trainer/ppo_trainer.py: value_model, a sequence-classification model that trains";
    /// Reward models, judges and simulated users.
    RewardWeights = "reward_weights", Weights, "trl: frozen models that score the answers";
    /// The generating engine's own copy of the weights.
    EngineWeights = "engine_weights", Weights, "vLLM and SGLang load the policy a second time";
    /// Rotary frequencies and other buffers.
    Buffers = "buffers", Weights, "the family's modeling file in transformers 5.23, register_buffer";
    /// Gradients of the base model's weights.
    WeightGradients = "weight_gradients", Gradients, "torch.autograd AccumulateGrad: the weight's shape and dtype";
    /// Gradients of the adapters.
    AdapterGradients = "adapter_gradients", Gradients, "torch.autograd AccumulateGrad: the weight's shape and dtype";
    /// Shard or partition of gradients.
    GradientShard = "gradient_shard", Gradients, "DeepSpeed 0.19 runtime/zero; torch.distributed.fsdp";
    /// fp32 copy of the weights that the optimizer updates.
    MasterWeights = "master_weights", OptimizerStates, "DeepSpeed 0.19 runtime/zero: fp32 flat partition";
    /// Adam's first moment, Lion's momentum, SGD's momentum.
    FirstMoment = "first_moment", OptimizerStates, "torch.optim: zeros_like(param), so the weight's dtype; bitsandbytes: 1 byte or 4";
    /// Adam's second moment.
    SecondMoment = "second_moment", OptimizerStates, "torch.optim: zeros_like(param), so the weight's dtype; bitsandbytes: 1 byte or 4";
    /// Row and column statistics of Adafactor.
    FactoredSecondMoment = "factored_second_moment", OptimizerStates, "transformers optimization.py Adafactor: a row and a column of each matrix, fp32";
    /// Block maxima and code books of 8-bit states.
    BlockwiseStateScales = "blockwise_state_scales", OptimizerStates, "bitsandbytes 0.50 optim/optimizer.py init_state: fp32 a block of 256 and a 256-entry map a state";
    /// GaLore's and APOLLO's projections.
    LowRankProjections = "low_rank_projections", OptimizerStates, "GaLore, arXiv:2403.03507; APOLLO, arXiv:2412.05270";
    /// Step counters.
    StepCounters = "step_counters", OptimizerStates, "torch.optim.AdamW(fused=True): a 4-byte step on the device a tensor";
    /// Inputs, labels, position ids and masks.
    BatchInputs = "batch_inputs", Activations, "int64 tokens";
    /// Residual stream: layer inputs, checkpoints.
    ResidualStream = "residual_stream", Activations, "transformers modeling files; torch.utils.checkpoint";
    /// Inputs of norms upcast to fp32.
    NormInputs = "norm_inputs", Activations, "transformers modeling files: hidden_states.to(torch.float32) kept by mul and pow";
    /// Means, reciprocal standard deviations.
    NormStatistics = "norm_statistics", Activations, "torch.rsqrt and native_layer_norm keep them";
    /// Normalised values, kept for the weight's gradient.
    NormalizedValues = "normalized_values", Activations, "transformers modeling files: weight * hidden_states keeps both";
    /// Outputs of norms: inputs of projections.
    NormOutputs = "norm_outputs", Activations, "torch.nn.functional.linear keeps its input for the weight's gradient";
    /// Queries, keys and values.
    QueryKeyValue = "query_key_value", Activations, "scaled_dot_product_attention keeps q, k, v";
    /// Cosine and sine tables.
    RotaryTables = "rotary_tables", Activations, "transformers modeling files: q * cos keeps cos";
    /// Attention output and log-sum-exp.
    AttentionOutput = "attention_output", Activations, "flash attention keeps its output and an fp32 log-sum-exp a head and token (arXiv:2307.08691)";
    /// Scores and probabilities that eager attention materialises.
    AttentionScores = "attention_scores", Activations, "transformers eager_attention_forward: softmax in fp32, cast, matmul";
    /// Attention masks and biases.
    AttentionMask = "attention_mask", Activations, "transformers masking_utils.py";
    /// Masks of dropout.
    DropoutMasks = "dropout_masks", Activations, "native_dropout keeps one byte an element";
    /// Gate and up projections, activation and product.
    FeedForwardActivations = "feed_forward_activations", Activations, "silu keeps its input, mul keeps both factors, down_proj its input";
    /// Tokens copied for their experts, and what experts keep.
    ExpertActivations = "expert_activations", Activations, "transformers 5.23 integrations/moe.py grouped_mm: tokens x experts per token";
    /// Router logits, weights and sort indices.
    RouterActivations = "router_activations", Activations, "transformers 5.23 integrations/moe.py";
    /// Inputs of adapters cast to the adapter's dtype, and their low-rank matmuls.
    AdapterActivations = "adapter_activations", Activations, "peft 0.21 tuners/lora/layer.py: x.to(lora_A.weight.dtype), A(x), dropout";
    /// Activations cast by autocast.
    AutocastInputs = "autocast_inputs", Activations, "torch.autocast: each linear casts its own input";
    /// Weights cast by autocast, kept for backward.
    AutocastWeights = "autocast_weights", Activations, "torch.autocast weight cache and the graph's saved tensors";
    /// Hidden states that the head reads.
    HeadInputs = "head_inputs", LogitsAndLoss, "torch.nn.functional.linear keeps its input";
    /// Logits in the model's dtype.
    Logits = "logits", LogitsAndLoss, "transformers modeling files: lm_head(hidden_states)";
    /// Logits upcast to fp32.
    LogitsFp32 = "logits_fp32", LogitsAndLoss, "transformers loss/loss_utils.py ForCausalLMLoss: logits.float()";
    /// fp32 log-softmax kept for backward.
    LogSoftmax = "log_softmax", LogitsAndLoss, "torch.nn.functional.cross_entropy";
    /// Gradients of logits in fp32 and in the model's dtype.
    LogitsGradients = "logits_gradients", LogitsAndLoss, "nll_loss_backward, _log_softmax_backward_data, to-copy backward";
    /// Chunked loss: one chunk's logits, the gradient of hidden states and head.
    ChunkedLoss = "chunked_loss", LogitsAndLoss, "liger-kernel ops/fused_linear_cross_entropy.py";
    /// Scores of a classification head and their loss.
    ScoreHead = "score_head", LogitsAndLoss, "transformers modeling files: ForSequenceClassification";
    /// One vector a text: hidden states pooled, normalised, and what that keeps.
    SentenceEmbeddings = "sentence_embeddings", LogitsAndLoss, "sentence-transformers 6.2 sentence_transformer/modules/pooling.py, util/similarity.py cos_sim";
    /// Similarities of every query with every document of the batch, and their softmax.
    SimilarityMatrix = "similarity_matrix", LogitsAndLoss, "sentence-transformers 6.2 sentence_transformer/losses/multiple_negatives_ranking.py";
    /// Keys and values of generated and prompt tokens.
    KvCache = "kv_cache", KvCache, "transformers cache_utils.py: 2 x L x b x k x s x d";
    /// What a generating engine sets aside for keys and values.
    EnginePool = "engine_pool", KvCache, "vLLM gpu_memory_utilization: a share of total memory, less weights, buffers, graphs and what profiling took (v1/worker/gpu_worker.py determine_available_memory); SGLang mem_fraction_static: of free memory";
    /// CUDA graphs of a generating engine.
    CudaGraphs = "cuda_graphs", KvCache, "vLLM and SGLang capture decoding at a list of batch sizes";
    /// A generating engine's table of cosine and sine.
    EngineBuffers = "engine_buffers", Weights, "vllm model_executor/layers/rotary_embedding/base.py: one row a position";
    /// Activations and logits of a generating engine.
    EngineActivations = "engine_activations", Temporary, "vllm v1/worker/gpu/model_runner.py profile_run: the widest layer of max_num_batched_tokens, or logits of max_num_seqs";
    /// Scores that sampling writes, and those that PPO keeps.
    SamplingScores = "sampling_scores", LogitsAndLoss, "transformers 5.23 generation/utils.py _sample, logits_process.py: fp32 rows of V numbers";
    /// Logits divided by the temperature, log-probabilities of the tokens, entropy.
    LogProbabilities = "log_probabilities", LogitsAndLoss, "trl trainer/utils.py selective_log_softmax, entropy_from_logits";
    /// ZeRO's reduce bucket, DDP's buckets.
    ReduceBuckets = "reduce_buckets", CommunicationBuffers, "DeepSpeed 0.19 runtime/zero/stage_1_and_2.py, stage3.py; torch DDP reducer";
    /// Parameters gathered for use.
    GatheredParameters = "gathered_parameters", CommunicationBuffers, "DeepSpeed 0.19 runtime/zero/partitioned_param_coordinator.py; torch.distributed.fsdp";
    /// Staging buffers of offload.
    OffloadStaging = "offload_staging", CommunicationBuffers, "DeepSpeed 0.19 runtime/zero/stage_1_and_2.py";
    /// Gradients of activations while backward runs.
    ActivationGradients = "activation_gradients", Temporary, "torch.autograd";
    /// Intermediate results of forward that nothing keeps.
    ForwardTemporaries = "forward_temporaries", Temporary, "transformers modeling files";
    /// Quantised weights materialised as bf16 for one matmul.
    DequantizedWeights = "dequantized_weights", Temporary, "bitsandbytes 0.50 autograd/_functions.py MatMul4Bit";
    /// Gradients of shared weights before they are added.
    UnaccumulatedGradients = "unaccumulated_gradients", Temporary, "torch.autograd: gradients of a tied weight are summed";
    /// `clip_grad_norm_`.
    ClippingTemporaries = "clipping_temporaries", Temporary, "torch.nn.utils.clip_grad: one norm a tensor, stacked";
    /// The optimizer's intermediate tensors.
    OptimizerTemporaries = "optimizer_temporaries", Temporary, "torch.optim foreach: one list of the size of the trainable weights (_foreach_sqrt)";
    /// Parts of sums over many rows.
    ReductionBuffers = "reduction_buffers", Temporary, "aten/src/ATen/native/cuda/Reduce.cuh: fp32 parts of every thread block of a sum over tokens";
    /// cuBLAS workspace.
    CublasWorkspace = "cublas_workspace", Temporary, "torch CUDABlas.cpp: 8.125 MiB a handle, 32 MiB on compute capability 9.0";
    /// CUDA context and loaded kernels.
    CudaContext = "cuda_context", Overhead, "nvidia-smi before the first tensor, by GPU generation";
    /// NCCL's own buffers.
    NcclBuffers = "nccl_buffers", Overhead, "NCCL channels and buffers, outside PyTorch's allocator";
    /// Ends of blocks that the caching allocator hands out with a tensor.
    UnsplitRemainders = "unsplit_remainders", Overhead, "c10/cuda/CUDACachingAllocator.cpp should_split: a remainder of at most 1 MiB stays with a large block";
    /// Memory the caching allocator cannot use.
    Fragmentation = "fragmentation", Overhead, "c10/cuda/CUDACachingAllocator.cpp replayed: smallest device on which the step runs, less the tensors at the peak";
    /// Sharded, offloaded optimizer state in host memory.
    HostOptimizerStates = "host_optimizer_states", OptimizerStates, "DeepSpeed 0.19 DeepSpeedCPUAdam";
    /// Offloaded parameters in host memory.
    HostParameters = "host_parameters", Weights, "DeepSpeed 0.19 runtime/zero";
    /// Gradients in host memory.
    HostGradients = "host_gradients", Gradients, "DeepSpeed 0.19 runtime/zero";
    /// Activations in host memory.
    HostActivations = "host_activations", Activations, "trl models/activation_offloading.py; pinned blocks of a power of two (ATen/core/CachingHostAllocator.h)";
    /// Weights of a sleeping engine in host memory.
    HostEngineWeights = "host_engine_weights", Weights, "vllm device_allocator/cumem.py sleep: level 1 copies weights to pinned host memory";
}

serialize_by_name!(Category, Term);

impl Term {
    /// What tensors of a recorded layer's part count as; `projected`: what a linear layer makes.
    pub(in crate::memory) fn of_region(region: Region, projected: bool) -> Self {
        match region {
            Region::Residual | Region::Embedding => Self::ResidualStream,
            Region::Rotary => Self::RotaryTables,
            Region::NormOutput => Self::NormOutputs,
            Region::Norm if projected => Self::NormOutputs,
            Region::Norm => Self::NormalizedValues,
            Region::Attention => Self::QueryKeyValue,
            Region::AttentionOutput => Self::AttentionOutput,
            Region::FeedForward => Self::FeedForwardActivations,
            Region::Router => Self::RouterActivations,
            Region::Experts => Self::ExpertActivations,
            Region::Other => Self::FeedForwardActivations,
        }
    }
}
