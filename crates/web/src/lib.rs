//! The page: components over the core.
//!
//! Data flows one way: the [`state`] holds one plan and the only gateway that edits it; the estimate is derived from the
//! plan, and verdict, charts, tables, address and title from the estimate. No arithmetic about memory lives here.

// The component macro writes `pub` items whatever visibility a component has.
#![allow(unreachable_pub)]

mod address;
mod advice;
mod app;
mod clipboard;
mod figures;
mod form;
mod gallery;
mod options;
mod replays;
mod result;
mod state;
mod text;
mod theme;

/// Mounts the page into the body of the document.
pub fn start() {
    leptos::mount::mount_to_body(app::App);
}
