//! Number formats of weights and of autocast.

use headroom_core::plan::{LaunchedBy, TrainerName};
use serde_json::Value as Json;

use super::super::convert;
use super::super::draft::Statement;
use super::Resolver;
use crate::trainers::{Fact, Topic};

impl Resolver {
    pub(super) fn precision(&mut self) {
        if self.launched_by == Some(LaunchedBy::OpenRlhf) {
            return self.openrlhf_precision();
        }
        self.autocast();
        self.weights();
        if self.named == TrainerName::LlamaFactory && self.fields.get("quantization.bits") == Some(&Json::from(4)) {
            // model/model_utils/quantization.py stores them in the dtype that is computed in.
            let dtype = match self.text_of("mixed_precision") {
                Some("fp16") => "float16",
                Some("bf16") => "bfloat16",
                _ => self.text_of("torch_dtype").unwrap_or("bfloat16"),
            }
            .to_owned();
            self.default("quantization.bnb_4bit_quant_storage", dtype);
        }
        if let Some((true, statement)) = self.flag(Fact::Fp8) {
            self.cannot_say(&statement, Topic::Fp8);
        }
    }

    /// openrlhf/utils/deepspeed/deepspeed.py: weights are loaded in what trains, and DeepSpeed's engine keeps fp32 copies.
    fn openrlhf_precision(&mut self) {
        let switch = self.switch(Fact::Bf16);
        let named = self.text(Fact::Precision).or_else(|| self.text(Fact::Dtype));
        let fp16 = named.as_ref().is_some_and(|(name, _)| matches!(name.as_str(), "fp16" | "float16"));
        let (dtype, autocast) = if fp16 { ("float16", "fp16") } else { ("bfloat16", "no") };
        self.default("torch_dtype", dtype);
        self.default("mixed_precision", autocast);
        if !fp16 {
            self.default("distributed.bf16.enabled", true);
        }
        for (_, statement) in switch.map(|(on, said)| (on.to_string(), said)).into_iter().chain(named) {
            self.note("torch_dtype", Json::from(dtype), &statement);
        }
    }

    fn autocast(&mut self) {
        let bf16 = self.switch(Fact::Bf16);
        let fp16 = self.switch(Fact::Fp16);
        let launched = self.text(Fact::Precision);
        let pure = self.pure();
        let on = |switch: &Option<(bool, Statement)>| matches!(switch, Some((true, _)));
        let word = |name: &str| match name.to_ascii_lowercase().as_str() {
            "bf16" => Some("bf16"),
            "fp16" => Some("fp16"),
            _ => None,
        };
        if let Some(statement) = pure {
            self.set("mixed_precision", "no", &statement);
        } else if on(&fp16) {
            self.noted("mixed_precision", "fp16", fp16);
        } else if on(&bf16) {
            self.noted("mixed_precision", "bf16", bf16);
        } else if let Some((name, statement)) = launched {
            match (word(&name), self.named) {
                (Some(_), TrainerName::Trl) if bf16.is_none() => {
                    // trainer/base_config.py: `bf16` is on unless `fp16` is.
                    self.note("mixed_precision", Json::from("bf16"), &statement);
                }
                (Some(value), _) => self.set("mixed_precision", value, &statement),
                (None, _) if name == "fp8" => self.cannot_say(&statement, Topic::Fp8),
                (None, TrainerName::Custom) => self.set("mixed_precision", "no", &statement),
                // The trainer's own switch counts, which its default may have on.
                (None, _) => match bf16 {
                    Some((false, switch)) => self.set("mixed_precision", "no", &switch),
                    _ => self.ignored += 1,
                },
            }
        } else if let Some((false, statement)) = bf16 {
            // `fp16: false` leaves bf16 what it is by default, `bf16: false` does not.
            self.set("mixed_precision", "no", &statement);
        } else if fp16.is_some() {
            self.ignored += 1;
        }
        if self.gathered.python.training_arguments && self.is_trl() {
            // `TrainingArguments` says what is not said, TRL's own default does not count.
            self.default("mixed_precision", "no");
        }
        self.deepspeed_precision();
    }

