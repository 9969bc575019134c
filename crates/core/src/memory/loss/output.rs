//! What every way to compute a loss has in common: what it leaves, a scalar, where backward through the layers begins.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Sym, Tensor, custom, dims};
use super::super::phase::Phase;
use super::super::term::Term;
use std::rc::Rc;

/// What the head leaves for the rest of the step.
pub(in crate::memory) struct HeadOutput {
    pub(in crate::memory) loss: Tensor,
    /// The outputs, when the loop keeps them.
    pub(in crate::memory) kept: Option<Tensor>,
}

pub(in crate::memory) fn scalar(context: &ForwardContext) -> Tensor {
    Tensor::new(&context.tape, context.label(Term::LogSoftmax, "loss"), dims(&[(Sym::One, 1)]), ElementType::F32)
}

/// Backward through the layers begins when the gradient of the head's input is known.
pub(in crate::memory) fn mark_backward(context: &ForwardContext, hidden: &Tensor) -> Tensor {
    let begins = Rc::clone(&context.backward_begins);
    custom(
        &context.tape,
        &[hidden],
        |_| hidden.detach(),
        move |call| {
            call.tape.enter(Phase::Backward);
            if let Some(hook) = begins.borrow_mut().take() {
                hook();
            }
            [Some(call.grad.clone())].into()
        },
    )
}
