//! What one writes to get from one plan to another: lines for the script, its configs and its environment.

use super::Lever;
use super::difference::{Changed, changed};
use crate::plan::{
    self, Dtype, EmbeddingLoss, Framework, Kind, Method, Plan, ReferenceKind, TargetModules, TrainerName,
};
use Place::{Adapters, Deepspeed, DeepspeedFile, Environment, Launch, Model, Quantization, Script, Trainer};

/// Where a line belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The environment of every process.
    Environment,
    /// The command that starts them.
    Launch,
    /// Arguments of `from_pretrained`.
    Model,
    /// Arguments of bitsandbytes' config.
    Quantization,
    /// Arguments of peft's config.
    Adapters,
    /// Arguments of the trainer's config: `TrainingArguments`, `SFTConfig`, `DPOConfig`, `GRPOConfig`.
    Trainer,
    /// Sections of DeepSpeed's config.
    DeepspeedFile,
    /// Keys of `zero_optimization` in DeepSpeed's config.
    Deepspeed,
    /// Statements of the script.
    Script,
}

impl Place {
    /// Every place, in the order in which one comes to it.
    const ALL: [Self; 9] =
        [Environment, Launch, Model, Quantization, Adapters, Trainer, DeepspeedFile, Deepspeed, Script];

    /// Name in code, which needs no language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Launch => "torchrun",
            Self::Model => "AutoModelForCausalLM.from_pretrained",
            Self::Quantization => "BitsAndBytesConfig",
            Self::Adapters => "LoraConfig",
            Self::Trainer => "TrainingArguments / SFTConfig / DPOConfig / GRPOConfig",
            Self::DeepspeedFile => "ds_config.json",
            Self::Deepspeed => "ds_config.json: zero_optimization",
            Self::Script => "script",
        }
    }
}

/// A line to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where.
    pub place: Place,
    /// What: an argument, a key with its value or a statement, without the comma behind it.
    pub text: String,
}

/// Fields that are arguments or keys: where, and under which name if it is another than the field's last word.
const ARGUMENTS: &[(&str, Place, &str)] = &[
    ("model", Model, "pretrained_model_name_or_path"),
    ("num_labels", Model, ""),
    ("attn_implementation", Model, ""),
    ("lora.r", Adapters, ""),
    ("lora.lora_alpha", Adapters, ""),
    ("lora.lora_dropout", Adapters, ""),
    ("quantization.quant_type", Quantization, "bnb_4bit_quant_type"),
    ("quantization.double_quant", Quantization, "bnb_4bit_use_double_quant"),
    ("quantization.bnb_4bit_quant_storage", Quantization, ""),
    ("optim", Trainer, ""),
    ("per_device_train_batch_size", Trainer, ""),
    ("gradient_accumulation_steps", Trainer, ""),
    ("max_length", Trainer, ""),
    ("gradient_checkpointing", Trainer, ""),
    ("use_liger_kernel", Trainer, ""),
    ("activation_offloading", Trainer, ""),
    ("loss_type", Trainer, ""),
    ("cpo_alpha", Trainer, ""),
    ("packing", Trainer, ""),
    ("packing_strategy", Trainer, ""),
    ("max_grad_norm", Trainer, ""),
    ("rollout.num_generations", Trainer, ""),
    ("rollout.max_prompt_length", Trainer, ""),
    ("rollout.max_completion_length", Trainer, ""),
    ("rollout.vllm_mode", Trainer, ""),
    ("rollout.vllm_gpu_memory_utilization", Trainer, ""),
    ("rollout.vllm_enable_sleep_mode", Trainer, ""),
    ("rollout.vllm_max_model_length", Trainer, ""),
    ("beta", Trainer, ""),
    ("steps_per_generation", Trainer, ""),
    ("num_iterations", Trainer, ""),
    ("padding_free", Trainer, ""),
    ("use_liger_loss", Trainer, ""),
    ("zero_stage", Deepspeed, "stage"),
    ("distributed.reduce_bucket_size", Deepspeed, ""),
    ("distributed.allgather_bucket_size", Deepspeed, ""),
    ("distributed.stage3_prefetch_bucket_size", Deepspeed, ""),
    ("distributed.stage3_param_persistence_threshold", Deepspeed, ""),
    ("distributed.stage3_max_live_parameters", Deepspeed, ""),
    ("distributed.stage3_max_reuse_distance", Deepspeed, ""),
    ("distributed.sub_group_size", Deepspeed, ""),
    ("distributed.overlap_comm", Deepspeed, ""),
    ("distributed.contiguous_gradients", Deepspeed, ""),
    ("distributed.round_robin_gradients", Deepspeed, ""),
];

