//! How modules reach one another's functions: slots of one shared table, and stubs that load a part first.
//!
//! A function that another module calls has a slot. The first module's own are in the table from the start; a part puts its
//! functions there when it is instantiated. Until then a slot is empty, or holds the first module's stub where it has one
//! and other parts call the function too.

use std::collections::{BTreeMap, BTreeSet};

use super::assign::Assignment;
use super::references::References;
use crate::module::Module;

/// Slots and stubs.
pub(crate) struct Layout {
    /// Functions of parts for which the first module has a stub, in order.
    pub(crate) stubs: Vec<u32>,
    /// The slot of each function that has one.
    pub(crate) slots: BTreeMap<u32, u32>,
    /// What the first module puts into the table: offset and functions.
    pub(crate) filled: Vec<(u32, Vec<u32>)>,
    /// Functions whose slot holds something from the start.
    pub(crate) reachable: BTreeSet<u32>,
    /// What each part puts into the table: offset and functions.
    pub(crate) brought: Vec<Vec<(u32, Vec<u32>)>>,
}

impl Layout {
    pub(crate) fn of(module: &Module<'_>, references: &References, assignment: &Assignment) -> Self {
        let home = |function: &u32| assignment.home[*function as usize];
        let mut from_first: BTreeSet<u32> = references.outside.iter().copied().filter(|f| home(f) > 0).collect();
        let mut from_parts = BTreeSet::new();
        for ((caller, _), asked) in module.defined().zip(&references.of) {
            let here = home(&caller);
            let abroad = asked.iter().copied().filter(|function| home(function) != here);
            if here == 0 { from_first.extend(abroad) } else { from_parts.extend(abroad) }
        }
        let reachable: BTreeSet<u32> =
            from_parts.iter().copied().filter(|f| home(f) == 0 || from_first.contains(f)).collect();
        // By module, and there those first that hold something from the start: so each fills one stretch of the table.
        let mut order: Vec<u32> = from_first.union(&from_parts).copied().collect();
        order.sort_by_key(|function| (home(function), !reachable.contains(function), *function));
        let slots: BTreeMap<u32, u32> = order.iter().copied().zip(0..).collect();
        let stretches = |chosen: &dyn Fn(&u32) -> bool| {
            let mut stretches: Vec<(u32, Vec<u32>)> = Vec::new();
            for (function, slot) in order.iter().zip(0..).filter(|(function, _)| chosen(function)) {
                match stretches.last_mut() {
                    Some((offset, functions)) if *offset + functions.len() as u32 == slot => functions.push(*function),
                    _ => stretches.push((slot, vec![*function])),
                }
            }
            stretches
        };
        let parts = assignment.functions.len() as u32;
        Self {
            filled: stretches(&|function| reachable.contains(function)),
            brought: (0..parts).map(|part| stretches(&|function| part > 0 && home(function) == part)).collect(),
            stubs: from_first.into_iter().collect(),
            slots,
            reachable,
        }
    }
}
