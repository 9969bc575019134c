//! The models beside the one that trains: reference, value model, reward models.

use super::super::activations::ForwardContext;
use super::super::autograd::{Tape, Tensor};
use super::super::loss::mark_backward;
use super::super::sharding::{Groups, MicroBatch, strategy};
use super::super::step::{forward, forward_context};
use super::super::term::Term;
use super::super::weights::{Holder, LoadedModel, load};
use super::rollout::{Generation, Generator};
use crate::job::{Instance, Job};
use crate::plan::{Offload, ReferenceKind, Rollout};
use std::cell::RefCell;
use std::rc::Rc;

/// A model on the tape, with the job that says how it is held.
pub(super) struct Actor {
    pub(super) job: Job,
    pub(super) weights: LoadedModel,
    /// Groups of parameters that PyTorch's FSDP gathers, of frozen weights of its own: what one forward leaves gathered the next finds.
    groups: Option<Rc<Groups>>,
}

impl Actor {
    /// The context of a forward without gradients over `batch` sequences of `length` tokens.
    pub(super) fn reading(&self, tape: &Rc<Tape>, (batch, length): (u64, u64), padded: bool) -> Rc<ForwardContext> {
        let mut context = forward_context(tape, &self.job, false);
        (context.batch, context.length, context.attended) = (batch, length, length);
        context.padded |= padded;
        let new = || strategy(&self.job.sharding).groups(tape, &self.weights.sharded(), MicroBatch::ONLY);
        context.groups = self.groups.clone().or_else(new);
        Rc::new(context)
    }

    /// The same model where it stays on the GPU: what its first forward leaves gathered is there as long as `policy` trains.
    fn staying_beside(self, policy: &LoadedModel) -> Self {
        policy.beside.borrow_mut().extend(self.groups.clone());
        self
    }

    /// The same of a reference, whose keys and values stay in its outputs where nothing switches that off.
    pub(super) fn reading_as_reference(&self, tape: &Rc<Tape>, of: (u64, u64)) -> Rc<ForwardContext> {
        let mut context = self.reading(tape, of, false);
        if self.job.references_with_cache()
            && let Some(context) = Rc::get_mut(&mut context)
        {
            context.cache = Some(RefCell::default());
        }
        context
    }

    /// Frees the keys and values that the outputs of `context`'s forward hold.
    pub(super) fn drop_cache(&self, context: &ForwardContext) {
        context.drop_cache();
    }

    /// Hidden states of `context`'s sequences. The head reads them before [`ForwardContext::leave_forward`].
    pub(super) fn hidden(&self, context: &Rc<ForwardContext>) -> Option<Tensor> {
        // While training, the update brings its groups up itself.
        context.groups.iter().filter(|_| !context.training).for_each(|groups| groups.begin_forward());
        forward(context, &self.job, &self.weights)
    }

    /// Generates as the policy does, with a cache of its own.
    pub(super) fn generate(&self, tape: &Rc<Tape>, what: Generation, sampling: &Rollout) {
        let Self { job, weights, groups } = self;
        let generator = Generator { tape, job, weights, groups: groups.as_ref() };
        let mut generated = generator.run(what, Some(&Rollout { keep_scores: Some(false), ..sampling.clone() }));
        generated.drop_cache(tape);
    }

    /// One score a token: `score(hidden_states)`, [b, s, 1].
    pub(super) fn scores(&self, context: &Rc<ForwardContext>) -> Option<Tensor> {
        let hidden = mark_backward(context, &self.hidden(context)?);
        Some(self.weights.score.as_ref()?.run(context, &hidden, Term::ScoreHead))
    }
}

/// The frozen reference, when one runs within the step: a copy, or the policy without its adapters.
pub(super) fn reference(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Option<Actor> {
    match job.reference {
        ReferenceKind::Copy | ReferenceKind::Auto => {
            let holder = Holder { frozen: true, term: Some(Term::ReferenceWeights), prefix: "" };
            Some(alone(tape, job.clone(), load(tape, job, holder)).staying_beside(policy))
        }
        ReferenceKind::AdapterDisabled => {
            Some(Actor { job: job.clone(), weights: policy.without_adapters(), groups: None })
        }
        ReferenceKind::Precomputed | ReferenceKind::None => None,
    }
}

/// A frozen model with weights of its own.
fn alone(tape: &Rc<Tape>, job: Job, weights: LoadedModel) -> Actor {
    let groups = strategy(&job.sharding).groups_of_frozen(tape, &weights.sharded());
    Actor { job, weights, groups }
}

/// The policy itself, for forwards without gradients.
pub(super) fn reader(job: &Job, policy: &LoadedModel) -> Actor {
    Actor { job: job.clone(), weights: policy.reading(), groups: None }
}

/// PPO's value model: trains in full with a one-score head, or only its head over the policy's base.
pub(super) fn value(tape: &Rc<Tape>, job: &Job, instance: &Instance, policy: &LoadedModel) -> Actor {
    let job = job.for_companion(instance);
    let holder = Holder { frozen: false, term: Some(Term::ValueWeights), prefix: "value_model" };
    let weights = if instance.shared { policy.with_score(tape, &job, holder) } else { load(tape, &job, holder) };
    Actor { job, weights, groups: None }
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
pub(super) fn frozen(tape: &Rc<Tape>, job: &Job, (place, instance): (usize, &Instance), policy: &LoadedModel) -> Actor {
    let prefix = PREFIXES.get(place).copied().unwrap_or("reward_models");
    let holder = Holder { frozen: true, term: Some(Term::RewardWeights), prefix };
    let job = job.for_companion(instance);
    let weights = match (instance.shared, instance.writes()) {
        (true, true) => policy.without_adapters(),
        (true, false) => policy.with_score(tape, &job, holder),
        (false, _) => {
            let weights = load(tape, &job, holder);
            let actor = alone(tape, job, weights);
            return if stays(instance) { actor.staying_beside(policy) } else { actor };
        }
    };
    Actor { job, weights, groups: None }
}

/// Whether the model's weights stay on the GPU all step long.
pub(super) fn stays(instance: &Instance) -> bool {
    instance.placement == Offload::None
}
