//! The room for files: what the reader pastes or drops is read here, and the plan is written as files.
//!
//! All code of this room and of `headroom_files` stands in parts of the module that are fetched when the room is first opened
//! (`crates/xtask/src/split.rs`).

mod figures;
mod findings;
mod html;
mod read;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod words;
mod write;

use std::cell::RefCell;

use headroom_core::plan::Plan;
use headroom_files::export::Format;
use headroom_text::Language;
use headroom_view::{Element, Node, el, escape};
use html::button;
use read::{Beside, Given, Outcome};
use words::{Words, words};
use write::Written;

use crate::page::Page;
use crate::state::State;

/// Id of the panel's heading, which takes the focus.
const TITLE: &str = "files-title";

/// What the panel is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Read,
    Write,
}

/// What the reader has brought, and what became of it.
pub(crate) struct Room {
    tab: Option<Tab>,
    /// What the box holds, as it was sent last.
    typed: String,
    /// How often what stood in the box was taken out of it, or cleared.
    times_taken: u32,
    given: Vec<Given>,
    outcome: Option<Outcome>,
    /// The page's plan when a text was read that asks for the run's own: one that no one had entered.
    asked_beside: Option<Plan>,
    /// The reader wants the page's plan all the same.
    is_confirmed: bool,
    /// The GPU that the reader chose for the texts.
    gpu: Option<String>,
    format: Format,
    /// The files last written, and of what.
    written: RefCell<Option<(Plan, Format, Language, Written)>>,
    /// What the last action came to.
    said: String,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            tab: None,
            typed: String::new(),
            times_taken: 0,
            given: Vec::new(),
            outcome: None,
            asked_beside: None,
            is_confirmed: false,
            gpu: None,
            format: Format::All,
            written: RefCell::new(None),
            said: String::new(),
        }
    }
}

/// A button of the header that opens and closes a side of the room: `read` or `write`.
pub(crate) fn opener(page: &Page, side: &str, label: &str) -> Element {
    let is_open = match page.state.files.tab {
        Some(Tab::Read) => side == "read",
        Some(Tab::Write) => side == "write",
        None => false,
    };
    el("button")
        .attr("type", "button")
        .attr("data-do", &["files ", side].concat())
        .flag("data-with-texts", true)
        .aria("aria-expanded", is_open)
        .attr("aria-controls", if side == "read" { "files" } else { "export" })
        .text(label)
}

/// What was pasted or dropped, while that is open.
pub(crate) fn read(page: &Page) -> Option<Node> {
    (page.state.files.tab == Some(Tab::Read)).then(|| opened(page, Tab::Read))
}

/// The plan as files, while they are open: a part of the tab that starts the run.
pub(crate) fn write(page: &Page) -> Option<Node> {
    (page.state.files.tab == Some(Tab::Write)).then(|| opened(page, Tab::Write))
}

#[inline(never)]
fn opened(page: &Page, tab: Tab) -> Node {
    let room = &page.state.files;
    let words = words(page.state.language);
    let (title, body) = match tab {
        Tab::Read => (words.read_tab, room.read_html(page, words)),
        Tab::Write => (words.write_tab, room.write_html(page, words)),
    };
    let close = button("", "files close", words.close);
    let head =
        format!("<div class=\"gallery-head\"><h2 id=\"{TITLE}\" tabindex=\"-1\">{}</h2>{close}</div>", escape(title));
    let said = format!("<p class=\"files-said\" role=\"status\">{}</p>", escape(&room.said));
    // Of the two sides nothing is the same: what the reader opened in one is not open in the other.
    let key = if tab == Tab::Read { "read" } else { "write" };
    el("section")
        .key(key)
        .class(if tab == Tab::Read { "panel gallery files" } else { "files" })
        .attr("aria-labelledby", TITLE)
        .markup(&[head, body, said].concat())
        .into()
}

/// What the reader does in this room.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    match verb {
        "files" => acted(state, about, value),
        "files-text" => value.clone_into(&mut state.files.typed),
        "files-too-large" => state.files.refuse(words(state.language).pasted, state.language),
        "files-typed" => {}
        _ => return false,
    }
    true
}

