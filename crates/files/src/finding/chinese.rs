//! Findings in Chinese.

use headroom_core::plan::TrainerName;
use headroom_core::units::bytes_text;
use headroom_text::launched_by;

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
        Kind::UnknownKey { tool, key, nearest: Some(nearest) } => say(
            format!("{tool} 没有 `{key}` 这个参数，方案中不包含它。"),
            format!("如果想写的是 `{nearest}`，请改正。"),
        ),
        Kind::UnknownKey { tool, key, nearest: None } => say(
            format!("Headroom 不认识 {tool} 的参数 `{key}`，方案中不包含它。"),
            "请检查拼写；自己脚本的参数可以保留。",
        ),
        Kind::BadValue { key, value, expected } => {
            say(format!("`{key}` 不能取 `{value}`，方案使用默认值。"), format!("请使用 {expected}。"))
        }
        Kind::Renamed { key, now, since } => {
            say(format!("自 {since} 起 `{key}` 改名为 `{now}`，新版本不再接受旧名。"), format!("请写 `{now}`。"))
        }
        Kind::TrainerNotModelled { by, task, nearest } => {
            let texts = headroom_text::Language::Chinese.texts();
            let nearest =
                if *nearest == TrainerName::Custom { "通用训练循环" } else { (texts.trainer)(*nearest).label };
            say(
                format!("尚未建模 {} 的 {}，方案保留该名称，按{nearest}估算。", launched_by(*by), task.name()),
                "所有数字请当作推测；估算会给出范围。",
            )
        }
        Kind::RemovedKey { tool, release, key, last, now } => say(
            format!("{tool} {release} 没有 `{key}`：最后支持它的版本是 {last}，运行会报错退出。"),
            if now.is_empty() {
                format!("请删除它，或使用 {tool} {last}。")
            } else {
                format!("请改写为 `{now}`，或使用 {tool} {last}。")
            },
        ),
        Kind::ReleaseImplied { tool, key, last, now } => say(
            format!(
                "文件没有说明 {tool} 的版本；最后支持 `{key}` 的是 {last}，因此采用它的默认值，更新的版本会报错退出。"
            ),
            if now.is_empty() {
                format!("请说明 {tool} 的版本，或删除 `{key}`。")
            } else {
                format!("请说明 {tool} 的版本，或改写为 `{now}`。")
            },
        ),
        Kind::ReleaseNotModelled { trainer, release, key, measured } => say(
            match key {
                Some(key) => format!(
                    "文件没有说明 {name} 的版本；最后支持 `{key}` 的是 {release}，该版本的训练步没有建模：除已知的变化外，文件未写的设置与 {measured} 相同。",
                    name = trainer.name()
                ),
                None => format!(
                    "{} {release} 的训练步没有建模：除已知的变化外，文件未写的设置与 {measured} 相同。",
                    trainer.name()
                ),
            },
            "请查看所用版本的默认值，并写明不同之处：长度、优化器、评估、适配器的目标模块。",
        ),
        Kind::StepOfRelease { trainer, stated, measured } => say(
            format!("默认值取自 {} {stated}；该版本的训练步没有实测，按 {measured} 的训练步估算。", trainer.name()),
            "数字对应实测版本的训练步；使用该版本可得到精确结果。",
        ),
        Kind::ReleaseAssumed { trainer, taken, changes } => say(
            if changes.is_empty() {
                format!("文件没有说明 {} 的版本，按 {taken} 处理。", trainer.name())
            } else {
                format!(
                    "文件没有说明 {} 的版本，按 {taken} 处理；更早版本的默认值不同：{}。",
                    trainer.name(),
                    changes.join("、")
                )
            },
            "请一并提供依赖版本，或在方案中设置版本。",
        ),
        Kind::QuantizesNothing { key, bits } => say(
            format!("只有 `{key}` 没有 `{bits}`：不会量化，权重按 16 位加载，并不是 QLoRA。"),
            format!("请加上 `{bits}: 4`，或删除 `{key}`。"),
        ),
        Kind::OtherDevice { key } => {
            say(format!("`{key}`：运行设备不是 NVIDIA 显卡，其算子与显存分配器尚未建模。"), "所有数字请当作推测。")
        }
        Kind::TaskNotModelled { trainer, task, nearest } => {
            say(format!("尚未建模 {trainer} 下的 `{task}`，方案写作 `{nearest}`。"), "请与已建模该任务的训练器比较。")
        }
        Kind::NoModel => say(
            "文件中没有指定模型。",
            "请在文件中写明模型，或在方案中给出 `model`：训练器默认冻结与适配哪些模块取决于它。",
        ),
        Kind::UnknownModel { name } => {
            say(format!("模型库中没有 `{name}`。"), "请一并提供该模型的 config.json，或选择同结构的模型。")
        }
        Kind::Overridden { key, value, by } => {
            say(format!("`{key}: {value}` 不生效，被 `{by}` 覆盖。"), "请删除不需要的那一个。")
        }
        Kind::MissingFile { path } => {
            say(format!("引用了 `{path}`，但没有提供，方案不含其中内容。"), "请一并提供该文件。")
        }
        Kind::ShippedFile { path } => {
            say(format!("没有提供 `{path}`，按训练器自带的这类名称的配置处理。"), "如果你的文件不同，请一并提供。")
        }
        Kind::AssumedBf16 => say("脚本会检查 GPU 是否支持 bf16，方案按支持处理。", "GPU 不支持时请在方案中选择 fp16。"),
        Kind::SeveralCommands { commands } => {
            say(format!("脚本中有 {commands} 条训练命令，这里读取的是这一条。"), "其余命令请分别提供。")
        }
        Kind::TrainsAgain { before, last } => say(
            format!("脚本先用 {before} 训练，再用 {last} 训练；方案对应后一次。"),
            "需要前一次的方案时，请单独提供那一部分。",
        ),
        Kind::CommandCut { options } => say(
            format!("命令在这里的注释处结束：其后的 {options} 个选项不会传给它。"),
            "请把这一行移到命令之外，或删除它。",
        ),
        Kind::LinesNotJoined { options } => say(
            format!("该命令有一行末尾缺少 `\\`。方案仍计入其后的 {options} 个选项，而 shell 不会。"),
            "请在除最后一行外的每行末尾加上 `\\`。",
        ),
        Kind::GpusUnknown => say(
            "命令会为每块可见的 GPU 启动一个进程，文件没有说明有几块，方案按一块处理。",
            "请在方案中选择 GPU 数量。",
        ),
        Kind::GpusMissing => say(
            "训练状态分片到多块 GPU 上，但文件没有说明有几块；每块 GPU 的显存占用取决于此。",
            "请给出 `num_gpus`：在方案中填写，或一并提供启动命令。",
        ),
        Kind::MachinesMissing { each } => say(
            format!("每台机器启动 {each} 个进程，但文件没有说明有几台机器；每块 GPU 的显存占用取决于此。"),
            format!("请在方案中给出 `num_gpus`：机器数乘以 {each}。"),
        ),
        Kind::LauncherOpen => say(
            "启动器的参数来自一个取值未知的变量，无法得知会启动几个进程。",
            "请在方案中给出 `num_gpus`，或一并提供给该变量赋值的内容。",
        ),
        Kind::ProcessesBeyondGpus { key, processes, by, seen } => say(
            format!(
                "`{key}` 在一台机器上启动 {processes} 个进程，而 `{by}` 只让它们看到 {seen} 块 GPU。方案按 {processes} 块处理。"
            ),
            "请改正有误的一处：每个进程需要自己的一块 GPU。",
        ),
        Kind::DataParallel { gpus } => say(
            format!(
                "一个进程看到 {gpus} 块 GPU：Trainer 会使用 torch.nn.DataParallel，每步复制模型。该方式尚未建模，方案按 DistributedDataParallel 处理。"
            ),
            "请用 torchrun 或 accelerate 启动，或用 CUDA_VISIBLE_DEVICES 只露出一块 GPU。",
        ),
        Kind::LengthOfModel => {
            say("没有设置长度：序列可达模型上限或数据长度。方案保留默认长度。", "请在文件和方案中设置最大序列长度。")
        }
        Kind::MultiGpuOneProcess => say(
            "`MULTI_GPU` 只有一个进程：实际只用一块 GPU，DDP 的桶白白占用显存。",
            "请设 `distributed_type: 'NO'`，或把 `num_processes` 设为 GPU 数量。",
        ),
        Kind::GpuIdsProcesses { listed, processes } => say(
            format!("`gpu_ids` 列出 {listed} 块 GPU，而 `num_processes` 为 {processes}：每个进程需要独占一块 GPU。"),
            format!("请设 `num_processes: {listed}`。"),
        ),
        Kind::ParamOffloadStage { stage } => say(
            format!("第 {stage} 阶段卸载参数：只有第 3 阶段会切分并卸载参数，其余会被 DeepSpeed 拒绝。"),
            "请使用第 3 阶段，或把参数留在 GPU 上。",
        ),
        Kind::OffloadWithoutStage => {
            say("没有 ZeRO 阶段却卸载优化器：不会卸载任何内容。", "请使用第 1 阶段或更高，或去掉卸载。")
        }
        Kind::ZeroOnOneGpu { stage, offloads: true } => say(
            format!("单卡上第 {stage} 阶段不切分任何内容，只有卸载能省显存。"),
            "为了卸载可以保留；参数留在 GPU 上时用第 2 阶段即可。",
        ),
        Kind::ZeroOnOneGpu { stage, offloads: false } => say(
            format!("单卡上第 {stage} 阶段不切分任何内容，它的桶和 fp32 副本反而占用显存。"),
            "请去掉 DeepSpeed，或卸载优化器。",
        ),
        Kind::DeepspeedMismatch { field, value, trainer } => say(
            format!("DeepSpeed 配置中 {field} 为 {value}，Trainer 为 {trainer}：会报错退出。"),
            "请在 DeepSpeed 配置中写 \"auto\"。",
        ),
        Kind::BatchProduct { value, micro, steps, world } => say(
            format!(
                "`train_batch_size` {value} 不等于 {micro} x {steps} x {world} = {}：DeepSpeed 会报错退出。",
                micro * steps * world
            ),
            "请写成乘积，或写 \"auto\"。",
        ),
        Kind::Fp16AndBf16 => say("fp16 和 bf16 同时打开：Trainer 会报错退出。", "请只保留一个；GPU 支持时用 bf16。"),
        Kind::Bf16Unsupported { gpu } => {
            say(format!("{gpu} 不支持 bf16：Trainer 会报错退出，或逐个操作模拟。"), "请使用 fp16。")
        }
        Kind::FlashUnsupported { gpu } => {
            say(format!("flash-attn 2 需要计算能力 8.0，{gpu} 达不到。"), "请使用 sdpa。")
        }
        Kind::DeviceMapDistributed { processes } => say(
            format!(
                "{processes} 个进程各自使用 `device_map=\"auto\"`：每个进程都把模型铺到所有 GPU 上，accelerate 会拒绝训练。"
            ),
            "请把整个模型放在进程自己的 GPU 上，或去掉 `device_map`。",
        ),
        Kind::DeviceMapSpreads => say(
            "`device_map=\"auto\"` 会把各层铺到所有可见的 GPU 上，GPU 轮流工作并来回传数据；只有一块时全部放在它上面。",
            "请设 `device_map={\"\": 0}`，或用 CUDA_VISIBLE_DEVICES 只露出一块 GPU。",
        ),
        Kind::ModelTwice { name, line, bytes } => say(
            format!(
                "`{name}` 被第二次加载（第一次在第 {line} 行）：权重占两份显存{}。",
                bytes.map_or_else(String::new, |bytes| format!("，每份 {}", bytes_text(bytes)))
            ),
            "请共用第一个实例；使用适配器时，关掉适配器的基座就是参考模型。",
        ),
        Kind::FullOfQuantized => say(
            "权重已量化却要全参数训练：量化权重没有梯度，transformers 会拒绝。",
            "请加上适配器（LoRA），或不量化加载。",
        ),
        Kind::CheckpointingUseCache => say(
            "梯度检查点下打开了 `use_cache`：transformers 会警告并关闭；若未关闭，会保留键和值。",
            "请设 `use_cache=False`。",
        ),
        Kind::QuantizedNotSharded { dtype } => say(
            "4-bit 权重打包成字节，FSDP 不会切分：每块 GPU 持有整个基座，FSDP1 会直接拒绝。",
            format!("请把 `bnb_4bit_quant_storage` 设为 {dtype}，与其余权重一致。"),
        ),
        Kind::LongerThanModel { length, longest } => say(
            format!("{length} 个词元超过模型的 {longest} 个位置：模型没有为此训练过。"),
            format!("请设为 {longest} 或更少，或缩放位置编码。"),
        ),
        Kind::PartialGroup { sequences, group } => say(
            format!("一轮生成 {sequences} 条序列，不是每个提示 {group} 个回答的整数倍：TRL 会报错退出。"),
            "请选择能整除的批大小、累积步数或组大小。",
        ),
        Kind::Planned { problem } => {
            let sentence = (headroom_text::Language::Chinese.texts().problem)(problem);
            say(format!("{}：{sentence}", problem.field), "请修改该设置。")
        }
        Kind::NotModelled { problem } => {
            let sentence = (headroom_text::Language::Chinese.texts().problem)(problem);
            say(format!("{}：{sentence}", problem.field), "运行本身可能没有问题；要进行估算，请在计划中修改该设置。")
        }
        Kind::UnmatchedTargets { names } => say(
            format!("模型没有名为 {names} 的模块：peft 会直接跳过，不报错，也不在那里训练适配器。"),
            "请改正或删除该名称。",
        ),
        Kind::NoEffect { key, instead } => {
            say(format!("`{key}` 在这个训练器中不起作用。"), format!("请使用 `{instead}`。"))
        }
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
