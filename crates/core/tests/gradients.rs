//! Every parameter gets a gradient: an operator that is not modelled would leave the weights it reads without one.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Category, Phase, Term, estimate};
use headroom_core::model::{self, CatalogueModel, ModelKind, Programs};
use headroom_core::plan::{Dtype, GpuChoice, Method, MixedPrecision, ModelChoice, Plan, Task};

/// Classes with weights that get no gradient: biases that correct a router's choice, and indexers.
const UNTRAINED: &[&str] = &[
    "baichuan",
    "bailing_hybrid",
    "deepseek_v32",
    "deepseek_v4",
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
        // Routers of ERNIE's mixtures hold biases in fp32 that do not train, a block of 512 bytes in each of 27 layers.
        let untrained = if entry.id.starts_with("baidu/ERNIE-4.5-21B") { 27 * 512 } else { 0 };
        // Frequencies of rotary positions, numbers of positions.
        let buffers = answer.allocations.iter().filter(|row| row.term == Term::Buffers).flat_map(|row| &row.phases);
        let buffers: u64 = buffers.filter(|(phase, _)| *phase == Phase::GradientClipping).map(|(_, bytes)| bytes).sum();
        if weights != gradients + untrained + buffers {
            unequal.push(format!("{}: weights {weights}, gradients {gradients}", entry.id));
        }
    }
    assert!(unequal.is_empty(), "{unequal:#?}");
}
