//! Findings in English.

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
        Kind::UnknownKey { tool, key, nearest: Some(nearest) } => {
            say(format!("{tool} has no key `{key}`; the plan does not contain it."), format!("Write `{nearest}` if that is meant."))
        }
        Kind::UnknownKey { tool, key, nearest: None } => say(
            format!("`{key}` is no key of {tool} that Headroom knows; the plan does not contain it."),
            "Check its spelling; arguments of your own script can stay.",
        ),
        Kind::BadValue { key, value, expected } => {
            say(format!("`{key}` cannot be `{value}`; its default is used."), format!("Use {expected}."))
        }
        Kind::Renamed { key, now, since } => {
            say(format!("`{key}` is called `{now}` since {since}; newer versions refuse the old name."), format!("Write `{now}`."))
        }
        Kind::TrainerNotModelled { trainer, nearest } => say(
            format!("The step of {trainer} is not modelled; the plan describes the nearest one, that of {nearest}."),
            "Read the estimate as that of the named trainer; the real step can need less or more.",
        ),
        Kind::TaskNotModelled { trainer, task, nearest } => say(
            format!("`{task}` under {trainer} is not modelled; the plan says `{nearest}`."),
            "Compare with a trainer whose step is modelled for this task.",
        ),
        Kind::NoModel => say("No file names a model; the plan keeps its default.", "Choose the model in the plan."),
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
            format!("`{path}` was not given; the settings that the trainer ships under this name are used."),
            "Add the file if yours differs.",
        ),
        Kind::AssumedBf16 => {
            say("The script asks whether the GPU has bf16; the plan takes yes.", "Choose fp16 in the plan for a GPU without it.")
        }
        Kind::SeveralCommands { commands } => {
            say(format!("{commands} commands of this script train; this one is read."), "Give the others by themselves.")
        }
        Kind::GpusUnknown => say(
            "The command starts one process for each GPU that it finds; the files do not say how many. The plan takes one.",
            "Choose the number of GPUs in the plan.",
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
        FaultKind::TooMany { most } => {
            say(format!("The file holds more than {most} values, those of aliases included."), "Give the configuration alone.")
        }
        FaultKind::Malformed { notation, why } => {
            say(format!("This is no {notation}: {why}."), "Correct this line.")
        }
    }
}
