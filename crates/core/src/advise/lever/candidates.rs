//! Which levers are worth a look for a plan.

use super::Lever;
use crate::gpu::{self, Gpu};
use crate::job::Job;
use crate::model;
use crate::plan::{GpuChoice, Method, ModelChoice, Plan, Task};

/// Ways to shard the training state that make sense for a number of GPUs: stage, optimizer offloaded, parameters too.
pub(in crate::advise) fn shardings(num_gpus: u64) -> Vec<Lever> {
    let one: &[(u8, bool, bool)] = &[(2, true, false), (3, true, true)];
    let several: &[(u8, bool, bool)] = &[
        (0, false, false),
        (1, false, false),
        (2, false, false),
        (3, false, false),
        (2, true, false),
        (3, true, false),
        (3, true, true),
    ];
    let list = if num_gpus > 1 { several } else { one };
    let lever = |&(zero_stage, offload_optimizer, offload_param)| Lever::Sharding {
        zero_stage,
        offload_optimizer,
        offload_param,
    };
    list.iter().map(lever).collect()
}

/// Sequences that one GPU takes in for a step, in however many forwards.
pub(in crate::advise) fn sequences_of_a_step(plan: &Plan) -> u64 {
    match plan.batches().round {
        Some(round) if plan.steps_take_a_round() => round.sequences_per_gpu,
        _ => plan.per_device_train_batch_size.saturating_mul(plan.gradient_accumulation_steps),
    }
}

/// Smaller micro-batches that keep the effective batch, the largest first.
pub(in crate::advise) fn smaller_batches(plan: &Plan) -> Vec<u64> {
    let forwards = sequences_of_a_step(plan);
    // A divisor below b: no more than its square root and their partners need be looked at, but b is small.
    let largest = plan.per_device_train_batch_size.min(LARGEST_BATCH);
    let mut batches: Vec<u64> = (1..largest).rev().filter(|batch| forwards.is_multiple_of(*batch)).collect();
    if batches.len() > MICRO_BATCHES {
        batches.truncate(MICRO_BATCHES - 1);
        batches.push(1);
    }
    batches
}

/// Batches beyond this are not looked for.
const LARGEST_BATCH: u64 = 4096;

/// Micro-batches that are tried; with more divisors than this the smallest is tried in place of the last.
const MICRO_BATCHES: usize = 12;

/// GradCache's mini-batches for the plan of an embedding model, the largest first: smaller than what one forward takes in.
pub(in crate::advise) fn mini_batches(plan: &Plan) -> Vec<u64> {
    if plan.task != Task::Embedding {
        return Vec::new();
    }
    let own = if plan.caches_gradients() { plan.mini_batch() } else { plan.per_device_train_batch_size };
    [128, 32, 8, 2].into_iter().filter(|rows| *rows < own).collect()
}

/// Shorter sequences: three quarters, a half, a quarter, in multiples of 64 tokens.
pub(in crate::advise) fn shorter(length: u64) -> Vec<u64> {
    let mut lengths: Vec<u64> = [3, 2, 1].iter().map(|quarters| length * quarters / 4 / 64 * 64).collect();
    lengths.retain(|shorter| *shorter > 0 && *shorter < length);
    lengths.dedup();
    lengths
}

/// Levers worth asking about, one by one.
pub(in crate::advise) fn candidates(job: &Job) -> Vec<Lever> {
    let plan = &job.plan;
    let mut levers = vec![
        Lever::ExpandableSegments,
        Lever::Sdpa,
        Lever::FusedOptimizer,
        Lever::Liger,
        Lever::LigerLayers,
        Lever::ChunkedLoss,
        Lever::OffloadActivations,
        Lever::KeepActivations,
        Lever::PaddingFree,
        Lever::Padded,
        Lever::Checkpointing,
        Lever::NoCheckpointing,
        Lever::SmallBuckets,
        Lever::NewerTrainer,
        Lever::DropOutputs,
        Lever::AdapterReference,
        Lever::PrecomputedReference,
        Lever::SharedInstances,
        Lever::OffloadedInstances,
        Lever::ResidentInstances,
        Lever::QuantizedInstances,
        Lever::Vllm,
    ];
    levers.extend(smaller_batches(plan).into_iter().map(Lever::MicroBatch));
    levers.extend(mini_batches(plan).into_iter().map(Lever::GradCache));
    levers.extend(shardings(plan.num_gpus));
    levers.extend([Lever::EightBitOptimizer, Lever::PagedOptimizer, Lever::Adafactor]);
    levers.extend([Lever::HalfPrecisionBase, Lever::PureBfloat16]);
    levers.extend([Lever::Lora, Lever::Qlora, Lever::NarrowAdapters, Lever::AttentionAdapters]);
    if plan.method != Method::Full {
        levers.push(Lever::Rank((plan.lora.r / 2).max(1)));
    }
    if plan.is_reinforcement() {
        let generations = plan.rollout.num_generations();
        levers.push(Lever::Generations((generations / 2).max(2)));
        levers.push(Lever::CompletionLength((plan.rollout.max_completion_length() / 2).max(1)));
    } else {
        levers.extend(shorter(plan.max_length).into_iter().take(2).map(Lever::Length));
    }
    levers.extend(smaller_model(plan).map(Lever::Model));
    levers.push(Lever::Gpus(plan.num_gpus.saturating_mul(2)));
    levers.extend(larger_gpu(job).map(Lever::Gpu));
    levers
}

/// The next smaller model of the same group of the catalogue.
pub(in crate::advise) fn smaller_model(plan: &Plan) -> Option<&'static str> {
    let ModelChoice::Catalogue(id) = &plan.model else { return None };
    let own = model::find(id)?;
    let smaller = model::catalogue().iter().filter(|other| other.group == own.group);
    let smaller = smaller.filter(|other| other.param_count < own.param_count);
    smaller.max_by_key(|other| other.param_count).map(|other| other.id)
}

/// The smallest GPU with a quarter more memory, of the same maker where there is one; the quickest of that size.
fn larger_gpu(job: &Job) -> Option<&'static str> {
    let maker = match &job.plan.gpu {
        GpuChoice::Catalogue(_) => Some(job.gpu.vendor),
        GpuChoice::Custom { .. } => None,
    };
    let larger = gpu::catalogue().iter().filter(|gpu| gpu.memory_bytes() / 5 * 4 >= job.memory_bytes);
    let larger = larger.filter(|gpu| maker.is_none_or(|maker| gpu.vendor == maker));
    let quicker_first = |a: &&Gpu, b: &&Gpu| b.memory_bandwidth_gb_s.total_cmp(&a.memory_bandwidth_gb_s);
    let smallest = larger.min_by(|a, b| a.memory_bytes().cmp(&b.memory_bytes()).then_with(|| quicker_first(a, b)));
    smallest.map(|gpu| gpu.id.as_ref())
}
