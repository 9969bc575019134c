//! A config.json of the reader's own: pasted, chosen as a file, or dropped.
//!
//! The page keeps what is typed in the box until it is wanted, and measures what is too large to be sent here.

use headroom_core::job::Job;
use headroom_core::model::AssumedKey;
use headroom_core::plan::{self, ModelChoice, Plan, Problem, ProblemKind, parse_json};
use headroom_core::units::bytes_text;
use headroom_text::Texts;
use headroom_view::{Element, el};

use super::{hub, record};
use crate::figures;
use crate::page::Page;
use crate::pieces::button;
use crate::programs;
use crate::state::State;

/// Largest text that is read, bytes: configs of classifiers with thousands of labels stay below it.
const LARGEST: usize = plan::MAX_JSON_BYTES;

/// What the box is called among what can be opened.
const NAME: &str = "own-config";

/// Why a config was not taken.
enum Refusal {
    Empty,
    Unreadable,
    /// It is a recorded program, and no model waits for one.
    Program,
    /// So many bytes, or letters.
    TooLarge(u64),
    /// The program of this class is under way: whether the config can be read is known when it has come.
    Waits(String),
    Problems(Vec<Problem>),
}

/// What the reader has put into the box.
#[derive(Default)]
pub(super) struct OwnConfig {
    /// What the box was last filled with, by a link or a file.
    brought: String,
    /// How often it was filled so.
    times_brought: u32,
    /// What is in the box, as far as the page has told.
    text: String,
    /// Size of a text in the box that is not read: bytes, or letters.
    oversize: Option<u64>,
    /// The name to show.
    name: String,
    refusal: Option<Refusal>,
    /// Whether the box was ever unfolded: until then nothing of it is drawn, and from then on what is typed in it stays.
    was_open: bool,
    /// The model that the plan had when this was written.
    model: Option<ModelChoice>,
}

impl OwnConfig {
    fn fill(&mut self, text: &str) {
        text.clone_into(&mut self.brought);
        text.clone_into(&mut self.text);
        self.times_brought = self.times_brought.wrapping_add(1);
        self.oversize = None;
    }
}

/// A plan that brings a config fills the box, so that the reader can see and change it.
pub(super) fn settle(state: &mut State) {
    state.form.config.was_open |= state.is_open(NAME);
    if state.form.config.model.as_ref() != Some(&state.plan().model) {
        hub::forget(&mut state.form.hub);
        show_model(state);
    }
}

/// Shows the plan's model in the box, where it is one's own.
fn show_model(state: &mut State) {
    let model = state.plan().model.clone();
    let own = &mut state.form.config;
    if let ModelChoice::Config { name, config } = &model {
        own.fill(&serde_json::to_string_pretty(config).unwrap_or_default());
        own.name.clone_from(name);
        own.refusal = None;
    }
    own.model = Some(model);
}

/// What the page tells of the box, its name and its files, of Hugging Face, and of recorded programs.
pub(super) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    if let Some(came) = hub::act(state, verb, about, value) {
        if let Some((id, text)) = came {
            bring(state, &id, &text);
        }
        return true;
    }
    if let Some(was_taken) = record::act(state, verb, value) {
        // A config that nothing could read may be by now.
        if was_taken && matches!(state.form.config.refusal, Some(Refusal::Problems(_))) {
            take(state);
        }
        return true;
    }
    let own = &mut state.form.config;
    match verb {
        "config-text" => {
            own.oversize = None;
            own.refusal = None;
            value.clone_into(&mut own.text);
        }
        // What was wrong with the text that is being corrected.
        "config-typed" => own.refusal = None,
        "config-too-large" => {
            let size = value.parse().unwrap_or_default();
            own.oversize = Some(size);
            own.refusal = Some(Refusal::TooLarge(size));
        }
        "config-unreadable" => own.refusal = Some(Refusal::Unreadable),
        "config-name" => value.clone_into(&mut own.name),
        "config-file" => {
            let (file, text) = value.split_once('\n').unwrap_or_default();
            if record::is_program(text) {
                // Dropped on the config's box: the config stays.
                take_program(state, text);
                return true;
            }
            // `config.json` names no model; any other file name does.
            let stem = file.trim_end_matches(".json");
            bring(state, if stem == "config" { "" } else { stem }, text);
        }
        "config-use" if record::is_program(&own.text) => {
            let text = own.text.clone();
            if take_program(state, &text) {
                // What was pasted over comes back.
                show_model(state);
            }
        }
        "config-use" => take(state),
        _ => return false,
    }
    true
}

