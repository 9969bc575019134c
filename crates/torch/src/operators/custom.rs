//! Operators that a caller writes.

use crate::autograd::{Call, Gradients, Recording, Tape, Tensor};
use std::rc::Rc;

/// An operator of one's own: `inputs`, what it saves, its output and its backward.
pub fn custom(
    tape: &Rc<Tape>,
    inputs: &[&Tensor],
    forward: impl FnOnce(&mut Recording) -> Tensor,
    run: impl Fn(&Call<'_>) -> Gradients + 'static,
) -> Tensor {
    let mut recording = Recording::begin(tape, inputs);
    let out = forward(&mut recording);
    recording.finish(out, run)
}
