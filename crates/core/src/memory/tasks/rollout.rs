//! Generation: prefill, then token by token with a cache of keys and values.

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, LayerTag, NO_LAYER, Sym, Tape, Tensor, dims};
use super::super::loss::logits;
use super::super::phase::Phase;
use super::super::sharding::Groups;
use super::super::step::{forward, forward_context};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use crate::job::Job;
use crate::model::ModelKind;
use crate::plan::Rollout;
use std::cell::RefCell;
use std::rc::Rc;

/// What is generated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Generation {
    /// Sequences side by side.
    pub(super) batch: u64,
    /// Tokens of each prompt.
    pub(super) prompt: u64,
    /// Tokens generated after it.
    pub(super) new_tokens: u64,
    /// Whether prompts are padded to one length.
    pub(super) padded: bool,
}

/// A model that generates.
#[derive(Clone, Copy)]
pub(super) struct Generator<'a> {
    pub(super) tape: &'a Rc<Tape>,
    pub(super) job: &'a Job,
    pub(super) weights: &'a LoadedModel,
    /// What gathers its parameters for each forward.
    pub(super) groups: Option<&'a Rc<Groups>>,
}

/// Runs prefill over `max_length` tokens, then decodes `rollout.new_tokens`.
pub(in crate::memory) fn infer(tape: &Rc<Tape>, job: &Job, weights: &LoadedModel) {
    tape.set_grad_enabled(false);
    let plan = &job.plan;
    let generator = Generator { tape, job, weights, groups: None };
    let what = Generation {
        batch: plan.per_device_train_batch_size,
        prompt: plan.max_length,
        new_tokens: plan.rollout.new_tokens,
        padded: false,
    };
    drop(generator.run(what, None));
}

