//! What preference and reinforcement tasks do beside the update: rollouts, and forwards without gradients.

use super::Part;
use super::decode::{Generation, Generator, forward, generate};
use super::inputs::TimingInputs;
use super::layer_times::LayerTimes;
use super::rates::FORWARD_LAUNCH;
use super::sharding::{Collectives, Compute};
use super::tally::Tally;
use super::trained::Trained;
use super::training::training_step;
use crate::job::{Instance, Job};
use crate::plan::{InstanceRole, KvCacheDtype, Method, Offload, Plan, ReferenceKind, RolloutEngine, Round, Task};

/// A model beside the policy, with a job of its own.
type Companion<'a> = (&'a Instance, Job);

/// One optimizer step of a task that trains.
pub(super) fn step(job: &Job, layer_times: &LayerTimes) -> Tally {
    let policy = TimingInputs::new(job, layer_times);
    let answer = answer_tokens(&job.plan, &policy);
    let companions: Vec<Companion<'_>> =
        job.instances.iter().map(|instance| (instance, job.for_companion(instance))).collect();
    let mut tally = training_step(&policy, answer);
    match &job.batches.round {
        None => {
            let sequences = policy.batch * policy.forwards;
            if matches!(job.plan.task, Task::Dpo | Task::Kto) {
                reference(&mut tally, &policy, sequences, policy.batch, answer);
            }
            if job.plan.caches_gradients() {
                // All vectors once without gradients.
                read(&mut tally, &policy, sequences, policy.batch, answer);
            }
            if job.plan.task == Task::Kto {
                // Answers to other prompts, through both models.
                read(&mut tally, &policy, sequences, policy.batch, answer);
                reference(&mut tally, &policy, sequences, policy.batch, answer);
            }
            score(&mut tally, (&policy, &companions), sequences, policy.batch);
        }
        Some(round) => {
            train_value(&mut tally, &policy, &companions);
            // A round may feed several optimizer steps: each has its share of it.
            let share = (policy.forwards / round.forwards.max(1) as f64).min(1.0);
            tally.add(&gather_experience(&policy, &companions, round, answer), share);
        }
    }
    tally
}

/// Tokens of a forward whose logits are formed: GRPO's head reads the answers only (`logits_to_keep`).
fn answer_tokens(plan: &Plan, policy: &TimingInputs) -> f64 {
    match plan.task {
        Task::Grpo | Task::Rloo => {
            policy.batch * (plan.rollout.max_completion_length() as f64 + 1.0).min(policy.length)
        }
        _ => policy.tokens(),
    }
}

