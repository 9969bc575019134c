//! GRPO and PPO: rollout, log-probabilities, rewards, then the update (trl trainer/grpo_trainer.py, ppo_trainer.py).

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, Gradients, Sym, Tape, Tensor, custom, dims};
use super::super::device_overhead;
use super::super::loss::{HeadOutput, scalar};
use super::super::parameter::Trainable;
use super::super::phase::Phase;
use super::super::precision::element_type;
use super::super::sharding::strategy;
use super::super::step::Update;
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::engine::Engine;
use super::logprobs::{of_answers, slice};
use super::models::{Actor, frozen, reader, reference, stays, value};
use super::rollout::{Generation, Generator};
use super::trl_answers::trl_answers;
use crate::job::Job;
use crate::plan::{InstanceRole, Rollout, RolloutEngine, Round, Task, TrainerName};
use std::rc::Rc;

/// The models and batches that take part in a step.
struct Participants<'a> {
    tape: &'a Rc<Tape>,
    job: &'a Job,
    policy: &'a LoadedModel,
    reader: Actor,
    reference: Option<Actor>,
    value: Option<Actor>,
    rewards: Vec<Actor>,
    engine: Option<Engine>,
    round: Round,
}

/// Runs one step; gives back everything that was trained.
pub(super) fn update(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let Some(round) = job.batches.round else { return policy.trainable.clone() };
    let critic = job.instances.iter().find(|instance| instance.role == InstanceRole::Value);
    let others = job.instances.iter().filter(|instance| instance.role != InstanceRole::Value);
    let mut participants = Participants {
        tape,
        job,
        policy,
        reader: reader(job, policy),
        reference: reference(tape, job, policy),
        value: critic.map(|instance| value(tape, job, instance, policy)),
        rewards: others
            .enumerate()
            .filter(|(_, instance)| stays(instance))
            .map(|instance| frozen(tape, job, instance, policy))
            .collect(),
        engine: None,
        round,
    };
    let free = job.memory_bytes.saturating_sub(tape.held()).saturating_sub(device_overhead::context(job).expected);
    participants.engine = Engine::new(job, free);
    participants.step()
}

