//! Models: what a Hugging Face `config.json` says, as modules with exact shapes.
//!
//! [`Model::from_config`] applies each family's class defaults and lists every parameter tensor; [`catalogue()`] holds well-known models.

mod behaviour;
mod catalogue;
mod classes;
mod config;
mod guess;
mod layers;
mod modules;
mod paths;
mod program;
mod reader;
mod search;
mod structure;

pub use behaviour::{Behaviour, Dispatch, EarlierExperts, LinearExperts};
pub(crate) use catalogue::own_longest;
pub use catalogue::{CatalogueModel, catalogue, find};
pub(crate) use classes::audio;
pub use config::ConfigError;
pub use layers::*;
pub use modules::*;
pub(crate) use program::{
    Action, Attend, Autocast, Block, CAUSAL_MASK, Code, GatedProduct, Held, Input, KernelPackages, Op, Owner, RESIDUAL,
    Region, Repeat, Rotation, SLIDING_MASK, Value, Way,
};
pub(crate) use program::{BatchImages, BatchSizes, ExpertNames, LossStep};
pub use program::{Program, ProgramError, Programs, Recorded};
pub use reader::Images;
pub use search::{resolve, search};
pub use structure::*;
