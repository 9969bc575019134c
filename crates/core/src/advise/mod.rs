//! Advice: what to change so that a plan fits its GPUs, or uses them, and what each change saves and costs *on this plan*.
//!
//! A [`Lever`] is one change to a plan. Its saving is the difference of two estimates and its cost the ratio of two step
//! times, never a percentage from a table. [`fit`] finds, level by level, the fastest sequence of levers with which a plan fits, [`fill`]
//! what to raise on a GPU that idles, [`tiers`] the fastest way to shard the training state, [`solve`] the most that
//! fits, [`largest`] the models, [`map`] what batch and length cost together, [`difference`] sets two plans side by side, and
//! [`why`](mod@why) names the tensors behind what surprises.

pub mod code;
pub mod confirmed;
pub mod difference;
pub mod fill;
pub mod fit;
mod frozen;
mod hardware;
mod impact;
pub mod largest;
mod lever;
pub mod map;
mod oracle;
mod precision;
mod search;
pub mod solve;
pub mod summary;
pub mod tiers;
mod waterfall;
pub mod why;

pub use frozen::frozen_in_float32;
pub use hardware::Hardware;
pub use impact::{Baseline, Impact, impacts, levers, sort_by_saving};
pub use lever::{Level, Lever, has_wide_adapters};
pub use oracle::{FitOracle, Heuristic, Judgement, Remembering, Replayed, ReplayedIfClose, usual_host};
pub use precision::{Numbers, Precision};
pub use waterfall::{Change, Stage, steps_between, waterfall};
