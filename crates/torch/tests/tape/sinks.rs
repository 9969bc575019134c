//! What sinks read off a tape: peaks alone are those that the events have, and layers that stand for others count as often.

use crate::trace::{VOCABULARY, new_tape, shape};
use headroom_torch::ElementType::F32;
use headroom_torch::{
    Extent, LayerTag, NO_LAYER, PhaseId, Run, Symbol, Tape, TapeRecord, Tensor, Wanted, backward, linear, mean_last,
    unary_saving_input,
};
use std::rc::Rc;

const FORWARD: PhaseId = PhaseId { number: 1, forwards: true };
const BACKWARD: PhaseId = PhaseId { number: 2, forwards: false };
const LAYERS: u64 = 5;

/// A step of five equal layers, all of them run or one that stands for them.
fn step(tape: &Rc<Tape>, extent: Extent) -> Vec<Tensor> {
    let new = |name, sizes: &[u64]| Tensor::new(tape, tape.label(headroom_torch::Kind(1), name), shape(sizes), F32);
    let (model, simulated) = match extent {
        Extent::Whole | Extent::EveryLayer => (tape.add_model(Vec::new()), LAYERS),
        Extent::Representative => (tape.add_model(vec![Run { index: 0, count: LAYERS, before: 0 }]), 1),
    };
    let tag = |index| LayerTag { model, index, repeat: LAYERS / simulated };
    let mut weights = Vec::new();
    for index in 0..simulated {
        tape.enter_layer(tag(index as u32));
        let grad = tape.label(headroom_torch::Kind(2), "");
        weights.push(new("weight", &[256, 256]).into_leaf(Some(grad)));
    }
    tape.enter_layer(NO_LAYER);
    let mut x = new("x", &[512, 256]);
    tape.enter(FORWARD);
    for (index, weight) in weights.iter().enumerate() {
        tape.enter_layer(tag(index as u32));
        let product = linear(&x, weight, None, (Symbol::ONE, 256), tape.label(headroom_torch::Kind(1), "product"));
        x = unary_saving_input(&product, tape.label(headroom_torch::Kind(1), "out"));
    }
    tape.enter_layer(NO_LAYER);
    let loss = mean_last(&x, tape.label(headroom_torch::Kind(1), "loss"));
    drop(x);
    tape.enter(BACKWARD);
    if let Some(source) = loss.source() {
        backward(tape, source, new("loss", &[512, 1]));
    }
    tape.enter_layer(NO_LAYER);
    weights.push(loss);
    weights
}

/// The peak of each phase, layers that do not run counted too.
fn peaks(wanted: Wanted, extent: Extent) -> Vec<(u8, i128)> {
    let tape = new_tape(wanted, extent);
    let held = step(&tape, extent);
    let record = tape.finish();
    drop(held);
    let peaks = match wanted {
        Wanted::Rows => return peaks_of(&record.into_rows(&VOCABULARY)),
        Wanted::Moments | Wanted::Pieces => record.into_peaks(),
    };
    peaks.phases.iter().map(|moment| (moment.phase.number, moment.bytes)).collect()
}

/// From the events of a tape on which every layer runs.
fn peaks_of(record: &TapeRecord) -> Vec<(u8, i128)> {
    let mut peaks: Vec<(u8, i128)> = Vec::new();
    let mut alive = 0;
    for (at, segment) in record.segments.iter().enumerate() {
        let number = segment.phase.number;
        if peaks.last().is_none_or(|(last, _)| *last != number) {
            peaks.push((number, alive));
        }
        let end = record.segments.get(at + 1).map_or(record.events.len(), |next| next.start);
        for event in &record.events[segment.start..end] {
            alive += i128::from(event.bytes);
            let peak = peaks.last_mut().unwrap();
            peak.1 = peak.1.max(alive);
        }
    }
    peaks
}

#[test]
fn peaks_alone_are_those_of_all_events() {
    let all = peaks(Wanted::Rows, Extent::Whole);
    assert_eq!(all.iter().map(|(phase, _)| *phase).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(all.is_sorted_by_key(|(_, bytes)| *bytes), "{all:?}");
    assert_eq!(peaks(Wanted::Moments, Extent::Whole), all);
}

/// The first layer's input wants no gradient, the others' do: the one that stands for all is the first, so weights, sums
/// and what is saved agree, and backward's gradients of inputs do not.
#[test]
fn a_layer_that_stands_for_others_counts_as_often() {
    let (all, one) = (peaks(Wanted::Moments, Extent::Whole), peaks(Wanted::Moments, Extent::Representative));
    assert_eq!(one[..2], all[..2]);
}
