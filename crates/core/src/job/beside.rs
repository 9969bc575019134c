//! How the models beside the policy are held: each is a job of its own, in the policy's place.

use super::{AttentionKernel, Job, Numerics};
use crate::plan::{Dtype, Instance, InstanceRole, Method, Plan, Task};

impl Instance {
    /// Whether it answers in words, as judges and simulated users do; reward and value models give a number.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.role, InstanceRole::Judge | InstanceRole::SimulatedUser)
    }
}

impl Job {
    /// The job of a model beside the policy: it sees the same batches under the same sharding, without adapters. Reward and
    /// value models have one score for a head.
    pub(crate) fn beside(&self, instance: &Instance) -> Self {
        let task = if instance.writes() { Task::Inference } else { Task::SequenceClassification };
        let mut plan = Plan { task, num_labels: 1, ..self.plan.clone() };
        // On the policy's own base, what holds for the base holds for it.
        if !instance.shared {
            hold_alone(&mut plan, instance);
        }
        Self {
            numerics: Numerics::of(&plan, &self.sharding),
            attention: AttentionKernel::of(&plan, &instance.model, &self.gpu),
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
