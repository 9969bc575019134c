//! The panel in the document: what is asked of it, and what it shows.

use std::cell::RefCell;

use headroom_files::export::Format;
use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{CustomEvent, Element, Event, HtmlElement, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement};

use crate::document::{download, element, go_to, language, listen, page, picture, pictures, plan, root};
use crate::html::{button, escaped};
use crate::read::{self, Given, Outcome};
use crate::words::{Words, words};
use crate::write::{self, Written};

const TEXT: &str = "files-text";
const CHOOSER: &str = "files-chooser";
const FORMAT: &str = "files-format";

/// What the panel is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Read,
    Write,
}

/// The panel's state.
struct Panel {
    tab: Option<Tab>,
    /// What the box holds.
    typed: String,
    given: Vec<Given>,
    outcome: Option<Outcome>,
    format: Format,
    written: Option<Written>,
    /// What the last action came to.
    said: String,
}

thread_local! {
    static PANEL: RefCell<Panel> = const {
        RefCell::new(Panel {
            tab: None,
            typed: String::new(),
            given: Vec::new(),
            outcome: None,
            format: Format::All,
            written: None,
            said: String::new(),
        })
    };
}

/// Listens to the page from now on.
pub(crate) fn mount() {
    let Some(root) = root() else { return };
    listen(&root, "headroom-files", |event| {
        if let Ok(event) = event.dyn_into::<CustomEvent>() {
            asked(&event.detail());
        }
    });
    listen(&root, "click", |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let acting = target.and_then(|target| target.closest("[data-action]").ok().flatten());
        if let Some(action) = acting.and_then(|element| element.get_attribute("data-action")) {
            act(&action);
        }
    });
    listen(&root, "change", |event| changed(&event));
}

/// The page asks for a tab, brings files, or has another plan or language.
fn asked(detail: &JsValue) {
    let of = |key: &str| Reflect::get(detail, &key.into()).unwrap_or(JsValue::UNDEFINED);
    keep_typed();
    let wanted = match of("tab").as_string().as_deref() {
        Some("write") => Some(Tab::Write),
        Some(_) => Some(Tab::Read),
        None => None,
    };
    let files = of("files").dyn_into::<Array>().unwrap_or_default();
    let is_open = PANEL.with_borrow_mut(|panel| {
        if let Some(tab) = wanted {
            panel.tab = if panel.tab == Some(tab) && files.length() == 0 { None } else { Some(tab) };
        }
        if panel.tab == Some(Tab::Write) {
            panel.written = Some(write::written(&plan(), panel.format, language()));
        }
        panel.tab.is_some()
    });
    show();
    if wanted.is_some() && is_open {
        focus_heading();
    }
    take(files);
}

/// Reads files into the panel, then reads what they say.
fn take(files: Array) {
    if files.length() == 0 {
        return;
    }
    spawn_local(async move {
        for file in files.iter().filter_map(|file| file.dyn_into::<web_sys::File>().ok()) {
            let name = file.name();
            if file.size() > read::MOST_BYTES as f64 {
                PANEL.with_borrow_mut(|panel| panel.said = format!("{name} {}", words(language()).too_large));
                continue;
            }
            let Ok(buffer) = JsFuture::from(file.array_buffer()).await else { continue };
            let bytes = Uint8Array::new(&buffer).to_vec();
            PANEL.with_borrow_mut(|panel| panel.given.push(Given { name, bytes }));
        }
        read_all();
        show();
    });
}

/// What the box holds, before it is drawn anew.
fn keep_typed() {
    if let Some(area) = element::<HtmlTextAreaElement>(TEXT) {
        let typed = area.value();
        PANEL.with_borrow_mut(|panel| panel.typed = typed);
    }
}

fn read_all() {
    let words = words(language());
    PANEL.with_borrow_mut(|panel| {
        let mut given = panel.given.clone();
        if !panel.typed.trim().is_empty() {
            given.push(Given { name: words.pasted.to_owned(), bytes: panel.typed.clone().into_bytes() });
        }
        if given.is_empty() {
            panel.said = words.nothing.to_owned();
            panel.outcome = None;
        } else {
            panel.outcome = Some(read::read(given, &plan()));
        }
    });
}

