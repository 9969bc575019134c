//! What a plan that was applied has changed: a note that stays in sight until the plan is edited by hand, with the way back
//! and the lines to write.

use std::time::Duration;

use headroom_core::advise::code::{code, code_text};
use headroom_core::advise::difference::changed;
use leptos::prelude::*;

use crate::address;
use crate::clipboard::CopyButton;
use crate::options::tables::changed_lines;
use crate::state::{Applied, Pace, State};
use crate::text::{text, texts};

/// Id of the note's heading.
const TITLE: &str = "applied-title";

/// Frames and timers after which the pressed button may be gone, with the focus: milliseconds.
const SETTLED: Duration = Duration::from_millis(120);

/// Moves the focus to the note, once it stands.
pub(super) fn focus_note() {
    request_animation_frame(|| super::focus(TITLE));
}

/// Moves the focus to the note where the element that had it is gone.
fn catch_focus() {
    let is_lost = document().active_element().is_none_or(|active| active.tag_name() == "BODY");
    if is_lost {
        super::focus(TITLE);
    }
}

/// The note.
#[component]
pub(crate) fn AppliedNote() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let plan = state.plan();
    let applied = state.applied;
    Effect::new(move |_| {
        let is_over = applied.read().as_ref().is_some_and(|applied| applied.after != *plan.read());
        if is_over {
            applied.set(None);
        }
    });
    Effect::new(move |_| {
        if applied.read().is_some() {
            set_timeout(catch_focus, SETTLED);
        }
    });
    let changes = Memo::new(move |_| {
        let applied = applied.read();
        applied.as_ref().map(|Applied { before, after }| changed(before, after)).unwrap_or_default()
    });
    let some = Memo::new(move |_| applied.read().is_some());
    let list = move || {
        let items: String = changed_lines(&changes.read()).iter().map(|line| format!("<li>{line}</li>")).collect();
        format!("<ul>{items}</ul>")
    };
    let written = Signal::derive(move || {
        let applied = applied.read();
        applied.as_ref().map(|Applied { before, after }| code_text(&code(before, after))).unwrap_or_default()
    });
    let close = move || {
        applied.set(None);
        super::focus(super::TITLE);
    };
    let undo = move |_| {
        if let Some(Applied { before, .. }) = applied.get_untracked() {
            state.edit(Pace::Step, |plan| *plan = before);
        }
        close();
    };
    let buttons = move || {
        view! {
            <p class="sheet-actions">
                <button type="button" class="primary" on:click=undo>{text(|t| t.advice.undo)}</button>
                <span hidden=move || written.read().is_empty()>
                    <CopyButton label=|t| t.advice.copy_code done=|t| t.advice.code_copied content=written/>
                </span>
                <CopyButton
                    label=|t| t.copy_link
                    done=|t| t.link_copied
                    content=Signal::derive(move || address::link_to(&plan.read()))
                />
                <button type="button" on:click=move |_| close()>{text(|t| t.close)}</button>
            </p>
        }
    };
    view! {
        <aside class="applied" class:shown=move || some.get() aria-labelledby=TITLE>
            // The region stands before it says anything: otherwise nobody hears it.
            <div role="status">
                <Show when=move || some.get()>
                    <h2 id=TITLE tabindex="-1">{move || (texts.get().advice.applied)(changes.read().len())}</h2>
                    <div class="applied-changes" inner_html=list></div>
                </Show>
            </div>
            <Show when=move || some.get()>{buttons()}</Show>
        </aside>
    }
}
