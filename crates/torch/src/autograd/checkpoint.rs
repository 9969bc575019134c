//! `torch.utils.checkpoint` with `use_reentrant=False`, as transformers calls it for each layer.
//!
//! The graph of the first forward is the one that backward walks; what its operators would save is only counted. The
//! first operator that unpacks something runs the layer again, which fills all places, and stops when the last is filled
//! (`_checkpoint_hook`, `_recomputation_hook` and `_StopRecomputationError` in torch/utils/checkpoint.py).

use super::graph::{Packed, Saved, SavedTensorHooks, Tape, Tensor};
use super::offload::Argument;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// The function that a frame runs again.
type Run = Rc<dyn Fn(&Tensor) -> Tensor>;

/// One checkpointed call (`_CheckpointFrame`): its argument, and what running it again has saved.
struct Frame {
    input: Argument,
    run: Run,
    /// By place: what was saved there, while somebody will ask for it.
    places: RefCell<Vec<Place>>,
    handed: RefCell<Vec<Handed>>,
    recomputed: Cell<bool>,
}

/// What the first run has handed by name to a checkpoint within it, which ends with the call. transformers binds arguments by name into
/// the function that runs again (modeling_layers.py `GradientCheckpointingLayer`, `partial(forward, self, **kwargs)`). So they are kept
/// as long as the graph; the outer checkpoint makes arguments by place again.
#[derive(Debug)]
struct Handed {
    tensor: Option<Tensor>,
    /// The first place of the checkpoint within, and how many of its places are not closed.
    from: usize,
    open: usize,
}

#[derive(Debug)]
enum Place {
    /// An operator of the graph will unpack it.
    Awaited,
    Filled(Tensor),
    /// The operator is gone, or has unpacked it.
    Closed,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").field("places", &self.places.borrow().len()).finish_non_exhaustive()
    }
}

/// The call runs again: what its operators save fills the frame's places.
#[derive(Debug)]
struct Refill {
    frame: Rc<Frame>,
    filled: Cell<usize>,
    handed: Cell<usize>,
}

impl Frame {
    fn close(&self, place: usize) -> Option<Tensor> {
        let closed = match std::mem::replace(self.places.borrow_mut().get_mut(place)?, Place::Closed) {
            Place::Closed => return None,
            Place::Filled(tensor) => Some(tensor),
            Place::Awaited => None,
        };
        for handed in self.handed.borrow_mut().iter_mut().filter(|handed| handed.from <= place) {
            handed.open = handed.open.saturating_sub(1);
            if handed.open == 0 && self.recomputed.get() {
                drop(handed.tensor.take());
            }
        }
        closed
    }

    /// Runs the call again. Nothing is allocated any more once the last place is filled.
    fn recompute(self: &Rc<Self>, tape: &Rc<Tape>) {
        if self.recomputed.replace(true) {
            return;
        }
        let refill: Rc<dyn SavedTensorHooks> =
            Rc::new(Refill { frame: Rc::clone(self), filled: Cell::new(0), handed: Cell::new(0) });
        let outer = tape.set_saved_tensor_hooks(Some(refill));
        let grads = tape.set_grad_enabled(true);
        if let Some(input) = self.input.unpack(tape) {
            drop((self.run)(&input));
        }
        tape.set_grad_enabled(grads);
        tape.set_saved_tensor_hooks(outer);
        tape.mute(false);
    }
}

/// The first forward only counts what its operators save.
impl SavedTensorHooks for Frame {
    fn pack(self: Rc<Self>, _: &Tape, _: &Tensor) -> Option<Saved> {
        let place = {
            let mut places = self.places.borrow_mut();
            places.push(Place::Awaited);
            places.len() - 1
        };
        self.handed.borrow_mut().iter_mut().for_each(|handed| handed.open += 1);
        Some(Saved::Packed(Packed::new(self, place)))
    }

    fn unpack(self: Rc<Self>, tape: &Rc<Tape>, place: usize) -> Option<Tensor> {
        self.recompute(tape);
        self.close(place)
    }

    fn release(&self, place: usize) {
        self.close(place);
    }

    fn ran(&self) {
        self.input.ran();
    }

    fn hand(&self, tensor: Tensor) -> Tensor {
        let from = self.places.borrow().len();
        self.handed.borrow_mut().push(Handed { tensor: Some(tensor.detach()), from, open: 0 });
        tensor
    }
}

impl SavedTensorHooks for Refill {
    fn pack(self: Rc<Self>, tape: &Tape, tensor: &Tensor) -> Option<Saved> {
        let mut places = self.frame.places.borrow_mut();
        let filled = self.filled.replace(self.filled.get() + 1);
        if let Some(place @ Place::Awaited) = places.get_mut(filled) {
            *place = Place::Filled(tensor.detach());
        }
        if filled + 1 >= places.len() {
            tape.mute(true);
        }
        None
    }

    fn unpack(self: Rc<Self>, _: &Rc<Tape>, _: usize) -> Option<Tensor> {
        None
    }

    fn release(&self, _: usize) {}

    /// The checkpoint within runs again with what the first run bound.
    fn hand(&self, tensor: Tensor) -> Tensor {
        let place = self.handed.replace(self.handed.get() + 1);
        let first = self.frame.handed.borrow().get(place).and_then(|handed| handed.tensor.clone());
        match (first, tensor.source()) {
            (Some(first), Some(source)) => first.into_source(source.clone()),
            (Some(first), None) => first,
            (None, _) => tensor,
        }
    }
}

impl Tape {
    /// Hands `tensor` by name to a module within a checkpointed call that is a checkpoint, too; gives back what that module reads.
    pub fn hand(&self, tensor: Tensor) -> Tensor {
        let hooks = self.saved_tensor_hooks.borrow().clone();
        match hooks {
            Some(hooks) => hooks.hand(tensor),
            None => tensor,
        }
    }
}

/// Runs `layer` on `input`, keeping only `input`; backward runs it again.
pub fn checkpoint(tape: &Rc<Tape>, input: &Tensor, layer: Run) -> Tensor {
    let frame = Frame {
        input: Argument::save(tape, input),
        run: layer,
        places: RefCell::default(),
        handed: RefCell::default(),
        recomputed: Cell::new(false),
    };
    let frame = Rc::new(frame);
    let hooks: Rc<dyn SavedTensorHooks> = Rc::<Frame>::clone(&frame);
    let outer = tape.set_saved_tensor_hooks(Some(hooks));
    let output = (frame.run)(input);
    tape.set_saved_tensor_hooks(outer);
    output
}