/// FSDP2's one way to offload.
const CPU_OFFLOAD: &str = "fully_shard(model, offload_policy=CPUOffloadPolicy())";

/// The lines that make the plan `after` of the plan `before`, ordered by place. What no script says, as the GPU, has none.
pub fn code(before: &Plan, after: &Plan) -> Vec<Line> {
    let mut lines = Vec::new();
    for change in changed(before, after) {
        write_change(&change, after, &mut lines);
    }
    let mut ordered: Vec<Line> = Vec::with_capacity(lines.len());
    for place in Place::ALL {
        for line in lines.iter().filter(|line| line.place == place) {
            // A method says what its fields say as well.
            if !ordered.contains(line) {
                ordered.push(line.clone());
            }
        }
    }
    ordered
}

/// What one writes to pull `lever`, with the names of the libraries.
pub fn lever_code(lever: Lever, before: &Plan, after: &Plan) -> String {
    let lines = code(before, after);
    let joined = |wanted: &dyn Fn(&Line) -> bool| {
        let texts = lines.iter().filter(|line| wanted(line)).map(|line| line.text.as_str());
        texts.collect::<Vec<_>>().join(", ")
    };
    let [stage, rest] = [joined(&|line| line.place == Deepspeed), joined(&|line| line.place != Deepspeed)];
    match lever {
        Lever::Gpu(id) => id.to_owned(),
        _ if stage.is_empty() => rest,
        _ if rest.is_empty() => format!("zero_optimization: {{{stage}}}"),
        _ => format!("{rest}, zero_optimization: {{{stage}}}"),
    }
}

/// Lines as text to paste, under comments that say where they belong.
pub fn code_text(lines: &[Line]) -> String {
    let mut text = String::new();
    let mut place = None;
    for line in lines {
        if place.replace(line.place) != Some(line.place) {
            text.push_str(if text.is_empty() { "# " } else { "\n# " });
            text.push_str(line.place.name());
            text.push('\n');
        }
        text.push_str(&line.text);
        text.push_str(match line.place {
            Environment | Launch | Script => "\n",
            Model | Quantization | Adapters | Trainer | DeepspeedFile | Deepspeed => ",\n",
        });
    }
    text
}

