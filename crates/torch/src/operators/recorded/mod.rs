//! An operator as it was recorded from PyTorch: what it allocates, which of its tensors it saves, and the operators that its
//! backward runs. What it computes is nobody's business here; what kernels take in passing, which no recording without a
//! GPU shows, is `kernels`'.
//!
//! Shapes are numbers in a table that the caller keeps, so that one description serves every batch size.

mod backward;
mod description;
mod kernels;
mod operator;

pub use description::{Keeps, Made, Operand, Operator, Output, Place, Step, Template};
pub use kernels::Kernel;
pub(super) use kernels::sort_indices;
pub use operator::{Setting, Tensors};
