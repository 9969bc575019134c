//! Four DeepSpeed presets by GPU size, side by side.

use headroom_core::advise::Remembering;
use headroom_core::advise::tiers::{Rung, ladder};
use headroom_core::job::Job;
use headroom_core::plan::{Offload, Plan};
use headroom_view::{Element, el};

use super::tiers::{Choice, choice};
use crate::engine::{Step, Work};
use crate::page::Page;
use crate::replays::{Known, Replays};
use crate::result::comparison::why_not;

/// What the presets are called when they are opened.
const NAME: &str = "ladder";

/// How often the presets are searched for one plan: where none fits, each replay may lead to another set of changes that
/// makes the last one fit.
const MOST_SEARCHED: u32 = 8;

/// The presets, as far as they are known; looked for only while they are looked at.
#[derive(Default)]
pub(crate) struct Found {
    /// What they are of; `None` before the first.
    plan: Option<Plan>,
    rungs: Vec<Rung>,
    /// Whose replays were not there when they were found.
    missing: Vec<Plan>,
    /// How often they were searched.
    searched: u32,
}

impl Found {
    pub(crate) fn step(&mut self, work: &mut Work) -> Step {
        if !work.state.is_open(NAME) {
            return Step::Done;
        }
        if self.plan.as_ref() != Some(work.job.plan()) {
            self.plan = Some(work.job.plan().clone());
            self.searched = 0;
            return self.search(work.job, work.replays);
        }
        if self.missing.is_empty() {
            return Step::Done;
        }
        if !work.replays.advance_all(&self.missing) {
            return Step::Working;
        }
        self.search(work.job, work.replays)
    }

    fn search(&mut self, job: &Job, replays: &Replays) -> Step {
        self.rungs = ladder(job, &Remembering::new(&Known(replays)));
        self.searched += 1;
        self.missing.clear();
        if self.searched < MOST_SEARCHED {
            let plans = self.rungs.iter().map(|rung| &rung.plan);
            self.missing.extend(plans.filter(|plan| !replays.answered(plan)).cloned());
        }
        Step::Changed
    }
}

/// The presets, for what trains on sequences of its own.
pub(super) fn details(page: &Page) -> Option<Element> {
    let words = &page.texts.options().tiers;
    if page.plan().is_reinforcement() {
        return None;
    }
    let rungs = page.found.ladder.rungs.iter().map(|rung| row(page, rung)).collect();
    let list = el("div").class("ladder").attr("role", "group").attr("aria-label", words.ladder_title).with_all(rungs);
    let details = el("details")
        .class("chart-table")
        .flag("open", page.state.is_open(NAME))
        .attr("data-toggle", &format!("open {NAME}"))
        .with(el("summary").text(words.ladder_title))
        .with(el("p").class("panel-intro").text(words.ladder_intro))
        .with(list);
    Some(details)
}

fn row(page: &Page, rung: &Rung) -> Element {
    let texts = page.texts;
    let words = &texts.options().tiers;
    let Rung { name, plan, judgement, time, reason, levers, shards_nothing } = rung;
    let Plan { per_device_train_batch_size: batch, gradient_accumulation_steps: steps, max_length, .. } = plan;
    let offloads = plan.offload_optimizer == Offload::Cpu || plan.offload_param == Offload::Cpu;
    let sharding = texts.sharding(plan, plan.zero_stage, offloads);
    let setting = (words.ladder_setting)(*batch, *steps, *max_length);
    let mut setting = format!("{}: {sharding}, {setting}", (words.ladder_gpu)(name));
    for lever in levers {
        setting.push_str(" + ");
        setting.push_str(&(texts.advice.lever)(*lever).to_string());
    }
    // Only what has no figures says why.
    let problems = if judgement.is_none() { Job::resolve(plan).err() } else { None };
    let title = el("span").class("ladder-name").with(el("code").text(name)).text(" ").with(el("span").text(&setting));
    choice(
        page,
        Choice {
            bar: None,
            name: vec![title],
            plan,
            judgement: *judgement,
            time: *time,
            reason: *reason,
            shards_nothing: *shards_nothing,
            is_coarser: false,
            is_rough: judgement.is_some() && page.replays.of(plan).is_none(),
            of_ladder: true,
            why_not: problems.map_or_else(String::new, |problems| why_not(texts, &problems)),
        },
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
