//! What decides which tensors a step has, sizes apart.

use crate::job::{Job, Scheme};
use crate::plan::{AttnImplementation, Dtype, Method, MixedPrecision, Offload, Optimizer, Task};

/// One thing in which settings can differ, the weightiest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aspect {
    /// What is trained or run.
    Task,
    /// Which weights are trained, and how the others are held.
    Method,
    /// What is split over GPUs or offloaded.
    Sharding,
    /// Whether layers are recomputed.
    Checkpointing,
    /// dtype of the weights, and autocast.
    Precision,
    /// How attention is computed.
    Attention,
    /// The optimizer.
    Optimizer,
}

impl Aspect {
    /// All of them, the weightiest first.
    pub const ALL: [Self; 7] = [
        Self::Task,
        Self::Method,
        Self::Sharding,
        Self::Checkpointing,
        Self::Precision,
        Self::Attention,
        Self::Optimizer,
    ];

    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Method => "method",
            Self::Sharding => "sharding",
            Self::Checkpointing => "gradient_checkpointing",
            Self::Precision => "precision",
            Self::Attention => "attn_implementation",
            Self::Optimizer => "optim",
        }
    }
}

/// How work and memory are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharding {
    /// One GPU, or nothing that is split or moved.
    None,
    /// Gradients are reduced, everything else is on each GPU.
    Ddp,
    /// DeepSpeed ZeRO.
    Zero {
        /// 1 to 3.
        stage: u8,
        /// Whether the optimizer's state is in host memory.
        offload_optimizer: bool,
        /// Whether the parameters are.
        offload_param: bool,
    },
    /// `torch.distributed.fsdp.fully_shard`.
    Fsdp2 {
        /// Whether shards live in host memory.
        cpu_offload: bool,
    },
    /// `torch.distributed.fsdp.FullyShardedDataParallel`.
    Fsdp1 {
        /// Whether shards live in host memory.
        cpu_offload: bool,
    },
}

impl Sharding {
    /// How `job` splits. Parameter offload takes the optimizer along; the name says what the plan asks for.
    pub fn of(job: &Job) -> Self {
        match job.sharding.scheme {
            Scheme::Zero(stage) => Self::Zero {
                stage,
                offload_optimizer: job.plan.offload_optimizer == Offload::Cpu,
                offload_param: job.plan.offload_param == Offload::Cpu,
            },
            Scheme::Fsdp2 => Self::Fsdp2 { cpu_offload: job.sharding.offload_param },
            Scheme::Fsdp1 => Self::Fsdp1 { cpu_offload: job.sharding.offload_param },
            Scheme::Ddp => Self::Ddp,
            Scheme::Single => Self::None,
        }
    }

    /// In the table and in JSON: `zero2+optimizer`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ddp => "ddp",
            Self::Zero { stage: 0 | 1, offload_optimizer: false, .. } => "zero1",
            Self::Zero { stage: 0 | 1, .. } => "zero1+optimizer",
            Self::Zero { stage: 2, offload_optimizer: false, .. } => "zero2",
            Self::Zero { stage: 2, .. } => "zero2+optimizer",
            Self::Zero { offload_optimizer: false, offload_param: false, .. } => "zero3",
            Self::Zero { offload_optimizer: true, offload_param: false, .. } => "zero3+optimizer",
            Self::Zero { offload_optimizer: false, offload_param: true, .. } => "zero3+param",
            Self::Zero { .. } => "zero3+optimizer+param",
            Self::Fsdp2 { cpu_offload: false } => "fsdp2",
            Self::Fsdp2 { cpu_offload: true } => "fsdp2+cpu",
            Self::Fsdp1 { cpu_offload: false } => "fsdp1",
            Self::Fsdp1 { cpu_offload: true } => "fsdp1+cpu",
        }
    }

    /// What `name` stands for.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut parts = name.split('+');
        let what = parts.next()?;
        let offloads: Vec<&str> = parts.collect();
        match what {
            "none" => Some(Self::None),
            "ddp" => Some(Self::Ddp),
            "fsdp2" => Some(Self::Fsdp2 { cpu_offload: offloads.contains(&"cpu") }),
            "fsdp1" => Some(Self::Fsdp1 { cpu_offload: offloads.contains(&"cpu") }),
            _ => Some(Self::Zero {
                stage: what.strip_prefix("zero")?.parse().ok()?,
                offload_optimizer: offloads.contains(&"optimizer"),
                offload_param: offloads.contains(&"param"),
            }),
        }
    }
}

/// What decides which tensors a step has, sizes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Setting {
    /// What is trained or run.
    pub task: Task,
    /// Which weights are trained.
    pub method: Method,
    /// Bits of a quantised base; 0 for the other methods.
    pub bits: u8,
    /// How work and memory are split.
    pub sharding: Sharding,
    /// Whether layers are recomputed; never in inference.
    pub gradient_checkpointing: bool,
    /// dtype of the weights.
    pub dtype: Dtype,
    /// Autocast.
    pub mixed_precision: MixedPrecision,
    /// How attention is computed.
    pub attention: AttnImplementation,
    /// The optimizer; none in inference.
    pub optimizer: Option<Optimizer>,
}

impl Setting {
    /// The setting of `job`.
    pub fn of(job: &Job) -> Self {
        let (plan, trains) = (&job.plan, job.trains());
        Self {
            task: plan.task,
            method: plan.method,
            bits: if job.quantizes() { plan.quantization.bits } else { 0 },
            sharding: Sharding::of(job),
            gradient_checkpointing: trains && plan.gradient_checkpointing,
            dtype: plan.torch_dtype,
            mixed_precision: plan.mixed_precision,
            attention: plan.attn_implementation,
            optimizer: trains.then_some(plan.optim),
        }
    }

    fn same(&self, other: &Self, aspect: Aspect) -> bool {
        match aspect {
            Aspect::Task => self.task == other.task,
            Aspect::Method => (self.method, self.bits) == (other.method, other.bits),
            Aspect::Sharding => self.sharding == other.sharding,
            Aspect::Checkpointing => self.gradient_checkpointing == other.gradient_checkpointing,
            Aspect::Precision => (self.dtype, self.mixed_precision) == (other.dtype, other.mixed_precision),
            Aspect::Attention => self.attention == other.attention,
            Aspect::Optimizer => self.optimizer == other.optimizer,
        }
    }

    /// In what it differs from `other`, the weightiest first.
    pub fn differences(&self, other: &Self) -> Vec<Aspect> {
        Aspect::ALL.into_iter().filter(|aspect| !self.same(other, *aspect)).collect()
    }

    /// A number whose order is the lexicographic one: a binary digit an aspect, the weightiest leading.
    pub(super) fn distance(&self, other: &Self) -> u32 {
        Aspect::ALL.iter().fold(0, |digits, aspect| digits * 2 + u32::from(!self.same(other, *aspect)))
    }
}

serialize_by_name!(Aspect, Sharding);
