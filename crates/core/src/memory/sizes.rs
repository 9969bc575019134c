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
        let dims = named(recorded, batch);
        let shapes = recorded.shapes().iter().map(|shape| collapsed(&dims, shape)).collect();
        Rc::new(Self { dims, shapes })
    }

    /// The same where a cache holds earlier tokens and attention is in the program's own operators: they were recorded with as many keys
    /// as queries. What has a dimension for each, scores and masks, has `keys` in the second; beside them the shapes of what is made of
    /// keys and values alone.
    pub(super) fn with_keys(recorded: &Recorded, batch: BatchSizes, keys: u64) -> (Rc<Self>, Rc<[Shape]>) {
        let dims = named(recorded, batch);
        let mut of_keys = dims.clone();
        for dim in of_keys.iter_mut().filter(|(symbol, _)| *symbol == Sym::S) {
            *dim = (Sym::PromptAndAnswer, keys);
        }
        let scores = |shape: &[usize]| {
            let is_length = |dim: &&usize| dims.get(**dim).is_some_and(|(symbol, _)| *symbol == Sym::S);
            let place = shape.iter().rposition(|dim| is_length(&dim));
            let place = place.filter(|_| shape.iter().filter(is_length).count() > 1);
            place.and_then(|place| {
                let mut own = dims.clone();
                let dim = *shape.get(place)?;
                own.push(*of_keys.get(dim)?);
                let mut shape = shape.to_vec();
                *shape.get_mut(place)? = dims.len();
                Some(collapsed(&own, &shape))
            })
        };
        let shapes = recorded.shapes().iter().map(|shape| scores(shape).unwrap_or_else(|| collapsed(&dims, shape)));
        let (shapes, long) = (shapes.collect(), recorded.shapes().iter().map(|shape| collapsed(&of_keys, shape)));
        let long = long.collect();
        (Rc::new(Self { dims, shapes }), long)
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

fn named(recorded: &Recorded, batch: BatchSizes) -> Vec<(Sym, u64)> {
    recorded.dimensions(batch).into_iter().map(|(text, size)| (symbol(text), size)).collect()
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
        "s + 1" => Sym::SPlusOne,
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
