//! What was given, read: files of trainers become a plan with findings, failures and monitors their figures with causes.

use headroom_core::gpu::{self, Gpu};
use headroom_core::job::Job;
use headroom_core::plan::{self, Plan, Problem, Trainer, TrainerName};
use headroom_core::units::bytes_text;
use headroom_files::diagnose::{Asked, Diagnosis, Reading, diagnose, diagnose_beside};
use headroom_files::finding::{Finding, Kind};
use headroom_files::import::{File, Import, import};
use headroom_files::lint::{fixed, fixed_plan, lint};
use headroom_view::escape;

use super::figures::{Against, diagnosis_html};
use super::findings::{self, Row};
use super::html::{button, table};
use super::words::Words;
use super::write::file_html;
use crate::page::Page;
use crate::programs;
use crate::state::{State, text_of};

/// Largest file that is read, bytes: memory snapshots of long runs stay below it.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// A file, or what was typed.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// What came of reading.
pub(super) struct Outcome {
    files: Vec<File>,
    imported: Option<(Import, Vec<Finding>)>,
    plan: Option<Plan>,
    /// Texts of failures and monitors, as they were given.
    reports: Vec<Given>,
    /// What each of them states.
    stated: Vec<Vec<Reading>>,
    /// Each of them with its name.
    diagnoses: Vec<(String, Diagnosis)>,
    /// Names of files that are neither.
    unreadable: Vec<String>,
    /// Files that a fix has changed, by their place.
    corrected: Vec<usize>,
    /// Whether the files change the plan on the page instead of making one of their own.
    is_addition: bool,
    /// What keeps the plan from being estimated.
    problems: Vec<Problem>,
}

/// What stands on the page while texts are read.
pub(super) struct Beside<'a> {
    /// The plan.
    pub(super) plan: &'a Plan,
    /// Whether the reader has entered it: nothing is compared with a plan that no one has.
    pub(super) is_entered: bool,
    /// The plan that stood there when the texts first asked for the run's own.
    pub(super) asked_beside: Option<&'a Plan>,
    /// The GPU that the reader chose for the texts.
    pub(super) gpu: Option<&'a str>,
}

/// Whether the field that links call `key` was chosen since `first` stood on the page.
fn is_chosen(key: &str, first: &Plan, plan: &Plan) -> bool {
    let field = plan::fields().iter().find(|field| field.link == key);
    field.is_some_and(|field| field.text(first) != field.text(plan))
}

/// Reads everything that was given, beside what the page has.
pub(super) fn read(given: Vec<Given>, beside: &Beside<'_>) -> Outcome {
    let mut outcome = Outcome {
        files: Vec::new(),
        imported: None,
        plan: None,
        reports: Vec::new(),
        stated: Vec::new(),
        diagnoses: Vec::new(),
        unreadable: Vec::new(),
        corrected: Vec::new(),
        is_addition: false,
        problems: Vec::new(),
    };
    let mut gpus = Vec::new();
    for one in given {
        let states = diagnose(&one.bytes, None);
        match states {
            Ok(found) if !found.readings.is_empty() => {
                // A terminal's output has the command above its failure.
                let commands =
                    String::from_utf8(one.bytes.clone()).ok().map(|text| File { name: one.name.clone(), text });
                outcome.files.extend(commands.filter(|file| !import(std::slice::from_ref(file)).understood.is_empty()));
                if gpus.is_empty() {
                    gpus = found.gpus();
                }
                outcome.reports.push(one);
                outcome.stated.push(found.readings);
            }
            Err(_) => outcome.unreadable.push(one.name),
            Ok(_) => match String::from_utf8(one.bytes) {
                Ok(text) => outcome.files.push(File { name: one.name, text }),
                Err(_) => outcome.unreadable.push(one.name),
            },
        }
    }
    outcome.import(beside.plan);
    outcome.take_gpu(&gpus, beside);
    outcome.diagnose(beside);
    outcome
}

