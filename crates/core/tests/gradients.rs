//! Every parameter gets a gradient: an operator that is not modelled would leave the weights it reads without one.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Category, Phase, estimate};
use headroom_core::model::{self, CatalogueModel, ModelKind, Programs};
use headroom_core::plan::{Dtype, GpuChoice, Method, MixedPrecision, ModelChoice, Plan, Task};

/// Most bytes of frequencies of rotary positions, which are buffers beside the weights: less than any norm's weights in all layers.
const TABLES: u64 = 4_096;

/// Classes with weights that get no gradient: biases that correct a router's choice, and indexers; or with large buffers.
const UNTRAINED: &[&str] = &[
    "baichuan",
    "bailing_hybrid",
    "deepseek_v32",
    "falcon_h1",
    "glm4_moe",
    "glm4_moe_lite",
    "glm_moe_dsa",
    "kimi_linear",
    "lfm2_moe",
    "mimo_v2_flash",
    "minimax_m2",
    "nemotron_h",
];

/// In full fine-tuning in one dtype, gradients are as large as the weights once backward has run.
#[test]
fn every_weight_of_every_model_gets_a_gradient() {
    let mut unequal = Vec::new();
    let programs = Programs::default();
    // Some classes have weights without gradients: routers' biases, indexers, towers that see no image.
    let trains_whole = |entry: &&CatalogueModel| {
        !UNTRAINED.iter().any(|name| entry.config.contains(&format!("\"model_type\":\"{name}\"")))
            && !entry.config.contains("vision_config")
    };
    for entry in model::catalogue().iter().filter(trains_whole) {
        let encodes = entry.model(&programs).unwrap().kind == ModelKind::Encoder;
        let plan = Plan {
            model: ModelChoice::Catalogue(entry.id.to_owned()),
            task: if encodes { Task::SequenceClassification } else { Task::Sft },
            method: Method::Full,
            torch_dtype: Dtype::Bfloat16,
            mixed_precision: MixedPrecision::No,
            max_length: 128,
            gpu: GpuChoice::Catalogue("a100-80gb".to_owned()),
            ..Plan::default()
        };
        let answer = estimate(&Job::resolve(&plan).unwrap_or_else(|problems| panic!("{}: {problems:?}", entry.id)));
        let clipping = answer.phases.iter().find(|used| used.phase == Phase::GradientClipping);
        let clipping = clipping.unwrap_or_else(|| panic!("{}: no clipping", entry.id));
        let of = |category: Category| -> u64 {
            clipping.by_category.iter().filter(|(other, _)| *other == category).map(|(_, bytes)| bytes).sum()
        };
        let (weights, gradients) = (of(Category::Weights), of(Category::Gradients));
        // Routers of some mixtures hold biases that do not train, blocks of 512 bytes in each layer that has one: ERNIE's in fp32.
        let untrained = match entry.id {
            id if id.starts_with("baidu/ERNIE-4.5-21B") => 27 * 512,
            "deepseek-ai/DeepSeek-V3" | "deepseek-ai/DeepSeek-R1" => 58 * 512,
            "moonshotai/Kimi-K2-Instruct" => 60 * 1_024,
            _ => 0,
        };
        let tables = weights.saturating_sub(gradients + untrained);
        if weights < gradients + untrained || tables > TABLES {
            unequal.push(format!("{}: weights {weights}, gradients {gradients}", entry.id));
        }
    }
    assert!(unequal.is_empty(), "{unequal:#?}");
}
