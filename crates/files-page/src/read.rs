//! What was given, read: files of trainers become a plan with findings, failures and monitors their figures with causes.

use headroom_core::job::Job;
use headroom_core::plan::{self, Plan};
use headroom_core::units::bytes_text;
use headroom_files::diagnose::{Diagnosis, diagnose};
use headroom_files::finding::{Finding, Language as Spoken, Severity};
use headroom_files::import::{File, Import, import};
use headroom_files::lint::{fixed, fixed_plan, lint};
use headroom_text::Language;

use crate::html::{button, escaped, table};
use crate::words::Words;
use crate::write::file_html;

/// Largest file that is read, bytes: memory snapshots of long runs stay below it.
pub(crate) const MOST_BYTES: u64 = 64 << 20;

/// A file, or what was typed.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// What came of reading.
pub(crate) struct Outcome {
    files: Vec<File>,
    imported: Option<(Import, Vec<Finding>)>,
    plan: Option<Plan>,
    /// Each text of a failure or a monitor with its name.
    diagnoses: Vec<(String, Diagnosis)>,
    /// Names of files that are neither.
    unreadable: Vec<String>,
    /// Files that a fix has changed, by their place.
    corrected: Vec<usize>,
}

/// Reads everything that was given, beside the page's plan.
pub(crate) fn read(given: Vec<Given>, on_page: &Plan) -> Outcome {
    let mut outcome = Outcome {
        files: Vec::new(),
        imported: None,
        plan: None,
        diagnoses: Vec::new(),
        unreadable: Vec::new(),
        corrected: Vec::new(),
    };
    let mut reports = Vec::new();
    for one in given {
        let states = diagnose(&one.bytes, None);
        match states {
            Ok(found) if !found.readings.is_empty() => reports.push(one),
            Err(_) => outcome.unreadable.push(one.name),
            Ok(_) => match String::from_utf8(one.bytes) {
                Ok(text) => outcome.files.push(File { name: one.name, text }),
                Err(_) => outcome.unreadable.push(one.name),
            },
        }
    }
    outcome.import(on_page);
    // A failure is set against the plan of the files beside it, else against the page's.
    let job = Job::resolve(outcome.plan.as_ref().unwrap_or(on_page)).ok();
    for one in reports {
        if let Ok(found) = diagnose(&one.bytes, job.as_ref()) {
            outcome.diagnoses.push((one.name, found));
        }
    }
    outcome
}

impl Outcome {
    fn import(&mut self, on_page: &Plan) {
        if self.files.is_empty() {
            return;
        }
        let imported = import(&self.files);
        let findings = lint(&imported, None);
        // Files say nothing of the GPU: the reader's choice stays.
        let mut plan = imported.plan.clone();
        plan.gpu = on_page.gpu.clone();
        self.plan = Some(plan);
        self.imported = Some((imported, findings));
    }

    /// The plan of the files.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Name and text of the file in `place`.
    pub(crate) fn file(&self, place: usize) -> Option<(String, String)> {
        self.files.get(place).map(|file| (file.name.clone(), file.text.clone()))
    }

