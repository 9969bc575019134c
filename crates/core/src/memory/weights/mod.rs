//! Weights: what each module's parameters take, in which dtype, quantised or not, with which adapters.
//!
//! A line of code belongs here if it puts a parameter onto the tape ([`load`]), or says what a module's parameters are for
//! those who run it ([`LoadedModel`]). What a module does with them is `activations`'.

mod builder;
mod experts;
mod layer;
mod linear;
mod load;
mod model;
mod modules;
mod order;
mod parts;
mod recorded;
mod shared;

pub(super) use load::load;
pub(super) use model::{Counts, Holder, LoadedModel};
pub(super) use modules::{
    Adapter, Bare, BaseWeight, Expert, LayerWeights, NormWeights, OwnerWeights, Packed, ParameterAdapter, Projection,
    RecordedBlock, TableAdapter,
};