fn write_change(change: &Changed, after: &Plan, lines: &mut Vec<Line>) {
    let Changed { field, after: value, before } = change;
    if *field == "zero_stage" && before == "0" {
        deepspeed_file(after, lines);
    }
    if let Some((field, place, key)) = ARGUMENTS.iter().find(|(name, ..)| name == field) {
        lines.extend(argument(field, *place, key, value, after));
        return;
    }
    let mut line = |place, text: &str| lines.push(Line { place, text: text.to_owned() });
    let newly = |word: &str| value.contains(word) && !before.contains(word);
    match *field {
        "num_gpus" => line(Launch, &["--nproc_per_node=", value].concat()),
        "method" | "quantization.bits" => write_method(field, after, lines),
        "lora.target_modules" => line(Adapters, &["target_modules=", &target_modules(after)].concat()),
        "lora.target_parameters" => {
            line(Adapters, &["target_parameters=", &list(&after.lora.target_parameters)].concat())
        }
        "lora.modules_to_save" => line(Adapters, &["modules_to_save=", &list(&after.lora.modules_to_save)].concat()),
        "lora.adapter_dtype" => {
            let wide = if matches!(value.as_str(), "auto" | "float32") { "True" } else { "False" };
            line(Script, &["get_peft_model(model, peft_config, autocast_adapter_dtype=", wide, ")"].concat());
        }
        "quantization.prepare_for_kbit_training" if value == "true" => {
            line(Script, "model = prepare_model_for_kbit_training(model)");
        }
        "torch_dtype" => lines.push(weights_dtype(value, after)),
        "mixed_precision" => line(
            Trainer,
            match value.as_str() {
                "bf16" => "bf16=True",
                "fp16" => "fp16=True",
                _ => "bf16=False",
            },
        ),
        "expandable_segments" if value == "true" => {
            line(Environment, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
        }
        "expandable_segments" => line(Environment, "unset PYTORCH_CUDA_ALLOC_CONF"),
        "trainer.version" if !value.is_empty() => {
            line(Environment, &["pip install ", after.trainer.name.name(), "==", value].concat());
        }
        "rollout.engine" if value == "vllm" => line(Trainer, "use_vllm=True, vllm_mode=\"colocate\""),
        "keep_outputs" if value == "false" => line(Script, "del outputs"),
        "offload_optimizer" | "offload_param" => match after.distributed.framework {
            Framework::Fsdp1 | Framework::Fsdp2 if value == "cpu" => line(Script, CPU_OFFLOAD),
            Framework::Fsdp1 | Framework::Fsdp2 => {}
            _ => line(Deepspeed, &["\"", field, "\": {\"device\": \"", value, "\"}"].concat()),
        },
        "distributed.cpu_offload" if value == "true" => {
            line(Script, CPU_OFFLOAD);
        }
        "embedding.loss" | "embedding.mini_batch_size" => line(Script, &embedding_loss(after)),
        "reference.kind" => match after.reference.kind {
            ReferenceKind::AdapterDisabled => line(Trainer, "ref_model=None"),
            ReferenceKind::Precomputed => line(Trainer, "precompute_ref_log_probs=True"),
            _ => {}
        },
        "reward_models" => {
            // A field's text is its JSON.
            if newly("\"shared\":true") {
                line(Script, "with model.disable_adapter():");
            }
            if newly("\"placement\":\"cpu\"") {
                line(Script, "reward_model.to(\"cpu\")");
            }
            if newly("\"bits\":4") {
                line(Quantization, "load_in_4bit=True");
            }
        }
        _ => {}
    }
}

/// What a script says so that weights load in `dtype`. TRL loads the model by itself, with `model_init_kwargs`; transformers calls
/// the argument `dtype` since 4.56, and `torch_dtype` before.
fn weights_dtype(dtype: &str, after: &Plan) -> Line {
    let is_new = after.transformers_release().is_none_or(|release| !release.is_before(4, 56));
    let key = if is_new { "dtype" } else { "torch_dtype" };
    let (place, text) = match after.trainer.name {
        TrainerName::Trl => (Trainer, ["model_init_kwargs={\"", key, "\": \"", dtype, "\"}"].concat()),
        TrainerName::MsSwift => (Launch, ["--torch_dtype ", dtype].concat()),
        _ => (Model, [key, "=torch.", dtype].concat()),
    };
    Line { place, text }
}

/// What a run that had no DeepSpeed needs besides its stage: the file named, and the section that makes DeepSpeed hold weights
/// in 16 bits. Without that section it keeps them as they are loaded.
fn deepspeed_file(after: &Plan, lines: &mut Vec<Line>) {
    if after.trainer.name != TrainerName::Custom {
        lines.push(Line { place: Trainer, text: "deepspeed=\"ds_config.json\"".to_owned() });
    }
    if let Some(dtype) = after.engine_dtype() {
        let section = if dtype == Dtype::Float16 { "fp16" } else { "bf16" };
        lines.push(Line { place: DeepspeedFile, text: ["\"", section, "\": {\"enabled\": true}"].concat() });
    }
}

/// The loss of an embedding model, as sentence-transformers builds it.
fn embedding_loss(plan: &Plan) -> String {
    let rows = plan.embedding.mini_batch_size;
    match plan.embedding.loss {
        EmbeddingLoss::InfoNce => "loss = F.cross_entropy(q @ d.T / temperature, labels)".to_owned(),
        EmbeddingLoss::MultipleNegativesRanking => "loss = MultipleNegativesRankingLoss(model)".to_owned(),
        EmbeddingLoss::CachedMultipleNegativesRanking => {
            format!("loss = CachedMultipleNegativesRankingLoss(model, mini_batch_size={rows})")
        }
    }
}

/// `key=value`, in DeepSpeed's JSON `"key": value`; nothing where the value is to be left out.
fn argument(field: &str, place: Place, key: &str, value: &str, after: &Plan) -> Option<Line> {
    let last = field.rsplit('.').next().unwrap_or(field);
    let key = if key.is_empty() { last } else { key };
    let kind = plan::field(field)?.kind;
    // Keys of stage 3 say nothing in others.
    let idle = place == Deepspeed && key.starts_with("stage3") && after.zero_stage != 3;
    if value.is_empty() || value == "default" || idle {
        return None;
    }
    let quoted = matches!(kind, Kind::Choice(_) | Kind::OptionalChoice(_) | Kind::ModelId | Kind::Text)
        || value == "auto" && place == Deepspeed;
    let flag = |on, off| if value == "true" { on } else { off };
    let written = match kind {
        _ if quoted => ["\"", value, "\""].concat(),
        _ if matches!(value, "true" | "false") && place != Deepspeed => flag("True", "False").to_owned(),
        _ => value.to_owned(),
    };
    let text = match place {
        Deepspeed => ["\"", key, "\": ", &written].concat(),
        _ => [key, "=", &written].concat(),
    };
    Some(Line { place, text })
}

/// How weights are trained: all, or adapters, over a base that may be quantised.
fn write_method(field: &str, after: &Plan, lines: &mut Vec<Line>) {
    if after.method == Method::Qlora {
        let text = format!("load_in_{}bit=True", after.quantization.bits);
        lines.push(Line { place: Quantization, text });
    }
    if field != "method" {
        return;
    }
    let (place, text) = match after.method {
        Method::Full => (Trainer, "peft_config=None".to_owned()),
        Method::Lora | Method::Qlora => {
            let modules = target_modules(after);
            (Trainer, format!("peft_config=LoraConfig(r={}, target_modules={modules})", after.lora.r))
        }
    };
    lines.push(Line { place, text });
}

fn target_modules(plan: &Plan) -> String {
    match &plan.lora.target_modules {
        TargetModules::AllLinear => "\"all-linear\"".to_owned(),
        TargetModules::Names(names) => list(names),
    }
}

/// Names as Python writes them.
fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link;

    fn text_between(before: &str, after: &str) -> String {
        let [before, after] = [before, after].map(|fragment| link::decode(&format!("v=1&{fragment}")).plan);
        code_text(&code(&before, &after))
    }

    #[test]
    fn a_line_stands_where_it_belongs() {
        let after = "per_device_train_batch_size=2&gradient_accumulation_steps=8&gradient_checkpointing=true\
            &expandable_segments=true&optim=paged_adamw_8bit&attn_implementation=flash_attention_2&num_gpus=4\
            &zero_stage=2&offload_optimizer=cpu&reduce_bucket_size=auto&stage3_prefetch_bucket_size=auto&r=8";
        assert_eq!(
            text_between("", after),
            "# environment\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n\n# torchrun\n--nproc_per_node=4\n\n\
             # AutoModelForCausalLM.from_pretrained\nattn_implementation=\"flash_attention_2\",\n\n# LoraConfig\nr=8,\n\n\
             # TrainingArguments / SFTConfig / DPOConfig / GRPOConfig\noptim=\"paged_adamw_8bit\",\n\
             per_device_train_batch_size=2,\ngradient_accumulation_steps=8,\ngradient_checkpointing=True,\n\n\
             # ds_config.json: zero_optimization\n\"stage\": 2,\n\"offload_optimizer\": {\"device\": \"cpu\"},\n\
             \"reduce_bucket_size\": \"auto\",\n"
        );
    }

    #[test]
    fn another_method_says_all_that_it_takes() {
        let text = text_between("method=full", "method=qlora&r=8");
        assert!(text.contains("# BitsAndBytesConfig\nload_in_4bit=True,\n"), "{text}");
        assert!(text.contains("peft_config=LoraConfig(r=8, target_modules=\"all-linear\"),"), "{text}");
        assert_eq!(
            text_between("method=qlora&bits=4", "method=qlora&bits=8"),
            "# BitsAndBytesConfig\nload_in_8bit=True,\n"
        );
    }

    #[test]
    fn code_for_deepspeed_says_what_saves_the_memory() {
        let trl = "trainer=trl&trainer_version=1.16.0&mixed_precision=bf16&torch_dtype=float32";
        let text = text_between(trl, &format!("{trl}&zero_stage=2&offload_optimizer=cpu"));
        assert!(text.contains("deepspeed=\"ds_config.json\",\n"), "{text}");
        assert!(text.contains("# ds_config.json\n\"bf16\": {\"enabled\": true},\n"), "{text}");
        let further = text_between(&format!("{trl}&zero_stage=1"), &format!("{trl}&zero_stage=2"));
        assert_eq!(further, "# ds_config.json: zero_optimization\n\"stage\": 2,\n", "the file is there already");
    }

    #[test]
    fn weights_load_as_each_trainer_takes_it() {
        for (trainer, expected) in [
            ("trainer=trl&trainer_version=1.16.0", "model_init_kwargs={\"dtype\": \"bfloat16\"}"),
            ("trainer=trl&trainer_version=0.24.0", "model_init_kwargs={\"dtype\": \"bfloat16\"}"),
            ("trainer=transformers", "dtype=torch.bfloat16"),
            ("trainer=transformers&transformers=4.50.0", "torch_dtype=torch.bfloat16"),
        ] {
            let [before, after] = ["float32", "bfloat16"].map(|dtype| format!("{trainer}&torch_dtype={dtype}"));
            let text = text_between(&before, &after);
            assert!(text.contains(&format!("\n{expected},\n")), "{trainer}: {text}");
        }
    }

    #[test]
    fn what_no_script_says_has_no_line() {
        assert_eq!(text_between("gpu=a100-80gb", "gpu=t4"), "");
        assert_eq!(text_between("", ""), "");
    }

    #[test]
    fn every_argument_is_a_field() {
        for (field, ..) in ARGUMENTS {
            assert!(plan::field(field).is_some(), "{field}");
        }
    }
}
