//! What starts the run: the environment, and the command.

use headroom_core::plan::TrainerName;

use super::accelerate::GPUS_PER_MACHINE;
use super::planned::{ACCELERATE_FILE, Planned, Sharding};
use super::why::Why;

/// Lines of the environment.
pub(super) fn environment(planned: &Planned<'_>) -> String {
    let mut out = String::new();
    if planned.plan.expandable_segments {
        let why = Why::Expandable.say(planned.language);
        out += &format!("# {why}\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n");
    }
    out
}

/// The shell script that starts `program`: `train.py`, or what a trainer's own command takes.
pub(super) fn script(planned: &Planned<'_>, trainer: TrainerName, program: &str) -> String {
    let gpus = planned.plan.num_gpus;
    let start = match trainer {
        TrainerName::LlamaFactory if planned.sharding() == Sharding::Fsdp => {
            format!("accelerate launch --config_file {ACCELERATE_FILE} -m llamafactory.launcher {program}")
        }
        TrainerName::LlamaFactory if planned.is_distributed() => {
            format!("FORCE_TORCHRUN=1 NPROC_PER_NODE={} llamafactory-cli train {program}", per_machine(gpus))
        }
        TrainerName::LlamaFactory => format!("llamafactory-cli train {program}"),
        TrainerName::Axolotl if planned.is_distributed() => {
            format!("accelerate launch --num_processes {gpus} -m axolotl.cli.train {program}")
        }
        TrainerName::Axolotl => format!("axolotl train {program}"),
        TrainerName::MsSwift if planned.is_distributed() => format!("NPROC_PER_NODE={} {program}", per_machine(gpus)),
        TrainerName::MsSwift => program.to_owned(),
        _ if planned.is_distributed() => format!("accelerate launch --config_file {ACCELERATE_FILE} {program}"),
        _ => format!("python {program}"),
    };
    format!("#!/bin/sh\nset -e\n{}{}\n", environment(planned), start.trim_end())
}

/// Processes of one machine.
fn per_machine(gpus: u64) -> u64 {
    gpus.min(GPUS_PER_MACHINE)
}