/// A button of the panel.
fn act(action: &str) {
    keep_typed();
    let (verb, place) = action.split_once(':').unwrap_or((action, ""));
    let place = place.parse::<usize>().unwrap_or(0);
    PANEL.with_borrow_mut(|panel| panel.said.clear());
    match verb {
        "close" => PANEL.with_borrow_mut(|panel| panel.tab = None),
        "choose" => {
            if let Some(chooser) = element::<HtmlInputElement>(CHOOSER) {
                chooser.click();
            }
            return;
        }
        "read" => read_all(),
        "add" => PANEL.with_borrow_mut(|panel| {
            let typed = std::mem::take(&mut panel.typed);
            if !typed.trim().is_empty() {
                let name = format!("{} {}", words(language()).pasted, panel.given.len() + 1);
                panel.given.push(Given { name, bytes: typed.into_bytes() });
            }
        }),
        "clear" => PANEL.with_borrow_mut(|panel| {
            panel.typed.clear();
            panel.given.clear();
            panel.outcome = None;
        }),
        "remove" => {
            PANEL.with_borrow_mut(|panel| {
                if place < panel.given.len() {
                    panel.given.remove(place);
                }
            });
            read_all();
        }
        "use" => {
            let plan = PANEL.with_borrow(|panel| panel.outcome.as_ref().and_then(Outcome::plan).cloned());
            if let Some(plan) = plan {
                go_to(&plan);
                PANEL.with_borrow_mut(|panel| panel.said = words(language()).used.to_owned());
            }
        }
        "fix" => {
            let fixed =
                PANEL.with_borrow_mut(|panel| panel.outcome.as_mut().and_then(|outcome| outcome.fix(place, &plan())));
            if let Some(plan) = fixed {
                go_to(&plan);
            }
        }
        "copy" | "download" => give(verb, place),
        "svg" | "png" => {
            picture(verb, place);
            return;
        }
        "zip" => {
            let archive = PANEL.with_borrow(|panel| panel.written.as_ref().map(Written::archive));
            if let Some(bytes) = archive {
                download("headroom.zip", &bytes);
            }
        }
        _ => return,
    }
    show();
}

/// Copies or downloads the file in `place`: of what was written, or of what was fixed.
fn give(verb: &str, place: usize) {
    let file = PANEL.with_borrow(|panel| match panel.tab {
        Some(Tab::Write) => panel.written.as_ref().and_then(|written| written.file(place)),
        _ => panel.outcome.as_ref().and_then(|outcome| outcome.file(place)),
    });
    let Some((name, text)) = file else { return };
    if verb == "download" {
        download(&name, text.as_bytes());
    } else if let Some((window, _)) = page() {
        // A browser that refuses leaves the text on the screen, to be selected.
        let _ = window.navigator().clipboard().write_text(&text);
        PANEL.with_borrow_mut(|panel| panel.said = format!("{}: {name}", words(language()).copied));
    }
}

/// A field of the panel changed.
fn changed(event: &Event) {
    let Some(target) = event.target() else { return };
    if let Some(chooser) = target.dyn_ref::<HtmlInputElement>().filter(|input| input.id() == CHOOSER) {
        keep_typed();
        if let Some(files) = chooser.files() {
            let chosen = Array::new();
            (0..files.length()).filter_map(|at| files.get(at)).for_each(|file| {
                chosen.push(&file);
            });
            take(chosen);
        }
    } else if let Some(select) = target.dyn_ref::<HtmlSelectElement>().filter(|select| select.id() == FORMAT)
        && let Some(format) = Format::from_name(&select.value())
    {
        PANEL.with_borrow_mut(|panel| {
            panel.format = format;
            panel.written = Some(write::written(&plan(), format, language()));
        });
        show();
        if let Some(select) = element::<HtmlElement>(FORMAT) {
            // An element of the document can always take the focus.
            let _ = select.focus();
        }
    }
}

fn focus_heading() {
    if let Some(heading) = element::<HtmlElement>("files-title") {
        // As above.
        let _ = heading.focus();
        heading.scroll_into_view();
    }
}

