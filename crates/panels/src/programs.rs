//! Recorded programs of models: the page fetches one when the plan's model is of its class, and the plan is worked out anew.

use headroom_core::model::{Program, Programs};
use headroom_core::plan::{Problem, ProblemKind};
use headroom_view::{Element, el};

use crate::page::Page;
use crate::state::State;

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
        self.read_by(programs);
        self.settle_model();
    }
}

/// The class whose program one of the plan's models still wants, and whether it was tried in vain.
fn wanted<'p>(page: &'p Page) -> Option<(&'p str, bool)> {
    let name = wanted_by(page.job.as_ref().err()?)?;
    Some((name, page.state.programs.came(name) == Some(false)))
}

fn wanted_by(problems: &[Problem]) -> Option<&str> {
    problems.iter().find_map(|problem| match &problem.kind {
        ProblemKind::ProgramNotFetched { model_type } => Some(model_type.as_str()),
        _ => None,
    })
}

/// Whether a program that the plan wants is under way: nothing that is shown now is the answer.
pub(crate) fn is_under_way(state: &State, problems: &[Problem]) -> bool {
    wanted_by(problems).is_some_and(|name| state.programs.came(name).is_none())
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
    el("p").key("program").flag("hidden", true).attr("data-fetch-now", &[FOLDER, model_type, ".json"].concat())
}
