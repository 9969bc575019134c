//! GaLore and APOLLO: gradients of the layers' matrices are projected to a low rank, and the optimizer's state is as small
//! (galore_torch 1.0, apollo_torch 1.0.3).

use super::stepped::{Stepped, is_inside_layers};
use crate::memory::autograd::{ElementType, Leaf, Shape, Sym, Tape, Tensor, dims};
use crate::plan::Optimizer;
use std::rc::Rc;

/// Rank where `optim_args` says nothing (trainer_optimizer.py `_get_galore_optimizer`, `_get_apollo_optimizer`).
const RANK: u64 = 128;

/// The shapes that a projected matrix brings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projection {
    /// The projected gradient: the rank by the longer side.
    pub(super) small: Shape,
    /// What the projector holds.
    pub(super) projector: Shape,
}

/// Whether the gradient of a tensor is projected.
pub(super) fn is_projected(optim: Optimizer, shape: Shape, name: &str) -> bool {
    optim.is_low_rank() && shape.sizes().len() == 2 && is_inside_layers(name)
}

pub(super) const fn is_apollo(optim: Optimizer) -> bool {
    matches!(optim, Optimizer::ApolloAdamw | Optimizer::ApolloAdamwLayerwise)
}

/// How the gradient of a tensor, in `element`, is projected (`proj_type` "std": along the shorter side).
///
/// GaLore's projector is the first rows of the decomposition's V, or columns of its U; of an fp32 gradient they are a view
/// that keeps the whole matrix, of a 16-bit one a copy (galore_projector.py `get_orthogonal_matrix`). APOLLO's is drawn at
/// random, at its full rank even where a side is shorter (random_projector.py).
pub(super) fn projection(optim: Optimizer, shape: Shape, element: ElementType, name: &str) -> Option<Projection> {
    let [rows, columns] = *shape.sizes() else { return None };
    if !is_projected(optim, shape, name) {
        return None;
    }
    let (long, short) = (rows.max(columns), rows.min(columns));
    let rank = if is_apollo(optim) { RANK } else { RANK.min(short) };
    let keeps_whole = !is_apollo(optim) && element == ElementType::F32;
    let kept = if keeps_whole { (Sym::ShortSide, short) } else { (Sym::R, rank) };
    Some(Projection {
        small: dims(&[(Sym::R, rank), (Sym::LongSide, long)]),
        projector: dims(&[(Sym::ShortSide, short), kept]),
    })
}

/// What Python's names hold of the tensor before.
#[derive(Debug, Default)]
pub(super) struct Held {
    gradient: Option<Tensor>,
    denominator: Option<Tensor>,
    update: Option<Tensor>,
    scaled: Option<Tensor>,
}

/// The step of one tensor. `leaf`: where its gradient is.
pub(super) fn update(tape: &Rc<Tape>, optim: Optimizer, one: &Stepped, held: &mut Held, leaf: Option<&Rc<Leaf>>) {
    tape.enter_layer(one.tag);
    let projection = projection(optim, one.shape, one.element, &one.name);
    match (optim, projection) {
        (Optimizer::GaloreAdamw8bit | Optimizer::GaloreAdamw8bitLayerwise, None) => {}
        (Optimizer::GaloreAdamw8bit | Optimizer::GaloreAdamw8bitLayerwise, Some(projection)) => {
            eight_bit(tape, one, projection, leaf);
        }
        _ => adamw(tape, optim, one, projection, held),
    }
}

/// `AdamW.step` (galore_torch adamw.py, apollo_torch apollo.py): the projected gradient, the root of the second moment, their
/// quotient, and for GaLore that brought back to the weight's size (a matmul and its product with the scale).
fn adamw(tape: &Rc<Tape>, optim: Optimizer, one: &Stepped, projection: Option<Projection>, held: &mut Held) {
    let of = |shape| one.temporary(tape, shape, one.element);
    drop(held.gradient.take());
    if let Some(projection) = projection {
        held.gradient = Some(of(projection.small));
        tape.matmul_workspace();
    }
    let shape = projection.map_or(one.shape, |projection| projection.small);
    drop(held.denominator.replace(of(shape)));
    drop(held.update.replace(of(shape)));
    if projection.is_none() {
        return;
    }
    if is_apollo(optim) {
        // `p.grad * grad_scaling_factor`, then its quotient with the norm's limiter; `norm_grad` becomes another name of it.
        drop(held.scaled.replace(of(one.shape)));
        drop(held.scaled.replace(of(one.shape)));
        held.update = None;
    } else {
        let back = of(one.shape);
        tape.matmul_workspace();
        let scaled = of(one.shape);
        drop(back);
        drop(held.update.replace(scaled));
    }
}

/// `AdamW8bit.step` (galore_torch adamw8bit.py): the weight is cloned, what bitsandbytes updates is a tensor of the projected
/// gradient's size, which becomes the gradient too; the clone, with the update brought back, is the weight from then on.
fn eight_bit(tape: &Rc<Tape>, one: &Stepped, projection: Projection, leaf: Option<&Rc<Leaf>>) {
    let of = |shape| one.temporary(tape, shape, one.element);
    let small = of(projection.small);
    tape.matmul_workspace();
    let clone = of(one.shape);
    let updated = of(projection.small);
    // The weight's old storage is freed as the clone stays: on the tape the weight stays and the clone goes.
    drop(clone);
    if let Some(leaf) = leaf {
        leaf.grad.replace(Some(small));
    }
    let back = of(one.shape);
    tape.matmul_workspace();
    let scaled = of(one.shape);
    drop((back, scaled, updated));
}