#[inline(never)]
fn acted(state: &mut State, about: &str, value: &str) {
    let words = words(state.language);
    let (action, of) = about.split_once(':').unwrap_or((about, ""));
    let place = of.parse().unwrap_or(0);
    state.files.said.clear();
    match action {
        "read" | "write" => {
            let tab = if action == "read" { Tab::Read } else { Tab::Write };
            state.files.tab = if state.files.tab == Some(tab) { None } else { Some(tab) };
            if state.files.tab == Some(Tab::Write) {
                state.show_tab(headroom_core::link::Tab::Run);
            }
            state.focus = state.files.tab.map(|_| TITLE);
        }
        "close" => state.files.tab = None,
        "take" => take(state),
        "add" => {
            let room = &mut state.files;
            let typed = std::mem::take(&mut room.typed);
            if !typed.trim().is_empty() {
                let name = room.name_of_typed(words);
                room.given.push(Given { name, bytes: typed.into_bytes() });
            }
            room.times_taken += 1;
        }
        "clear" => {
            let room = &mut state.files;
            room.typed.clear();
            room.given.clear();
            room.outcome = None;
            (room.asked_beside, room.is_confirmed, room.gpu) = (None, false, None);
            room.times_taken += 1;
        }
        "gpu" => {
            state.files.gpu = Some(of.to_owned());
            let is_of_files = with_outcome(state, Outcome::choose_gpu);
            if !is_of_files {
                state.choose_value("gpu", of);
            }
        }
        "fill" => {
            let said = state.files.outcome.as_ref().map_or_else(Vec::new, Outcome::filled);
            let names: Vec<&'static str> = said.iter().map(|(name, _)| *name).collect();
            state.choose(&names, |plan| *plan = read::edited(plan, &said));
        }
        "confirm" => {
            state.files.is_confirmed = true;
            plan_changed(state);
        }
        "remove" => {
            if place < state.files.given.len() {
                state.files.given.remove(place);
            }
            take(state);
        }
        "answer" => {
            if let Some(outcome) = &mut state.files.outcome {
                outcome.answer(of, value);
            }
        }
        "use" => {
            if let Some(plan) = state.files.outcome.as_ref().and_then(Outcome::plan).cloned() {
                state.apply(plan);
                words.used.clone_into(&mut state.files.said);
            }
        }
        "fix" => {
            let on_page = state.plan().clone();
            let fixed = state.files.outcome.as_mut().and_then(|outcome| outcome.fix(place, &on_page));
            if let Some(plan) = fixed {
                state.apply(plan);
            }
        }
        "format" => state.files.format = Format::from_name(value).unwrap_or(state.files.format),
        _ => {}
    }
}

/// Takes a file that was chosen or dropped; of one that is too large to be read only its size is brought.
pub(crate) fn bring(state: &mut State, name: &str, bytes: Vec<u8>, size: u64) {
    if size > read::MOST_BYTES {
        state.files.refuse(name, state.language);
    } else {
        state.files.given.push(Given { name: name.to_owned(), bytes });
    }
}

/// Opens the panel on what was brought, and reads it.
pub(crate) fn brought(state: &mut State) {
    state.files.tab = Some(Tab::Read);
    state.focus = Some(TITLE);
    let said = std::mem::take(&mut state.files.said);
    take(state);
    if !said.is_empty() {
        state.files.said = said;
    }
}

/// Reads again what waited for a program that has come by now.
pub(crate) fn read_waiting(state: &mut State) {
    let outcome = state.files.outcome.as_ref();
    if outcome.is_some_and(|outcome| outcome.lacks_program() && outcome.awaits(state).is_none()) {
        take(state);
    }
}

/// Sets the texts that were read against the plan as it is now.
pub(crate) fn plan_changed(state: &mut State) {
    let room = &state.files;
    if room.tab == Some(Tab::Read) && room.outcome.as_ref().is_some_and(Outcome::has_reports) {
        with_outcome(state, |outcome, beside| {
            outcome.diagnose(beside);
            true
        });
    }
}

