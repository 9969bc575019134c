//! Reward models that score every token beside the language-model head: LLaMA-Factory's.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Sym, Tape, Tensor, cast, custom, dims, dropout};
use super::super::loss::{HeadOutput, causal_loss, logits, mark_backward, scalar};
use super::super::parameter::Trainable;
use super::super::phase::Phase;
use super::super::step::{Update, batch_inputs, forward};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::pairs::free_in_order;
use super::preference::resident;
use crate::job::Job;
use std::rc::Rc;

/// `ValueHead.summary_dropout_prob` (trl models/modeling_value_head.py) where the model's config has none.
const SUMMARY_DROPOUT: f64 = 0.1;

/// `PairwiseTrainer.compute_loss` (llamafactory train/rm/trainer.py) through `AutoModelForCausalLMWithValueHead.forward`
/// (trl models/modeling_value_head.py): every layer's hidden states, logits and the language model's own loss are computed
/// too, since the batch has labels, and held until the value head has run.
pub(super) fn reward(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    update.run(batch_inputs(tape, job), Vec::new, |context| {
        context.hidden_states.replace(Some(Vec::new()));
        let hidden = forward(context, job, policy)?;
        tape.enter(Phase::Loss);
        let hidden = mark_backward(context, &hidden);
        let logits = logits(context, &job.model, policy, &hidden)?;
        let unused_loss = causal_loss(context, &logits);
        let values = values(context, policy, &hidden)?;
        let wide = cast(&logits, ElementType::F32, context.label(Term::LogitsFp32, "outputs"));
        drop((logits, hidden));
        free_in_order(context, context.hidden_states.take().unwrap_or_default());
        let values = cast(&values, ElementType::F32, context.label(Term::ScoreHead, "fp32"));
        drop(wide);
        let loss = pairwise(context, &values);
        drop(unused_loss);
        Some(HeadOutput { loss, kept: None })
    });
    drop(companions);
    policy.trainable.clone()
}

/// `summary(dropout(hidden_states))`, cast to the head's fp32 before: [b, s, 1].
fn values(context: &ForwardContext, policy: &LoadedModel, hidden: &Tensor) -> Option<Tensor> {
    let label = context.label(Term::ScoreHead, "dropout");
    let dropped = dropout(hidden, SUMMARY_DROPOUT, context.label(Term::DropoutMasks, "v_head"), label);
    let wide = cast(&dropped, ElementType::F32, label);
    drop(dropped);
    Some(policy.score.as_ref()?.run(context, &wide, Term::ScoreHead))
}

/// `-logsigmoid(chosen - rejected).mean()` over the values of the last tokens.
fn pairwise(context: &ForwardContext, values: &Tensor) -> Tensor {
    let (all, picked) = (values.shape(), dims(&[(Sym::B, context.batch)]));
    let label = context.label(Term::ScoreHead, "last tokens");
    custom(
        &context.tape,
        &[values],
        |recording| {
            recording.save(&Tensor::new(&context.tape, label, picked, ElementType::F32));
            scalar(context)
        },
        move |call| [Some(call.grad_like(all, ElementType::F32))].into(),
    )
}
