//! A config.json from Hugging Face, by a button: nothing is fetched before it is pressed.
//!
//! The page fetches what an element asks for that stands here while something is under way, and says what came of it. Its policy
//! (`www/index.html`) allows that one host besides its own.

use headroom_text::SourceTexts;
use headroom_view::{Element, el};
use serde_json::Value;

use crate::figures;
use crate::page::Page;
use crate::pieces::button;
use crate::state::State;

/// Where models are.
const HUB: &str = "https://huggingface.co/";
/// Longest owner and longest name, bytes.
const LONGEST: usize = 96;
/// Largest answer about a model that is read, bytes.
const LARGEST: usize = 4 << 20;

/// What was asked for, and what came of it.
#[derive(Default)]
pub(super) struct Hub {
    /// As it is typed.
    typed: String,
    state: Asked,
}

#[derive(Default)]
enum Asked {
    #[default]
    Nothing,
    Config(String),
    /// The config is there and taken; its number of parameters is asked for.
    Total(String),
    /// The number that is stated for what is now the model, if one is.
    Stated(Option<u64>),
    Refused(Refusal),
}

enum Refusal {
    Invalid,
    /// An id, and the status of HTTP, empty where there was no answer.
    Status(String, String),
}

/// `owner/name` of what was typed: an id, or its page's address. What is neither is no address to ask.
fn id_of(typed: &str) -> Option<String> {
    let typed = typed.trim();
    let id = typed.strip_prefix(HUB).or(typed.strip_prefix("huggingface.co/")).unwrap_or(typed).trim_end_matches('/');
    let (owner, name) = id.split_once('/')?;
    let is_word = |word: &str| {
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=LONGEST).contains(&word.len())
            && word.bytes().all(letters)
            && !word.starts_with(['.', '-'])
            && !word.contains("..")
    };
    (is_word(owner) && is_word(name)).then(|| id.to_owned())
}

fn config_of(id: &str) -> String {
    [HUB, id, "/resolve/main/config.json"].concat()
}

fn facts_of(id: &str) -> String {
    [HUB, "api/models/", id].concat()
}

/// The number of parameters that an answer about a model states.
fn total_in(text: &str) -> Option<u64> {
    if text.len() > LARGEST {
        return None;
    }
    serde_json::from_str::<Value>(text).ok()?.get("safetensors")?.get("total")?.as_u64()
}

/// What the reader and the page do with it. Gives the config that came, by the model's id.
pub(super) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> Option<Option<(String, String)>> {
    let hub = &mut state.form.hub;
    match verb {
        "hub-id" => {
            value.clone_into(&mut hub.typed);
            if matches!(hub.state, Asked::Refused(_)) {
                hub.state = Asked::Nothing;
            }
        }
        "hub-load" => hub.state = id_of(&hub.typed).map_or(Asked::Refused(Refusal::Invalid), Asked::Config),
        "fetched" | "not-fetched" => {
            let came = verb == "fetched";
            match &hub.state {
                Asked::Config(id) if about == config_of(id) => {
                    let id = id.clone();
                    if came {
                        hub.state = Asked::Total(id.clone());
                        return Some(Some((id, value.to_owned())));
                    }
                    hub.state = Asked::Refused(Refusal::Status(id, value.to_owned()));
                }
                Asked::Total(id) if about == facts_of(id) => {
                    hub.state = Asked::Stated(total_in(value).filter(|_| came));
                }
                _ => return about.starts_with(HUB).then_some(None),
            }
        }
        _ => return None,
    }
    Some(None)
}

/// Forgets the number that was stated: another model stands there.
pub(super) fn forget(hub: &mut Hub) {
    if matches!(hub.state, Asked::Stated(_)) {
        hub.state = Asked::Nothing;
    }
}

fn refusal_text(words: &SourceTexts, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Invalid => words.hub_invalid.to_owned(),
        Refusal::Status(id, status) => match status.as_str() {
            "" => words.hub_offline.to_owned(),
            // An account is asked for even where there is no such model.
            "401" | "403" => (words.hub_gated)(id),
            "404" => (words.hub_missing)(id),
            other => (words.hub_failed)(id, other),
        },
    }
}

