//! How vLLM divides its share of a GPU, and the least share with which it starts.

mod cache;
mod sizes;

use super::{ENGINE_DTYPE, Job, Scheme, adapter_dtype};
use crate::gpu::{context_bytes, cuda_13_bytes, nccl_bytes};
use crate::model::{Layer, Module, ModuleKind};
use crate::plan::{
    Dtype, EngineNeed, KvCacheDtype, Method, Offload, Plan, Problem, ProblemKind, ReferenceKind, Release,
    RolloutEngine, TrainerName,
};
use crate::units::MIB;
pub(crate) use sizes::captured;
use sizes::{four_bit_bytes, packed_elements, rotary_table, transient};

/// Tokens of the batch that the profile run computes, as TRL sets it (generation/vllm_generation.py `max_num_batched_tokens`).
const TRL_BATCHED_TOKENS: u64 = 4096;
/// The same where nothing sets it (vllm config/scheduler.py; verl config/rollout/rollout.yaml `max_num_batched_tokens`).
const BATCHED_TOKENS: u64 = 8192;
/// Sequences side by side where nothing sets them (vllm config/scheduler.py `max_num_seqs`).
pub(crate) const MAX_NUM_SEQS: u64 = 256;
/// What the driver keeps of a graph: no less, by vLLM's own estimate (vllm v1/worker/gpu_model_runner.py
/// `profile_cudagraph_memory`). What it keeps beyond that is not known and not counted.
const GRAPH_BYTES: u64 = MIB;
/// A share is named in hundredths.
const HUNDREDTHS: u64 = 100;

/// What vLLM's share of one GPU has to hold, in bytes.
///
/// vllm v1/worker/gpu_worker.py `determine_available_memory`: the cache is what the share leaves beside weights, buffers, graphs and
/// what the profile run took for a moment. v1/core/kv_cache_planning.py `_check_enough_kv_cache_memory`: one sequence of
/// `max_model_len` has to fit into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EngineShare {
    /// Weights on this GPU.
    pub(crate) weights: u64,
    /// The rotary embedding's table of cosine and sine.
    pub(crate) buffers: u64,
    /// What the profile run takes for a moment: the cache never gets it.
    pub(crate) transient: u64,
    /// CUDA graphs: tokens of the largest, numbers that one of its tokens takes, and how many graphs there are.
    pub(crate) captured: Option<(u64, u64, u64)>,
    /// `max_model_len`, tokens of the longest sequence.
    pub(crate) longest: u64,
    /// Keys and values of that sequence, with the block that the pool holds back.
    pub(crate) cache: u64,
    /// One block of all layers.
    block: u64,
    /// The whole GPU.
    total: u64,
    /// What is free of it when vLLM starts.
    pub(crate) free: u64,
}

impl EngineShare {
    /// Graphs: what the largest holds in its pool, and the driver's own for each.
    pub(crate) fn graphs(&self) -> u64 {
        let bytes = |(tokens, width, graphs): (u64, u64, u64)| {
            let pool = tokens.saturating_mul(width).saturating_mul(ENGINE_DTYPE.bytes());
            pool.saturating_add(graphs.saturating_mul(GRAPH_BYTES))
        };
        self.captured.map_or(0, bytes)
    }

    /// The driver's own part of the graphs.
    pub(crate) fn graphs_of_driver(&self) -> u64 {
        self.captured.map_or(0, |(_, _, graphs)| graphs.saturating_mul(GRAPH_BYTES))
    }

    /// All but the cache.
    fn beside_cache(&self) -> u64 {
        [self.weights, self.buffers, self.transient, self.graphs()]
            .iter()
            .fold(0, |sum, part| sum.saturating_add(*part))
    }

    /// The fewest bytes with which vLLM starts.
    fn needed(&self) -> u64 {
        self.beside_cache().saturating_add(self.cache)
    }

