//! Recorded programs of models: the page fetches one when the plan's model is of its class, and the plan is worked out anew.

use headroom_core::model::{Program, Programs};
use headroom_core::plan::{Problem, ProblemKind};
use headroom_view::{Element, el, escape};

use crate::page::Page;
use crate::state::State;
use crate::{files, form, options};

/// Classes whose programs lie beside the page, apart by spaces.
const NAMES: &str = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Where they lie.
const FOLDER: &str = "programs/";

/// The programs that have been fetched, and what became of the others.
#[derive(Default)]
pub(crate) struct Fetched {
    programs: Option<Programs>,
    /// Classes whose programs could not be fetched or read.
    missed: Vec<String>,
}

impl Fetched {
    /// All programs that can be had, those that were fetched among them.
    pub(crate) fn programs(&mut self) -> Programs {
        self.programs.get_or_insert_with(|| Programs::none().listing(names())).clone()
    }

    /// Whether the program of a class has come; `None` while it is under way.
    pub(crate) fn came(&self, model_type: &str) -> Option<bool> {
        if self.programs.as_ref().is_some_and(|programs| programs.known().any(|known| known == model_type)) {
            Some(true)
        } else if self.missed.iter().any(|missed| missed == model_type) {
            Some(false)
        } else {
            None
        }
    }
}

fn names() -> impl Iterator<Item = String> {
    NAMES.split_whitespace().map(str::to_owned)
}

impl State {
    /// Reads the plan by the programs of a file too, here until the page is closed.
    pub(crate) fn give_program(&mut self, file: Vec<Program>) {
        let programs = self.programs.programs().with(file);
        self.programs.programs = Some(programs.clone());
        options::read_by(self, &programs);
        self.read_by(programs);
        self.settle_model();
        self.settle_programs();
    }

    /// What waited for a program that has come by now, or that cannot be had.
    fn settle_programs(&mut self) {
        form::take_waiting_config(self);
        files::read_waiting(self);
    }
}

/// The class whose program one of the plan's models still wants, and whether it was tried in vain.
fn wanted<'p>(page: &'p Page) -> Option<(&'p str, bool)> {
    let name = wanted_by(page.job.as_ref().err()?)?;
    Some((name, page.state.programs.came(name) == Some(false)))
}

/// The class whose program a plan with these problems lacks.
pub(crate) fn wanted_by(problems: &[Problem]) -> Option<&str> {
    problems.iter().find_map(|problem| match &problem.kind {
        ProblemKind::ProgramNotFetched { model_type } => Some(model_type.as_str()),
        _ => None,
    })
}

/// Whether a program that the plan wants is under way: nothing that is shown now is the answer.
pub(crate) fn is_under_way(state: &State, problems: &[Problem]) -> bool {
    awaited(state, problems).is_some()
}

/// What the page says instead of a verdict while nothing but a program that is under way keeps the plan from being estimated.
pub(crate) fn coming(page: &Page, problems: &[Problem]) -> Option<String> {
    let (name, failed) = wanted(page)?;
    let is_all = problems.iter().all(|problem| matches!(problem.kind, ProblemKind::ProgramNotFetched { .. }));
    (is_all && !failed).then(|| (page.texts.program_fetching)(name))
}

/// What the page tells of a program's file.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    let Some(name) = about.strip_prefix(FOLDER).and_then(|file| file.strip_suffix(".json")) else { return false };
    match verb {
        "fetched" => match Program::from_json(value) {
            Ok(file) => state.give_program(file),
            Err(_) => miss(state, name),
        },
        "not-fetched" => miss(state, name),
        _ => return false,
    }
    true
}

fn miss(state: &mut State, name: &str) {
    state.programs.missed.push(name.to_owned());
    state.settle_programs();
}

/// The class whose program a plan with these problems wants, while that is under way.
pub(crate) fn awaited<'p>(state: &State, problems: &'p [Problem]) -> Option<&'p str> {
    wanted_by(problems).filter(|name| state.programs.came(name).is_none())
}

/// What the page says instead of the problems of another plan than its own while nothing is known of it, and has it fetch the program.
pub(crate) fn awaiting(page: &Page, name: &str) -> Element {
    el("div").key("program").markup(&awaiting_html(page, name))
}

/// The same as markup.
pub(crate) fn awaiting_html(page: &Page, name: &str) -> String {
    let said = escape(&(page.texts.program_fetching)(name));
    let file = escape(&file_of(name));
    format!("<p class=\"computing\">{said}</p><p hidden data-fetch-now=\"{file}\"></p>")
}

/// Lets the page fetch a program that is under way, which the verdict says, or says that it could not be had.
pub(crate) fn note(page: &Page) -> Option<Element> {
    let (name, failed) = wanted(page)?;
    if !failed {
        return Some(fetch(name));
    }
    let note = el("p").key("program").class("panel warning link-problems").attr("role", "alert");
    Some(note.text(&(page.texts.program_not_fetched)(name)))
}

/// Has the page fetch the program of a class.
pub(crate) fn fetch(model_type: &str) -> Element {
    el("p").key("program").flag("hidden", true).attr("data-fetch-now", &file_of(model_type))
}

fn file_of(model_type: &str) -> String {
    [FOLDER, model_type, ".json"].concat()
}
