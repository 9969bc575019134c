//! Findings in Chinese.

use super::{Kind, Said};
use crate::syntax::FaultKind;

fn say(what: impl Into<String>, fix: impl Into<String>) -> Said {
    Said { what: what.into(), fix: fix.into() }
}

/// What is said about `kind`.
pub(super) fn said(kind: &Kind) -> Said {
    match kind {
        Kind::Unreadable { fault } => unreadable(fault),
        Kind::Unrecognised => say(
            "没有在这个文件中认出训练器的配置或启动命令。",
            "请提供训练器的 YAML、JSON、TOML 或 Python，DeepSpeed 或 accelerate 配置，或启动命令。",
        ),
        Kind::UnknownKey { tool, key, nearest: Some(nearest) } => {
            say(format!("{tool} 没有 `{key}` 这个参数，方案中不包含它。"), format!("如果想写的是 `{nearest}`，请改正。"))
        }
        Kind::UnknownKey { tool, key, nearest: None } => {
            say(format!("Headroom 不认识 {tool} 的参数 `{key}`，方案中不包含它。"), "请检查拼写；自己脚本的参数可以保留。")
        }
        Kind::BadValue { key, value, expected } => {
            say(format!("`{key}` 不能取 `{value}`，方案使用默认值。"), format!("请使用 {expected}。"))
        }
        Kind::Renamed { key, now, since } => {
            say(format!("自 {since} 起 `{key}` 改名为 `{now}`，新版本不再接受旧名。"), format!("请写 `{now}`。"))
        }
        Kind::TrainerNotModelled { trainer, nearest } => say(
            format!("尚未建模 {trainer} 的训练步，方案采用最接近的 {nearest}。"),
            "请把估算看作后者的结果；实际占用可能更少，也可能更多。",
        ),
        Kind::TaskNotModelled { trainer, task, nearest } => {
            say(format!("尚未建模 {trainer} 下的 `{task}`，方案写作 `{nearest}`。"), "请与已建模该任务的训练器比较。")
        }
        Kind::NoModel => say("文件中没有指定模型，方案保留默认模型。", "请在方案中选择模型。"),
        Kind::UnknownModel { name } => {
            say(format!("模型库中没有 `{name}`。"), "请一并提供该模型的 config.json，或选择同结构的模型。")
        }
        Kind::Overridden { key, value, by } => {
            say(format!("`{key}: {value}` 不生效，被 `{by}` 覆盖。"), "请删除不需要的那一个。")
        }
        Kind::MissingFile { path } => say(format!("引用了 `{path}`，但没有提供，方案不含其中内容。"), "请一并提供该文件。"),
        Kind::ShippedFile { path } => {
            say(format!("没有提供 `{path}`，按训练器自带的同名配置处理。"), "如果你的文件不同，请一并提供。")
        }
        Kind::AssumedBf16 => say("脚本会检查 GPU 是否支持 bf16，方案按支持处理。", "GPU 不支持时请在方案中选择 fp16。"),
        Kind::SeveralCommands { commands } => say(format!("脚本中有 {commands} 条训练命令，这里读取的是这一条。"), "其余命令请分别提供。"),
        Kind::GpusUnknown => say("命令会为每块可见的 GPU 启动一个进程，文件没有说明有几块，方案按一块处理。", "请在方案中选择 GPU 数量。"),
        Kind::DataParallel { gpus } => say(
            format!("一个进程看到 {gpus} 块 GPU：Trainer 会使用 torch.nn.DataParallel，每步复制模型。该方式尚未建模，方案按 DistributedDataParallel 处理。"),
            "请用 torchrun 或 accelerate 启动，或用 CUDA_VISIBLE_DEVICES 只露出一块 GPU。",
        ),
        Kind::LengthOfModel => say(
            "没有设置长度：序列可达模型上限或数据长度。方案保留默认长度。",
            "请在文件和方案中设置最大序列长度。",
        ),
        Kind::NoEffect { key, instead } => say(format!("`{key}` 在这个训练器中不起作用。"), format!("请使用 `{instead}`。")),
    }
}

fn unreadable(fault: &FaultKind) -> Said {
    match fault {
        FaultKind::TooLong { most_bytes } => say(format!("文件超过 {most_bytes} 字节。"), "请只提供配置。"),
        FaultKind::TooDeep { deepest } => say(format!("嵌套超过 {deepest} 层。"), "请只提供配置。"),
        FaultKind::TooMany { most } => say(format!("值超过 {most} 个（含别名展开）。"), "请只提供配置。"),
        FaultKind::Malformed { notation, why } => say(format!("不是合法的 {notation}：{why}。"), "请改正这一行。"),
    }
}
