//! The engine that runs the graph backwards, in PyTorch's order (torch/csrc/autograd): which operator is next, what happens
//! to a gradient on its way to an input, where two of them meet, and when each is freed.

use super::graph::{Call, Edge, GradHookCall, GradSource, Gradients, Leaf, Node, Saved, Tape, Tensor};
use crate::label::Label;
use crate::shape::{Symbol, dims};
use crate::tape::Action;
use smallvec::SmallVec;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// Order in the ready queue: leaves first (AccumulateGrad has the highest priority), then the latest operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Priority(bool, u64);

fn priority(target: &GradSource) -> Priority {
    match target {
        GradSource::Leaf(leaf) => Priority(true, leaf.id),
        GradSource::Node(node, _) => Priority(false, node.sequence.get()),
    }
}

/// A target whose gradients have all come.
#[derive(Debug)]
struct Ready {
    priority: Priority,
    target: GradSource,
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.priority == other.priority
    }
}

impl Eq for Ready {}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.cmp(&other.priority)
    }
}

impl From<GradSource> for Ready {
    fn from(target: GradSource) -> Self {
        Self { priority: priority(&target), target }
    }
}

/// Runs backward from `root`, whose gradient is `grad`.
pub fn backward(tape: &Rc<Tape>, root: &GradSource, grad: Tensor) {
    count_edges(root);
    root.receive(tape, grad);
    let mut ready = BinaryHeap::from([Ready::from(root.clone())]);
    while let Some(Ready { target, .. }) = ready.pop() {
        let node = match target {
            GradSource::Leaf(leaf) => {
                let grad = leaf.pending.take();
                if let Some(grad) = grad {
                    let hook = leaf.hook.borrow().clone();
                    hook.call(&leaf, GradHookCall::Computed);
                    accumulate_grad(&leaf, grad);
                    hook.call(&leaf, GradHookCall::Accumulated);
                    if let Some(parameter) = leaf.told_as.get() {
                        tape.tell(Action::GradientReady, parameter);
                    }
                }
                continue;
            }
            GradSource::Node(node, _) => node,
        };
        tape.enter_layer(node.tag.get());
        tape.next_operator();
        let grads = (node.grad.take(), node.other_grads.take());
        let mut outputs = node.run(tape, (grads.0.as_ref(), grads.1.as_slice()));
        for (i, edge) in node.next.iter().enumerate() {
            let Some(output) = outputs.get_mut(i) else { break };
            *output = match (output.take(), edge) {
                (Some(value), Some(edge)) => Some(validate(tape, value, edge)),
                _ => None,
            };
        }
        drop(grads);
        drop(node.saved.take());
        for (i, edge) in node.next.iter().enumerate() {
            let output = outputs.get_mut(i).and_then(Option::take);
            let Some(edge) = edge else { continue };
            if let Some(output) = output {
                edge.target.receive(tape, output);
            }
            let awaited = edge.target.awaited();
            awaited.set(awaited.get().saturating_sub(1));
            if awaited.get() == 0 {
                ready.push(Ready::from(edge.target.clone()));
            }
        }
    }
}

impl Node {
    /// Gradients of its inputs.
    fn run(&self, tape: &Rc<Tape>, gradients: (Option<&Tensor>, &[Option<Tensor>])) -> Gradients {
        let Some(grad) = gradients.0.into_iter().chain(gradients.1.iter().flatten()).next() else {
            return Gradients::default();
        };
        // What a checkpointed call saves goes as soon as the operator has run, before its gradients are looked at.
        let mut saved: SmallVec<[Tensor; 4]> =
            self.saved.borrow().iter().filter_map(|saved| saved.unpack(tape)).collect();
        let (mut few, many): ([bool; 4], Vec<bool>);
        let needs = if self.next.len() <= 4 {
            few = [false; 4];
            few.iter_mut().zip(self.next.iter()).for_each(|(need, edge)| *need = edge.is_some());
            few.get(..self.next.len()).unwrap_or_default()
        } else {
            many = self.next.iter().map(|edge| edge.is_some()).collect();
            &many
        };
        let Some(run) = self.run.get() else { return Gradients::default() };
        let gradients = run(&Call { tape, grad, gradients, saved: &saved, needs });
        // C++ destroys locals from the last to the first.
        while saved.pop().is_some() {}
        self.saved.borrow().iter().for_each(Saved::ran);
        gradients
    }
}

