//! Trainers that a plan keeps the name of and whose step another's stands for, and how far off that was measured to be.

use super::names::names;
use super::{Method, Plan, Task, Trainer, TrainerName};

names! {
    /// What launches the run, where its step is not modelled for the task: the plan's trainer is the nearest that is.
    LaunchedBy {
        /// Unsloth.
        Unsloth = "unsloth",
        /// verl.
        Verl = "verl",
        /// OpenRLHF.
        OpenRlhf = "openrlhf",
        /// torchtune.
        Torchtune = "torchtune",
        /// NeMo Automodel.
        NemoAutomodel = "nemo_automodel",
        /// FlagEmbedding.
        FlagEmbedding = "flagembedding",
        /// Megatron-Core, under whichever trainer (`megatron sft` of ms-swift, `use_mca` of LLaMA-Factory).
        Megatron = "megatron",
        /// TRL, for a task of which its step was not measured.
        Trl = "trl",
        /// LLaMA-Factory, likewise.
        LlamaFactory = "llamafactory",
        /// ms-swift, likewise.
        MsSwift = "ms-swift",
        /// axolotl, likewise.
        Axolotl = "axolotl",
        /// `transformers.Trainer`, likewise.
        Transformers = "transformers",
    }
}

impl LaunchedBy {
    /// The trainer whose step stands for this one's: what it builds on, else a custom training loop.
    pub const fn nearest(self, task: Task) -> TrainerName {
        use Task::{Cpo, Dpo, Embedding, Grpo, Inference, Kto, Orpo, Ppo, Reward, Rloo, SequenceClassification, Sft};
        match (self, task) {
            (
                Self::Verl
                | Self::OpenRlhf
                | Self::Torchtune
                | Self::NemoAutomodel
                | Self::FlagEmbedding
                | Self::Megatron,
                _,
            )
            | (_, Ppo | Embedding) => TrainerName::Custom,
            (_, SequenceClassification) => TrainerName::Transformers,
            (_, Sft | Dpo | Reward | Kto | Orpo | Cpo | Grpo | Rloo | Inference) => TrainerName::Trl,
        }
    }

    /// What a run needs at least and at most, in per cent of what is estimated for it. Measured, each run beside the closest plan:
    /// Unsloth 2026.10 (LoRA and QLoRA 0.50 to 0.87 of TRL's step, all weights 0.86 to 1.0), verl 0.9 (0.36 to 0.95 of a loop; its
    /// entropy computed eagerly takes more), OpenRLHF 0.11 (1.2 to 1.85 of a loop). Of the others nothing was measured: half to twice.
    pub const fn percent(self, method: Method) -> (u64, u64) {
        match (self, method) {
            (Self::Unsloth, Method::Full) => (80, 110),
            (Self::Unsloth, _) => (48, 105),
            (Self::Verl, _) => (36, 105),
            (Self::OpenRlhf, _) => (95, 185),
            _ => (50, 200),
        }
    }

    /// The name under which `trainer` launches what its own step is not modelled for.
    pub fn of(trainer: TrainerName) -> Option<Self> {
        Self::from_name(trainer.name())
    }
}

impl Plan {
    /// The plan as it is estimated: where its trainer is none that is modelled, the nearest one runs it, and the plan keeps the name.
    pub(crate) fn with_modelled_trainer(mut self) -> Self {
        if !self.trainer.name.is_modelled()
            && let Some(by) = LaunchedBy::of(self.trainer.name)
        {
            self.trainer = Trainer::newest(by.nearest(self.task));
            self.launched_by = Some(by);
        }
        self
    }
}
