//! The plans that a plan is compared with.

use super::{
    AdapterDtype, AttentionKernel, AttnImplementation, Dtype, Framework, Method, MixedPrecision, Offload, Plan,
    QuantStorage, Release, Task, TrainerName, rules,
};

/// One plan of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// Its method.
    pub method: Method,
    /// Its ZeRO stage; 3 for FSDP, which shards the same.
    pub zero_stage: u8,
    /// Whether anything lives in host memory between uses.
    pub offload: bool,
    /// The plan itself.
    pub plan: Plan,
}

impl Alternative {
    fn of(plan: Plan) -> Self {
        let zero_stage = if plan.distributed.framework.is_fsdp() { 3 } else { plan.zero_stage };
        Self { method: plan.method, zero_stage, offload: offloads(&plan) != (false, false), plan }
    }

    /// Where it stands: by method, stage, then what is offloaded.
    fn rank(&self) -> (usize, u8, (bool, bool)) {
        let method = Method::ALL.iter().position(|method| *method == self.method).unwrap_or_default();
        (method, self.zero_stage, offloads(&self.plan))
    }
}

impl Plan {
    /// Whether FSDP keeps shards, gradients and optimizer state in host memory: `CPUOffload` and `CPUOffloadPolicy` move all
    /// of them, whichever key asks for it.
    pub fn fsdp_offloads(&self) -> bool {
        // Without training there is no optimizer, wherever it would live.
        let optimizer = self.offload_optimizer == Offload::Cpu && self.task != Task::Inference;
        let asked = self.distributed.cpu_offload || self.offload_param == Offload::Cpu || optimizer;
        asked && self.distributed.framework.is_fsdp()
    }
}

/// Whether parameters, and whether optimizer states live in host memory.
fn offloads(plan: &Plan) -> (bool, bool) {
    let both = plan.fsdp_offloads();
    (both || plan.offload_param == Offload::Cpu, both || plan.offload_optimizer == Offload::Cpu)
}

/// A way to spread the training state: stage, optimizer offloaded, parameters offloaded.
type Sharding = (u8, bool, bool);

/// On one GPU ZeRO shards nothing; only its offload helps.
const ONE_GPU: &[Sharding] = &[(0, false, false), (2, true, false), (3, true, true)];

/// On several GPUs.
const SEVERAL_GPUS: &[Sharding] =
    &[(0, false, false), (1, false, false), (2, false, false), (3, false, false), (2, true, false), (3, true, true)];

/// The plans to show beside `plan`, which is one of them: find it by equality.
///
/// Training: full, LoRA and QLoRA, each at the ZeRO stages and offloads that make sense for the number of GPUs, and as the
/// plan's trainer runs it: what the plan leaves at the trainer's default for its own method is at the default for the other.
/// An 8-bit base stays below stage 3; FSDP shards 4-bit weights in the storage dtype of the other weights. Everything else stays as it is, dtype and optimizer too, so that the bars differ by method and sharding
/// alone. A plan for DDP keeps it where nothing is sharded, one for FSDP keeps it as stage 3; the other stages are
/// DeepSpeed's, with autocast where FSDP's `param_dtype` computed in 16 bits.
///
/// Inference: the weights in fp32, in 16 bits, quantised to 8 and to 4; nothing is trained, so there is nothing to shard.
pub fn alternatives(plan: &Plan) -> Vec<Alternative> {
    let plans = if plan.task == Task::Inference { inference(plan) } else { training(plan) };
    let is_sound = rules::within(plan).is_empty();
    let mut all: Vec<Alternative> = Vec::new();
    for plan in plans {
        // What an optimizer or a trainer refuses is compared with nothing.
        if is_sound && !rules::within(&plan).is_empty() || plan.optim.is_bitsandbytes_rmsprop() && trains_in_bf16(&plan)
        {
            continue;
        }
        if !all.iter().any(|other| other.plan == plan) {
            all.push(Alternative::of(plan));
        }
    }
    if !all.iter().any(|other| other.plan == *plan) {
        let own = Alternative::of(plan.clone());
        // Behind those of its kind.
        let place = all.iter().rposition(|other| other.rank() <= own.rank()).map_or(0, |place| place + 1);
        all.insert(place, own);
    }
    all
}