    /// Bytes that `share` of the GPU is (vllm v1/worker/utils.py `request_memory`).
    pub(crate) fn requested(&self, share: f64) -> u64 {
        (self.total as f64 * share).ceil() as u64
    }

    /// The pool of keys and values under `share`: whole blocks of what the rest leaves, bytes.
    pub(crate) fn pool(&self, share: f64) -> u64 {
        let left = self.requested(share).saturating_sub(self.beside_cache());
        left - left % self.block.max(1)
    }

    /// Whether vLLM starts with `share`.
    fn starts(&self, share: f64) -> bool {
        (self.needed()..=self.free).contains(&self.requested(share))
    }

    /// The least share, in hundredths, with which it starts.
    fn least(&self) -> Option<String> {
        let needed = self.needed() as f64 / self.total.max(1) as f64 * HUNDREDTHS as f64;
        // Rounding may be off by one either way.
        let first = (needed as u64).saturating_sub(1).max(1);
        let shares = (first..=first.saturating_add(3).min(HUNDREDTHS)).map(|n| n as f64 / HUNDREDTHS as f64);
        shares.into_iter().find(|share| self.starts(*share)).map(|share| share.to_string())
    }
}

impl Job {
    /// What the share of a vLLM has to hold that generates on the GPUs that train.
    pub(crate) fn engine_share(&self) -> Option<EngineShare> {
        let rollout = &self.plan.rollout;
        let stands = self.plan.is_reinforcement() && rollout.is_colocated() && rollout.engine() == RolloutEngine::Vllm;
        stands.then(|| self.share_for(self.longest_sequence()))
    }

    /// Weights and cache that PyTorch counts in the trainer's process while the engine sleeps, bytes: its blocks lie in a
    /// `MemPool` whose allocator gives their pages back and keeps the addresses (vllm device_allocator/cumem.py).
    pub(crate) fn sleeping_blocks(&self) -> Option<u64> {
        let sleeps = self.plan.rollout.vllm_enable_sleep_mode && self.makes_engine_as_trl();
        let of = self.engine_share().filter(|_| sleeps)?;
        Some(of.weights.saturating_add(of.buffers).saturating_add(of.pool(self.plan.rollout.memory_share())))
    }

    /// The problem of a share with which vLLM does not start.
    pub(super) fn engine_problem(&self) -> Option<Problem> {
        if self.plan.launched_by.is_some() {
            // What is free when vLLM starts depends on the trainer that loads before it, and that one is not modelled.
            return None;
        }
        let of = self.engine_share()?;
        let share = self.plan.rollout.memory_share();
        if of.starts(share) {
            return None;
        }
        let asked = self.plan.rollout.max_prompt_length().saturating_add(self.plan.rollout.max_completion_length());
        let shorter = Some(asked).filter(|asked| *asked < of.longest);
        let shorter = shorter.and_then(|length| Some((length, self.share_for(length).least()?)));
        let least = of.least();
        let in_16_bits = if least.is_none() && shorter.is_none() { self.least_in_16_bits() } else { None };
        let field = match (&least, &shorter, &in_16_bits) {
            (None, Some(_), _) => "rollout.vllm_max_model_length",
            (None, None, Some(_)) => "torch_dtype",
            _ => "rollout.vllm_gpu_memory_utilization",
        };
        let need = EngineNeed {
            share,
            requested: of.requested(share),
            needed: of.needed(),
            weights: of.weights,
            cache: of.cache,
            longest: of.longest,
            free: of.free,
        };
        Some(Problem::new(field, ProblemKind::EngineShare { need: Box::new(need), least, shorter, in_16_bits }))
    }

    /// The least share with which vLLM starts where frozen weights load in bfloat16 and not in float32.
    fn least_in_16_bits(&self) -> Option<String> {
        let plan = &self.plan;
        let is_frozen_in_float32 = plan.torch_dtype == Dtype::Float32 && plan.method != Method::Full;
        let loads_in_16_bits = || self.with_size(Plan { torch_dtype: Dtype::Bfloat16, ..plan.clone() });
        is_frozen_in_float32.then(loads_in_16_bits)?.engine_share()?.least()
    }

