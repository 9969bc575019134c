//! `TrainingArguments`, which every trainer built on transformers takes.

use headroom_core::memory::Category;
use headroom_core::plan::MixedPrecision;

use super::planned::{DEEPSPEED_FILE, Planned, Sharding};
use super::setting::{Setting, Written, set};
use super::why::Why;

/// The trainer's arguments that a plan decides, under transformers' names.
pub(super) fn training(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let mut optim = set("optim", plan.optim.name());
    if let Some(bytes) = planned.bytes_of(Category::OptimizerStates).filter(|bytes| *bytes > 0) {
        optim = optim.because(Why::OptimizerState(bytes));
    }
    let mut settings = vec![
        set("per_device_train_batch_size", plan.per_device_train_batch_size).because(planned.effective_batch()),
        set("gradient_accumulation_steps", plan.gradient_accumulation_steps)
            .because(Why::Accumulated(plan.gradient_accumulation_steps)),
        set("gradient_checkpointing", plan.gradient_checkpointing).because(planned.checkpointing()),
    ];
    if plan.gradient_checkpointing {
        settings
            .push(set("gradient_checkpointing_kwargs", vec![set("use_reentrant", false)]).because(Why::NotReentrant));
    }
    settings.extend(precision(planned));
    settings.push(optim);
    settings.push(set("max_grad_norm", plan.max_grad_norm).because(Why::Clipping(plan.max_grad_norm)));
    if plan.use_liger_kernel {
        settings.push(set("use_liger_kernel", true));
    }
    if plan.torch_compile {
        settings.push(set("torch_compile", true));
    }
    settings.extend(distributed_data_parallel(planned));
    settings
}

/// The switches of autocast: both, since a trainer's own default may be on.
fn precision(planned: &Planned<'_>) -> Vec<Setting> {
    let mixed = planned.plan.mixed_precision;
    let bf16 = set("bf16", mixed == MixedPrecision::Bf16);
    let fp16 = set("fp16", mixed == MixedPrecision::Fp16);
    match mixed {
        // transformers integrations/deepspeed.py refuses a section that says otherwise than the arguments.
        MixedPrecision::No if planned.is_bf16_by_deepspeed() => {
            vec![set("bf16", true).because(Why::DeepspeedBf16), fp16]
        }
        MixedPrecision::No => vec![bf16, fp16],
        MixedPrecision::Bf16 => vec![bf16.because(planned.autocast()), fp16.because(Why::NotFp16)],
        MixedPrecision::Fp16 => vec![bf16, fp16.because(planned.autocast())],
    }
}

/// DDP's settings where they are not the library's own.
pub(super) fn distributed_data_parallel(planned: &Planned<'_>) -> Vec<Setting> {
    let of = &planned.plan.distributed;
    let mut settings = Vec::new();
    if planned.plan.num_gpus == 1 || planned.sharding() != Sharding::None {
        return settings;
    }
    if of.bucket_cap_mb != 25 {
        settings.push(set("ddp_bucket_cap_mb", of.bucket_cap_mb));
    }
    if of.find_unused_parameters {
        settings.push(set("ddp_find_unused_parameters", true));
    }
    if of.static_graph {
        settings.push(set("ddp_static_graph", true));
    }
    settings
}

/// When the run evaluates, and how much at once under `batch`.
pub(super) fn evaluation(planned: &Planned<'_>, batch: &'static str) -> Vec<Setting> {
    let plan = planned.plan;
    let why = planned.evaluation_logits().map_or(Why::EvaluationPeak, Why::EvaluationLogits);
    let strategy = set("eval_strategy", plan.evaluation.eval_strategy.name());
    match plan.evaluates() {
        true => vec![strategy, set(batch, plan.eval_batch_size()).because(why)],
        false => vec![strategy.because(why)],
    }
}

/// What has a cost beside the step: workers, checkpoints, evaluation.
pub(super) fn housekeeping(planned: &Planned<'_>) -> Vec<Setting> {
    let mut settings = vec![set("dataloader_num_workers", 2).because(Why::HostWorkers)];
    settings.extend(evaluation(planned, "per_device_eval_batch_size"));
    settings.extend([
        set("save_strategy", "steps").because(Why::Saving),
        set("save_steps", 500),
        set("save_total_limit", 2).because(Why::Checkpoints),
        set("logging_steps", 10),
    ]);
    settings
}

/// The DeepSpeed file, for trainers that take it themselves.
pub(super) fn deepspeed(planned: &Planned<'_>) -> Option<Setting> {
    let why =
        if planned.host_bytes() > 0 { Why::OnHost(planned.host_bytes()) } else { Why::Sharded(planned.plan.num_gpus) };
    (planned.sharding() == Sharding::Zero).then(|| set("deepspeed", DEEPSPEED_FILE).because(why))
}

/// `settings` without those of `keys`.
pub(super) fn without(settings: Vec<Setting>, keys: &[&str]) -> Vec<Setting> {
    settings.into_iter().filter(|setting| !keys.contains(&setting.key)).collect()
}

/// A whole number, if there is one.
pub(super) fn given(key: &'static str, value: Option<impl Into<Written>>) -> Option<Setting> {
    value.map(|value| set(key, value))
}
