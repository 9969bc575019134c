//! Which modules get adapters: names, patterns, and peft's own choice where nothing is said.

use headroom_core::model::{self, Model, Reading};
use headroom_core::plan::{LaunchedBy, TrainerName};
use serde_json::Value as Json;

use super::super::convert;
use super::Resolver;
use crate::trainers::{Fact, Topic};

/// Names that peft takes where a configuration has none, by what the model has (peft utils/constants.py
/// `TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING`); Llama, Mistral, Qwen and Gemma come first.
const CHOICES: [&[&str]; 7] = [
    &["q_proj", "v_proj"],
    &["query_key_value"],
    &["qkv_proj"],
    &["c_attn"],
    &["query", "value"],
    &["q_lin", "v_lin"],
    &["Wqkv"],
];

impl Resolver {
    pub(super) fn targets(&mut self) {
        if let Some((true, statement)) = self.flag(Fact::TargetsAll) {
            self.set("lora.target_modules", "all-linear", &statement);
        }
        if let Some(statement) = self.take(Fact::Targets) {
            if self.is_set("lora.target_modules") {
                return;
            }
            let mut value = convert::targets(&statement.node);
            if self.is_swift_before(3, 0)
                && convert::names(&statement.node).iter().any(|name| name == "DEFAULT" || name == "AUTO")
            {
                value = Json::Array(Vec::new());
            }
            if self.named == TrainerName::Torchtune {
                value = self.torchtune_targets(value);
            }
            let pattern = statement.node.text().filter(|text| text.contains(['*', '(', '\\', '|', '^']));
            match pattern {
                Some(pattern) => match ends(pattern) {
                    Some(names) => self.set("lora.target_modules", names, &statement),
                    None => self.cannot_say(&statement, Topic::AdapterKind),
                },
                None if value.as_array().is_none_or(|names| !names.is_empty()) => {
                    self.set("lora.target_modules", value, &statement);
                }
                None => {}
            }
        }
        if !self.is_set("lora.target_modules") && self.is_swift_before(3, 0) {
            self.second_swift_targets();
        }
        if !self.is_set("lora.target_modules") {
            let all = matches!(self.named, TrainerName::LlamaFactory | TrainerName::MsSwift | TrainerName::Verl)
                || self.launched_by == Some(LaunchedBy::OpenRlhf);
            let unsloth = self.named == TrainerName::Unsloth;
            if all {
                self.default("lora.target_modules", "all-linear");
            } else if unsloth {
                // unsloth models/llama.py `get_peft_model`.
                const ALL: [&str; 7] = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
                self.default("lora.target_modules", ALL.to_vec());
            } else {
                let chosen = self.structure().and_then(|model| of_model(&model));
                self.default("lora.target_modules", chosen.unwrap_or(CHOICES[0]).to_vec());
            }
        }
    }

    /// What ms-swift takes before 3.0 (swift/llm/utils/model.py `LoRATM`): of a model of text names by its family, of one that sees
    /// images every linear layer of the language model.
    fn second_swift_targets(&mut self) {
        const FAMILIES: [&[&str]; 7] = [
            &["q_proj", "k_proj", "v_proj"],
            &["c_attn"],
            &["query_key_value"],
            &["W_pack"],
            &["qkv_proj"],
            &["wqkv"],
            &["Wqkv"],
        ];
        if self.has_tower() {
            return;
        }
        let chosen = self.structure().and_then(|model| FAMILIES.into_iter().find(|names| has_all(&model, names)));
        self.default("lora.target_modules", chosen.unwrap_or(FAMILIES[0]).to_vec());
    }

    /// torchtune's names as those of transformers: `output_proj` is `o_proj`, and a switch of its own stands for the MLP
    /// (torchtune/models/convert_weights.py).
    fn torchtune_targets(&mut self, value: Json) -> Json {
        let Json::Array(names) = value else { return value };
        let own = |name: Json| if name == "output_proj" { Json::from("o_proj") } else { name };
        let mut names: Vec<Json> = names.into_iter().map(own).collect();
        if let Some((true, statement)) = self.flag(Fact::TargetsMlp) {
            let fused = self.structure().is_some_and(|model| {
                model
                    .layer_kinds()
                    .all(|(layer, _)| layer.modules.iter().all(|module| !module.name.ends_with("gate_proj")))
            });
            if fused {
                self.cannot_say(&statement, Topic::AdapterKind);
            } else {
                names.extend(["gate_proj", "up_proj", "down_proj"].map(Json::from));
                self.note("lora.target_modules", Json::from(names.clone()), &statement);
            }
        }
        Json::from(names)
    }

