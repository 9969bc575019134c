//! Optimizers that update each weight while backward runs, and free its gradient.

use super::stepped::Stepped;
use super::{adafactor, low_rank};
use crate::job::Job;
use crate::memory::autograd::{Action, ElementType, GradHook, GradHookCall, Leaf, Tape, Tensor};
use crate::memory::parameter::Trainable;
use crate::plan::Optimizer;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The gradient that LOMO has not used yet.
type Waiting = Rc<RefCell<Option<(Stepped, Weak<Leaf>)>>>;

/// The updates of a backward.
#[derive(Debug)]
pub(in crate::memory) struct InBackward {
    tape: Rc<Tape>,
    optim: Optimizer,
    waiting: Waiting,
}

impl InBackward {
    /// Puts hooks on all that trains, where the job's optimizer works by them.
    pub(in crate::memory) fn hook(tape: &Rc<Tape>, job: &Job, trainable: &[Trainable]) -> Option<Self> {
        let optim = job.plan.optim;
        if !optim.steps_in_backward() {
            return None;
        }
        let waiting = Waiting::default();
        for (number, parameter) in trainable.iter().enumerate() {
            let Some(leaf) = parameter.leaf() else { continue };
            let one = Stepped::of(tape, job, parameter, number);
            let on_tape = Rc::clone(tape);
            let hook = if optim.is_layerwise() {
                GradHook::new(move |leaf, at| layer_wise(&on_tape, optim, &one, leaf, at))
            } else {
                let waiting = Rc::clone(&waiting);
                GradHook::new(move |leaf, at| match at {
                    GradHookCall::Computed => use_waiting(&on_tape, optim, &waiting),
                    GradHookCall::Accumulated => {
                        waiting.replace(Some((one.clone(), Rc::downgrade(leaf))));
                    }
                })
            };
            leaf.hook.replace(hook);
        }
        Some(Self { tape: Rc::clone(tape), optim, waiting })
    }

    /// The end of backward: LOMO's `fused_backward` uses the last gradient.
    pub(in crate::memory) fn end(&self) {
        use_waiting(&self.tape, self.optim, &self.waiting);
    }
}

/// trainer_optimizer.py `optimizer_hook`: an optimizer of its own steps, then the gradient is freed. Its first step makes its
/// state, while backward still holds what it needs for the layers before.
fn layer_wise(tape: &Rc<Tape>, optim: Optimizer, one: &Stepped, leaf: &Rc<Leaf>, at: GradHookCall) {
    if at == GradHookCall::Accumulated {
        within_backward(tape, || {
            let number = one.number.and_then(|number| u32::try_from(number).ok());
            tape.tell(Action::StateMade, number.unwrap_or(u32::MAX));
            low_rank::update(tape, optim, one, &mut low_rank::Held::default(), Some(leaf));
            drop(leaf.grad.take());
        });
    }
}

/// lomo_optim lomo.py and adalomo.py `fuse_update`: the hook of one gradient updates the weights whose gradients are there,
/// so the one before. Gradient and weight in fp32 (copies when they are not); AdaLomo's update between them.
fn use_waiting(tape: &Rc<Tape>, optim: Optimizer, waiting: &Waiting) {
    let Some((one, leaf)) = waiting.take() else { return };
    let Some(leaf) = leaf.upgrade() else { return };
    // It counts in the layer that runs: a layer that stands for many ends where the next begins.
    within_backward(tape, || {
        let converts = one.element != ElementType::F32;
        let copy = || converts.then(|| one.temporary(tape, one.shape, ElementType::F32));
        let gradient = copy();
        let own = leaf.grad.take().filter(|_| !converts);
        let mut update: Option<Tensor> = None;
        if optim == Optimizer::Adalomo {
            adafactor::scaled_update(tape, &one, one.shape, &mut update);
        }
        drop((copy(), update, gradient, own));
    });
}

/// Runs a part of the optimizer's step inside backward, whose phase it counts in.
fn within_backward(tape: &Rc<Tape>, run: impl FnOnce()) {
    let outside = tape.tag();
    run();
    tape.enter_layer(outside);
}
