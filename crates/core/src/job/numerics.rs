//! Which dtype weights, adapters and matmuls are in.

use super::{Scheme, Sharding, TrainerStep, adapts, trains};
use crate::plan::{
    AdapterDtype, Auto, Dtype, Framework, Method, MixedPrecision, Plan, Problem, ProblemKind, TrainerName,
};

/// dtypes of one model in a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numerics {
    /// What weights are loaded in.
    pub weights: Dtype,
    /// What quantisation leaves of a base that trains adapters is held in (norms, embeddings, head): fp32 after
    /// `prepare_model_for_kbit_training`. Otherwise as `weights`.
    pub unquantized: Dtype,
    /// What embeddings and head of such a base are held in.
    pub unquantized_embeddings: Dtype,
    /// What a frozen copy of the policy, or a model beside it, is held in.
    pub frozen: Dtype,
    /// Token embeddings, head, norms and routers are in fp32 whatever the other weights are in.
    pub fp32_embeddings_and_norms: bool,
    /// What weights are in where matmuls read them: DeepSpeed and FSDP2's mixed precision compute in their own dtype,
    /// whatever the weights were loaded in.
    pub gathered: Dtype,
    /// What adapters are held in.
    pub adapters: Dtype,
    /// What autocast casts the operands of matmuls to; `None` where it is off.
    pub autocast: Option<Dtype>,
    /// The 16-bit type, where there is one, is float16.
    pub float16: bool,
    /// The optimizer updates an fp32 copy of 16-bit weights.
    pub fp32_master: bool,
}

impl Numerics {
    pub(super) fn of(plan: &Plan, sharding: &Sharding) -> Self {
        let weights = plan.weights_dtype();
        let autocast = match plan.mixed_precision {
            MixedPrecision::No => None,
            MixedPrecision::Bf16 => Some(Dtype::Bfloat16),
            MixedPrecision::Fp16 => Some(Dtype::Float16),
        };
        // accelerate puts autocast around a model that it prepares itself (accelerator.py `prepare_model`); FSDP2's groups
        // cast instead (`_prepare_fsdp2`), and DeepSpeed's engine has cast the weights.
        let casts_by_groups = sharding.scheme == Scheme::Fsdp2 && sharding.accelerate.is_some();
        let is_cast = plan.engine_dtype().is_some() && plan.trainer.name != TrainerName::Custom;
        // trl models/utils.py `peft_module_casting_to_bf16` undoes part of what peft has prepared.
        let casts_back = TrainerStep::of(plan).prepares_quantized_by_peft(plan.task)
            && plan.method == Method::Qlora
            && plan.quantization.bits == 4
            && plan.mixed_precision == MixedPrecision::Bf16;
        let unquantized = unquantized(plan, sharding);
        Self {
            weights,
            frozen: frozen(plan, autocast),
            fp32_embeddings_and_norms: TrainerStep::of(plan).holds_embeddings_and_norms_in_fp32(plan),
            unquantized,
            unquantized_embeddings: if casts_back { Dtype::Bfloat16 } else { unquantized },
            gathered: gathered(plan, sharding),
            adapters: if sharding.accelerate.is_some() { sharding.shard_dtype } else { adapter_dtype(plan) },
            autocast: autocast.filter(|_| !casts_by_groups && !is_cast),
            float16: autocast.unwrap_or(weights) == Dtype::Float16,
            fp32_master: keeps_fp32_master(plan, sharding),
        }
    }

    /// Whether matmuls run in 16 bits.
    pub fn multiplies_in_16_bits(&self) -> bool {
        self.gathered != Dtype::Float32 || self.autocast.is_some()
    }
}

/// What the base holds beside its quantised weights. FSDP as accelerate drives it keeps what trains and what does not in
/// dtypes of their own; a sharded 4-bit base has the dtype of its group, so that nothing of it is upcast.
fn unquantized(plan: &Plan, sharding: &Sharding) -> Dtype {
    match sharding.accelerate {
        Some(_) if !adapts(plan) => sharding.shard_dtype,
        _ if sharding.shards_four_bit => sharding.frozen_dtype,
        _ if upcasts_unquantized(plan, sharding) => Dtype::Float32,
        Some(_) => sharding.frozen_dtype,
        // A companion's own, too.
        None => plan.weights_dtype(),
    }
}

