//! What a reinforcement trainer's step does around its update.

use super::Job;
use crate::plan::{Dtype, Method, RolloutEngine, Task, TrainerName};

/// What a rollout engine's weights are in: a checkpoint's own 16 bits, and 16 bits where it is in fp32 (vllm config/model.py
/// `_resolve_auto_dtype`; trainers name no dtype). In which dtype the policy trains makes no difference to it.
pub(crate) const ENGINE_DTYPE: Dtype = Dtype::Bfloat16;

impl Job {
    /// Whether the policy's log-probabilities are taken once more, without a gradient, before the update.
    ///
    /// PPO takes them from the scores of generation where it keeps those. RLOO always does (trl rloo_trainer.py
    /// `_generate_and_score_completions`). GRPO does where a round serves more than one optimizer step, and TRL's where an
    /// optimizer step is no whole number of rounds (grpo_trainer.py, `gradient_accumulation_steps % generate_every`), or
    /// where vLLM generated, whose own log-probabilities it corrects (`vllm_importance_sampling_correction`).
    pub(crate) fn takes_old_logprobs(&self) -> bool {
        let plan = &self.plan;
        if plan.task == Task::Ppo {
            return !self.keeps_scores();
        }
        plan.policy.old_logprobs_pass.unwrap_or_else(|| match (plan.task, self.trainer.name()) {
            (Task::Rloo, _) => true,
            (_, TrainerName::Trl) => {
                let corrected = plan.rollout.engine() == RolloutEngine::Vllm;
                corrected || !self.batches.forwards_per_step.is_multiple_of(self.forwards_per_round())
            }
            _ => self.forwards_per_round() > self.batches.forwards_per_step,
        })
    }

    /// Forwards of the update that one round serves: TRL's `steps_per_generation * num_iterations`.
    fn forwards_per_round(&self) -> u64 {
        let forwards = self.batches.round.map_or(1, |round| round.forwards);
        forwards.saturating_mul(self.plan.policy.num_iterations.unwrap_or(1))
    }

    /// Whether TRL generates anew within an optimizer step, while gradients of its earlier forwards are there (grpo_trainer.py
    /// `_prepare_inputs`: every `steps_per_generation * num_iterations` forwards).
    pub(crate) fn generates_beside_gradients(&self) -> bool {
        self.trainer.name() == TrainerName::Trl && self.forwards_per_round() < self.batches.forwards_per_step
    }

    /// Elements, on all GPUs together, of the engines' weights that wait in host memory while the policy trains: TRL before
    /// 1.0 lets vLLM sleep at level 1, which keeps them there (grpo_trainer.py `self.llm.sleep(level=1)`), and since at
    /// level 2, which drops them (generation/vllm_generation.py).
    pub(crate) fn sleeping_engine(&self) -> Option<u64> {
        let rollout = &self.plan.rollout;
        let sleeps = self.plan.is_reinforcement() && rollout.is_colocated() && rollout.vllm_enable_sleep_mode;
        let keeps = self.trainer.name() == TrainerName::Trl && !self.trainer.is_trl_since(1, 0);
        let share = self.model.param_count().div_ceil(rollout.tensor_parallel_size());
        (sleeps && keeps).then(|| share.saturating_mul(self.plan.num_gpus.max(1)))
    }

    /// Whether the engine's linears are quantised to 4 bits as they are loaded: TRL asks vLLM to where the policy's are
    /// (generation/vllm_generation.py, `quantization = "bitsandbytes"`).
    pub(crate) fn quantizes_engine(&self) -> bool {
        let plan = &self.plan;
        let four_bit = plan.method == Method::Qlora && plan.quantization.bits == 4;
        four_bit && plan.rollout.engine() == RolloutEngine::Vllm && self.trainer.name() == TrainerName::Trl
    }

    /// Whether PPO keeps the scores of generation and takes log-probabilities from them.
    pub(crate) fn keeps_scores(&self) -> bool {
        self.plan.task == Task::Ppo && self.plan.rollout.keep_scores.unwrap_or(true)
    }
}
