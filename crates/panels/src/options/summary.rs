//! What a run should say of itself when it starts, and what to check: to be read, and copied into a log or a ticket.

use headroom_answers::estimate_json;
use headroom_core::accuracy::{self, Table};
use headroom_core::advise::Judgement;
use headroom_core::advise::summary::{checklist, summary};
use headroom_core::job::Job;
use headroom_core::memory::Basis;
use headroom_core::plan::ModelChoice;
use headroom_core::speed::step_time;
use headroom_core::units::{bytes_text, count_text};
use headroom_text::Texts;
use headroom_view::{Element, Node, el, escape};

use crate::page::Page;
use crate::pieces::{copy_button, table};
use crate::result::{CASES, Fetched};

/// The summary in words.
struct Words {
    /// Model and GPUs.
    name: String,
    link: String,
    /// Name and value of each figure.
    figures: Vec<(&'static str, String)>,
    checks: Vec<String>,
}

impl Words {
    fn of(page: &Page, job: &Job) -> Self {
        let plan = job.plan();
        let words = &page.texts.options().summary;
        let judgement = page.estimate.map(Judgement::from);
        let judgement = judgement.as_ref();
        let figures = summary(job, judgement).into_iter().map(|line| {
            let value = if line.item.is_bytes() { bytes_text(line.value) } else { count_text(line.value) };
            ((words.item)(line.item), value)
        });
        let (ModelChoice::Catalogue(model) | ModelChoice::Config { name: model, .. }) = &plan.model;
        Self {
            name: format!("{model}, {} × {}", plan.num_gpus, job.gpu().name),
            link: page.state.link_to(plan),
            figures: figures.collect(),
            checks: checklist(job, judgement).into_iter().map(words.check).collect(),
        }
    }

    /// As lines of a log.
    fn plain(&self, texts: &Texts) -> String {
        let mut said = format!("{}\n{}\n\n", self.name, self.link);
        for (name, value) in &self.figures {
            said.push_str(&format!("{name}: {value}\n"));
        }
        said.push_str(&format!("\n{}\n", texts.options().summary.checklist));
        for check in &self.checks {
            said.push_str(&format!("[ ] {check}\n"));
        }
        said
    }

    /// As a table and a list of tasks.
    fn markdown(&self, texts: &Texts) -> String {
        let words = &texts.options().summary;
        let cell = |text: &str| text.replace('|', "\\|");
        let mut said = format!("### [{}](<{}>)\n\n", self.name.replace('[', "\\[").replace(']', "\\]"), self.link);
        said.push_str(&format!("| {} | {} |\n| --- | ---: |\n", words.figure, words.value));
        for (name, value) in &self.figures {
            said.push_str(&format!("| {} | {} |\n", cell(name), cell(value)));
        }
        said.push_str(&format!("\n### {}\n\n", words.checklist));
        for check in &self.checks {
            said.push_str(&format!("- [ ] {check}\n"));
        }
        said
    }
}

/// The panel: of the last plan that could be estimated, which stays on the screen while the reader fixes a field.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let job = page.job.as_ref().ok().or(page.found.asked.last.as_ref())?;
    let (texts, said) = (page.texts, &page.texts.options().summary);
    let words = Words::of(page, job);
    let rows: Vec<_> = words.figures.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    let figures = table(&escape(&words.name), &[said.figure, said.value], &rows);
    let checks = words.checks.iter().map(|check| el("li").text(check)).collect();
    let parts = el("div")
        .class("summary-parts")
        .with(el("div").class("summary-figures").markup(&figures))
        .with(el("div").with(el("h3").text(said.checklist)).with(el("ul").class("checklist").with_all(checks)));
    let actions = el("div")
        .class("actions")
        .with(copy_button(page, said.copy_text, said.copied, &words.plain(texts), ""))
        .with(copy_button(page, said.copy_markdown, said.copied, &words.markdown(texts), ""));
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", "summary-title")
        .with(el("h2").attr("id", "summary-title").text(said.title))
        .with(el("p").class("panel-intro").text(said.intro))
        .with(parts)
        .with(actions)
        .with(json(page));
    Some(panel.into())
}

/// The whole answer for scripts, once the measured steps that belong to it are here.
fn json(page: &Page) -> Element {
    let words = &page.texts.options().summary;
    let fetched = &page.state.result;
    let details = el("details")
        .class("answer-json")
        .attr("data-toggle", "open json")
        .maybe("data-fetch", (!matches!(fetched, Fetched::Here(_))).then_some(CASES))
        .with(el("summary").text(words.json));
    match fetched {
        Fetched::Failed if page.state.is_open("json") => {
            details.with(el("p").attr("role", "alert").text(page.texts.accuracy().not_fetched))
        }
        Fetched::Here(cases) if page.state.is_open("json") => match answer(page, cases) {
            Some(text) => details
                .with(el("p").class("panel-intro").text(words.json_intro))
                .with(copy_button(page, words.copy_json, words.copied, &text, ""))
                .with(el("pre").attr("tabindex", "0").with(el("code").text(&text))),
            // Until the plan's own replay is there.
            None => details,
        },
        Fetched::Not | Fetched::Failed | Fetched::Here(_) => details,
    }
}

fn answer(page: &Page, cases: &Table<'static>) -> Option<String> {
    let job = page.job.as_ref().ok()?;
    let estimate = page.estimate.filter(|estimate| estimate.peak.basis == Basis::Replayed)?;
    estimate_json(job, estimate, &step_time(job), &accuracy::of_table(cases, job, estimate)).ok()
}

#[cfg(test)]
mod tests {
    use headroom_text::Language;

    use super::Words;

    #[test]
    fn a_pipe_in_a_value_does_not_break_the_table() {
        let words = Words {
            name: "my [model], 1 × A100".to_owned(),
            link: "https://example.org/#v=1".to_owned(),
            figures: vec![("Batch", "4|5".to_owned())],
            checks: vec!["Look".to_owned()],
        };
        let texts = Language::English.texts();
        let markdown = words.markdown(texts);
        assert!(markdown.starts_with("### [my \\[model\\], 1 × A100](<https://example.org/#v=1>)\n"), "{markdown}");
        assert!(markdown.contains("\n| Batch | 4\\|5 |\n") && markdown.contains("\n- [ ] Look\n"), "{markdown}");
        assert!(words.plain(texts).contains("\nBatch: 4|5\n"));
    }
}