impl GradSource {
    fn awaited(&self) -> &Cell<u32> {
        match self {
            Self::Node(node, _) => &node.awaited,
            Self::Leaf(leaf) => &leaf.awaited,
        }
    }

    /// Adds a gradient to the sum of those of the same output.
    fn receive(&self, tape: &Rc<Tape>, grad: Tensor) {
        let sum = |place: &mut Option<Tensor>| {
            *place = Some(match place.take() {
                None => grad,
                Some(old) => add(tape, old, grad),
            });
        };
        match self {
            Self::Leaf(leaf) => tape.on(leaf.summed_on.get(), || sum(&mut leaf.pending.borrow_mut())),
            Self::Node(node, 0) => sum(&mut node.grad.borrow_mut()),
            Self::Node(node, output) => {
                let output = *output as usize;
                let mut grads = node.other_grads.borrow_mut();
                if grads.len() < output {
                    grads.resize(output, None);
                }
                if let Some(place) = output.checked_sub(1).and_then(|i| grads.get_mut(i)) {
                    sum(place);
                }
            }
        }
    }
}

/// Tells each reachable target how many gradients it awaits.
fn count_edges(root: &GradSource) {
    let mut open = vec![root];
    while let Some(target) = open.pop() {
        let GradSource::Node(node, _) = target else { continue };
        for edge in node.next.iter().flatten() {
            let awaited = edge.target.awaited();
            if awaited.get() == 0
                && let GradSource::Node(..) = &edge.target
            {
                open.push(&edge.target);
            }
            awaited.set(awaited.get().saturating_add(1));
        }
    }
}

/// A gradient takes the shape and dtype of the input it belongs to (`validate_outputs` in torch/csrc/autograd/engine.cpp).
fn validate(tape: &Rc<Tape>, mut grad: Tensor, edge: &Edge) -> Tensor {
    let label = tape.label(tape.vocabulary.gradient, "");
    if grad.shape().elements() > edge.shape.elements() {
        let (rows, width) = (grad.shape().elements() / edge.shape.elements().max(1), edge.shape.elements());
        let sum = Tensor::new(tape, label, edge.shape, grad.element());
        if edge.shape.width() == grad.shape().width() {
            tape.row_sum(rows, width);
        }
        grad = sum;
    }
    if grad.element() != edge.element {
        grad = Tensor::new(tape, label, edge.shape, edge.element).with_head_major(grad.head_major());
    }
    grad
}

/// Two gradients of one tensor: into the first when no one else holds it, else into a new tensor.
fn add(tape: &Rc<Tape>, old: Tensor, new: Tensor) -> Tensor {
    if old.may_add_in_place() {
        return old;
    }
    let label = tape.label(tape.vocabulary.gradient, "");
    let sum = Tensor::new(tape, label, old.shape(), old.element()).with_head_major(old.head_major());
    drop(old);
    drop(new);
    sum
}

/// The gradient becomes the leaf's, or is added to the one it has (torch/csrc/autograd/functions/accumulate_grad.h).
fn accumulate_grad(leaf: &Rc<Leaf>, grad: Tensor) {
    let mut slot = leaf.grad.borrow_mut();
    let other = leaf.accumulates_in.get().filter(|element| *element != grad.element());
    if slot.is_some() {
        if let (Some(element), Some(label)) = (other, leaf.label) {
            grad.tape().moment(label, grad.shape(), element);
        }
        if leaf.kept_elements.get() == 0 {
            // Added, and the sum is taken away.
            drop(grad);
            drop(slot.take());
        }
        return;
    }
    let Some(label) = leaf.label else {
        *slot = Some(grad);
        return;
    };
    let kept = leaf.kept_elements.get();
    if kept < grad.shape().elements() {
        // The rank's share is written, then the whole gradient goes.
        *slot = (kept > 0).then(|| {
            let label = Label { kind: grad.tape().vocabulary.gradient_shard, ..label };
            let element = leaf.kept_element.get().unwrap_or(grad.element());
            Tensor::new(grad.tape(), label, dims(&[(Symbol::SHARE, kept)]), element)
        });
    } else if let Some(element) = other {
        *slot = Some(Tensor::new(grad.tape(), label, grad.shape(), element));
    } else if grad.is_sole_holder() {
        grad.relabel(label);
        *slot = Some(grad);
    } else {
        *slot = Some(Tensor::new(grad.tape(), label, grad.shape(), grad.element()));
    }
}