/// peft's `prepare_model_for_kbit_training`, which DeepSpeed undoes as it casts the whole module to its own dtype again.
fn upcasts_unquantized(plan: &Plan, sharding: &Sharding) -> bool {
    plan.method == Method::Qlora
        && adapts(plan)
        && plan.quantization.prepare_for_kbit_training
        && !matches!(sharding.scheme, Scheme::Zero(_))
}

/// dtype of models that do not train: as loaded, which is in 16 bits where what trains is upcast afterwards.
fn frozen(plan: &Plan, autocast: Option<Dtype>) -> Dtype {
    if TrainerStep::of(plan).upcasts_trainable_only()
        && plan.method == Method::Full
        && plan.torch_dtype == Dtype::Float32
    {
        autocast.unwrap_or(Dtype::Bfloat16)
    } else {
        plan.weights_dtype()
    }
}

fn gathered(plan: &Plan, sharding: &Sharding) -> Dtype {
    match sharding.scheme {
        Scheme::Fsdp1 | Scheme::Fsdp2 => sharding.param_dtype,
        _ => plan.weights_dtype(),
    }
}

/// peft's `autocast_adapter_dtype`: fp16 and bf16 adapters become fp32. DeepSpeed casts the whole module, adapters too, to
/// its own dtype unless `zero.Init` has made the base, and FSDP2 in a loop of one's own wants one dtype in a group: adapters
/// follow the base there. FSDP1 wraps them by themselves.
pub(crate) fn adapter_dtype(plan: &Plan) -> Dtype {
    let follow_base = match plan.distributed.framework {
        Framework::Deepspeed => plan.zero_stage > 0 && !TrainerStep::of(plan).keeps_adapters_beside_zero_init(plan),
        Framework::Fsdp2 => plan.num_gpus > 1 && plan.trainer.name == TrainerName::Custom,
        Framework::Fsdp1 | Framework::Ddp => false,
    };
    match plan.lora.adapter_dtype {
        AdapterDtype::Bfloat16 => Dtype::Bfloat16,
        AdapterDtype::Float16 => Dtype::Float16,
        AdapterDtype::Auto if follow_base => plan.weights_dtype(),
        AdapterDtype::Auto
            if plan.method == Method::Qlora && TrainerStep::of(plan).casts_adapters_of_quantized(plan.task) =>
        {
            Dtype::Bfloat16
        }
        AdapterDtype::Float32 | AdapterDtype::Auto => Dtype::Float32,
    }
}

/// ZeRO updates an fp32 copy of this rank's part, of parameters in fp32 too (runtime/zero/stage_1_and_2.py
/// `single_partition_of_fp32_groups`; stage3.py `_create_fp32_partitions` means to spare it and compares a device with its
/// name). At stage 0 there is one where DeepSpeed's `bf16` section is switched on (runtime/bf16_optimizer.py).
fn keeps_fp32_master(plan: &Plan, sharding: &Sharding) -> bool {
    let engine = plan.distributed.framework == Framework::Deepspeed
        && plan.distributed.bf16_enabled == Auto::Set(true)
        && trains(plan);
    matches!(sharding.scheme, Scheme::Zero(_)) || engine && plan.torch_dtype != Dtype::Float32
}

/// bitsandbytes' RMSprop raises on bf16 gradients (functional.py `optimizer_update_32bit`), which trained weights in bf16
/// have unless ZeRO updates fp32 copies.
pub(super) fn rmsprop_in_bf16(plan: &Plan) -> Option<Problem> {
    let shards = plan.distributed.framework == Framework::Deepspeed && plan.zero_stage > 0;
    if !plan.optim.is_bitsandbytes_rmsprop() || shards {
        return None;
    }
    let (field, trained) = match plan.method {
        Method::Full => ("torch_dtype", plan.torch_dtype),
        Method::Lora | Method::Qlora => ("lora.adapter_dtype", adapter_dtype(plan)),
    };
    let fix = Dtype::Float32.name().to_owned();
    let kind = ProblemKind::Contradiction { other: "optim".to_owned(), fix };
    (trained == Dtype::Bfloat16).then(|| Problem::new(field, kind))
}