/// Whether files say what is run: a trainer's own file, a script or a model. accelerate's, DeepSpeed's, peft's and FSDP's files
/// only say how.
fn names_a_run(imported: &Import) -> bool {
    use headroom_files::import::Kind as Is;
    let only_how = |kind: &Is| {
        matches!(
            kind,
            Is::Accelerate | Is::Deepspeed | Is::Fsdp | Is::Adapter | Is::Quantization | Is::Requirements | Is::Unknown
        )
    };
    !imported.kinds.iter().all(only_how) || names_a_model(imported)
}

fn names_a_model(imported: &Import) -> bool {
    imported.understood.iter().any(|told| told.field == "model")
}

/// The plan of the files as the page takes it over: on the page's GPU, which no file names, and with its model where they name
/// none; files that only say how a run is launched change the page's plan.
fn beside(imported: &Import, on_page: &Plan) -> Plan {
    let mut plan = if names_a_run(imported) { imported.plan.clone() } else { on_page.clone() };
    let keep = |plan: &mut Plan, from: &Plan, name: &str| {
        if let Some(field) = plan::field(name) {
            // What one plan holds another takes.
            let _ = field.set_text(plan, &field.text(from));
        }
    };
    if !names_a_run(imported) {
        imported.understood.iter().for_each(|told| keep(&mut plan, &imported.plan, told.field));
    } else if !names_a_model(imported) {
        keep(&mut plan, on_page, "model");
    }
    keep(&mut plan, on_page, "gpu");
    plan
}

impl Outcome {
    fn import(&mut self, on_page: &Plan) {
        if self.files.is_empty() {
            return;
        }
        let mut imported = import(&self.files);
        imported.plan.programs = on_page.programs.clone();
        self.is_addition = !names_a_run(&imported);
        // The page has a model, and what only says how its plan is launched leaves it the GPUs that it has.
        imported.missing.retain(|name| *name != "model" && !self.is_addition);
        imported.findings.retain(|finding| finding.kind != Kind::GpusMissing || !imported.missing.is_empty());
        let gpu = plan::field("gpu").map(|field| field.text(on_page));
        let findings = lint(&imported, gpu.as_deref());
        let plan = beside(&imported, on_page);
        self.plan = Some(plan);
        self.imported = Some((imported, findings));
    }

