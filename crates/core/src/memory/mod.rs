//! The estimate: the training step replayed in a ledger of named allocations.
//!
//! [`step`] runs the model's forward code, backward, clipping and the optimizer on tensors that are only sizes
//! ([`autograd`]); every allocation and free goes onto a tape; [`ledger`] reads the tape phase by phase.

mod activations;
mod answer;
mod autograd;
mod device_overhead;
mod embeddings;
mod estimate;
mod evaluation;
mod guess;
mod host;
mod kv_cache;
mod ledger;
mod loading;
mod loss;
mod optimizer;
mod overhead;
mod parameter;
mod period;
mod phase;
mod precision;
mod program;
mod recorded;
mod replay;
mod sharding;
mod sizes;
mod step;
mod surface;
mod symbol;
mod task_use;
mod tasks;
mod term;
mod verdict;
mod weights;

pub use answer::{estimate, estimate_replayed, outline, smallest_change};
pub use estimate::*;
pub use evaluation::EvaluationNeed;
pub use guess::*;
pub use host::{HostAllocation, HostVerdict};
pub use kv_cache::{CacheLayout, kv_bytes_per_sequence, kv_bytes_per_token};
pub use phase::Phase;
pub use replay::{Held, Moment, Replay, Replayer, Request, Requests, replay};
pub use surface::surface;
pub use task_use::{ModelRole, ModelUse, RolloutUse, TaskUse};
pub use term::{Category, Term};
