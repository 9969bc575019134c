//! What stands for others: lists that operators read, and storages of a time of a loop that runs for many.

use crate::trace::VOCABULARY;
use headroom_torch::ElementType::Half;
use headroom_torch::{
    Extent, Kernel, Kind, Made, Operand, Operator, Output, Place, Shape, Sink, Step, Tape, Template, Tensor, Wanted,
};
use std::sync::Arc;

#[test]
fn each_of_a_list_gets_the_gradient_that_is_said_of_all() {
    let view = Output { shape: 1, made: Made::Promoted, of: Some(0) };
    let steps = vec![Step {
        kernel: Kernel::Plain,
        inputs: vec![Operand::Gradient(0)],
        outputs: vec![view],
        frees: Vec::new(),
    }];
    let backward = |results: usize| {
        Arc::new(Template { steps: steps.clone(), results: vec![Operand::Made(0); results], is_whole: false })
    };
    let stack = |edges: &[usize]| Operator {
        kernel: Kernel::of("stack"),
        outputs: vec![Output { shape: 0, made: Made::Promoted, of: None }],
        place: Some(Place {
            edges: edges.to_vec(),
            saves: Vec::new(),
            saves_all: false,
            backward: backward(edges.len()),
        }),
    };
    assert_eq!(stack(&[0, 1]).spread(&[3, 1]), stack(&[0, 1, 2, 3]));
    assert_eq!(stack(&[0, 1]).spread(&[1, 1]), stack(&[0, 1]));
}

#[test]
fn what_lives_on_is_taken_for_all_that_it_stands_for() {
    for wanted in [Wanted::Rows, Wanted::Moments] {
        let tape = Tape::new(&VOCABULARY, Extent::Whole, Sink::new(wanted, &VOCABULARY));
        let new = || Tensor::new(&tape, tape.label(Kind(1), "out"), Shape::SCALAR, Half);
        let mut kept = Vec::new();
        let outer = tape.watch(|| {
            let inner = tape.watch(|| {
                drop(new());
                kept.push(new());
            });
            inner.stand_for(4);
            kept.push(new());
        });
        assert_eq!(tape.held(), 6 * 512);
        outer.stand_for(2);
        assert_eq!(tape.held(), 18 * 512);
        drop(kept);
        assert_eq!(tape.held(), 0);
    }
}
