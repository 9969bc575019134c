//! grokadamw's step (grokadamw.py `_update_group`): the state rests on the host and comes to the GPU tensor by tensor.

use super::stepped::Stepped;
use crate::memory::autograd::Tape;
use std::rc::Rc;

/// Both moments are copied to the GPU before the last tensor's are freed, then the slow average, the gradient
/// plus its multiple, and the root of the second moment.
pub(super) fn step<'a>(tape: &Rc<Tape>, updated: impl Iterator<Item = &'a Stepped>) {
    let (mut moments, mut average, mut gradient) = (None, None, None);
    for one in updated {
        tape.enter_layer(one.tag);
        let of = || one.temporary(tape, one.shape, one.element);
        drop(moments.replace((of(), of())));
        drop(average.replace(of()));
        let multiple = of();
        let sum = of();
        drop(multiple);
        drop(gradient.replace(sum));
        drop(of());
    }
}
