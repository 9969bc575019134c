//! A function without its pieces, and each piece as a function.
//!
//! A piece takes the locals that it reads, and gives back which way it was left, what the function returns there, and the
//! locals that are read behind it. Where it was left by a branch or a return, its caller does that.

use std::borrow::Cow;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{BlockType, Function, Instruction, ValType};
use wasmparser::{FuncType, Operator};

use super::body::{Body, FUNCTION};
use super::region::{Exit, Region};
use crate::failure::{Failure, Result};

/// The instruction as it is written in the same module.
fn same<'a>(instruction: &Operator<'a>) -> Result<Instruction<'a>> {
    RoundtripReencoder.instruction(instruction.clone()).map_err(|error| {
        Failure::new(format!("An instruction cannot be written again ({error}): it is none that this tool knows."))
    })
}

fn encoded(ty: wasmparser::ValType) -> Result<ValType> {
    RoundtripReencoder.val_type(ty).map_err(|error| Failure::new(format!("A type cannot be written again ({error}).")))
}

impl Region {
    /// Whether a caller has to be told which way it was left.
    fn tells(&self) -> bool {
        self.exits.len() > 1
    }

    /// What the function returns there, if it does.
    fn returned(&self, signature: &FuncType) -> Option<wasmparser::ValType> {
        signature.results().first().copied().filter(|_| self.exits.contains(&Exit::Return))
    }

    /// The piece's own signature.
    pub(crate) fn signature(&self, signature: &FuncType, body: &Body<'_>) -> FuncType {
        let ty = |local: &u32| body.locals[*local as usize];
        let told = self.tells().then_some(wasmparser::ValType::I32);
        let given = self.given.iter().map(ty);
        FuncType::new(self.taken.iter().map(ty), told.into_iter().chain(self.returned(signature)).chain(given))
    }
}

/// A piece while it is written.
struct Piece<'r, 'b, 'a> {
    region: &'r Region,
    body: &'b Body<'a>,
    /// The construct that the piece ends with.
    construct: usize,
    code: Function,
    /// How many constructs of the piece are open.
    depth: u32,
    /// Where the value that the function returns is kept.
    returned: Option<u32>,
    /// Where the way out is kept.
    told: Option<u32>,
}

/// The piece as a function.
pub(crate) fn piece(region: &Region, signature: &FuncType, body: &Body<'_>) -> Result<Function> {
    let mut types: Vec<wasmparser::ValType> = region.own.iter().map(|local| body.locals[*local as usize]).collect();
    let mut next = (region.taken.len() + types.len()) as u32;
    let mut another = |ty| {
        types.push(ty);
        next += 1;
        next - 1
    };
    let returned = region.returned(signature).map(&mut another);
    let told = region.tells().then(|| another(wasmparser::ValType::I32));
    let types = types.into_iter().map(encoded).collect::<Result<Vec<_>>>()?;
    let construct = body.sequence_of(region.start);
    let code = Function::new_with_locals_types(types);
    let mut piece = Piece { region, body, construct, code, depth: 0, returned, told };
    piece.write()?;
    Ok(piece.code)
}

impl Piece<'_, '_, '_> {
    fn put(&mut self, instruction: &Instruction<'_>) {
        self.code.instruction(instruction);
    }

    fn local(&self, local: u32) -> u32 {
        let taken = self.region.taken.iter().position(|other| *other == local);
        let own = || self.region.own.iter().position(|other| *other == local).map(|at| at + self.region.taken.len());
        taken.or_else(own).unwrap_or_default() as u32
    }

    /// The label of a way out, seen from where code is written.
    fn label(&self, exit: Exit) -> u32 {
        let at = self.region.exits.iter().position(|other| *other == exit).unwrap_or_default();
        self.depth + at as u32
    }

    /// Where a branch leads: within the piece, or to a way out.
    fn target(&self, relative: u32) -> u32 {
        let Some(out) = relative.checked_sub(self.depth) else { return relative };
        let construct = (0..out).fold(self.construct, |inner, _| self.body.around(inner));
        self.label(if construct == FUNCTION { Exit::Return } else { Exit::Label(construct) })
    }

    fn leads_out_of_the_function(&self, relative: u32) -> bool {
        relative
            .checked_sub(self.depth)
            .is_some_and(|out| (0..out).fold(self.construct, |inner, _| self.body.around(inner)) == FUNCTION)
    }

    fn leave(&mut self, exit: Exit) {
        if exit == Exit::Return
            && let Some(returned) = self.returned
        {
            self.put(&Instruction::LocalSet(returned));
        }
        let label = self.label(exit);
        self.put(&Instruction::Br(label));
    }

    fn write(&mut self) -> Result<()> {
        let ways = self.region.exits.len() as u32;
        // One block for each way out, and one around them from where all is given back.
        for _ in 0..ways + u32::from(self.told.is_some()) {
            self.put(&Instruction::Block(BlockType::Empty));
        }
        for at in self.region.start..self.region.end {
            self.one(&self.body.instructions[at])?;
        }
        if !self.body.is_dead[self.region.end] {
            self.leave(if self.construct == FUNCTION { Exit::Return } else { Exit::Fall });
        }
        if ways == 0 {
            self.put(&Instruction::Unreachable);
        }
        for way in 0..ways {
            self.put(&Instruction::End);
            if let Some(told) = self.told {
                self.put(&Instruction::I32Const(way.cast_signed()));
                self.put(&Instruction::LocalSet(told));
                self.put(&Instruction::Br(ways - 1 - way));
            }
        }
        if let Some(told) = self.told {
            self.put(&Instruction::End);
            self.put(&Instruction::LocalGet(told));
        }
        if let Some(returned) = self.returned {
            self.put(&Instruction::LocalGet(returned));
        }
        for local in &self.region.given {
            let local = self.local(*local);
            self.put(&Instruction::LocalGet(local));
        }
        self.put(&Instruction::End);
        Ok(())
    }

    fn one(&mut self, instruction: &Operator<'_>) -> Result<()> {
        match instruction {
            Operator::LocalGet { local_index } => self.put(&Instruction::LocalGet(self.local(*local_index))),
            Operator::LocalSet { local_index } => self.put(&Instruction::LocalSet(self.local(*local_index))),
            Operator::LocalTee { local_index } => self.put(&Instruction::LocalTee(self.local(*local_index))),
            Operator::Return => self.leave(Exit::Return),
            Operator::Br { relative_depth } if self.leads_out_of_the_function(*relative_depth) => {
                self.leave(Exit::Return);
            }
            Operator::Br { relative_depth } => self.put(&Instruction::Br(self.target(*relative_depth))),
            Operator::BrIf { relative_depth } => self.put(&Instruction::BrIf(self.target(*relative_depth))),
            Operator::BrTable { targets } => {
                let listed = targets.targets().map(|target| Ok(self.target(target?))).collect::<Result<Vec<_>>>()?;
                let default = self.target(targets.default());
                self.put(&Instruction::BrTable(Cow::Owned(listed), default));
            }
            other => {
                match other {
                    Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => self.depth += 1,
                    Operator::End => self.depth -= 1,
                    _ => {}
                }
                self.put(&same(other)?);
            }
        }
        Ok(())
    }
}

