//! A searchable list: the editable combobox of the ARIA authoring practices.
//!
//! The page moves the active line and tells what is typed; what a text means, and what is taken, is decided here. While
//! something is typed the best answer is the active one: Enter takes it, and so does leaving the field where no other is as
//! good. Anything else that was typed goes into the plan as it is, which then says what is wrong with it.

use headroom_core::plan::{self, Plan, Problem};
use headroom_core::search::{Found, Meaning};
use headroom_text::Texts;
use headroom_view::{Element, el};

use super::field::{described_by, help, id_of, label, objection, place, words};
use super::{gpu, model};
use crate::page::Page;
use crate::state::State;

/// One line of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// What is chosen.
    pub(super) value: String,
    /// What is read.
    pub(super) label: String,
    /// Beside it, smaller.
    pub(super) detail: String,
    /// Heading that neighbours share.
    pub(super) group: String,
}

/// A field that is chosen from a searchable list.
pub(super) struct Picker {
    /// The field.
    pub(super) name: &'static str,
    /// All lines.
    pub(super) items: fn(&'static Texts) -> Vec<Item>,
    /// Finds items by their places.
    pub(super) search: fn(&str) -> Found,
    /// What to do where nothing answers.
    pub(super) no_match: fn(&'static Texts) -> &'static str,
    /// Whether the last item is in the list whatever is typed.
    pub(super) last_stays: bool,
    /// What is chosen now, as read.
    pub(super) chosen: fn(&'static Texts, &Plan) -> String,
    /// Takes an item's value, or what was typed.
    pub(super) choose: fn(&mut State, &str),
}

/// The pickers of the form, in the order of [`Entered`](super::Entered)'s lists.
pub(super) const PICKERS: [&Picker; 2] = [&model::PICKER, &gpu::PICKER];

/// What the reader does with one picker.
#[derive(Default)]
pub(super) struct List {
    /// What was typed since the last choice.
    draft: Option<String>,
    /// Whether that could not be taken.
    is_refused: bool,
    is_open: bool,
    /// The line that is active until the reader goes to another.
    active: Option<usize>,
    /// Rises whenever `active` is meant anew.
    turn: u32,
    /// What was chosen, as read, when this was written: a choice made elsewhere replaces what was typed.
    chosen: String,
}

impl List {
    fn set_draft(&mut self, draft: Option<String>) {
        self.draft = draft;
        self.is_refused = false;
    }

    /// What was typed and says something.
    fn typed(&self) -> Option<String> {
        let typed = self.draft.as_deref()?.trim();
        if typed.is_empty() { None } else { Some(typed.to_owned()) }
    }
}

/// What the list shows.
#[derive(Debug, Clone, PartialEq)]
struct Listed {
    lines: Vec<Item>,
    /// How many of them answer to what was typed.
    count: usize,
    /// Whether the first is what was typed, and no other is as good.
    is_clear: bool,
    /// Whether none answers, and they are only near.
    is_near: bool,
}

impl Listed {
    /// What answers to `typed`; all items where nothing is typed.
    fn of(picker: &Picker, texts: &'static Texts, typed: Option<&str>) -> Self {
        let items = (picker.items)(texts);
        let Some(typed) = typed else {
            return Self { count: items.len(), lines: items, is_clear: false, is_near: false };
        };
        let mut listed = Self::found(&items, &(picker.search)(typed));
        if let Some(last) = items.last().filter(|_| picker.last_stays) {
            let typed = typed.to_ascii_lowercase();
            // It answers to its own words; besides, it is what to take where nothing answers.
            if listed.is_near
                && [&last.label, &last.value].iter().any(|text| text.to_ascii_lowercase().contains(&typed))
            {
                listed = Self { lines: Vec::new(), count: 1, is_clear: true, is_near: false };
            }
            listed.lines.push(last.clone());
        }
        listed
    }

    /// The items that `found` names, those of a group together, in the order of the best of each.
    fn found(items: &[Item], found: &Found) -> Self {
        let mut lines: Vec<Item> = Vec::new();
        for hit in &found.hits {
            let Some(item) = items.get(hit.place) else { continue };
            let mut line = item.clone();
            let [id, own] = [hit.id, &line.value].map(|id| id.rsplit('/').next().unwrap_or_default());
            if line.label == line.value && !id.eq_ignore_ascii_case(own) {
                // Found by another id of the same modules: that is what is chosen.
                line.label = hit.id.to_owned();
                line.value.clone_from(&line.label);
            }
            let place = lines.iter().rposition(|other| other.group == line.group).map_or(lines.len(), |last| last + 1);
            lines.insert(place, line);
        }
        let is_near = found.meaning == Meaning::Nothing;
        Self { count: lines.len(), lines, is_clear: found.is_clear && !is_near, is_near }
    }

    /// The line that Enter takes while something is typed.
    fn best(&self) -> Option<usize> {
        if self.count > 0 && !self.is_near { Some(0) } else { None }
    }
}

/// What the field called `name` has against any text like `typed`: that it is too long.
fn refusal(name: &str, typed: &str) -> Option<Problem> {
    plan::field(name)?.set_text(&mut Plan::default(), typed).err()
}

/// What the page says of the input with Enter, or when the focus leaves it.
struct Said<'a> {
    typed: &'a str,
    /// Value of the line that the reader went to. A line that is active by itself counts for nothing: the page's list may
    /// be of less than what was typed.
    gone_to: Option<&'a str>,
}

impl<'a> Said<'a> {
    /// Reads the typed text and the value, a line each.
    fn read(said: &'a str) -> Self {
        let (typed, value) = said.split_once('\n').unwrap_or((said, ""));
        Self { typed, gone_to: Some(value).filter(|value| !value.is_empty()) }
    }
}

/// One picker in the state.
struct Hand<'a> {
    state: &'a mut State,
    picker: &'static Picker,
    at: usize,
}

impl Hand<'_> {
    fn list(&mut self) -> &mut List {
        &mut self.state.form.lists[self.at]
    }

