//! Which functions are called: every function notes it in a bit of its own.
//!
//! The bits stand in exported globals, 32 to each, so that nothing of the module's memory changes and JavaScript reads
//! them, and clears them, without a call.

use wasm_encoder::reencode::Reencode;
use wasm_encoder::{ExportKind, Function, Instruction};
use wasmparser::FunctionBody;

use crate::assemble::{Additions, Rewrite, assemble};
use crate::failure::{Failure, Result};
use crate::module::Module;

/// How the exported globals begin; bit `b` of global `w` is the module's function number `32 w + b`.
pub const CALLED: &str = "parts:called-";

/// The module with the marking.
pub fn instrument(bytes: &[u8]) -> Result<Vec<u8>> {
    let module = Module::read(bytes)?;
    let words = module.functions.len().div_ceil(32) as u32;
    let first = module.globals.len() as u32;
    let mut additions = Additions { counters: words, ..Additions::default() };
    additions.exports.extend((0..words).map(|word| (format!("{CALLED}{word}"), ExportKind::Global, first + word)));
    let custom: Vec<_> = module.custom.iter().filter(|(name, _)| *name == "name").copied().collect();
    assemble(&module, &mut Marking { first }, additions, &custom)
}

struct Marking {
    first: u32,
}

impl Reencode for Marking {
    type Error = Failure;
}

impl Rewrite for Marking {
    fn keeps(&self, _: u32) -> bool {
        true
    }

    fn code(&mut self, function: u32, body: &FunctionBody<'_>) -> Result<Function> {
        let (global, bit) = (self.first + function / 32, (1_u32 << (function % 32)).cast_signed());
        let mut code = self.new_function_with_parsed_locals(body)?;
        for instruction in [
            Instruction::GlobalGet(global),
            Instruction::I32Const(bit),
            Instruction::I32Or,
            Instruction::GlobalSet(global),
        ] {
            code.instruction(&instruction);
        }
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            code.instruction(&self.parse_instruction(&mut reader)?);
        }
        Ok(code)
    }
}
