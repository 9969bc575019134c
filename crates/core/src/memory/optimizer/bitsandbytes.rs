//! State of bitsandbytes' optimizers (bitsandbytes 0.50 optim/optimizer.py `init_state`, optim/ademamix.py).

use super::states::New;
use super::stepped::is_embedding;
use crate::job::Job;
use crate::memory::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use crate::memory::parameter::Trainable;
use crate::memory::term::Term;
use crate::plan::Optimizer;
use std::rc::Rc;

/// States of smaller tensors are fp32 (`min_8bit_size`).
const MIN_8BIT_SIZE: u64 = 4096;
/// Elements a block of 8-bit states (functional.py `blocksize=256`).
const STATE_BLOCK: u64 = 256;
/// States are paged from this many elements on (`get_state_buffer`: `p.numel() < 1e5`).
const PAGED_SIZE: u64 = 100_000;

/// What an optimizer of bitsandbytes keeps of each tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// Averages of the gradient: AdEMAMix stacks a fast and a slow one.
    averages: u64,
    /// Averages of its square.
    squares: u64,
    eight_bit: bool,
    paged: bool,
}

impl Rule {
    /// The rule of `optim`, if bitsandbytes runs it.
    pub(super) const fn of(optim: Optimizer) -> Option<Self> {
        let (averages, squares, eight_bit, paged) = match optim {
            Optimizer::AdamwBnb8bit | Optimizer::GaloreAdamw8bit | Optimizer::GaloreAdamw8bitLayerwise => {
                (1, 1, true, false)
            }
            Optimizer::PagedAdamw8bit => (1, 1, true, true),
            Optimizer::PagedAdamw32bit => (1, 1, false, true),
            // RMSprop's one state is the average of the square; it is held as Lion's is.
            Optimizer::Lion8bit | Optimizer::RmspropBnb8bit => (1, 0, true, false),
            Optimizer::Lion32bit | Optimizer::RmspropBnb => (1, 0, false, false),
            Optimizer::PagedLion8bit => (1, 0, true, true),
            Optimizer::PagedLion32bit => (1, 0, false, true),
            Optimizer::Ademamix8bit => (2, 1, true, false),
            Optimizer::Ademamix => (2, 1, false, false),
            Optimizer::PagedAdemamix8bit => (2, 1, true, true),
            Optimizer::PagedAdemamix32bit => (2, 1, false, true),
            _ => return None,
        };
        Some(Self { averages, squares, eight_bit, paged })
    }

    /// The rule for a tensor of `elements`; `override_32_bits`: the Trainer has registered it for fp32 states.
    const fn for_tensor(self, elements: u64, override_32_bits: bool) -> Self {
        Self {
            eight_bit: self.eight_bit && elements >= MIN_8BIT_SIZE && !override_32_bits,
            paged: self.paged && elements >= PAGED_SIZE,
            ..self
        }
    }

    /// State of a tensor of `shape`.
    pub(super) fn states(self, new: &New<'_>, shape: Shape, override_32_bits: bool) -> Vec<Tensor> {
        let rule = self.for_tensor(shape.elements(), override_32_bits);
        let element = if rule.eight_bit { ElementType::Byte } else { ElementType::F32 };
        let blocks = shape.elements().div_ceil(STATE_BLOCK);
        let mut states = Vec::new();
        for (term, copies) in [(Term::FirstMoment, rule.averages), (Term::SecondMoment, rule.squares)] {
            if copies == 0 {
                continue;
            }
            let stacked = |shape: Shape| if copies > 1 { twice(shape) } else { shape };
            if !rule.paged {
                states.push(new(term, stacked(shape), element));
            }
            if rule.eight_bit {
                let maxima = stacked(dims(&[(Sym::StateBlocks, blocks)]));
                states.push(new(Term::BlockwiseStateScales, maxima, ElementType::F32));
            }
        }
        states
    }
}

/// Two tensors of `shape`, stacked.
fn twice(shape: Shape) -> Shape {
    let mut pairs = vec![(Sym::Two.into(), 2)];
    pairs.extend(shape.symbols().iter().copied().zip(shape.sizes().iter().copied()));
    dims(&pairs)
}

/// The 256 values that 8-bit states stand for, one table a kind of state, shared by all tensors (`init_state`:
/// `name2qmap["dynamic"].to(p.device)`, and `"udynamic"` for averages of the square).
pub(super) fn code_tables(tape: &Rc<Tape>, job: &Job, trainable: &[Trainable]) -> Vec<Tensor> {
    let Some(rule) = Rule::of(job.plan.optim) else { return Vec::new() };
    let is_8_bit =
        |parameter: &Trainable| rule.for_tensor(parameter.elements(), in_32_bits(job, &parameter.name)).eight_bit;
    if job.sharding.offload_optimizer || !trainable.iter().any(is_8_bit) {
        return Vec::new();
    }
    let names: &[&str] = if rule.squares > 0 { &["dynamic", "udynamic"] } else { &["dynamic"] };
    let new = |name: &&str| {
        let label = tape.label(Term::BlockwiseStateScales, name);
        Tensor::new(tape, label, dims(&[(Sym::TwoHundredFiftySix, 256)]), ElementType::F32)
    };
    names.iter().map(new).collect()
}

/// Whether the Trainer registers a tensor for fp32 states: every `nn.Embedding` where it makes an 8-bit optimizer of
/// bitsandbytes itself (transformers trainer.py `create_optimizer`); GaLore's is another class.
pub(super) fn in_32_bits(job: &Job, name: &str) -> bool {
    !job.trainer.is_custom() && !job.plan.optim.is_low_rank() && is_embedding(job, name)
}

/// Elements whose state paged optimizers keep in managed memory, all layers, by bytes of it an element.
///
/// The driver keeps it on the host and brings pages as they are used; only the maxima and maps of 8-bit states are ordinary
/// tensors.
pub(super) fn paged_state(job: &Job, trainable: &[Trainable]) -> Vec<(u64, u64)> {
    let Some(rule) = Rule::of(job.plan.optim) else { return Vec::new() };
    let mut states: Vec<(u64, u64)> = Vec::new();
    for parameter in trainable {
        let rule = rule.for_tensor(parameter.elements(), in_32_bits(job, &parameter.name));
        if !rule.paged {
            continue;
        }
        let width = (rule.averages + rule.squares) * if rule.eight_bit { 1 } else { 4 };
        let elements = parameter.elements().saturating_mul(parameter.tag.repeat);
        sum_by_width(&mut states, elements, width);
    }
    states
}

/// Adds elements of `width` bytes to those of the same width.
pub(super) fn sum_by_width(states: &mut Vec<(u64, u64)>, elements: u64, width: u64) {
    match states.iter_mut().find(|(_, known)| *known == width) {
        Some((sum, _)) => *sum = sum.saturating_add(elements),
        None => states.push((elements, width)),
    }
}
