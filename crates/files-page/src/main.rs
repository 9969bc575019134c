//! The page's room for files: what the reader pastes or drops is read here, and the plan is written as files.
//!
//! A module of its own, so that nobody waits for it who does not use it. It shares no memory with the page: the plan is in
//! the address, which both follow.

mod document;
mod figures;
mod findings;
mod html;
mod panel;
mod read;
mod words;
mod write;

fn main() {
    console_error_panic_hook::set_once();
    panel::mount();
}
