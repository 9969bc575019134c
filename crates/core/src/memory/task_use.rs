//! What an estimate says of preference and reinforcement tasks: the batches, the models on the GPU, the cache.

use super::estimate::Allocation;
use super::kv_cache::{CacheLayout, kv_bytes_per_sequence, kv_bytes_per_token};
use super::phase::Phase;
use super::term::{Category, Term};
use crate::job::{ENGINE_DTYPE, Job};
use crate::plan::{
    Batches, Dtype, InstanceRole, KvCacheDtype, Method, MixedPrecision, Offload, Plan, ReferenceKind, RolloutEngine,
    Task,
};

/// What a task holds beside one model's training step.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskUse {
    /// The batches of one optimizer step.
    pub batches: Batches,
    /// The models that take part, the policy first; empty in an outline.
    pub models: Vec<ModelUse>,
    /// Generation, where there is some.
    pub rollout: Option<RolloutUse>,
}

/// One model that takes part.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct ModelUse {
    /// What it is for.
    pub role: ModelRole,
    /// Its name.
    pub name: String,
    /// What its weights are in, where they are not quantised.
    pub dtype: Dtype,
    /// Bits a weight, where they are.
    pub bits: Option<u8>,
    /// Weights of its own on the GPU, bytes: the most they ever are.
    pub bytes: u64,
    /// Whether it uses another model's weights.
    pub shared: bool,
    /// What a copy of its own would take on the GPU, bytes; 0 where it has one.
    pub saved_bytes: u64,
    /// Whether its weights live in host memory while it does not run.
    pub offloaded: bool,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelRole {
    /// The model that trains or runs.
    Policy,
    /// The frozen reference.
    Reference,
    /// A model beside them.
    Companion(InstanceRole),
    /// The generating engine's copy of the policy.
    Engine,
}

impl ModelRole {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Reference => "reference",
            Self::Companion(role) => role.name(),
            Self::Engine => "engine",
        }
    }
}

/// Generation on one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct RolloutUse {
    /// What generates.
    pub engine: RolloutEngine,
    /// Sequences that are to run side by side.
    pub sequences: u64,
    /// Tokens of the longest, prompt and answer.
    pub tokens_per_sequence: u64,
    /// Keys and values of one token in all layers, windows not yet full, bytes.
    pub kv_bytes_per_token: u64,
    /// Keys and values of the longest sequence, bytes.
    pub kv_bytes_per_sequence: u64,
    /// The same for all sequences side by side, bytes.
    pub kv_bytes: u64,
    /// An engine's pool of keys and values, bytes.
    pub pool_bytes: Option<u64>,
    /// The longest sequences for which an engine's pool has room.
    pub sequences_in_pool: Option<u64>,
}

/// Reads it off a plan and the rows of its ledger.
pub(super) fn task_use(job: &Job, rows: &[Allocation]) -> TaskUse {
    TaskUse {
        batches: job.batches,
        models: if rows.is_empty() { Vec::new() } else { models(job, rows) },
        rollout: rollout(job, rows),
    }
}

/// The most that rows hold together in any phase, bytes.
fn most(rows: &[Allocation], counts: impl Fn(&Allocation) -> bool) -> u64 {
    let of = |phase: &Phase| -> u64 {
        let rows = rows.iter().filter(|row| counts(row)).flat_map(|row| &row.phases);
        rows.filter(|(other, _)| other == phase).map(|(_, bytes)| *bytes).fold(0, u64::saturating_add)
    };
    Phase::ALL.iter().map(of).max().unwrap_or(0)
}

