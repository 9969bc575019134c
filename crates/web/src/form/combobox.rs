//! A searchable list: the editable combobox of the ARIA authoring practices.

use leptos::html;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::field::{FieldWords, Help, Label, described_by, id_of};
use crate::text::{text, texts};

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
    /// Words that find it besides those that are seen.
    pub(super) keywords: String,
}

impl Item {
    /// Whether every word of `query` occurs.
    fn matches(&self, query: &str) -> bool {
        let text = format!("{} {} {} {} {}", self.value, self.label, self.detail, self.group, self.keywords);
        let text = text.to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

/// A searchable list for the field called `name`.
#[component]
pub(super) fn Combobox(
    name: &'static str,
    words: FieldWords,
    items: Memo<Vec<Item>>,
    /// What is chosen now, as read.
    chosen: Signal<String>,
    choose: Callback<String>,
    error: Signal<Option<String>>,
) -> impl IntoView {
    let texts = texts();
    let id = id_of(name);
    let list_id = format!("{id}-list");
    let option_id = {
        let list_id = list_id.clone();
        move |index: usize| format!("{list_id}-{index}")
    };
    // What the reader has typed since the last choice.
    let draft = RwSignal::new(None::<String>);
    let open = RwSignal::new(false);
    let active = RwSignal::new(None::<usize>);
    let input = NodeRef::<html::Input>::new();

    let found = Memo::new(move |_| {
        let draft = draft.read();
        let query = draft.as_deref().unwrap_or_default();
        items.read().iter().filter(|item| item.matches(query)).cloned().collect::<Vec<_>>()
    });
    // A choice made elsewhere, by a link for instance, replaces what was typed.
    Effect::new(move |_| {
        chosen.track();
        draft.set(None);
    });

    let show = move || {
        if !open.get_untracked() {
            open.set(true);
            let chosen = chosen.get_untracked();
            active.set(found.read_untracked().iter().position(|item| item.label == chosen));
        }
    };
    let take = move |index: usize| {
        let value = found.read_untracked().get(index).map(|item| item.value.clone());
        if let Some(value) = value {
            open.set(false);
            draft.set(None);
            choose.run(value);
        }
    };
    let step = move |forward: bool| {
        let count = found.read_untracked().len();
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
            let single = (found.read_untracked().len() == 1).then_some(0);
            match active.get_untracked().or(single) {
                Some(index) if open.get_untracked() => take(index),
                _ => {
                    let typed = draft.get_untracked().filter(|typed| !typed.trim().is_empty());
                    if let Some(typed) = typed.filter(|_| found.read_untracked().is_empty()) {
                        // Not in the list: the plan takes it and says what to do about it.
                        choose.run(typed.trim().to_owned());
                    }
                }
            }
        }
        "Escape" => {
            if open.get_untracked() || draft.read_untracked().is_some() {
                event.prevent_default();
            }
            open.set(false);
            draft.set(None);
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
            let found = found.get();
            let mut group = String::new();
            let lines: Vec<_> = found
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
                            // Keeps the focus in the input.
                            on:mousedown=|event| event.prevent_default()
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
        let count = found.read().len();
        if count == 0 { texts.get().no_match.to_owned() } else { (texts.get().matches)(count) }
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
                        draft.set(Some(event_target_value(&event)));
                        open.set(true);
                        active.set(None);
                    }
                    on:keydown=on_key
                    on:blur=move |_| {
                        open.set(false);
                        if draft.read_untracked().as_ref().is_some_and(|typed| typed.trim().is_empty()) {
                            draft.set(None);
                        }
                    }
                />
                <div class="combobox-popup" class:open=move || open.get()>
                    <p class="list-count" role="status">{move || open.get().then(count)}</p>
                    <ul id=list_id role="listbox" aria-label=move || words(texts.get()).label>
                        {move || open.get().then(&lines)}
                    </ul>
                </div>
            </div>
            <Show when=move || draft.read().is_some() && !open.get()>
                <p class="field-note">{text(|t| t.not_chosen)}" "<strong>{move || chosen.get()}</strong></p>
            </Show>
            <Help name words error/>
        </div>
    }
}