impl Participants<'_> {
    fn step(&self) -> Vec<Trainable> {
        let Self { tape, job, policy, .. } = *self;
        let mut trainable = policy.trainable.clone();
        trainable.extend(self.value.iter().flat_map(|value| value.weights.trainable.iter().cloned()));
        let graphs = self.engine.map(|engine| engine.graphs(tape));
        let standing = self.engine.filter(|engine| !engine.sleeps).map(|engine| engine.awake(tape));
        let sync = || self.sync_weights();
        let update = Update { tape, job, weights: policy, trainable: &trainable, after: &sync };
        update.run(
            Vec::new(),
            || self.experience(),
            |context| {
                if job.generates_beside_gradients() {
                    // What it leaves takes the place of the round before's.
                    drop(self.experience());
                    tape.enter(Phase::Forward);
                }
                self.loss(context)
            },
        );
        drop((standing, graphs));
        trainable
    }

    /// [`Self::gather_experience`] without gradients.
    fn experience(&self) -> Vec<Tensor> {
        self.tape.set_grad_enabled(false);
        let kept = self.gather_experience();
        self.tape.set_grad_enabled(true);
        kept
    }

    /// Rollout, log-probabilities and rewards; gives back what the update reads of them.
    fn gather_experience(&self) -> Vec<Tensor> {
        let Self { tape, job, .. } = *self;
        let plan = &job.plan;
        let ids =
            dims(&[(Sym::B, self.round.sequences_per_gpu), (Sym::PromptAndAnswer, job.batches.tokens_per_sequence)]);
        let mut kept = self.roll_out();
        kept.push(Tensor::new(tape, tape.label(Term::BatchInputs, "completion_ids"), ids, ElementType::I64));
        let batch = plan.policy.logprob_batch_size.unwrap_or(job.batches.sequences_per_forward);
        let batch = batch.min(self.round.sequences_per_gpu).max(1);
        let gathered = strategy(&job.sharding).gathered(tape, self.policy.counts.base);
        if job.takes_old_logprobs() {
            tape.enter(Phase::OldLogProbs);
            kept.extend(self.log_probabilities(&self.reader, batch));
        }
        if let Some(reference) = &self.reference {
            tape.enter(Phase::ReferenceForward);
            kept.extend(self.log_probabilities(reference, batch));
        }
        drop(gathered);
        self.score(batch, &mut kept);
        kept
    }

    /// Log-probabilities of the round's answers, `batch` sequences at a time; [n, C].
    fn log_probabilities(&self, actor: &Actor, batch: u64) -> Option<Tensor> {
        let completion = self.job.plan.rollout.max_completion_length();
        if self.job.trainer.name() == TrainerName::Trl {
            return self.trl_log_probabilities(actor, batch);
        }
        let context = actor.reading(self.tape, (batch, self.job.batches.tokens_per_sequence), self.job.padded);
        let some = of_answers(actor, &context, completion, false, false)?;
        let all = dims(&[(Sym::N, self.round.sequences_per_gpu), (Sym::C, completion)]);
        Some(Tensor::new(self.tape, self.tape.label(Term::LogProbabilities, ""), all, some.element()))
    }

    /// The same as TRL's trainers take them (`_get_per_token_logps_and_entropies`): a batch's logits, a variable of the
    /// loop, live until the next batch's are there.
    fn trl_log_probabilities(&self, actor: &Actor, batch: u64) -> Option<Tensor> {
        let completion = self.job.plan.rollout.max_completion_length();
        let (mut parts, mut before) = (Vec::new(), Vec::new());
        // Later batches repeat the second.
        for _ in 0..self.round.sequences_per_gpu.div_ceil(batch).min(2) {
            let context = actor.reading(self.tape, (batch, self.job.batches.tokens_per_sequence), self.job.padded);
            let (picked, logits) = trl_answers(actor, &context, completion, before)?;
            parts.push(picked);
            before = logits;
        }
        let all = dims(&[(Sym::N, self.round.sequences_per_gpu), (Sym::C, completion)]);
        let some = Tensor::new(self.tape, self.tape.label(Term::LogProbabilities, ""), all, ElementType::F32);
        drop((before, parts));
        Some(some)
    }

    /// New weights go to the engine parameter by parameter (trl grpo_trainer.py _move_model_to_vllm): a sleeping one
    /// takes its weights back first, and a sharded parameter is brought together whole.
    fn sync_weights(&self) {
        let Self { tape, job, policy, .. } = *self;
        let sharding = &job.sharding;
        if self.job.plan.rollout.engine() == RolloutEngine::Generate {
            return;
        }
        tape.enter(Phase::WeightSync);
        // Level 1 wakes weights and pool together before the new weights come (TRL before 1.0).
        let whole = job.sleeping_engine().is_some();
        let wake = |engine: Engine| if whole { engine.awake(tape) } else { engine.weights(tape) };
        let awake = self.engine.filter(|engine| engine.sleeps).map(wake);
        if sharding.shards_weights() {
            let largest = policy.parameters.iter().map(|one| one.tensor.shape().elements()).max().unwrap_or(0);
            let label = tape.label(Term::GatheredParameters, "weight sync");
            tape.moment(label, dims(&[(Sym::Largest, largest)]), element_type(sharding.param_dtype));
        }
        drop(awake);
    }

    /// Generates the round; gives back the log-probabilities that PPO takes from the scores.
    fn roll_out(&self) -> Vec<Tensor> {
        let Self { tape, job, policy, .. } = *self;
        let plan = &job.plan;
        if plan.rollout.engine() != RolloutEngine::Generate {
            if let Some(engine) = self.engine {
                tape.enter(Phase::Generation);
                let woken = engine.sleeps.then(|| engine.awake(tape));
                engine.generate(tape);
                drop(woken);
            }
            return Vec::new();
        }
        let whole = strategy(&job.sharding).gathered_to_generate(tape, policy.counts.base);
        let generator = Generator { tape, job, weights: policy, groups: None };
        let what = Generation {
            batch: self.round.sequences_at_once,
            prompt: plan.rollout.max_prompt_length(),
            new_tokens: plan.rollout.max_completion_length(),
            padded: job.padded,
        };
        let sampling = Rollout { keep_scores: Some(job.keeps_scores()), ..plan.rollout.clone() };
        let mut generated = generator.run(what, Some(&sampling));
        let mut kept = Vec::new();
        if job.keeps_scores() {
            // ppo_trainer.py batch_generation: torch.stack(scores), divided by the temperature, then log-softmax.
            let completion = plan.rollout.max_completion_length();
            let vocab = Dim::new(Sym::V, job.model.vocab_size);
            let all = dims(&[(Sym::B, what.batch), (Sym::C, completion)]).with(vocab);
            let new = || Tensor::new(tape, tape.label(Term::SamplingScores, "stacked"), all, ElementType::F32);
            let stacked = new();
            let divided = new();
            drop(stacked);
            let row = dims(&[(Sym::C, completion)]).with(vocab);
            tape.moment(tape.label(Term::LogProbabilities, "exponentials"), row, ElementType::F32);
            let picked = dims(&[(Sym::N, self.round.sequences_per_gpu), (Sym::C, completion)]);
            kept.push(Tensor::new(tape, tape.label(Term::LogProbabilities, ""), picked, ElementType::F32));
            drop(divided);
        }
        generated.drop_cache(tape);
        drop(whole);
        kept
    }

    /// Values and rewards of the round; models that live on the host come one after the other.
    fn score(&self, batch: u64, kept: &mut Vec<Tensor>) {
        let Self { tape, job, policy, .. } = *self;
        let plan = &job.plan;
        let others = job.instances.iter().filter(|instance| instance.role != InstanceRole::Value).enumerate();
        if self.value.is_none() && job.instances.is_empty() {
            return;
        }
        let read = |actor: &Actor| {
            if actor.weights.score.is_none() {
                let what = Generation {
                    batch: self.round.sequences_at_once,
                    prompt: plan.rollout.max_prompt_length(),
                    new_tokens: plan.rollout.max_completion_length(),
                    padded: job.padded,
                };
                actor.generate(tape, what, &plan.rollout);
                return;
            }
            tape.enter(Phase::RewardForward);
            let context = actor.reading(tape, (batch, job.batches.tokens_per_sequence), job.padded);
            drop(actor.scores(&context));
            context.leave_forward();
        };
        if let Some(value) = &self.value {
            read(value);
            let shape = dims(&[(Sym::N, self.round.sequences_per_gpu), (Sym::C, plan.rollout.max_completion_length())]);
            let element = value.weights.score.as_ref().map_or(ElementType::F32, |_| element_type(job.numerics.weights));
            kept.push(Tensor::new(tape, tape.label(Term::ScoreHead, "values"), shape, element));
        }
        self.rewards.iter().for_each(read);
        for visitor in others.filter(|(_, instance)| !stays(instance)) {
            read(&frozen(tape, job, visitor, policy));
        }
    }

    /// One micro-batch's loss: PPO's value model first, then the policy.
    fn loss(&self, context: &Rc<ForwardContext>) -> Option<HeadOutput> {
        let Self { tape, job, .. } = *self;
        let plan = &job.plan;
        let completion = plan.rollout.max_completion_length();
        let values = match &self.value {
            Some(value) => {
                let mut own = value.reading(tape, (context.batch, context.length), job.padded);
                if let Some(own) = Rc::get_mut(&mut own) {
                    own.groups = None;
                    (own.training, own.drops_out) = (true, true);
                    own.backward_begins = Rc::clone(&context.backward_begins);
                }
                let scores = value.scores(&own)?;
                own.autocast.replace(false);
                own.leave_autocast();
                let shape = dims(&[(Sym::B, context.batch), (Sym::C, completion)]);
                Some(slice(&own, &scores, shape))
            }
            None => None,
        };
        let whole = plan.task == Task::Ppo;
        if whole || job.trainer.name() != TrainerName::Trl {
            let entropy = plan.policy.entropy.unwrap_or(false);
            let picked = of_answers(&self.reader, context, completion, whole, entropy)?;
            return Some(HeadOutput { loss: clipped(context, &picked, values.as_ref()), kept: None });
        }
        let (picked, kept) = trl_answers(&self.reader, context, completion, Vec::new())?;
        drop(kept);
        Some(HeadOutput { loss: clipped(context, &picked, values.as_ref()), kept: None })
    }
}

/// Ratio, clipping, distance to the reference, mean: numbers a token.
fn clipped(context: &ForwardContext, picked: &Tensor, values: Option<&Tensor>) -> Tensor {
    let (shape, element) = (picked.shape(), picked.element());
    let label = context.label(Term::LogProbabilities, "ratios");
    let mut inputs = vec![picked];
    inputs.extend(values);
    let of_values = values.map(|values| (values.shape(), values.element()));
    custom(
        &context.tape,
        &inputs,
        |recording| {
            recording.save(&Tensor::new(&context.tape, label, shape, ElementType::F32));
            scalar(context)
        },
        move |call| {
            let mut grads = Gradients::from([Some(call.grad_like(shape, element))]);
            grads.extend(of_values.map(|(shape, element)| Some(call.grad_like(shape, element))));
            grads
        },
    )
}
