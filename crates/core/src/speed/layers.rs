//! All layers of a pass.

use super::inputs::TimingInputs;
use super::layer::layer;
use super::layer_times::{LayerPasses, Scalars};
use super::tally::Passes;

/// Both directions of each kind of layer: known from a pass that runs them alike, or timed now.
pub(super) fn timed_layers(inputs: &TimingInputs) -> LayerPasses {
    inputs.layer_times.of(inputs.job, scalars(inputs), || {
        let kinds = inputs.model.layer_kinds().map(|(kind, count)| {
            let mut passes = Passes::default();
            layer(&mut passes, inputs, kind);
            (passes, count as f64)
        });
        kinds.collect()
    })
}

const fn scalars(inputs: &TimingInputs) -> Scalars {
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
    Scalars {
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
