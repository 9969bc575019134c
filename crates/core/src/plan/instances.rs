//! The other models on the card, found: PPO's value model, reward models, judges, simulated users.

use std::sync::Arc;

use super::{Companion, CompanionModel, InstanceRole, ModelChoice, Offload, Plan, Problem, ProblemKind, Task};
use crate::model::Model;

/// A model beside the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// What it is for.
    pub role: InstanceRole,
    /// The model itself.
    pub model: Arc<Model>,
    /// Bits a weight when it is quantised.
    pub bits: Option<u8>,
    /// Whether its weights are those of the policy.
    pub shared: bool,
    /// Where its weights are while it does not run.
    pub placement: Offload,
}

impl Plan {
    /// The models beside policy and reference, the value model first.
    ///
    /// # Errors
    /// Every companion whose model is not known, or that cannot have the policy's weights, each with its field and fix.
    pub fn instances(&self, policy: &Arc<Model>) -> Result<Vec<Instance>, Vec<Problem>> {
        let policys_own = Companion::default();
        let critic = (self.task == Task::Ppo).then(|| self.value_model.as_ref().unwrap_or(&policys_own));
        let others = self.reward_models.iter().flatten().filter(|_| self.task != Task::Inference).enumerate();
        let critic = critic.map(|critic| ("value_model".to_owned(), InstanceRole::Value, critic));
        let others = others.map(|(i, other)| (format!("reward_models.{i}"), InstanceRole::Reward, other));
        let mut problems = Vec::new();
        let mut instances = Vec::new();
        for (field, role, companion) in critic.into_iter().chain(others) {
            match found(self, &field, role, companion, policy) {
                Ok(instance) => instances.push(instance),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(instances) } else { Err(problems) }
    }
}

fn found(
    plan: &Plan,
    field: &str,
    role: InstanceRole,
    companion: &Companion,
    policy: &Arc<Model>,
) -> Result<Instance, Problem> {
    let place = if companion.is_bare { field.to_owned() } else { format!("{field}.model") };
    let model = found_model(plan, &place, &companion.model, policy)?;
    let shared = companion.is_shared();
    if shared && model.layers != policy.layers {
        let kind = ProblemKind::Contradiction { other: "model".to_owned(), mend: "false".to_owned() };
        return Err(Problem::new(format!("{field}.shared"), kind));
    }
    Ok(Instance {
        role: companion.role.unwrap_or(role),
        model,
        bits: companion.bits,
        shared,
        placement: companion.placement.unwrap_or(Offload::None),
    })
}

fn found_model(plan: &Plan, field: &str, model: &CompanionModel, policy: &Arc<Model>) -> Result<Arc<Model>, Problem> {
    let choice = match model {
        CompanionModel::Policy => return Ok(Arc::clone(policy)),
        CompanionModel::Catalogue(id) | CompanionModel::Named(id) => ModelChoice::Catalogue(id.clone()),
        CompanionModel::Config { name, config } => {
            let name = name.as_deref().unwrap_or(CompanionModel::UNNAMED).to_owned();
            ModelChoice::Config { name, config: config.clone() }
        }
    };
    // The same model need not be read twice.
    if choice == plan.model {
        return Ok(Arc::clone(policy));
    }
    super::subject::find_model(&choice).map_err(|problem| Problem::new(field, problem.kind))
}
