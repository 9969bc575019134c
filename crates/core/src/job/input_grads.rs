//! Which embeddings are made to require gradients although nothing of them trains, and what a frozen layer's checkpoint is.
//!
//! `enable_input_require_grads` of transformers puts a hook on embeddings, so that gradients reach adapters through a frozen base
//! and checkpoints. Which embeddings depends on the release (modeling_utils.py, read in 4.46 to 5.24):
//!
//! - before 5.0 those of the whole model alone, the tokens'. The classes of Idefics and SmolVLM have a function of their own, which
//!   reaches their towers, too;
//! - from 5.0 on those of every model within the model, so far as its class says which they are (`get_input_embeddings`,
//!   `_input_embed_layer`): the towers of Qwen2-VL, Qwen2.5-VL and EXAONE 4.5, SigLIP (Gemma 3, PaliGemma, LLaVA-OneVision), CLIP
//!   (LLaVA), Pixtral (Mistral 3), InternVL, Llama 4, Llama 3.2 Vision, Idefics 3 and SmolVLM; not those of Qwen3-VL, Qwen3.5,
//!   GLM-4V and later, Gemma 4 or Muse Glimmer. A program says it of its class (`leaves`).
//!
//! A frozen tower of such a class is a part of the graph: it keeps what each layer reads where the layer is checkpointed, and all that
//! its operators save where it is not.

use super::Job;
use crate::model::{ModelPart, Module};
use crate::plan::{Auto, Method, Plan, Release, TrainerName};

/// Embeddings that are made leaves of the graph where they would be no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InputGrads {
    /// The tokens'; their gradient lives until the loss goes.
    pub(crate) tokens: bool,
    /// Those of images, in classes whose tower the hook finds.
    pub(crate) images: bool,
}

/// The first release of ms-swift that runs a frozen tower without a graph (model/patcher.py `patch_frozen_module`).
const SWIFT_WITHOUT_GRAPH: Release = Release::new(4, 6, 0);

impl Job {
    /// Which input embeddings require gradients.
    pub(crate) fn input_grads(&self) -> InputGrads {
        let tokens = hooks_tokens(&self.plan);
        let images = tokens && self.hook_reaches_tower() && self.hook_is_on_whole_model() && self.tower_has_graph();
        InputGrads { tokens, images }
    }

    /// Whether the hook finds the embeddings of models within the model.
    fn hook_reaches_tower(&self) -> bool {
        let is_old = self.plan.transformers_release().is_some_and(|release| release.is_before(5, 0));
        !is_old || self.model.behaviour.hooks_tower_by_itself
    }

    /// Whether anything calls transformers' function. LLaMA-Factory does not: its checkpoints make what layers read require gradients
    /// (model/model_utils/checkpointing.py `get_custom_gradient_checkpointing_func`), and only peft calls it, for a base that is not
    /// quantised (peft_model.py `_prepare_model_for_gradient_checkpointing`).
    fn hook_is_on_whole_model(&self) -> bool {
        match (self.trainer.name(), self.plan.enable_input_require_grads) {
            (TrainerName::LlamaFactory, Auto::Auto) => self.plan.method == Method::Lora,
            _ => true,
        }
    }

    /// Whether the forward of the tower records a graph: ms-swift switches that off where nothing of the tower's module trains.
    fn tower_has_graph(&self) -> bool {
        let stated = self.plan.trainer.version.as_deref().and_then(Release::parse);
        let switches_off =
            self.trainer.name() == TrainerName::MsSwift && stated.is_none_or(|release| release >= SWIFT_WITHOUT_GRAPH);
        !switches_off || self.trains_tower()
    }

    /// Whether a parameter or an adapter trains in the module that is the tower, which Qwen's projector is in.
    fn trains_tower(&self) -> bool {
        let program = &self.model.recorded.program;
        let trains = |module: &Module, outside: bool| {
            (module.part == ModelPart::VisionTower || program.is_in_tower(&module.name))
                && !self.freezes(module)
                && (self.plan.method == Method::Full || self.targets.has_module(&module.name, outside))
        };
        let outside = self.model.embeddings.iter().chain(&self.model.final_modules);
        outside.into_iter().any(|module| trains(module, true))
            || self.model.layers.iter().flat_map(|run| &run.layer.modules).any(|module| trains(module, false))
    }

    /// Whether a layer of which nothing trains is checkpointed like any other. LLaMA-Factory calls it as it is
    /// (`get_custom_gradient_checkpointing_func`): where what it reads requires gradients, it keeps all that its operators save.
    pub(crate) fn checkpoints_frozen_layers(&self) -> bool {
        self.trainer.name() != TrainerName::LlamaFactory
    }
}

/// Whether the output of the token embedding becomes a leaf. transformers switches that on with checkpointing (modeling_utils.py
/// `_activation_checkpointing_enable`), axolotl with every adapter (loaders/adapter.py `load_adapter`).
fn hooks_tokens(plan: &Plan) -> bool {
    match plan.enable_input_require_grads {
        Auto::Set(on) => on,
        Auto::Auto => plan.gradient_checkpointing || plan.trainer.name == TrainerName::Axolotl,
    }
}
