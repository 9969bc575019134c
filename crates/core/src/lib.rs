//! Headroom's domain: a [`plan::Plan`] goes in, a [`memory::Estimate`] comes out.
//!
//! Pure: no clock, no I/O, no globals, no randomness, no browser. Builds for any target.
//! Rooms, each knowing only those before it: [`search`] <- [`model`], [`gpu`] <- [`plan`] <- [`job`] <- [`memory`] <- [`accuracy`], [`speed`], [`link`]
//! <- [`scenario`].

pub mod accuracy;
pub mod advise;
pub mod gpu;
pub mod job;
pub mod link;
pub mod memory;
pub mod model;
pub mod plan;
pub mod scenario;
pub mod search;
pub mod speed;
pub mod units;
