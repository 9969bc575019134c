//! What a text states, and a snapshot's step beside the plan's, as the panel shows them.

use headroom_charts::{Curve, CurvesLook, Palette, curves_csv, curves_svg};
use headroom_core::units::bytes_text;
use headroom_files::diagnose::{Asked, Diagnosis, Finding, Kind, Reading};
use headroom_files::snapshot::{Comparison, OfSize};
use headroom_text::Language;
use headroom_view::{Node, escape};

use super::findings::{self, Row};
use super::html::{button, choice, table};
use super::words::Words;
use crate::page::Page;
use crate::result::chart;

/// Name of the picture's place.
const PLACE: &str = "snapshot";
/// Width of the picture until its place has been measured, pixels.
const USUAL_WIDTH: u32 = 900;
/// Readings of one text that are shown; a log of many ranks repeats itself.
const MOST_READINGS: usize = 8;
/// Sizes shown of each side of a snapshot.
const MOST_SIZES: usize = 8;

/// The plan that a text is set against, as far as its GPU goes.
pub(super) struct Against {
    /// The GPU's id.
    pub(super) gpu: String,
    /// The plan is of files, which name no GPU.
    pub(super) is_of_files: bool,
}

/// A text's figures and what is behind it; the first of its findings has the number `first`.
pub(super) fn diagnosis_html<'a>(
    page: &Page,
    words: &Words,
    name: &str,
    diagnosis: &'a Diagnosis,
    first: usize,
    against: &Against,
) -> String {
    let language = page.state.language;
    let mut shown = "";
    let row = |(at, finding): (usize, &'a Finding)| {
        let said = finding.said(language);
        // Several findings rest on one line, which is shown once.
        let place = if finding.evidence == shown { "" } else { &finding.evidence };
        shown = &finding.evidence;
        // A plan that no one has entered is not changed.
        let is_changed = !finding.edits.is_empty() && diagnosis.asked.is_none();
        let fix = is_changed.then(|| (first + at, fix_label(words, finding)));
        findings::item(words, &Row { severity: finding.severity, what: &said.what, how: &said.fix, place, fix })
    };
    let items: String = diagnosis.findings.iter().enumerate().map(row).collect();
    let mut out = format!("<h3>{}: <code>{}</code></h3>", escape(words.findings), escape(name));
    out += &if items.is_empty() {
        format!("<p>{}</p>", escape(words.no_cause))
    } else {
        format!("<ul class=\"files-findings\">{items}</ul>")
    };
    out += &match &diagnosis.asked {
        Some(asked) => asked_html(words, language, diagnosis, asked, against),
        None => gpus_html(language, diagnosis, against),
    };
    for finding in &diagnosis.findings {
        if let Kind::Snapshot(comparison) = &finding.kind {
            out += &snapshot_html(words, language, comparison, page.state.width(PLACE).unwrap_or(USUAL_WIDTH));
        }
    }
    out += &format!("<h3>{}</h3><div class=\"files-readings\">", escape(words.figures));
    for reading in diagnosis.readings.iter().take(MOST_READINGS) {
        out += &reading_html(words, reading);
    }
    out + "</div>"
}

/// What the text leaves open of the run, with what it says to be taken over.
fn asked_html(words: &Words, language: Language, diagnosis: &Diagnosis, asked: &Asked, against: &Against) -> String {
    let said = asked.said(language);
    let mut out =
        format!("<p>{}</p><p>{}</p><p>{}</p>", escape(&said.what), escape(&said.fix), escape(words.how_to_say));
    out += &gpus_html(language, diagnosis, against);
    if let (Some(said), [_]) = (diagnosis.gpu_said(language), &asked.gpus[..]) {
        out += &format!("<p>{}</p>", escape(&said));
    }
    if let Some(trainer) = asked.trainer_said(language) {
        out += &format!("<p>{}</p>", escape(&trainer));
    }
    let fill = if asked.edits().is_empty() { String::new() } else { button("", "files fill", words.fill) };
    let compare = button("", "files confirm", words.compare_all_the_same);
    format!("<div class=\"files-asked\">{out}<div class=\"files-actions\">{fill}{compare}</div></div>")
}

