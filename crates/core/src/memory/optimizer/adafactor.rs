//! Adafactor's step: transformers' own, GaLore's over projected gradients, and what AdaLomo shares with them.

use super::low_rank;
use super::stepped::Stepped;
use crate::memory::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use crate::plan::Optimizer;
use std::rc::Rc;

/// `Adafactor.step` (transformers optimization.py; galore_torch adafactor.py): gradient and weight in fp32 (copies when they
/// are not), the update of [`scaled_update`], its negation. GaLore takes the projected gradient for the gradient and brings
/// the update back to the weight's size (galore_projector.py `project_back`: a matmul, then its product with the scale).
/// Names hold the last weight's.
pub(super) fn step<'a>(tape: &Rc<Tape>, optim: Optimizer, updated: impl Iterator<Item = &'a Stepped>) {
    let (mut gradient, mut weight, mut update) = (None, None, None);
    for one in updated {
        let Stepped { shape, element, .. } = *one;
        tape.enter_layer(one.tag);
        let of = |shape| one.temporary(tape, shape, ElementType::F32);
        let projected = low_rank::projection(optim, shape, ElementType::F32, &one.name);
        let converts = element != ElementType::F32;
        if converts || projected.is_some() {
            drop(gradient.take());
        }
        if converts {
            gradient = Some(of(shape));
        }
        if let Some(projected) = projected {
            drop(gradient.replace(of(projected.small)));
        }
        if converts {
            drop(weight.take());
            weight = Some(of(shape));
        }
        scaled_update(tape, one, projected.map_or(shape, |projected| projected.small), &mut update);
        if projected.is_some() {
            let back = of(shape);
            let scaled = of(shape);
            drop(back);
            drop(update.replace(scaled));
        }
        drop(of(shape));
    }
}

/// The update of one tensor in fp32, held as `update`: the square, the square plus eps with its two means, the product of
/// their roots (`_approx_sq_grad`).
pub(super) fn scaled_update(tape: &Rc<Tape>, one: &Stepped, shape: Shape, update: &mut Option<Tensor>) {
    let of = |shape| one.temporary(tape, shape, ElementType::F32);
    let square = of(shape);
    let shifted = of(shape);
    drop(square);
    drop(update.replace(shifted));
    if shape.sizes().len() < 2 {
        drop(update.replace(of(shape)));
        return;
    }
    let (rows, columns) = (shape.rows(), dims(&[(Sym::DIn, shape.width())]));
    drop(of(rows));
    let mean = of(columns);
    tape.row_sum(rows.elements(), shape.width());
    drop(mean);
    let factors = (of(rows), of(columns));
    let product = of(shape);
    drop(factors);
    drop(update.replace(product));
}
