//! Configurations that trainers ship and that people name without giving them.

use headroom_core::plan::{Release, TrainerName};

/// The settings of a DeepSpeed file that `trainer` ships, by its name: what its examples hold that bears on memory. Where no trainer is
/// known, what DeepSpeed and transformers' guide take.
///
/// `release` is the trainer's, and whether it is a state before that release; without one its newest files are meant.
///
/// ms-swift's swift/config/*.json (swift/llm/ds_config/*.json before 4.0), LLaMA-Factory's examples/deepspeed/ds_z*_config.json,
/// axolotl's deepspeed_configs/*.json.
pub fn shipped_deepspeed(path: &str, trainer: Option<TrainerName>, release: Option<(Release, bool)>) -> Option<String> {
    let is_before =
        |minor: Release| release.is_some_and(|(stated, unreleased)| stated < minor || unreleased && stated == minor);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".json").unwrap_or(name);
    // As ms-swift called them up to its second version: `default-zero3`, `zero2-offload`.
    let name = name.strip_prefix("default-").unwrap_or(name).replace('-', "_");
    let (stage, offload) = match name.as_str() {
        "zero0" | "ds_z0_config" => (0, Moved::Nothing),
        "zero1" => (1, Moved::Nothing),
        // Axolotl's moves the optimizer, and no other file of its stage does not.
        "zero2" if trainer == Some(TrainerName::Axolotl) => (2, Moved::Optimizer),
        "zero2" | "ds_z2_config" => (2, Moved::Nothing),
        "zero2_offload" | "ds_z2_offload_config" => (2, Moved::Optimizer),
        "zero3" | "zero3_bf16" | "ds_z3_config" | "zero3_fp16" => (3, Moved::Nothing),
        "zero3_offload" if trainer == Some(TrainerName::MsSwift) && is_before(SWIFT_OFFLOADS_BOTH) => {
            (3, Moved::Weights)
        }
        "zero3_offload" | "zero3_bf16_cpuoffload_all" | "ds_z3_offload_config" => (3, Moved::Both),
        "zero3_bf16_cpuoffload_params" => (3, Moved::Weights),
        other => named_after(other)?,
    };
    let moved = |section: &str| format!(", \"{section}\": {{\"device\": \"cpu\", \"pin_memory\": true}}");
    let optimizer =
        if matches!(offload, Moved::Optimizer | Moved::Both) { moved("offload_optimizer") } else { String::new() };
    let weights = if matches!(offload, Moved::Weights | Moved::Both) { moved("offload_param") } else { String::new() };
    let overlapped = OVERLAPPED.iter().any(|(whose, since)| trainer == Some(*whose) && is_before(*since));
    let mut settings = settings_of(stage, trainer).to_owned();
    if overlapped {
        settings = settings.replace(r#""overlap_comm": false"#, r#""overlap_comm": true"#);
    }
    let own_optimizer = trainer == Some(TrainerName::MsSwift) && is_before(SWIFT_WITHOUT_OPTIMIZER);
    let adam = if own_optimizer { ", \"optimizer\": {\"type\": \"AdamW\"}" } else { "" };
    Some(format!(
        "{{\"zero_optimization\": {{\"stage\": {stage}{optimizer}{weights}{settings}}}, \"bf16\": {{\"enabled\": \"auto\"}}, \
         \"fp16\": {{\"enabled\": \"auto\"}}{adam}}}"
    ))
}

/// Trainers whose files had `overlap_comm` on, and the first release that has it off.
const OVERLAPPED: [(TrainerName, Release); 2] =
    [(TrainerName::LlamaFactory, Release::new(0, 9, 2)), (TrainerName::MsSwift, Release::new(3, 3, 0))];
/// From here on ms-swift's `zero3_offload` moves the optimizer too; before, the weights alone.
const SWIFT_OFFLOADS_BOTH: Release = Release::new(3, 0, 3);
/// From here on ms-swift's files leave the optimizer to the Trainer.
const SWIFT_WITHOUT_OPTIMIZER: Release = Release::new(3, 0, 1);

/// What a file moves to the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    Nothing,
    Optimizer,
    Weights,
    Both,
}

