//! A function's code as a list of instructions, with what an outline has to know of each.

use wasmparser::{
    BlockType, FuncToValidate, FuncValidatorAllocations, FunctionBody, Operator, ValType, ValidatorResources,
};

use crate::failure::Result;
use crate::module::Module;

/// The construct that is the function itself: its end is the last instruction.
pub(crate) const FUNCTION: usize = usize::MAX;

/// A function's code, read once.
pub(crate) struct Body<'a> {
    pub(crate) instructions: Vec<Operator<'a>>,
    /// Where each instruction begins, in bytes of the file.
    pub(crate) offsets: Vec<u64>,
    /// The instruction that opens the innermost construct around each instruction; those that open or close one stand in it.
    pub(crate) within: Vec<usize>,
    /// By the instruction that opens a construct: its end, and its `else` where it has one.
    pub(crate) ends: Vec<usize>,
    pub(crate) elses: Vec<Option<usize>>,
    /// Whether nothing lies on the stack of the construct before the instruction, and code comes by there.
    pub(crate) is_clear: Vec<bool>,
    /// Whether no code comes by there, whatever happens.
    pub(crate) is_dead: Vec<bool>,
    pub(crate) locals: Vec<ValType>,
}

/// Whether a stretch of instructions that run one after the other begins behind `before`.
fn ends_a_stretch(before: &Operator<'_>) -> bool {
    matches!(
        before,
        Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::End
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. }
            | Operator::Return
            | Operator::Unreachable
    )
}

/// Which instructions of a function begin a stretch: if one of it runs, so do all, unless one of them traps.
pub(crate) fn stretches<'a>(instructions: impl IntoIterator<Item = &'a Operator<'a>>) -> Vec<bool> {
    let mut begins = true;
    let mut all = Vec::new();
    for instruction in instructions {
        all.push(begins);
        begins = ends_a_stretch(instruction);
    }
    all
}

/// How many stretches a function has.
pub(crate) fn count(body: &FunctionBody<'_>) -> Result<usize> {
    let instructions = body.get_operators_reader()?.into_iter().collect::<wasmparser::Result<Vec<_>>>()?;
    Ok(stretches(&instructions).into_iter().filter(|begins| *begins).count())
}

impl<'a> Body<'a> {
    /// Reads a function; `validation` is what the validator of the module has given for it.
    pub(crate) fn read(
        body: &FunctionBody<'a>,
        validation: FuncToValidate<ValidatorResources>,
        allocations: FuncValidatorAllocations,
    ) -> Result<(Self, FuncValidatorAllocations)> {
        let mut validator = validation.into_validator(allocations);
        let mut reader = body.get_binary_reader();
        validator.read_locals(&mut reader)?;
        let mut read = Self {
            instructions: Vec::new(),
            offsets: Vec::new(),
            within: Vec::new(),
            ends: Vec::new(),
            elses: Vec::new(),
            is_clear: Vec::new(),
            is_dead: Vec::new(),
            locals: (0..validator.len_locals()).filter_map(|local| validator.get_local_type(local)).collect(),
        };
        let mut open = vec![FUNCTION];
        for instruction in body.get_operators_reader()?.into_iter_with_offsets() {
            let (instruction, offset) = instruction?;
            let at = read.instructions.len();
            let frame = validator.get_control_frame(0);
            let is_dead = frame.is_none_or(|frame| frame.unreachable);
            let is_empty = frame.is_some_and(|frame| frame.height == validator.operand_stack_height() as usize);
            read.is_dead.push(is_dead);
            read.is_clear.push(!is_dead && is_empty);
            validator.op(offset, &instruction)?;
            read.ends.push(at);
            read.elses.push(None);
            match instruction {
                Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => open.push(at),
                Operator::Else => {
                    if let Some(place) = open.last().and_then(|opener| read.elses.get_mut(*opener)) {
                        *place = Some(at);
                    }
                }
                _ => {}
            }
            read.within.push(open.last().copied().unwrap_or(FUNCTION));
            if matches!(instruction, Operator::End)
                && let Some(place) = open.pop().and_then(|opener| read.ends.get_mut(opener))
            {
                *place = at;
            }
            read.offsets.push(offset);
            read.instructions.push(instruction);
        }
        Ok((read, validator.into_allocations()))
    }

    /// The construct in whose sequence an instruction stands: where it opens one itself, the one around that.
    pub(crate) fn sequence_of(&self, at: usize) -> usize {
        let within = self.within[at];
        if within == at { self.around(at) } else { within }
    }

    /// The construct around `construct`.
    pub(crate) fn around(&self, construct: usize) -> usize {
        let mut depth = 0_usize;
        for at in (0..construct).rev() {
            match self.instructions[at] {
                Operator::End => depth += 1,
                Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                    if depth == 0 {
                        return at;
                    }
                    depth -= 1;
                }
                _ => {}
            }
        }
        FUNCTION
    }

    /// How many values the end of a construct gives, the function apart.
    pub(crate) fn gives(&self, module: &Module<'_>, construct: usize) -> usize {
        match self.instructions.get(construct) {
            Some(Operator::Block { blockty } | Operator::Loop { blockty } | Operator::If { blockty }) => {
                match blockty {
                    BlockType::Empty => 0,
                    BlockType::Type(_) => 1,
                    BlockType::FuncType(index) => module.types[*index as usize].results().len(),
                }
            }
            _ => 0,
        }
    }
}
