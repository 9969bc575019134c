//! One process, or forwards that each rank runs for itself: nothing is sharded and nothing reduced.

use super::Strategy;

/// Everything on this GPU.
#[derive(Debug)]
pub(super) struct Single;

impl Strategy for Single {}
