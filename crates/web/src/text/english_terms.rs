//! The core's words in English.

use headroom_core::gpu::Segment;
use headroom_core::memory::{Category, Fit, Note, Phase, Term};
use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, Dtype, Framework, Method, MixedPrecision, Optimizer, Problem,
    ProblemKind, QuantType, Task,
};
use headroom_core::units::bytes_text;

use super::{ChoiceText, choice};

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
        Term::KvCache => "Keys and values",
        Term::EnginePool => "Pool of the rollout engine",
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
        Term::UnsplitRemainders => "Unsplit ends of blocks",
        Term::Fragmentation => "Fragmentation",
        Term::HostOptimizerStates => "Optimizer states",
        Term::HostParameters => "Parameters",
        Term::HostGradients => "Gradients",
    }
}

pub(super) fn fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "Fits",
        Fit::Tight => "Tight",
        Fit::DoesNotFit => "Does not fit",
    }
}

pub(super) fn note(note: &Note) -> String {
    match note {
        Note::GenericModel { model_type } => format!(
            "Headroom does not know the family “{model_type}” and read it as a Llama-like decoder: take every figure as a guess."
        ),
        Note::AssumedKeys { keys } => format!(
            "The config.json does not say these, so the defaults of its class are assumed: {}.",
            super::assumed_keys(keys, ", ")
        ),
        Note::TextPart { of } => {
            format!("Only the text part of “{of}” is counted: its vision or audio towers are not.")
        }
        Note::EagerOnly { model_type } => {
            format!("transformers has no sdpa for “{model_type}”: attention runs eagerly and writes its scores out.")
        }
        Note::FamilyNotMeasured { model_type } => format!(
            "The activations of “{model_type}” follow its code in transformers and were not compared with a measurement."
        ),
        Note::ZeroOnOneCard => "ZeRO on one card splits nothing: only offload saves memory there.".to_owned(),
        Note::CardLacksBfloat16 => {
            "This card does not compute bf16 in hardware, and flash-attn does not run on it: consider float16."
                .to_owned()
        }
        Note::AttentionKernel { kernel } => {
            format!("Attention runs on the “{kernel}” kernel: card, dtype, mask or length rule out the flash kernel.")
        }
        Note::LongerThanPositions { max_position_embeddings } => {
            format!("The sequence is longer than the {max_position_embeddings} tokens the model was made for.")
        }
        Note::HostMemory { needed, usual, source } => format!(
            "Host memory: {} needed, and machines with such GPUs usually have {} at most ({source}).",
            bytes_text(*needed),
            bytes_text(*usual)
        ),
        Note::UnquantizedParts { bytes } => format!(
            "Embeddings, head and norms are not quantised and take {}: 4 bits never save three quarters of the weights.",
            bytes_text(*bytes)
        ),
        Note::NotMeasured { what } => {
            format!("Derived from the library's code and not yet compared with a measurement: {what}.")
        }
    }
}

/// The core writes its problems in English, each after the name of its field.
pub(super) fn problem(problem: &Problem) -> String {
    let said = problem.to_string();
    let said = said.strip_prefix(&format!("{}: ", problem.field)).unwrap_or(&said);
    let end = if said.ends_with('?') { "" } else { "." };
    if matches!(problem.kind, ProblemKind::UnknownModel { .. } | ProblemKind::UnknownGpu { .. }) {
        // They begin with what was typed, which stays as it is.
        return format!("{said}{end}");
    }
    let mut letters = said.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}{end}", first.to_uppercase(), letters.as_str()))
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

pub(super) fn task(task: Task) -> ChoiceText {
    match task {
        Task::Sft => choice("Supervised fine-tuning", "SFT"),
        Task::SequenceClassification => choice("Sequence classification", "score or class head"),
        Task::Inference => choice("Inference", "prefill and generation"),
        Task::Reward => choice("Reward model", "pairs of answers, one score each"),
        Task::Dpo => choice("DPO", "pairs and a reference"),
        Task::Grpo => choice("GRPO", "groups of generated answers"),
        Task::Ppo => choice("PPO", "policy, value model, reference, reward"),
    }
}

pub(super) fn method(method: Method) -> ChoiceText {
    match method {
        Method::Full => choice("Full", "all weights"),
        Method::Lora => choice("LoRA", "adapters"),
        Method::Qlora => choice("QLoRA", "adapters, quantised base"),
    }
}

pub(super) fn dtype(dtype: Dtype) -> ChoiceText {
    match dtype {
        Dtype::Bfloat16 => choice("bf16", "bfloat16"),
        Dtype::Float16 => choice("fp16", "float16"),
        Dtype::Float32 => choice("fp32", "float32"),
    }
}