/// What `act` says with what was read and what stands beside it; `false` where nothing was read.
fn with_outcome(state: &mut State, act: impl FnOnce(&mut Outcome, &Beside<'_>) -> bool) -> bool {
    let is_entered = has_entered_plan(state);
    let plan = state.plan().clone();
    let room = &mut state.files;
    let (gpu, asked_beside) = (room.gpu.as_deref(), room.asked_beside.as_ref());
    let beside = Beside { plan: &plan, is_entered, asked_beside, gpu };
    room.outcome.as_mut().is_some_and(|outcome| act(outcome, &beside))
}

/// Whether the plan on the page is the reader's: another than those that everyone begins with, alone or with a link that says
/// none, or said to be meant. Where a text asks for more of the run, all of what it asks for has been chosen since.
fn has_entered_plan(state: &mut State) -> bool {
    let firsts = [Plan::newcomer(), Plan::default()].map(|plan| state.with_programs(plan));
    let (room, plan) = (&state.files, state.plan());
    let asked = room.outcome.as_ref().zip(room.asked_beside.as_ref());
    let is_open = asked.is_some_and(|(outcome, first)| outcome.asks_beside(first, plan));
    room.is_confirmed || !is_open && !firsts.contains(plan)
}

/// Reads all that was brought, and what the box holds.
fn take(state: &mut State) {
    let words = words(state.language);
    let is_entered = has_entered_plan(state);
    let plan = state.plan().clone();
    let room = &mut state.files;
    let mut given = room.given.clone();
    if !room.typed.trim().is_empty() {
        // Beside others it has the number that it gets when it is added to them.
        let name = if given.is_empty() { words.pasted.to_owned() } else { room.name_of_typed(words) };
        given.push(Given { name, bytes: room.typed.clone().into_bytes() });
    }
    if given.is_empty() {
        words.nothing.clone_into(&mut room.said);
        room.outcome = None;
    } else {
        room.said.clear();
        let first = room.asked_beside.take();
        let (gpu, asked_beside) = (room.gpu.as_deref(), first.as_ref());
        let outcome = read::read(given, &Beside { plan: &plan, is_entered, asked_beside, gpu });
        if !is_entered && outcome.has_reports() {
            room.asked_beside = first.or(Some(plan));
        }
        room.outcome = Some(outcome);
    }
}

impl Room {
    /// What the text in the box is called among the others.
    fn name_of_typed(&self, words: &Words) -> String {
        format!("{} {}", words.pasted, self.given.len() + 1)
    }

    fn refuse(&mut self, name: &str, language: Language) {
        self.said = format!("{name} {}", words(language).too_large);
    }

    fn read_html(&self, page: &Page, words: &Words) -> String {
        let item = |(at, given): (usize, &Given)| {
            let remove = button("", &format!("files remove:{at}"), words.remove);
            format!("<li><code>{}</code> {remove}</li>", escape(&given.name))
        };
        let given: String = self.given.iter().enumerate().map(item).collect();
        let given = if given.is_empty() {
            given
        } else {
            format!("<h3>{}</h3><ul class=\"files-given\">{given}</ul>", escape(words.given))
        };
        let outcome = self.outcome.as_ref().map_or_else(String::new, |outcome| outcome.html(page, words));
        format!(
            "<p class=\"panel-intro\">{}</p>{given}\
             <label class=\"visually-hidden\" for=\"files-text\">{}</label>\
             <textarea id=\"files-text\" rows=\"7\" spellcheck=\"false\" data-text=\"files\" data-largest=\"{}\" \
             value=\"{}\" data-taken=\"{}\" placeholder=\"{}\"></textarea>\
             <div class=\"files-actions\">{}{}<button type=\"button\" data-choose=\"files-chooser\">{}</button>{}\
             <input id=\"files-chooser\" type=\"file\" data-bring multiple hidden>\
             <span class=\"files-hint\">{}</span></div>{outcome}",
            escape(words.intro),
            escape(words.box_label),
            read::MOST_BYTES,
            escape(&self.typed),
            self.times_taken,
            escape(words.placeholder),
            button("primary", "files take", words.read),
            button("", "files add", words.add),
            escape(words.choose_files),
            button("", "files clear", words.clear),
            escape(words.or_drop),
        )
    }

    fn write_html(&self, page: &Page, words: &Words) -> String {
        let language = page.state.language;
        let option = |format: &Format| {
            let selected = if *format == self.format { " selected" } else { "" };
            let label = escape(write::label(*format, language));
            format!("<option value=\"{}\"{selected}>{label}</option>", format.name())
        };
        let options: String = Format::ALL.iter().map(option).collect();
        let mut written = self.written.borrow_mut();
        let is_current = written
            .as_ref()
            .is_some_and(|(plan, format, of, _)| (plan, *format, *of) == (page.plan(), self.format, language));
        if !is_current {
            *written = None;
        }
        let (.., files) = written.get_or_insert_with(|| {
            let files = write::written(page.plan(), self.format, language);
            (page.plan().clone(), self.format, language, files)
        });
        format!(
            "<div class=\"files-actions\"><label for=\"files-format\">{}</label>\
             <select id=\"files-format\" data-set=\"files format\">{options}</select></div>{}",
            escape(words.format),
            files.html(page, words)
        )
    }
}