/// Takes a recorded program that stands in the place of a config. Whether it was taken.
fn take_program(state: &mut State, text: &str) -> bool {
    let is_taken = record::take(state, text);
    if !is_taken && !record::is_wanted(state) {
        state.form.config.refusal = Some(Refusal::Program);
    } else if is_taken && matches!(state.form.config.refusal, Some(Refusal::Problems(_) | Refusal::Program)) {
        state.form.config.refusal = None;
        if !record::is_program(&state.form.config.text) {
            take(state);
        }
    }
    is_taken
}

/// Fills the box with a config that came as a whole, and takes it; `name` is empty where that says none.
fn bring(state: &mut State, name: &str, text: &str) {
    let own = &mut state.form.config;
    if text.len() > LARGEST {
        own.refusal = Some(Refusal::TooLarge(text.len() as u64));
        return;
    }
    own.fill(text);
    if !name.is_empty() {
        name.clone_into(&mut own.name);
    }
    take(state);
}

/// Takes a config whose program has come by now, or says that it cannot be had.
pub(super) fn take_waiting(state: &mut State) {
    if matches!(state.form.config.refusal, Some(Refusal::Waits(_))) {
        take(state);
        // What Hugging Face stated of it meanwhile still holds.
        if state.form.config.refusal.is_none() {
            show_model(state);
        }
    }
}

/// Takes what is in the box as the model, or says why not.
fn take(state: &mut State) {
    let wanted = wanted(state);
    let class = match &wanted {
        Err(Refusal::Problems(problems)) => problems.iter().find_map(|problem| match &problem.kind {
            ProblemKind::NotRecorded { .. } => parse_json(&state.form.config.text).ok(),
            _ => None,
        }),
        _ => None,
    };
    let class = class.and_then(|config| state.plan().programs.unknown(&config).map(str::to_owned));
    record::want(&mut state.form.record, class.as_deref());
    match wanted {
        Ok(model) => {
            state.form.config.refusal = None;
            state.choose(&["model"], |plan| plan.model = model);
        }
        Err(refusal) => state.form.config.refusal = Some(refusal),
    }
}

/// The model that the box describes.
fn wanted(state: &State) -> Result<ModelChoice, Refusal> {
    let own = &state.form.config;
    let size = own.oversize.or(Some(own.text.len() as u64).filter(|size| *size > LARGEST as u64));
    if let Some(size) = size {
        return Err(Refusal::TooLarge(size));
    }
    if own.text.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    let name = if own.name.trim().is_empty() { state.language.texts().own_model } else { &own.name };
    with_config(state.plan(), &own.text, name).map_err(|problems| match programs::awaited(state, &problems) {
        Some(class) => Refusal::Waits(class.to_owned()),
        None => Refusal::Problems(problems),
    })
}

/// The model that `text` describes, checked as part of `plan`.
fn with_config(plan: &Plan, text: &str, name: &str) -> Result<ModelChoice, Vec<Problem>> {
    let mut trial = plan.clone();
    for (field, text) in [("model.config", text), ("model.name", name)] {
        if let Some(field) = plan::field(field) {
            field.set_text(&mut trial, text).map_err(|problem| vec![problem])?;
        }
    }
    // Of a class that nothing knows the plan has the model before the program that a guess goes by is fetched: what records it stands beside.
    if let ModelChoice::Config { config, .. } = &trial.model
        && trial.programs.unknown(config).is_some()
        && trial.programs.missing(config).is_some()
    {
        return Ok(trial.model);
    }
    // What is wrong elsewhere in the plan is no fault of the config.
    let of_model = |problem: &Problem| problem.field == "model" || problem.field.starts_with("model.");
    match Job::resolve(&trial) {
        Err(problems) if problems.iter().any(of_model) => Err(problems.into_iter().filter(of_model).collect()),
        _ => Ok(trial.model),
    }
}

fn complaint(texts: &Texts, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Waits(_) => String::new(),
        Refusal::Empty => texts.config_empty.to_owned(),
        Refusal::Unreadable => texts.config_unreadable.to_owned(),
        Refusal::Program => texts.sources().record_unwanted.to_owned(),
        Refusal::TooLarge(size) => (texts.config_too_large)(&bytes_text(*size)),
        Refusal::Problems(problems) => {
            let said = |problem: &Problem| match programs::wanted_by(std::slice::from_ref(problem)) {
                Some(class) => (texts.program_not_fetched)(class),
                None => (texts.problem)(problem),
            };
            problems.iter().map(said).collect::<Vec<_>>().join(" ")
        }
    }
}

