//! The verdict: one word, the figures behind it, and a meter.

use headroom_core::link::Tab;
use headroom_core::memory::{Basis, Estimate, FailedRequest};
use headroom_core::plan::{self, Dtype, Problem, ProblemKind};
use headroom_core::units::count_text;
use headroom_text::Texts;
use headroom_view::{Element, Node, el};

use crate::embedding;
use crate::figures;
use crate::page::Page;
use crate::pieces::{button, class_of_estimate, copy_button, fit_icon, shown_fit};
use crate::programs;
use crate::tabs;

/// The panel at the head of the answer.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let texts = page.texts;
    let copy = copy_button(page, texts.copy_link, texts.link_copied, &page.state.link_to(page.plan()), "primary");
    let basis = page.outcome.as_ref().ok().map(|estimate| estimate.peak.basis.name());
    // A verdict is this plan's own or none. It changes with every step of the answer: `static/announce.js` says it once.
    let status = el("div").key("status").class("verdict-status").attr("role", "status").attr("aria-live", "off");
    let status = status.attr("aria-atomic", "true");
    let mut panel = el("section")
        .class(&["panel verdict ", state_class(page)].concat())
        .maybe("data-basis", basis)
        .attr("aria-labelledby", "verdict-title")
        .with(el("h2").key("title").attr("id", "verdict-title").class("visually-hidden").text(texts.verdict_title));
    // Shown by the style sheet while the page waits for the answer to what the reader did.
    let waits = el("p").key("waits").class("pending-note").attr("aria-hidden", "true").text(texts.computing);
    panel = panel.with(waits);
    panel = match page.outcome {
        Ok(estimate) => {
            panel.with(status.with_all(headline(page, estimate).into())).with(meter(page, estimate).key("meter"))
        }
        Err(found) => panel.with(problems(page, found).key("problems")).with(status),
    };
    let actions = el("div").key("actions").class("actions").with(copy).with(embedding::opener(page));
    Some(panel.with(actions).into())
}

/// What the verdict stands on, and how far it can be trusted.
pub(crate) fn basis(page: &Page) -> Option<Node> {
    let estimate = page.estimate?;
    let words = &page.texts.tabs;
    let panel = el("section")
        .class("basis")
        .flag("hidden", page.outcome.is_err())
        .attr("aria-labelledby", "basis-title")
        .with(el("h2").attr("id", "basis-title").class("visually-hidden").text(words.basis))
        .with(details(page, estimate).with(el("li").with(tabs::leads_to(
            page,
            Tab::Accuracy,
            page.texts.how_accurate,
        ))));
    Some(panel.into())
}

/// The verdict of an embedded plan: the word, the figures and the meter.
pub(crate) fn embedded(page: &Page) -> Element {
    let basis = page.outcome.as_ref().ok().map(|estimate| estimate.peak.basis.name());
    let status = el("div").key("status").attr("role", "status").attr("aria-atomic", "true");
    let panel = el("section")
        .class(&["verdict ", state_class(page)].concat())
        .maybe("data-basis", basis)
        .attr("aria-label", page.texts.verdict_title);
    match page.outcome {
        Ok(estimate) => panel
            .with(status.with_all(headline(page, estimate).into()))
            .with(meter(page, estimate).key("meter"))
            .with_some(
                estimate
                    .failure
                    .as_ref()
                    .map(|failure| el("p").key("failure").class("failing").text(&failure_text(page.texts, failure))),
            ),
        Err(found) => panel.with(problems(page, found).key("problems")).with(status),
    }
}

/// The verdict in one line with what shares it, for narrow screens, where the form hides the panel; leads to it.
pub(crate) fn line(page: &Page) -> Option<Node> {
    let texts = page.texts;
    let line = el("button").attr("type", "button").attr("data-do", "@show-result");
    let line = match page.outcome {
        Ok(estimate) => {
            let [used, total] = figures::glance_apart([estimate.peak.band.expected, estimate.gpu_bytes]);
            line.with(el("strong").with(fit_icon(shown_fit(estimate))).text(texts.verdict_word(estimate)))
                .with(el("span").text(&figures::of_estimate(estimate, (texts.used_of)(&used, &total))))
        }
        Err(found) => match programs::coming(page, found) {
            Some(coming) => line.text(&coming),
            None => line.text(texts.cannot_estimate),
        },
    };
    let copy = copy_button(page, texts.copy_link, texts.link_copied, &page.state.link_to(page.plan()), "primary");
    Some(el("div").class(&["verdict-line ", state_class(page)].concat()).with(line).with(copy).into())
}

