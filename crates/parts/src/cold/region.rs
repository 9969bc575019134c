//! What of a function never ran, as pieces that can become functions of their own.
//!
//! A piece is the rest of a sequence of instructions, from the first that did not run to the end of the block, loop, arm or
//! function that it stands in: structured code comes to none of them otherwise.

use std::collections::BTreeSet;

use wasmparser::{FuncType, Operator};

use super::body::{Body, FUNCTION};
use super::live::Live;
use crate::module::Module;

/// How a piece is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// At its end.
    Fall,
    /// By a branch to a construct around it.
    Label(usize),
    /// The function returns.
    Return,
}

/// A piece.
pub(crate) struct Region {
    pub(crate) start: usize,
    /// The instruction behind it, which closes what it stands in.
    pub(crate) end: usize,
    /// The ways out; [`Exit::Fall`] first.
    pub(crate) exits: Vec<Exit>,
    /// Locals that it is given.
    pub(crate) taken: Vec<u32>,
    /// Locals that it gives back.
    pub(crate) given: Vec<u32>,
    /// Locals that it has besides.
    pub(crate) own: Vec<u32>,
}

impl Region {
    /// About what a call of it costs, in bytes.
    fn call(&self) -> usize {
        CALL + LOCAL * (self.taken.len() + self.given.len()) + WAY_OUT * self.exits.len()
    }
}

/// About what a call of a piece costs in its place, in bytes: loading its part, the slot, the call; for each local that is handed over;
/// for each way out.
const CALL: usize = 14;
const LOCAL: usize = 2;
const WAY_OUT: usize = 3;

/// The pieces of a function that save `worth` bytes at least where they are called, or all there are; `ran`: which stretches ran, by the
/// instruction that begins them.
pub(crate) fn regions(
    module: &Module<'_>,
    signature: &FuncType,
    body: &Body<'_>,
    begins: &[bool],
    ran: &BTreeSet<usize>,
    worth: Option<usize>,
) -> Vec<Region> {
    let mut live = None;
    let mut found: Vec<Region> = Vec::new();
    let mut behind = 0;
    for at in (0..body.instructions.len()).filter(|at| begins[*at]) {
        if at < behind || ran.contains(&at) || !body.is_clear[at] {
            continue;
        }
        if matches!(body.instructions[at], Operator::End | Operator::Else) {
            continue;
        }
        let construct = body.sequence_of(at);
        let end = end_of(body, construct, at);
        let size = (body.offsets[end] - body.offsets[at]) as usize;
        if worth.is_some_and(|worth| size < CALL + worth) {
            continue;
        }
        let live = live.get_or_insert_with(|| Live::of(body, begins));
        if let Some(region) = region(module, signature, body, live, construct, at..end)
            && worth.is_none_or(|worth| size >= region.call() + worth)
        {
            behind = end;
            found.push(region);
        }
    }
    found
}

/// The instruction that closes what `at` stands in.
fn end_of(body: &Body<'_>, construct: usize, at: usize) -> usize {
    if construct == FUNCTION {
        return body.instructions.len() - 1;
    }
    body.elses[construct].filter(|other| *other > at).unwrap_or(body.ends[construct])
}

fn region(
    module: &Module<'_>,
    signature: &FuncType,
    body: &Body<'_>,
    live: &Live,
    construct: usize,
    range: std::ops::Range<usize>,
) -> Option<Region> {
    let exits = exits(module, signature, body, construct, &range)?;
    let mut mentioned = BTreeSet::new();
    let mut written = BTreeSet::new();
    for instruction in &body.instructions[range.clone()] {
        match instruction {
            Operator::LocalGet { local_index } => drop(mentioned.insert(*local_index)),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                mentioned.insert(*local_index);
                written.insert(*local_index);
            }
            _ => {}
        }
    }
    let is_wanted = |local: &u32| {
        exits.iter().any(|exit| match exit {
            Exit::Fall => live.behind(construct).has(*local),
            Exit::Label(label) => live.at_label(body, *label).has(*local),
            Exit::Return => false,
        })
    };
    let given: Vec<u32> = written.iter().copied().filter(is_wanted).collect();
    let at_start = live.before(range.start);
    let (taken, own) = mentioned.into_iter().partition(|local| at_start.has(*local));
    Some(Region { start: range.start, end: range.end, exits, taken, given, own })
}

/// The ways out of a range of instructions; none where one of them cannot be taken from another function.
fn exits(
    module: &Module<'_>,
    signature: &FuncType,
    body: &Body<'_>,
    construct: usize,
    range: &std::ops::Range<usize>,
) -> Option<Vec<Exit>> {
    let results = signature.results().len();
    let mut exits = Vec::new();
    let mut add = |exit: Exit| {
        if !exits.contains(&exit) {
            exits.push(exit);
        }
    };
    let mut depth = 0_u32;
    for instruction in &body.instructions[range.clone()] {
        let mut leave = |relative: u32, depth: u32, always: bool| {
            let Some(out) = relative.checked_sub(depth) else { return true };
            let label = (0..out).fold(construct, |inner, _| body.around(inner));
            if label == FUNCTION {
                add(Exit::Return);
                return results == 0 || always;
            }
            add(Exit::Label(label));
            matches!(body.instructions[label], Operator::Loop { .. }) || body.gives(module, label) == 0
        };
        let can_leave = match instruction {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                depth += 1;
                true
            }
            Operator::End => {
                depth -= 1;
                true
            }
            Operator::Br { relative_depth } => leave(*relative_depth, depth, true),
            Operator::BrIf { relative_depth } => leave(*relative_depth, depth, false),
            Operator::BrTable { targets } => {
                targets.targets().flatten().all(|target| leave(target, depth, false))
                    && leave(targets.default(), depth, false)
            }
            Operator::Return => {
                add(Exit::Return);
                true
            }
            Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. } => false,
            _ => true,
        };
        if !can_leave {
            return None;
        }
    }
    if !body.is_dead[range.end] {
        if construct == FUNCTION {
            add(Exit::Return);
        } else {
            if body.gives(module, construct) > 0 {
                return None;
            }
            add(Exit::Fall);
        }
    }
    exits.sort_by_key(|exit| *exit != Exit::Fall);
    (results <= 1).then_some(exits)
}
