//! What a GPU gives up besides PyTorch's tensors.

use super::estimate::Band;
use crate::gpu::{context_bytes, nccl_bytes};
use crate::job::Job;

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
        let nccl = nccl_bytes(&job.gpu, job.sharding.ranks);
        Self { context: Band::from(context_bytes(&job.gpu)), nccl: Band::from(nccl) }
    }

    pub(super) fn total(self) -> Band {
        self.context.plus(self.nccl)
    }
}