/// The class for what the page knows now.
fn state_class(page: &Page) -> &'static str {
    page.outcome.as_ref().map_or("unknown", |estimate| class_of_estimate(estimate))
}

/// The word and the two figures that matter most.
fn headline(page: &Page, estimate: &Estimate) -> [Element; 2] {
    let (texts, verdict) = (page.texts, estimate.verdict);
    let [used, total] = figures::glance_apart([estimate.peak.band.expected, estimate.gpu_bytes]);
    let distance = figures::of_estimate(estimate, figures::glance(verdict.headroom_bytes.unsigned_abs()));
    let headroom = if verdict.headroom_bytes < 0 { (texts.missing)(&distance) } else { (texts.headroom)(&distance) };
    let used = figures::of_estimate(estimate, (texts.used_of)(&used, &total));
    let mut need = el("span").class("verdict-used").text(&used);
    if page.plan().num_gpus > 1 {
        need = need.text(" ").with(el("small").text(texts.per_gpu));
    }
    [
        el("p").class("verdict-word").with(fit_icon(shown_fit(estimate))).text(texts.verdict_word(estimate)),
        el("p")
            .class("verdict-figures")
            .with(need)
            .text(" ")
            .with(el("span").class("verdict-headroom").text(&headroom)),
    ]
}

/// The GPU as a bar: what is needed, how sure that is, and where the GPU ends.
fn meter(page: &Page, estimate: &Estimate) -> Element {
    let (band, gpu) = (estimate.peak.band, estimate.gpu_bytes);
    // The bar ends a little beyond whatever is longest.
    let scale = band.high.max(gpu) as f64 * 1.04;
    let place = |bytes: u64| format!("{:.2}%", 100.0 * bytes as f64 / scale.max(1.0));
    // The label stands before its mark where there is room for it.
    let at_start = (gpu as f64) < scale / 3.0;
    let uncertain = ["left: ", &place(band.low), "; width: ", &place(band.high - band.low.min(band.high)), ";"];
    let capacity = el("span").text(page.texts.capacity).text(" ").text(&figures::glance(gpu));
    el("div")
        .class("meter")
        .attr("aria-hidden", "true")
        .with(el("div").class("meter-fill").attr("data-style", &["width: ", &place(band.expected), ";"].concat()))
        .with(el("div").class("meter-band").attr("data-style", &uncertain.concat()))
        .with(
            el("div")
                .class(if at_start { "meter-gpu at-start" } else { "meter-gpu" })
                .attr("data-style", &["left: ", &place(gpu), ";"].concat())
                .with(capacity),
        )
}

/// What is behind the figures, a line each.
fn details(page: &Page, estimate: &Estimate) -> Element {
    let (texts, peak) = (page.texts, &estimate.peak);
    let line = |said: &str| el("li").text(said);
    let failure = estimate.failure.as_ref().map(|failure| failure_text(texts, failure));
    let less = peak.required_bytes.saturating_sub(peak.required_bytes_expandable);
    // Before the replay it is other plans' median and says nothing of this one.
    let saves = peak.basis == Basis::Replayed && less > 0 && !peak.expandable;
    let limit = peak.limit.as_ref().filter(|_| failure.is_none()).map(|limit| {
        let (request, stranded) = (figures::glance(limit.request_bytes), figures::glance(limit.stranded_bytes));
        (texts.limit)((texts.term)(limit.term), &request, (texts.phase)(limit.phase), &stranded)
    });
    let (all, trainable) = (estimate.param_count, estimate.trainable_count);
    let trained = figures::percent(trainable as f64 / all.max(1) as f64);
    el("ul")
        .class("verdict-details")
        .with_some(failure.map(|said| el("li").class("failing").text(&said)))
        .with(line(&share_text(texts, estimate.verdict.used_share)))
        .with(line(&(texts.band)(&figures::glance(peak.band.low), &figures::glance(peak.band.high))))
        .with(line(&(texts.peak)(page.plan().task, peak.phase)))
        .with_some(saves.then(|| line(&(texts.expandable_saves)(&figures::glance(less)))))
        .with_some(limit.map(|said| line(&said)))
        .with(line(&(texts.trainable)(&figures::params(trainable), &count_text(all), &trained)))
}

