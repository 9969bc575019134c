//! What a plan says and its files do not: fields that differ when the files are read again.

use headroom_core::plan::{self, Framework, Method, Plan, TargetModules, Task, TrainerName};
use headroom_text::Language;

use super::deepspeed;
use super::planned::{Planned, Sharding};
use super::unsloth;
use crate::import::{self, File};

/// Fields in which `files` of `trainer`, read again, differ from the plan, of those that it chooses and its run depends on.
pub(super) fn unsaid(planned: &Planned<'_>, trainer: TrainerName, files: &[File]) -> Vec<&'static str> {
    let plan = planned.plan;
    let read = import::import(files).plan;
    // Without a stage DeepSpeed's plan and DDP's are one.
    let unsharded = |plan: &Plan| plan.zero_stage == 0 && !plan.distributed.framework.is_fsdp();
    let same_framework = unsharded(plan) && unsharded(&read);
    // No version means the newest; who asks for another trainer's files knows that they are another's.
    let same_release = plan.trainer.name == read.trainer.name && plan.trainer.release() == read.trainer.release();
    let asked = trainer != plan.trainer.name;
    // A task that a trainer's step is not modelled for is read as another's step, which keeps the trainer's name.
    let keeps_name = read.launched_by.is_some_and(|by| by.name() == plan.trainer.name.name());
    let every_linear = plan.lora.target_modules == TargetModules::AllLinear
        && matches!(&read.lora.target_modules, TargetModules::Names(names) if names == &unsloth::ALL_LINEAR);
    let says_nothing = |name: &str| {
        same_framework && name == "distributed.framework"
            || same_release && name == "trainer.version"
            || (asked || keeps_name) && matches!(name, "trainer.name" | "trainer.version")
            || trainer == TrainerName::Unsloth && every_linear && name == "lora.target_modules"
            || !matters(planned, name)
    };
    let fields = plan::fields().iter().filter(|field| !says_nothing(field.name));
    // What a plan leaves open is the trainer's, and a file may state it.
    let chosen = fields.filter(|field| !field.value(plan).is_null());
    chosen.filter(|field| field.value(plan) != field.value(&read)).map(|field| field.name).collect()
}

/// Whether the run depends on the field. The machine is no business of files.
fn matters(planned: &Planned<'_>, name: &str) -> bool {
    let plan = planned.plan;
    let reinforces = matches!(plan.task, Task::Grpo | Task::Rloo | Task::Ppo);
    let of_4bit = ["quant_type", "double_quant", "bnb_4bit_quant_storage", "fused_4bit_gemm"];
    let (section, member) = name.split_once('.').unwrap_or((name, ""));
    match section {
        "gpu" | "host_memory_gib" | "non_pytorch_memory_mib" => false,
        "lora" => plan.method != Method::Full,
        "quantization" => plan.method == Method::Qlora && (plan.quantization.bits == 4 || !of_4bit.contains(&member)),
        "rollout" => reinforces || plan.task == Task::Inference,
        "reward_models" | "num_iterations" | "steps_per_generation" | "old_logprobs_pass" | "logprob_batch_size" => {
            reinforces
        }
        "value_model" | "vf_coef" => plan.task == Task::Ppo,
        "num_labels" => plan.task == Task::SequenceClassification,
        "pooling" | "embedding" => plan.task == Task::Embedding,
        "packing_strategy" => plan.packing,
        "per_device_eval_batch_size" | "eval_length" | "compute_metrics" => plan.evaluates(),
        "zero_stage" | "offload_optimizer" | "offload_param" => planned.sharding() == Sharding::Zero,
        "distributed" => matters_among_processes(planned, member),
        _ => true,
    }
}

/// The same for settings of data parallelism.
fn matters_among_processes(planned: &Planned<'_>, member: &str) -> bool {
    const OF_COPIES: [&str; 4] = ["bucket_cap_mb", "gradient_as_bucket_view", "static_graph", "find_unused_parameters"];
    const OF_FSDP: [&str; 9] = [
        "reshard_after_forward",
        "param_dtype",
        "reduce_dtype",
        "cpu_offload",
        "wrap",
        "sharding_strategy",
        "dp_replicate_size",
        "backward_prefetch",
        "cpu_ram_efficient_loading",
    ];
    match member {
        "framework" => planned.is_distributed(),
        _ if OF_COPIES.contains(&member) => planned.is_distributed() && planned.sharding() == Sharding::None,
        "sharding_strategy" | "backward_prefetch" => {
            planned.sharding() == Sharding::Fsdp && planned.plan.distributed.framework == Framework::Fsdp1
        }
        "reshard_after_forward" => {
            planned.sharding() == Sharding::Fsdp && planned.plan.distributed.framework == Framework::Fsdp2
        }
        _ if OF_FSDP.contains(&member) => planned.sharding() == Sharding::Fsdp,
        "pin_memory" => planned.sharding() == Sharding::Zero && planned.offloads(),
        _ => planned.sharding() == Sharding::Zero && deepspeed::is_read(member, planned.plan.zero_stage),
    }
}

/// The first file with a comment that names what is unsaid.
pub(super) fn note(planned: &Planned<'_>, files: &mut [File], unsaid: &[&'static str]) {
    let Some(first) = files.first_mut() else { return };
    if unsaid.is_empty() {
        return;
    }
    let mut comment = match planned.language {
        Language::English => "# Planned, and said by none of these files:\n",
        Language::Chinese => "# 规划中有，但这些文件无法表达：\n",
    }
    .to_owned();
    for name in unsaid {
        let value = plan::field(name).map_or_else(String::new, |field| field.text(planned.plan));
        let value = value.replace(['\n', '\r'], " ");
        comment += &format!("#   {name} = {value}\n");
    }
    let after = if first.text.starts_with("#!") { first.text.find('\n').map_or(0, |end| end + 1) } else { 0 };
    first.text.insert_str(after, &comment);
}
