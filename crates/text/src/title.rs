//! What a plan is called in a few words: the title of a page, of an embedded plan, of a picture.

use headroom_core::advise::difference::changed;
use headroom_core::gpu;
use headroom_core::plan::{Framework, GpuChoice, Method, ModelChoice, Offload, Plan, Task};

use crate::texts::Texts;

/// Longest name of a model or GPU in a title, characters: readers give them to their own.
const LONGEST_NAME: usize = 48;

/// What names of GPUs begin with that says nothing more.
const MAKERS: [&str; 3] = ["NVIDIA ", "GeForce ", "Tesla "];

/// Most settings that tell two plans apart in a title.
const MOST_SETTINGS: usize = 2;

impl Texts {
    /// `Llama-3.1-8B · QLoRA 4-bit · ZeRO-2 · 8 × H100 SXM 80 GB`. Names of models and GPUs are the reader's own words: to be
    /// escaped.
    pub fn plan_title(&self, plan: &Plan) -> String {
        self.title_parts(plan).join(" · ")
    }

    /// The same of two plans that are compared: what they share once, then what tells them apart.
    pub fn pair_title(&self, plan: &Plan, other: &Plan) -> String {
        let (own, others) = (self.title_parts(plan), self.title_parts(other));
        let differ = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|part| !those.contains(part)).cloned().collect()
        };
        let (mut first, mut second) = (differ(&own, &others), differ(&others, &own));
        if first.is_empty() && second.is_empty() {
            // The same words for both: the settings that differ say it.
            for changed in changed(plan, other).into_iter().take(MOST_SETTINGS) {
                first.push(format!("{}={}", changed.field, short(&changed.before)));
                second.push(format!("{}={}", changed.field, short(&changed.after)));
            }
        }
        let mut parts: Vec<String> = own.into_iter().filter(|part| others.contains(part)).collect();
        let unsharded = |parts: Vec<String>| if parts.is_empty() { "–".to_owned() } else { parts.join(" · ") };
        if first.is_empty() && second.is_empty() {
            return parts.join(" · ");
        }
        parts.push(format!("{} {} {}", unsharded(first), self.versus, unsharded(second)));
        parts.join(" · ")
    }

    fn title_parts(&self, plan: &Plan) -> Vec<String> {
        let mut parts = vec![model_name(plan)];
        if plan.task != Task::Sft {
            parts.push((self.task)(plan.task).label.to_owned());
        }
        let method = (self.method)(plan.method).label;
        parts.push(match plan.method {
            Method::Full if plan.task == Task::Inference => (self.dtype)(plan.torch_dtype).label.to_owned(),
            Method::Full => self.full_fine_tuning.to_owned(),
            Method::Lora => method.to_owned(),
            Method::Qlora => format!("{method} {}", (self.bits)(plan.quantization.bits)),
        });
        parts.extend(self.scheme(plan));
        parts.push(gpus(plan));
        parts
    }

    /// What shards the training, and what of it lives in host memory; nothing where one GPU has all.
    fn scheme(&self, plan: &Plan) -> Option<String> {
        let is_offloaded = plan.offload_optimizer != Offload::None || plan.offload_param != Offload::None;
        match plan.distributed.framework {
            Framework::Deepspeed if plan.zero_stage > 0 || is_offloaded => {
                Some(self.sharding(plan, plan.zero_stage, is_offloaded))
            }
            _ if plan.num_gpus == 1 => None,
            Framework::Deepspeed => Some((self.framework)(Framework::Ddp).label.to_owned()),
            framework if plan.distributed.cpu_offload => {
                Some(format!("{} + {}", (self.framework)(framework).label, self.offload_all_short))
            }
            framework => Some((self.framework)(framework).label.to_owned()),
        }
    }
}

fn model_name(plan: &Plan) -> String {
    let (ModelChoice::Catalogue(name) | ModelChoice::Config { name, .. }) = &plan.model;
    let name = name.trim_end_matches('/');
    short(name.rsplit('/').next().unwrap_or(name))
}

fn gpus(plan: &Plan) -> String {
    let name = match &plan.gpu {
        GpuChoice::Catalogue(id) => gpu::find(id).map_or(id.as_str(), |gpu| &gpu.name).to_owned(),
        GpuChoice::Custom { name: Some(name), .. } => name.clone(),
        GpuChoice::Custom { memory_gib, .. } => format!("{memory_gib} GiB"),
    };
    let name = short(MAKERS.iter().fold(name.as_str(), |name, maker| name.trim_start_matches(maker)));
    if plan.num_gpus == 1 { name } else { format!("{} × {name}", plan.num_gpus) }
}

/// `text` in one line, cut where it is long.
fn short(text: &str) -> String {
    let shown = |character: char| if character.is_control() { ' ' } else { character };
    let mut out: String = text.chars().take(LONGEST_NAME).map(shown).collect();
    if text.chars().count() > LONGEST_NAME {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use headroom_core::link::decode;

    use crate::{ENGLISH, Language};

    #[test]
    fn a_title_says_model_method_sharding_and_gpus() {
        for (link, title) in [
            ("model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora", "Qwen3-8B · QLoRA 4-bit · RTX 4090"),
            (
                "model=meta-llama/Llama-3.1-8B&gpu=h100-80gb&num_gpus=8&method=full&zero_stage=3&offload_param=cpu",
                "Llama-3.1-8B · full fine-tuning · ZeRO-3 + parameter offload · 8 × H100 SXM 80 GB",
            ),
            ("model=a/b&gpu=t4&task=grpo", "b · GRPO · LoRA · T4"),
            ("model=a/b&gpu=t4&num_gpus=2&framework=fsdp2", "b · LoRA · FSDP2 · 2 × T4"),
            ("model=a/b&gpu=t4&num_gpus=2", "b · LoRA · DDP · 2 × T4"),
            ("model=a/b&memory_gib=22.5&task=inference&method=full", "b · Inference · bf16 · 22.5 GiB"),
            ("model=x/&gpu=my%0Acard", "x · LoRA · my card"),
        ] {
            assert_eq!(ENGLISH.plan_title(&decode(&format!("v=1&{link}")).plan), title);
        }
        let long = decode(&format!("v=1&model={}&gpu=t4", "m".repeat(200))).plan;
        assert!(ENGLISH.plan_title(&long).chars().count() < 80);
    }

    #[test]
    fn a_title_of_two_says_what_they_share_once() {
        let title = |link: &str| {
            let decoded = decode(&format!("v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&{link}"));
            Language::ALL
                .map(|language| language.texts().pair_title(&decoded.plan, &decoded.other.clone().unwrap_or_default()))
        };
        let [english, chinese] = title("vs.method=full");
        assert_eq!(english, "Qwen3-8B · RTX 4090 · LoRA vs full fine-tuning");
        assert_eq!(chinese, "Qwen3-8B · RTX 4090 · LoRA 对比 全参数微调");
        let english = &title("r=16&vs.r=64&vs.max_length=4096")[0];
        assert_eq!(english, "Qwen3-8B · LoRA · RTX 4090 · lora.r=16 · max_length=1024 vs lora.r=64 · max_length=4096");
        assert_eq!(
            title("num_gpus=2&zero_stage=1&vs.num_gpus=1&vs.zero_stage=0")[0],
            "Qwen3-8B · LoRA · ZeRO-1 · 2 × RTX 4090 vs RTX 4090"
        );
    }
}
