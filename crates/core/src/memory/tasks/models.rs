//! The models beside the one that trains: reference, value model, reward models.

use super::super::activations::{Kernel, Setting};
use super::super::autograd::{Tape, Tensor};
use super::super::logits::mark_backward;
use super::super::sharding::strategy;
use super::super::step::{forward, kernel, setting};
use super::super::term::Term;
use super::super::weights::{Holder, ModelWeights, load};
use super::rollout::{Generation, Generator};
use crate::gpu::Card;
use crate::job::Sharding;
use crate::model::Model;
use crate::plan::{Dtype, Instance, InstanceRole, Method, Offload, Plan, ReferenceKind, Rollout, Task};
use std::rc::Rc;

/// A model on the tape, with the plan that says how it is held.
pub(super) struct Actor<'a> {
    pub(super) plan: Plan,
    pub(super) model: &'a Model,
    pub(super) weights: ModelWeights,
    kernel: Kernel,
}

impl<'a> Actor<'a> {
    fn new(plan: Plan, model: &'a Model, card: &Card, weights: ModelWeights) -> Self {
        let kernel = kernel(&plan, model, card);
        Self { plan, model, weights, kernel }
    }

    /// The setting of a forward without gradients over `batch` sequences of `length` tokens.
    pub(super) fn reading(
        &self,
        tape: &Rc<Tape>,
        sharding: &Sharding,
        (batch, length): (u64, u64),
        padded: bool,
    ) -> Rc<Setting> {
        let mut setting = setting(tape, &self.plan, self.model, self.kernel, false);
        (setting.batch, setting.length, setting.attended) = (batch, length, length);
        setting.padded |= padded;
        setting.fsdp2 = strategy(sharding).groups(tape, &self.weights);
        Rc::new(setting)
    }

    /// Hidden states of `setting`'s sequences.
    pub(super) fn hidden(&self, setting: &Rc<Setting>) -> Option<Tensor> {
        // While training, the update brings its groups up and down itself.
        let groups = setting.fsdp2.iter().filter(|_| !setting.training);
        groups.clone().for_each(|groups| groups.begin_forward());
        let hidden = forward(setting, &self.plan, self.model, &self.weights);
        groups.for_each(|groups| groups.end_forward());
        hidden
    }

    /// Generates as the policy does, with a cache of its own.
    pub(super) fn generate(&self, tape: &Rc<Tape>, what: Generation, sampling: &Rollout) {
        let Self { plan, model, weights, kernel } = self;
        let generator = Generator { tape, plan, model, weights, kernel: *kernel };
        let mut generated = generator.run(what, Some(&Rollout { keep_scores: Some(false), ..sampling.clone() }));
        generated.drop_cache(tape, weights);
    }

    /// One score a token: `score(hidden_states)`, [b, s, 1].
    pub(super) fn scores(&self, setting: &Rc<Setting>) -> Option<Tensor> {
        let hidden = mark_backward(setting, &self.hidden(setting)?);
        Some(self.weights.score.as_ref()?.run(setting, &hidden, Term::ScoreHead))
    }
}

/// How the reference exists for this plan.
pub(crate) fn reference_kind(plan: &Plan) -> ReferenceKind {
    if plan.task == Task::Grpo && plan.policy.beta.unwrap_or(0.0) <= 0.0 {
        return ReferenceKind::None;
    }
    match plan.reference.kind {
        // trl: create_reference_model without peft, the adapter switched off with it.
        ReferenceKind::Auto if plan.method == Method::Full => ReferenceKind::Copy,
        ReferenceKind::Auto => ReferenceKind::AdapterDisabled,
        kind => kind,
    }
}

