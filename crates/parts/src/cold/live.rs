//! Which locals are read again from a place on before they are written.

use wasmparser::Operator;

use super::body::{Body, FUNCTION};

/// A set of locals.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Locals(Vec<u64>);

impl Locals {
    fn none(of: usize) -> Self {
        Self(vec![0; of.div_ceil(64)])
    }

    fn add(&mut self, local: u32) {
        if let Some(word) = self.0.get_mut(local as usize / 64) {
            *word |= 1 << (local % 64);
        }
    }

    fn remove(&mut self, local: u32) {
        if let Some(word) = self.0.get_mut(local as usize / 64) {
            *word &= !(1 << (local % 64));
        }
    }

    pub(crate) fn has(&self, local: u32) -> bool {
        self.0.get(local as usize / 64).is_some_and(|word| word >> (local % 64) & 1 == 1)
    }

    /// Whether anything was added.
    fn take(&mut self, others: &Self) -> bool {
        let mut grew = false;
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            grew |= *other & !*word != 0;
            *word |= *other;
        }
        grew
    }
}

/// What is alive where.
pub(crate) struct Live {
    /// Before each instruction that begins a stretch.
    before: Vec<Option<Locals>>,
    /// By the instruction that opens a construct: behind its end, and for loops at their beginning.
    behind: Vec<Locals>,
    headers: Vec<Locals>,
    nothing: Locals,
}

impl Live {
    pub(crate) fn of(body: &Body<'_>, begins: &[bool]) -> Self {
        let nothing = Locals::none(body.locals.len());
        let count = body.instructions.len();
        let mut live = Self {
            before: vec![None; count],
            behind: vec![nothing.clone(); count],
            headers: vec![nothing.clone(); count],
            nothing,
        };
        while live.pass(body, begins) {}
        live
    }

    /// Before an instruction that begins a stretch.
    pub(crate) fn before(&self, at: usize) -> &Locals {
        self.before.get(at).and_then(Option::as_ref).unwrap_or(&self.nothing)
    }

    /// Behind the end of a construct.
    pub(crate) fn behind(&self, construct: usize) -> &Locals {
        self.behind.get(construct).unwrap_or(&self.nothing)
    }

    /// Where a branch to a construct leads.
    pub(crate) fn at_label(&self, body: &Body<'_>, construct: usize) -> &Locals {
        match body.instructions.get(construct) {
            Some(Operator::Loop { .. }) => &self.headers[construct],
            _ => self.behind(construct),
        }
    }

    /// Goes through the function backwards once. Whether more is alive at the beginning of a loop than was known.
    fn pass(&mut self, body: &Body<'_>, begins: &[bool]) -> bool {
        let mut grew = false;
        let mut live = self.nothing.clone();
        // What is open, from the outermost on, with what is alive at the beginning of its `else`.
        let mut open: Vec<(usize, Option<Locals>)> = Vec::new();
        for (at, instruction) in body.instructions.iter().enumerate().rev() {
            let label = |depth: u32, this: &Self| {
                let construct = open.len().checked_sub(1 + depth as usize).map_or(FUNCTION, |place| open[place].0);
                this.at_label(body, construct).clone()
            };
            match instruction {
                Operator::End => {
                    let construct = body.within[at];
                    if construct != FUNCTION {
                        self.behind[construct] = live.clone();
                    }
                    open.push((construct, None));
                }
                Operator::Else => {
                    if let Some((construct, arm)) = open.last_mut() {
                        *arm = Some(std::mem::replace(&mut live, self.behind[*construct].clone()));
                    }
                }
                Operator::If { .. } => {
                    let (construct, arm) = open.pop().unwrap_or((FUNCTION, None));
                    live.take(&arm.unwrap_or_else(|| self.behind(construct).clone()));
                }
                Operator::Block { .. } => drop(open.pop()),
                Operator::Loop { .. } => {
                    open.pop();
                    grew |= self.headers[at].take(&live);
                }
                Operator::Br { relative_depth } => live = label(*relative_depth, self),
                Operator::BrIf { relative_depth } => drop(live.take(&label(*relative_depth, self))),
                Operator::BrTable { targets } => {
                    live = label(targets.default(), self);
                    for target in targets.targets().flatten() {
                        live.take(&label(target, self));
                    }
                }
                Operator::Return
                | Operator::Unreachable
                | Operator::ReturnCall { .. }
                | Operator::ReturnCallIndirect { .. } => live = self.nothing.clone(),
                Operator::LocalGet { local_index } => live.add(*local_index),
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => live.remove(*local_index),
                _ => {}
            }
            if begins[at] {
                self.before[at] = Some(live.clone());
            }
        }
        grew
    }
}
