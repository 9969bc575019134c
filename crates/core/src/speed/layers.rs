//! The layers of a pass, timed once for all passes that run them alike.
//!
//! Searches time hundreds of plans of one model, most of which differ in what happens outside the layers: in sharding, in the
//! optimizer, in what is kept or computed twice.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::inputs::{LayerSetting, TimingInputs};
use super::layer::layer;
use super::rates::{Precision, Rates};
use super::tally::Passes;
use crate::job::AttentionKernel;
use crate::model::Model;
use crate::plan::{AdapterTargets, Method};

/// Both directions of a layer of each kind, and how many layers of the kind there are.
pub(super) type LayerPasses = Rc<[(Passes, f64)]>;

/// Times of layers that are known so far.
#[derive(Debug, Default)]
pub struct LayerTimes {
    known: RefCell<Vec<(Inputs, LayerPasses)>>,
}

impl LayerTimes {
    /// The layers of a pass, known or timed now.
    pub(super) fn of(&self, inputs: &TimingInputs) -> LayerPasses {
        let scalars = Scalars::of(inputs);
        let known =
            self.known.borrow().iter().find(|(known, _)| known.are_of(&scalars, inputs)).map(|known| known.1.clone());
        known.unwrap_or_else(|| {
            let timed: LayerPasses = inputs
                .model
                .layer_kinds()
                .map(|(kind, count)| {
                    let mut passes = Passes::default();
                    layer(&mut passes, inputs, kind);
                    (passes, count as f64)
                })
                .collect();
            self.known.borrow_mut().push((Inputs::new(scalars, inputs), timed.clone()));
            timed
        })
    }
}

/// All that the time of a layer depends on.
#[derive(Debug)]
struct Inputs {
    scalars: Scalars,
    model: Arc<Model>,
    targets: AdapterTargets,
    modules_to_save: Vec<String>,
}

impl Inputs {
    fn new(scalars: Scalars, inputs: &TimingInputs) -> Self {
        let job = inputs.job;
        Self {
            scalars,
            model: job.model.clone(),
            targets: job.targets.clone(),
            modules_to_save: job.plan.lora.modules_to_save.clone(),
        }
    }

    fn are_of(&self, scalars: &Scalars, inputs: &TimingInputs) -> bool {
        let job = inputs.job;
        self.scalars == *scalars
            && Arc::ptr_eq(&self.model, &job.model)
            && self.targets == job.targets
            && self.modules_to_save == job.plan.lora.modules_to_save
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Scalars {
    method: Method,
    bits: u8,
    rates: Rates,
    batch: f64,
    length: f64,
    precision: Precision,
    stream: f64,
    weight: f64,
    casts: bool,
    attention: AttentionKernel,
    padded: bool,
    training: bool,
    adapters: bool,
    forwards: f64,
    setting: LayerSetting,
}

impl Scalars {
    const fn of(inputs: &TimingInputs) -> Self {
        // Of all fields, so that a new one is not forgotten; scores are outside the layers.
        let TimingInputs {
            job: _,
            model: _,
            layer_times: _,
            scores: _,
            method,
            bits,
            rates,
            batch,
            length,
            precision,
            stream,
            weight,
            casts,
            attention,
            padded,
            training,
            adapters,
            forwards,
            setting,
        } = *inputs;
        Self {
            method,
            bits,
            rates,
            batch,
            length,
            precision,
            stream,
            weight,
            casts,
            attention,
            padded,
            training,
            adapters,
            forwards,
            setting,
        }
    }
}
