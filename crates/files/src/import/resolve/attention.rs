//! How attention is computed.

use headroom_core::plan::TrainerName;

use super::super::convert;
use super::Resolver;
use crate::trainers::{Fact, Topic};

impl Resolver {
    pub(super) fn attention(&mut self) {
        for (fact, name) in
            [(Fact::FlashSwitch, "flash_attention_2"), (Fact::SdpaSwitch, "sdpa"), (Fact::EagerSwitch, "eager")]
        {
            if let Some((true, statement)) = self.flag(fact) {
                self.set("attn_implementation", name, &statement);
            }
        }
        if let Some((name, statement)) = self.text(Fact::Attention) {
            match (convert::attention(&name), name.to_ascii_lowercase().as_str()) {
                (Some(known), _) => self.set("attn_implementation", known, &statement),
                (None, "auto" | "false" | "no" | "n" | "f" | "0") => self.ignored += 1,
                // A switch up to LLaMA-Factory 0.6 (llmtuner/hparams/model_args.py `flash_attn`).
                (None, "true" | "yes" | "y" | "t" | "1") => {
                    self.set("attn_implementation", "flash_attention_2", &statement)
                }
                (None, other) => {
                    // Of the same shape: nothing of the scores is kept.
                    if other.contains("flash") || other == "fa3" {
                        self.set("attn_implementation", "flash_attention_2", &statement);
                    }
                    self.cannot_say(&statement, Topic::Kernels);
                }
            }
        }
        if self.named == TrainerName::Verl {
            // verl/workers/fsdp_workers.py loads with flash_attention_2.
            self.default("attn_implementation", "flash_attention_2");
        }
        // transformers utils/import_utils.py `is_torch_sdpa_available`, from torch 2.1.1 on.
        let torch = self.gathered.versions.get("torch").and_then(|torch| torch.split_once('.'));
        if torch.is_some_and(|(major, rest)| major == "1" || major == "2" && (rest == "0" || rest.starts_with("0."))) {
            self.default("attn_implementation", "eager");
        }
    }
}