/// The function, with a call in place of each piece; `pieces` have the numbers under which they are called.
pub(crate) fn rest(signature: &FuncType, body: &Body<'_>, pieces: &[(Region, u32)]) -> Result<Function> {
    let parameters = signature.params().len();
    let mut types = body.locals.iter().skip(parameters).map(|ty| encoded(*ty)).collect::<Result<Vec<_>>>()?;
    let returned = pieces.iter().find_map(|(region, _)| region.returned(signature));
    let kept = returned.map(|ty| encoded(ty).map(|ty| types.push(ty))).transpose()?.map(|()| body.locals.len() as u32);
    let mut code = Function::new_with_locals_types(types);
    let mut next = pieces.iter().peekable();
    let mut at = 0;
    while at < body.instructions.len() {
        if let Some((region, number)) = next.next_if(|(region, _)| region.start == at) {
            call(&mut code, signature, body, region, *number, kept);
            at = region.end;
            continue;
        }
        code.instruction(&same(&body.instructions[at])?);
        at += 1;
    }
    Ok(code)
}

/// A call of a piece, and what follows from the way in which it was left.
fn call(code: &mut Function, signature: &FuncType, body: &Body<'_>, region: &Region, number: u32, kept: Option<u32>) {
    let construct = body.sequence_of(region.start);
    let returned = region.returned(signature).and(kept);
    // With more than two ways out there are blocks around the call, behind which the piece falls out, and returns.
    let is_table = region.exits.len() > 2;
    let falls = is_table && region.exits.contains(&Exit::Fall);
    let returns = is_table && region.exits.contains(&Exit::Return);
    let blocks = u32::from(falls) + u32::from(returns);
    for _ in 0..blocks {
        code.instruction(&Instruction::Block(BlockType::Empty));
    }
    for local in &region.taken {
        code.instruction(&Instruction::LocalGet(*local));
    }
    code.instruction(&Instruction::Call(number));
    for local in region.given.iter().rev() {
        code.instruction(&Instruction::LocalSet(*local));
    }
    if let Some(returned) = returned {
        code.instruction(&Instruction::LocalSet(returned));
    }
    let depth = |label: usize| {
        let (mut depth, mut inner) = (0, construct);
        while inner != label && inner != FUNCTION {
            inner = body.around(inner);
            depth += 1;
        }
        depth
    };
    let leave = |code: &mut Function, exit: Exit, shift: u32| match exit {
        Exit::Fall => {}
        Exit::Label(label) => drop(code.instruction(&Instruction::Br(depth(label) + shift))),
        Exit::Return => {
            if let Some(returned) = returned {
                code.instruction(&Instruction::LocalGet(returned));
            }
            code.instruction(&Instruction::Return);
        }
    };
    match region.exits.as_slice() {
        [] => drop(code.instruction(&Instruction::Unreachable)),
        [one] => leave(code, *one, 0),
        [one, other] => {
            code.instruction(&Instruction::If(BlockType::Empty));
            leave(code, *other, 1);
            code.instruction(&Instruction::End);
            leave(code, *one, 0);
        }
        all => {
            let target = |exit: &Exit| match exit {
                Exit::Fall => u32::from(returns),
                Exit::Return => 0,
                Exit::Label(label) => depth(*label) + blocks,
            };
            let targets: Vec<u32> = all.iter().map(target).collect();
            let (default, listed) = targets.split_last().map_or((0, &[][..]), |(last, rest)| (*last, rest));
            code.instruction(&Instruction::BrTable(listed.into(), default));
            if returns {
                code.instruction(&Instruction::End);
                leave(code, Exit::Return, 0);
            }
            if falls {
                code.instruction(&Instruction::End);
            }
        }
    }
}
