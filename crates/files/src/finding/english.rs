//! Findings in English.

use headroom_core::plan::TrainerName;
use headroom_core::units::bytes_text;
use headroom_text::{launched_by, problem_line};

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
            "Nothing in this file was recognised as a trainer's settings or a command.",
            "Give a trainer's YAML, JSON, TOML or Python, a DeepSpeed or accelerate file, or the launch command.",
        ),
        Kind::UnknownKey { tool, key, nearest: Some(nearest) } => say(
            format!("{tool} has no key `{key}`; the plan does not contain it."),
            format!("Write `{nearest}` if that is meant."),
        ),
        Kind::UnknownKey { tool, key, nearest: None } => say(
            format!("`{key}` is no key of {tool} that Headroom knows; the plan does not contain it."),
            "Check its spelling; arguments of your own script can stay.",
        ),
        Kind::BadValue { key, value, expected } => {
            say(format!("`{key}` cannot be `{value}`; its default is used."), format!("Use {expected}."))
        }
        Kind::Renamed { key, now, since } => say(
            format!("`{key}` is called `{now}` since {since}; newer versions refuse the old name."),
            format!("Write `{now}`."),
        ),
        Kind::TrainerNotModelled { by, task, nearest } => {
            let texts = headroom_text::Language::English.texts();
            let nearest = if *nearest == TrainerName::Custom {
                "a generic training loop"
            } else {
                (texts.trainer)(*nearest).label
            };
            say(
                format!(
                    "{} is not modelled for {}: the plan keeps its name and is estimated as {nearest}.",
                    launched_by(*by),
                    task.name()
                ),
                "Take every figure as a guess; the estimate says its range.",
            )
        }
        Kind::RemovedKey { tool, release, key, last, now } => say(
            format!(
                "{tool} {release} has no `{key}`: {last} was the last release that took it. The run stops with an error."
            ),
            if now.is_empty() {
                format!("Remove it, or run {tool} {last}.")
            } else {
                format!("Write `{now}`, or run {tool} {last}.")
            },
        ),
        Kind::StepOfRelease { trainer, stated, measured } => say(
            format!(
                "The defaults are those of {} {stated}. Its step was not measured: that of {measured} stands for it.",
                trainer.name()
            ),
            "The figures are those of the measured step; run that release to have them exact.",
        ),
        Kind::ReleaseAssumed { trainer, taken, changes } => say(
            if changes.is_empty() {
                format!("No file states the release of {}: {taken} is taken.", trainer.name())
            } else {
                format!(
                    "No file states the release of {}: {taken} is taken. Older ones take {}.",
                    trainer.name(),
                    changes.join(", ")
                )
            },
            "Add the requirements, or set the release in the plan.",
        ),
        Kind::ReleaseImplied { tool, key, last, now } => say(
            format!(
                "No file states the release of {tool}. {last} was the last that took `{key}`: its defaults are used. Newer ones stop with an error."
            ),
            if now.is_empty() {
                format!("State the release of {tool}, or remove `{key}`.")
            } else {
                format!("State the release of {tool}, or write `{now}`.")
            },
        ),
        Kind::ReleaseNotModelled { trainer, release, key, measured } => say(
            match key {
                Some(key) => format!(
                    "No file states the release of {name}. {release} was the last that took `{key}`, and its step is not modelled: what the files leave open is as in {measured}, unless a change is known.",
                    name = trainer.name()
                ),
                None => format!(
                    "The step of {} {release} is not modelled: what the files leave open is as in {measured}, unless a change is known.",
                    trainer.name()
                ),
            },
            "Look up what your release takes by default, and set what differs: length, optimizer, evaluation, modules of the adapters.",
        ),
        Kind::QuantizesNothing { key, bits } => say(
            format!("`{key}` without `{bits}` quantises nothing: the weights load in 16 bits, and this is no QLoRA."),
            format!("Add `{bits}: 4`, or remove `{key}`."),
        ),
        Kind::OtherDevice { key } => say(
            format!(
                "`{key}`: the run is on a device that is not NVIDIA's. The kernels and the allocator of such devices are not modelled."
            ),
            "Take every figure as a guess.",
        ),
        Kind::TaskNotModelled { trainer, task, nearest } => say(
            format!("`{task}` under {trainer} is not modelled; the plan says `{nearest}`."),
            "Compare with a trainer whose step is modelled for this task.",
        ),
        Kind::NoModel => say(
            "No file names a model.",
            "Name it in the files, or give `model` in the plan: what the trainer freezes and adapts depends on it.",
        ),
        Kind::UnknownModel { name } => say(
            format!("`{name}` is not in the catalogue."),
            "Add the model's config.json to the files, or choose a model of the same architecture.",
        ),
        Kind::Overridden { key, value, by } => {
            say(format!("`{key}: {value}` does not count: `{by}` replaces it."), "Remove the one that is not meant.")
        }
        Kind::MissingFile { path } => {
            say(format!("`{path}` is named and was not given; what it says is not in the plan."), "Add the file.")
        }
        Kind::ShippedFile { path } => say(
            format!("`{path}` was not given; the settings that trainers ship under such a name are used."),
            "Add the file if yours differs.",
        ),
        Kind::AssumedBf16 => say(
            "The script asks whether the GPU has bf16; the plan takes yes.",
            "Choose fp16 in the plan for a GPU without it.",
        ),
        Kind::SeveralCommands { commands } => say(
            format!("{commands} commands of this script train; this one is read."),
            "Give the others by themselves.",
        ),
        Kind::TrainsAgain { before, last } => say(
            format!("The script trains with {before} first and with {last} then; the plan is of the last."),
            "Give the first by itself, for a plan of it.",
        ),
        Kind::CommandCut { options } => say(
            format!(
                "The command ends at the comment above this line: the {options} options from here on do not reach it."
            ),
            "Move the comment out of the command, or remove it.",
        ),
        Kind::LinesNotJoined { options } => say(
            format!(
                "A line of this command lacks its `\\`. The plan takes the {options} options behind it; a shell does not."
            ),
            "End every line of the command but the last with `\\`.",
        ),
        Kind::GpusUnknown => say(
            "The command starts one process for each GPU that it finds; the files do not say how many. The plan takes one.",
            "Choose the number of GPUs in the plan.",
        ),
        Kind::GpusMissing => say(
            "The run is sharded over GPUs, and no file says how many. What each GPU needs depends on it.",
            "Give `num_gpus`: in the plan, or by the command that launches the run.",
        ),
        Kind::MachinesMissing { each } => say(
            format!(
                "Each machine runs {each} processes, and no file says how many machines. What each GPU needs depends on it."
            ),
            format!("Give `num_gpus` in the plan: {each} for each machine."),
        ),
        Kind::LauncherOpen => say(
            "What the launcher is given stands in a variable that the files leave open: how many processes it starts is not known.",
            "Give `num_gpus` in the plan, or add the lines that set the variable.",
        ),
        Kind::ProcessesBeyondGpus { key, processes, by, seen } => say(
            format!(
                "`{key}` starts {processes} processes on a machine, and `{by}` lets them see {seen} GPUs. The plan takes {processes} GPUs."
            ),
            "Correct the one that is wrong: each process needs a GPU of its own.",
        ),
        Kind::DataParallel { gpus } => say(
            format!(
                "One process sees {gpus} GPUs: the Trainer then uses torch.nn.DataParallel, which copies the model every step. \
                 It is not modelled; the plan takes DistributedDataParallel."
            ),
            "Launch with torchrun or accelerate, or show one GPU with CUDA_VISIBLE_DEVICES.",
        ),
        Kind::LengthOfModel => say(
            "No length is set: sequences can be as long as the model allows, or as the data is. The plan keeps its default.",
            "Set the longest sequence, in the file and in the plan.",
        ),
        Kind::MultiGpuOneProcess => say(
            "`MULTI_GPU` with one process: one GPU trains, within a process group of one, and DDP keeps its buckets for nothing.",
            "Set `distributed_type: 'NO'`, or `num_processes` to the number of GPUs.",
        ),
        Kind::GpuIdsProcesses { listed, processes } => say(
            format!(
                "`gpu_ids` lists {listed} GPUs and `num_processes` is {processes}: each process needs a GPU of its own."
            ),
            format!("Set `num_processes: {listed}`."),
        ),
        Kind::ParamOffloadStage { stage } => say(
            format!(
                "Parameters are offloaded at stage {stage}: only stage 3 shards and offloads them; DeepSpeed refuses the rest."
            ),
            "Set stage 3, or keep the parameters on the GPU.",
        ),
        Kind::OffloadWithoutStage => say(
            "The optimizer is offloaded without a ZeRO stage: nothing is offloaded.",
            "Set stage 1 or higher, or remove the offload.",
        ),
        Kind::ZeroOnOneGpu { stage, offloads: true } => say(
            format!("Stage {stage} on one GPU shards nothing; only what is offloaded saves memory."),
            "Keep it for the offload, at stage 2 where parameters stay on the GPU.",
        ),
        Kind::ZeroOnOneGpu { stage, offloads: false } => say(
            format!("Stage {stage} on one GPU shards nothing, and its buckets and fp32 copies take memory."),
            "Remove DeepSpeed, or offload the optimizer.",
        ),
        Kind::DeepspeedMismatch { field, value, trainer } => say(
            format!("DeepSpeed's file says {field} {value}, the Trainer {trainer}: it stops with an error."),
            "Write \"auto\" in DeepSpeed's file.",
        ),
        Kind::BatchProduct { value, micro, steps, world } => say(
            format!(
                "`train_batch_size` {value} is not {micro} x {steps} x {world} = {}: DeepSpeed stops with an error.",
                micro * steps * world
            ),
            "Write the product, or \"auto\".",
        ),
        Kind::Fp16AndBf16 => {
            say("fp16 and bf16 are both on: the Trainer stops with an error.", "Keep one; bf16 where the GPU has it.")
        }
        Kind::Bf16Unsupported { gpu } => say(
            format!("{gpu} has no bf16: the Trainer stops with an error, or each operation is emulated."),
            "Use fp16.",
        ),
        Kind::FlashUnsupported { gpu } => {
            say(format!("flash-attn 2 needs compute capability 8.0; {gpu} has less."), "Use sdpa.")
        }
        Kind::DeviceMapDistributed { processes } => say(
            format!(
                "`device_map=\"auto\"` in each of {processes} processes: every process spreads the model over all GPUs, and accelerate \
                 refuses to train it."
            ),
            "Place the whole model on the process's own GPU, or remove `device_map`.",
        ),
        Kind::DeviceMapSpreads => say(
            "`device_map=\"auto\"` spreads the layers over every GPU that is visible: they work one after the other, and data goes \
             from GPU to GPU. On one GPU it places everything there.",
            "Set `device_map={\"\": 0}`, or show one GPU with CUDA_VISIBLE_DEVICES.",
        ),
        Kind::ModelTwice { name, line, bytes } => say(
            format!(
                "`{name}` is loaded a second time (first on line {line}): its weights are held twice{}.",
                bytes.map_or_else(String::new, |bytes| format!(", {} each", bytes_text(bytes)))
            ),
            "Share the first instance; with adapters the reference is the base with the adapter off.",
        ),
        Kind::FullOfQuantized => say(
            "The weights are quantised and all of them are to train: quantised weights have no gradients, transformers refuses.",
            "Add adapters (LoRA), or load without quantisation.",
        ),
        Kind::CheckpointingUseCache => say(
            "`use_cache` under gradient checkpointing: transformers warns and switches it off; where it stays on, keys and values are held.",
            "Set `use_cache=False`.",
        ),
        Kind::QuantizedNotSharded { dtype } => say(
            "The 4-bit weights are packed into bytes, which FSDP does not shard: each GPU holds the whole base, and FSDP1 refuses.",
            format!("Set `bnb_4bit_quant_storage` to {dtype}, the dtype of the other weights."),
        ),
        Kind::LongerThanModel { length, longest } => say(
            format!("{length} tokens are more than the model's {longest} positions: it was not trained for them."),
            format!("Set {longest} or less, or scale the positions."),
        ),
        Kind::PartialGroup { sequences, group } => say(
            format!(
                "A generation round has {sequences} sequences, no multiple of {group} answers to a prompt: TRL stops with an error."
            ),
            "Choose a batch, accumulation or group that divides.",
        ),
        Kind::Planned { problem } => {
            let text = problem_line(problem);
            say(text, "Change this setting.")
        }
        Kind::NotModelled { problem } => {
            let text = problem_line(problem);
            say(text, "The run may be right as it is; to estimate it, change this setting in the plan.")
        }
        Kind::UnmatchedTargets { names } => say(
            format!(
                "The model has no module {names}: peft passes over it without a word, and trains no adapter there."
            ),
            "Correct the name, or remove it.",
        ),
        Kind::NoEffect { key, instead } => {
            say(format!("`{key}` has no effect in this trainer."), format!("Use `{instead}`."))
        }
    }
}

fn unreadable(fault: &FaultKind) -> Said {
    match fault {
        FaultKind::TooLong { most_bytes } => {
            say(format!("The file is longer than {most_bytes} bytes."), "Give the configuration alone.")
        }
        FaultKind::TooDeep { deepest } => {
            say(format!("Values nest deeper than {deepest} levels."), "Give the configuration alone.")
        }
        FaultKind::TooMany { most } => say(
            format!("The file holds more than {most} values, those of aliases included."),
            "Give the configuration alone.",
        ),
        FaultKind::Malformed { notation, why } => say(format!("This is no {notation}: {why}."), "Correct this line."),
    }
}
