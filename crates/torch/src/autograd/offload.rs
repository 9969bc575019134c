//! Saved tensors in host memory: TRL's `OffloadActivations` (trl models/activation_offloading.py), after torchtune's.
//!
//! A tensor that an operator saves is copied to the host on a side stream, and lives on until a few more have been saved, so
//! that the copy has time. Backward asks for it anew on the side stream, and holds it until the operator after the one that
//! reads it has run. Parameters, tensors of less than 1,024 bytes and storages that wait to be copied anyway stay.
//!
//! On the host each takes a pinned block of the next power of two (ATen/core/CachingHostAllocator.h `allocate`), which is
//! kept for the next micro-batch.

use super::graph::{GradSource, Packed, Saved, SavedTensorHooks, Tape, Tensor};
use crate::label::Label;
use crate::shape::{ElementType, Shape};
use crate::stream::Stream;
use crate::tape::StorageId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;

/// Smallest tensor that is moved, bytes (`min_offload_size`).
const LEAST: u64 = 1024;

/// Saved tensors after which one that was copied is freed (`max_fwd_stash_size`).
const STASH: usize = 5;

/// What tells storages apart: number and dtype. Not the address: another storage may have that by then, or not, as the process
/// pleases, and the same plan would not give the same bytes every time.
type Key = (StorageId, ElementType);

/// Moves saved tensors to the host and back.
#[derive(Debug)]
pub struct Offload {
    /// Addresses of storages that stay, in order: those of parameters.
    parameters: Vec<usize>,
    /// What copies are counted as.
    label: Label,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    places: Vec<Place>,
    /// On their way to the host: number of the place, what is copied, and its storage's key.
    leaving: VecDeque<(usize, Tensor, Key)>,
    /// Storages that are known, and the place that knows them.
    known: FxHashMap<Key, usize>,
    /// Brought back for the operator that runs, and for the one before it.
    brought: Vec<Tensor>,
    before: Vec<Tensor>,
    /// Whether the operator that runs has brought something back, or found it on its way.
    moved: bool,
    /// Blocks in use on the host: how many, by their bytes.
    host: BTreeMap<u64, u64>,
    host_bytes: u64,
    /// The most of them that there were at once, and their bytes.
    most: (u64, Vec<(u64, u64)>),
}

#[derive(Debug)]
enum Place {
    /// Never moved.
    Stays(Tensor, Key),
    /// In host memory.
    Host(Shape, ElementType, bool, Key),
    Closed,
}

impl Offload {
    /// Offloads everything but `parameters`, given by their storages' addresses; copies count as `label`.
    pub fn new(mut parameters: Vec<usize>, label: Label) -> Rc<Self> {
        parameters.sort_unstable();
        Rc::new(Self { parameters, label, state: RefCell::default() })
    }

    /// Forgets what lives only for copies to end, as the context manager does when the step is over, and notes on `tape`
    /// what the host had to hold.
    pub fn finish(&self, tape: &Tape) {
        let most = {
            let mut state = self.state.borrow_mut();
            state.note_most();
            std::mem::take(&mut state.most.1)
        };
        let bytes = |blocks: &[(u64, u64)]| {
            blocks.iter().fold(0_u64, |sum, (size, count)| sum.saturating_add(size.saturating_mul(*count)))
        };
        let mut noted = tape.host_blocks.borrow_mut();
        if bytes(&most) > bytes(&noted) {
            *noted = most;
        }
        drop(noted);
        let (leaving, brought, before) = {
            let mut state = self.state.borrow_mut();
            (std::mem::take(&mut state.leaving), std::mem::take(&mut state.brought), std::mem::take(&mut state.before))
        };
        drop((leaving, brought, before));
    }
}

impl State {
    /// A tensor of `bytes` comes to the host.
    fn hold(&mut self, bytes: u64) {
        let block = bytes.next_power_of_two();
        *self.host.entry(block).or_default() += 1;
        self.host_bytes = self.host_bytes.saturating_add(block);
    }

    /// A tensor of `bytes` has left the host.
    fn give_back(&mut self, bytes: u64) {
        let block = bytes.next_power_of_two();
        self.note_most();
        if let Some(count) = self.host.get_mut(&block) {
            *count = count.saturating_sub(1);
        }
        self.host_bytes = self.host_bytes.saturating_sub(block);
    }

    fn note_most(&mut self) {
        if self.host_bytes > self.most.0 {
            let blocks = self.host.iter().rev().map(|(size, count)| (*size, *count));
            self.most = (self.host_bytes, blocks.filter(|(_, count)| *count > 0).collect());
        }
    }

    fn forget(&mut self, key: Key, place: usize) {
        if self.known.get(&key) == Some(&place) {
            self.known.remove(&key);
        }
    }
}

/// Whether a tensor's elements follow each other in memory: heads as dimensions of their own lie head by head.
fn is_contiguous(tensor: &Tensor) -> bool {
    tensor.shape().sizes().len() < 4 || tensor.head_major()
}

