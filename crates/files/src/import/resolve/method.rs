//! Which weights train, and how the base is held.

use headroom_core::plan::{LaunchedBy, TrainerName};
use serde_json::Value as Json;

use super::super::convert;
use super::super::draft::{Rank, Statement, strongest};
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::trainers::{Fact, Topic};

/// What the files say about the base's quantisation.
struct Quantized {
    bits: u64,
    statement: Statement,
}

/// What a checkpoint holds its weights in, where its name says so.
enum Stored {
    /// In bitsandbytes' format of so many bits, which the library takes from the checkpoint's own configuration.
    Bits(u64),
    /// In a format that no plan has.
    Otherwise,
}

/// What the name of a repository or a folder says of the format of the weights: `-bnb-4bit`, `-AWQ`, `-GPTQ-Int4`, `-FP8`.
fn stored_in(name: &str) -> Option<Stored> {
    const OTHERS: [&str; 14] =
        ["awq", "gptq", "fp8", "gguf", "mxfp4", "nvfp4", "fp4", "exl2", "aqlm", "hqq", "w4a16", "w8a8", "int4", "int8"];
    let name = name.trim_end_matches(['/', '\\']).to_ascii_lowercase();
    let last = name.rsplit(['/', '\\']).next().unwrap_or(&name);
    let words: Vec<&str> = last.split(['-', '_', '.']).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    if has(&["bnb", "bitsandbytes"]) {
        return Some(Stored::Bits(if has(&["8bit", "int8"]) { 8 } else { 4 }));
    }
    has(&OTHERS).then_some(Stored::Otherwise)
}

impl Resolver {
    pub(super) fn method(&mut self) {
        let adapters = self.adapters();
        let quantized = self.quantized();
        let method = match (&adapters, &quantized) {
            (Some(_), Some(_)) => "qlora",
            (Some(_), None) => "lora",
            (None, _) => "full",
        };
        self.fields.insert("method", Json::from(method));
        if let Some(Some(statement)) = &adapters {
            self.note("method", Json::from(method), statement);
        }
        if let Some(Quantized { bits, statement }) = quantized {
            if adapters.is_some() {
                self.set("quantization.bits", bits, &statement);
                self.note("method", Json::from(method), &statement);
                self.quantization_defaults(bits);
            } else {
                self.cannot_say(&statement, Topic::OtherQuantization);
            }
        }
        if adapters.is_some() {
            self.targets();
            self.adapter_defaults();
            self.saved_adapters();
        } else if let Some(statement) = self.gathered.python.freezes.clone() {
            // Beside adapters the base stays as it is in any case.
            self.cannot_say(&statement, Topic::PartlyTrained);
        }
    }

    /// Whether adapters train, and what says so; the trainer's default says nothing.
    fn adapters(&mut self) -> Option<Option<Statement>> {
        if let Some((true, statement)) = self.flag(Fact::FullTuning) {
            self.note("method", Json::from("full"), &statement);
            return None;
        }
        if let Some((word, statement)) = self.text(Fact::Adapter) {
            return match word.to_ascii_lowercase().as_str() {
                "full" | "" | "none" => {
                    self.note("method", Json::from("full"), &statement);
                    None
                }
                "lora" | "qlora" => Some(Some(statement)),
                "freeze" => {
                    self.cannot_say(&statement, Topic::PartlyTrained);
                    None
                }
                "lora_or_full" => None,
                _ => {
                    self.cannot_say(&statement, Topic::AdapterKind);
                    Some(Some(statement))
                }
            };
        }
        if let Some((rank, statement)) = self.language_rank() {
            // internvl/model/internvl_chat/modeling_internvl_chat.py `wrap_llm_lora`.
            self.set("lora.r", rank, &statement);
            self.default("lora.lora_alpha", rank.saturating_mul(2));
            self.default("lora.lora_dropout", 0.05);
            self.default("lora.target_modules", "all-linear");
            return Some(Some(statement));
        }
        if let Some((_, statement)) = self.text(Fact::PeftClass) {
            return Some(Some(statement));
        }
        if let Some((uses, statement)) = self.flag(Fact::UsesAdapters) {
            return uses.then_some(Some(statement));
        }
        // hparams/finetuning_args.py `finetuning_type`, arguments/base_args/base_args.py `tuner_type`: "lora".
        let by_default = matches!(self.named, TrainerName::LlamaFactory | TrainerName::MsSwift);
        let by_rank = (self.is_verl() || self.launched_by == Some(LaunchedBy::OpenRlhf)) && self.has_rank();
        // A script's own `--bits 4 --lora_r 64`: a quantised base trains through adapters alone.
        let bits = self.gathered.draft.fact(Fact::Bits).and_then(|bits| convert::whole(&bits.node));
        let by_bits = matches!(bits, Some(4 | 8)) && self.says_itself("lora.r");
        // fastchat/train/train_lora.py has a rank and no switch.
        let rank = self.gathered.draft.sets.get("lora.r");
        // TRL's own rank stands beside its `use_peft`; any other is one of a script that always adapts.
        let is_own = |rank: &Statement| rank.key == "lora_r" || rank.rank != Rank::Arguments;
        let by_script = match self.named {
            TrainerName::Transformers => rank.is_some(),
            TrainerName::Trl => rank.is_some_and(|ranks| ranks.iter().any(|(rank, _)| !is_own(rank))),
            _ => false,
        };
        (by_default || by_rank || by_bits || by_script).then_some(None)
    }

