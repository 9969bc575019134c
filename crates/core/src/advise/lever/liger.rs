//! Whose loss Liger's kernels compute in chunks.

use crate::model;
use crate::plan::{ModelChoice, Plan};

/// Model types for which liger-kernel 0.8.5 fuses the head with the loss (`MODEL_TYPE_TO_APPLY_LIGER_FN` in
/// transformers/monkey_patch.py): on others the Trainer's `use_liger_kernel` does nothing, and Granite gets its norms only.
const FUSED: [&str; 38] = [
    "deepseek_v2",
    "deepseek_v3",
    "exaone4",
    "falcon_h1",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "glm4",
    "glm4v",
    "glm4v_moe",
    "gpt_oss",
    "hunyuan_v1_dense",
    "hunyuan_v1_moe",
    "internvl",
    "llama",
    "llama4",
    "llama4_text",
    "llava",
    "ministral",
    "mistral",
    "mixtral",
    "mllama",
    "olmo2",
    "olmo3",
    "paligemma",
    "phi3",
    "pixtral",
    "qwen2",
    "qwen2_5_vl",
    "qwen2_vl",
    "qwen3",
    "qwen3_5",
    "qwen3_moe",
    "qwen3_next",
    "qwen3_vl",
    "qwen3_vl_moe",
    "smollm3",
];

/// Whether Liger's kernels compute the loss of the plan's model in chunks.
pub(super) fn fuses_loss(plan: &Plan) -> bool {
    match &plan.model {
        ModelChoice::Catalogue(id) => model::find(id).and_then(|entry| model_type(entry.config)),
        ModelChoice::Config { config, .. } => config.get("model_type").and_then(serde_json::Value::as_str),
    }
    .is_some_and(|model_type| FUSED.contains(&model_type))
}

/// `model_type` of a config of the catalogue, which starts with it: asked too often to read the whole.
fn model_type(config: &str) -> Option<&str> {
    config.strip_prefix("{\"model_type\":\"")?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_config_of_the_catalogue_starts_with_its_model_type() {
        for entry in model::catalogue() {
            let config: serde_json::Value = serde_json::from_str(entry.config).unwrap_or_default();
            assert_eq!(model_type(entry.config), config["model_type"].as_str(), "{}", entry.id);
        }
    }

    #[test]
    fn the_loss_of_llama_is_fused_and_that_of_falcon_is_not() {
        let of = |id: &str| fuses_loss(&Plan { model: ModelChoice::Catalogue(id.to_owned()), ..Plan::default() });
        assert!(of("meta-llama/Llama-3.1-8B") && of("Qwen/Qwen3-30B-A3B"));
        assert!(!of("tiiuae/falcon-7b") && !of("ibm-granite/granite-4.1-8b") && !of("no/such"));
        let own = |model_type: &str| {
            let config = serde_json::json!({ "model_type": model_type });
            fuses_loss(&Plan { model: ModelChoice::Config { name: "own".to_owned(), config }, ..Plan::default() })
        };
        assert!(own("mistral") && !own("bloom"));
    }
}
