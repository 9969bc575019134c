//! The engine, as `static/boot.js` hands it over: events to it, answers from it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headroom_view::{Answer, Event, Node, Panel};
use leptos::prelude::{document, request_animation_frame, window};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, wasm_bindgen};

use crate::{address, clipboard, combobox, live, places, shell, texts};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = headroom)]
    fn take(events: Vec<u8>);
    #[wasm_bindgen(js_namespace = headroom, js_name = listen)]
    fn listen_to(listener: &js_sys::Function);
    /// All that has come is in the frame that is being made: once it is, an engine that rests may go on.
    #[wasm_bindgen(js_namespace = headroom)]
    fn shown();
    /// The address of a file that lies beside the scripts; what is a whole address stays as it is.
    #[wasm_bindgen(js_namespace = headroom)]
    pub(crate) fn address(name: &str) -> String;
}

/// How long panels are put on the page in one frame, milliseconds: laying them out and painting takes the browser longer than
/// that, and what the reader does next should not wait for all of it.
const TURN: f64 = 5.0;

/// How many elements are made for one frame before it ends: what is new costs the browser many times what making it took (its
/// style is found, its text is shaped), what only changes does not.
const NEW_ELEMENTS: u32 = 24;

/// Until these stand, what the reader did is not yet on the page.
const URGENT: [&str; 5] = ["form", "verdict", "verdict-line", "advice", "embed"];

