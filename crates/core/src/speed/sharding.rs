//! Collectives between GPUs and transfers to the host: volumes, and what of them backward or forward hides.
//!
//! A ring moves (N-1)/N of a tensor through each GPU for a gather or a reduce-scatter, twice that for an all-reduce.

use super::Part;
use super::inputs::TimingInputs;
use super::tally::Tally;
use super::trained::Trained;
use crate::job::{Scheme, Sharding};
use crate::units::MIB;

/// Seconds that DeepSpeed's CPU-Adam takes for an element: 0.22 s for 10^9 and 2.57 s for 10^10 (Ren et al., ZeRO-Offload,
/// table 4): 28 bytes at the speed of a server's memory.
const CPU_ADAM: f64 = 0.25e-9;
/// The same for PyTorch's AdamW on the host: 1.39 s for 10^9 (the same table).
const TORCH_CPU_ADAM: f64 = 1.4e-9;
/// Time Python spends in the hooks of one module under ZeRO-3, in each pass over it, seconds: fetching, releasing and
/// tracing parameters (deepspeed runtime/zero/parameter_offload.py). Qwen-1.8B's step on one A100 takes 0.26 s where the GPU
/// is never busy (Qwen's README); launches and optimizer explain less than 0.09 s, which leaves about 300 µs to each of 171
/// modules in three passes.
const STAGE3_HOOK: f64 = 300e-6;

/// What moves while a micro-batch computes, seconds each.
#[derive(Debug, Clone, Copy, Default)]
struct Flows {
    /// Over the ring between GPUs.
    ring: f64,
    /// From the host.
    to_gpu: f64,
    /// To the host.
    to_host: f64,
}

/// What a micro-batch's compute takes, for hiding collectives behind it: seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compute {
    pub(super) forward: f64,
    pub(super) backward: f64,
}

/// Collectives and transfers of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collectives<'a> {
    sharding: &'a Sharding,
    /// N.
    ranks: f64,
}

impl<'a> Collectives<'a> {
    pub(super) fn new(inputs: &TimingInputs<'a>) -> Self {
        let sharding = &inputs.job.sharding;
        Self { sharding, ranks: sharding.ranks as f64 }
    }

    /// Seconds that Python spends in hooks in one micro-batch.
    pub(super) fn hooks(&self, inputs: &TimingInputs, trained: &Trained) -> f64 {
        if self.sharding.scheme == Scheme::Zero(3) { trained.modules * passes(inputs) * STAGE3_HOOK } else { 0.0 }
    }

    /// Adds what one step's collectives and transfers take beyond what `compute` of its micro-batches hides. Ring, copies to
    /// the GPU and copies to the host run side by side, so compute hides as much of each, and the slowest is waited for.
    pub(super) fn step(&self, inputs: &TimingInputs, trained: &Trained, compute: Compute, tally: &mut Tally) {
        let rates = &inputs.rates;
        let forwards = inputs.forwards;
        let ring = if self.ranks > 1.0 { (self.ranks - 1.0) / self.ranks / rates.ring } else { 0.0 };
        let trains = f64::from(u8::from(inputs.training));
        let gradients =
            trains * (trained.base * self.gradient_width(inputs) + trained.adapters * inputs.setting.adapter);
        let reduced = gradients * ring;
        let returned = self.returned(inputs, gradients);
        match self.sharding.scheme {
            Scheme::Single => {}
            Scheme::Ddp if !inputs.training => {}
            Scheme::Ddp => {
                // The last micro-batch's backward hides the all-reduce of all buckets but the last.
                let bucket = (self.sharding.bucket_cap_mb as f64 * MIB as f64).min(gradients);
                let exposed = (2.0 * reduced - compute.backward).max(2.0 * bucket * ring);
                tally.charge(Part::Communication, exposed);
            }
            Scheme::Zero(stage @ (1 | 2)) => {
                // Stage 2 reduces in every micro-batch, stage 1 in the last; updated weights are gathered after the step.
                let times = if stage == 2 { forwards } else { 1.0 };
                let flows = Flows { ring: reduced, to_host: returned, ..Flows::default() };
                self.expose(tally, flows, compute.backward, times);
                if stage == 1 {
                    let flows = Flows { to_host: returned, ..Flows::default() };
                    self.expose(tally, flows, compute.backward, forwards - 1.0);
                }
                tally.charge(Part::Communication, reduced);
            }
            Scheme::Zero(_) => self.stage3(
                inputs,
                trained,
                compute,
                Flows { ring: reduced, to_host: returned, ..Flows::default() },
                tally,
            ),
            Scheme::Fsdp1 | Scheme::Fsdp2 => {
                let (gather, brought) = self.fetched(inputs, trained, ring);
                // Each layer's gather runs under the layer before it; backward's under backward's, with the scatter,
                // which waits for the last micro-batch.
                let forward = Flows { ring: gather, to_gpu: brought, to_host: 0.0 };
                self.expose(tally, forward, compute.forward, forwards);
                if inputs.training {
                    let again = if self.reshards() { forward } else { Flows::default() };
                    self.expose(tally, again, compute.backward, forwards - 1.0);
                    // Copies of the model average their shards on a stream of its own.
                    let copies = self.sharding.replicas as f64;
                    let averaged = 2.0 * (copies - 1.0) / copies * gradients / self.ranks / rates.across;
                    let ring = (again.ring + reduced).max(averaged);
                    let last = Flows { ring, to_host: returned, ..again };
                    self.expose(tally, last, compute.backward, 1.0);
                }
            }
        }
        if self.sharding.offload_optimizer && inputs.training {
            // Updated weights come back, unless they stay on the host. All ranks of the machine share its memory.
            tally.charge(Part::Offload, if self.sharding.offload_param { 0.0 } else { returned });
            let element = if self.sharding.is_fsdp() { TORCH_CPU_ADAM } else { CPU_ADAM };
            tally.charge(Part::HostOptimizer, trained.elements() * element);
        }
    }

