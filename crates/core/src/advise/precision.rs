//! In how many bits a job holds and computes its numbers: what decides whether two plans train to the same result.

use crate::job::{Job, LossImplementation, Scheme};
use crate::plan::{Dtype, Method, Optimizer, ReferenceKind, Task};

/// A kind of number that a job holds or computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// Weights that train; the fp32 copy that the optimizer updates counts where there is one.
    TrainedWeights,
    /// Weights that do not train: the base of adapters, norms and embeddings that quantisation leaves included.
    FrozenWeights,
    /// Gradients as they are summed and held.
    Gradients,
    /// Optimizer state, a number for each weight.
    OptimizerState,
    /// Operands of matmuls.
    Matmuls,
    /// Logits and loss.
    Loss,
    /// Weights of reference, reward, value and judge models.
    OtherModels,
}

impl Numbers {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TrainedWeights => "trained_weights",
            Self::FrozenWeights => "frozen_weights",
            Self::Gradients => "gradients",
            Self::OptimizerState => "optimizer_state",
            Self::Matmuls => "matmuls",
            Self::Loss => "loss",
            Self::OtherModels => "other_models",
        }
    }
}

serialize_by_name!(Numbers);

/// Bits of each kind of number that a job has, in an order that jobs of one training share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precision(Vec<(Numbers, u8)>);

/// More bits than anything has: where nothing is held, nothing is lost.
const NONE: u8 = u8::MAX;

/// A row and a column of second moments stand for a whole matrix (Adafactor): fewer than any number of bits a weight.
const FACTORED: u8 = 0;

impl Precision {
    /// What `job` holds and computes its numbers in.
    pub fn of(job: &Job) -> Self {
        let Job { plan, numerics, .. } = job;
        let matmuls = numerics.autocast.map_or_else(|| bits(numerics.gathered), bits);
        let base = base(job);
        let mut all = vec![(Numbers::Matmuls, matmuls)];
        if job.trains() {
            let held = trained(job);
            // The optimizer updates the fp32 copy; the weights that matmuls read follow from it.
            let updated = if numerics.fp32_master { 32 } else { held };
            all.extend([
                (Numbers::TrainedWeights, updated),
                (Numbers::Gradients, gradients(job, held)),
                (Numbers::OptimizerState, state(plan.optim, updated)),
                (Numbers::Loss, loss(job, matmuls)),
                (Numbers::OtherModels, reference(job, base)),
            ]);
        }
        if !job.trains() || plan.method != Method::Full {
            all.push((Numbers::FrozenWeights, base));
        }
        if plan.method == Method::Qlora {
            all.push((Numbers::FrozenWeights, bits(numerics.unquantized)));
            all.push((Numbers::FrozenWeights, bits(numerics.unquantized_embeddings)));
        }
        let others = job.instances.iter().map(|one| match one.bits {
            _ if one.shared => base,
            Some(bits) => bits,
            None => self::bits(job.for_companion(one).numerics.weights),
        });
        all.extend(others.map(|bits| (Numbers::OtherModels, bits)));
        Self(all)
    }

    /// What `self` holds or computes in fewer bits than `other`, which trains the same.
    pub fn fewer_than(&self, other: &Self) -> Vec<Numbers> {
        let mut fewer: Vec<Numbers> = Vec::new();
        for ((numbers, own), (_, other)) in self.0.iter().zip(&other.0) {
            if own < other && !fewer.contains(numbers) {
                fewer.push(*numbers);
            }
        }
        fewer
    }

    /// Whether anything is held or computed in fewer bits than in `other`.
    pub fn is_below(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|((_, own), (_, other))| own < other)
    }
}

const fn bits(dtype: Dtype) -> u8 {
    match dtype {
        Dtype::Float32 => 32,
        Dtype::Bfloat16 | Dtype::Float16 => 16,
    }
}

