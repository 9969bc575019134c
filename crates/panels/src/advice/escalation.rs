//! Making the plan fit: three levels, the steps of the chosen one, and GPUs that would do where none does.

use headroom_core::advise::fit::{Advice, Escalation, Found, LevelAnswer};
use headroom_core::advise::{Hardware, Judgement, Level, Stage, usual_host};
use headroom_core::gpu;
use headroom_core::job::Job;
use headroom_core::memory::Fit;
use headroom_core::plan::{GpuChoice, Plan, Task};
use headroom_text::Texts;
use headroom_view::{Element, Node, el};

use headroom_core::advise::confirmed::{Advised, Direction};

use super::levers::{lever_html, saved_text};
use super::sheet::Sheet;
use super::waterfall;
use crate::figures;
use crate::page::Page;
use crate::state::State;

/// The level that is shown unless the reader chooses: the mildest that suffices, else the one that reaches furthest.
fn first_choice(escalation: &Escalation) -> Level {
    let suffices = |answer: &&LevelAnswer| matches!(answer.found, Found::Fits(_));
    let reached = |answer: &LevelAnswer| match &answer.found {
        Found::Short(Some(leanest)) => leanest.need_bytes,
        _ => u64::MAX,
    };
    let levels = escalation.levels.iter();
    let first = levels.clone().find(suffices).or_else(|| levels.min_by_key(|answer| reached(answer)));
    first.map_or(Level::Same, |answer| answer.level)
}

/// The level that is shown: a choice holds for the plan it was made on.
fn level_of(page: &Page, plan: &Plan, escalation: &Escalation) -> Level {
    match &page.state.advice.level {
        Some((of, level)) if of == plan => *level,
        _ => first_choice(escalation),
    }
}

/// Chooses the level called `name`.
pub(super) fn choose(state: &mut State, name: &str) {
    if let Some(level) = Level::ALL.iter().find(|level| level.name() == name) {
        state.advice.level = Some((state.plan().clone(), *level));
    }
}

/// Levels side by side, and the chosen one in full.
// A first view whose plan fits does without it.
#[inline(never)]
pub(super) fn elements(page: &Page, found: &Advised, escalation: &Escalation) -> Vec<Element> {
    let words = &page.texts.advice;
    let chosen = level_of(page, found.job.plan(), escalation);
    let mut levels = el("fieldset").class("levels-choice").key("levels").with(el("legend").text(words.level_group));
    for &level in Level::ALL {
        let answer = escalation.levels.iter().find(|answer| answer.level == level);
        levels = levels.with(choice(page.texts, found, (level, answer), level == chosen));
    }
    let mut elements = vec![hardware_sheet(page, found).into_element().key("hardware"), levels];
    if let Some(answer) = escalation.levels.iter().find(|answer| answer.level == chosen) {
        elements.push(steps_sheet(page, found, answer).into_element().key("steps"));
        // The picture comes by itself, as the page has enough to lay out with the words.
        elements.push(el("div").key("waterfall").class("savings").place("waterfall"));
    }
    elements
}

/// What each step of the level that is shown saves.
pub(super) fn savings(page: &Page) -> Option<Node> {
    let found = page.found.advice.advised.as_ref()?;
    let Direction::Fit(escalation, _) = &found.kind else { return None };
    let chosen = level_of(page, found.job.plan(), escalation);
    let Found::Fits(advice) = &escalation.levels.iter().find(|answer| answer.level == chosen)?.found else {
        return None;
    };
    waterfall::drawn(page, &found.judgement, &advice.stages)
}

/// One level to choose.
fn choice(texts: &Texts, found: &Advised, (level, answer): (Level, Option<&LevelAnswer>), is_chosen: bool) -> Element {
    let class = match answer.map(|answer| &answer.found) {
        Some(Found::Fits(_)) => "level-choice fits",
        Some(Found::Short(_)) => "level-choice short",
        None => "level-choice",
    };
    let words = (texts.advice.level)(level);
    let radio = el("input")
        .attr("type", "radio")
        .attr("name", "advice-level")
        .attr("data-set", &format!("level {}", level.name()))
        .flag("checked", is_chosen);
    let summary = answer.map_or_else(String::new, |answer| summary(texts, found, answer));
    el("label")
        .class(class)
        .with(radio)
        .with(el("strong").text(words.label))
        .with(el("span").class("level-gloss").text(words.gloss))
        .with(el("span").class("level-summary").text(&summary))
}

/// What a level offers in a few words.
fn summary(texts: &Texts, found: &Advised, answer: &LevelAnswer) -> String {
    let words = &texts.advice;
    match &answer.found {
        Found::Fits(advice) => {
            let fits = (words.fits_with)(advice.stages.len(), advice.time);
            let not_needed = answer.enough.map(|level| (words.not_needed)(level));
            [Some(fits), not_needed].into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
        Found::Short(Some(leanest)) => {
            let [least, gpu] = figures::glance_apart([leanest.need_bytes, found.judgement.gpu_bytes]);
            (words.reaches)(&least, &gpu)
        }
        Found::Short(None) => words.no_lever.to_owned(),
    }
}

/// The steps of a level that suffices, with what they lead to; else why there are none.
fn steps_sheet<'a>(page: &'a Page, found: &Advised, answer: &LevelAnswer) -> Sheet<'a> {
    let (texts, words) = (page.texts, &page.texts.advice);
    let mut sheet = Sheet::new(page);
    let Found::Fits(advice) = &answer.found else {
        sheet.element("p", "outcome", words.short_why);
        if found.job.plan().task != Task::Inference {
            sheet.element("p", "facts", &(words.host_limit)(&figures::glance(usual_host(&found.job))));
        }
        return sheet;
    };
    if let Some(warning) = (words.level_warning)(answer.level, found.job.plan().task != Task::Inference) {
        sheet.element("p", &format!("level-warning {}", answer.level.name()), warning);
    }
    sheet.push("<ol class=\"steps\">");
    let before = std::iter::once(found.job.plan()).chain(advice.stages.iter().map(|stage| &stage.plan));
    for (stage, before) in advice.stages.iter().zip(before) {
        // The only step is what the last button takes, and what comes first has its own button above.
        let offered = advice.stages.len() == 1
            || found.frozen_in_float32.as_ref().is_some_and(|first| first.lever == stage.lever);
        let alone = if offered { None } else { stage.lever.apply(&found.job) };
        step(texts, &mut sheet, stage, before, alone.as_ref().map(Job::plan));
    }
    sheet.push("</ol>");
    outcome(texts, &mut sheet, found, advice);
    sheet
}