    fn listed(&mut self) -> Listed {
        let typed = self.list().typed();
        Listed::of(self.picker, self.state.language.texts(), typed.as_deref())
    }

    fn seek(&mut self, text: &str) {
        self.list().set_draft(Some(text.to_owned()));
        let active = if self.list().typed().is_some() { self.listed().best() } else { None };
        let list = self.list();
        list.is_open = true;
        list.active = active;
        list.turn = list.turn.wrapping_add(1);
    }

    fn show(&mut self) {
        if self.list().is_open {
            return;
        }
        let chosen = (self.picker.chosen)(self.state.language.texts(), self.state.plan());
        let active = self.listed().lines.iter().position(|item| item.label == chosen);
        let list = self.list();
        list.is_open = true;
        list.active = active;
        list.turn = list.turn.wrapping_add(1);
    }

    fn commit(&mut self, text: &str) {
        self.list().is_open = false;
        if refusal(self.picker.name, text).is_some() {
            self.list().is_refused = true;
        } else {
            self.list().set_draft(None);
            (self.picker.choose)(self.state, text);
        }
    }

    fn take(&mut self, index: usize) {
        let value = self.listed().lines.get(index).map(|item| item.value.clone());
        if let Some(value) = value {
            self.commit(&value);
        }
    }

    /// Notes what stands in the input, of which the last `seek` may have told less.
    fn catch_up(&mut self, text: &str) {
        if self.list().draft.as_deref().is_some_and(|draft| draft != text) {
            self.list().set_draft(Some(text.to_owned()));
        }
    }

    fn enter(&mut self, said: &Said) {
        self.catch_up(said.typed);
        let typed = self.list().typed();
        let active = match (said.gone_to, &typed) {
            _ if !self.list().is_open => None,
            (Some(value), _) => return self.commit(value),
            (None, Some(_)) => self.listed().best(),
            (None, None) => self.list().active,
        };
        match (active, typed) {
            (Some(index), _) => self.take(index),
            // Not in the list: the plan takes it and says what to do about it.
            (None, Some(typed)) => self.commit(&typed),
            (None, None) => {}
        }
    }

    fn leave(&mut self, said: &Said) {
        self.catch_up(said.typed);
        let Some(typed) = self.list().typed() else { return self.escape() };
        if self.list().is_refused {
            // Refused before, and not changed since.
            self.list().is_open = false;
            return;
        }
        if let Some(value) = said.gone_to {
            return self.commit(value);
        }
        let listed = self.listed();
        match listed.best().filter(|_| listed.is_clear) {
            Some(index) => self.take(index),
            None => self.commit(&typed),
        }
    }

    /// Back to what is chosen.
    fn escape(&mut self) {
        let list = self.list();
        list.is_open = false;
        list.set_draft(None);
    }
}

