//! The address bar: the plan in the fragment, language and theme in the query.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use headroom_view::{Address, History};
use leptos::leptos_dom::helpers::{TimeoutHandle, set_timeout_with_handle};
use leptos::prelude::window;
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use crate::{engine, shell, theme};

/// Browsers refuse more than about a hundred changes of the address in half a minute; this many milliseconds of quiet
/// before a write stay well below.
const QUIET: Duration = Duration::from_millis(300);

thread_local! {
    /// The write that waits for quiet.
    static WAITING: Cell<Option<TimeoutHandle>> = const { Cell::new(None) };
    /// The field whose edits the newest history entry holds, if it may still take more of them.
    static OPEN_ENTRY: RefCell<Option<String>> = const { RefCell::new(None) };
    /// The fragment that the engine last knew.
    static KNOWN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes the address that the page was opened with.
pub(crate) fn follow() {
    take_readers_choices();
    KNOWN.set(fragment());
}

/// Language and theme that a link asks for become the reader's own, in the query: edits of the plan leave them there, and links
/// that the reader passes on do not have them.
fn take_readers_choices() {
    let fragment = fragment();
    let (taken, kept): (Vec<&str>, Vec<&str>) =
        fragment.split('&').partition(|pair| pair.starts_with("lang=") || pair.starts_with("theme="));
    if taken.is_empty() {
        return;
    }
    for (key, value) in taken.into_iter().filter_map(|pair| pair.split_once('=')) {
        set_query(key, Some(value));
    }
    replace(&format!("#{}", kept.join("&")));
}

/// The fragment without its `#`.
fn fragment() -> String {
    let hash = window().location().hash().unwrap_or_default();
    hash.strip_prefix('#').unwrap_or(&hash).to_owned()
}

/// The reader went back, went forward, or edited the address.
pub(crate) fn followed() {
    let fragment = fragment();
    if KNOWN.with_borrow(|known| *known == fragment) {
        return;
    }
    take_readers_choices();
    theme::follow();
    theme::show();
    stop_waiting();
    OPEN_ENTRY.set(None);
    KNOWN.set(self::fragment());
    engine::send("follow", &fragment);
}

/// The page's address, without query and fragment.
pub(crate) fn of_page() -> String {
    let location = window().location();
    // A document that has no address has no links to itself either.
    location.origin().unwrap_or_default() + &location.pathname().unwrap_or_default()
}

/// Value of `key` in the query.
pub(crate) fn query(key: &str) -> Option<String> {
    let search = window().location().search().ok()?;
    UrlSearchParams::new_with_str(&search).ok()?.get(key)
}

/// Remembers `value` under `key` in the query, or forgets the key, without a new history entry.
pub(crate) fn set_query(key: &str, value: Option<&str>) {
    let location = window().location();
    let Ok(query) = UrlSearchParams::new_with_str(&location.search().unwrap_or_default()) else { return };
    match value {
        Some(value) => query.set(key, value),
        None => query.delete(key),
    }
    let query = String::from(query.to_string());
    let separator = if query.is_empty() { "" } else { "?" };
    let path = location.pathname().unwrap_or_default();
    let hash = location.hash().unwrap_or_default();
    replace(&format!("{path}{separator}{query}{hash}"));
}

/// Writes the plan to the address: at once for a step, after a quiet moment for a drag.
pub(crate) fn write(address: Address) {
    let Address { fragment, history } = address;
    stop_waiting();
    KNOWN.set(fragment.clone());
    match history {
        History::Keep => {}
        History::Step => {
            OPEN_ENTRY.set(None);
            push(&fragment);
        }
        History::Drag(field) => {
            let write = move || {
                let goes_on = OPEN_ENTRY.with_borrow(|open| open.as_ref() == Some(&field));
                if goes_on {
                    replace(&format!("#{fragment}"));
                } else {
                    OPEN_ENTRY.set(Some(field));
                    push(&fragment);
                }
            };
            WAITING.set(set_timeout_with_handle(write, QUIET).ok());
        }
    }
}

fn stop_waiting() {
    if let Some(handle) = WAITING.take() {
        handle.clear();
    }
}

fn push(fragment: &str) {
    if shell::is_embedded() {
        // Back and forward are the host page's.
        return replace(&format!("#{fragment}"));
    }
    if let Ok(history) = window().history() {
        // A browser that refuses (too many changes, a sandboxed frame) loses nothing but the entry.
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&format!("#{fragment}")));
    }
    tell();
}

/// Tells the room for files, a module of its own, that the address holds another plan: writing it is no event.
fn tell() {
    if let Ok(event) = web_sys::Event::new("headroom-plan") {
        // Nobody prevents it.
        let _ = window().dispatch_event(&event);
    }
}

fn replace(url: &str) {
    if let Ok(history) = window().history() {
        // As above: the address lags behind, the page does not.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(url));
    }
    tell();
}
