//! `scaled_dot_product_attention`: the flash and the memory-efficient kernel, forward and backward.

mod efficient;
mod flash;

use crate::autograd::Tensor;
use crate::label::Label;
use crate::shape::{ElementType, Shape, Symbol, dims};

pub use efficient::{Bias, efficient_attention};
pub use flash::flash_attention;

/// Sizes of one attention. q is `[b, a, s, d]`, k `[b, k, keys, d]`, v `[b, k, keys, d_v]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionSizes {
    /// Sequences.
    pub batch: u64,
    /// Heads of queries.
    pub heads: u64,
    /// Query tokens.
    pub queries: u64,
    /// Key tokens: more than queries when a cache holds earlier ones.
    pub keys: u64,
    /// Width of a query's and key's head.
    pub head_dim: u64,
    /// Width of a value's head.
    pub value_dim: u64,
    /// Whether several heads of queries read one of k and v.
    pub groups: bool,
}

/// What the tensors of one attention are called.
#[derive(Debug, Clone, Copy)]
pub struct AttentionLabels {
    /// The output.
    pub output: Label,
    /// Log-sum-exp of the scores.
    pub statistics: Label,
    /// State of the random numbers.
    pub random: Label,
    /// The mask, added to the scores.
    pub bias: Label,
    /// What keys that are split over thread blocks leave.
    pub splits: Label,
}

impl AttentionSizes {
    /// One number a head and query.
    fn per_head(&self) -> Shape {
        dims(&[(Symbol::BATCH, self.batch), (Symbol::HEADS, self.heads), (Symbol::LENGTH, self.queries)])
    }

    /// The bias of every score, its rows rounded up (attention_backward.cu `_efficient_attention_backward`).
    fn biases(&self) -> Shape {
        const ALIGNMENT: u64 = 16;
        let keys = self.keys.next_multiple_of(ALIGNMENT);
        dims(&[
            (Symbol::BATCH, self.batch),
            (Symbol::HEADS, self.heads),
            (Symbol::LENGTH, self.queries),
            (Symbol::LENGTH, keys),
        ])
    }

    /// The output, token by token.
    fn out(&self) -> Shape {
        dims(&[
            (Symbol::BATCH, self.batch),
            (Symbol::LENGTH, self.queries),
            (Symbol::HEADS, self.heads),
            (Symbol::VALUE_DIM, self.value_dim),
        ])
    }
}

/// Philox seed or offset.
fn random_state(near: &Tensor, labels: &AttentionLabels, bytes: u64) -> Tensor {
    Tensor::new(near.tape(), labels.random, dims(&[(Symbol::BYTES, bytes)]), ElementType::Byte)
}
