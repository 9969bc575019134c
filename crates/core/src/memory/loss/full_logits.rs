//! The whole logits, in the model's dtype and in fp32, log-softmax, and the gradients of all three.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Sym, Tensor, cast, contiguous, custom, dims};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::head::logits;
use super::output::{HeadOutput, scalar};
use super::rows;
use super::{metrics, positions};
use crate::job::{Job, ShiftedLogits};
use crate::model::{LossStep, ModelKind};

/// `ForCausalLMLoss` over whole logits (transformers loss/loss_utils.py).
///
/// `hidden`: the final hidden states as the model's forward holds them, and as the head reads them.
pub(super) fn loss(
    context: &ForwardContext,
    job: &Job,
    weights: &LoadedModel,
    (hidden, read): (Tensor, Tensor),
) -> Option<HeadOutput> {
    let mut logits = logits(context, &job.model, weights, &read)?;
    drop(read);
    if job.takes_dft() {
        return Some(dft_loss(context, job, logits, hidden));
    }
    let own = job.model.recorded.program.loss_steps().filter(|_| job.model.kind == ModelKind::Decoder);
    let shifted = job.shifted_logits();
    if shifted == ShiftedLogits::OfOutputs && own.is_none() {
        logits = cast(&logits, ElementType::F32, context.label(Term::LogitsFp32, "outputs"));
    }
    let loss = if let Some(steps) = own {
        of_own_logits(context, &logits, steps)
    } else if job.model.kind != ModelKind::Decoder {
        of_masked(context, job, &logits)
    } else if shifted == ShiftedLogits::Never {
        of_logits(context, &logits)
    } else {
        of_shifted_logits(context, &logits)
    };
    // The model's forward holds the hidden states until it returns.
    drop(hidden);
    let outputs = outputs(context, job, logits);
    metrics::of_outputs(context, job, &outputs);
    let kept = job.plan.keep_outputs.then_some(outputs);
    if kept.is_none() {
        // It goes with the outputs.
        context.encoder_output.take();
    }
    Some(HeadOutput { loss, kept })
}

/// The logits as the trainer gets them.
fn outputs(context: &ForwardContext, job: &Job, logits: Tensor) -> Tensor {
    if job.trainer.runs_accelerate() {
        // accelerate casts the outputs, and the trainer reads them, once autocast's region has ended.
        context.autocast.replace(false);
        context.leave_autocast();
    }
    if job.upcasts_outputs() {
        // Of every output a copy, one by one; then what the model gave goes.
        let wide = cast(&logits, ElementType::F32, context.label(Term::LogitsFp32, "outputs"));
        let given = context.encoder_output.take();
        let label = context.label(Term::LogitsFp32, "encoder_last_hidden_state");
        let encoder_output = given.as_ref().map(|states| cast(states, ElementType::F32, label));
        context.encoder_output.replace(encoder_output);
        drop((logits, given));
        wide
    } else {
        logits
    }
}

/// TRL's `dft_loss` (trl trainer/sft_trainer.py), which the Trainer calls with the outputs in the place of the model's own
/// loss (`compute_loss_func`): log-probabilities times themselves exponentiated, which keep the logits and no log-softmax.
fn dft_loss(context: &ForwardContext, job: &Job, logits: Tensor, hidden: Tensor) -> HeadOutput {
    drop(hidden);
    let outputs = outputs(context, job, logits);
    let log_probs = rows::of_fp32_logits(context, &outputs, context.length);
    let (shape, element) = (log_probs.shape(), log_probs.element());
    let label = context.label(Term::LogProbabilities, "loss");
    let loss = custom(
        &context.tape,
        &[&log_probs],
        |recording| {
            let weights = Tensor::new(&context.tape, label, shape, element);
            recording.save(&weights);
            scalar(context)
        },
        move |call| [Some(Tensor::new(call.tape, label, shape, element))].into(),
    );
    drop(log_probs);
    metrics::of_outputs(context, job, &outputs);
    HeadOutput { loss, kept: job.plan.keep_outputs.then_some(outputs) }
}

/// Cross-entropy over an fp32 copy of the logits, against labels that are shifted by one.
pub(in crate::memory) fn of_logits(context: &ForwardContext, logits: &Tensor) -> Tensor {
    let upcast = cast(logits, ElementType::F32, context.label(Term::LogitsFp32, ""));
    let labels = shift_labels(context, logits);
    cross_entropy(context, &upcast, labels.last())
}

/// Cross-entropy of masked tokens, or of an encoder-decoder's targets (modeling_t5.py `T5ForConditionalGeneration.forward`), over
/// the logits as they are (modeling_bert.py `BertForMaskedLM.forward`). Newer classes make an fp32 copy before (loss/loss_utils.py
/// `ForMaskedLMLoss`).
fn of_masked(context: &ForwardContext, job: &Job, logits: &Tensor) -> Tensor {
    let upcasts = job.model.recorded.program.upcasts_logits();
    if upcasts {
        let wide = cast(logits, ElementType::F32, context.label(Term::LogitsFp32, ""));
        return cross_entropy(context, &wide, None);
    }
    of_any_dtype(context, logits, None)
}