    /// The plan of files beside a failure is of the GPU that the failure was on: the one that the reader chose, else the page's
    /// where it can be that one, else the likeliest.
    fn take_gpu(&mut self, gpus: &[&'static Gpu], beside: &Beside<'_>) {
        let (Some(plan), Some(field)) = (&mut self.plan, plan::field("gpu")) else { return };
        let own = field.text(plan);
        let is_own = beside.is_entered && (own.is_empty() || gpus.iter().any(|gpu| gpu.id == own));
        let likeliest = gpus.first().filter(|_| !is_own).map(|gpu| gpu.id.as_ref());
        if let Some(id) = beside.gpu.or(likeliest) {
            // An id of the catalogue.
            let _ = field.set_text(plan, id);
        }
    }

    /// Whether the plan that texts are set against is one that someone has entered, on the page or in files.
    fn is_entered(&self, beside: &Beside<'_>) -> bool {
        let by_files = self.imported.as_ref().is_some_and(|(imported, _)| names_a_model(imported));
        beside.is_entered || by_files
    }

    /// Sets the texts against the plan of the files beside them, else against the page's, where someone has entered it.
    pub(super) fn diagnose(&mut self, beside: &Beside<'_>) {
        let plan = self.plan.as_ref().unwrap_or(beside.plan);
        let resolved = if self.is_entered(beside) || self.plan.is_some() { Some(Job::resolve(plan)) } else { None };
        self.problems = resolved.as_ref().and_then(|job| job.as_ref().err().cloned()).unwrap_or_default();
        let job = resolved.and_then(Result::ok).filter(|_| self.is_entered(beside));
        let said: Vec<&str> =
            self.imported.iter().flat_map(|(imported, _)| &imported.understood).map(|told| told.field).collect();
        self.diagnoses.clear();
        // A traceback and a monitor that was looked at after it are of one failure.
        for (at, one) in self.reports.iter().enumerate() {
            let others = self.stated.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<Reading> = others.flat_map(|(_, readings)| readings.clone()).collect();
            let Ok(mut found) = diagnose_beside(&one.bytes, &others, job.as_ref()) else { continue };
            if self.is_entered(beside) {
                // A plan that cannot be estimated is a plan all the same.
                found.asked = None;
            }
            if let Some(asked) = &mut found.asked {
                asked.missing.retain(|key| !said.contains(key));
                if let Some(first) = beside.asked_beside {
                    asked.missing.retain(|key| !is_chosen(key, first, beside.plan));
                }
            }
            self.diagnoses.push((one.name.clone(), found));
        }
    }

    /// Whether texts were read that say more once another plan stands beside them.
    pub(super) fn has_reports(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Whether a text asks for a field that has not been chosen since `first` stood on the page, or says one that is another there.
    pub(super) fn asks_beside(&self, first: &Plan, plan: &Plan) -> bool {
        let asked = self.diagnoses.iter().filter_map(|(_, found)| found.asked.as_ref());
        let is_open = asked.flat_map(|asked| &asked.missing).any(|key| !is_chosen(key, first, plan));
        // What the text says itself is not asked for, and the form may say otherwise.
        is_open || edited(plan, &self.asked_edits()) != *plan
    }

    /// Fields of a plan that a text says, where it is asked for the others; with a trainer its newest release, as no stack says one
    /// and that of the trainer before is none of it.
    pub(super) fn filled(&self) -> Vec<(&'static str, String)> {
        let mut edits = self.asked_edits();
        let trainer = edits.iter().find(|(name, _)| *name == "trainer.name");
        let newest = trainer.and_then(|(_, name)| TrainerName::from_name(name)).map(Trainer::newest);
        edits.extend(newest.map(|trainer| ("trainer.version", trainer.version.unwrap_or_default())));
        edits
    }

    fn asked_edits(&self) -> Vec<(&'static str, String)> {
        self.diagnoses.iter().find_map(|(_, found)| found.asked.as_ref()).map_or_else(Vec::new, Asked::edits)
    }

    /// Puts another GPU into the plan of the files; whether there is one.
    pub(super) fn choose_gpu(&mut self, beside: &Beside<'_>) -> bool {
        self.take_gpu(&[], beside);
        self.diagnose(beside);
        self.plan.is_some()
    }

    /// Whether the program of a model's class was not there yet.
    pub(super) fn lacks_program(&self) -> bool {
        programs::wanted_by(&self.problems).is_some()
    }

    /// The class whose program is awaited before all can be said of the plan.
    pub(super) fn awaits(&self, state: &State) -> Option<&str> {
        programs::awaited(state, &self.problems)
    }

    /// The plan of the files.
    pub(super) fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// What the plan of the files still lacks, as keys of a plan.
    fn missing(&self) -> &[&'static str] {
        self.imported.as_ref().map_or(&[], |(imported, _)| &imported.missing)
    }

    /// Takes the reader's answer for a field that no file says; an answer that the field does not take leaves the question.
    pub(super) fn answer(&mut self, name: &str, value: &str) {
        let Some(asked) = self.missing().iter().copied().find(|asked| *asked == name) else { return };
        let (Some(plan), Some(field)) = (&mut self.plan, plan::field(asked)) else { return };
        if field.set_text(plan, value.trim()).is_ok()
            && let Some((imported, findings)) = &mut self.imported
        {
            imported.missing.retain(|missing| *missing != asked);
            findings.retain(|finding| finding.kind != Kind::GpusMissing || asked != "num_gpus");
        }
    }

    /// The way on: a question for each field that no file says, or the button that takes the plan.
    fn way_on_html(&self, words: &Words) -> String {
        if self.imported.as_ref().is_some_and(|(imported, _)| !imported.has_plan()) {
            return String::new();
        }
        if self.missing().is_empty() {
            return button("primary", "files use", words.use_plan);
        }
        let question = |name: &&str| {
            let question = if *name == "num_gpus" { words.how_many_gpus } else { words.not_said };
            format!("<label>{} <code>{name}</code> {}</label>", escape(question), answer_html(name))
        };
        self.missing().iter().map(question).collect()
    }

    /// Applies the fix of the finding in `place` to its files, or that of a diagnosis to the plan; the plan afterwards.
    pub(super) fn fix(&mut self, place: usize, on_page: &Plan) -> Option<Plan> {
        let lints = self.imported.as_ref().map_or(0, |(_, findings)| findings.len());
        if place >= lints {
            let found = self.diagnoses.iter().flat_map(|(_, diagnosis)| &diagnosis.findings).nth(place - lints)?;
            let after = edited(self.plan.as_ref().unwrap_or(on_page), &found.edits);
            if self.plan.is_some() {
                self.plan = Some(after.clone());
            }
            return Some(after);
        }
        let (_, findings) = self.imported.as_ref()?;
        let fix = findings.get(place)?.fix.clone()?;
        let after = self.plan.as_ref().map(|plan| fixed_plan(plan, &fix));
        for at in 0..self.files.len() {
            let text = fixed(&self.files[at].text, at, &[&fix]);
            if text != self.files[at].text {
                self.files[at].text = text;
                if !self.corrected.contains(&at) {
                    self.corrected.push(at);
                }
            }
        }
        self.import(on_page);
        if fix.edits.is_empty() {
            self.plan = after;
        }
        self.plan.clone()
    }

    pub(super) fn html(&self, page: &Page, words: &Words) -> String {
        let mut out = String::new();
        if let Some(name) = self.awaits(page.state) {
            out += &programs::awaiting_html(page, name);
        }
        for name in &self.unreadable {
            out += &format!("<p role=\"alert\"><code>{}</code> {}</p>", escape(name), escape(words.not_text));
        }
        if let Some((imported, findings)) = &self.imported {
            out += &self.import_html(page, words, imported, findings);
        }
        let mut place = self.imported.as_ref().map_or(0, |(_, findings)| findings.len());
        let gpu = text_of(self.plan.as_ref().unwrap_or(page.plan()), "gpu");
        let against = Against { gpu, is_of_files: self.plan.is_some() };
        for (name, diagnosis) in &self.diagnoses {
            out += &diagnosis_html(page, words, name, diagnosis, place, &against);
            place += diagnosis.findings.len();
        }
        out
    }

    fn import_html(&self, page: &Page, words: &Words, imported: &Import, findings: &[Finding]) -> String {
        let language = page.state.language;
        let (trainer, version) = &imported.trainer;
        let mut out = format!(
            "<div class=\"files-actions files-plan\"><p><strong>{} {}</strong> · {} {} · {} {}</p>{}</div>",
            escape(trainer),
            escape(version.as_deref().unwrap_or("")),
            imported.understood.len(),
            escape(words.understood_count),
            imported.ignored,
            escape(words.ignored),
            self.way_on_html(words)
        );
        if self.is_addition {
            out += &format!("<p>{}</p>", escape(words.changes_plan));
        }
        out += &format!("<h3>{}</h3>", escape(words.findings));
        if findings.is_empty() {
            out += &format!("<p>{}</p>", escape(words.no_findings));
        } else {
            let items = findings.iter().enumerate().map(|(at, finding)| {
                let said = finding.said(language);
                let place = finding.file.and_then(|file| self.files.get(file));
                let place = place.map_or_else(String::new, |file| (words.from)(&file.name, finding.span.line));
                let fix = finding.fix.as_ref().map(|_| (at, words.fix));
                let severity = finding.kind.severity();
                findings::item(words, &Row { severity, what: &said.what, how: &said.fix, place: &place, fix })
            });
            out += &format!("<ul class=\"files-findings\">{}</ul>", items.collect::<String>());
        }
        for at in &self.corrected {
            if let Some(file) = self.files.get(*at) {
                out +=
                    &format!("<h3>{}</h3>{}", escape(words.fixed_file), file_html(page, words, &file.name, &file.text));
            }
        }
        let name = |file: usize| self.files.get(file).map_or("", |file| file.name.as_str());
        let rows: Vec<Vec<String>> = imported
            .understood
            .iter()
            .map(|told| {
                let place = escape(&(words.from)(name(told.file), told.span.line));
                let value = told.value.as_str().map_or_else(|| told.value.to_string(), str::to_owned);
                vec![place, code(&told.key), code(told.field), code(&value)]
            })
            .collect();
        let head = [words.line, words.key, words.field, words.value];
        out += &fold(words.understood, rows.len(), false, &table(words.understood, &head, &rows));
        if !imported.not_expressible.is_empty() {
            let rows: Vec<Vec<String>> = imported
                .not_expressible
                .iter()
                .map(|left| {
                    let place = escape(&(words.from)(name(left.file), left.span.line));
                    let size = left.bytes.map_or_else(String::new, |bytes| format!(" ({})", bytes_text(bytes)));
                    let why = format!("{}{size}", left.topic.said(language));
                    vec![place, code(&left.key), code(&left.value), escape(&why)]
                })
                .collect();
            let head = [words.line, words.key, words.value, words.why];
            out += &fold(words.not_expressible, rows.len(), true, &table(words.not_expressible, &head, &rows));
        }
        if !imported.unknown.is_empty() {
            let rows: Vec<Vec<String>> = imported
                .unknown
                .iter()
                .map(|unknown| {
                    let place = escape(&(words.from)(name(unknown.file), unknown.span.line));
                    vec![place, code(&unknown.key), code(&unknown.value)]
                })
                .collect();
            let head = [words.line, words.key, words.value];
            out += &fold(words.unknown, rows.len(), true, &table(words.unknown, &head, &rows));
        }
        out
    }
}

/// `plan` with fields set as links write them; a value that a field does not take leaves it as it is.
pub(super) fn edited(plan: &Plan, edits: &[(&'static str, String)]) -> Plan {
    let mut plan = plan.clone();
    for (name, value) in edits {
        if let Some(field) = plan::field(name) {
            // As said above.
            let _ = field.set_text(&mut plan, value);
        }
    }
    plan
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// A part that is folded away until it is asked for.
fn fold(title: &str, count: usize, open: bool, body: &str) -> String {
    let open = if open { " open" } else { "" };
    format!("<details class=\"files-part\"{open}><summary>{} ({count})</summary>{body}</details>", escape(title))
}

/// Where a reader answers for the field `name`: a list of GPUs, or a number within the field's range.
fn answer_html(name: &str) -> String {
    let action = format!("data-set=\"files answer:{name}\"");
    match plan::field(name).map(|field| field.kind) {
        Some(plan::Kind::GpuId) => {
            let gpu = |gpu: &Gpu| format!("<option value=\"{}\">{}</option>", escape(&gpu.id), escape(&gpu.name));
            let gpus: String = gpu::catalogue().iter().map(gpu).collect();
            format!("<select {action}><option value=\"\"></option>{gpus}</select>")
        }
        Some(plan::Kind::Integer { min, max }) => {
            format!("<input type=\"number\" min=\"{min}\" max=\"{max}\" inputmode=\"numeric\" {action}>")
        }
        _ => format!("<input type=\"number\" min=\"1\" inputmode=\"numeric\" {action}>"),
    }
}
