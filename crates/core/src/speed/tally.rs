//! Adding up operators: each takes the longer of its arithmetic and its memory traffic, and its launch takes the host.

use super::Part;
use super::rates::{KERNEL_FLOOR, Precision, Rates};

/// Seconds by part and kernels of one pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) seconds: [f64; Part::ALL.len()],
    /// Kernels launched.
    pub(super) launches: f64,
    /// Floating-point operations of matmuls.
    pub(super) flops: f64,
}

impl Tally {
    /// Seconds in all.
    pub(super) fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Seconds of `part`.
    pub(super) fn part(&self, part: Part) -> f64 {
        self.seconds.get(part as usize).copied().unwrap_or(0.0)
    }

    /// Adds `seconds` to `part`, no kernel.
    pub(super) fn charge(&mut self, part: Part, seconds: f64) {
        if let Some(slot) = self.seconds.get_mut(part as usize) {
            *slot += seconds;
        }
    }

    /// Adds another pass, `times` over.
    pub(super) fn add(&mut self, other: &Self, times: f64) {
        for (slot, more) in self.seconds.iter_mut().zip(other.seconds) {
            *slot += more * times;
        }
        self.launches += other.launches * times;
        self.flops += other.flops * times;
    }

    /// Adds another pass, all of it as `part`.
    pub(super) fn add_as(&mut self, part: Part, other: &Self, times: f64) {
        self.charge(part, other.total() * times);
        self.launches += other.launches * times;
        self.flops += other.flops * times;
    }

    /// A matmul of m x k and k x n.
    pub(super) fn matmul(&mut self, rates: &Rates, part: Part, shape: [f64; 3], precision: Precision) {
        let [m, n, k] = shape;
        let bytes = (m * k + k * n + m * n) * precision.bytes();
        self.product(rates, part, (1.0, shape), precision, bytes);
    }

    /// Matmuls of m x k and k x n, one of each group, in one kernel that moves `bytes`.
    pub(super) fn product(
        &mut self,
        rates: &Rates,
        part: Part,
        (groups, shape): (f64, [f64; 3]),
        precision: Precision,
        bytes: f64,
    ) {
        self.flops += 2.0 * groups * shape.iter().product::<f64>();
        self.operator(rates, part, rates.matmul((groups, shape), precision), bytes);
    }

    /// One kernel that takes at least `seconds` and moves `bytes`.
    pub(super) fn operator(&mut self, rates: &Rates, part: Part, seconds: f64, bytes: f64) {
        self.charge(part, seconds.max(bytes / rates.bandwidth).max(KERNEL_FLOOR));
        self.launches += 1.0;
    }

    /// `kernels` that move `bytes` in all.
    pub(super) fn traffic(&mut self, rates: &Rates, part: Part, bytes: f64, kernels: f64) {
        self.charge(part, (bytes / rates.bandwidth).max(KERNEL_FLOOR * kernels));
        self.launches += kernels;
    }
}

/// A layer's or the head's two directions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Passes {
    pub(super) forward: Tally,
    pub(super) backward: Tally,
}

impl Passes {
    /// Adds others, `times` over.
    pub(super) fn add(&mut self, other: &Self, times: f64) {
        self.forward.add(&other.forward, times);
        self.backward.add(&other.backward, times);
    }
}