/// Id, button, and what came of it.
pub(super) fn draw(page: &Page) -> Element {
    let (hub, words) = (&page.state.form.hub, page.texts.sources());
    let refusal = match &hub.state {
        Asked::Refused(refusal) => Some(refusal_text(words, refusal)),
        _ => None,
    };
    let input = el("input")
        .attr("id", "hub-id")
        .attr("type", "text")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("placeholder", "Qwen/Qwen3-4B")
        .attr("value", &hub.typed)
        .attr("data-type", "hub-id")
        .attr("aria-describedby", "hub-error hub-help")
        .aria("aria-invalid", refusal.is_some());
    let said = el("p").class("field-error").attr("id", "hub-error").attr("role", "alert");
    let field = el("div")
        .class(if refusal.is_some() { "field invalid" } else { "field" })
        .with(el("label").attr("for", "hub-id").text(words.hub_id))
        .with(input)
        .with(match &refusal {
            Some(refusal) => said.text(refusal),
            None => said,
        });
    el("div")
        .key("hub")
        .class("hub")
        .with(field)
        .with(el("div").class("actions").with(button("hub-load", words.hub_load)))
        .with(el("p").class("field-help").attr("id", "hub-help").text(words.hub_help))
        .with(el("div").class("hub-state").attr("role", "status").with_some(standing(page)))
}

/// What is under way, or stated.
fn standing(page: &Page) -> Option<Element> {
    let words = page.texts.sources();
    let fetching = |address: String, id: &str| {
        el("p").key("fetching").attr("data-fetch-now", &address).text(&(words.hub_loading)(id))
    };
    match &page.state.form.hub.state {
        Asked::Nothing | Asked::Refused(_) => None,
        Asked::Config(id) => Some(fetching(config_of(id), id)),
        Asked::Total(id) => Some(fetching(facts_of(id), id).key("asking")),
        Asked::Stated(None) => Some(el("p").key("stated").text(words.hub_no_total)),
        Asked::Stated(Some(total)) => {
            let read = page.job.as_ref().ok()?.model().param_count();
            let stated = figures::params(*total);
            let said = if read == *total {
                (words.hub_same)(&stated)
            } else {
                (words.hub_differs)(&stated, &figures::params(read))
            };
            Some(el("p").key("stated").text(&said))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{id_of, total_in};

    #[test]
    fn ids_are_an_owner_and_a_name_and_nothing_else() {
        for (typed, id) in [
            ("Qwen/Qwen3-4B", Some("Qwen/Qwen3-4B")),
            (" https://huggingface.co/org/na_me.v1/ ", Some("org/na_me.v1")),
            ("huggingface.co/org/name", Some("org/name")),
            ("gpt2", None),
            ("a/b/c", None),
            ("../x", None),
            ("a/..", None),
            ("a/b..c", None),
            ("-a/b", None),
            ("a/b?x=1", None),
            ("a/b#c", None),
            ("a/b%2f", None),
            ("a /b", None),
            ("https://evil.example/a/b", None),
            ("a/\u{ff0e}b", None),
            ("/b", None),
            ("", None),
        ] {
            assert_eq!(id_of(typed).as_deref(), id, "{typed}");
        }
        assert_eq!(id_of(&format!("a/{}", "b".repeat(97))), None);
    }

    #[test]
    fn the_total_is_a_whole_number_or_none() {
        assert_eq!(total_in(r#"{"safetensors":{"parameters":{"BF16":7},"total":7}}"#), Some(7));
        for text in [
            "",
            "[]",
            "{}",
            r#"{"safetensors":null}"#,
            r#"{"safetensors":{"total":-1}}"#,
            r#"{"safetensors":{"total":"7"}}"#,
        ] {
            assert_eq!(total_in(text), None, "{text}");
        }
    }
}
