//! Machines, and copies of a sharded model among them.

use super::{Framework, Plan, ShardingStrategy};

/// GPUs of one machine, as hosts of several GPUs have them.
pub(crate) const GPUS_PER_MACHINE: u64 = 8;

impl Plan {
    /// Machines that the plan's GPUs are in: as many as it says, else of eight GPUs each, and under FSDP1's hybrid strategies
    /// as many as the sharded model has copies.
    pub fn machines(&self) -> u64 {
        let stated = self.distributed.dp_replicate_size.filter(|_| self.shards_within_machines());
        self.num_nodes.or(stated).unwrap_or(self.num_gpus.div_ceil(GPUS_PER_MACHINE)).max(1)
    }

    /// GPUs of each machine.
    pub fn gpus_per_machine(&self) -> u64 {
        self.num_gpus.div_ceil(self.machines())
    }

    /// Copies of the model that FSDP shards, each on as many GPUs. A hybrid strategy shards among the GPUs that a process
    /// sees (torch distributed/fsdp/_init_utils.py `_init_intra_and_inter_node_groups`), which makes one a machine.
    pub fn replicas(&self) -> u64 {
        let default = if self.shards_within_machines() { self.machines() } else { 1 };
        self.distributed.dp_replicate_size.unwrap_or(default)
    }

    /// Whether one of FSDP1's hybrid strategies is chosen.
    fn shards_within_machines(&self) -> bool {
        let keys = &self.distributed;
        keys.framework == Framework::Fsdp1 && keys.sharding_strategy.is_some_and(ShardingStrategy::is_hybrid)
    }
}
