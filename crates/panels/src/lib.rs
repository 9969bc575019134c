//! What stands on the page, as data.
//!
//! An [`Engine`] holds what the reader has entered and chosen (`state`), answers their [events](headroom_view::Event), and
//! describes every panel of the page anew as a [`Node`](headroom_view::Node). It knows no browser, so that it runs in a
//! worker and its tests run natively. No arithmetic about memory lives here: the core finds, panels show.
//!
//! A room has a folder, and in it up to three things:
//!
//! - panels: functions from a [`Page`](page::Page), what the engine knows at the moment, to a node;
//! - `act`: what its own actions do to the state;
//! - `step`: one small piece of what it still has to find out, some milliseconds at most, so that the reader's next event
//!   is never kept waiting. What has been found is kept together with the plan that it is about; a panel whose finding
//!   is about another plan says that it is computing.

mod advice;
mod beside;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod desk;
mod embed;
mod embedding;
mod engine;
mod figures;
mod files;
mod form;
mod frame;
mod gallery;
mod options;
mod page;
mod pieces;
mod programs;
#[cfg(test)]
mod reader;
mod replays;
mod result;
mod state;
mod tabs;
mod undo;
mod why;

pub use engine::{Engine, Turn};
