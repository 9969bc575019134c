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
    recomputed: Cell<bool>,
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
}

impl Frame {
    fn close(&self, place: usize) -> Option<Tensor> {
        match std::mem::replace(self.places.borrow_mut().get_mut(place)?, Place::Closed) {
            Place::Filled(tensor) => Some(tensor),
            Place::Awaited | Place::Closed => None,
        }
    }

    /// Runs the call again. Nothing is allocated any more once the last place is filled.
    fn recompute(self: &Rc<Self>, tape: &Rc<Tape>) {
        if self.recomputed.replace(true) {
            return;
        }
        let refill: Rc<dyn SavedTensorHooks> = Rc::new(Refill { frame: Rc::clone(self), filled: Cell::new(0) });
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
}

/// Runs `layer` on `input`, keeping only `input`; backward runs it again.
pub fn checkpoint(tape: &Rc<Tape>, input: &Tensor, layer: Run) -> Tensor {
    let frame = Frame {
        input: Argument::save(tape, input),
        run: layer,
        places: RefCell::default(),
        recomputed: Cell::new(false),
    };
    let frame = Rc::new(frame);
    let hooks: Rc<dyn SavedTensorHooks> = Rc::<Frame>::clone(&frame);
    let outer = tape.set_saved_tensor_hooks(Some(hooks));
    let output = (frame.run)(input);
    tape.set_saved_tensor_hooks(outer);
    output
}