    /// Rank of the adapters that a script puts into the text's part, where it puts any.
    pub(super) fn language_rank(&mut self) -> Option<(u64, Statement)> {
        self.whole(Fact::LanguageRank).filter(|(rank, _)| *rank > 0)
    }

    /// verl and OpenRLHF train adapters where `lora_rank` is above 0.
    fn has_rank(&self) -> bool {
        let ranks = self.gathered.draft.sets.get("lora.r");
        ranks.is_some_and(|ranks| ranks.iter().any(|(rank, _)| convert::whole(&rank.node).is_some_and(|rank| rank > 0)))
    }

    fn quantized(&mut self) -> Option<Quantized> {
        self.quantizes_nothing();
        if let Some((name, statement)) = self.text(Fact::QuantMethod)
            && !matches!(name.to_ascii_lowercase().as_str(), "bnb" | "bitsandbytes" | "quantizationmethod.bnb")
        {
            self.cannot_say(&statement, Topic::OtherQuantization);
            return None;
        }
        let base = self.gathered.draft.fact(Fact::Model).cloned();
        let held = base.as_ref().and_then(|base| stored_in(&convert::text(&base.node)?));
        if let (Some(base), Some(Stored::Otherwise)) = (base, held) {
            // What the checkpoint's own configuration says counts before bits of bitsandbytes (transformers quantizers/auto.py
            // `merge_quantization_configs`).
            self.cannot_say(&base, Topic::OtherQuantization);
            return None;
        }
        if let Some((bits, statement)) = self.whole(Fact::Bits) {
            if matches!(bits, 4 | 8) {
                return Some(Quantized { bits, statement });
            }
            // As many as the weights have by themselves.
            if !matches!(bits, 0 | 16 | 32) {
                self.cannot_say(&statement, Topic::OtherQuantization);
            }
            return None;
        }
        let in_4bit = self.flag(Fact::In4Bit);
        let in_8bit = self.flag(Fact::In8Bit);
        match (in_4bit.clone(), in_8bit) {
            (Some((true, statement)), _) => return Some(Quantized { bits: 4, statement }),
            (_, Some((true, statement))) => return Some(Quantized { bits: 8, statement }),
            _ => {}
        }
        let loaded = self.gathered.draft.fact(Fact::Model).cloned();
        let name = loaded.as_ref().and_then(|loaded| convert::text(&loaded.node)).unwrap_or_default();
        match loaded.clone().zip(stored_in(&name)) {
            // Unsloth loads its copy in 16 bits instead; elsewhere the checkpoint's own configuration counts.
            Some((_, Stored::Bits(_))) if self.named == TrainerName::Unsloth => {}
            Some((statement, Stored::Bits(bits))) => return Some(Quantized { bits, statement }),
            Some((statement, Stored::Otherwise)) => self.cannot_say(&statement, Topic::OtherQuantization),
            None => {}
        }
        if let Some((false, statement)) = in_4bit {
            self.note("method", Json::from("lora"), &statement);
            return None;
        }
        // unsloth models/loader.py: `load_in_4bit=True`.
        let whole =
            self.gathered.draft.fact(Fact::FullTuning).is_some_and(|full| convert::flag(&full.node) == Some(true));
        loaded
            .filter(|_| self.named == TrainerName::Unsloth && !whole)
            .map(|statement| Quantized { bits: 4, statement })
    }

