//! The models beside policy and reference, found, and each as a job of its own in the policy's place.

use std::sync::Arc;

use super::{AttentionKernel, HeldExperts, Job, Numerics, models};
use crate::model::{Images, Model};
use crate::plan::{
    AdapterTargets, Companion, CompanionModel, Dtype, Frozen, InstanceRole, Method, ModelChoice, Offload, Plan,
    Problem, ProblemKind, Task,
};

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

impl Instance {
    /// Whether it answers in words, as judges and simulated users do; reward and value models give a number.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.role, InstanceRole::Judge | InstanceRole::SimulatedUser)
    }
}

/// The models beside policy and reference, the value model first.
///
/// # Errors
/// Every companion whose model is not known, or that cannot have the policy's weights, each with its field and fix.
pub(super) fn instances(plan: &Plan, policy: &Arc<Model>) -> Result<Vec<Instance>, Vec<Problem>> {
    let policys_own = Companion::default();
    let critic = (plan.task == Task::Ppo).then(|| plan.value_model.as_ref().unwrap_or(&policys_own));
    let others = plan.reward_models.iter().flatten().filter(|_| plan.task != Task::Inference).enumerate();
    let critic = critic.map(|critic| ("value_model".to_owned(), InstanceRole::Value, critic));
    let others = others.map(|(i, other)| (format!("reward_models.{i}"), InstanceRole::Reward, other));
    let mut problems = Vec::new();
    let mut instances = Vec::new();
    for (field, role, companion) in critic.into_iter().chain(others) {
        match found(plan, &field, role, companion, policy) {
            Ok(instance) => instances.push(instance),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(instances) } else { Err(problems) }
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
        let kind = ProblemKind::Contradiction { other: "model".to_owned(), fix: "false".to_owned() };
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
    models::read(&choice, plan, Images::None).map_err(|problem| Problem::new(field, problem.kind))
}

impl Job {
    /// The job of a model beside the policy: it sees the same batches under the same sharding, without adapters. Reward and
    /// value models have one score for a head.
    pub(crate) fn for_companion(&self, instance: &Instance) -> Self {
        let task = if instance.writes() { Task::Inference } else { Task::SequenceClassification };
        let mut plan = Plan { task, num_labels: 1, ..self.plan.clone() };
        // On the policy's own base, what holds for the base holds for it.
        if !instance.shared {
            hold_alone(&mut plan, instance);
        }
        let is_judge = !instance.shared && instance.role == InstanceRole::Reward;
        let sharding = if is_judge { self.sharding.of_judge(&plan) } else { self.sharding };
        Self {
            numerics: Numerics::of(&plan, &sharding),
            sharding,
            attention: AttentionKernel::of(&plan, &instance.model, &self.gpu),
            targets: AdapterTargets::of(&plan, &instance.model),
            experts: HeldExperts::of(&plan, &instance.model),
            frozen: Frozen::of(&plan, &instance.model),
            model: instance.model.clone(),
            instances: Vec::new(),
            plan,
            gpu: self.gpu.clone(),
            ..*self
        }
    }
}

/// A model that has no adapters, and is quantised as the instance says, not as the policy is.
fn hold_alone(plan: &mut Plan, instance: &Instance) {
    plan.method = Method::Full;
    if let Some(bits) = instance.bits {
        plan.method = Method::Qlora;
        plan.quantization.bits = bits;
        plan.quantization.prepare_for_kbit_training = false;
        if plan.torch_dtype == Dtype::Float32 {
            plan.torch_dtype = Dtype::Bfloat16;
        }
    }
}
