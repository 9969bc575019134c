//! The request that failed, recognised by its size among those of the plan.

use headroom_core::memory::{Category, FailedRequest, Phase, Request, Term};

use super::Place;
use super::near::{LEAST_TELLING_BYTES, is_near, is_same_size, is_shared_segment, near_sizes};
use crate::diagnose::quantity::Amount;
use crate::diagnose::reading::Reading;

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
    /// What DeepSpeed sets the optimizer up with before any step.
    OptimizerSetup,
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
            Self::OptimizerSetup => "failed_request_optimizer_setup",
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
        let Place { step, phase, term, .. } = place;
        match (term, phase) {
            (Term::Logits | Term::SamplingScores, _) => Self::Logits,
            (Term::LogitsFp32, _) => Self::LogitsFp32,
            (Term::AttentionScores, _) => Self::AttentionScores,
            (Term::GatheredParameters, _) => Self::GatheredLayer,
            (Term::ReduceBuckets | Term::OffloadStaging, _) => Self::Bucket,
            (Term::ExpertActivations | Term::ExpertWeights, Phase::Forward | Phase::Backward) => Self::Expert,
            (_, Phase::Load) if is_optimizers(*term) => Self::OptimizerSetup,
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

/// Whether it belongs to the optimizer wherever it comes.
fn is_optimizers(term: Term) -> bool {
    term == Term::OptimizerTemporaries || term.category() == Category::OptimizerStates
}

/// A request of the plan that has the size of the one that failed, or about that.
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
    /// Other requests of about that size, for something else, the likelier first, with what they ask for in bytes.
    pub others: Vec<(Place, u64)>,
}

impl Recognised {
    /// Whether something besides its size tells the request from others of about that size.
    pub const fn is_told_apart(&self) -> bool {
        self.is_predicted || self.is_in_stack
    }
}