/// Bits of the weights that train, as a GPU holds them.
fn trained(job: &Job) -> u8 {
    let Job { plan, numerics, sharding, .. } = job;
    match plan.method {
        _ if sharding.is_fsdp() => bits(sharding.shard_dtype),
        Method::Full => bits(numerics.weights),
        Method::Lora | Method::Qlora => bits(numerics.adapters),
    }
}

/// Bits of the base's weights where they do not train.
fn base(job: &Job) -> u8 {
    let Job { plan, numerics, sharding, .. } = job;
    match plan.method {
        Method::Qlora => plan.quantization.bits,
        _ if sharding.is_fsdp() => bits(sharding.frozen_dtype),
        Method::Full | Method::Lora => bits(numerics.weights),
    }
}

/// Bits in which gradients are reduced and summed: DeepSpeed's are those of its engine, unless `grad_accum_dtype` says more.
fn gradients(job: &Job, held: u8) -> u8 {
    let sharding = &job.sharding;
    match sharding.scheme {
        Scheme::Zero(_) => bits(sharding.grad_accum_dtype),
        Scheme::Fsdp1 | Scheme::Fsdp2 => held.min(bits(sharding.reduce_dtype)),
        Scheme::Ddp | Scheme::Single => held,
    }
}

/// Bits of optimizer state for weights that it sees in `updated` bits.
const fn state(optim: Optimizer, updated: u8) -> u8 {
    match optim {
        Optimizer::AdamwBnb8bit
        | Optimizer::PagedAdamw8bit
        | Optimizer::Lion8bit
        | Optimizer::PagedLion8bit
        | Optimizer::Ademamix8bit
        | Optimizer::PagedAdemamix8bit
        | Optimizer::RmspropBnb8bit
        | Optimizer::GaloreAdamw8bit
        | Optimizer::GaloreAdamw8bitLayerwise
        | Optimizer::AdamwTorch8bit => 8,
        Optimizer::AdamwTorch4bit => 4,
        Optimizer::Adafactor | Optimizer::Adalomo | Optimizer::GaloreAdafactor => FACTORED,
        Optimizer::PagedAdamw32bit
        | Optimizer::Lion32bit
        | Optimizer::PagedLion32bit
        | Optimizer::Ademamix
        | Optimizer::PagedAdemamix32bit
        | Optimizer::RmspropBnb => 32,
        _ => updated,
    }
}

/// Bits of the logits that the loss is computed from. A model's own loss casts them to fp32 (transformers loss/loss_utils.py
/// `ForCausalLMLoss`), as do the kernels that fuse it; a preference trainer takes what the forward gave.
fn loss(job: &Job, matmuls: u8) -> u8 {
    let is_own = matches!(job.plan.task, Task::Sft | Task::SequenceClassification | Task::Embedding);
    let fused = job.head_implementation() != LossImplementation::FullLogits;
    if is_own || fused || job.upcasts_outputs() { 32 } else { matmuls }
}