    fn share_for(&self, longest: u64) -> EngineShare {
        let (plan, model) = (&self.plan, &*self.model);
        let tp = plan.rollout.tensor_parallel_size();
        let width = match plan.rollout.kv_cache_dtype {
            Some(KvCacheDtype::Fp8) => 1,
            _ => ENGINE_DTYPE.bytes(),
        };
        let (sequences, tokens) = self.profiled();
        let (block, cache) = cache::of(model, (longest, tokens), tp, width);
        EngineShare {
            weights: self.engine_weights(),
            buffers: rotary_table(model, longest),
            transient: transient(model, (sequences, tokens), tp),
            captured: (!plan.rollout.enforce_eager).then(|| captured(model, sequences, tp)),
            longest,
            cache,
            block,
            total: self.memory_bytes,
            free: self.free_at_start(),
        }
    }

    /// Weights of the engine's copy on one GPU, bytes.
    pub(crate) fn engine_weights(&self) -> u64 {
        let tp = self.plan.rollout.tensor_parallel_size();
        if self.quantizes_engine() {
            // vllm model_loader/bitsandbytes_loader.py dequantises what double quantisation made of the maxima.
            return four_bit_bytes(&self.model, ENGINE_DTYPE.bytes(), false).div_ceil(tp);
        }
        self.model.param_count().div_ceil(tp).saturating_mul(ENGINE_DTYPE.bytes())
    }

    /// Whether the trainer makes the engine as TRL does: within its own start, once the models are on the GPU.
    fn makes_engine_as_trl(&self) -> bool {
        self.trainer.name() != TrainerName::Custom
    }

    /// `max_model_len`. TRL up to 0.25 gives prompt and answer (grpo_trainer.py), later ones give `vllm_max_model_length`, and
    /// without that vLLM takes the model's own longest (config/model.py `_get_and_verify_max_len`).
    fn longest_sequence(&self) -> u64 {
        let rollout = &self.plan.rollout;
        let asked = rollout.max_prompt_length().saturating_add(rollout.max_completion_length());
        // The stated release, which may lie between measured ones.
        let stated = self.plan.trainer.version.as_deref().and_then(Release::parse);
        let release = stated.unwrap_or_else(|| self.plan.trainer.release());
        let is_older_trl = self.trainer.name() == TrainerName::Trl && release < Release::new(0, 26, 0);
        let default = match self.model.max_position_embeddings {
            Some(models_own) if self.makes_engine_as_trl() && !is_older_trl => models_own,
            _ => asked,
        };
        rollout.vllm_max_model_length.unwrap_or(default)
    }

    /// Sequences and tokens of the batch that the profile run computes.
    fn profiled(&self) -> (u64, u64) {
        if !self.makes_engine_as_trl() {
            return (MAX_NUM_SEQS, BATCHED_TOKENS);
        }
        // grpo_trainer.py: per_device_train_batch_size * vllm_tensor_parallel_size * steps_per_generation.
        let round = self.batches.round.map_or(1, |round| round.sequences_per_gpu);
        (round.saturating_mul(self.plan.rollout.tensor_parallel_size()).min(TRL_BATCHED_TOKENS), TRL_BATCHED_TOKENS)
    }

    /// What the driver says is free when vLLM starts (vllm v1/worker/utils.py `request_memory`): the GPU without context, NCCL and
    /// what the trainer has loaded by then, whose cached blocks vLLM has just given back (v1/worker/gpu_worker.py `init_device`).
    fn free_at_start(&self) -> u64 {
        let context = match self.plan.non_pytorch_memory_mib {
            Some(mib) => (mib * MIB as f64) as u64,
            None => {
                let is_cuda_13 = self.plan.software.torch_version().is_none_or(|version| version >= (2, 11));
                let more = if is_cuda_13 { cuda_13_bytes(&self.gpu).expected } else { 0 };
                let ranks = self.sharding.ranks.saturating_mul(self.sharding.replicas);
                context_bytes(&self.gpu).expected + more + nccl_bytes(&self.gpu, ranks).expected
            }
        };
        self.memory_bytes.saturating_sub(context).saturating_sub(self.loaded_before_engine())
    }