/// What the lines of a stack say about the part of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    Optimizer,
    OptimizerState,
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
    // Where optimizers of torch and bitsandbytes make what they keep.
    ("_init_group", Hint::OptimizerState),
    ("init_state", Hint::OptimizerState),
    // Where DeepSpeed takes a step with zeros for gradients, before training.
    ("initialize_optimizer_states", Hint::Optimizer),
    ("torch/optim/", Hint::Optimizer),
    ("bitsandbytes/optim", Hint::Optimizer),
    ("optimization.py", Hint::Optimizer),
    ("exp_avg", Hint::Optimizer),
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
    fn fits(self, place: &Place) -> bool {
        let (class, phase) = (Class::of(place), place.phase);
        match self {
            Self::OptimizerState => {
                matches!(class, Class::OptimizerSetup | Class::OptimizerFirstStep)
                    && place.term.category() == Category::OptimizerStates
            }
            Self::Optimizer => {
                matches!(class, Class::OptimizerSetup | Class::OptimizerFirstStep | Class::OptimizerStep)
            }
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
    let is_shared = is_shared_segment(tried);
    let hint = hint(&reading.stack);
    let near_sizes = near_sizes(requests, |request| hint.is_some_and(|hint| hint.fits(&Place::of(request))), predicted);
    let mut found: Vec<(Rank, Recognised)> = Vec::new();
    for request in requests {
        let (as_segment, as_asked) = (tried.is_print_of(request.tried_bytes), tried.is_print_of(request.bytes));
        let predicted = is_predicted(request);
        let gap = reading.allocated.map(|stated| gap(stated, request.allocated_bytes));
        let may_fail_there = gap.zip(reading.allocated).is_none_or(|(gap, stated)| gap <= stated.bytes / MOST_GAP);
        let is_near = is_near(tried, request.tried_bytes)
            && may_fail_there
            && near_sizes.iter().any(|size| is_same_size(*size, request.tried_bytes));
        let place = Place::of(request);
        let class = Class::of(&place);
        let in_stack = hint.is_some_and(|hint| hint.fits(&place));
        let is_told_apart = predicted || in_stack || is_only_there(reading.allocated, request.allocated_bytes);
        let is_telling = tried.bytes >= LEAST_TELLING_BYTES || is_told_apart;
        if !as_segment && !as_asked && !is_near || is_shared && !predicted || !is_telling {
            continue;
        }
        let rank = Rank {
            is_as_asked: as_asked && !as_segment,
            is_off_stack: hint.is_some() && !in_stack,
            is_near: !as_segment && !as_asked,
            gap: gap.unwrap_or(0) / (reading.allocated.map_or(0, |stated| stated.bytes) / 64).max(1),
            is_unpredicted: !predicted,
            below_peak: u64::MAX - request.allocated_bytes.1,
        };
        let recognised = Recognised {
            class,
            place,
            bytes: if as_asked { request.bytes } else { request.tried_bytes },
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
    let what = |place: &Place| (place.phase, place.term);
    for other in found {
        let mut named = std::iter::once(&best.place).chain(best.others.iter().map(|(place, _)| place));
        if best.others.len() < MOST_OTHERS && named.all(|place| what(place) != what(&other.place)) {
            best.others.push((other.place, other.bytes));
        }
    }
    Some(best)
}

/// Most requests of about one size that are named besides the likeliest.
const MOST_OTHERS: usize = 3;

/// What is handed out by the plan may differ from what the message says by this part of it where sizes are only near.
const MOST_GAP: u64 = 8;

/// Whether the plan hands out what the message says about where the request comes, and nowhere far from it.
fn is_only_there(stated: Option<Amount>, (least, most): (u64, u64)) -> bool {
    /// The plan's range is at most this part of what the message says.
    const NARROW: u64 = 32;
    stated.is_some_and(|stated| gap(stated, (least, most)) == 0 && most - least <= stated.bytes / NARROW)
}

/// What speaks against a request, the weightier first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The message gives segments; only the tensor has this size.
    is_as_asked: bool,
    is_off_stack: bool,
    /// Another size is printed for it.
    is_near: bool,
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use headroom_core::job::Job;
    use headroom_core::memory::Requests;
    use headroom_core::plan::Plan;

    use super::*;
    use crate::diagnose::reading::Format;

    const PLANS: [&str; 8] = [
        r#"{"model": "meta-llama/Llama-3.1-8B", "gpu": "a100-40gb", "num_gpus": 2, "method": "full", "zero_stage": 2,
            "distributed": {"framework": "deepspeed", "bf16": {"enabled": true}}, "max_length": 1024}"#,
        r#"{"model": "Qwen/Qwen3-4B", "gradient_checkpointing": true, "max_length": 4096}"#,
        r#"{"model": "Qwen/Qwen2.5-7B", "method": "qlora", "per_device_train_batch_size": 2, "max_length": 2048}"#,
        r#"{"model": "mistralai/Mistral-7B-v0.1", "method": "full", "num_gpus": 8, "zero_stage": 3, "max_length": 256}"#,
        r#"{"model": "openai-community/gpt2", "method": "full", "attn_implementation": "eager", "max_length": 1024}"#,
        r#"{"model": "meta-llama/Llama-3.1-8B", "method": "full", "num_gpus": 8, "max_length": 4096,
            "distributed": {"framework": "fsdp2"}}"#,
        r#"{"model": "Qwen/Qwen3-30B-A3B", "method": "lora", "max_length": 2048, "gpu": "h200"}"#,
        r#"{"model": "meta-llama/Llama-3.2-1B", "method": "full", "optim": "adamw_torch_forloop", "max_length": 2048}"#,
    ];

    /// What a message says of a request of `bytes`, to a hundredth of its unit.
    fn printed(bytes: u64) -> Amount {
        let unit = if bytes >= 1 << 30 { 1_u64 << 30 } else { 1 << 20 };
        let step = unit / 100;
        Amount { bytes: (bytes + step / 2) / step * step, step }
    }

    #[test]
    fn of_random_sizes_at_most_one_in_twenty_is_taken_for_a_request_of_the_plan() {
        // A linear congruential generator: the same sizes each time.
        let mut seed = 20_261_128_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        for plan in PLANS {
            let job = Job::resolve(&Plan::from_json(plan).unwrap()).unwrap();
            let requests = Requests::new(&job);
            let (all, predicted) = (requests.all(), requests.failure_on(false, job.memory_bytes()));
            // From 1 MiB to 8 GiB by its logarithm, as it is and in whole 2 MiB as the allocator asks for segments.
            // What is allocated may be stated too, here with a tenth of the GPU left.
            let full = Amount::exact(job.memory_bytes() / 10 * 9);
            for (whole, allocated) in [(1, None), (2 << 20, None), (2 << 20, Some(full))] {
                let sizes: Vec<u64> =
                    (0..2000).map(|_| (2_f64.powf(20.0 + 13.0 * random()) as u64).next_multiple_of(whole)).collect();
                let is_taken = |size: &&u64| {
                    let mut reading = Reading::new(Format::CudaOutOfMemory, 1, "");
                    (reading.tried, reading.allocated) = (Some(printed(**size)), allocated);
                    recognise(&reading, &all, predicted.as_ref()).is_some()
                };
                let taken = sizes.iter().filter(is_taken).count();
                // Three in a hundred: the share of two hundred sizes scatters about it.
                assert!(taken * 100 <= sizes.len() * 3, "{plan}: {taken} of {}", sizes.len());
            }
        }
    }

    #[test]
    fn the_largest_requests_are_recognised_within_two_per_cent() {
        for plan in PLANS {
            let job = Job::resolve(&Plan::from_json(plan).unwrap()).unwrap();
            let all = Requests::new(&job).all();
            let largest = all.iter().map(|request| request.tried_bytes).max().unwrap();
            for (per_mille, is_own) in [(981, true), (996, true), (1004, true), (1019, true), (1040, false)] {
                let mut reading = Reading::new(Format::CudaOutOfMemory, 1, "");
                reading.tried = Some(printed(largest / 1000 * per_mille));
                let found = recognise(&reading, &all, None);
                let is_found = found.as_ref().is_some_and(|found| found.bytes.abs_diff(largest) < largest / 50);
                assert_eq!(is_found, is_own, "{plan}: {per_mille} {largest} {found:?}");
            }
        }
    }
}
