//! What a run should say of itself when it starts, and what to check: to be read, and copied into a log or a ticket.

use headroom_core::advise::Judgement;
use headroom_core::advise::summary::{checklist, summary};
use headroom_core::job::Job;
use headroom_core::plan::ModelChoice;
use headroom_core::units::{bytes_text, count_text};
use leptos::prelude::*;

use super::tables::{escaped, table};
use crate::address;
use crate::clipboard::CopyButton;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// The summary in words.
#[derive(Clone, PartialEq, Default)]
struct Words {
    /// Model and GPUs.
    name: String,
    link: String,
    /// Name and value of each figure.
    figures: Vec<(&'static str, String)>,
    checks: Vec<String>,
}

impl Words {
    fn of(texts: &Texts, job: &Job, judgement: Option<&Judgement>) -> Self {
        let plan = job.plan();
        let words = &texts.options.summary;
        let figures = summary(job, judgement).into_iter().map(|line| {
            let value = if line.item.is_bytes() { bytes_text(line.value) } else { count_text(line.value) };
            ((words.item)(line.item), value)
        });
        let (ModelChoice::Catalogue(model) | ModelChoice::Config { name: model, .. }) = &plan.model;
        Self {
            name: format!("{model}, {} × {}", plan.num_gpus, job.gpu().name),
            link: address::link_to(plan),
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
        said.push_str(&format!("\n{}\n", texts.options.summary.checklist));
        for check in &self.checks {
            said.push_str(&format!("[ ] {check}\n"));
        }
        said
    }

    /// As a table and a list of tasks.
    fn markdown(&self, texts: &Texts) -> String {
        let words = &texts.options.summary;
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

/// The panel.
#[component]
pub(crate) fn SummaryPanel() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    // Of the last plan that could be estimated: what stays on the screen while the reader fixes a field.
    let words = Memo::new(move |last: Option<&Words>| {
        let judgement = state.outcome.read().as_ref().ok().map(Judgement::from);
        match &*state.job.read() {
            Ok(job) => Words::of(texts.get(), job, judgement.as_ref()),
            Err(_) => last.cloned().unwrap_or_default(),
        }
    });
    let figures = move || {
        let said = &texts.get().options.summary;
        let words = words.read();
        let rows: Vec<_> = words.figures.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
        table(&escaped(&words.name), &[said.figure, said.value], &rows)
    };
    let checks = move || {
        let checks = words.get().checks;
        checks.into_iter().map(|check| view! { <li>{check}</li> }).collect::<Vec<_>>()
    };
    view! {
        <section class="panel" aria-labelledby="summary-title">
            <h2 id="summary-title">{text(|t| t.options.summary.title)}</h2>
            <p class="panel-intro">{text(|t| t.options.summary.intro)}</p>
            <div class="summary-parts">
                <div class="summary-figures" inner_html=figures></div>
                <div>
                    <h3>{text(|t| t.options.summary.checklist)}</h3>
                    <ul class="checklist">{checks}</ul>
                </div>
            </div>
            <div class="actions">
                <CopyButton
                    label=|t| t.options.summary.copy_text
                    done=|t| t.options.summary.copied
                    content=Signal::derive(move || words.read().plain(texts.get()))
                />
                <CopyButton
                    label=|t| t.options.summary.copy_markdown
                    done=|t| t.options.summary.copied
                    content=Signal::derive(move || words.read().markdown(texts.get()))
                />
            </div>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use crate::text::Language;

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