/// What the page's keyboard and mouse do to the picker of the field called `name`.
pub(super) fn act(state: &mut State, verb: &str, name: &str, value: &str) -> bool {
    let Some((at, picker)) = PICKERS.into_iter().enumerate().find(|(_, picker)| picker.name == name) else {
        return false;
    };
    let mut hand = Hand { state, picker, at };
    match verb {
        "seek" => hand.seek(value),
        "list" => hand.show(),
        "enter" => hand.enter(&Said::read(value)),
        "leave" => hand.leave(&Said::read(value)),
        "escape" => hand.escape(),
        // By its value: the list in which it was clicked may be one that more was typed since, whose lines stood elsewhere.
        "take" => hand.commit(value),
        _ => return false,
    }
    true
}

/// A choice made elsewhere, by a link for instance, replaces what was typed.
pub(super) fn settle(state: &mut State) {
    let texts = state.language.texts();
    for (at, picker) in PICKERS.into_iter().enumerate() {
        let chosen = (picker.chosen)(texts, state.plan());
        let list = &mut state.form.lists[at];
        if list.chosen != chosen {
            list.chosen = chosen;
            list.set_draft(None);
        }
    }
}

/// The picker at this place of [`PICKERS`].
pub(super) fn draw(page: &Page, at: usize) -> Element {
    let (picker, list) = (PICKERS[at], &page.state.form.lists[at]);
    let name = picker.name;
    let refused = list.draft.as_deref().filter(|_| list.is_refused).and_then(|typed| refusal(name, typed));
    let error = refused.map(|problem| (page.texts.problem)(&problem)).or_else(|| objection(page, name));
    let error = error.as_deref();
    let chosen = (picker.chosen)(page.texts, page.plan());
    let id = id_of(name);
    let list_id = id.clone() + "-list";
    let input = el("input")
        .attr("id", &id)
        .attr("type", "text")
        .attr("role", "combobox")
        .attr("autocomplete", "off")
        .attr("autocapitalize", "off")
        .attr("spellcheck", "false")
        .attr("data-combobox", name)
        .attr("aria-autocomplete", "list")
        .aria("aria-expanded", list.is_open)
        .attr("aria-controls", &list_id)
        .attr("aria-describedby", &described_by(name, error))
        .aria("aria-invalid", error.is_some())
        .attr("value", list.draft.as_ref().unwrap_or(&chosen));
    let active = list.active.filter(|_| list.is_open).map(|active| active.to_string());
    let mut count = el("p").class("list-count").attr("role", "status");
    // Browsers stop at what scrolls and holds nothing that takes the focus: Tab leads from the input to the next field.
    let mut lines = el("ul").attr("id", &list_id).attr("role", "listbox").attr("tabindex", "-1");
    lines = lines.attr("aria-label", words(page, name).label);
    if list.is_open {
        let listed = Listed::of(picker, page.texts, list.typed().as_deref());
        count = count.text(&counted(page.texts, picker, &listed));
        lines = lines.with_all(drawn_lines(&listed, &list_id, &chosen));
    }
    let popup = el("div")
        .class(if list.is_open { "combobox-popup open" } else { "combobox-popup" })
        .attr("data-turn", &list.turn.to_string())
        .maybe("data-active", active.as_deref())
        .with(count)
        .with(lines);
    place(name, "combobox", error)
        .with(label(page, name))
        .with(el("div").class("combobox-box").with(input).with(popup))
        .with_all(help(page, name, error))
}

/// How many answer, or what to do where none does.
fn counted(texts: &'static Texts, picker: &Picker, listed: &Listed) -> String {
    match listed.count {
        0 => (picker.no_match)(texts).to_owned(),
        _ if listed.is_near => texts.only_near.to_owned(),
        count => (texts.matches)(count),
    }
}

fn drawn_lines(listed: &Listed, list_id: &str, chosen: &str) -> Vec<Element> {
    let mut drawn = Vec::with_capacity(listed.lines.len());
    let mut group = "";
    for (index, item) in listed.lines.iter().enumerate() {
        if item.group != group {
            drawn.push(el("li").key("group").class("list-group").attr("role", "presentation").text(&item.group));
        }
        group = &item.group;
        // Of another list none stands in for it: who points at a line never points at another that took its place.
        let option = el("li")
            .key(&item.value)
            .attr("id", &[list_id, "-", &index.to_string()].concat())
            .attr("role", "option")
            .class("list-option")
            .aria("aria-selected", item.label == chosen)
            .attr("data-option", &item.value)
            .with(el("span").class("option-label").text(&item.label))
            .text(" ")
            .with(el("span").class("option-detail").text(&item.detail));
        drawn.push(option);
    }
    drawn
}