    /// The model that the files name, where it is known.
    pub(super) fn structure(&self) -> Option<Model> {
        if let Some(config) = self.fields.get("model.config") {
            return Model::from_config("config.json", config).ok();
        }
        let known = model::find(self.text_of("model")?)?;
        let config: Json = serde_json::from_str(known.config).ok()?;
        // A recorded class is not known here: nothing is said of modules that are a guess.
        Model::from_config(known.id, &config).ok().filter(|model| model.reading == Reading::Known)
    }
}

fn of_model(model: &Model) -> Option<&'static [&'static str]> {
    if model.model_type == "phi" {
        return Some(&["q_proj", "v_proj", "fc1", "fc2"]);
    }
    CHOICES.into_iter().find(|names| has_all(model, names))
}

/// Whether a model has modules of all these names.
fn has_all(model: &Model, names: &[&str]) -> bool {
    let has = |name: &str| {
        let ends = |module: &str| module.rsplit('.').next() == Some(name);
        model.layer_kinds().any(|(layer, _)| layer.modules.iter().any(|module| ends(&module.name)))
    };
    names.iter().all(|name| has(name))
}

/// The modules' own names in a pattern over their paths: `.*\.(q|v)_proj` is q_proj and v_proj. `None` where the pattern
/// chooses in another way, or chooses among layers.
fn ends(pattern: &str) -> Option<Vec<String>> {
    const MOST: usize = 64;
    let pattern = pattern.trim().trim_start_matches('^').trim_end_matches('$');
    let whole =
        pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|rest| !rest.contains(['(', ')']));
    let mut names = Vec::new();
    for pattern in whole.map_or(vec![pattern], |whole| whole.split('|').collect()) {
        let (path, last) = parted(pattern);
        // Digits choose layers, and a look ahead leaves some out.
        let chooses = path.replace("[0-9]", "").bytes().any(|byte| byte.is_ascii_digit()) || path.contains("(?!");
        if chooses {
            return None;
        }
        names.extend(spelled(last)?);
        if names.len() > MOST {
            return None;
        }
    }
    names.sort();
    names.dedup();
    (!names.is_empty()).then_some(names)
}

/// A pattern before and after its last dot outside brackets.
fn parted(pattern: &str) -> (&str, &str) {
    let (mut depth, mut at) = (0_usize, 0);
    for (place, letter) in pattern.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '.' | '*' | '+' if depth == 0 => at = place + 1,
            _ => {}
        }
    }
    pattern.split_at(at)
}

/// Every text that letters and alternatives spell: `(q|v)_proj`, `(?:up|down)_proj`.
fn spelled(pattern: &str) -> Option<Vec<String>> {
    let mut found = vec![String::new()];
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (parts, after): (Vec<&str>, &str) = if first == '(' {
            let (inside, after) = rest[1..].split_once(')')?;
            (inside.trim_start_matches("?:").split('|').collect(), after)
        } else {
            let length = rest.find('(').unwrap_or(rest.len());
            let (part, after) = rest.split_at(length);
            (vec![part], after)
        };
        let plain = |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !parts.iter().all(plain) {
            return None;
        }
        found = found.iter().flat_map(|start| parts.iter().map(move |part| [start.as_str(), part].concat())).collect();
        rest = after;
    }
    found.retain(|name| !name.is_empty());
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::ends;

    #[test]
    fn patterns_name_their_modules() {
        let names = |pattern: &str| ends(pattern).unwrap_or_default().join(" ");
        assert_eq!(names(r".*\.(q_proj|v_proj)$"), "q_proj v_proj");
        assert_eq!(
            names(r"model.language_model.layers.[\d]+.(mlp|self_attn).(up|down|q)_proj"),
            "down_proj q_proj up_proj"
        );
        assert_eq!(names(r"^(?:.*q_proj|.*k_proj)$"), "k_proj q_proj");
        assert_eq!(names(r"model\.layers\.(0|1)\.self_attn\.q_proj"), "", "layers are chosen");
        assert_eq!(names(r"^(?!.*visual).*q_proj"), "", "modules are left out");
        assert_eq!(names(r".*proj.*"), "");
    }
}