/// The box for the config.
pub(super) fn draw(page: &Page) -> Element {
    let own = &page.state.form.config;
    let has_own = matches!(page.plan().model, ModelChoice::Config { .. });
    let is_drawn = has_own || own.was_open || own.refusal.is_some();
    el("details")
        .key("own-config")
        .class("own-config")
        .attr("data-drop", "config")
        .attr("data-largest", &LARGEST.to_string())
        .attr("data-toggle", &["open ", NAME].concat())
        .flag("open", has_own || own.refusal.is_some() || page.state.is_open(NAME))
        .with(el("summary").text(page.texts.own_config))
        .with_all(if is_drawn { inside(page) } else { Vec::new() })
}

// Most readers never unfold it: its code need not be there for the first view.
#[inline(never)]
fn inside(page: &Page) -> Vec<Element> {
    let (own, texts) = (&page.state.form.config, page.texts);
    let error = own.refusal.as_ref().map(|refusal| complaint(texts, refusal)).filter(|said| !said.is_empty());
    let awaiting = match &own.refusal {
        Some(Refusal::Waits(class)) => Some(programs::awaiting(page, class)),
        _ => None,
    };
    let help = el("p").class("field-help").attr("id", "own-config-help");
    let help = help
        .with(el("span").class("unless-dragged").text(texts.own_config_help))
        .with(el("span").class("when-dragged").text(texts.config_drop));
    let name = el("input")
        .attr("id", "own-config-name")
        .attr("type", "text")
        .attr("autocomplete", "off")
        .attr("placeholder", texts.own_model)
        .attr("value", &own.name)
        .attr("data-type", "config-name");
    let name =
        el("div").class("field").with(el("label").attr("for", "own-config-name").text(texts.config_name)).with(name);
    let file = el("input").attr("type", "file").attr("accept", ".json,application/json").attr("data-file", "config");
    let file = el("label").class("file-choice").with(file).with(el("span").text(texts.config_file));
    let take = button("config-use", texts.config_use).class("primary").flag("data-with-texts", true);
    let read = el("div").key("read").class("config-read").attr("role", "status");
    let mut inside = vec![
        help,
        text_box(page, error.as_deref()),
        name,
        el("div").class("actions").with(take).with(file),
        hub::draw(page),
        read.with_all(read_as(page).unwrap_or_default()).with_some(awaiting),
    ];
    inside.extend(record::draw(page));
    inside
}

fn text_box(page: &Page, error: Option<&str>) -> Element {
    let own = &page.state.form.config;
    let area = el("textarea")
        .attr("id", "own-config-text")
        .attr("rows", "6")
        .attr("spellcheck", "false")
        .attr("autocomplete", "off")
        .attr("placeholder", "{ \"model_type\": \"llama\", … }")
        .attr("data-text", "config")
        .attr("data-largest", &LARGEST.to_string())
        .attr("value", &own.brought)
        .attr("data-brought", &own.times_brought.to_string())
        .attr("aria-describedby", "own-config-error own-config-help")
        .aria("aria-invalid", error.is_some());
    let said = el("p").class("field-error").attr("id", "own-config-error").attr("role", "alert");
    el("div")
        .class(if error.is_some() { "field invalid" } else { "field" })
        .with(el("label").attr("for", "own-config-text").text(page.texts.config_text))
        .with(area)
        .with(match error {
            Some(error) => said.text(error),
            None => said,
        })
}

/// What was made of the reader's own config: its class and size, and every key that it leaves to the class.
fn read_as(page: &Page) -> Option<Vec<Element>> {
    let is_own = matches!(page.plan().model, ModelChoice::Config { .. });
    let model = page.job.as_ref().ok().filter(|_| is_own)?.model();
    let texts = page.texts;
    let read = (texts.config_read)(&model.model_type, model.num_hidden_layers(), &figures::params(model.param_count()));
    let line = |key: &AssumedKey| el("li").with(el("code").text(&[&key.key, " = ", &key.value.to_string()].concat()));
    let (sizes, rest): (Vec<_>, Vec<_>) = model.assumed.iter().partition(|key| key.decides_size());
    let heading = if sizes.is_empty() { texts.config_complete } else { texts.config_assumed };
    let mut said = vec![
        el("p").with(el("strong").text(&read)).text(" ").text(heading),
        el("ul").class("assumed").with_all(sizes.into_iter().map(line).collect()),
    ];
    if !rest.is_empty() {
        let summary = el("summary").text(&(texts.config_assumed_rest)(rest.len()));
        said.push(el("details").with(summary).with(el("ul").with_all(rest.into_iter().map(line).collect())));
    }
    Some(said)
}
