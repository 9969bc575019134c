//! The few functions that a split adds.

use wasm_encoder::{BlockType, Function, Instruction};

/// Loads a part unless that has been done: `flag` is the global that the part sets, `load` the imported function.
pub(crate) fn ensure(flag: u32, load: u32, part: u32) -> Function {
    let mut code = Function::new([]);
    for instruction in [
        Instruction::GlobalGet(flag),
        Instruction::I32Eqz,
        Instruction::If(BlockType::Empty),
        Instruction::I32Const(part.cast_signed()),
        Instruction::Call(load),
        Instruction::End,
        Instruction::End,
    ] {
        code.instruction(&instruction);
    }
    code
}

/// Stands for a function of a part: has the part loaded by the function `ensure` and hands all parameters on.
pub(crate) struct Stub {
    pub(crate) parameters: usize,
    pub(crate) ensure: u32,
    pub(crate) table: u32,
    pub(crate) slot: u32,
    pub(crate) signature: u32,
    /// Whether it leaves the stack before the function runs.
    pub(crate) tail_call: bool,
}

impl Stub {
    pub(crate) fn code(&self) -> Function {
        let mut code = Function::new([]);
        code.instruction(&Instruction::Call(self.ensure));
        for parameter in 0..self.parameters as u32 {
            code.instruction(&Instruction::LocalGet(parameter));
        }
        code.instruction(&Instruction::I32Const(self.slot.cast_signed()));
        let (type_index, table_index) = (self.signature, self.table);
        code.instruction(&if self.tail_call {
            Instruction::ReturnCallIndirect { type_index, table_index }
        } else {
            Instruction::CallIndirect { type_index, table_index }
        });
        code.instruction(&Instruction::End);
        code
    }
}

/// Says that a part is there: its start function.
pub(crate) fn arrived(flag: u32) -> Function {
    let mut code = Function::new([]);
    for instruction in [Instruction::I32Const(1), Instruction::GlobalSet(flag), Instruction::End] {
        code.instruction(&instruction);
    }
    code
}