    /// Applies the fix of the finding in `place` to its files, or that of a diagnosis to the plan; the plan afterwards.
    pub(crate) fn fix(&mut self, place: usize, on_page: &Plan) -> Option<Plan> {
        let lints = self.imported.as_ref().map_or(0, |(_, findings)| findings.len());
        if place >= lints {
            let found = self.diagnoses.iter().flat_map(|(_, diagnosis)| &diagnosis.findings).nth(place - lints)?;
            return Some(edited(on_page, &found.edits));
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

    pub(crate) fn html(&self, words: &Words, language: Language) -> String {
        let mut out = String::new();
        for name in &self.unreadable {
            out += &format!("<p role=\"alert\"><code>{}</code> {}</p>", escaped(name), escaped(words.not_text));
        }
        if let Some((imported, findings)) = &self.imported {
            out += &self.import_html(words, language, imported, findings);
        }
        let mut place = self.imported.as_ref().map_or(0, |(_, findings)| findings.len());
        for (name, diagnosis) in &self.diagnoses {
            out += &diagnosis_html(words, language, name, diagnosis, place);
            place += diagnosis.findings.len();
        }
        out
    }

    fn import_html(&self, words: &Words, language: Language, imported: &Import, findings: &[Finding]) -> String {
        let (trainer, version) = &imported.trainer;
        let mut out = format!(
            "<div class=\"files-actions files-plan\"><p><strong>{} {}</strong> · {} {} · {} {}</p>{}</div>",
            escaped(trainer),
            escaped(version.as_deref().unwrap_or("")),
            imported.understood.len(),
            escaped(words.understood_count),
            imported.ignored,
            escaped(words.ignored),
            button("primary", "use", words.use_plan)
        );
        out += &format!("<h3>{}</h3>", escaped(words.findings));
        if findings.is_empty() {
            out += &format!("<p>{}</p>", escaped(words.no_findings));
        } else {
            let items = findings.iter().enumerate().map(|(at, finding)| {
                let said = finding.said(spoken(language));
                let place = finding.file.and_then(|file| self.files.get(file));
                let place = place.map_or_else(String::new, |file| (words.from)(&file.name, finding.span.line));
                finding_html(words, finding.kind.severity(), &place, (&said.what, &said.fix), finding.fix.as_ref().map(|_| at))
            });
            out += &format!("<ul class=\"files-findings\">{}</ul>", items.collect::<String>());
        }
        for at in &self.corrected {
            if let Some(file) = self.files.get(*at) {
                out += &format!("<h3>{}</h3>{}", escaped(words.fixed_file), file_html(words, *at, &file.name, &file.text));
            }
        }
        let name = |file: usize| self.files.get(file).map_or("", |file| file.name.as_str());
        let rows: Vec<Vec<String>> = imported
            .understood
            .iter()
            .map(|told| {
                let place = escaped(&(words.from)(name(told.file), told.span.line));
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
                    let place = escaped(&(words.from)(name(left.file), left.span.line));
                    vec![place, code(&left.key), code(&left.value), escaped(left.topic.said(spoken(language)))]
                })
                .collect();
            let head = [words.line, words.key, words.value, words.why];
            out += &fold(words.not_expressible, rows.len(), true, &table(words.not_expressible, &head, &rows));
        }
        out
    }
}

/// `plan` with fields set as links write them; a value that a field does not take leaves it as it is.
fn edited(plan: &Plan, edits: &[(&'static str, String)]) -> Plan {
    let mut plan = plan.clone();
    for (name, value) in edits {
        if let Some(field) = plan::field(name) {
            // As said above.
            let _ = field.set_text(&mut plan, value);
        }
    }
    plan
}

fn diagnosis_html(words: &Words, language: Language, name: &str, diagnosis: &Diagnosis, first: usize) -> String {
    let mut out = format!("<h3>{}: <code>{}</code></h3>", escaped(words.figures), escaped(name));
    for reading in diagnosis.readings.iter().take(MOST_READINGS) {
        let figure = |(what, figure): (&'static str, u64)| {
            let shown = if what.ends_with("_bytes") { bytes_text(figure) } else { figure.to_string() };
            vec![code(what), escaped(&shown)]
        };
        let rows: Vec<Vec<String>> = reading.figures().into_iter().map(figure).collect();
        let evidence = escaped(&(words.from)(reading.format.name(), reading.line));
        out += &format!("<p class=\"files-evidence\">{evidence}</p>{}", table(words.figures, &[words.figure, words.value], &rows));
    }
    let items = diagnosis.findings.iter().enumerate().map(|(at, finding)| {
        let said = finding.said(spoken(language));
        let fix = (!finding.edits.is_empty()).then_some(first + at);
        finding_html(words, finding.severity, &finding.evidence, (&said.what, &said.fix), fix)
    });
    out + &format!("<ul class=\"files-findings\">{}</ul>", items.collect::<String>())
}

/// Readings of one text that are shown; a log of many ranks repeats itself.
const MOST_READINGS: usize = 8;

fn finding_html(words: &Words, severity: Severity, place: &str, (what, fix): (&str, &str), fixes: Option<usize>) -> String {
    let (class, word) = match severity {
        Severity::Error => ("error", words.error),
        Severity::Warning => ("warning", words.warning),
        Severity::Note => ("note", words.note),
    };
    let act = fixes.map_or_else(String::new, |at| button("", &format!("fix:{at}"), words.fix));
    format!(
        "<li class=\"files-finding {class}\"><div><strong>{}</strong> {} <span>{}</span><p class=\"files-evidence\">{}</p></div>{act}</li>",
        escaped(word),
        escaped(what),
        escaped(fix),
        escaped(place)
    )
}

/// The language that findings are said in.
const fn spoken(language: Language) -> Spoken {
    match language {
        Language::English => Spoken::English,
        Language::Chinese => Spoken::Chinese,
    }
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// A part that is folded away until it is asked for.
fn fold(title: &str, count: usize, open: bool, body: &str) -> String {
    let open = if open { " open" } else { "" };
    format!("<details class=\"files-part\"{open}><summary>{} ({count})</summary>{body}</details>", escaped(title))
}
