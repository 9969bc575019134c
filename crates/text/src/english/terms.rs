//! What memory is called, in English: categories, phases, terms, verdicts; segments of the market.

use headroom_core::gpu::Segment;
use headroom_core::memory::{Category, Fit, Phase, Term};

pub(super) fn category(category: Category) -> &'static str {
    match category {
        Category::Weights => "Weights",
        Category::Gradients => "Gradients",
        Category::OptimizerStates => "Optimizer states",
        Category::Activations => "Activations",
        Category::LogitsAndLoss => "Logits and loss",
        Category::KvCache => "KV cache",
        Category::CommunicationBuffers => "Communication buffers",
        Category::Temporary => "Temporary",
        Category::Overhead => "Overhead",
    }
}

pub(super) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Load => "Load",
        Phase::Prefill => "Prefill",
        Phase::Decode => "Decode",
        Phase::Generation => "Generation",
        Phase::OldLogProbs => "Old log-probs",
        Phase::ReferenceForward => "Reference forward",
        Phase::RewardForward => "Rewards and values",
        Phase::Forward => "Forward",
        Phase::Loss => "Loss",
        Phase::LossBackward => "Backward of the loss",
        Phase::Backward => "Backward",
        Phase::GradientClipping => "Gradient clipping",
        Phase::OptimizerStep => "Optimizer step",
        Phase::WeightSync => "Weight sync",
    }
}

pub(super) fn term(term: Term) -> &'static str {
    match term {
        Term::EmbeddingWeights => "Embeddings",
        Term::AttentionWeights => "Attention projections",
        Term::FeedForwardWeights => "Feed-forward projections",
        Term::ExpertWeights => "Experts and routers",
        Term::NormWeights => "Norms",
        Term::HeadWeights => "Output head",
        Term::QuantizedWeights => "Quantised weights",
        Term::QuantizationConstants => "Quantisation constants",
        Term::AdapterWeights => "LoRA adapters",
        Term::ReferenceWeights => "Reference model",
        Term::ValueWeights => "Value model",
        Term::RewardWeights => "Reward models",
        Term::EngineWeights => "Weights in the rollout engine",
        Term::Buffers => "Buffers",
        Term::WeightGradients => "Gradients of the weights",
        Term::AdapterGradients => "Gradients of the adapters",
        Term::GradientShard => "Gradient shard",
        Term::MasterWeights => "fp32 master weights",
        Term::FirstMoment => "First moment",
        Term::SecondMoment => "Second moment",
        Term::FactoredSecondMoment => "Factored second moment",
        Term::BlockwiseStateScales => "Scales of 8-bit states",
        Term::LowRankProjections => "Low-rank projections",
        Term::StepCounters => "Step counters",
        Term::BatchInputs => "Inputs, labels and masks",
        Term::ResidualStream => "Residual stream",
        Term::NormInputs => "Norm inputs in fp32",
        Term::NormStatistics => "Norm statistics",
        Term::NormalizedValues => "Normalised values",
        Term::NormOutputs => "Norm outputs",
        Term::QueryKeyValue => "Queries, keys and values",
        Term::RotaryTables => "Rotary tables",
        Term::AttentionOutput => "Attention output",
        Term::AttentionScores => "Attention scores",
        Term::AttentionMask => "Attention mask",
        Term::DropoutMasks => "Dropout masks",
        Term::FeedForwardActivations => "Feed-forward activations",
        Term::ExpertActivations => "Expert activations",
        Term::RouterActivations => "Router activations",
        Term::AdapterActivations => "Adapter activations",
        Term::AutocastInputs => "Inputs cast by autocast",
        Term::AutocastWeights => "Weights cast by autocast",
        Term::HeadInputs => "Input of the head",
        Term::Logits => "Logits",
        Term::LogitsFp32 => "Logits in fp32",
        Term::LogSoftmax => "Log-softmax",
        Term::LogitsGradients => "Gradients of the logits",
        Term::ChunkedLoss => "Chunked loss",
        Term::ScoreHead => "Classification head",
        Term::SentenceEmbeddings => "Sentence embeddings",
        Term::SimilarityMatrix => "Similarity matrix",
        Term::KvCache => "Keys and values",
        Term::EnginePool => "Pool of the rollout engine",
        Term::EngineBuffers => "Buffers of the rollout engine",
        Term::EngineActivations => "Activations of the rollout engine",
        Term::CudaGraphs => "CUDA graphs of the rollout engine",
        Term::SamplingScores => "Sampling scores",
        Term::LogProbabilities => "Log-probabilities",
        Term::ReduceBuckets => "Reduce buckets",
        Term::GatheredParameters => "Gathered parameters",
        Term::OffloadStaging => "Offload staging buffers",
        Term::ActivationGradients => "Gradients of activations",
        Term::ForwardTemporaries => "Intermediate results of forward",
        Term::DequantizedWeights => "Dequantised weights",
        Term::UnaccumulatedGradients => "Gradients not yet summed",
        Term::ClippingTemporaries => "Clipping",
        Term::OptimizerTemporaries => "Optimizer temporaries",
        Term::ReductionBuffers => "Buffers of sums over tokens",
        Term::CublasWorkspace => "cuBLAS workspace",
        Term::CudaContext => "CUDA context",
        Term::NcclBuffers => "NCCL buffers",
        Term::UnsplitRemainders => "Unsplit remainders of blocks",
        Term::Fragmentation => "Fragmentation",
        Term::HostOptimizerStates => "Optimizer states",
        Term::HostParameters => "Parameters",
        Term::HostGradients => "Gradients",
        Term::HostActivations => "Activations",
        Term::HostEngineWeights => "Sleeping engine's weights",
    }
}

pub(super) fn fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "Fits",
        Fit::Tight => "Tight",
        Fit::DoesNotFit => "Does not fit",
    }
}

pub(super) fn guessed_fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "Guess: likely fits",
        Fit::Tight => "Guess: may fit",
        Fit::DoesNotFit => "Guess: likely does not fit",
    }
}

pub(super) fn segment(segment: Segment) -> &'static str {
    match segment {
        Segment::Consumer => "Consumer",
        Segment::Laptop => "Laptop",
        Segment::Workstation => "Workstation",
        Segment::DataCentre => "Data centre",
        Segment::Custom => "Custom",
    }
}