/// The GPUs that a text can be of, to choose from, where they are several and the reader has chosen none of them.
fn gpus_html(language: Language, diagnosis: &Diagnosis, against: &Against) -> String {
    let gpus = diagnosis.gpus();
    let is_chosen = diagnosis.asked.is_none() && !against.is_of_files;
    if is_chosen && gpus.iter().any(|gpu| gpu.id == against.gpu) {
        return String::new();
    }
    let Some(said) = diagnosis.gpu_said(language).filter(|_| gpus.len() > 1) else { return String::new() };
    let buttons: String =
        gpus.iter().map(|gpu| choice(&format!("files gpu:{}", gpu.id), &gpu.name, gpu.id == against.gpu)).collect();
    format!("<p>{}</p><div class=\"files-actions\">{buttons}</div>", escape(&said))
}

fn fix_label(words: &Words, finding: &Finding) -> &'static str {
    match finding.edits.first() {
        Some(("non_pytorch_memory_mib", _)) => words.calibrate,
        _ => words.change_plan,
    }
}

fn reading_html(words: &Words, reading: &Reading) -> String {
    let figure = |(name, figure): (&'static str, u64)| {
        // On a phone the unit stays beside its number.
        let shown =
            if name.ends_with("_bytes") { bytes_text(figure).replace(' ', "\u{a0}") } else { figure.to_string() };
        // Of what a monitor lists nothing says that it is another's.
        let is_of_any = name == "other_processes_bytes" && reading.tried.is_none();
        let label = (words.named)(if is_of_any { "processes_bytes" } else { name });
        vec![format!("{} <code>{name}</code>", escape(label)), escape(&shown)]
    };
    let rows: Vec<Vec<String>> = reading.figures().into_iter().map(figure).collect();
    let place = match reading.line {
        0 => reading.format.name().to_owned(),
        line => (words.from)(reading.format.name(), line),
    };
    let table = table(words.figures, &[words.figure, words.value], &rows);
    format!("<div><p class=\"files-evidence\">{}</p>{table}</div>", escape(&place))
}

fn snapshot_html(words: &Words, language: Language, comparison: &Comparison, width: u32) -> String {
    let curve = |name: &str, points: &[(f64, u64)]| Curve { name: name.to_owned(), points: points.to_vec() };
    let look = CurvesLook {
        title: words.step_beside_plan.to_owned(),
        across: words.requests.to_owned(),
        palette: Palette::Classes,
        width,
    };
    let (run, plan) = (curve(words.run, &comparison.run), curve(words.plan, &comparison.plan));
    let svg = curves_svg(&run, &plan, &look);
    let texts = language.texts();
    let files = chart::downloads(texts, PLACE, &curves_csv([&run, &plan], texts));
    let list = |title: &str, sizes: &[OfSize]| -> String {
        if sizes.is_empty() {
            return String::new();
        }
        let rows: Vec<Vec<String>> = sizes.iter().take(MOST_SIZES).map(|one| size_row(language, one)).collect();
        // A run recorded without stacks has sizes alone.
        if rows.iter().all(|row| row[1].is_empty()) {
            let sizes: Vec<Vec<String>> = rows.into_iter().map(|mut row| vec![row.swap_remove(0)]).collect();
            return table(title, &[title], &sizes);
        }
        table(title, &[title, words.what], &rows)
    };
    format!(
        "<h3>{}</h3><div class=\"chart-place\" data-width=\"{PLACE}\"><div class=\"drawing\">{svg}</div></div>{}<div class=\"files-readings\">{}{}</div>",
        escape(words.step_beside_plan),
        Node::from(files).to_html(),
        list(words.only_run, &comparison.only_run),
        list(words.only_plan, &comparison.only_plan)
    )
}

/// Count and size, and what it is: by the plan's names, or by the frames of the run.
fn size_row(language: Language, one: &OfSize) -> Vec<String> {
    let term = language.texts().term;
    let named = one.terms.iter().take(3).map(|(of, module)| format!("{} {module}", term(*of)).trim().to_owned());
    let framed = one.stack.iter().take(3).cloned();
    let what: Vec<String> = named.chain(framed).collect();
    vec![escape(&format!("{} × {}", one.count, bytes_text(one.bytes))), escape(&what.join(" · "))]
}
