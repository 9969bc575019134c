//! A recorded program of the reader's own, for a class that nothing here knows: the command that makes it, and a box that takes it.

use headroom_core::model::{Program, ProgramError};
use headroom_core::plan::{ModelChoice, parse_json};
use headroom_text::SourceTexts;
use headroom_view::{Element, el};

use crate::page::Page;
use crate::pieces::{button, copy_button};
use crate::state::State;

/// Largest file that is read, bytes: programs of the largest classes have a twentieth.
const LARGEST: usize = 4 << 20;

/// Letters of a class that are shown.
const LONGEST_CLASS: usize = 80;

/// What the reader has put into the box.
#[derive(Default)]
pub(super) struct Record {
    /// The class that is wanted, where its config was not taken: else that of the plan's model is.
    wanted: Option<String>,
    /// What is in the box, as far as the page has told.
    text: String,
    oversize: bool,
    refusal: Option<Refusal>,
}

enum Refusal {
    Empty,
    Wrong(ProgramError),
    /// A program of that class.
    Other(String),
}

/// Notes the class of a config that was not taken.
pub(super) fn want(record: &mut Record, class: Option<&str>) {
    record.wanted = class.map(str::to_owned);
    record.refusal = None;
}

/// The class that is to be recorded.
fn wanted(state: &State) -> Option<String> {
    state.form.record.wanted.clone().or_else(|| {
        let ModelChoice::Config { config, .. } = &state.plan().model else { return None };
        state.plan().programs.unknown(config).map(str::to_owned)
    })
}

/// Whether a file is a recorded program and no config.
pub(super) fn is_program(text: &str) -> bool {
    parse_json(text).is_ok_and(|file| file.get("programs").is_some() && file.get("functions").is_some())
}

fn too_large() -> ProgramError {
    ProgramError { place: "program".to_owned(), why: format!("is larger than {LARGEST} bytes") }
}

/// What the page tells of the box. Whether a program was taken, if it was about the box at all.
pub(super) fn act(state: &mut State, verb: &str, value: &str) -> Option<bool> {
    let record = &mut state.form.record;
    match verb {
        "program-text" => {
            record.oversize = false;
            value.clone_into(&mut record.text);
        }
        "program-typed" => record.refusal = None,
        "program-too-large" => {
            record.oversize = true;
            record.refusal = Some(Refusal::Wrong(too_large()));
        }
        "program-unreadable" => record.refusal = Some(Refusal::Empty),
        "program-file" => {
            let (_, text) = value.split_once('\n').unwrap_or_default();
            return Some(take(state, text));
        }
        "program-use" => {
            if record.oversize {
                record.refusal = Some(Refusal::Wrong(too_large()));
                return Some(false);
            }
            let text = std::mem::take(&mut record.text);
            return Some(take(state, &text));
        }
        _ => return None,
    }
    Some(false)
}

/// Whether a model waits for its program.
pub(super) fn is_wanted(state: &State) -> bool {
    wanted(state).is_some()
}

/// Takes a program, or says why not.
pub(super) fn take(state: &mut State, text: &str) -> bool {
    let Some(wanted) = wanted(state) else { return false };
    let refusal = match Program::from_json(text) {
        _ if text.trim().is_empty() => Refusal::Empty,
        _ if text.len() > LARGEST => Refusal::Wrong(too_large()),
        Err(error) => Refusal::Wrong(error),
        Ok(file) => match file.iter().find(|program| program.model_type != wanted) {
            Some(other) => Refusal::Other(other.model_type.clone()),
            None => {
                state.give_program(file);
                state.form.record = Record::default();
                return true;
            }
        },
    };
    state.form.record.refusal = Some(refusal);
    false
}

/// Whether a class's name can stand in a command.
fn is_name(class: &str) -> bool {
    !class.starts_with('-') && class.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// The command that records a class: by its name, where that is one, else by a folder with its config.
fn command(class: &str) -> String {
    if is_name(class) {
        format!("python -m headroom.record {class} --out {class}.json")
    } else {
        "python -m headroom.record FOLDER_WITH_CONFIG --out program.json".to_owned()
    }
}

/// The command that records a module that no package has, from the file that makes it (docs/own-models.md).
fn command_of_file(class: &str) -> String {
    let name = if is_name(class) { class } else { "my_model" };
    format!("python -m headroom.record {name}.py --out {name}.json")
}

fn complaint(words: &SourceTexts, refusal: &Refusal, wanted: &str) -> String {
    match refusal {
        Refusal::Empty => words.record_empty.to_owned(),
        Refusal::Wrong(ProgramError { place, why }) => (words.record_wrong)(place, why),
        Refusal::Other(theirs) => (words.record_other)(theirs, wanted),
    }
}

/// What a class that is not known asks of the reader.
pub(super) fn draw(page: &Page) -> Option<Element> {
    let wanted = wanted(page.state)?;
    let (words, record) = (page.texts.sources(), &page.state.form.record);
    let command = command(&wanted);
    let refusal = record.refusal.as_ref().map(|refusal| complaint(words, refusal, &wanted));
    let area = el("textarea")
        .attr("id", "program-text")
        .attr("rows", "3")
        .attr("spellcheck", "false")
        .attr("autocomplete", "off")
        .attr("placeholder", "{ \"format\": 1, … }")
        .attr("data-text", "program")
        .attr("data-largest", &LARGEST.to_string())
        .attr("aria-describedby", "program-error program-help")
        .aria("aria-invalid", refusal.is_some());
    let said = el("p").class("field-error").attr("id", "program-error").attr("role", "alert");
    let field = el("div")
        .class(if refusal.is_some() { "field invalid" } else { "field" })
        .with(el("label").attr("for", "program-text").text(words.record_text))
        .with(area)
        .with(match &refusal {
            Some(refusal) => said.text(refusal),
            None => said,
        });
    let file = el("input").attr("type", "file").attr("accept", ".json,application/json").attr("data-file", "program");
    let file = el("label").class("file-choice").with(file).with(el("span").text(page.texts.config_file));
    let advice = &page.texts.advice;
    let take = button("program-use", words.record_use).class("primary").flag("data-with-texts", true);
    let section = el("section")
        .key("record")
        .class("record")
        .attr("data-drop", "program")
        .attr("data-largest", &LARGEST.to_string())
        .with(el("h3").text(&(words.record_title)(&wanted.chars().take(LONGEST_CLASS).collect::<String>())))
        .with(el("p").text(words.record_how))
        .with(el("pre").with(el("code").text(&command)))
        .with(copy_button(page, advice.copy_code, advice.code_copied, &command, ""))
        .with(el("p").text(words.record_own))
        .with(el("pre").with(el("code").text(&command_of_file(&wanted))))
        .with(el("p").attr("id", "program-help").text(words.record_take))
        .with(field)
        .with(el("div").class("actions").with(take).with(file));
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::{command, command_of_file};

    #[test]
    fn a_class_that_is_no_plain_name_is_in_no_command() {
        assert_eq!(command("my_own"), "python -m headroom.record my_own --out my_own.json");
        for class in ["a; rm -rf /", "$(x)", "-m", "a b", "\u{2026}"] {
            assert!(command(class).contains("FOLDER_WITH_CONFIG"), "{class}");
            assert_eq!(command_of_file(class), "python -m headroom.record my_model.py --out my_model.json");
        }
    }
}
