//! One set of weights in two parts: a model without its adapters, and a model of its own on a shared base.

use super::builder::{Builder, Built};
use super::linear::Linear;
use super::model::{Counts, Holder, LoadedModel};
use super::modules::{BaseWeight, LayerWeights, NormWeights, Projection};
use crate::job::Job;
use crate::memory::autograd::{Sym, Tape, Tensor};
use std::cell::RefCell;
use std::rc::Rc;

impl LoadedModel {
    /// The same weights, frozen and with every adapter switched off (peft's `disable_adapter`): no bytes of its own.
    pub(in crate::memory) fn without_adapters(&self) -> Self {
        Self {
            token_embedding: self.token_embedding.as_ref().map(Tensor::detach),
            token_adapter: None,
            layers: self.layers.iter().map(|layer| Rc::new(frozen_layer(layer))).collect(),
            last_norm: self.last_norm.as_ref().map(frozen_norm),
            head: self.head.iter().map(frozen_projection).collect(),
            head_norms: self.head_norms.iter().map(frozen_norm).collect(),
            tied_bias: self.tied_bias.as_ref().map(Tensor::detach),
            head_gain: self.head_gain.as_ref().map(Tensor::detach),
            has_language_head: self.has_language_head,
            pooler: self.pooler.as_ref().map(frozen_projection),
            score: self.score.as_ref().map(frozen_projection),
            before: self.before.frozen(),
            after: self.after.frozen(),
            trainable: Vec::new(),
            parameters: self.parameters.clone(),
            zero3: None,
            zero2: None,
            as_loaded: RefCell::default(),
            beside: RefCell::default(),
            counts: Counts::default(),
            _idle: Vec::new(),
            _held: Vec::new(),
        }
    }
}

impl LoadedModel {
    /// The same weights with their adapters, for forwards beside the one that trains.
    pub(in crate::memory) fn reading(&self) -> Self {
        Self {
            token_embedding: self.token_embedding.clone(),
            token_adapter: self.token_adapter.clone(),
            layers: self.layers.clone(),
            last_norm: self.last_norm.clone(),
            head: self.head.clone(),
            head_norms: self.head_norms.clone(),
            tied_bias: self.tied_bias.clone(),
            head_gain: self.head_gain.clone(),
            has_language_head: self.has_language_head,
            pooler: self.pooler.clone(),
            score: self.score.clone(),
            before: self.before.clone(),
            after: self.after.clone(),
            trainable: Vec::new(),
            parameters: self.parameters.clone(),
            zero3: None,
            zero2: None,
            as_loaded: RefCell::default(),
            beside: RefCell::default(),
            counts: Counts::default(),
            _idle: Vec::new(),
            _held: Vec::new(),
        }
    }

    /// The same base without adapters under a score head of its own, which trains unless `holder` is frozen.
    pub(in crate::memory) fn with_score(&self, tape: &Rc<Tape>, job: &Job, holder: Holder) -> Self {
        let mut builder = Builder::new(tape, job, holder);
        let (d_in, d_out) = (job.model.hidden_size, job.plan.num_labels);
        let linear = Linear { name: "score", d_in, d_out, sym: Sym::Labels, bias: false };
        let score = builder.trained_head(linear, tape.tag());
        let Built { trainable, counts, held, .. } = builder.built;
        Self {
            score: Some(score),
            has_language_head: false,
            trainable,
            counts,
            _idle: Vec::new(),
            _held: held,
            ..self.without_adapters()
        }
    }
}

fn frozen_layer(layer: &LayerWeights) -> LayerWeights {
    LayerWeights { layer: Rc::clone(&layer.layer), tag: layer.tag, block: layer.block.frozen() }
}

fn frozen_norm(norm: &NormWeights) -> NormWeights {
    NormWeights {
        name: norm.name.clone(),
        weight: norm.weight.as_ref().map(Tensor::detach),
        bias: norm.bias.as_ref().map(Tensor::detach),
    }
}

pub(super) fn frozen_projection(projection: &Projection) -> Projection {
    Projection {
        weight: match &projection.weight {
            BaseWeight::Plain(weight) => BaseWeight::Plain(weight.detach()),
            quantized => quantized.clone(),
        },
        bias: projection.bias.as_ref().map(Tensor::detach),
        adapter: None,
        ..projection.clone()
    }
}