    /// LLaMA-Factory (model/model_utils/quantization.py) and ms-swift quantise where the bits are given: a method alone does nothing.
    fn quantizes_nothing(&mut self) {
        let bits = match self.named {
            TrainerName::LlamaFactory => "quantization_bit",
            TrainerName::MsSwift => "quant_bits",
            _ => return,
        };
        let said = |fact: Fact| self.gathered.draft.fact(fact).cloned();
        if let (Some(method), None, None) = (said(Fact::QuantMethod), said(Fact::Bits), said(Fact::In4Bit)) {
            self.find(Kind::QuantizesNothing { key: method.key.clone(), bits }, &method);
        }
    }

    /// What the libraries take where the files say nothing of the quantisation.
    fn quantization_defaults(&mut self, bits: u64) {
        if let Some((true, statement)) = self.flag(Fact::Prepared) {
            self.set("quantization.prepare_for_kbit_training", true, &statement);
        } else if self.gathered.python.loads_model && self.trainer == TrainerName::Transformers {
            self.default("quantization.prepare_for_kbit_training", false);
        }
        if bits != 4 {
            return;
        }
        let own = self.gathered.python.bitsandbytes && self.named != TrainerName::Unsloth;
        if !self.says_itself("quantization.double_quant") && (own || self.is_trl()) {
            // quantization_config.py `bnb_4bit_use_double_quant`, trl model_config.py `use_bnb_nested_quant`: False.
            self.default("quantization.double_quant", false);
        }
        if !self.says_itself("quantization.quant_type") && own {
            // quantization_config.py `bnb_4bit_quant_type`.
            self.default("quantization.quant_type", "fp4");
        }
        if !self.says_itself("quantization.bnb_4bit_quant_storage") && self.named == TrainerName::Axolotl {
            // loaders/model.py `_set_quantization_config`.
            self.default("quantization.bnb_4bit_quant_storage", "bfloat16");
        }
    }

    /// Whether a key of the files sets `field`.
    pub(super) fn says_itself(&self, field: &str) -> bool {
        self.gathered.draft.sets.contains_key(field)
    }

    /// Adapters that a script loads are what their own file says; no default stands for it.
    fn saved_adapters(&mut self) {
        let Some((file, span)) = self.gathered.python.saved_adapters else { return };
        let says = |fact: Fact| self.gathered.draft.facts.contains_key(&fact);
        let is_said = self.gathered.python.lora_config || self.says_itself("lora.r");
        if is_said || says(Fact::Targets) || says(Fact::TargetsAll) || says(Fact::LanguageRank) {
            return;
        }
        let path = "adapter_config.json".to_owned();
        self.findings.push(Finding::at(Kind::MissingFile { path }, file, span));
        self.missing.extend(["lora.r", "lora.target_modules"]);
    }

    /// What peft's own configuration takes, where that is what the script makes.
    fn adapter_defaults(&mut self) {
        let [rank, alpha, dropout] =
            ["lora.r", "lora.lora_alpha", "lora.lora_dropout"].map(|field| self.says_itself(field));
        if self.gathered.python.lora_config {
            // tuners/lora/config.py.
            if !rank {
                self.default("lora.r", 8);
            }
            if !alpha {
                self.default("lora.lora_alpha", 8);
            }
        } else if self.is_trl() && !dropout {
            // trainer/model_config.py `lora_dropout`.
            self.default("lora.lora_dropout", 0.05);
        } else if self.named == TrainerName::Unsloth && !alpha {
            // unsloth models/llama.py `get_peft_model`.
            self.default("lora.lora_alpha", 16);
        } else if self.named == TrainerName::LlamaFactory && rank && !alpha {
            // hparams/finetuning_args.py: `lora_alpha or lora_rank * 2`.
            let ranks = self.gathered.draft.sets.get("lora.r");
            let stated = ranks.and_then(|ranks| strongest(ranks.iter().map(|(statement, _)| statement)));
            if let Some(rank) = stated.and_then(|statement| convert::whole(&statement.node)) {
                self.default("lora.lora_alpha", rank.saturating_mul(2));
            }
        }
        if let Some((false, statement)) = self.flag(Fact::AutocastAdapters) {
            self.set("lora.adapter_dtype", "bfloat16", &statement);
        }
    }
}