fn training(plan: &Plan) -> Vec<Plan> {
    let shardings = if plan.num_gpus > 1 { SEVERAL_GPUS } else { ONE_GPU };
    let mut plans = Vec::new();
    for &method in Method::ALL {
        let own = plan.adopting(&Plan { method, ..plan.clone() });
        let four_bit = method == Method::Qlora && own.quantization.bits == 4;
        for &sharding in shardings {
            let stage_3 = sharding.0 == 3;
            if method != Method::Qlora || !stage_3 || four_bit && !plan.distributed.framework.is_fsdp() {
                plans.push(sharded(own.clone(), sharding));
            } else if four_bit && plan.num_gpus > 1 {
                let mut own = own.clone();
                let storage = QuantStorage::from_name(own.torch_dtype.name());
                own.quantization.bnb_4bit_quant_storage = storage.unwrap_or(QuantStorage::Uint8);
                plans.push(sharded(own, sharding));
            }
        }
    }
    plans
}

/// Whether gradients are in bf16, at which bitsandbytes' RMSprop raises: ZeRO alone updates fp32 copies.
fn trains_in_bf16(plan: &Plan) -> bool {
    let Plan { distributed, trainer, .. } = plan;
    if distributed.framework == Framework::Deepspeed && plan.zero_stage > 0 {
        return false;
    }
    // As `job::numerics` has the adapters.
    let is_cast =
        plan.method == Method::Qlora && trainer.name == TrainerName::Trl && trainer.release() >= Release::new(1, 0, 0);
    let follows_base = distributed.framework == Framework::Fsdp2
        && plan.num_gpus > 1
        && trainer.name == TrainerName::Custom
        && plan.torch_dtype == Dtype::Bfloat16;
    match (plan.method, plan.lora.adapter_dtype) {
        (Method::Full, _) => plan.torch_dtype == Dtype::Bfloat16,
        (_, AdapterDtype::Auto) => is_cast || follows_base,
        (_, dtype) => dtype == AdapterDtype::Bfloat16,
    }
}

fn sharded(mut plan: Plan, (stage, offload_optimizer, offload_param): Sharding) -> Plan {
    let place = |offloaded| if offloaded { Offload::Cpu } else { Offload::None };
    let framework = plan.distributed.framework;
    if framework.is_fsdp() && stage == 3 {
        // FSDP has one switch for all that DeepSpeed's stage 3 can offload, and no stages.
        plan.distributed.cpu_offload = offload_param;
        (plan.offload_optimizer, plan.offload_param) = (Offload::None, Offload::None);
        return plan;
    }
    if plan.zero_stage == 0 && stage > 0 {
        // As a lever shards: a DeepSpeed file that nobody has written yet says "auto".
        plan.distributed.let_trainer_size_buckets();
    } else if stage == 0 {
        plan.distributed.forget_trainer_sized_buckets();
    }
    plan.zero_stage = stage;
    // Copies of a sharded model are FSDP's.
    plan.distributed.dp_replicate_size = None;
    if stage == 0 || framework != Framework::Deepspeed {
        // Without ZeRO gradients are summed in the weights' dtype, and no other framework asks for one.
        plan.distributed.grad_accum_dtype = None;
    }
    (plan.offload_optimizer, plan.offload_param) = (place(offload_optimizer), place(offload_param));
    if stage > 0 {
        plan.distributed.framework = Framework::Deepspeed;
    } else if framework.is_fsdp() {
        plan.distributed.framework = Framework::Ddp;
    }
    if framework.is_fsdp() && plan.mixed_precision == MixedPrecision::No {
        plan.mixed_precision = match plan.distributed.param_dtype {
            Some(Dtype::Bfloat16) if plan.torch_dtype != Dtype::Bfloat16 => MixedPrecision::Bf16,
            Some(Dtype::Float16) if plan.torch_dtype != Dtype::Float16 => MixedPrecision::Fp16,
            _ => MixedPrecision::No,
        };
    }
    plan
}

fn inference(plan: &Plan) -> Vec<Plan> {
    let sixteen_bit = if plan.torch_dtype == Dtype::Float32 { Dtype::Bfloat16 } else { plan.torch_dtype };
    let whole = |torch_dtype| Plan { method: Method::Full, torch_dtype, ..plan.clone() };
    let quantised = |bits| {
        let mut plan = Plan { method: Method::Qlora, torch_dtype: sixteen_bit, ..plan.clone() };
        plan.quantization.bits = bits;
        plan
    };
    // Flash kernels know no fp32.
    let flash = plan.attn_implementation == AttnImplementation::FlashAttention2
        || plan.attention_kernel == AttentionKernel::Flash;
    let full = if flash { Vec::new() } else { vec![whole(Dtype::Float32)] };
    full.into_iter().chain([whole(sixteen_bit), quantised(8), quantised(4)]).collect()
}