/// What a trainer's file of a stage holds besides, as keys of `zero_optimization`.
const fn settings_of(stage: u8, trainer: Option<TrainerName>) -> &'static str {
    match (stage, trainer) {
        (1 | 2, Some(TrainerName::MsSwift)) => {
            r#", "overlap_comm": false, "allgather_bucket_size": 2e8, "reduce_bucket_size": 2e8"#
        }
        (1 | 2, Some(TrainerName::Axolotl)) => r#", "overlap_comm": true"#,
        (2, Some(TrainerName::LlamaFactory)) => {
            r#", "overlap_comm": false, "allgather_bucket_size": 5e8, "reduce_bucket_size": 5e8, "round_robin_gradients": true"#
        }
        (3, Some(TrainerName::Axolotl)) => {
            r#", "overlap_comm": true, "sub_group_size": 0, "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto",
 "stage3_param_persistence_threshold": "auto", "stage3_max_live_parameters": 0, "stage3_max_reuse_distance": 0"#
        }
        (3, Some(TrainerName::MsSwift | TrainerName::LlamaFactory)) => {
            r#", "overlap_comm": false, "sub_group_size": 1e9, "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto",
 "stage3_param_persistence_threshold": "auto", "stage3_max_live_parameters": 1e9, "stage3_max_reuse_distance": 1e9"#
        }
        (3, _) => {
            r#", "sub_group_size": 1e9, "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto",
 "stage3_param_persistence_threshold": "auto", "stage3_max_live_parameters": 1e9, "stage3_max_reuse_distance": 1e9"#
        }
        _ => "",
    }
}

/// What people call files after: `ds_config_zero3`, `ds_z3_offload`, `zero_stage1_config`, `stage2_no_offload`.
fn named_after(name: &str) -> Option<(u8, Moved)> {
    let (stage, offloads) = stage_of(name)?;
    Some(match (stage, offloads) {
        ('0', _) => (0, Moved::Nothing),
        ('1', _) => (1, Moved::Nothing),
        ('2', false) => (2, Moved::Nothing),
        ('2', true) => (2, Moved::Optimizer),
        ('3', false) => (3, Moved::Nothing),
        ('3', true) => (3, Moved::Both),
        _ => return None,
    })
}

/// The stage that a file is called after, and whether it is called after moving to the host.
fn stage_of(name: &str) -> Option<(char, bool)> {
    let name = name.to_ascii_lowercase();
    let stage = ["zero_stage_", "zero_stage", "stage_", "stage", "zero_", "zero", "_z"].iter().find_map(|mark| {
        let (_, after) = name.split_once(mark)?;
        let mut letters = after.chars();
        let digit = letters.next().filter(char::is_ascii_digit)?;
        // A number that goes on is none of a stage.
        letters.next().is_none_or(|next| !next.is_ascii_digit()).then_some(digit)
    })?;
    let offloads =
        name.contains("offload") && !["no_offload", "wo_offload", "without_offload"].iter().any(|no| name.contains(no));
    Some((stage, offloads))
}

/// The settings of an accelerate configuration that people call after them: `zero3_offload`, `fsdp_config`, `my_fsdp2`.
pub fn accelerate_named_after(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    if let Some((stage, offloads)) = stage_of(name).filter(|(stage, _)| "0123".contains(*stage)) {
        let moved = |moves: bool| if moves { "cpu" } else { "none" };
        let (optimizer, weights) = (moved(offloads && stage >= '2'), moved(offloads && stage == '3'));
        return Some(format!(
            "distributed_type: DEEPSPEED\ndeepspeed_config: {{zero_stage: {stage}, offload_optimizer_device: {optimizer}, \
             offload_param_device: {weights}}}\n"
        ));
    }
    let version = if lower.contains("fsdp2") { 2 } else { 1 };
    lower.contains("fsdp").then(|| format!("distributed_type: FSDP\nfsdp_config: {{fsdp_version: {version}}}\n"))
}

/// The settings of an accelerate configuration that TRL ships (trl/accelerate_configs/*.yaml).
pub fn shipped_accelerate(name: &str) -> Option<&'static str> {
    Some(match name {
        "single_gpu" => "distributed_type: \"NO\"\nmixed_precision: bf16\nnum_processes: 1\n",
        "multi_gpu" => "distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_processes: 8\n",
        "zero1" | "deepspeed_zero1" => {
            "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\ndeepspeed_config: {zero_stage: 1}\n"
        }
        "zero2" | "deepspeed_zero2" => {
            "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\ndeepspeed_config: {zero_stage: 2}\n"
        }
        "zero3" | "deepspeed_zero3" => {
            "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\ndeepspeed_config: {zero_stage: 3}\n"
        }
        "fsdp1" => "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\nfsdp_config: {fsdp_version: 1}\n",
        "fsdp2" => "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\nfsdp_config: {fsdp_version: 2}\n",
        _ => return None,
    })
}
