//! What a GPU gives up besides PyTorch's tensors.

use super::estimate::Band;
use crate::gpu::{context_bytes, cuda_13_bytes, nccl_bytes};
use crate::job::Job;
use crate::units::MIB;

/// What a GPU gives up besides PyTorch's tensors, bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceOverhead {
    /// CUDA context and libraries.
    pub(super) context: Band,
    /// NCCL's buffers.
    pub(super) nccl: Band,
}

impl DeviceOverhead {
    pub(super) fn of(job: &Job) -> Self {
        if let Some(mib) = job.plan.non_pytorch_memory_mib {
            // Measured with whatever the process had loaded, NCCL included.
            let bytes = (mib * MIB as f64) as u64;
            let nothing = Band { low: 0, expected: 0, high: 0 };
            return Self { context: Band { low: bytes, expected: bytes, high: bytes }, nccl: nothing };
        }
        let nccl = nccl_bytes(&job.gpu, job.sharding.ranks.saturating_mul(job.sharding.replicas));
        Self { context: context(job), nccl: Band::from(nccl) }
    }

    pub(super) fn total(self) -> Band {
        self.context.plus(self.nccl)
    }
}

/// Context of one process of the job: its torch's wheels are for CUDA 13 from 2.11 on.
pub(super) fn context(job: &Job) -> Band {
    let context = Band::from(context_bytes(&job.gpu));
    if job.plan.software.torch_version().is_none_or(|version| version >= (2, 11)) {
        return context.plus(Band::from(cuda_13_bytes(&job.gpu)));
    }
    context
}
