//! Tabs and pages in English.

use headroom_core::link::Tab;

use crate::tabs::TabTexts;

pub(super) const TEXTS: TabTexts = TabTexts {
    name: |tab| match tab {
        Tab::Fix => "Fix",
        Tab::Compare => "Compare",
        Tab::Limits => "Limits",
        Tab::Memory => "Memory",
        Tab::Run => "Run",
        Tab::Scenarios => "Scenarios",
        Tab::HowItWorks => "How it works",
        Tab::Accuracy => "Accuracy",
        Tab::Glossary => "Glossary",
    },
    answer: "Answer",
    pages: "Pages",
    planner: "Planner",
    basis: "What it rests on",
    files_title: "Files for this plan",
    files_intro: "Configuration for your trainer, launcher and DeepSpeed, the launch command, and a callback that checks the memory of the run.",
    files_open: "Export",
};