/// One lever; `before` is the plan without it, `alone` the plan with nothing but it.
fn step(texts: &Texts, sheet: &mut Sheet, stage: &Stage, before: &Plan, alone: Option<&Plan>) {
    let words = &texts.advice;
    let Stage { lever, plan: after, need_bytes, saved_bytes, time, .. } = stage;
    sheet.push("<li><div class=\"step-what\">");
    sheet.push(&lever_html(texts, *lever, before, after));
    sheet.push("</div><dl>");
    let figures = [
        (words.column_need, saved_text(*saved_bytes)),
        (words.column_then_needs, figures::glance(*need_bytes)),
        (words.column_token_time, figures::times(*time)),
    ];
    for (name, figure) in figures {
        sheet.push(&format!("<div><dt>{name}</dt><dd>{figure}</dd></div>"));
    }
    sheet.push("</dl>");
    if let Some(alone) = alone {
        sheet.button(alone, words.only_this, &format!("{}: {}", words.only_this, (words.lever)(*lever)), "");
    }
    sheet.push("</li>");
}

/// Verdict, time and effective batch of the plan with all steps, and the button that takes them.
fn outcome(texts: &Texts, sheet: &mut Sheet, found: &Advised, advice: &Advice) {
    let words = &texts.advice;
    let gpu = found.judgement.gpu_bytes;
    let need = advice.stages.last().map_or(found.judgement.need_bytes, |stage| stage.need_bytes);
    sheet.push("<p class=\"outcome\">");
    sheet.verdict(&Judgement { fit: Fit::Fits, ..found.judgement });
    let [need, gpu] = figures::glance_apart([need, gpu]);
    sheet.push(&(texts.used_of)(&need, &gpu));
    sheet.push(" · ");
    sheet.push(&(words.token_takes)(advice.time));
    if found.job.plan().task != Task::Inference {
        sheet.push(" · ");
        let batches = [found.job.plan(), &advice.plan].map(|plan| plan.batches().effective_batch_size);
        sheet.push(&(words.effective_batch)(batches));
    }
    if let Direction::Fit(escalation, [host, _]) = &found.kind
        && let Some(place) = escalation.levels.iter().position(|answer| answer.level == advice.level)
    {
        sheet.push(&host_text(texts, host.get(place)));
    }
    sheet.push("</p>");
    let label = (words.apply_all)(advice.stages.len());
    sheet.push("<p class=\"sheet-actions\">");
    sheet.button(&advice.plan, &label, &label, "primary");
    let compare = texts.advice.compare;
    sheet.push(" ");
    sheet.compare_button(&advice.plan, compare, &format!("{compare}: {label}"));
    sheet.push("</p>");
}

/// ` · 28.8 GiB of host memory` where a plan takes any.
fn host_text(texts: &Texts, bytes: Option<&u64>) -> String {
    match bytes {
        Some(bytes @ 1..) => format!(" · {}", (texts.advice.host_takes)(&figures::glance(*bytes))),
        _ => String::new(),
    }
}

/// What to say where no level suffices.
fn hardware_sheet<'a>(page: &'a Page, found: &Advised) -> Sheet<'a> {
    let (texts, words) = (page.texts, &page.texts.advice);
    let mut sheet = Sheet::new(page);
    let Direction::Fit(Escalation { levels, hardware }, [_, host]) = &found.kind else { return sheet };
    if levels.iter().any(|answer| !matches!(answer.found, Found::Short(_))) {
        return sheet;
    }
    sheet.push("<div class=\"callout\">");
    let Some(least) = hardware.iter().min_by_key(|one| (one.num_gpus, one.memory_bytes)) else {
        sheet.element("p", "", words.no_hardware);
        sheet.push("</div>");
        return sheet;
    };
    let said = |one: &Hardware| (words.gpus)(one.num_gpus, &gpu_name(texts, one));
    sheet.element("p", "", &(words.nothing_short)(&said(least)));
    sheet.push("<ul>");
    for (place, one) in hardware.iter().enumerate() {
        let (gpus, gloss) = (said(one), (words.hardware)(one.level));
        let host = host_text(texts, host.get(place));
        sheet.push(&format!("<li><span><strong>{gpus}</strong> {gloss}{host}</span>"));
        sheet.button(&one.plan, texts.use_plan, &format!("{} {gpus} {gloss}", texts.use_plan), "");
        sheet.push("</li>");
    }
    sheet.push("</ul></div>");
    sheet
}

/// What a GPU is called; by its memory where only the reader knows its name.
fn gpu_name(texts: &Texts, hardware: &Hardware) -> String {
    let known = match &hardware.gpu {
        GpuChoice::Catalogue(id) => gpu::find(id),
        GpuChoice::Custom { .. } => None,
    };
    known.map_or_else(|| (texts.advice.gpu_of)(&figures::glance(hardware.memory_bytes)), |gpu| gpu.name.to_string())
}