/// How much of the GPU is needed: per cent, and from ten times on how many times it is.
fn share_text(texts: &Texts, share: f64) -> String {
    if share < 10.0 {
        (texts.percent_used)(&figures::percent(share))
    } else {
        (texts.times_used)(&format!("{share:.0}"))
    }
}

/// The error that this plan ends in on this GPU, with the figures of PyTorch's own message.
fn failure_text(texts: &Texts, failure: &FailedRequest) -> String {
    let term = (texts.term)(failure.term);
    let name = if failure.module.is_empty() { term.to_owned() } else { [term, ", ", &failure.module].concat() };
    let place = match failure.step {
        0 => texts.while_loading.to_owned(),
        step => (texts.in_step)((texts.phase)(failure.phase), step),
    };
    let [tried, free] = figures::glance_apart([failure.tried_bytes, failure.free_bytes]);
    (texts.fails)(&place, &tried, &free, &name)
}

/// The field of a problem and the values that fix it, where the core knows them; none for what is no field of the table.
fn fixes(problem: &Problem) -> Option<(&'static str, Vec<String>)> {
    let field = plan::field(&problem.field)?;
    let values = match &problem.kind {
        ProblemKind::Contradiction { fix, .. } => vec![fix.clone()],
        ProblemKind::EngineShare { in_16_bits: Some(_), .. } => vec![Dtype::Bfloat16.name().to_owned()],
        ProblemKind::EngineShare { least, shorter, .. } => {
            let shorter = shorter.as_ref().map(|(length, _)| length.to_string());
            least.clone().or(shorter).into_iter().collect()
        }
        ProblemKind::NotDivisible { nearest, .. } => nearest.iter().map(u64::to_string).collect(),
        ProblemKind::UnknownModel { candidates, .. } | ProblemKind::UnknownGpu { candidates, .. } => candidates.clone(),
        // Too long or too many: the nearest that is allowed.
        ProblemKind::OutOfRange { max, .. } if problem.field.starts_with("rollout.") => vec![max.clone()],
        _ => Vec::new(),
    };
    Some((field.name, values))
}

/// What has to be fixed before the plan can be estimated.
fn problems(page: &Page, problems: &[Problem]) -> Element {
    let texts = page.texts;
    // What stays on the screen is of an earlier plan.
    let last_good = if page.estimate.is_some() { texts.last_good } else { "" };
    if let Some(coming) = programs::coming(page, problems) {
        return el("div")
            .class("verdict-problems")
            .with(el("p").class("computing").text(&coming))
            .with(el("p").text(last_good));
    }
    el("div")
        .class("verdict-problems")
        .attr("role", "alert")
        .with(el("p").class("verdict-word").text(texts.cannot_estimate))
        .with(el("p").text(texts.fix_these))
        .with(el("ul").with_all(problems.iter().map(|problem| line_of(texts, problem)).collect()))
        .with(el("p").text(last_good))
}

/// A problem, and a button for each value that fixes it.
fn line_of(texts: &Texts, problem: &Problem) -> Element {
    let mut line = el("li").with(el("code").text(&problem.field)).text(" ").text(&(texts.problem)(problem));
    let Some((field, values)) = fixes(problem) else { return line };
    // Of several to choose from each says only what it is.
    let is_candidate = matches!(problem.kind, ProblemKind::UnknownModel { .. } | ProblemKind::UnknownGpu { .. });
    for value in values {
        let name = (texts.fix_it)(field, &value);
        let label = if is_candidate { &value } else { &name };
        let fix = button(&["fix ", field, " ", &value].concat(), label).attr("aria-label", &name);
        line = line.text(" ").with(fix);
    }
    line
}
