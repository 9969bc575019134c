//! The whole logits, in the model's dtype and in fp32, log-softmax, and the gradients of all three.

use super::super::activations::Setting;
use super::super::autograd::{ElementType, Sym, Tensor, cast, custom, dims};
use super::super::term::Term;
use super::super::weights::ModelWeights;
use super::{HeadOutput, logits, scalar};
use crate::job::Job;

/// `ForCausalLMLoss` over whole logits (transformers loss/loss_utils.py).
///
/// `hidden`: the final hidden states as the model's forward holds them, and as the head reads them.
pub(super) fn loss(
    setting: &Setting,
    job: &Job,
    weights: &ModelWeights,
    hidden: (Tensor, Tensor),
) -> Option<HeadOutput> {
    let plan = &job.plan;
    let logits = logits(setting, &job.model, weights, &hidden.1)?;
    let upcast = cast(&logits, ElementType::F32, setting.label(Term::LogitsFp32, ""));
    let labels = shift_labels(setting);
    let loss = cross_entropy(setting, &upcast, labels.last());
    drop(labels);
    drop(upcast);
    // The model's forward holds the hidden states until it returns.
    drop(hidden);
    let outputs = if plan.logits_to_fp32 {
        let wide = cast(&logits, ElementType::F32, setting.label(Term::LogitsFp32, "outputs"));
        drop(logits);
        wide
    } else {
        logits
    };
    Some(HeadOutput { loss, kept: plan.keep_outputs.then_some(outputs) })
}

/// Labels padded by one and cut again (ForCausalLMLoss): `labels[..., 1:].contiguous()` copies for more than one sequence.
fn shift_labels(setting: &Setting) -> Vec<Tensor> {
    let label = setting.label(Term::BatchInputs, "shifted labels");
    let new = |symbol, length| {
        Tensor::new(&setting.tape, label, dims(&[(Sym::B, setting.batch), (symbol, length)]), ElementType::I64)
    };
    let padded = new(Sym::SPlusOne, setting.length.saturating_add(1));
    if setting.batch > 1 { vec![padded, new(Sym::S, setting.length)] } else { vec![padded] }
}

/// `cross_entropy`: keeps log-softmax; backward writes the loss's gradient and log-softmax's, both fp32 logits in size.
fn cross_entropy(setting: &Setting, logits: &Tensor, labels: Option<&Tensor>) -> Tensor {
    let shape = logits.shape();
    let gradients = setting.label(Term::LogitsGradients, "");
    custom(
        &setting.tape,
        &[logits],
        |recording| {
            let kept = Tensor::new(&setting.tape, setting.label(Term::LogSoftmax, ""), shape, ElementType::F32);
            labels.inspect(|labels| recording.save(labels));
            recording.save(&kept);
            scalar(setting)
        },
        move |call| {
            let new = || Tensor::new(call.tape, gradients, shape, ElementType::F32);
            let of_loss = new();
            let of_softmax = new();
            drop(of_loss);
            [Some(of_softmax)].into()
        },
    )
}

