//! Tabs and pages in Chinese.

use headroom_core::link::Tab;

use crate::tabs::TabTexts;

pub(super) const TEXTS: TabTexts = TabTexts {
    name: |tab| match tab {
        Tab::Fix => "建议",
        Tab::Compare => "对比",
        Tab::Limits => "上限",
        Tab::Memory => "显存",
        Tab::Run => "运行",
        Tab::Scenarios => "场景",
        Tab::HowItWorks => "工作原理",
        Tab::Accuracy => "准确度",
        Tab::Glossary => "术语表",
    },
    answer: "结果",
    pages: "页面",
    planner: "规划",
    basis: "判断依据",
    files_title: "本方案的配置文件",
    files_intro: "训练框架、启动器和 DeepSpeed 的配置，启动命令，以及在训练中核对显存的回调。",
    files_open: "导出",
};
