//! Steps over lists of tensors: `torch.optim`'s foreach and for-loop forms, and schedulefree's.

use super::stepped::Stepped;
use crate::memory::autograd::{LayerTag, Tape, Tensor};
use std::rc::Rc;

/// A list with one tensor for each of a parameter group, of its shape and dtype.
fn list(tape: &Rc<Tape>, group: &[Stepped]) -> Vec<(LayerTag, Tensor)> {
    let one = |one: &Stepped| {
        tape.enter_layer(one.tag);
        (one.tag, one.temporary(tape, one.shape, one.element))
    };
    group.iter().map(one).collect()
}

/// CPython frees a list's items from the last to the first.
fn free(tape: &Rc<Tape>, list: Vec<(LayerTag, Tensor)>) {
    for (tag, tensor) in list.into_iter().rev() {
        tape.enter_layer(tag);
        drop(tensor);
    }
}

/// `torch.optim`'s `_multi_tensor_*`: `lists` lists are materialised for a group and freed where its function returns.
pub(super) fn foreach(tape: &Rc<Tape>, groups: &[Vec<Stepped>], lists: usize) {
    for group in groups {
        let held: Vec<_> = (0..lists).map(|_| list(tape, group)).collect();
        held.into_iter().rev().for_each(|list| free(tape, list));
    }
}

/// schedulefree's `step`: `denom = _foreach_div(exp_avg_sq, bias_correction2)`, a name that holds one group's list until
/// the next group's is there. RAdam has it from the sixth step on (`rho_t > 4`).
pub(super) fn schedule_free(tape: &Rc<Tape>, groups: &[Vec<Stepped>]) {
    let mut held = Vec::new();
    for group in groups.iter().filter(|group| !group.is_empty()) {
        let denominators = list(tape, group);
        free(tape, std::mem::replace(&mut held, denominators));
    }
    free(tape, held);
}

/// `denom = (exp_avg_sq.sqrt() / bias_correction2_sqrt).add_(eps)`: two tensors of one weight's size, and the name holds
/// the last one's.
pub(super) fn for_loop<'a>(tape: &Rc<Tape>, updated: impl Iterator<Item = &'a Stepped>) {
    let mut denominator = None;
    for one in updated {
        tape.enter_layer(one.tag);
        let root = one.temporary(tape, one.shape, one.element);
        let divided = one.temporary(tape, one.shape, one.element);
        drop(root);
        drop(denominator.replace(divided));
    }
}
