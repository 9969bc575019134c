//! Generation: prefill, then token by token with a cache of keys and values.

use super::activations::{Kernel, Setting};
use super::autograd::{Dim, ElementType, Sym, Tape, Tensor, dims};
use super::logits::logits;
use super::phase::Phase;
use super::step::{forward, setting};
use super::term::Term;
use super::weights::ModelWeights;
use crate::model::{Model, ModelKind};
use crate::plan::Plan;
use std::cell::RefCell;
use std::rc::Rc;

/// Runs prefill over `max_length` tokens, then decodes `rollout.new_tokens`.
pub(super) fn generate(tape: &Rc<Tape>, plan: &Plan, model: &Model, weights: &ModelWeights, kernel: Kernel) {
    tape.set_grad_enabled(false);
    let tokens = dims(&[("b", plan.per_device_train_batch_size), ("s", plan.max_length)]);
    let inputs = Tensor::new(tape, tape.label(Term::BatchInputs, "input_ids"), tokens, ElementType::I64);
    tape.enter(Phase::Prefill);
    let mut prefill = setting(tape, plan, model, kernel, false);
    // Encoders read once and generate nothing.
    prefill.cache = (model.kind == ModelKind::Decoder).then(RefCell::default);
    let prefill = Rc::new(prefill);
    if let Some(hidden) = forward(&prefill, plan, model, weights) {
        head_of_last(&prefill, model, weights, &hidden);
    }
    if prefill.cache.is_some() {
        tape.enter(Phase::Decode);
        decode(&prefill, plan, model, weights);
    }
    drop(inputs);
}

/// `logits_to_keep=1`: the head reads the last token only.
fn head_of_last(setting: &Setting, model: &Model, weights: &ModelWeights, hidden: &Tensor) {
    let last = dims(&[("b", setting.batch), ("1", 1)]).with(Dim { sym: Sym("h"), size: hidden.shape().width() });
    let out = logits(setting, model, weights, &hidden.view(last));
    drop(out);
}

/// Every decoding step writes keys and values of one more token: `torch.cat` of the whole cache of a layer.
fn decode(setting: &Rc<Setting>, plan: &Plan, model: &Model, weights: &ModelWeights) {
    let Some(cache) = &setting.cache else { return };
    let (tape, b) = (&setting.tape, plan.per_device_train_batch_size);
    let length = plan.max_length.saturating_add(plan.rollout.new_tokens);
    let mut old = cache.take().into_iter();
    let mut grown = Vec::new();
    for layer in &weights.layers {
        tape.enter_layer(layer.tag);
        let facts = &layer.layer.attention;
        let length = facts.sliding_window.map_or(length, |window| length.min(window));
        let before = (old.next(), old.next());
        let new = |name, width| {
            let shape = dims(&[("b", b), ("k", facts.num_key_value_heads), ("s", length), ("d", width)]);
            Tensor::new(tape, tape.label(Term::KvCache, name), shape, weights.cache_element(setting.half))
        };
        let keys = new("k", facts.head_dim);
        let values = new("v", facts.value_head_dim);
        drop(before);
        grown.push((layer.tag, keys, values));
    }
    tape.enter_layer(super::autograd::NO_LAYER);
    let vocab = dims(&[("b", b), ("V", model.vocab_size)]);
    tape.moment(tape.label(Term::Logits, ""), vocab, weights.cache_element(setting.half));
    for (tag, keys, values) in grown {
        tape.enter_layer(tag);
        drop((keys, values));
    }
    tape.enter_layer(super::autograd::NO_LAYER);
}
