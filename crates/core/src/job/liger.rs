//! Which classes Liger's kernels stand in for, and whose loss they compute in chunks.

use crate::model;
use crate::plan::{ModelChoice, Plan, stacks_experts};

/// Model types for which liger-kernel 0.8.5 fuses the head with the loss (`MODEL_TYPE_TO_APPLY_LIGER_FN` in
/// transformers/monkey_patch.py, where `fused_linear_cross_entropy` is on by default).
const FUSED: [&str; 51] = [
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v4",
    "exaone4",
    "falcon_h1",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "gemma4",
    "gemma4_text",
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
    "mllama_text_model",
    "muse_glimmer",
    "nemotron",
    "olmo2",
    "olmo3",
    "paligemma",
    "phi3",
    "qwen2",
    "qwen2_5_vl",
    "qwen2_5_vl_text",
    "qwen2_vl",
    "qwen2_vl_text",
    "qwen3",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_5_moe_text",
    "qwen3_5_text",
    "qwen3_moe",
    "qwen3_next",
    "qwen3_vl",
    "qwen3_vl_moe",
    "qwen3_vl_moe_text",
    "qwen3_vl_text",
    "smollm3",
    "smolvlm",
];
/// Those whose layers alone it knows.
const LAYERS_ALONE: [&str; 2] = ["granite", "pixtral"];

/// Whether Liger's kernels run in the plan's model: on other classes the Trainer's `use_liger_kernel` does nothing.
pub(crate) fn applies(plan: &Plan) -> bool {
    plan.use_liger_kernel && model_type_of(plan).is_some_and(|one| FUSED.contains(&one) || LAYERS_ALONE.contains(&one))
}

/// Whether Liger's kernels compute the loss of the plan's model in chunks.
pub(crate) fn fuses_loss(plan: &Plan) -> bool {
    model_type_of(plan).is_some_and(|model_type| FUSED.contains(&model_type))
}

/// Of a norm `name` of a class that Liger's kernels stand in for: whether its backward writes over the gradient that it gets; `None`:
/// the norm stays as it is (what `apply_liger_kernel_to_*` of transformers/monkey_patch.py patches of a model that is there already).
pub(crate) fn norm_in_place(model_type: &str, name: &str) -> Option<bool> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let stays = match model_type {
        "hunyuan_v1_dense" | "hunyuan_v1_moe" => matches!(last, "query_layernorm" | "key_layernorm"),
        "olmo2" | "olmo3" | "mllama" => matches!(last, "q_norm" | "k_norm"),
        "gemma4" | "gemma4_text" => !last.ends_with("layernorm") && !matches!(last, "q_norm" | "k_norm" | "norm"),
        _ => false,
    };
    let keeps_gradient = match model_type {
        "olmo2" | "olmo3" => last != "norm",
        "exaone4" | "gemma2" | "gemma3" | "gemma3_text" | "gemma4" | "gemma4_text" | "glm4" | "qwen3_5"
        | "qwen3_5_text" | "qwen3_5_moe" | "qwen3_5_moe_text" | "qwen3_next" => true,
        _ => false,
    };
    (!stays).then_some(!keeps_gradient)
}

/// Whether Liger's kernel multiplies gate and up of a class's feed-forward parts.
pub(crate) fn fuses_gate(model_type: &str) -> bool {
    // Of Hunyuan's mixtures the experts alone are patched, not the shared one beside them.
    !matches!(model_type, "nemotron" | "gpt_oss" | "deepseek_v4" | "hunyuan_v1_moe")
}

/// Whether one function of Liger's runs the stacked experts of a model of the class `model_type` (what
/// transformers/monkey_patch.py puts `LigerExperts` in place of, with transformers 5).
pub(crate) fn fuses_experts(plan: &Plan, model_type: &str) -> bool {
    let is_patched = matches!(
        model_type,
        "mixtral"
            | "qwen3_moe"
            | "qwen3_vl_moe"
            | "qwen3_vl_moe_text"
            | "glm4v_moe"
            | "glm4v_moe_text"
            | "qwen3_next"
            | "qwen3_5_moe"
            | "qwen3_5_moe_text"
            | "hunyuan_v1_moe"
            | "deepseek_v2"
            | "deepseek_v3"
    );
    is_patched && applies(plan) && stacks_experts(plan)
}

/// What the plan's config says of its class.
fn model_type_of(plan: &Plan) -> Option<&str> {
    match &plan.model {
        ModelChoice::Catalogue(id) => model::find(id).and_then(|entry| model_type(entry.config)),
        ModelChoice::Config { config, .. } => config.get("model_type").and_then(serde_json::Value::as_str),
    }
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
