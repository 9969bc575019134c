//! The language-model head: hidden states to logits.

use super::super::activations::{Setting, run_norm};
use super::super::autograd::{Sym, Tensor, activation_saving_input, activation_saving_output, linear, scale};
use super::super::term::Term;
use super::super::weights::ModelWeights;
use crate::model::Model;

/// `lm_head(hidden)` and what the family does to logits.
pub(in crate::memory) fn logits(setting: &Setting, model: &Model, weights: &ModelWeights, hidden: &Tensor) -> Option<Tensor> {
    // Encoders transform the hidden states first: dense, activation, norm.
    let (decoder, transforms): (Vec<_>, Vec<_>) = weights.head.iter().partition(|head| head.d_out == model.vocab_size);
    let mut input = hidden.clone();
    for (i, transform) in transforms.into_iter().enumerate() {
        let dense = transform.run(setting, &input, Term::HeadInputs);
        input = activation_saving_input(&dense, setting.label(Term::HeadInputs, ""));
        if let Some(norm) = weights.head_norms.get(i) {
            input = run_norm(setting, norm, &input);
        }
    }
    let mut logits = match decoder.first() {
        Some(head) => head.run(setting, &input, Term::Logits),
        None => {
            let table = weights.token_embedding.as_ref()?;
            setting.module("lm_head", &[table], &input, |input| {
                let weight = setting.cast_weight(table, "embed_tokens");
                let x = setting.cast_input(input);
                let width = (Sym::V, model.vocab_size);
                linear(&x, &weight, None, width, setting.label(Term::Logits, ""))
            })
        }
    };
    drop(input);
    if model.scales_logits {
        logits = scale(&logits, setting.label(Term::Logits, "scaled"));
    }
    if model.final_logit_softcapping {
        logits = scale(&logits, setting.label(Term::Logits, "scaled"));
        logits = activation_saving_output(&logits, setting.label(Term::Logits, "tanh"));
        logits = scale(&logits, setting.label(Term::Logits, "capped"));
    }
    Some(logits)
}