    /// Seconds to gather all weights once, and to bring this rank's share of them from the host where they are kept there.
    fn fetched(&self, inputs: &TimingInputs, trained: &Trained, ring: f64) -> (f64, f64) {
        let host =
            if self.sharding.offload_param { trained.weight_bytes / self.ranks / inputs.rates.host_link } else { 0.0 };
        (trained.weight_bytes * ring, host)
    }

    /// Seconds to take this rank's share of the gradients to the host; pageable memory is copied twice.
    fn returned(&self, inputs: &TimingInputs, gradients: f64) -> f64 {
        if !self.sharding.offload_optimizer {
            return 0.0;
        }
        gradients / self.ranks / inputs.rates.host_link * if self.sharding.pin_memory { 1.0 } else { 2.0 }
    }

    /// Parameters fetched for every pass over the layers: ahead no more than the prefetch bucket holds, the rest of a layer is
    /// waited for. `backward` flows besides while gradients appear.
    fn stage3(&self, inputs: &TimingInputs, trained: &Trained, compute: Compute, backward: Flows, tally: &mut Tally) {
        let ring = if self.ranks > 1.0 { (self.ranks - 1.0) / self.ranks / inputs.rates.ring } else { 0.0 };
        let (gather, brought) = self.fetched(inputs, trained, ring);
        let ahead = if self.sharding.overlap_comm {
            (self.sharding.prefetch_bucket_size as f64 / trained.layer.max(1.0)).min(1.0)
        } else {
            0.0
        };
        let times = passes(inputs);
        let waited = times * (1.0 - ahead) * inputs.forwards;
        tally.charge(Part::Communication, gather * waited);
        tally.charge(Part::Offload, brought * waited);
        let hidden = times * ahead;
        let flows =
            Flows { ring: gather * hidden + backward.ring, to_gpu: brought * hidden, to_host: backward.to_host };
        self.expose(tally, flows, compute.forward + compute.backward, inputs.forwards);
    }

    /// Adds `times` over what the slowest of `flows` takes beyond the `compute` it runs beside; all of them, one after the
    /// other, where the framework does not overlap them.
    fn expose(&self, tally: &mut Tally, flows: Flows, compute: f64, times: f64) {
        let Flows { ring, to_gpu, to_host } = flows;
        if !self.sharding.overlap_comm && !self.sharding.is_fsdp() {
            tally.charge(Part::Communication, ring * times);
            tally.charge(Part::Offload, (to_gpu + to_host) * times);
            return;
        }
        let host = to_gpu.max(to_host);
        let part = if host > ring { Part::Offload } else { Part::Communication };
        tally.charge(part, (ring.max(host) - compute).max(0.0) * times);
    }

    /// Whether FSDP frees parameters between forward and backward.
    fn reshards(&self) -> bool {
        match self.sharding.scheme {
            Scheme::Fsdp1 => self.sharding.flat.reshards,
            _ => self.sharding.reshard_after_forward,
        }
    }

    fn gradient_width(&self, inputs: &TimingInputs) -> f64 {
        match self.sharding.scheme {
            Scheme::Fsdp1 | Scheme::Fsdp2 => self.sharding.reduce_dtype.bytes() as f64,
            _ => inputs.weight,
        }
    }
}

/// Passes over the layers in a micro-batch: forward, backward, and forward again under checkpointing, which fetches a third
/// time.
fn passes(inputs: &TimingInputs) -> f64 {
    match (inputs.training, inputs.job.plan.gradient_checkpointing) {
        (false, _) => 1.0,
        (true, false) => 2.0,
        (true, true) => 3.0,
    }
}