/// `cross_entropy` of logits as they are.
fn of_any_dtype(context: &ForwardContext, logits: &Tensor, labels: Option<&Tensor>) -> Tensor {
    if *context.autocast.borrow() && logits.element() != ElementType::F32 {
        return under_autocast(context, logits);
    }
    cross_entropy(context, logits, labels)
}

/// `cross_entropy` of logits in 16 bits under autocast, of which `nll_loss` alone runs in fp32: `cross_entropy_loss` says which dtype
/// `log_softmax` gives, its input's (aten/src/ATen/native/LossNLL.cpp), and autocast changes no dtype that is said
/// (aten/src/ATen/autocast_mode.h `CastPolicy::fp32_set_opt_dtype`). Log-softmax is kept in both dtypes.
fn under_autocast(context: &ForwardContext, logits: &Tensor) -> Tensor {
    let (shape, element) = (logits.shape(), logits.element());
    let (kept, gradients) = (context.label(Term::LogSoftmax, ""), context.label(Term::LogitsGradients, ""));
    let log_softmax = custom(
        &context.tape,
        &[logits],
        |recording| {
            let out = Tensor::new(&context.tape, kept, shape, element);
            recording.save(&out);
            out
        },
        move |call| [Some(Tensor::new(call.tape, gradients, shape, element))].into(),
    );
    let wide = cast(&log_softmax, ElementType::F32, kept);
    custom(
        &context.tape,
        &[&wide],
        |recording| {
            recording.save(&wide);
            scalar(context)
        },
        move |call| [Some(Tensor::new(call.tape, gradients, shape, ElementType::F32))].into(),
    )
}

/// The same of all positions but the last, `logits[..., :-1, :].contiguous()`: a copy of more than one sequence.
fn of_shifted_logits(context: &ForwardContext, logits: &Tensor) -> Tensor {
    of_own_logits(context, logits, &[LossStep::Upcast, LossStep::Shift, LossStep::Copy])
}

/// Cross-entropy of what `steps` make of the logits. The forward that takes them has names for what each gives until it returns.
fn of_own_logits(context: &ForwardContext, logits: &Tensor, steps: &[LossStep]) -> Tensor {
    let mut named = vec![logits.clone()];
    let mut shifted = None;
    for step in steps {
        let Some(read) = named.last() else { break };
        let made = match step {
            LossStep::Upcast => cast(read, ElementType::F32, context.label(Term::LogitsFp32, "")),
            LossStep::Shift => {
                let length = (read.shape().rows().elements() / context.batch.max(1)).saturating_sub(1).max(1);
                let rows = dims(&[(Sym::B, context.batch), (Sym::SLessOne, length)]);
                shifted = Some(rows);
                positions::first_logits(context, read, rows)
            }
            LossStep::Copy if context.batch > 1 => {
                contiguous(read, read.shape(), context.label(Term::LogitsFp32, "shifted"), false)
            }
            LossStep::Copy => continue,
        };
        named.push(made);
    }
    // Labels are shifted likewise, and copied where they lie apart.
    let label = context.label(Term::BatchInputs, "shifted labels");
    let labels =
        shifted.filter(|_| context.batch > 1).map(|rows| Tensor::new(&context.tape, label, rows, ElementType::I64));
    let read = named.last().unwrap_or(logits);
    of_any_dtype(context, read, labels.as_ref())
}

/// Labels padded by one and cut again (ForCausalLMLoss): `labels[..., 1:].contiguous()` copies for more than one sequence.
fn shift_labels(context: &ForwardContext, logits: &Tensor) -> Vec<Tensor> {
    let length = logits.shape().rows().elements() / context.batch.max(1);
    let label = context.label(Term::BatchInputs, "shifted labels");
    let new = |symbol, length| {
        Tensor::new(&context.tape, label, dims(&[(Sym::B, context.batch), (symbol, length)]), ElementType::I64)
    };
    let padded = new(Sym::SPlusOne, length.saturating_add(1));
    if context.batch > 1 { vec![padded, new(Sym::S, length)] } else { vec![padded] }
}

/// `cross_entropy`: keeps log-softmax; backward writes the loss's gradient and log-softmax's, both logits in size.
fn cross_entropy(context: &ForwardContext, logits: &Tensor, labels: Option<&Tensor>) -> Tensor {
    let (shape, element) = (logits.shape(), logits.element());
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[logits],
        |recording| {
            let kept = Tensor::new(&context.tape, context.label(Term::LogSoftmax, ""), shape, element);
            labels.inspect(|labels| recording.save(labels));
            recording.save(&kept);
            scalar(context)
        },
        move |call| {
            let new = || Tensor::new(call.tape, gradients, shape, element);
            let of_loss = new();
            let of_softmax = new();
            drop(of_loss);
            [Some(of_softmax)].into()
        },
    )
}
