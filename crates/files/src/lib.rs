//! Files of trainers go in and come out, and so do the texts of failures: a [`headroom_core::plan::Plan`] is what they share.
//!
//! Pure: no I/O, no browser; builds for any target. Nothing that is read is ever run.
//! Rooms, each knowing only those before it: [`finding`] and [`syntax`] <- [`trainers`] <- [`import`] <- [`lint`] <- [`export`];
//! [`diagnose`] knows [`snapshot`] and [`finding`]; [`fuzz`] enters each.

pub mod diagnose;
pub mod export;
pub mod finding;
pub mod fuzz;
pub mod import;
pub mod lint;
pub mod snapshot;
pub mod syntax;
pub mod trainers;