pub(super) fn precision(weights: Dtype, autocast: MixedPrecision) -> ChoiceText {
    match (weights, autocast) {
        (Dtype::Bfloat16, MixedPrecision::No) => choice("bf16", "weights in bf16, no autocast"),
        (Dtype::Float16, MixedPrecision::No) => choice("fp16", "weights in fp16, no autocast"),
        (Dtype::Float32, MixedPrecision::No) => choice("fp32", "weights in fp32, no autocast"),
        (Dtype::Float32, MixedPrecision::Bf16) => choice("fp32 + bf16", "weights in fp32, autocast to bf16"),
        (Dtype::Float32, MixedPrecision::Fp16) => choice("fp32 + fp16", "weights in fp32, autocast to fp16"),
        (Dtype::Bfloat16, MixedPrecision::Bf16) => choice("bf16 + bf16", "weights in bf16, autocast to bf16"),
        (Dtype::Float16, MixedPrecision::Fp16) => choice("fp16 + fp16", "weights in fp16, autocast to fp16"),
        (Dtype::Bfloat16, MixedPrecision::Fp16) => choice("bf16 + fp16", "weights in bf16, autocast to fp16"),
        (Dtype::Float16, MixedPrecision::Bf16) => choice("fp16 + bf16", "weights in fp16, autocast to bf16"),
    }
}

pub(super) fn optimizer(optimizer: Optimizer) -> ChoiceText {
    match optimizer {
        Optimizer::AdamwTorch => choice("AdamW", "PyTorch, foreach"),
        Optimizer::AdamwTorchFused => choice("AdamW, fused", "PyTorch"),
        Optimizer::AdamwTorchForloop => choice("AdamW, for-loop", "PyTorch"),
        Optimizer::AdamwBnb8bit => choice("AdamW 8-bit", "bitsandbytes"),
        Optimizer::PagedAdamw8bit => choice("AdamW 8-bit, paged", "bitsandbytes"),
        Optimizer::PagedAdamw32bit => choice("AdamW 32-bit, paged", "bitsandbytes"),
        Optimizer::Sgd => choice("SGD", "no momentum"),
        Optimizer::SgdMomentum => choice("SGD", "with momentum"),
        Optimizer::Adafactor => choice("Adafactor", "factored second moment"),
        Optimizer::Lion32bit => choice("Lion", "bitsandbytes, 32-bit"),
        Optimizer::Lion8bit => choice("Lion 8-bit", "bitsandbytes"),
        Optimizer::GaloreAdamw => choice("GaLore AdamW", "low-rank gradients"),
        Optimizer::ApolloAdamw => choice("APOLLO AdamW", "low-rank scaling"),
        Optimizer::Muon => choice("Muon", "AdamW for the rest"),
    }
}

pub(super) fn attention(attention: AttnImplementation) -> ChoiceText {
    match attention {
        AttnImplementation::Sdpa => choice("SDPA", "PyTorch picks the kernel"),
        AttnImplementation::FlashAttention2 => choice("FlashAttention-2", "flash-attn package"),
        AttnImplementation::Eager => choice("Eager", "score matrix written out"),
    }
}

pub(super) fn kernel(kernel: AttentionKernel) -> ChoiceText {
    match kernel {
        AttentionKernel::Auto => choice("Auto", "as PyTorch decides"),
        AttentionKernel::Flash => choice("Flash", ""),
        AttentionKernel::Efficient => choice("Memory-efficient", ""),
        AttentionKernel::Math => choice("Math", "scores written out"),
    }
}

pub(super) fn framework(framework: Framework) -> ChoiceText {
    match framework {
        Framework::Deepspeed => choice("DeepSpeed", "ZeRO"),
        Framework::Fsdp2 => choice("FSDP2", "fully_shard"),
        Framework::Ddp => choice("DDP", "copies, no sharding"),
    }
}

pub(super) fn adapter_dtype(dtype: AdapterDtype) -> ChoiceText {
    match dtype {
        AdapterDtype::Auto => choice("Auto", "fp32 over a half-precision base"),
        AdapterDtype::Bfloat16 => choice("bf16", ""),
        AdapterDtype::Float16 => choice("fp16", ""),
        AdapterDtype::Float32 => choice("fp32", ""),
    }
}

pub(super) fn quant_type(quant_type: QuantType) -> ChoiceText {
    match quant_type {
        QuantType::Nf4 => choice("NF4", "normal float"),
        QuantType::Fp4 => choice("FP4", "4-bit float"),
    }
}
