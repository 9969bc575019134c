//! An operator being recorded: its inputs, what it saves, its output's place in the graph. What every operator does in
//! forward, whatever it computes, belongs here.

use super::graph::{Call, Edge, Edges, GradSource, Gradients, Node, Saved, Tape, Tensor};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// An operator being recorded.
#[derive(Debug)]
pub struct Recording {
    tape: Rc<Tape>,
    sequence: u64,
    next: Edges,
    saved: Vec<Saved>,
    on: bool,
}

impl Recording {
    /// Begins an operator over `inputs`.
    pub fn begin(tape: &Rc<Tape>, inputs: &[&Tensor]) -> Self {
        tape.next_operator();
        let on = tape.grad_enabled() && inputs.iter().any(|input| input.requires_grad());
        let next = if on {
            inputs
                .iter()
                .map(|input| {
                    input.source().map(|source| Edge {
                        target: source.clone(),
                        shape: input.shape(),
                        element: input.element(),
                    })
                })
                .collect()
        } else {
            Edges::new()
        };
        let sequence = if on { tape.next_sequence() } else { 0 };
        Self { tape: Rc::clone(tape), sequence, next, saved: Vec::new(), on }
    }

    /// Whether it becomes part of the graph.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether input `i` gets a gradient.
    pub fn needs(&self, i: usize) -> bool {
        self.next.get(i).is_some_and(Option::is_some)
    }

    /// Keeps `tensor` for backward.
    pub fn save(&mut self, tensor: &Tensor) {
        if self.on {
            self.saved.extend(Saved::new(&self.tape, tensor));
        }
    }

    /// Ends it: `output` now has its place in the graph.
    pub fn finish(self, output: Tensor, run: impl Fn(&Call<'_>) -> Gradients + 'static) -> Tensor {
        if !self.on {
            return output;
        }
        let node = self.into_node(run);
        output.into_source(GradSource::Node(node, 0))
    }

    /// Ends an operator with several outputs.
    pub fn finish_many(self, outputs: Vec<Tensor>, run: impl Fn(&Call<'_>) -> Gradients + 'static) -> Vec<Tensor> {
        if !self.on {
            return outputs;
        }
        let node = self.into_node(run);
        let place = |(i, output): (u32, Tensor)| output.into_source(GradSource::Node(Rc::clone(&node), i));
        (0..).zip(outputs).map(place).collect()
    }

    fn into_node(self, run: impl Fn(&Call<'_>) -> Gradients + 'static) -> Rc<Node> {
        Rc::new(Node {
            sequence: self.sequence,
            tag: self.tape.tag(),
            next: self.next,
            saved: RefCell::new(self.saved),
            run: Box::new(run),
            awaited: Cell::new(0),
            grad: RefCell::new(None),
            other_grads: RefCell::default(),
        })
    }
}
