//! Sharding: what rank 0 of N keeps, allocates and frees because other ranks do the rest.
//!
//! One module a scheme, each the law of one library's code (DeepSpeed 0.19 runtime/zero, torch.distributed.fsdp, DDP's
//! reducer) behind [`Strategy`]. [`crate::job`] has resolved what the plan's keys come to; a line of code belongs here if
//! a scheme decides what a tensor's shape on this rank is, or allocates something that one process alone would not.
//! P parameters, T of them trained, w bytes of a weight.

mod bf16_optimizer;
mod bucket;
mod buckets;
mod ddp;
mod deepspeed;
mod flat;
mod fsdp1;
mod fsdp2;
mod groups;
mod hooks;
mod partition;
mod single;
mod stage_1_and_2;
mod strategy;
mod unroll;
mod wide_zero1;
mod zero1;
mod zero2;
mod zero3;

use super::host::HostAllocation;
use super::term::Term;
use crate::job::{Scheme, Sharding};

pub(super) use groups::Groups;
pub(super) use hooks::Modules;
pub(super) use strategy::{Elements, MicroBatch, Strategy};
pub(super) use unroll::{Acts, Hooked};

/// The scheme's module.
pub(super) fn strategy(sharding: &Sharding) -> Box<dyn Strategy + '_> {
    match sharding.scheme {
        Scheme::Single => Box::new(single::Single),
        Scheme::Ddp => Box::new(ddp::Ddp(sharding)),
        Scheme::Zero(1) if sharding.uses_bf16_optimizer() => Box::new(bf16_optimizer::Bf16Optimizer(sharding)),
        Scheme::Zero(1) if sharding.accumulates_apart() => Box::new(wide_zero1::WideZero1(sharding)),
        Scheme::Zero(1) => Box::new(zero1::Zero1(sharding)),
        Scheme::Zero(2) => Box::new(zero2::Zero2(sharding)),
        Scheme::Zero(_) => Box::new(zero3::Zero3(sharding)),
        Scheme::Fsdp1 => Box::new(fsdp1::Fsdp1(sharding)),
        Scheme::Fsdp2 => Box::new(fsdp2::Fsdp2(sharding)),
    }
}

/// Weights of engines that sleep at level 1: `count` elements of all GPUs' engines together, pinned.
pub(super) fn sleeping_weights(count: u64, width: u64) -> HostAllocation {
    strategy::OnHost::params(count).allocation(Term::HostEngineWeights, width, true)
}

/// Optimizer state in managed memory: on the host until the optimizer's step brings pages to the GPU.
pub(super) fn paged_state(sharding: &Sharding, elements: u64, width: u64) -> HostAllocation {
    let copies = strategy(sharding).copies_of_state();
    strategy::OnHost::trained(elements.saturating_mul(copies)).allocation(Term::HostOptimizerStates, width, false)
}
