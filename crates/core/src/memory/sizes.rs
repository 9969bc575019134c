//! A recorded program's shapes for one batch, with the symbols of their dimensions.

use super::autograd::{Shape, Sym, dims};
use crate::model::{BatchSizes, Recorded};
use std::rc::Rc;

/// Every dimension and shape.
#[derive(Debug)]
pub(super) struct Sizes {
    dims: Vec<(Sym, u64)>,
    pub(super) shapes: Rc<[Shape]>,
}

impl Sizes {
    /// Those of `recorded` for a batch.
    pub(super) fn of(recorded: &Recorded, batch: BatchSizes) -> Rc<Self> {
        let written = recorded.dimensions(batch);
        let dims: Vec<(Sym, u64)> = written.into_iter().map(|(text, size)| (symbol(text), size)).collect();
        let shapes = recorded.shapes().iter().map(|shape| collapsed(&dims, shape)).collect();
        Rc::new(Self { dims, shapes })
    }

    /// The size of dimension `dim`.
    pub(super) fn size(&self, dim: usize) -> u64 {
        self.dims.get(dim).map_or(0, |(_, size)| *size)
    }

    /// Shape number `shape`.
    pub(super) fn shape(&self, shape: usize) -> Shape {
        self.shapes.get(shape).copied().unwrap_or(Shape::SCALAR)
    }
}

/// A shape of at most four dimensions: ones are left out of longer ones, then the first are taken together.
fn collapsed(sizes: &[(Sym, u64)], shape: &[usize]) -> Shape {
    let mut found: Vec<(Sym, u64)> = shape.iter().filter_map(|dim| sizes.get(*dim).copied()).collect();
    if found.len() > 4 {
        let last = found.pop();
        found.retain(|(_, size)| *size != 1);
        found.extend(last);
    }
    while let [(first, one), (_, other), ..] = *found.as_slice()
        && found.len() > 4
    {
        let symbol = if first == Sym::B { Sym::B } else { Sym::N };
        found.splice(0..2, [(symbol, one.saturating_mul(other))]);
    }
    dims(&found)
}

/// What a dimension is called: programs say it in the config's own keys.
fn symbol(text: &str) -> Sym {
    match text {
        "1" => Sym::One,
        "2" => Sym::Two,
        "b" => Sym::B,
        "s" => Sym::S,
        "b * s" | "s * b" => Sym::Tokens,
        "hidden_size" | "n_embd" | "d_model" => Sym::H,
        "vocab_size" => Sym::V,
        "intermediate_size" | "moe_intermediate_size" => Sym::I,
        "2 * intermediate_size" | "intermediate_size * 2" => Sym::TwoI,
        "num_attention_heads" | "n_head" => Sym::A,
        "num_key_value_heads" => Sym::K,
        "head_dim" => Sym::D,
        "head_dim / 2" => Sym::HalfD,
        "num_experts" | "num_local_experts" | "n_routed_experts" => Sym::E,
        "num_experts_per_tok" => Sym::Visits,
        "num_attention_heads * head_dim" | "head_dim * num_attention_heads" => Sym::QueryHeads,
        "num_key_value_heads * head_dim" | "head_dim * num_key_value_heads" => Sym::KeyHeads,
        _ => Sym::N,
    }
}
