//! The operators that models' forward code is made of: what each allocates, what it saves for backward, and what its
//! backward allocates, in the order of PyTorch's generated code.

mod custom;
mod elementwise;
mod embedding;
mod matmul;
mod reductions;
mod views;

pub use custom::custom;
pub use elementwise::{
    activation_saving_input, activation_saving_output, add, add_in_place, add_number, cast, clamp, dropout, mul, pow,
    rsqrt, scale, sub,
};
pub use embedding::embedding;
pub use matmul::{linear, matmul};
pub use reductions::{layer_norm, max_last, mean_last, softmax};
pub use views::{
    cat_last, chunk_heads, copy, repeat_heads, slice_last, split_heads, split_last, to_heads, transpose_heads,
    unfold_batch,
};