thread_local! {
    /// How many events have been sent.
    static SENT: Cell<u32> = const { Cell::new(0) };
    /// How many of them the panels that have come take into account, and those on the page.
    static ANSWERED: Cell<u32> = const { Cell::new(0) };
    static SHOWN: Cell<u32> = const { Cell::new(0) };
    /// Panels that wait for the browser's next turn, and the element to focus behind them.
    static WAITING: RefCell<(VecDeque<Panel>, Option<String>)> = const { RefCell::new((VecDeque::new(), None)) };
    /// How many elements had been made when this turn began, and how many may be new in it.
    static BUDGET: Cell<(u32, u32)> = const { Cell::new((0, u32::MAX)) };
    static HAS_TURN: Cell<bool> = const { Cell::new(false) };
    /// Whether what waits goes on waiting.
    static IS_HELD: Cell<bool> = const { Cell::new(false) };
    /// Whether the engine has more to say on the same events.
    static HAS_MORE: Cell<bool> = const { Cell::new(true) };
    /// What is to be brought into sight once what was asked for stands.
    static TO_SHOW: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sends what the reader did.
pub(crate) fn send(action: &str, value: &str) {
    SENT.set(SENT.get().wrapping_add(1));
    if action.starts_with("compare ") {
        TO_SHOW.set(Some("before-after".to_owned()));
    }
    mark("data-pending", true);
    mark("data-computing", true);
    take(Event::encode(&[Event { action: action.to_owned(), value: value.to_owned() }]));
}

/// Whether the page shows what became of all that the reader did.
pub(crate) fn is_up_to_date() -> bool {
    SENT.get() == SHOWN.get()
}

/// Shows answers as they come.
pub(crate) fn listen() {
    let listener = Closure::<dyn Fn(Vec<u8>)>::new(|bytes: Vec<u8>| {
        if let Some(answer) = Answer::decode(&bytes) {
            receive(answer);
        }
    });
    // Everything is still to come.
    mark("data-computing", true);
    listen_to(listener.as_ref().unchecked_ref());
    listener.forget();
}

fn receive(answer: Answer) {
    let Answer { events, address, title, panels, focus, sight, more } = answer;
    if sight.is_some() {
        TO_SHOW.set(sight);
    }
    // The title first: who hears of the plan asks for it.
    if let Some(title) = title {
        document().set_title(&title);
    }
    if let Some(address) = address {
        address::write(address);
    }
    ANSWERED.set(events);
    let is_first = !panels.is_empty() && shell::remove_skeleton();
    WAITING.with_borrow_mut(|(waiting, to_focus)| {
        // Before what still waits: the engine sends the form and the verdict first, and older panels come after them.
        for panel in panels.into_iter().rev() {
            waiting.retain(|other| other.place != panel.place);
            waiting.push_front(panel);
        }
        if focus.is_some() {
            *to_focus = focus;
        }
    });
    HAS_MORE.set(more);
    // Nothing but the skeleton is on the page yet: no frame is worth waiting for.
    if is_first { show(u32::MAX) } else { show_in_turn() }
}

/// Shows what waits when the next frame is made: what is put on the page before is laid out for what the pointer does
/// meanwhile, and for the frame once more. A page in the background makes no frames.
fn show_in_turn() {
    if document().hidden() {
        show(NEW_ELEMENTS);
    } else if !HAS_TURN.replace(true) {
        request_animation_frame(|| {
            HAS_TURN.set(false);
            show(NEW_ELEMENTS);
        });
    }
}

/// Leaves the page as it is until the hold is over.
pub(crate) fn hold(is_held: bool) {
    if IS_HELD.replace(is_held) && !is_held {
        show_in_turn();
    }
}

/// Says something on the root element, for styles and tests: `data-pending`, what the reader did is not yet on the page;
/// `data-computing`, more is to come.
fn mark(name: &str, holds: bool) {
    if let Some(root) = document().document_element() {
        // Setting an attribute of a fixed, valid name cannot fail.
        let _ = if holds { root.set_attribute(name, "") } else { root.remove_attribute(name) };
    }
}

/// Whether so much is new in this turn that the rest should wait.
fn is_spent() -> bool {
    let (before, new_elements) = BUDGET.get();
    live::made().wrapping_sub(before) > new_elements
}

/// Lets what stands in a place that was just made wait for the next turn where this one has enough; `node` otherwise.
pub(crate) fn postponed(place: &str, node: Option<Node>) -> Option<Node> {
    if !is_spent() {
        return node;
    }
    if let Some(node) = node {
        let panel = Panel { place: place.to_owned().into(), node: Some(node) };
        WAITING.with_borrow_mut(|(waiting, _)| waiting.push_back(panel));
    }
    None
}

/// Puts waiting panels on the page for half a frame, or until so many elements are new, then leaves the browser its turn.
fn show(new_elements: u32) {
    if IS_HELD.get() {
        return;
    }
    let now = || window().performance().map_or(0.0, |clock| clock.now());
    let began = now();
    BUDGET.set((live::made(), new_elements));
    SHOWN.set(ANSWERED.get());
    let had_focus = clipboard::is_focused_somewhere();
    while let Some(panel) = WAITING.with_borrow_mut(|(waiting, _)| waiting.pop_front()) {
        let place = panel.place.clone().into_owned();
        places::show(panel);
        texts::refresh(&place);
        if now() - began > TURN || is_spent() {
            break;
        }
    }
    combobox::refresh();
    let (is_done, has_urgent, to_focus) = WAITING.with_borrow_mut(|(waiting, focus)| {
        let is_done = waiting.is_empty();
        let has_urgent = waiting.iter().any(|panel| URGENT.contains(&&*panel.place));
        (is_done, has_urgent, focus.take())
    });
    if !has_urgent {
        places::synchronise();
    }
    match to_focus {
        // Where a later panel shows it (the answer is hidden while a page stands beside it), that brings it the focus.
        Some(id) => {
            let is_settled = is_done && (shell::focus(&id) || is_up_to_date() && !HAS_MORE.get());
            let again = if is_settled { None } else { Some(id) };
            WAITING.with_borrow_mut(|(_, focus)| *focus = focus.take().or(again));
        }
        // The pressed button is gone with the panel that it stood in: the note on what it did takes the focus.
        None if had_focus && !clipboard::is_focused_somewhere() => drop(shell::focus("applied-title")),
        None => {}
    }
    if !has_urgent && is_up_to_date() {
        mark("data-pending", false);
    }
    if is_done && is_up_to_date() {
        mark("data-computing", HAS_MORE.get() || texts::is_fetching());
        // Where it does not stand yet, a later answer brings it.
        let is_there = TO_SHOW.with_borrow(|id| id.as_deref().is_some_and(shell::bring_into_sight));
        if is_there {
            TO_SHOW.set(None);
        }
    }
    if is_done {
        shown();
    } else {
        show_in_turn();
    }
}
