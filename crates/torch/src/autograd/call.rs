//! What an operator's backward makes of what it gets.

use super::graph::{Call, Tensor};
use crate::shape::{ElementType, Shape};

impl Call<'_> {
    /// The gradient of the operator's output `output`, where it has one.
    pub fn gradient(&self, output: usize) -> Option<&Tensor> {
        match output.checked_sub(1) {
            None => self.gradients.0,
            Some(other) => self.gradients.1.get(other)?.as_ref(),
        }
    }

    /// A new tensor for a gradient.
    pub fn grad_like(&self, shape: Shape, element: ElementType) -> Tensor {
        Tensor::new(self.tape, self.tape.label(self.tape.vocabulary.gradient, ""), shape, element)
    }

    /// A new tensor shaped and laid out like the gradient itself.
    pub fn like_grad(&self) -> Tensor {
        self.grad_like(self.grad.shape(), self.grad.element()).with_head_major(self.grad.head_major())
    }
}
