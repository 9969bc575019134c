//! A searchable list: the editable combobox of the ARIA authoring practices.

use headroom_core::plan::{self, Plan, Problem};
use headroom_core::search::{Found, Meaning};
use leptos::html;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::field::{FieldWords, Help, Label, described_by, id_of, sentence};
use crate::state::State;
use crate::text::{Texts, texts};

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

/// What the list shows.
#[derive(Clone, PartialEq)]
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
    fn all(items: &[Item]) -> Self {
        Self { lines: items.to_vec(), count: items.len(), is_clear: false, is_near: false }
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
}

/// What the field called `name` has against any text like `typed`: that it is too long.
fn refusal(name: &str, typed: &str) -> Option<Problem> {
    plan::field(name)?.set_text(&mut Plan::default(), typed).err()
}

/// A searchable list for the field called `name`.
///
/// While something is typed the best answer is the active one: Enter takes it, and so does leaving the field where no other
/// is as good. Anything else that was typed goes into the plan as it is, which then says what is wrong with it.
#[component]
pub(super) fn Combobox(
    name: &'static str,
    words: FieldWords,
    items: Memo<Vec<Item>>,
    /// Finds items by their places.
    search: fn(&str) -> Found,
    /// What to do where nothing answers.
    no_match: fn(&'static Texts) -> &'static str,
    /// Whether the last item is in the list whatever is typed.
    #[prop(default = false)]
    last_stays: bool,
    /// What is chosen now, as read.
    chosen: Signal<String>,
    choose: Callback<String>,
) -> impl IntoView {
    let texts = texts();
    let error = sentence(State::of_page().problem(name).into(), false);
    let id = id_of(name);
    let list_id = format!("{id}-list");
    let option_id = {
        let list_id = list_id.clone();
        move |index: usize| format!("{list_id}-{index}")
    };
    // What the reader has typed since the last choice, and whether that could not be taken.
    let draft = RwSignal::new(None::<String>);
    let refused = RwSignal::new(false);
    let open = RwSignal::new(false);
    let active = RwSignal::new(None::<usize>);
    // Whether the reader went to the active line.
    let went = RwSignal::new(false);
    let input = NodeRef::<html::Input>::new();
    let error = Signal::derive(move || {
        let draft = draft.read();
        let refusal = draft.as_deref().filter(|_| refused.get()).and_then(|typed| refusal(name, typed));
        refusal.map(|problem| (texts.get().problem)(&problem)).or_else(|| error.get())
    });

    let listed = Memo::new(move |_| {
        let (draft, items) = (draft.read(), items.read());
        let typed = draft.as_deref().unwrap_or_default().trim();
        if typed.is_empty() {
            return Listed::all(&items);
        }
        let mut listed = Listed::found(&items, &search(typed));
        if let Some(last) = items.last().filter(|_| last_stays) {
            let typed = typed.to_ascii_lowercase();
            // It answers to its own words; besides, it is what to take where nothing answers.
            if listed.is_near
                && [&last.label, &last.value].iter().any(|text| text.to_ascii_lowercase().contains(&typed))
            {
                listed = Listed { lines: Vec::new(), count: 1, is_clear: true, is_near: false };
            }
            listed.lines.push(last.clone());
        }
        listed
    });
    let set_draft = move |typed: Option<String>| {
        draft.set(typed);
        refused.set(false);
        went.set(false);
    };
    // A choice made elsewhere, by a link for instance, replaces what was typed.
    Effect::new(move |_| {
        chosen.track();
        set_draft(None);
    });

    let show = move || {
        if !open.get_untracked() {
            open.set(true);
            let chosen = chosen.get_untracked();
            active.set(listed.read_untracked().lines.iter().position(|item| item.label == chosen));
        }
    };
    let commit = move |text: String| {
        open.set(false);
        if refusal(name, &text).is_some() {
            refused.set(true);
        } else {
            set_draft(None);
            choose.run(text);
        }
    };
    let take = move |index: usize| {
        let value = listed.read_untracked().lines.get(index).map(|item| item.value.clone());
        if let Some(value) = value {
            commit(value);
        }
    };
    let typed = move || draft.get_untracked().map(|typed| typed.trim().to_owned()).filter(|typed| !typed.is_empty());
    let leave = move || {
        let clear = went.get_untracked() || listed.read_untracked().is_clear;
        match (typed(), active.get_untracked()) {
            (None, _) => {
                open.set(false);
                set_draft(None);
            }
            // Refused before, and not changed since.
            (Some(_), _) if refused.get_untracked() => open.set(false),
            (Some(_), Some(index)) if clear => take(index),
            (Some(typed), _) => commit(typed),
        }
    };
    let step = move |forward: bool| {
        let count = listed.read_untracked().lines.len();
        if count == 0 {
            return;
        }
        let next = match (active.get_untracked(), forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(index), true) => (index + 1) % count,
            (Some(index), false) => (index + count - 1) % count,
        };
        active.set(Some(next));
        went.set(true);
    };
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        // An input method that is composing owns its keys.
        _ if event.is_composing() => {}
        key @ ("ArrowDown" | "ArrowUp") => {
            event.prevent_default();
            if open.get_untracked() {
                step(key == "ArrowDown");
            } else {
                show();
            }
        }
        "Enter" => {
            event.prevent_default();
            match (active.get_untracked().filter(|_| open.get_untracked()), typed()) {
                (Some(index), _) => take(index),
                // Not in the list: the plan takes it and says what to do about it.
                (None, Some(typed)) => commit(typed),
                (None, None) => {}
            }
        }
        "Escape" => {
            if open.get_untracked() || draft.read_untracked().is_some() {
                event.prevent_default();
            }
            open.set(false);
            set_draft(None);
        }
        _ => {}
    };
    // The active line stays in sight.
    Effect::new({
        let option_id = option_id.clone();
        move |_| {
            let Some(index) = active.get() else { return };
            if let Some(option) = document().get_element_by_id(&option_id(index)) {
                let options = ScrollIntoViewOptions::new();
                options.set_block(ScrollLogicalPosition::Nearest);
                option.scroll_into_view_with_scroll_into_view_options(&options);
            }
        }
    });

    let lines = {
        let option_id = option_id.clone();
        move || {
            let listed = listed.get();
            let mut group = String::new();
            let lines: Vec<_> = listed
                .lines
                .into_iter()
                .enumerate()
                .map(|(index, item)| {
                    let heading = (item.group != group).then(|| item.group.clone());
                    group.clone_from(&item.group);
                    let is_chosen = {
                        let label = item.label.clone();
                        move || *chosen.read() == label
                    };
                    view! {
                        {heading.map(|heading| view! { <li class="list-group" role="presentation">{heading}</li> })}
                        <li
                            id=option_id(index)
                            role="option"
                            class="list-option"
                            class:active=move || active.get() == Some(index)
                            aria-selected=move || is_chosen().to_string()
                            on:click=move |_| take(index)
                        >
                            <span class="option-label">{item.label}</span>
                            " "
                            <span class="option-detail">{item.detail}</span>
                        </li>
                    }
                })
                .collect();
            lines
        }
    };
    let active_id = move || active.get().filter(|_| open.get()).map(&option_id);
    let count = move || {
        let (listed, texts) = (listed.read(), texts.get());
        match listed.count {
            0 => no_match(texts).to_owned(),
            _ if listed.is_near => texts.only_near.to_owned(),
            count => (texts.matches)(count),
        }
    };
    view! {
        <div class="field combobox" class:invalid=move || error.read().is_some()>
            <Label name words/>
            <div class="combobox-box">
                <input
                    node_ref=input
                    id=id.clone()
                    type="text"
                    role="combobox"
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    aria-autocomplete="list"
                    aria-expanded=move || open.get().to_string()
                    aria-controls=list_id.clone()
                    aria-activedescendant=active_id
                    aria-describedby=described_by(name, error)
                    aria-invalid=move || error.read().is_some().to_string()
                    prop:value=move || draft.get().unwrap_or_else(|| chosen.get())
                    on:focus=move |_| if let Some(input) = input.get_untracked() { input.select() }
                    on:click=move |_| show()
                    on:input=move |event| {
                        set_draft(Some(event_target_value(&event)));
                        open.set(true);
                        let listed = listed.read_untracked();
                        let answers = typed().is_some() && listed.count > 0 && !listed.is_near;
                        active.set(answers.then_some(0));
                    }
                    on:keydown=on_key
                    on:blur=move |_| {
                        // Who looks something up in another window comes back to what was typed.
                        if document().has_focus().unwrap_or(true) {
                            leave();
                        }
                    }
                />
                // A click in the list keeps the focus in the input.
                <div
                    class="combobox-popup"
                    class:open=move || open.get()
                    on:mousedown=|event| event.prevent_default()
                >
                    <p class="list-count" role="status">{move || open.get().then(count)}</p>
                    <ul id=list_id role="listbox" aria-label=move || words(texts.get()).label>
                        {move || open.get().then(&lines)}
                    </ul>
                </div>
            </div>
            <Help name words error/>
        </div>
    }
}