/// PPO's value model trains beside the policy, unless it is the policy with a head of its own.
fn train_value(tally: &mut Tally, policy: &TimingInputs, companions: &[Companion<'_>]) {
    for (instance, job) in companions.iter().filter(|(instance, _)| instance.role == InstanceRole::Value) {
        let value = TimingInputs::for_companion(job, policy.layer_times);
        if instance.shared {
            read(tally, &value, policy.batch * policy.forwards, policy.batch, 0.0);
        } else {
            tally.add(&training_step(&value, 0.0), 1.0);
        }
    }
}

/// Rollout, log-probabilities, values and rewards of one round.
fn gather_experience(policy: &TimingInputs, companions: &[Companion<'_>], round: &Round, answer: f64) -> Tally {
    let plan = &policy.job.plan;
    let mut tally = roll_out(plan, policy, round);
    let sequences = round.sequences_per_gpu as f64;
    let batch = plan.policy.logprob_batch_size.unwrap_or(plan.per_device_train_batch_size);
    let batch = batch.clamp(1, round.sequences_per_gpu.max(1)) as f64;
    let scored = answer / policy.batch * batch;
    if policy.job.takes_old_logprobs() {
        read(&mut tally, policy, sequences, batch, scored);
    }
    reference(&mut tally, policy, sequences, batch, scored);
    score(&mut tally, (policy, companions), sequences, batch);
    tally
}

/// The round's answers, as many at once as the plan says, and the weights that an engine takes over first.
fn roll_out(plan: &Plan, policy: &TimingInputs, round: &Round) -> Tally {
    let rollout = &plan.rollout;
    let generation = Generation {
        batch: round.sequences_at_once,
        prompt: rollout.max_prompt_length(),
        new_tokens: rollout.max_completion_length(),
    };
    let times = round.sequences_per_gpu.div_ceil(round.sequences_at_once.max(1)) as f64;
    let mut tally = Tally::default();
    if rollout.engine() == RolloutEngine::Generate {
        tally.add(&generate(policy, generation, Generator::Python), times);
        // TRL gathers weights that are held in shares once for the whole round (`ds3_gather_for_generation`).
        share_out(policy, &mut tally, 1.0);
        return tally;
    }
    // An engine holds the merged 16-bit weights.
    let merged = TimingInputs { method: Method::Full, adapters: false, weight: 2.0, ..*policy };
    let cache = match rollout.kv_cache_dtype {
        Some(KvCacheDtype::Fp8) => 1.0,
        _ => 2.0,
    };
    let gpus = rollout.tensor_parallel_size() as f64;
    let engine = Generator::Engine { gpus, eager: rollout.enforce_eager, cache };
    tally.add(&generate(&merged, generation, engine), times);
    let bytes = Trained::of(&merged).weight_bytes / gpus;
    if rollout.is_colocated() {
        tally.charge(Part::Communication, 2.0 * bytes / policy.rates.bandwidth);
        if rollout.vllm_enable_sleep_mode {
            // Weights wait on the host while the policy trains.
            tally.charge(Part::Offload, 2.0 * bytes / policy.rates.host_link);
        }
    } else {
        tally.charge(Part::Communication, bytes / policy.rates.ring);
    }
    tally
}

/// The reference's log-probabilities, where a reference runs within the step.
fn reference(tally: &mut Tally, policy: &TimingInputs, sequences: f64, batch: f64, scored: f64) {
    match policy.job.reference {
        ReferenceKind::Precomputed | ReferenceKind::None => {}
        ReferenceKind::Auto | ReferenceKind::Copy | ReferenceKind::AdapterDisabled => {
            read(tally, &TimingInputs { adapters: false, ..*policy }, sequences, batch, scored);
        }
    }
}

/// Scores of the models beside the policy; one that lives on the host comes for it and goes.
fn score(tally: &mut Tally, (policy, companions): (&TimingInputs, &[Companion<'_>]), sequences: f64, batch: f64) {
    for (instance, job) in companions {
        let inputs = TimingInputs::for_companion(job, policy.layer_times);
        read(tally, &inputs, sequences, batch, 0.0);
        if instance.placement == Offload::Cpu {
            let bytes = Trained::of(&inputs.without_gradients(batch, inputs.length)).weight_bytes;
            tally.charge(Part::Offload, 2.0 * bytes / inputs.rates.host_link);
        }
    }
}

/// Forwards without gradients over `sequences`, `batch` at a time.
fn read(tally: &mut Tally, inputs: &TimingInputs, sequences: f64, batch: f64, scored: f64) {
    let inputs = inputs.without_gradients(batch, inputs.length);
    let times = (sequences / batch).ceil();
    let one = forward(&inputs, scored);
    let mut all = Tally::default();
    all.charge(Part::Scoring, one.total() * times);
    all.charge(Part::Launches, (one.launches * FORWARD_LAUNCH - one.total()).max(0.0) * times);
    share_out(&inputs, &mut all, times);
    tally.add(&all, 1.0);
}

/// Adds what sharding takes over `forwards` without gradients.
pub(super) fn share_out(inputs: &TimingInputs, tally: &mut Tally, forwards: f64) {
    let inputs = TimingInputs { forwards: 1.0, ..inputs.without_gradients(inputs.batch, inputs.length) };
    let compute = Compute { forward: tally.total() / forwards.max(1.0), backward: 0.0 };
    let mut extra = Tally::default();
    Collectives::new(&inputs).step(&inputs, &Trained::of(&inputs), compute, &mut extra);
    tally.add(&extra, forwards);
}
