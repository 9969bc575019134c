//! The page: a shell that shows what the engine describes and tells it what the reader does.
//!
//! The engine runs in a worker (`static/engine.js`). [`places`] are filled with its panels by [`live`], which changes only
//! what differs; [`events`] listens for what the reader does, once for the whole document, and sends the actions that elements
//! name. What concerns the page alone is done here: the address ([`address`]), the clipboard, the theme, the keyboard in
//! searchable lists ([`combobox`]), texts and files that are dropped ([`texts`]), the widths of charts.

// The component macro writes `pub` items whatever visibility a component has.
#![allow(unreachable_pub)]

mod address;
mod cells;
mod clipboard;
mod combobox;
mod engine;
mod events;
mod live;
mod places;
mod shell;
mod tabs;
mod texts;
mod theme;
mod widths;

/// Mounts the page into the body of the document.
pub fn start() {
    if !shell::is_embedded() {
        leptos::mount::mount_to_body(shell::Shell);
    }
    places::fill();
    address::follow();
    theme::follow();
    events::listen();
    engine::listen();
}