/// The frozen reference, when one runs within the step: a copy, or the policy without its adapters.
pub(super) fn reference<'a>(
    tape: &Rc<Tape>,
    plan: &Plan,
    model: &'a Model,
    card: &Card,
    policy: &ModelWeights,
    sharding: &Sharding,
) -> Option<Actor<'a>> {
    let weights = match reference_kind(plan) {
        ReferenceKind::Copy | ReferenceKind::Auto => {
            let holder = Holder { frozen: true, term: Some(Term::ReferenceWeights), prefix: "" };
            load(tape, plan, model, sharding, holder)
        }
        ReferenceKind::AdapterDisabled => policy.without_adapters(),
        ReferenceKind::Precomputed | ReferenceKind::None => return None,
    };
    Some(Actor::new(plan.clone(), model, card, weights))
}

/// The policy itself, for forwards without gradients.
pub(super) fn reader<'a>(plan: &Plan, model: &'a Model, card: &Card, policy: &ModelWeights) -> Actor<'a> {
    Actor::new(plan.clone(), model, card, policy.reading())
}

/// PPO's value model: trains in full with a one-score head, or only its head over the policy's base.
pub(super) fn value<'a>(
    tape: &Rc<Tape>,
    plan: &Plan,
    instance: &'a Instance,
    card: &Card,
    policy: &ModelWeights,
    sharding: &Sharding,
) -> Actor<'a> {
    let own = Plan { task: Task::SequenceClassification, num_labels: 1, ..plan.clone() };
    let holder = Holder { frozen: false, term: Some(Term::ValueWeights), prefix: "value_model" };
    if instance.shared {
        let weights = policy.with_score(tape, &own, &instance.model, sharding, holder);
        return Actor::new(own, &instance.model, card, weights);
    }
    let own = held(own, instance);
    let weights = load(tape, &own, &instance.model, sharding, holder);
    Actor::new(own, &instance.model, card, weights)
}

/// Names of up to 16 frozen models.
const PREFIXES: [&str; 16] = [
    "reward_models.0",
    "reward_models.1",
    "reward_models.2",
    "reward_models.3",
    "reward_models.4",
    "reward_models.5",
    "reward_models.6",
    "reward_models.7",
    "reward_models.8",
    "reward_models.9",
    "reward_models.10",
    "reward_models.11",
    "reward_models.12",
    "reward_models.13",
    "reward_models.14",
    "reward_models.15",
];

/// The `place`th frozen model beside the policy.
pub(super) fn frozen<'a>(
    tape: &Rc<Tape>,
    plan: &Plan,
    (place, instance): (usize, &'a Instance),
    card: &Card,
    policy: &ModelWeights,
    sharding: &Sharding,
) -> Actor<'a> {
    let prefix = PREFIXES.get(place).copied().unwrap_or("reward_models");
    let holder = Holder { frozen: true, term: Some(Term::RewardWeights), prefix };
    let task = if writes(instance) { Task::Inference } else { Task::SequenceClassification };
    let own = held(Plan { task, num_labels: 1, ..plan.clone() }, instance);
    let weights = match (instance.shared, writes(instance)) {
        (true, true) => policy.without_adapters(),
        (true, false) => policy.with_score(tape, &own, &instance.model, sharding, holder),
        (false, _) => load(tape, &own, &instance.model, sharding, holder),
    };
    Actor::new(own, &instance.model, card, weights)
}

/// Judges and simulated users answer in words; reward models give a number.
pub(super) fn writes(instance: &Instance) -> bool {
    matches!(instance.role, InstanceRole::Judge | InstanceRole::SimulatedUser)
}

/// Whether the model's weights stay on the card all step long.
pub(super) fn stays(instance: &Instance) -> bool {
    instance.placement == Offload::None
}

/// `plan` for a model that is not the policy: without adapters, quantised as the instance says.
fn held(plan: Plan, instance: &Instance) -> Plan {
    let mut plan = Plan { method: Method::Full, ..plan };
    if let Some(bits) = instance.bits {
        plan.method = Method::Qlora;
        plan.quantization.bits = bits;
        plan.quantization.prepare_for_kbit_training = false;
        if plan.torch_dtype == Dtype::Float32 {
            plan.torch_dtype = Dtype::Bfloat16;
        }
    }
    plan
}
