//! Muon as `torch.optim.Muon` runs it (torch/optim/_muon.py): always tensor by tensor.

use super::stepped::{Stepped, is_inside_layers};
use crate::memory::autograd::{ElementType, Shape, Sym, Tape, dims};
use std::rc::Rc;

/// Whether Muon updates a tensor, and not the fused AdamW beside it.
pub(super) fn orthogonalizes(shape: Shape, name: &str) -> bool {
    shape.sizes().len() == 2 && is_inside_layers(name)
}

/// `_single_tensor_muon`: `update` holds the last matrix's orthogonalised momentum. In `_zeropower_via_newtonschulz` the
/// momentum's copy in bf16, and in each of the five iterations the Gram matrix, its polynomial and the next iterate, while
/// the names hold the iteration before. Fused AdamW, for the rest, materialises nothing.
pub(super) fn step<'a>(tape: &Rc<Tape>, updated: impl Iterator<Item = &'a Stepped>) {
    let mut update = None;
    for one in updated.filter(|one| orthogonalizes(one.shape, &one.name)) {
        tape.enter_layer(one.tag);
        let short = one.shape.sizes().iter().copied().min().unwrap_or(1);
        let gram = dims(&[(Sym::ShortSide, short), (Sym::ShortSide, short)]);
        let half = |shape| one.temporary(tape, shape, ElementType::Half);
        let momentum = one.temporary(tape, one.shape, one.element);
        drop(update.take());
        let mut iterate = half(one.shape);
        let mut held = None;
        // The third iteration is as the second.
        for _ in 0..2 {
            let matrix = half(gram);
            tape.matmul_workspace();
            let (last_matrix, last_polynomial) = held.take().unzip();
            drop::<Option<_>>(last_matrix);
            let polynomial = half(gram);
            tape.matmul_workspace();
            drop::<Option<_>>(last_polynomial);
            let next = half(one.shape);
            tape.matmul_workspace();
            iterate = next;
            held = Some((matrix, polynomial));
        }
        drop((held, momentum));
        update = Some(iterate);
    }
}
