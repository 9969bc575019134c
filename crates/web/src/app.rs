//! The page: header, form, answer.

use headroom_core::plan::ModelChoice;
use leptos::prelude::*;

use crate::address;
use crate::advice::AppliedNote;
use crate::clipboard::CopyButton;
use crate::form::Form;
use crate::gallery::{Gallery, GalleryButton, GalleryPanel};
use crate::options::{Compared, Wishes};
use crate::result::{Answer, VerdictLine};
use crate::state::State;
use crate::text::{Language, language, language_of_reader, text, texts};
use crate::theme::{Theme, Themes};

/// The whole page.
#[component]
pub(crate) fn App() -> impl IntoView {
    let language = RwSignal::new(language_of_reader());
    provide_context(language);
    let themes = Themes::follow();
    provide_context(themes);
    let state = State::open();
    provide_context(state);
    provide_context(Gallery::closed());
    provide_context(Wishes::new());
    provide_context(Compared::nothing());
    let texts = texts();
    Effect::new(move |_| {
        if let Some(root) = document().document_element() {
            // Setting an attribute of a fixed, valid name cannot fail.
            let _ = root.set_attribute("lang", language.get().html_lang());
        }
    });
    Effect::new(move |_| {
        let plan = state.plan();
        let plan = plan.read();
        let (ModelChoice::Catalogue(name) | ModelChoice::Config { name, .. }) = &plan.model;
        document().set_title(&format!("{name} · {}", texts.get().page_title));
    });
    view! {
        <button type="button" class="skip-link" on:click=move |_| show_result()>{text(|t| t.skip_to_result)}</button>
        <Header/>
        <GalleryPanel/>
        <div id="files" class="gallery-place"></div>
        <LinkProblems/>
        <main class="page">
            <div class="form-column"><Form/></div>
            <div class="answer-column" id="answer" tabindex="-1"><Answer/><AppliedNote/></div>
        </main>
        <VerdictLine show=Callback::new(|()| show_result())/>
        <footer class="page-footer">
            <p>{text(|t| t.private_note)}</p>
            <p>{text(|t| t.units_note)}</p>
        </footer>
    }
}

/// Moves to the answer; not by a link, as the fragment of the address holds the plan.
pub(crate) fn show_result() {
    use wasm_bindgen::JsCast;
    let answer = document().get_element_by_id("answer");
    if let Some(answer) = answer.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        // An element in the document can always take the focus, tabindex given.
        let _ = answer.focus();
        answer.scroll_into_view();
    }
}

/// Name, language, theme, link.
#[component]
fn Header() -> impl IntoView {
    let state = State::of_page();
    let language = language();
    let themes: Themes = expect_context();
    let texts = texts();
    let theme_name = move |theme: Theme| match theme {
        Theme::System => texts.get().theme_system,
        Theme::Light => texts.get().theme_light,
        Theme::Dark => texts.get().theme_dark,
    };
    let choose_language = move |event| {
        if let Some(chosen) = Language::from_tag(&event_target_value(&event)) {
            language.set(chosen);
            address::set_query("lang", Some(chosen.code()));
        }
    };
    let choose_theme = move |event| {
        let value = event_target_value(&event);
        let chosen = Theme::ALL.into_iter().find(|theme| theme.code().unwrap_or_default() == value);
        themes.choose(chosen.unwrap_or(Theme::System));
    };
    view! {
        <header class="page-header">
            <div class="brand">
                <Mark/>
                <h1>"Headroom"</h1>
                <p>{text(|t| t.tagline)}</p>
            </div>
            <div class="header-actions">
                <label class="compact-choice">
                    <span class="visually-hidden">{text(|t| t.language)}</span>
                    <select on:change=choose_language>
                        {Language::ALL.map(|offered| view! {
                            <option
                                value=offered.code()
                                lang=offered.html_lang()
                                prop:selected=move || language.get() == offered
                            >
                                {offered.own_name()}
                            </option>
                        })}
                    </select>
                </label>
                <label class="compact-choice">
                    <span class="visually-hidden">{text(|t| t.theme)}</span>
                    <select on:change=choose_theme>
                        {Theme::ALL.map(|offered| view! {
                            <option
                                value=offered.code().unwrap_or_default()
                                prop:selected=move || themes.choice.get() == offered
                            >
                                {move || theme_name(offered)}
                            </option>
                        })}
                    </select>
                </label>
                <GalleryButton/>
                // static/boot.js opens the room for files, a module of its own.
                <button type="button" data-files="read" aria-expanded="false" aria-controls="files">
                    {text(|t| t.read_files)}
                </button>
                <button type="button" data-files="write" aria-expanded="false" aria-controls="files">
                    {text(|t| t.write_files)}
                </button>
                <button type="button" on:click=move |_| state.start_over()>{text(|t| t.start_over)}</button>
                <CopyButton
                    label=|t| t.copy_link
                    done=|t| t.link_copied
                    content=Signal::derive(move || address::link_to(&state.plan().read()))
                    class="primary"
                />
            </div>
        </header>
    }
}

/// The sign: a GPU, filled to a line, with room above.
#[component]
fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
            <rect class="mark-frame" x="2" y="2" width="28" height="28" rx="7"/>
            <path class="mark-fill" d="M6 17h20v5a4 4 0 0 1-4 4H10a4 4 0 0 1-4-4z"/>
            <path class="mark-line" d="M6 11h20"/>
        </svg>
    }
}

/// What the link that opened the page got wrong.
#[component]
fn LinkProblems() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let some = Memo::new(move |_| !state.link_problems.read().is_empty());
    let lines = move || {
        let texts = texts.get();
        let problems = state.link_problems.get();
        problems
            .into_iter()
            .map(|problem| {
                let said = (texts.problem)(&problem);
                view! { <li><code>{problem.field}</code>" "{said}</li> }
            })
            .collect::<Vec<_>>()
    };
    view! {
        <Show when=move || some.get()>
            <section class="panel warning link-problems" role="alert" aria-labelledby="link-problems-title">
                <div>
                    <h2 id="link-problems-title">{text(|t| t.link_problems_title)}</h2>
                    <p>{text(|t| t.link_problems_intro)}</p>
                    <ul>{lines}</ul>
                </div>
                <button type="button" on:click=move |_| state.link_problems.set(Vec::new())>{text(|t| t.close)}</button>
            </section>
        </Show>
    }
}
