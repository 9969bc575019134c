//! torchao's AdamW with 8-bit and 4-bit states (torchao 0.18 optim/adam.py): a step that torch.compile makes for each
//! tensor's shape.
//!
//! Its first step tries kernels on copies of what they write; those are gone before the second and are not counted.

use super::states::{New, Whole};
use super::stepped::Stepped;
use crate::memory::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use crate::memory::term::Term;
use crate::plan::Optimizer;
use std::rc::Rc;

/// Numbers that share a scale: transformers passes 256 for both kinds (trainer_optimizer.py `_get_torchao_optimizer`).
const BLOCK: u64 = 256;
/// States of smaller tensors, and of those that blocks do not divide, are in the weight's dtype (`_new_buffer`).
const MIN_SIZE: u64 = 4096;

fn is_quantized(shape: Shape) -> bool {
    shape.elements() >= MIN_SIZE && shape.elements().is_multiple_of(BLOCK)
}

/// `exp_avg` and `exp_avg_sq`: codes, a scale a block, and a table of what codes stand for, which every state has of its own
/// (optim/subclass_8bit.py, subclass_4bit.py `zeros`).
pub(super) fn states(
    optim: Optimizer,
    new: &New<'_>,
    whole: &Whole<'_>,
    (shape, own): (Shape, ElementType),
) -> Vec<Tensor> {
    let is_4_bit = optim == Optimizer::AdamwTorch4bit;
    let state = |term| {
        if !is_quantized(shape) {
            return vec![new(term, shape, own)];
        }
        let codes = if is_4_bit { dims(&[(Sym::PackedPairs, shape.elements() / 2)]) } else { shape };
        let table = if is_4_bit { (Sym::Sixteen, 16) } else { (Sym::TwoHundredFiftySix, 256) };
        vec![
            new(term, codes, ElementType::Byte),
            new(Term::BlockwiseStateScales, blocks(shape), ElementType::F32),
            whole(Term::BlockwiseStateScales, "qmap", dims(&[table]), ElementType::F32),
        ]
    };
    [Term::FirstMoment, Term::SecondMoment].into_iter().flat_map(state).collect()
}

fn blocks(shape: Shape) -> Shape {
    dims(&[(Sym::StateBlocks, shape.elements() / BLOCK)])
}

/// Whether inductor (PyTorch 2.15) makes one kernel of an 8-bit step. The codes' scales are maxima over blocks of the tensor
/// seen as one row; it can put what follows into the same loop where a block lies within a matrix's row or has whole rows,
/// so that places in both need no remainder.
fn is_one_kernel(shape: Shape) -> bool {
    let width = shape.width().max(1);
    shape.sizes().len() < 2 || width.is_multiple_of(BLOCK) || shape.sizes().len() == 2 && BLOCK.is_multiple_of(width)
}

/// `single_param_adam`, tensor by tensor. Where it is several kernels, scales and numbers divided by them lie between them
/// for both states, and in 4 bits, whose pairs are packed in a kernel of their own, the codes as int64.
pub(super) fn step<'a>(tape: &Rc<Tape>, optim: Optimizer, updated: impl Iterator<Item = &'a Stepped>) {
    let is_4_bit = optim == Optimizer::AdamwTorch4bit;
    for one in updated.filter(|one| is_quantized(one.shape) && (is_4_bit || !is_one_kernel(one.shape))) {
        tape.enter_layer(one.tag);
        let scales = [(); 2].map(|()| one.temporary(tape, blocks(one.shape), ElementType::F32));
        let scaled = [(); 2].map(|()| one.temporary(tape, one.shape, ElementType::F32));
        let codes = is_4_bit.then(|| [(); 2].map(|()| one.temporary(tape, one.shape, ElementType::I64)));
        drop((scaled, codes));
        drop(scales);
    }
}
