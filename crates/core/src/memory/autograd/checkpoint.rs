//! `torch.utils.checkpoint` with `use_reentrant=False`, as transformers calls it for each layer.
//!
//! The graph of the first forward is the one that backward walks; what its operators would save is only counted. The
//! first operator that unpacks something runs the layer again, which fills all places, and stops when the last is filled
//! (`_checkpoint_hook`, `_recomputation_hook` and `_StopRecomputationError` in torch/utils/checkpoint.py).

use super::tape::Tape;
use super::tensor::Tensor;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// The function that a frame runs again.
type Run = Rc<dyn Fn(&Tensor) -> Tensor>;

/// One checkpointed call (`_CheckpointFrame`): its argument, and what running it again has saved.
pub(super) struct Frame {
    input: Tensor,
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

/// What becomes of tensors that operators save.
#[derive(Debug, Clone, Default)]
pub(super) enum Saving {
    /// The graph keeps them.
    #[default]
    Keep,
    /// First forward of a checkpointed call.
    Count(Rc<Frame>),
    /// The call runs again; the number of places filled so far.
    Fill(Rc<Frame>, usize),
}

/// A place in a frame, as the graph holds it.
#[derive(Debug)]
pub(super) struct Handle {
    frame: Rc<Frame>,
    place: usize,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.frame.close(self.place);
    }
}

/// A tensor that an operator saved.
#[derive(Debug)]
pub(super) enum Saved {
    Kept(Tensor),
    Handle(Handle),
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
        let outer = tape.set_saving(Saving::Fill(Rc::clone(self), 0));
        let grads = tape.set_grad_enabled(true);
        drop((self.run)(&self.input));
        tape.set_grad_enabled(grads);
        tape.set_saving(outer);
        tape.mute(false);
    }
}

impl Saved {
    /// Saves `tensor` for the graph.
    pub(super) fn new(tape: &Tape, tensor: &Tensor) -> Option<Self> {
        let mut saving = tape.saving.borrow_mut();
        match &mut *saving {
            Saving::Keep => Some(Self::Kept(tensor.detach())),
            Saving::Count(frame) => {
                let mut places = frame.places.borrow_mut();
                places.push(Place::Awaited);
                Some(Self::Handle(Handle { frame: Rc::clone(frame), place: places.len() - 1 }))
            }
            Saving::Fill(frame, filled) => {
                let mut places = frame.places.borrow_mut();
                if let Some(place @ Place::Awaited) = places.get_mut(*filled) {
                    *place = Place::Filled(tensor.detach());
                }
                *filled += 1;
                if *filled >= places.len() {
                    tape.mute(true);
                }
                None
            }
        }
    }

    /// What was saved; a checkpointed call runs again for it.
    pub(super) fn unpack(&self, tape: &Rc<Tape>) -> Option<Tensor> {
        match self {
            Self::Kept(tensor) => Some(tensor.clone()),
            Self::Handle(handle) => {
                handle.frame.recompute(tape);
                handle.frame.close(handle.place)
            }
        }
    }
}

/// Runs `layer` on `input`, keeping only `input`; backward runs it again.
pub(in crate::memory) fn checkpoint(tape: &Rc<Tape>, input: &Tensor, layer: Run) -> Tensor {
    let frame = Frame { input: input.clone(), run: layer, places: RefCell::default(), recomputed: Cell::new(false) };
    let frame = Rc::new(frame);
    let outer = tape.set_saving(Saving::Count(Rc::clone(&frame)));
    let output = (frame.run)(input);
    tape.set_saving(outer);
    output
}
