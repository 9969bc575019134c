//! The models beside the one that trains: reference, value model, reward models.

use super::super::activations::ForwardContext;
use super::super::autograd::{Tape, Tensor};
use super::super::loss::mark_backward;
use super::super::sharding::{MicroBatch, strategy};
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
}

impl Actor {
    /// The context of a forward without gradients over `batch` sequences of `length` tokens.
    pub(super) fn reading(&self, tape: &Rc<Tape>, (batch, length): (u64, u64), padded: bool) -> Rc<ForwardContext> {
        let mut context = forward_context(tape, &self.job, false);
        (context.batch, context.length, context.attended) = (batch, length, length);
        context.padded |= padded;
        context.groups = strategy(&self.job.sharding).groups(tape, &self.weights.sharded(), MicroBatch::ONLY);
        Rc::new(context)
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

    /// Hidden states of `context`'s sequences.
    pub(super) fn hidden(&self, context: &Rc<ForwardContext>) -> Option<Tensor> {
        // While training, the update brings its groups up and down itself.
        let groups = context.groups.iter().filter(|_| !context.training);
        groups.clone().for_each(|groups| groups.begin_forward());
        let hidden = forward(context, &self.job, &self.weights);
        groups.for_each(|groups| groups.end_forward());
        hidden
    }

    /// Generates as the policy does, with a cache of its own.
    pub(super) fn generate(&self, tape: &Rc<Tape>, what: Generation, sampling: &Rollout) {
        let Self { job, weights } = self;
        let generator = Generator { tape, job, weights };
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
    let weights = match job.reference {
        ReferenceKind::Copy | ReferenceKind::Auto => {
            load(tape, job, Holder { frozen: true, term: Some(Term::ReferenceWeights), prefix: "" })
        }
        ReferenceKind::AdapterDisabled => policy.without_adapters(),
        ReferenceKind::Precomputed | ReferenceKind::None => return None,
    };
    Some(Actor { job: job.clone(), weights })
}

/// The policy itself, for forwards without gradients.
pub(super) fn reader(job: &Job, policy: &LoadedModel) -> Actor {
    Actor { job: job.clone(), weights: policy.reading() }
}

/// PPO's value model: trains in full with a one-score head, or only its head over the policy's base.
pub(super) fn value(tape: &Rc<Tape>, job: &Job, instance: &Instance, policy: &LoadedModel) -> Actor {
    let job = job.for_companion(instance);
    let holder = Holder { frozen: false, term: Some(Term::ValueWeights), prefix: "value_model" };
    let weights = if instance.shared { policy.with_score(tape, &job, holder) } else { load(tape, &job, holder) };
    Actor { job, weights }
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
        (false, _) => load(tape, &job, holder),
    };
    Actor { job, weights }
}

/// Whether the model's weights stay on the GPU all step long.
pub(super) fn stays(instance: &Instance) -> bool {
    instance.placement == Offload::None
}
