//! What an evaluation between optimizer steps needs at least.
//!
//! Its forward is not replayed. Weights and optimizer state stay where they are, and the logits of one batch come on top, with the
//! copies that the loss makes of them: that much is sure.

use crate::job::{HeadPositions, Job, LossImplementation};
use crate::plan::Task;

/// What an evaluation needs at least, on one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluationNeed {
    /// b, sequences of one forward.
    pub batch_size: u64,
    /// s, tokens of a sequence.
    pub length: u64,
    /// Logits of one forward with the copies that the loss or keeping them makes, bytes; 0 where no logits are whole.
    pub logits_bytes: u64,
    /// Weights, optimizer state, those logits, CUDA context and libraries, bytes.
    pub bytes: u64,
    /// The most sequences of a forward with which that much fits the GPU, `batch_size` at most; 0 where not even one does.
    pub fitting_batch_size: u64,
    /// Whether the trainer keeps the logits of every batch on the GPU until the evaluation ends, for `compute_metrics`.
    pub keeps_logits: bool,
}

impl EvaluationNeed {
    /// Whether that much fits the GPU.
    pub const fn fits(&self) -> bool {
        self.fitting_batch_size == self.batch_size
    }

    /// That of `job`, of whose GPU `beside` bytes are taken between steps; `None` where the plan does not evaluate.
    pub(super) fn of(job: &Job, beside: u64) -> Option<Self> {
        let plan = &job.plan;
        if !plan.evaluates() {
            return None;
        }
        let (batch_size, length) = (plan.eval_batch_size(), plan.eval_length());
        let logits = |batch: u64| logits_bytes(job, batch, length);
        let need = |batch: u64| beside.saturating_add(logits(batch));
        let fits = |batch: u64| need(batch) <= job.memory_bytes;
        let fitting_batch_size = if fits(batch_size) { batch_size } else { largest(batch_size, fits) };
        Some(Self {
            batch_size,
            length,
            logits_bytes: logits(batch_size),
            bytes: need(batch_size),
            fitting_batch_size,
            keeps_logits: keeps_logits(job),
        })
    }
}

/// The largest batch below `too_many` that `fits`, 0 where none does.
fn largest(too_many: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut fitting, mut too_many) = (0, too_many);
    while fitting + 1 < too_many {
        let middle = u64::midpoint(fitting, too_many);
        if fits(middle) { fitting = middle } else { too_many = middle }
    }
    fitting
}

/// Whether logits stay on the GPU for `compute_metrics` (transformers trainer.py `evaluation_loop`: what `prediction_step` gives goes into
/// an `EvalLoopContainer`). Cut Cross-Entropy makes none.
fn keeps_logits(job: &Job) -> bool {
    job.plan.task == Task::Sft && job.plan.evaluation.compute_metrics && job.loss != LossImplementation::CutCrossEntropy
}

/// Logits of `batch` sequences of `length` tokens as the trainer's forward without gradients makes them, bytes.
///
/// The loss upcasts logits of 16 bits and takes their log-softmax in fp32 (transformers loss/loss_utils.py `ForCausalLMLoss`): (2 + 4 + 4)
/// x V bytes a token, or (4 + 4) x V of fp32 logits. Trainers that fuse the head with the loss do so in evaluation too, unless
/// `compute_metrics` wants logits: TRL then runs the model a second time (trl trainer/sft_trainer.py `compute_loss`), without a loss, and
/// accelerate upcasts what it gives back. Liger's forward makes whole logits outside of training (liger-kernel
/// transformers/model/llama.py `skip_logits`), which the Trainer of transformers 5.15 and later forbids where it wants the loss alone
/// (trainer.py `prediction_step`).
///
/// Logits that are kept are concatenated on the GPU (trainer_pt_utils.py `EvalLoopContainer`): those of two batches beside the two of
/// which they are made. How many batches there are no plan says; more than one, unless the evaluation is tiny.
fn logits_bytes(job: &Job, batch: u64, length: u64) -> u64 {
    let width = if job.numerics.multiplies_in_16_bits() { 2 } else { 4 };
    let upcast = if width == 2 { 4 } else { 0 };
    let (with_loss, upcast_alone) = (width + upcast + 4, width + upcast);
    let given_back = if job.upcasts_outputs() { 4 } else { width };
    let kept = if keeps_logits(job) { 4 * given_back } else { 0 };
    let skips = job.plan.transformers_release().is_none_or(|release| !release.is_before(5, 15));
    use LossImplementation::{ChunkedNll, CutCrossEntropy, FullLogits, FusedLmHead, Liger};
    let (rows, per_token) = match job.plan.task {
        Task::Sft => match job.loss {
            FullLogits => (batch, with_loss.max(kept)),
            Liger if kept > 0 || !skips => (batch, with_loss.max(kept)),
            FusedLmHead | ChunkedNll if kept > 0 => (batch, upcast_alone.max(kept)),
            Liger | FusedLmHead | ChunkedNll | CutCrossEntropy => (batch, 0),
        },
        // Chosen and rejected answers run together; log-probabilities are gathered from logits that accelerate upcasts.
        Task::Dpo | Task::Orpo | Task::Cpo if job.head_implementation() == FullLogits => {
            (batch.saturating_mul(2), upcast_alone)
        }
        Task::Kto if job.head_implementation() == FullLogits => (batch, upcast_alone),
        _ => (batch, 0),
    };
    let positions = match job.head_positions(rows, length) {
        HeadPositions::All => rows.saturating_mul(length),
        HeadPositions::Last(read) | HeadPositions::Picked(read) => rows.saturating_mul(read),
    };
    positions.saturating_mul(job.model.vocab_size).saturating_mul(per_token)
}