/// By name alone: required of those who implement it, it would bring all that tapes hold into programs that never ask.
impl fmt::Debug for dyn SavedTensorHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SavedTensorHooks")
    }
}

impl SavedTensorHooks for Offload {
    fn pack(self: Rc<Self>, tape: &Tape, tensor: &Tensor) -> Option<Saved> {
        let key = (tensor.storage_id(), tensor.element());
        let bytes = tensor.shape().bytes(tensor.element());
        let (place, known) = {
            let state = self.state.borrow();
            (state.places.len(), state.known.contains_key(&key))
        };
        let stays = known || bytes < LEAST || self.parameters.binary_search(&tensor.storage_address()).is_ok();
        if stays {
            let mut state = self.state.borrow_mut();
            state.places.push(Place::Stays(tensor.detach(), key));
            if known {
                state.known.insert(key, place);
            }
        } else {
            let copied = if is_contiguous(tensor) {
                tensor.detach()
            } else {
                Tensor::new(tensor.tape(), self.label, tensor.shape(), tensor.element())
            };
            let mut freed = Vec::new();
            let mut state = self.state.borrow_mut();
            while state.leaving.front().is_some_and(|(other, ..)| other + STASH <= place) {
                if let Some((other, tensor, key)) = state.leaving.pop_front() {
                    state.forget(key, other);
                    freed.push(tensor);
                }
            }
            state.leaving.push_back((place, copied, key));
            state.known.insert(key, place);
            state.hold(bytes);
            state.places.push(Place::Host(tensor.shape(), tensor.element(), tensor.head_major(), key));
            drop(state);
            drop(freed);
        }
        let _ = tape;
        Some(Saved::Packed(Packed::new(self, place)))
    }

    fn moves(&self) -> bool {
        true
    }

    fn unpack(self: Rc<Self>, tape: &Rc<Tape>, place: usize) -> Option<Tensor> {
        let taken = std::mem::replace(self.state.borrow_mut().places.get_mut(place)?, Place::Closed);
        match taken {
            Place::Closed => None,
            Place::Stays(tensor, key) => {
                self.state.borrow_mut().forget(key, place);
                Some(tensor)
            }
            Place::Host(shape, element, head_major, key) => {
                let mut state = self.state.borrow_mut();
                state.forget(key, place);
                state.moved = true;
                state.give_back(shape.bytes(element));
                let leaving =
                    state.leaving.iter().find(|(other, ..)| *other == place).map(|(_, tensor, _)| tensor.clone());
                drop(state);
                let back = match leaving {
                    Some(tensor) => tensor,
                    None => {
                        let back = tape.on(Stream::side(1), || Tensor::new(tape, self.label, shape, element));
                        let back = back.with_head_major(head_major);
                        self.state.borrow_mut().brought.push(back.clone());
                        back
                    }
                };
                Some(back)
            }
        }
    }

    fn release(&self, place: usize) {
        let taken = self.state.borrow_mut().places.get_mut(place).map(|kept| std::mem::replace(kept, Place::Closed));
        let mut state = self.state.borrow_mut();
        if let Some(Place::Host(shape, element, ..)) = &taken {
            state.give_back(shape.bytes(*element));
        }
        if let Some(Place::Stays(_, key) | Place::Host(.., key)) = &taken {
            state.forget(*key, place);
        }
        drop(state);
    }

    fn ran(&self) {
        let mut state = self.state.borrow_mut();
        if !std::mem::take(&mut state.moved) {
            return;
        }
        let leaving = std::mem::take(&mut state.leaving);
        state.known.clear();
        let before = std::mem::take(&mut state.before);
        // What something else reads too is left to that (`record_stream`).
        let (mine, shared): (Vec<Tensor>, Vec<Tensor>) =
            std::mem::take(&mut state.brought).into_iter().partition(Tensor::is_sole_holder);
        state.before = mine;
        drop(state);
        drop((shared, leaving, before));
    }
}

/// An argument that a checkpoint keeps: saved as other hooks say, and its place in the graph.
#[derive(Debug)]
pub(super) struct Argument {
    saved: Option<Saved>,
    source: Option<GradSource>,
}

impl Argument {
    /// Saves `input` as the hooks that hold outside the checkpoint say.
    pub(super) fn save(tape: &Tape, input: &Tensor) -> Self {
        Self { saved: Saved::new(tape, input), source: input.source().cloned() }
    }

    /// The argument again.
    pub(super) fn unpack(&self, tape: &Rc<Tape>) -> Option<Tensor> {
        let tensor = self.saved.as_ref()?.unpack(tape)?;
        Some(match &self.source {
            Some(source) => tensor.into_source(source.clone()),
            None => tensor,
        })
    }

    /// The operator that asked for the argument has run.
    pub(super) fn ran(&self) {
        if let Some(saved) = &self.saved {
            saved.ran();
        }
    }
}
