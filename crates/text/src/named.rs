//! Names that are put together from others: of measured steps, of the ways to train that are compared.

use headroom_core::accuracy::{Aspect, Metric, Setting, Sharding, Validated};
use headroom_core::advise::tiers::Reason;
use headroom_core::memory::Estimate;
use headroom_core::model::AssumedKey;
use headroom_core::plan::{Alternative, LaunchedBy, Method, Offload, Plan, Task};
use headroom_core::units::count_text;

use crate::labels::FieldText;
use crate::options::TierTexts;
use crate::texts::Texts;

impl Texts {
    /// The word of an estimate's verdict; that of a guess says that it is one, and one that evaluation spoils says what does.
    pub fn verdict_word(&self, estimate: &Estimate) -> &'static str {
        if estimate.guess.is_none() && estimate.step_fit() != estimate.verdict.fit {
            return self.step_alone_fits;
        }
        let word = if estimate.guess.is_some() { self.guessed_fit } else { self.fit };
        word(estimate.verdict.fit)
    }

    /// What a figure of a measured step is called.
    pub const fn metric(&self, metric: Metric) -> &FieldText {
        match metric {
            Metric::Allocated => &self.metric_allocated,
            Metric::Required => &self.metric_required,
            Metric::RequiredExpandable => &self.metric_required_expandable,
            Metric::Device => &self.metric_device,
        }
    }

    /// Name of the field that decides `aspect`.
    pub fn aspect(&self, aspect: Aspect) -> &'static str {
        let (fields, further) = (&self.fields, self.further_fields());
        match aspect {
            Aspect::Task => fields.task.label,
            Aspect::Method => fields.method.label,
            Aspect::Sharding => self.section_parallel,
            Aspect::Checkpointing => further.gradient_checkpointing.label,
            Aspect::Precision => further.precision.label,
            Aspect::Attention => further.attn_implementation.label,
            Aspect::Optimizer => further.optim.label,
        }
    }

    /// `LoRA · bf16 · AdamW · SDPA · 1 × 2,048 tokens`.
    pub fn setting(&self, case: &Validated<'_>) -> String {
        let Setting {
            task,
            method,
            bits,
            sharding,
            gradient_checkpointing,
            dtype,
            mixed_precision,
            attention,
            optimizer,
        } = case.setting;
        let words = self.accuracy();
        let mut parts = Vec::new();
        if task != Task::Sft {
            parts.push((self.task)(task).label.to_owned());
        }
        let bits = if method == Method::Qlora { format!(" {}", (self.bits)(bits)) } else { String::new() };
        parts.push(format!("{}{bits}", (self.method)(method).label));
        parts.push((self.precision)(dtype, mixed_precision).label.to_owned());
        parts.extend(optimizer.map(|optimizer| (self.optimizer)(optimizer).label.to_owned()));
        if gradient_checkpointing {
            parts.push(self.further_fields().gradient_checkpointing.label.to_owned());
        }
        parts.push((self.attention)(attention).label.to_owned());
        parts.extend(self.measured_sharding(sharding));
        if case.gpus > 1 {
            parts.push((words.gpus)(case.gpus));
        }
        parts.push((words.batch)(case.batch, &count_text(case.length)));
        parts.join(" · ")
    }

    fn measured_sharding(&self, sharding: Sharding) -> Option<String> {
        let offloaded = |name: String, offload: Option<&str>| match offload {
            Some(offload) => format!("{name} + {offload}"),
            None => name,
        };
        match sharding {
            Sharding::None => None,
            Sharding::Ddp => Some("DDP".to_owned()),
            Sharding::Zero { stage, offload_optimizer, offload_param } => {
                let offload = match (offload_optimizer, offload_param) {
                    (false, false) => None,
                    (true, false) => Some(self.offload_optimizer_short),
                    (false, true) => Some(self.offload_param_short),
                    (true, true) => Some(self.offload_all_short),
                };
                Some(offloaded(format!("ZeRO-{stage}"), offload))
            }
            Sharding::Fsdp2 { cpu_offload } | Sharding::Fsdp1 { cpu_offload } => {
                let name = if matches!(sharding, Sharding::Fsdp1 { .. }) { "FSDP1" } else { "FSDP2" };
                Some(offloaded(name.to_owned(), cpu_offload.then_some(self.offload_all_short)))
            }
        }
    }

    /// The method of one of the ways to train that are compared: what its bars are grouped by. Of inference the number format,
    /// which is what its ways differ in.
    pub fn alternative_group(&self, alternative: &Alternative) -> String {
        let plan = &alternative.plan;
        let name = (self.method)(plan.method).label;
        match plan.method {
            Method::Qlora => format!("{name} {}", (self.bits)(plan.quantization.bits)),
            Method::Full if plan.task == Task::Inference => (self.dtype)(plan.torch_dtype).label.to_owned(),
            Method::Full | Method::Lora => name.to_owned(),
        }
    }

    /// What tells it from the others of its group.
    pub fn alternative_label(&self, alternative: &Alternative) -> String {
        let Alternative { zero_stage, offload, plan, .. } = alternative;
        match plan.task {
            Task::Inference => (self.task)(plan.task).label.to_owned(),
            _ => self.sharding(plan, *zero_stage, *offload),
        }
    }

    /// How a plan shards its training state, and what of it lives in host memory.
    pub fn sharding(&self, plan: &Plan, zero_stage: u8, offload: bool) -> String {
        let place = match (plan.offload_optimizer, plan.offload_param) {
            _ if !offload => "",
            (Offload::Cpu, Offload::None) => self.offload_optimizer_short,
            (Offload::None, Offload::Cpu) => self.offload_param_short,
            // FSDP2 has one switch for everything.
            (Offload::Cpu, Offload::Cpu) | (Offload::None, Offload::None) => self.offload_all_short,
        };
        match (zero_stage, place) {
            (0, "") => self.unsharded.to_owned(),
            (0, place) => place.to_owned(),
            (stage, "") => format!("ZeRO-{stage}"),
            (stage, place) => format!("ZeRO-{stage} + {place}"),
        }
    }
}

impl TierTexts {
    /// Why a way to train is taken or not; empty where its verdict says so.
    pub const fn reason(&self, reason: Reason) -> &'static str {
        match reason {
            Reason::Quickest => self.quickest,
            Reason::Slower => self.slower,
            Reason::HostTooSmall => self.host_too_small,
            Reason::DoesNotFit | Reason::Contradicts => "",
        }
    }
}

/// What a tool that launches runs calls itself: the same in every language.
pub const fn launched_by(by: LaunchedBy) -> &'static str {
    match by {
        LaunchedBy::Unsloth => "Unsloth",
        LaunchedBy::Verl => "verl",
        LaunchedBy::OpenRlhf => "OpenRLHF",
        LaunchedBy::Torchtune => "torchtune",
        LaunchedBy::NemoAutomodel => "NeMo Automodel",
        LaunchedBy::FlagEmbedding => "FlagEmbedding",
        LaunchedBy::Megatron => "Megatron-Core",
        LaunchedBy::Trl => "TRL",
        LaunchedBy::LlamaFactory => "LLaMA-Factory",
        LaunchedBy::MsSwift => "ms-swift",
        LaunchedBy::Axolotl => "axolotl",
        LaunchedBy::Transformers => "transformers.Trainer",
    }
}

/// Keys with what was assumed of them, as sentences list them.
pub(crate) fn assumed_keys(keys: &[AssumedKey], between: &str) -> String {
    keys.iter().map(|assumed| format!("{} = {}", assumed.key, assumed.value)).collect::<Vec<_>>().join(between)
}