impl Generator<'_> {
    /// Generates; gives back the cache and the scores that the caller keeps.
    pub(super) fn run(&self, what: Generation, sampling: Option<&Rollout>) -> Generated {
        let Self { tape, job, groups, .. } = *self;
        let model = &job.model;
        let tokens = dims(&[(Sym::B, what.batch), (Sym::S, what.prompt)]);
        let inputs = Tensor::new(tape, tape.label(Term::BatchInputs, "input_ids"), tokens, ElementType::I64);
        tape.enter(Phase::Prefill);
        let context = || {
            let mut context = forward_context(tape, job, false);
            context.groups = groups.cloned();
            if job.trainer.generates_without_autocast(&job.plan) {
                context.autocast.replace(false);
            }
            context
        };
        let mut prefill = context();
        (prefill.batch, prefill.length, prefill.attended) = (what.batch, what.prompt, what.prompt);
        prefill.padded |= what.padded;
        // Encoders read once and generate nothing.
        prefill.cache = (model.kind == ModelKind::Decoder).then(RefCell::default);
        let prefill = Rc::new(prefill);
        let first = self.forward(&prefill);
        prefill.autocast.replace(false);
        prefill.leave_autocast();
        let mut generated = Generated::default();
        let Some(cache) = &prefill.cache else { return generated };
        generated.cache = cache.take();
        tape.enter(Phase::Decode);
        if what.new_tokens == 0 {
            return generated;
        }
        drop(first);
        // Between the first and the last token the cache grows evenly: the last token's step holds the most.
        self.grow(&mut generated.cache, what, what.new_tokens - 1);
        let vocab = dims(&[(Sym::B, what.batch), (Sym::V, model.vocab_size)]);
        let state = sampling.map(|rollout| {
            if rollout.keep_scores.unwrap_or(false) {
                let scores =
                    dims(&[(Sym::CLessOne, what.new_tokens - 1), (Sym::B, what.batch), (Sym::V, model.vocab_size)]);
                generated.scores.push(self.scores(scores));
            }
            SamplingState { logits: self.scores(vocab), scores: self.scores(vocab), probabilities: self.scores(vocab) }
        });
        let mut last = context();
        (last.batch, last.length) = (what.batch, 1);
        last.attended = what.prompt.saturating_add(what.new_tokens);
        last.padded |= what.padded;
        last.past = Some(RefCell::new(std::mem::take(&mut generated.cache).into()));
        last.cache = Some(RefCell::default());
        let last = Rc::new(last);
        let out = self.forward(&last);
        last.autocast.replace(false);
        last.leave_autocast();
        generated.cache = last.cache.as_ref().map(RefCell::take).unwrap_or_default();
        generated.past = last.past.as_ref().map(|past| past.take().into()).unwrap_or_default();
        if let (Some(rollout), Some(state)) = (sampling, state) {
            let kept = self.sample(rollout, state, vocab);
            if rollout.keep_scores.unwrap_or(false) {
                generated.scores.push(kept);
            }
        }
        drop((out, inputs));
        generated
    }

    /// One forward, of whose logits the last token's are made.
    fn forward(&self, context: &Rc<ForwardContext>) -> Option<Tensor> {
        self.groups.into_iter().for_each(|groups| groups.begin_forward());
        let out = forward(context, self.job, self.weights).and_then(|hidden| self.head_of_last(context, &hidden));
        self.groups.into_iter().for_each(|groups| groups.end_forward());
        out
    }

    fn scores(&self, shape: super::super::autograd::Shape) -> Tensor {
        Tensor::new(self.tape, self.tape.label(Term::SamplingScores, ""), shape, ElementType::F32)
    }

    /// `logits_to_keep=1`: the head reads the last token only.
    fn head_of_last(&self, context: &ForwardContext, hidden: &Tensor) -> Option<Tensor> {
        let last = dims(&[(Sym::B, context.batch), (Sym::One, 1)]).with(Dim::new(Sym::H, hidden.shape().width()));
        logits(context, &self.job.model, self.weights, &hidden.view(last))
    }

    /// The cache after `more` tokens: every step writes keys and values of one more, a new tensor a layer.
    fn grow(&self, cache: &mut Vec<(LayerTag, Tensor)>, what: Generation, more: u64) {
        let length = what.prompt.saturating_add(more);
        let mut old = std::mem::take(cache).into_iter().peekable();
        for layer in &self.weights.called() {
            self.tape.enter_layer(layer.tag);
            for (name, width) in [("k", layer.layer.attention.head_dim), ("v", layer.layer.attention.value_head_dim)] {
                // Not every layer of a hybrid keeps any.
                let Some((tag, before)) = old.next_if(|(tag, _)| *tag == layer.tag) else { continue };
                let facts = &layer.layer.attention;
                let length = facts.sliding_window.map_or(length, |window| length.min(window));
                let shape = dims(&[
                    (Sym::B, what.batch),
                    (Sym::K, facts.num_key_value_heads),
                    (Sym::PromptAndAnswer, length),
                    (Sym::D, width),
                ]);
                let label = self.tape.label(Term::KvCache, name);
                cache.push((tag, Tensor::new(self.tape, label, shape, before.element())));
            }
        }
        self.tape.enter_layer(NO_LAYER);
    }

    /// One round of transformers' `_sample` (generation/utils.py) with the logits processors that the plan sets
    /// (generation/logits_process.py); gives back the processed scores.
    fn sample(&self, rollout: &Rollout, mut state: SamplingState, vocab: super::super::autograd::Shape) -> Tensor {
        let flags = || {
            let label = self.tape.label(Term::SamplingScores, "mask");
            Tensor::new(self.tape, label, vocab, ElementType::Byte)
        };
        // `outputs.logits[:, -1].to(copy=True, dtype=float32)`; the step before's go as theirs take their place.
        state.logits = self.scores(vocab);
        let mut scores = state.logits.clone();
        if rollout.min_length_processor.unwrap_or(false) {
            // MinLength and MinNewTokens: a mask over the vocabulary, a filled tensor, the choice between the two.
            for _ in 0..2 {
                let filled = self.scores(vocab);
                let mask = flags();
                scores = self.scores(vocab);
                drop((filled, mask));
            }
        }
        if rollout.top_k.unwrap_or(0) > 0 {
            let mask = flags();
            scores = self.scores(vocab);
            drop(mask);
        }
        if rollout.top_p.unwrap_or(1.0) < 1.0 {
            let sorted = self.scores(vocab);
            let label = self.tape.label(Term::SamplingScores, "order");
            let order = Tensor::new(self.tape, label, vocab, ElementType::I64);
            let softmax = self.scores(vocab);
            let cumulative = self.scores(vocab);
            drop(softmax);
            let removed = flags();
            let scattered = flags();
            scores = self.scores(vocab);
            drop((sorted, order, cumulative, removed, scattered));
        }
        state.scores = scores;
        state.probabilities = self.scores(vocab);
        // torch.multinomial divides noise by probabilities in a tensor of the same size.
        drop(self.scores(vocab));
        state.scores
    }
}

/// What one round of sampling leaves for the next.
struct SamplingState {
    logits: Tensor,
    scores: Tensor,
    probabilities: Tensor,
}

/// What generation leaves.
#[derive(Debug, Default)]
pub(super) struct Generated {
    /// Keys and values, each with the layer that they are of.
    cache: Vec<(LayerTag, Tensor)>,
    past: Vec<(LayerTag, Tensor)>,
    /// `output_scores`.
    pub(super) scores: Vec<Tensor>,
}

impl Generated {
    /// Lets the cache go, layer by layer.
    pub(super) fn drop_cache(&mut self, tape: &Rc<Tape>) {
        for (tag, tensor) in self.cache.drain(..).chain(self.past.drain(..)) {
            tape.enter_layer(tag);
            drop(tensor);
        }
        tape.enter_layer(NO_LAYER);
    }
}