fn models(job: &Job, rows: &[Allocation]) -> Vec<ModelUse> {
    const OTHERS: [Term; 4] = [Term::ReferenceWeights, Term::ValueWeights, Term::RewardWeights, Term::EngineWeights];
    let own = |row: &Allocation| row.category() == Category::Weights && !OTHERS.contains(&row.term);
    let base = most(rows, |row| own(row) && row.term != Term::AdapterWeights);
    let plain = |role, bytes, (dtype, bits)| ModelUse {
        role,
        name: job.model.name.clone(),
        dtype,
        bits,
        bytes,
        shared: false,
        saved_bytes: 0,
        offloaded: false,
    };
    let (policys, frozen) = (policy_precision(job), job.numerics.frozen);
    let mut models = vec![plain(ModelRole::Policy, most(rows, own), policys)];
    if matches!(job.plan.task, Task::Dpo | Task::Kto | Task::Grpo | Task::Rloo | Task::Ppo) {
        let shared = ModelUse { shared: true, saved_bytes: base, ..plain(ModelRole::Reference, 0, policys) };
        match job.reference {
            ReferenceKind::Copy | ReferenceKind::Auto => {
                let bytes = most(rows, |row| row.term == Term::ReferenceWeights);
                models.push(plain(ModelRole::Reference, bytes, (frozen, None)));
            }
            ReferenceKind::AdapterDisabled => models.push(shared),
            ReferenceKind::Precomputed => models.push(ModelUse { shared: false, ..shared }),
            ReferenceKind::None => {}
        }
    }
    let mut place = 0;
    for instance in &job.instances {
        let prefix = if instance.role == InstanceRole::Value {
            "value_model.".to_owned()
        } else {
            place += 1;
            format!("reward_models.{}.", place - 1)
        };
        let bytes = most(rows, |row| row.category() == Category::Weights && row.module.starts_with(&prefix));
        let precision = if instance.shared { policys } else { (frozen, instance.bits) };
        models.push(ModelUse {
            name: instance.model.name.clone(),
            shared: instance.shared,
            saved_bytes: if instance.shared { base } else { 0 },
            offloaded: instance.placement == Offload::Cpu,
            ..plain(ModelRole::Companion(instance.role), bytes, precision)
        });
    }
    let engine = most(rows, |row| row.term == Term::EngineWeights);
    if engine > 0 {
        let bits = job.quantizes_engine().then_some(4);
        models.push(plain(ModelRole::Engine, engine, (ENGINE_DTYPE, bits)));
    }
    models
}

/// What the policy's base is held in: its dtype, and its bits where it is quantised.
fn policy_precision(job: &Job) -> (Dtype, Option<u8>) {
    let sharding = &job.sharding;
    let dtype = match sharding.accelerate {
        Some(_) if job.adapts() => sharding.frozen_dtype,
        Some(_) => sharding.shard_dtype,
        None => job.numerics.weights,
    };
    (dtype, job.quantizes().then_some(job.plan.quantization.bits))
}

fn fp32_stream(plan: &Plan) -> bool {
    plan.method == Method::Qlora
        && plan.task != Task::Inference
        && plan.quantization.prepare_for_kbit_training
        && plan.mixed_precision == MixedPrecision::No
        && plan.rollout.engine() == RolloutEngine::Generate
}

fn rollout(job: &Job, rows: &[Allocation]) -> Option<RolloutUse> {
    let plan = &job.plan;
    let (sequences, tokens) = match (job.batches.round, plan.task) {
        (Some(round), _) => (round.sequences_at_once, job.batches.tokens_per_sequence),
        (None, Task::Inference) => {
            (plan.per_device_train_batch_size, plan.max_length.saturating_add(plan.rollout.new_tokens))
        }
        (None, _) => return None,
    };
    let engine = if plan.task == Task::Inference { RolloutEngine::Generate } else { plan.rollout.engine() };
    let layout = if engine == RolloutEngine::Generate { CacheLayout::Expanded } else { CacheLayout::Compressed };
    let width = match plan.rollout.kv_cache_dtype {
        Some(KvCacheDtype::Fp8) if engine != RolloutEngine::Generate => 1,
        Some(KvCacheDtype::Bfloat16) if engine != RolloutEngine::Generate => Dtype::Bfloat16.bytes(),
        // Without autocast the hidden states of a base prepared for k-bit training are fp32, and so is its cache.
        _ if fp32_stream(plan) => Dtype::Float32.bytes(),
        _ if engine != RolloutEngine::Generate => ENGINE_DTYPE.bytes(),
        _ => job.numerics.weights.bytes(),
    };
    let one = kv_bytes_per_sequence(&job.model, layout, width, tokens);
    let pool = most(rows, |row| row.term == Term::EnginePool);
    let shared_by = plan.rollout.tensor_parallel_size();
    Some(RolloutUse {
        engine,
        sequences,
        tokens_per_sequence: tokens,
        kv_bytes_per_token: kv_bytes_per_token(&job.model, layout, width),
        kv_bytes_per_sequence: one,
        kv_bytes: one.saturating_mul(sequences),
        pool_bytes: (pool > 0).then_some(pool),
        sequences_in_pool: (pool > 0).then(|| pool.saturating_mul(shared_by) / one.max(1)),
    })
}

serialize_by_name!(ModelRole);
