//! The operators that models' forward code is made of: what each allocates, what it saves for backward, and what its
//! backward allocates, in the order of PyTorch's generated code. A function here is one call of an ATen operator or of one
//! fused kernel; what is made of several calls stands with the model that makes them, or in a [`custom()`] of its own. What was recorded from
//! PyTorch runs as [`Operator`]s, which know nothing but sizes.
//!
//! # How to add an operator
//!
//! 1. Read its line in tools/autograd/derivatives.yaml, which says what backward computes from what, and the kernels in
//!    aten/src/ATen/native/cuda for what they take in passing. Better, look: in PyTorch,
//!    `torch.cuda.memory._record_memory_history(context=None)`, the operator, backward, and then
//!    `torch.cuda.memory._snapshot()["device_traces"][0]` gives every allocation (`alloc`) and free (`free_requested`) in
//!    order. Take tensors of at least a few hundred rows: small ones have shortcuts.
//! 2. Write the function in the file of its kind. [`Recording::begin`] takes the tensors that may want gradients, in the
//!    order in which the closure gives gradients back; [`Tensor::new`] allocates, and dropping frees. Save with
//!    [`Recording::save`], in the order in which the generated code does: inputs by their names in derivatives.yaml
//!    alphabetically (`other` before `self`), then results. [`Recording::needs`] says which inputs want a gradient: what is
//!    only needed for another's is not saved. Saved before the kernel runs or after it matters to checkpointing, which
//!    stops where the last saved tensor is there.
//! 3. In the closure, allocate as backward's code does: [`Call::like_grad`] for what is like the gradient, in the order in
//!    which the generated code computes gradients; `drop` what a kernel frees before it returns, locals from the last to
//!    the first. A gradient that is passed on is `call.grad.clone()`; sums over broadcast dimensions and casts to the
//!    input's dtype are the engine's.
//! 4. Say how results lie where that matters ([`Tensor::with_head_major`]): a view of another layout makes a later
//!    operator copy.
//! 5. Export it below, and write its test in `tests/tape`, with the trace of step 1 as what is expected.
//!
//! [`Call::like_grad`]: crate::Call::like_grad
//! [`Recording::begin`]: crate::Recording::begin
//! [`Recording::needs`]: crate::Recording::needs
//! [`Recording::save`]: crate::Recording::save
//! [`Tensor::new`]: crate::Tensor::new
//! [`Tensor::with_head_major`]: crate::Tensor::with_head_major

mod attention;
mod custom;
mod elementwise;
mod embedding;
mod matmul;
mod recorded;
mod reductions;
mod rows;
mod views;

pub use attention::{AttentionLabels, AttentionSizes, Bias, efficient_attention, flash_attention};
pub use custom::custom;
pub use elementwise::{
    add, add_in_place, add_scalar, cast, clamp, dropout, mul, mul_in_place, mul_scalar, pow, rsqrt, sub,
    unary_saving_input, unary_saving_output,
};
pub use embedding::embedding;
pub use matmul::{linear, matmul};
pub use recorded::{Keeps, Kernel, Made, Operand, Operator, Output, Place, Setting, Step, Template, Tensors};
pub use reductions::{layer_norm, max_last, mean_last, softmax, sum_to};
pub use rows::{add_rows_at, put_rows_at, rows_at};
pub use views::{
    cat_last, chunk_heads, contiguous, join_pieces, repeat_heads, share_head, slice_last, slice_rows, split_heads,
    split_last, split_pieces, to_heads, transpose_heads, unfold_batch,
};
