//! The engine as a wasm module: `static/answers.js` calls it, in a web worker or, where there are none, beside the page.

use headroom_panels::{Engine, Turn};
use headroom_view::Event;
use wasm_bindgen::prelude::wasm_bindgen;

fn main() {
    console_error_panic_hook::set_once();
}

/// One reader's page. A worker may hold several.
#[wasm_bindgen]
pub struct Answering(Engine);

#[wasm_bindgen]
impl Answering {
    /// The page at `page` (its address without query and fragment), opened with the plan of `fragment`, in the first language
    /// of `languages` (tags, separated by commas) that it speaks.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(page: &str, fragment: &str, languages: &str) -> Self {
        Self(Engine::new(page, fragment, languages))
    }

    /// The same for a plan embedded in another page.
    #[must_use]
    pub fn embedded(page: &str, fragment: &str, languages: &str) -> Self {
        Self(Engine::embedded(page, fragment, languages))
    }

    /// Takes what the reader did: events as [`Event::encode`] writes them.
    pub fn take(&mut self, events: &[u8]) {
        if let Some(events) = Event::decode(events) {
            self.0.take(&events);
        }
    }

    /// Takes the file of a class's program before a model wants it.
    pub fn give(&mut self, program: &str) {
        self.0.give(program);
    }

    /// Takes a file that the reader chose or dropped; `size`, bytes, is more than `bytes` are where it was too large to be
    /// read. What was brought is read once the last one of it is here.
    pub fn bring(&mut self, name: &str, bytes: Vec<u8>, size: f64, is_last: bool) {
        self.0.bring(name, bytes, size as u64, is_last);
    }

    /// A few milliseconds' work: 0, nothing is left to do; 1, there is more; 2, there is more, and an answer to show first;
    /// 3, the first view stands, and the rest follows `go_on`; 4, the page shows all that it will, and what other tabs show is found out.
    pub fn work(&mut self) -> u8 {
        match self.0.work() {
            Turn::Idle => 0,
            Turn::More => 1,
            Turn::Show => 2,
            Turn::First => 3,
            Turn::Whole => 4,
        }
    }

    /// Goes on with what stands below the first view.
    pub fn go_on(&mut self) {
        self.0.go_on();
    }

    /// What has changed since the last answer; `more`: whether more will come for the same events.
    pub fn answer(&mut self, more: bool) -> Vec<u8> {
        self.0.answer(more)
    }
}
