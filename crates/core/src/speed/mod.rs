//! Relative step time: how long one optimizer step, or one generation, takes, and where the time goes.
//!
//! Every operator of the step takes the longer of its arithmetic and its memory traffic (a roofline), but no less than the
//! shortest kernel; the GPU waits where the host launches more slowly; collectives and transfers count where nothing
//! hides them. What GPUs and libraries deliver stands in `rates.rs`, each figure with its source. Nothing is fitted to a
//! plan: the absolute figure is rough, the ratio of two plans is what to read.
//!
//! Symbols as in [`crate::model`]; N GPUs, A micro-batches a step.

mod attention;
mod band;
mod block;
mod blocks;
mod decode;
mod gradients;
mod head;
mod inputs;
mod kernel;
mod layer_times;
mod liger;
mod linear;
mod offload;
mod optimizer;
mod part;
mod range;
mod rates;
mod sharding;
mod sizes;
mod tally;
mod tasks;
#[cfg(test)]
mod tests;
mod trained;
mod training;

pub use decode::Generation;
pub use layer_times::LayerTimes;
pub use part::Part;
pub use range::Range;

use crate::job::Job;
use crate::plan::Task;
use decode::Generator;
use inputs::TimingInputs;
use tally::Tally;

/// How long a step takes.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTime {
    /// Seconds of one optimizer step (all its micro-batches), or of one generation. Rough: see [`ratio`].
    pub seconds: Range,
    /// Where they go, in the order of [`Part::ALL`], parts that take nothing left out. The expected seconds sum to
    /// those of `seconds`.
    pub parts: Vec<PartTime>,
    /// Sequences that the step takes in on all GPUs together; pairs count once.
    pub sequences: u64,
    /// Tokens of them, padding included, generated ones too.
    pub tokens: u64,
}

/// One part's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartTime {
    /// Which.
    pub part: Part,
    /// Seconds.
    pub seconds: Range,
}

impl StepTime {
    /// Expected seconds of `part`.
    pub fn part(&self, part: Part) -> f64 {
        self.parts.iter().find(|time| time.part == part).map_or(0.0, |time| time.seconds.expected)
    }

    /// Sequences a second on all GPUs together.
    pub fn sequences_per_second(&self) -> Range {
        self.seconds.rate(self.sequences as f64)
    }

    /// Tokens a second on all GPUs together.
    pub fn tokens_per_second(&self) -> Range {
        self.seconds.rate(self.tokens as f64)
    }
}

/// Time of one step of a job. Takes microseconds.
pub fn step_time(job: &Job) -> StepTime {
    step_time_with(job, &LayerTimes::default())
}

/// The same where layers may be timed already, for other jobs: to time many.
pub fn step_time_with(job: &Job, layer_times: &LayerTimes) -> StepTime {
    let Job { plan, batches, .. } = job;
    if plan.task == Task::Inference {
        let generation = Generation {
            batch: plan.per_device_train_batch_size,
            prompt: plan.max_length,
            new_tokens: plan.rollout.new_tokens,
        };
        return timed_generation(job, generation, layer_times);
    }
    finish(&tasks::step(job, layer_times), batches.effective_batch_size, batches.tokens_per_step)
}

/// Time of a generation by transformers' `generate`, with the job's model, GPU and sharding.
pub fn generation_time(job: &Job, generation: Generation) -> StepTime {
    timed_generation(job, generation, &LayerTimes::default())
}

fn timed_generation(job: &Job, generation: Generation, layer_times: &LayerTimes) -> StepTime {
    let inputs = TimingInputs::new(job, layer_times);
    let mut tally = decode::generate(&inputs, generation, Generator::Python);
    // Weights that are held in shares are gathered for the prompt and again for every token.
    tasks::share_out(&inputs, &mut tally, 1.0 + generation.new_tokens as f64);
    let sequences = generation.batch.saturating_mul(job.plan.num_gpus);
    finish(&tally, sequences, sequences.saturating_mul(generation.prompt.saturating_add(generation.new_tokens)))
}

fn finish(tally: &Tally, sequences: u64, tokens: u64) -> StepTime {
    let parts = Part::ALL.iter().filter_map(|part| {
        let seconds = tally.seconds.get(*part as usize).copied().filter(|seconds| *seconds > 0.0)?;
        Some(PartTime { part: *part, seconds: band::absolute(seconds) })
    });
    StepTime { seconds: band::absolute(tally.total()), parts: parts.collect(), sequences, tokens }
}

/// What two steps are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Per {
    /// Whole steps, however many sequences they take in.
    Step,
    /// Each sequence.
    Sequence,
    /// Each token, padding included.
    Token,
}

/// How much longer a step of `other` takes than one of `base`: 2 is twice as long. Whole steps: where they take in different
/// numbers of sequences or tokens, [`ratio_per`] is what to ask.
pub fn ratio(base: &StepTime, other: &StepTime) -> Range {
    ratio_per(base, other, Per::Step)
}

/// How much longer `other` takes than `base` for as much work.
pub fn ratio_per(base: &StepTime, other: &StepTime, per: Per) -> Range {
    let scale = |base: u64, other: u64| base.max(1) as f64 / other.max(1) as f64;
    let scale = match per {
        Per::Step => 1.0,
        Per::Sequence => scale(base.sequences, other.sequences),
        Per::Token => scale(base.tokens, other.tokens),
    };
    band::ratio(base, other, scale)
}