/// Bits of the reference's weights: the base without its adapters, or a copy.
fn reference(job: &Job, base: u8) -> u8 {
    let has_reference = matches!(job.plan.task, Task::Dpo | Task::Kto | Task::Grpo | Task::Rloo | Task::Ppo);
    match job.reference {
        _ if !has_reference => NONE,
        ReferenceKind::AdapterDisabled => base,
        ReferenceKind::Copy if job.plan.method == Method::Qlora => base,
        ReferenceKind::Copy => bits(job.numerics.frozen),
        _ => NONE,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::link;

    fn of(fragment: &str) -> Precision {
        Precision::of(&Job::resolve(&link::decode(&format!("v=1&{fragment}")).plan).unwrap())
    }

    /// What the plan of `before` loses by the fields of `after`.
    fn lost(before: &str, after: &str) -> Vec<Numbers> {
        of(&changed(before, after)).fewer_than(&of(before))
    }

    fn changed(before: &str, after: &str) -> String {
        let key = |pair: &str| pair.split('=').next().map(str::to_owned);
        let kept = before.split('&').filter(|pair| !after.split('&').any(|other| key(other) == key(pair)));
        kept.chain(after.split('&')).collect::<Vec<_>>().join("&")
    }

    const TRL: &str = "model=meta-llama/Llama-3.1-8B&gpu=a100-80gb&trainer=trl&trainer_version=1.16.0\
        &prepare_for_kbit_training=false&mixed_precision=bf16";

    #[test]
    fn deepspeed_casts_an_fp32_base_on_one_gpu_and_on_many() {
        for gpus in ["1", "4"] {
            let lora = format!("{TRL}&torch_dtype=float32&num_gpus={gpus}");
            for stage in ["zero_stage=1", "zero_stage=2&offload_optimizer=cpu", "zero_stage=3&offload_param=cpu"] {
                let lost = lost(&lora, stage);
                assert!(
                    lost.contains(&Numbers::FrozenWeights) && lost.contains(&Numbers::Gradients),
                    "{stage}: {lost:?}"
                );
                assert!(!lost.contains(&Numbers::TrainedWeights), "ZeRO updates an fp32 copy of adapters: {stage}");
            }
        }
    }

    #[test]
    fn a_master_in_fp32_counts_as_fp32_weights() {
        let full = format!("{TRL}&method=full&torch_dtype=float32&num_gpus=4");
        assert_eq!(lost(&full, "zero_stage=2"), [Numbers::Gradients]);
        let pure = "model=meta-llama/Llama-3.1-8B&gpu=a100-80gb&method=full&num_gpus=4";
        assert_eq!(lost(pure, "zero_stage=2"), [], "nothing was wider before");
        assert!(of(pure).is_below(&of(&format!("{pure}&zero_stage=2"))), "without ZeRO there is no fp32 copy");
    }

    #[test]
    fn what_only_moves_or_splits_loses_nothing() {
        let pure = "model=meta-llama/Llama-3.1-8B&gpu=a100-80gb&num_gpus=4&gradient_accumulation_steps=8\
            &per_device_train_batch_size=4";
        let changes = [
            "gradient_checkpointing=true",
            "per_device_train_batch_size=1&gradient_accumulation_steps=32",
            "expandable_segments=true",
            "use_liger_kernel=true",
            "optim=adamw_torch_fused",
            "optim=paged_adamw_32bit",
        ];
        for change in changes {
            assert_eq!(lost(pure, change), [], "{change}");
        }
        let zero = format!("{pure}&method=full&zero_stage=1");
        assert_eq!(lost(&zero, "zero_stage=3&offload_optimizer=cpu&offload_param=cpu"), []);
    }

    #[test]
    fn smaller_states_weights_and_models_lose_bits() {
        let full = "model=Qwen/Qwen3-4B&gpu=a100-80gb&method=full&torch_dtype=float32&mixed_precision=bf16";
        for optim in ["adamw_bnb_8bit", "paged_adamw_8bit", "adafactor", "adamw_torch_4bit"] {
            assert_eq!(lost(full, &format!("optim={optim}")), [Numbers::OptimizerState], "{optim}");
        }
        let pure = lost(full, "torch_dtype=bfloat16&mixed_precision=no");
        assert!(pure.contains(&Numbers::TrainedWeights) && pure.contains(&Numbers::OptimizerState), "{pure:?}");
        let judge = format!("{TRL}&task=grpo&per_device_train_batch_size=8&reward_models=%5B%7B%7D%5D");
        let packed = "reward_models=%5B%7B%22bits%22:4%7D%5D";
        assert_eq!(lost(&judge, packed), [Numbers::OtherModels]);
        let qlora = "model=Qwen/Qwen3-4B&gpu=a100-80gb&method=qlora";
        assert_eq!(lost(qlora, "prepare_for_kbit_training=false"), [Numbers::FrozenWeights], "norms stay in bf16");
    }
}