/// Draws the panel.
fn show() {
    let (Some(root), Some((_, document))) = (root(), page()) else { return };
    let words = words(language());
    let (html, open) = PANEL.with_borrow(|panel| (panel.html(words), panel.tab));
    root.set_inner_html(&html);
    let Ok(buttons) = document.query_selector_all("[data-files]") else { return };
    for button in
        (0..buttons.length()).filter_map(|at| buttons.get(at)).filter_map(|node| node.dyn_into::<Element>().ok())
    {
        let name = button.get_attribute("data-files").unwrap_or_default();
        let expanded = matches!((name.as_str(), open), ("read", Some(Tab::Read)) | ("write", Some(Tab::Write)));
        // Setting an attribute of a fixed, valid name cannot fail.
        let _ = button.set_attribute("aria-expanded", if expanded { "true" } else { "false" });
    }
}

impl Panel {
    fn html(&self, words: &Words) -> String {
        let Some(tab) = self.tab else { return String::new() };
        let (title, body) = match tab {
            Tab::Read => (words.read_tab, self.read_html(words)),
            Tab::Write => (words.write_tab, self.write_html(words)),
        };
        let close = button("", "close", words.close);
        let said = escaped(&self.said);
        format!(
            "<section class=\"panel gallery files\" aria-labelledby=\"files-title\">\
             <div class=\"gallery-head\"><h2 id=\"files-title\" tabindex=\"-1\">{}</h2>{close}</div>\
             {body}<p class=\"files-said\" role=\"status\">{said}</p></section>",
            escaped(title)
        )
    }

    fn read_html(&self, words: &Words) -> String {
        let given: String = self
            .given
            .iter()
            .enumerate()
            .map(|(at, given)| {
                format!(
                    "<li><code>{}</code> {}</li>",
                    escaped(&given.name),
                    button("", &format!("remove:{at}"), words.remove)
                )
            })
            .collect();
        let given = if given.is_empty() {
            given
        } else {
            format!("<h3>{}</h3><ul class=\"files-given\">{given}</ul>", escaped(words.given))
        };
        let outcome = self.outcome.as_ref().map_or_else(String::new, |outcome| outcome.html(words, language()));
        format!(
            "<p class=\"panel-intro\">{}</p>{given}\
             <label class=\"visually-hidden\" for=\"{TEXT}\">{}</label>\
             <textarea id=\"{TEXT}\" rows=\"7\" spellcheck=\"false\" placeholder=\"{}\">{}</textarea>\
             <div class=\"files-actions\">{}{}{}<input id=\"{CHOOSER}\" type=\"file\" multiple hidden>{}\
             <span class=\"files-hint\">{}</span></div>{outcome}",
            escaped(words.intro),
            escaped(words.box_label),
            escaped(words.placeholder),
            escaped(&self.typed),
            button("primary", "read", words.read),
            button("", "add", words.add),
            button("", "choose", words.choose_files),
            button("", "clear", words.clear),
            escaped(words.or_drop),
        )
    }

    fn write_html(&self, words: &Words) -> String {
        let options: String = Format::ALL
            .iter()
            .map(|format| {
                let selected = if *format == self.format { " selected" } else { "" };
                format!(
                    "<option value=\"{}\"{selected}>{}</option>",
                    format.name(),
                    escaped(write::label(*format, language()))
                )
            })
            .collect();
        let written = self.written.as_ref().map_or_else(String::new, |written| written.html(words));
        let drawn: String = pictures()
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let svg = button("", &format!("svg:{at}"), "SVG");
                format!("<li>{svg}{} {}</li>", button("", &format!("png:{at}"), "PNG"), escaped(name))
            })
            .collect();
        let drawn = if drawn.is_empty() {
            drawn
        } else {
            format!("<h3>{}</h3><ul class=\"files-given\">{drawn}</ul>", escaped(words.charts))
        };
        format!(
            "<div class=\"files-actions\"><label for=\"{FORMAT}\">{}</label><select id=\"{FORMAT}\">{options}</select></div>{written}{drawn}",
            escaped(words.format)
        )
    }
}
