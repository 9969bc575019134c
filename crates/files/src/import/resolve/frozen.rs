//! Which parts of a model that reads images stay as they are.

use headroom_core::model::{self, CatalogueModel};
use headroom_core::plan::TrainerName;
use serde_json::json;

use super::super::convert;
use super::super::draft::Statement;
use super::Resolver;
use crate::trainers::Fact;

const TOWER: &str = "vision_tower";
const PROJECTOR: &str = "multi_modal_projector";
const LANGUAGE: &str = "language_model";

/// Whether a model of the catalogue sees images.
fn has_tower(model: &CatalogueModel) -> bool {
    model.config.contains("\"vision_config\"")
}

impl Resolver {
    pub(super) fn frozen(&mut self) {
        let switches =
            [(Fact::FreezesTower, TOWER), (Fact::FreezesProjector, PROJECTOR), (Fact::FreezesLanguage, LANGUAGE)];
        let mut frozen = Vec::new();
        let mut said = Vec::new();
        // qwen-vl-finetune/qwenvl/train/argument.py: each is False unless said.
        let trained =
            [(Fact::TrainsTower, TOWER), (Fact::TrainsProjector, PROJECTOR), (Fact::TrainsLanguage, LANGUAGE)]
                .map(|(fact, part)| (self.flag(fact), part));
        if trained.iter().any(|(flag, _)| flag.is_some()) {
            let stays = |flag: &Option<(bool, Statement)>| !matches!(flag, Some((true, _)));
            frozen.extend(trained.iter().filter(|(flag, _)| stays(flag)).map(|(_, part)| *part));
            said.extend(trained.into_iter().filter_map(|(flag, _)| flag).map(|(_, statement)| statement));
        }
        for (fact, part) in switches {
            let flag = self.flag(fact);
            // Adapters train where their base stays as it is.
            if part == LANGUAGE && self.language_rank().is_some() {
                said.extend(flag.map(|(_, statement)| statement));
                continue;
            }
            if flag.as_ref().map_or_else(|| self.freezes_by_default(part), |(freezes, _)| *freezes) {
                frozen.push(part);
            }
            said.extend(flag.map(|(_, statement)| statement));
        }
        // unsloth_zoo peft_utils.py `get_peft_regex`: what is not tuned gets no adapters; a projector counts as vision.
        for (fact, parts) in [(Fact::TunesVision, &[TOWER, PROJECTOR][..]), (Fact::TunesLanguage, &[LANGUAGE])] {
            let Some((tunes, statement)) = self.flag(fact) else { continue };
            frozen.extend(parts.iter().filter(|_| !tunes));
            said.push(statement);
        }
        if !self.may_have_tower() {
            // Of a model of text alone these say nothing.
            self.ignored += said.len();
            frozen.clear();
            said.clear();
        }
        let mut frozen: Vec<String> = frozen.into_iter().map(str::to_owned).collect();
        // swift/pipelines/train/tuner.py `TunerMixin.prepare_model`: with adapters the list is not read.
        if let Some(statement) = self.take(Fact::FreezesModules) {
            let trains_all = self.text_of("method").is_none_or(|method| method == "full");
            let names = convert::names(&statement.node);
            if trains_all && !names.is_empty() {
                frozen.extend(names);
                said.push(statement);
            } else {
                self.ignored += 1;
            }
        }
        if frozen.is_empty() && said.is_empty() {
            return;
        }
        let value = json!(frozen);
        for statement in said {
            self.note("freeze", value.clone(), &statement);
        }
        self.fields.insert("freeze", value);
    }

    /// Whether the files' model reads images, or is not known.
    pub(super) fn may_have_tower(&self) -> bool {
        if self.fields.contains_key("model.config") {
            return self.has_tower();
        }
        self.text_of("model").is_none_or(|name| model::find(name).is_none_or(has_tower))
    }

    /// Whether its config has a part that sees images.
    pub(super) fn has_tower(&self) -> bool {
        match self.fields.get("model.config") {
            Some(config) => config.get("vision_config").is_some(),
            None => self.text_of("model").and_then(model::find).is_some_and(has_tower),
        }
    }

    /// Whether the trainer freezes a part where nothing is said: LLaMA-Factory's hparams/finetuning_args.py
    /// `freeze_vision_tower`, ms-swift's arguments/tuner_args.py `freeze_vit` and `freeze_aligner`, of models that have such parts.
    fn freezes_by_default(&self, part: &str) -> bool {
        let does = matches!(self.named, TrainerName::LlamaFactory | TrainerName::MsSwift);
        // Whoever says which parts of a model stay has one that sees images.
        let is_told = self.text_of("model").is_none()
            && [Fact::FreezesTower, Fact::FreezesProjector]
                .iter()
                .any(|fact| self.gathered.draft.facts.contains_key(fact));
        // Before 3.0 `freeze_vit` was False, and adapters stood in the language model alone (swift/llm/utils/argument.py).
        let trains_all = self.text_of("method").is_none_or(|method| method == "full");
        let trains_towers = self.is_swift_before(3, 0) && trains_all;
        does && part != LANGUAGE && (is_told || self.has_tower()) && !trains_towers
    }
}
