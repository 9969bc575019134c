//! What starts the run: the environment, and the command.

use headroom_core::plan::{Plan, Task, TrainerName};
use headroom_text::Language;

use super::planned::{ACCELERATE_FILE, Planned, Sharding};
use super::setting::Setting;
use super::why::Why;

/// A trainer's own command.
pub(super) struct Command {
    pub(super) text: String,
    /// Why its values are what they are, as comments: none can stand between the lines of a command.
    pub(super) reasons: String,
}

impl Command {
    /// `start` with `arguments`, which say `settings`.
    pub(super) fn new(start: &str, arguments: &str, settings: &[Setting], language: Language) -> Self {
        let reason = |setting: &Setting| Some(format!("# {}: {}\n", setting.key, setting.why.as_ref()?.say(language)));
        Self { text: format!("{start}{arguments}\n"), reasons: settings.iter().filter_map(reason).collect() }
    }
}

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
pub(super) fn script(planned: &Planned<'_>, trainer: TrainerName, reasons: &str, program: &str) -> String {
    let gpus = planned.plan.num_gpus;
    let accelerate = format!("accelerate launch --config_file {ACCELERATE_FILE}{}", rank(planned.plan));
    let start = match trainer {
        TrainerName::LlamaFactory if planned.sharding() == Sharding::Fsdp => {
            format!("{accelerate} -m llamafactory.launcher {program}")
        }
        TrainerName::LlamaFactory if planned.is_distributed() => {
            format!("FORCE_TORCHRUN=1 {} llamafactory-cli train {program}", processes(planned.plan))
        }
        TrainerName::LlamaFactory => format!("llamafactory-cli train {program}"),
        TrainerName::Axolotl if planned.is_distributed() => {
            let machines = planned.plan.machines();
            let several = if machines > 1 { format!(" --num_machines {machines}") } else { String::new() };
            format!(
                "accelerate launch --num_processes {gpus}{several}{} -m axolotl.cli.train {program}",
                rank(planned.plan)
            )
        }
        TrainerName::Axolotl => format!("axolotl train {program}"),
        TrainerName::MsSwift if planned.is_distributed() => format!("{} {program}", processes(planned.plan)),
        // verl starts its own workers, through Ray.
        TrainerName::MsSwift | TrainerName::Verl => program.to_owned(),
        _ if planned.is_distributed() => format!("{accelerate} {program}"),
        _ => format!("python {program}"),
    };
    let by_ray = trainer == TrainerName::Verl && planned.plan.task != Task::Sft;
    let own = if by_ray { "" } else { machines(planned) };
    format!("#!/bin/sh\nset -e\n{}{own}{reasons}{}\n", environment(planned), start.trim_end())
}

/// How several machines are told which is which.
pub(super) fn machines(planned: &Planned<'_>) -> &'static str {
    match (planned.plan.machines() > 1, planned.language) {
        (false, _) => "",
        (true, Language::English) => {
            "# On every machine: NODE_RANK=0, 1, ... and MASTER_ADDR, the address of the first.\n"
        }
        (true, Language::Chinese) => "# 每台机器都运行：NODE_RANK=0、1、…，MASTER_ADDR 为第一台机器的地址。\n",
    }
}

/// accelerate's flags for one of several machines.
pub(super) fn rank(plan: &Plan) -> &'static str {
    match plan.machines() > 1 {
        true => " --machine_rank \"$NODE_RANK\" --main_process_ip \"$MASTER_ADDR\" --main_process_port 29500",
        false => "",
    }
}

/// torchrun's variables: processes of each machine, and machines.
fn processes(plan: &Plan) -> String {
    let each = format!("NPROC_PER_NODE={}", per_machine(plan));
    match plan.machines() {
        1 => each,
        machines => format!("NNODES={machines} NODE_RANK=\"$NODE_RANK\" MASTER_ADDR=\"$MASTER_ADDR\" {each}"),
    }
}

/// Processes of one machine.
fn per_machine(plan: &Plan) -> u64 {
    plan.num_gpus.div_ceil(plan.machines())
}
