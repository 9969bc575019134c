//! The address bar: the plan in the fragment, language and theme in the query.

use std::time::Duration;

use headroom_core::link::{self, Decoded};
use headroom_core::plan::Plan;
use leptos::ev;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use crate::state::Pace;

/// Browsers refuse more than about a hundred changes of the address in half a minute; this many milliseconds of quiet
/// before a write stay well below.
const QUIET: Duration = Duration::from_millis(300);

/// The plan that the address holds now, with what is wrong with it.
pub(crate) fn read() -> Decoded {
    decode(&fragment())
}

/// The plan of a fragment; an address without one is where a newcomer starts.
fn decode(fragment: &str) -> Decoded {
    if fragment.is_empty() { Decoded { plan: Plan::newcomer(), problems: Vec::new() } } else { link::decode(fragment) }
}

/// The fragment without its `#`.
fn fragment() -> String {
    let hash = window().location().hash().unwrap_or_default();
    hash.strip_prefix('#').unwrap_or(&hash).to_owned()
}

/// A link to `plan` that anyone can open: this page without the reader's language and theme.
pub(crate) fn link_to(plan: &Plan) -> String {
    let location = window().location();
    let origin = location.origin().unwrap_or_default();
    let path = location.pathname().unwrap_or_default();
    format!("{origin}{path}#{}", link::encode(plan))
}

/// Calls `react` whenever the reader goes back, goes forward, or edits the address.
pub(crate) fn on_change(react: impl Fn() + Copy + 'static) {
    let on_pop = window_event_listener(ev::popstate, move |_| react());
    let on_hash = window_event_listener(ev::hashchange, move |_| react());
    on_cleanup(move || {
        on_pop.remove();
        on_hash.remove();
    });
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

/// Writes the plan to the address, at the pace of the edits.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    /// The write that waits for quiet.
    waiting: StoredValue<Option<TimeoutHandle>>,
    /// The field whose edits the newest history entry holds, if it may still take more of them.
    open_entry: StoredValue<Option<&'static str>>,
}

impl Address {
    pub(crate) fn new() -> Self {
        Self { waiting: StoredValue::new(None), open_entry: StoredValue::new(None) }
    }

    /// Writes `plan`: at once for a step, after a quiet moment for a drag.
    pub(crate) fn write(&self, plan: RwSignal<Plan>, pace: Pace) {
        let Self { waiting, open_entry } = *self;
        if let Some(handle) = waiting.try_update_value(Option::take).flatten() {
            handle.clear();
        }
        match pace {
            Pace::Step => {
                open_entry.set_value(None);
                push(&plan.read_untracked());
            }
            Pace::Drag(field) => {
                let write = move || {
                    let plan = plan.read_untracked();
                    if open_entry.get_value() == Some(field) {
                        replace(&format!("#{}", link::encode(&plan)));
                    } else {
                        open_entry.set_value(Some(field));
                        push(&plan);
                    }
                };
                waiting.set_value(set_timeout_with_handle(write, QUIET).ok());
            }
        }
    }

    /// The plan of the address when the browser, not [`Address::write`], changed it.
    pub(crate) fn changed_by_browser(&self, current: &Plan) -> Option<Decoded> {
        let fragment = fragment();
        if fragment == link::encode(current) {
            return None;
        }
        if let Some(handle) = self.waiting.try_update_value(Option::take).flatten() {
            handle.clear();
        }
        self.open_entry.set_value(None);
        Some(decode(&fragment))
    }
}

fn push(plan: &Plan) {
    if let Ok(history) = window().history() {
        // A browser that refuses (too many changes, a sandboxed frame) loses nothing but the entry.
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&format!("#{}", link::encode(plan))));
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
