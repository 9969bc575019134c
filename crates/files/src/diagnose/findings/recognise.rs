//! The request that failed, recognised by its size among those of the plan.

use headroom_core::memory::{FailedRequest, Phase, Request, Term};

use super::Place;
use crate::diagnose::quantity::Amount;
use crate::diagnose::reading::Reading;

/// Segments that requests below 1 MiB and below 10 MiB share: their size says nothing about the request.
const SHARED_SEGMENTS: [u64; 2] = [2 << 20, 20 << 20];

/// What a request is, for those who read the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The head's output.
    Logits,
    /// Its copy in fp32.
    LogitsFp32,
    /// Softmax, gradient and whatever else the loss makes of the logits.
    Loss,
    /// What eager attention materialises.
    AttentionScores,
    /// Parameters that a layer, or several, are gathered into.
    GatheredLayer,
    /// A bucket of gradients, or of parameters.
    Bucket,
    /// Optimizer state, which the first step makes.
    OptimizerFirstStep,
    /// Temporaries of a later step of the optimizer.
    OptimizerStep,
    /// Experts' weights or activations.
    Expert,
    /// Weights while loading.
    Weights,
    /// Gradients of weights.
    Gradient,
    /// Keys and values of generation.
    KvCache,
    /// Clipping.
    Clipping,
    /// Anything else that a layer makes.
    Activation,
}

impl Class {
    /// Name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Logits => "failed_request_logits",
            Self::LogitsFp32 => "failed_request_logits_fp32",
            Self::Loss => "failed_request_loss",
            Self::AttentionScores => "failed_request_attention_scores",
            Self::GatheredLayer => "failed_request_gathered_layer",
            Self::Bucket => "failed_request_bucket",
            Self::OptimizerFirstStep => "failed_request_optimizer_first_step",
            Self::OptimizerStep => "failed_request_optimizer_step",
            Self::Expert => "failed_request_expert",
            Self::Weights => "failed_request_weights",
            Self::Gradient => "failed_request_gradient",
            Self::KvCache => "failed_request_kv_cache",
            Self::Clipping => "failed_request_clipping",
            Self::Activation => "failed_request_activation",
        }
    }

    fn of(place: &Place) -> Self {
        use headroom_core::memory::Category;
        let Place { step, phase, term, .. } = place;
        match (term, phase) {
            (Term::Logits | Term::SamplingScores, _) => Self::Logits,
            (Term::LogitsFp32, _) => Self::LogitsFp32,
            (Term::AttentionScores, _) => Self::AttentionScores,
            (Term::GatheredParameters, _) => Self::GatheredLayer,
            (Term::ReduceBuckets | Term::OffloadStaging, _) => Self::Bucket,
            (Term::ExpertActivations | Term::ExpertWeights, Phase::Forward | Phase::Backward) => Self::Expert,
            (_, Phase::OptimizerStep) if *step == 1 => Self::OptimizerFirstStep,
            (Term::OptimizerTemporaries, _) | (_, Phase::OptimizerStep) => Self::OptimizerStep,
            (_, Phase::GradientClipping) => Self::Clipping,
            (_, Phase::Load) => Self::Weights,
            _ => match term.category() {
                Category::LogitsAndLoss => Self::Loss,
                Category::Gradients => Self::Gradient,
                Category::KvCache => Self::KvCache,
                Category::OptimizerStates => Self::OptimizerFirstStep,
                _ => Self::Activation,
            },
        }
    }
}

/// A request of the plan that has the size of the one that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// What it is.
    pub class: Class,
    /// Where it comes.
    pub place: Place,
    /// What it asks for, bytes.
    pub bytes: u64,
    /// What the message says, bytes.
    pub tried: u64,
    /// By how much the message's "allocated" is outside what the plan hands out there, bytes; `None` where it does not say.
    pub allocated_gap: Option<u64>,
    /// The plan's own replay fails at it on this GPU.
    pub is_predicted: bool,
    /// The stack above the message speaks of that part of the step.
    pub is_in_stack: bool,
    /// Other requests of that size, of another class, the likelier first.
    pub others: Vec<Place>,
}

/// What the lines of a stack say about the part of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    Optimizer,
    Loss,
    Attention,
    Gather,
    Backward,
    Load,
    Generate,
    Clipping,
}

/// Words of files and functions, the more telling first.
const HINTS: &[(&str, Hint)] = &[
    ("_sharded_post_forward", Hint::Gather),
    ("partition_parameters.py", Hint::Gather),
    ("partitioned_param_coordinator.py", Hint::Gather),
    ("_fsdp_collectives.py", Hint::Gather),
    ("_fsdp_param_group.py", Hint::Gather),
    ("_flat_param.py", Hint::Gather),
    ("flat_param.py", Hint::Gather),
    ("all_gather", Hint::Gather),
    ("clip_grad", Hint::Clipping),
    ("torch/optim/", Hint::Optimizer),
    ("bitsandbytes/optim", Hint::Optimizer),
    ("optimization.py", Hint::Optimizer),
    ("exp_avg", Hint::Optimizer),
    ("_init_group", Hint::Optimizer),
    ("eager_attention_forward", Hint::Attention),
    ("attn_weights", Hint::Attention),
    ("loss_utils.py", Hint::Loss),
    ("cross_entropy", Hint::Loss),
    ("log_softmax", Hint::Loss),
    ("lm_head(", Hint::Loss),
    ("logits", Hint::Loss),
    (".backward(", Hint::Backward),
    ("_engine_run_backward", Hint::Backward),
    ("from_pretrained", Hint::Load),
    ("_load_state_dict", Hint::Load),
    ("generation/utils.py", Hint::Generate),
];

