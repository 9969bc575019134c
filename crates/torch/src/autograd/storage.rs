//! How storages are taken and freed, and those that stand for others: what one iteration in the middle of a loop leaves alive, every iteration like it
//! leaves. So a loop over thousands of tokens runs a handful of times, and each storage of the middle that lives on is taken as
//! often as there are such iterations, and freed with all of them.

use super::graph::{Storage, Tape};
use crate::tape::{Account, StorageId};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

impl Drop for Storage {
    fn drop(&mut self) {
        let account = self.account.get();
        self.tape.free(account, self.rounded, self.id);
        for (rounded, id) in self.others.take() {
            self.tape.free(account, rounded, id);
        }
    }
}

impl Storage {
    /// Takes `bytes`.
    pub(super) fn new(tape: &Rc<Tape>, account: Account, bytes: u64) -> Rc<Self> {
        let (rounded, id) = tape.allocate(account, bytes);
        let tape = Rc::clone(tape);
        let storage = Rc::new(Self { tape, account: Cell::new(account), rounded, id, others: RefCell::default() });
        storage.tape.watches.borrow_mut().iter_mut().for_each(|watch| watch.push(Rc::downgrade(&storage)));
        storage
    }

    /// Counts it in another row from here on.
    pub(super) fn relabel(&self, account: Account) {
        let from = self.account.replace(account);
        self.tape.relabel(from, account, self.rounded);
        self.others.borrow().iter().for_each(|(rounded, _)| self.tape.relabel(from, account, *rounded));
    }

    /// Takes it and what it stands for `more` times over.
    fn stand_for(&self, more: u64) {
        let mut others = self.others.borrow_mut();
        let all = || std::iter::once(self.rounded).chain(others.iter().map(|(rounded, _)| *rounded));
        let account = self.account.get();
        let new: Vec<(u64, StorageId)> = if self.tape.keeps_events() {
            let each: Vec<u64> = all().collect();
            (0..more).flat_map(|_| each.iter().map(|bytes| self.tape.allocate(account, *bytes))).collect()
        } else {
            vec![self.tape.allocate(account, all().sum::<u64>().saturating_mul(more))]
        };
        others.extend(new);
    }
}

/// The storages that were made while something ran.
#[derive(Debug)]
pub struct Watched(Vec<Weak<Storage>>);

impl Watched {
    /// Takes each that still lives `more` times over: so many others like what ran leave the same.
    pub fn stand_for(self, more: u64) {
        self.0.iter().filter_map(Weak::upgrade).for_each(|storage| storage.stand_for(more));
    }
}

impl Tape {
    /// Runs `work` and notes the storages that it makes.
    pub fn watch(&self, work: impl FnOnce()) -> Watched {
        self.watches.borrow_mut().push(Vec::new());
        work();
        Watched(self.watches.borrow_mut().pop().unwrap_or_default())
    }

    /// Whether what operators save may stand for more of its kind: not where each is moved elsewhere by itself.
    pub fn lets_stand_for(&self) -> bool {
        self.saved_tensor_hooks.borrow().as_ref().is_none_or(|hooks| !hooks.moves())
    }
}
