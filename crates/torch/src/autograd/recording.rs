//! An operator being recorded: its inputs, what it saves, its output's place in the graph. What every operator does in
//! forward, whatever it computes, belongs here.

use super::graph::{Call, Edge, GradSource, Gradients, Node, Run, Saved, Tape, Tensor};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// An operator being recorded.
#[derive(Debug)]
pub struct Recording {
    tape: Rc<Tape>,
    /// Its place in the graph, where it becomes part of that.
    node: Option<Unfinished>,
}

/// A node that has no backward yet. Nobody else holds it.
#[derive(Debug)]
struct Unfinished(Rc<Node>);

impl Recording {
    /// Begins an operator over `inputs`.
    pub fn begin(tape: &Rc<Tape>, inputs: &[&Tensor]) -> Self {
        tape.next_operator();
        let on = tape.grad_enabled() && inputs.iter().any(|input| input.requires_grad());
        Self { tape: Rc::clone(tape), node: on.then(|| Unfinished::new(tape, inputs)) }
    }

    /// Whether it becomes part of the graph.
    pub fn is_on(&self) -> bool {
        self.node.is_some()
    }

    /// Whether input `i` gets a gradient.
    pub fn needs(&self, i: usize) -> bool {
        self.node.as_ref().and_then(|node| node.0.next.get(i)).is_some_and(Option::is_some)
    }

    /// Keeps `tensor` for backward.
    pub fn save(&mut self, tensor: &Tensor) {
        if let Some(node) = &self.node {
            node.0.saved.borrow_mut().extend(Saved::new(&self.tape, tensor));
        }
    }

    /// Ends it: `output` now has its place in the graph.
    pub fn finish(self, output: Tensor, run: impl Fn(&Call<'_>) -> Gradients + 'static) -> Tensor {
        let Some(node) = self.node else { return output };
        output.into_source(GradSource::Node(node.finish(&self.tape, run), 0))
    }

    /// Ends an operator with several outputs.
    pub fn finish_many(self, outputs: Vec<Tensor>, run: impl Fn(&Call<'_>) -> Gradients + 'static) -> Vec<Tensor> {
        let Some(node) = self.node else { return outputs };
        let node = node.finish(&self.tape, run);
        let place = |(i, output): (u32, Tensor)| output.into_source(GradSource::Node(Rc::clone(&node), i));
        (0..).zip(outputs).map(place).collect()
    }
}

impl Unfinished {
    fn new(tape: &Rc<Tape>, inputs: &[&Tensor]) -> Self {
        let edge = |input: &&Tensor| {
            let target = input.source()?.clone();
            Some(Edge { target, shape: input.shape(), element: input.element() })
        };
        Self(Rc::new(Node {
            sequence: Cell::new(tape.next_sequence()),
            tag: Cell::new(tape.tag()),
            next: inputs.iter().map(edge).collect(),
            saved: RefCell::default(),
            run: OnceCell::new(),
            awaited: Cell::new(0),
            grad: RefCell::new(None),
            other_grads: RefCell::default(),
        }))
    }

    /// Its backward is known, and with it the layer that it belongs to.
    fn finish(self, tape: &Tape, run: impl Fn(&Call<'_>) -> Gradients + 'static) -> Rc<Node> {
        self.0.tag.set(tape.tag());
        let _: Result<(), Run> = self.0.run.set(Box::new(run));
        self.0
    }
}

impl Tensor {
    /// Marks the result of a view operator.
    pub fn into_view(mut self) -> Self {
        self.view = true;
        self
    }

    /// Whether it is the result of a view operator.
    pub fn is_view(&self) -> bool {
        self.view
    }

    /// Lets backward come to the operator that made the tensor as if it had run now.
    pub fn order_as_new(&self) {
        if let Some(GradSource::Node(node, _)) = self.source() {
            node.sequence.set(self.tape().next_sequence());
        }
    }
}