    /// DeepSpeed's own formats; "auto" is what the Trainer runs (integrations/deepspeed.py `trainer_config_process`).
    fn deepspeed_precision(&mut self) {
        let bf16 = self.text(Fact::DeepspeedBf16);
        let fp16 = self.text(Fact::DeepspeedFp16);
        if let Some((word, statement)) = bf16 {
            match word.as_str() {
                "auto" => self.set("distributed.bf16.enabled", "auto", &statement),
                "true" => {
                    self.set("distributed.bf16.enabled", true, &statement);
                    if !self.is_set("mixed_precision") && self.trainer != TrainerName::MsSwift {
                        self.set("mixed_precision", "bf16", &statement);
                    }
                }
                _ => self.ignored += 1,
            }
        }
        if let Some((word, statement)) = fp16 {
            if word == "true" && !self.is_set("mixed_precision") {
                self.set("mixed_precision", "fp16", &statement);
            } else {
                self.ignored += 1;
            }
        }
    }

    /// A switch that can also say `auto`: as the GPU has it; axolotl's `full` is weights in bf16 without autocast.
    fn switch(&mut self, fact: Fact) -> Option<(bool, Statement)> {
        let statement = self.take(fact)?;
        if matches!(convert::text(&statement.node).as_deref(), Some("auto" | "full")) {
            return Some((true, statement));
        }
        match convert::flag(&statement.node) {
            Some(flag) => Some((flag, statement)),
            None => {
                self.bad(&statement, "true, false or auto");
                None
            }
        }
    }

    /// What says that there is no autocast and the weights are in 16 bits.
    fn pure(&mut self) -> Option<Statement> {
        let full = self.gathered.draft.fact(Fact::Bf16).filter(|bf16| bf16.node.text() == Some("full")).cloned();
        if let Some(statement) = full {
            self.set("torch_dtype", "bfloat16", &statement);
            return Some(statement);
        }
        for (fact, dtype) in [(Fact::PureBf16, "bfloat16"), (Fact::PureFp16, "float16")] {
            if let Some((true, statement)) = self.flag(fact) {
                self.set("torch_dtype", dtype, &statement);
                if self.named == TrainerName::LlamaFactory && self.text_of("method") != Some("full") {
                    // model/adapter.py `init_adapter`: nothing is cast to fp32.
                    self.set("lora.adapter_dtype", dtype, &statement);
                }
                return Some(statement);
            }
        }
        None
    }

    fn noted(&mut self, field: &'static str, value: &'static str, switch: Option<(bool, Statement)>) {
        if let Some((_, statement)) = switch {
            self.set(field, value, &statement);
        }
    }

    fn weights(&mut self) {
        if self.named == TrainerName::Verl {
            // verl/trainer/config/engine/fsdp.yaml `dtype`: what the actor runs under, whatever its weights are.
            self.default("mixed_precision", "bf16");
        }
        if let Some(statement) = self.take(Fact::Dtype) {
            match convert::text(&statement.node).and_then(|text| convert::dtype(&text)) {
                // The checkpoint's own: 16 bits for what people train.
                Some("auto") => self.set("torch_dtype", "bfloat16", &statement),
                Some("uint8") | None => self.bad(&statement, "bfloat16, float16 or float32"),
                Some(dtype) => self.set("torch_dtype", dtype, &statement),
            }
        }
        if self.is_set("torch_dtype") {
            return;
        }
        // peft examples/sft/utils.py: the weights beside quantised ones load in the dtype that these are stored in.
        let stored = self.gathered.draft.sets.get("quantization.bnb_4bit_quant_storage");
        let stored = stored.and_then(|stored| stored.last()).map(|(said, _)| said.clone());
        if let Some(said) = stored.filter(|said| said.key == "bnb_4bit_quant_storage_dtype")
            && let Some(dtype) = convert::text(&said.node).and_then(|text| convert::dtype(&text))
            && matches!(dtype, "bfloat16" | "float16" | "float32")
        {
            return self.set("torch_dtype", dtype, &said);
        }
        match self.named {
            TrainerName::Axolotl => {
                // utils/config/__init__.py `resolve_dtype`: the weights are loaded in what is trained in.
                let dtype = match self.text_of("mixed_precision") {
                    Some("fp16") => "float16",
                    Some("no") => "float32",
                    _ => "bfloat16",
                };
                self.default("torch_dtype", dtype);
            }
            TrainerName::Unsloth => {
                let dtype = if self.text_of("mixed_precision") == Some("fp16") { "float16" } else { "bfloat16" };
                self.default("torch_dtype", dtype);
            }
            TrainerName::Verl => {
                // verl/workers/fsdp_workers.py: the actor's weights are fp32 unless `model_dtype` says otherwise.
                self.default("torch_dtype", "float32");
            }
            _ if self.gathered.python.loads_model => {
                let old = self.is_before_5();
                // modeling_utils.py `from_pretrained`: the checkpoint's own since 5.0.
                self.default("torch_dtype", if old { "float32" } else { "bfloat16" });
            }
            _ => {}
        }
    }
}