    /// What the trainer holds when it makes the engine. A custom training loop may make it first. TRL makes it in `GRPOTrainer.__init__`,
    /// before accelerate shards anything: under FSDP, ZeRO-1 and ZeRO-2 the policy is on the host still, and with several GPUs so is
    /// every model beside it (grpo_trainer.py, `device_map`; transformers trainer.py `place_model_on_device`).
    fn loaded_before_engine(&self) -> u64 {
        if !self.makes_engine_as_trl() {
            return 0;
        }
        let whole = self.policy_bytes();
        let policy = match self.sharding.scheme {
            Scheme::Single | Scheme::Ddp => whole,
            Scheme::Zero(3) if !self.sharding.offload_param => whole.div_ceil(self.sharding.ranks.max(1)),
            Scheme::Zero(_) | Scheme::Fsdp1 | Scheme::Fsdp2 => 0,
        };
        if self.plan.num_gpus > 1 {
            return policy;
        }
        let width = self.numerics.frozen.bytes();
        let reference = match self.reference {
            ReferenceKind::Copy => self.model.param_count().saturating_mul(width),
            _ => 0,
        };
        let stand = self.instances.iter().filter(|one| !one.shared && one.placement == Offload::None);
        let beside = stand.map(|one| {
            let bits = one.bits.map_or(width * 8, u64::from);
            one.model.param_count().saturating_mul(bits) / 8
        });
        beside.fold(policy.saturating_add(reference), u64::saturating_add)
    }

    /// The policy's weights as they are loaded, with its adapters.
    fn policy_bytes(&self) -> u64 {
        let (plan, model) = (&self.plan, &self.model);
        let rest = self.numerics.unquantized.bytes();
        let base = match (plan.method, plan.quantization.bits) {
            (Method::Qlora, 4) => four_bit_bytes(model, rest, plan.quantization.double_quant),
            (Method::Qlora, _) => {
                let packed = packed_elements(model);
                packed.saturating_add(model.param_count().saturating_sub(packed).saturating_mul(rest))
            }
            _ => model.param_count().saturating_mul(plan.torch_dtype.bytes()),
        };
        base.saturating_add(self.adapter_elements().saturating_mul(adapter_dtype(plan).bytes()))
    }

    /// Numbers in the adapters of the layers.
    fn adapter_elements(&self) -> u64 {
        if !self.adapts() {
            return 0;
        }
        let r = self.plan.lora.r;
        let of = |module: &Module| match &module.kind {
            ModuleKind::Linear { d_in, d_out, .. } if self.targets.has_module(&module.name, false) => {
                r.saturating_mul(d_in.saturating_add(*d_out))
            }
            ModuleKind::Tensors { shapes } => {
                let ranked = shapes.iter().filter_map(|(name, sizes)| {
                    let rank = self.targets.rank_on(module, name, sizes, r)?;
                    let (ends, slices) =
                        (sizes.iter().rev().take(2).sum::<u64>(), sizes.iter().rev().skip(2).product::<u64>());
                    Some(rank.saturating_mul(ends).saturating_mul(slices))
                });
                ranked.fold(0, u64::saturating_add)
            }
            _ => 0,
        };
        let layer = |layer: &Layer| layer.modules.iter().map(of).fold(0, u64::saturating_add);
        self.model.layers.iter().map(|run| layer(&run.layer).saturating_mul(run.count)).fold(0, u64::saturating_add)
    }
}
