//! The language-model head: hidden states to logits.

use super::super::activations::{ForwardContext, run_norm};
use super::super::autograd::{
    ElementType, Sym, Tensor, cast, linear, mul, mul_scalar, unary_saving_input, unary_saving_output,
};
use super::super::term::Term;
use super::super::weights::{BaseWeight, LoadedModel};
use crate::model::{Model, ModelKind};

/// `lm_head(hidden)` and what the family does to logits.
pub(in crate::memory) fn logits(
    context: &ForwardContext,
    model: &Model,
    weights: &LoadedModel,
    hidden: &Tensor,
) -> Option<Tensor> {
    // Encoders transform the hidden states first: dense, activation, norm.
    let (decoder, transforms): (Vec<_>, Vec<_>) = weights.head.iter().partition(|head| head.d_out == model.vocab_size);
    let mut input = hidden.clone();
    for (i, transform) in transforms.into_iter().enumerate() {
        let dense = transform.run(context, &input, Term::HeadInputs);
        input = unary_saving_input(&dense, context.label(Term::HeadInputs, ""));
        if let Some(norm) = weights.head_norms.get(i) {
            input = run_norm(context, norm, &input);
        }
    }
    if let Some(groups) = &context.groups {
        input = groups.enter_tail(&input, false);
    }
    let mut logits = match decoder.first() {
        Some(head) if model.recorded.program.has_wide_head() => {
            let wide = cast(&input, ElementType::F32, context.label(Term::HeadInputs, "wide"));
            head.run(context, &wide, Term::Logits)
        }
        Some(head) => head.run(context, &input, Term::Logits),
        None => {
            let table = weights.token_embedding.as_ref()?;
            context.module("lm_head", &[table], &input, |input| {
                let weight = context.cast_weight(table, "embed_tokens");
                let x = context.cast_input(input);
                let width = (Sym::V, model.vocab_size);
                let bias = weights.tied_bias.as_ref().map(|bias| context.cast_weight(bias, "lm_head"));
                linear(&x, &weight, bias.as_ref(), width, context.label(Term::Logits, ""))
            })
        }
    };
    drop(input);
    if let Some(groups) = &context.groups {
        logits = groups.leave_tail(&logits);
    }
    let logits = scale_logits(context, model, logits);
    // `self.lm_head(hidden_states).float()`: what the model gives is in fp32, and nothing holds what the head gave (modeling_mamba.py
    // `MambaForCausalLM.forward`, modeling_nemotron_h.py).
    let widens = model.kind == ModelKind::Decoder && model.recorded.program.upcasts_logits();
    let logits =
        if widens { cast(&logits, ElementType::F32, context.label(Term::LogitsFp32, "outputs")) } else { logits };
    Some(match &weights.head_gain {
        Some(gain) => with_gain(context, &logits, gain),
        None => logits,
    })
}

/// Logits times a factor for each that trains, times a constant (transformers 5.24 dory/modeling_dory.py `DoryLMHead.forward`).
fn with_gain(context: &ForwardContext, logits: &Tensor, gain: &Tensor) -> Tensor {
    let label = context.label(Term::Logits, "gain");
    let gain = mul_scalar(&cast(gain, logits.element(), label), label);
    mul(logits, &gain, context.label(Term::LogitsFp32, "scaled"))
}

/// What the family does to logits: a factor, a soft cap.
pub(super) fn scale_logits(context: &ForwardContext, model: &Model, mut logits: Tensor) -> Tensor {
    if model.recorded.program.adds_to_logits() {
        logits = mul_scalar(&logits, context.label(Term::Logits, "biased"));
    }
    if model.scales_logits {
        logits = mul_scalar(&logits, context.label(Term::Logits, "scaled"));
    }
    if model.final_logit_softcapping {
        logits = mul_scalar(&logits, context.label(Term::Logits, "scaled"));
        logits = unary_saving_output(&logits, context.label(Term::Logits, "tanh"));
        logits = mul_scalar(&logits, context.label(Term::Logits, "capped"));
    }
    logits
}

/// The head's parameters as the model has them (`get_output_embeddings`): adapters on it are passed over.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) weight: Tensor,
    pub(super) bias: Option<Tensor>,
}

impl Head {
    pub(super) fn of(weights: &LoadedModel) -> Option<Self> {
        match weights.head.last() {
            Some(head) => match &head.weight {
                BaseWeight::Plain(weight) => Some(Self { weight: weight.clone(), bias: head.bias.clone() }),
                _ => None,
            },
            None => Some(Self { weight: weights.token_embedding.clone()?, bias: weights.tied_bias.clone() }),
        }
    }
}