fn hint(stack: &[String]) -> Option<Hint> {
    /// Frames nearer to the failure say more than those far out.
    const INNERMOST: usize = 8;
    stack
        .iter()
        .rev()
        .take(INNERMOST)
        .find_map(|frame| HINTS.iter().find(|(word, _)| frame.contains(word)).map(|(_, hint)| *hint))
}

impl Hint {
    fn fits(self, class: Class, phase: Phase) -> bool {
        match self {
            Self::Optimizer => matches!(class, Class::OptimizerFirstStep | Class::OptimizerStep),
            Self::Loss => matches!(class, Class::Logits | Class::LogitsFp32 | Class::Loss),
            Self::Attention => class == Class::AttentionScores,
            Self::Gather => matches!(class, Class::GatheredLayer | Class::Bucket),
            Self::Backward => matches!(phase, Phase::Backward | Phase::LossBackward),
            Self::Load => class == Class::Weights,
            Self::Generate => matches!(phase, Phase::Prefill | Phase::Decode | Phase::Generation),
            Self::Clipping => class == Class::Clipping,
        }
    }
}

/// The request of `requests` that failed by `reading`; `predicted` is the one at which the plan's replay fails on that GPU.
pub(super) fn recognise(
    reading: &Reading,
    requests: &[Request],
    predicted: Option<&FailedRequest>,
) -> Option<Recognised> {
    let tried = reading.tried?;
    let is_predicted = |request: &Request| {
        predicted.is_some_and(|failed| {
            (failed.term, failed.phase, failed.request_bytes) == (request.term, request.phase, request.bytes)
                && (failed.step <= 1) == (request.step <= 1)
        })
    };
    let is_shared = SHARED_SEGMENTS.iter().any(|bytes| tried.is_print_of(*bytes));
    let hint = hint(&reading.stack);
    let mut found: Vec<(Rank, Recognised)> = Vec::new();
    for request in requests {
        let (as_segment, as_asked) = (tried.is_print_of(request.tried_bytes), tried.is_print_of(request.bytes));
        let predicted = is_predicted(request);
        if !as_segment && !as_asked || is_shared && !predicted {
            continue;
        }
        let place =
            Place { step: request.step, phase: request.phase, term: request.term, module: request.module.clone() };
        let class = Class::of(&place);
        let in_stack = hint.is_some_and(|hint| hint.fits(class, request.phase));
        let gap = reading.allocated.map(|stated| gap(stated, request.allocated_bytes));
        let rank = Rank {
            is_as_asked: !as_segment,
            is_off_stack: hint.is_some() && !in_stack,
            gap: gap.unwrap_or(0) / (reading.allocated.map_or(0, |stated| stated.bytes) / 64).max(1),
            is_unpredicted: !predicted,
            below_peak: u64::MAX - request.allocated_bytes.1,
        };
        let recognised = Recognised {
            class,
            place,
            bytes: request.bytes,
            tried: tried.bytes,
            allocated_gap: gap,
            is_predicted: predicted,
            is_in_stack: in_stack,
            others: Vec::new(),
        };
        found.push((rank, recognised));
    }
    found.sort_by_key(|(rank, _)| *rank);
    let mut found = found.into_iter().map(|(_, recognised)| recognised);
    let mut best = found.next()?;
    let mut classes = vec![best.class];
    for other in found {
        if !classes.contains(&other.class) && classes.len() < 4 {
            classes.push(other.class);
            best.others.push(other.place);
        }
    }
    Some(best)
}

/// Whether a request of that size would take a segment that many share.
pub(super) fn is_shared_segment(tried: Amount) -> bool {
    SHARED_SEGMENTS.iter().any(|bytes| tried.is_print_of(*bytes))
}

/// What speaks against a request, the weightier first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The message gives segments; only the tensor has this size.
    is_as_asked: bool,
    is_off_stack: bool,
    /// How far "allocated" is outside what the plan hands out there, in sixty-fourths of it.
    gap: u64,
    is_unpredicted: bool,
    /// Of equals, the one before which most is handed out fails first.
    below_peak: u64,
}

fn gap(stated: Amount, (least, most): (u64, u64)) -> u64 {
    let slack = stated.step / 2;
    least
        .saturating_sub(stated.bytes.saturating_add(slack))
        .max(stated.bytes.saturating_sub(most.saturating_add(slack)))
}
