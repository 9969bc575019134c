//! What functions hold but did not run, as functions of their own: then a split can put it into a part.
//!
//! A function that a first view calls is in the first module with all that it is ready for: other trainers, other optimizers,
//! other shapes of a list. So the module is instrumented by stretches, runs of instructions that run together or not at all, and
//! what did not run is cut out where that saves more than a call costs.

mod body;
mod live;
mod region;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use wasm_encoder::reencode::Reencode;
use wasm_encoder::{ExportKind, Function, Instruction};
use wasmparser::{FuncType, FunctionBody, Parser, ValidPayload, Validator};

use body::Body;
use region::Region;

use crate::assemble::{Additions, Rewrite, assemble};
use crate::failure::{Failure, Result};
use crate::module::Module;
use crate::names::{self, PIECE};

/// How the exported globals of an instrumented module begin; bit `b` of global `w` is stretch number `32 w + b`, counted through
/// all functions in order.
pub const RAN: &str = "parts:ran-";

/// The module with the marking of stretches.
pub fn mark(bytes: &[u8]) -> Result<Vec<u8>> {
    let module = Module::read(bytes)?;
    let mut firsts = Vec::new();
    let mut count = 0;
    for body in &module.bodies {
        firsts.push(count);
        count += body::count(body)? as u32;
    }
    let words = count.div_ceil(32);
    let first = module.globals.len() as u32;
    let mut additions = Additions { counters: words, ..Additions::default() };
    additions.exports.extend((0..words).map(|word| (format!("{RAN}{word}"), ExportKind::Global, first + word)));
    assemble(&module, &mut Marking { first, firsts, imported: module.imported_functions }, additions, &[])
}

struct Marking {
    first: u32,
    /// The number of the first stretch of each function.
    firsts: Vec<u32>,
    imported: u32,
}

impl Reencode for Marking {
    type Error = Failure;
}

impl Rewrite for Marking {
    fn keeps(&self, _: u32) -> bool {
        true
    }

    fn code(&mut self, function: u32, body: &FunctionBody<'_>) -> Result<Function> {
        let mut stretch = self.firsts[(function - self.imported) as usize];
        let mut code = self.new_function_with_parsed_locals(body)?;
        let instructions = body.get_operators_reader()?.into_iter().collect::<wasmparser::Result<Vec<_>>>()?;
        let begins = body::stretches(&instructions);
        for (instruction, begins) in instructions.into_iter().zip(begins) {
            if begins {
                let (global, bit) = (self.first + stretch / 32, (1_u32 << (stretch % 32)).cast_signed());
                for mark in [
                    Instruction::GlobalGet(global),
                    Instruction::I32Const(bit),
                    Instruction::I32Or,
                    Instruction::GlobalSet(global),
                ] {
                    code.instruction(&mark);
                }
                stretch += 1;
            }
            code.instruction(&self.instruction(instruction)?);
        }
        Ok(code)
    }
}

/// What an outline came to.
pub struct Outlined {
    /// The module with its pieces as functions behind all others.
    pub bytes: Vec<u8>,
    /// How many pieces there are, and how many bytes of code they have.
    pub pieces: usize,
    /// Bytes of code in pieces.
    pub moved: usize,
}

/// The module in which what did not run of those functions that did is cut out; `ran`: the stretches that did. A piece is cut out where
/// its function then has at least `worth` bytes less, about, or wherever that can be done. The module does the same as before,
/// whatever ran. Functions of the crates `kept` stay as they are.
pub fn outline(bytes: &[u8], ran: &BTreeSet<u32>, worth: Option<usize>, kept: &[&str]) -> Result<Outlined> {
    let module = Module::read(bytes)?;
    let mut types = Types { known: module.types.clone(), added: Vec::new() };
    let mut outlining = Outlining { bodies: BTreeMap::new() };
    let mut additions = Additions::default();
    let mut names = Vec::new();
    let mut moved = 0;
    let mut next = 0;
    let mut validator = Validator::new();
    let mut function = module.imported_functions;
    let mut allocations = Some(wasmparser::FuncValidatorAllocations::default());
    for payload in Parser::new(0).parse_all(bytes) {
        let ValidPayload::Func(validation, code) = validator.payload(&payload?)? else { continue };
        let (body, left) = Body::read(&code, validation, allocations.take().unwrap_or_default())?;
        allocations = Some(left);
        let begins = body::stretches(&body.instructions);
        let places: Vec<usize> = (0..begins.len()).filter(|at| begins[*at]).collect();
        let of: BTreeSet<usize> =
            places.iter().zip(next..).filter(|(_, stretch)| ran.contains(stretch)).map(|(at, _)| *at).collect();
        next += places.len() as u32;
        let is_kept =
            || kept.contains(&names::crate_of(&names::room(module.names.function(function).unwrap_or_default())));
        if of.contains(&0) && !is_kept() {
            let signature = module.signature(function)?.clone();
            let regions = region::regions(&module, &signature, &body, &begins, &of, worth);
            let mut pieces: Vec<(Region, u32)> = Vec::new();
            for region in regions {
                let number = (module.functions.len() + additions.functions.len()) as u32;
                let index = types.index(region.signature(&signature, &body));
                let code = write::piece(&region, &signature, &body)?;
                moved += (body.offsets[region.end] - body.offsets[region.start]) as usize;
                additions.functions.push((index, code));
                names.push((function, pieces.len()));
                pieces.push((region, number));
            }
            if !pieces.is_empty() {
                outlining.bodies.insert(function, write::rest(&signature, &body, &pieces)?);
            }
        }
        function += 1;
    }
    additions.types = types.added;
    let pieces = names.len();
    let section = name_section(&module, &names);
    let bytes = assemble(&module, &mut outlining, additions, &[("name", &section)])?;
    Ok(Outlined { bytes, pieces, moved })
}

/// The module's signatures, and those that pieces need besides.
struct Types {
    known: Vec<FuncType>,
    added: Vec<FuncType>,
}

impl Types {
    fn index(&mut self, wanted: FuncType) -> u32 {
        if let Some(at) = self.known.iter().chain(&self.added).position(|known| *known == wanted) {
            return at as u32;
        }
        self.added.push(wanted);
        (self.known.len() + self.added.len() - 1) as u32
    }
}

/// The names of all functions as the linker has them, those of pieces after their function's; and of data.
fn name_section(module: &Module<'_>, pieces: &[(u32, usize)]) -> Vec<u8> {
    let mut functions = wasm_encoder::NameMap::new();
    let count = module.functions.len() as u32;
    for function in 0..count {
        if let Some(name) = module.names.mangled(function) {
            functions.append(function, name);
        }
    }
    for ((function, number), at) in pieces.iter().zip(count..) {
        let name = module.names.mangled(*function).unwrap_or_default();
        functions.append(at, &format!("{name}{PIECE}{number}"));
    }
    let mut data = wasm_encoder::NameMap::new();
    for segment in 0..module.data.len() as u32 {
        if let Some(name) = module.names.data(segment) {
            data.append(segment, name);
        }
    }
    let mut section = wasm_encoder::NameSection::new();
    section.functions(&functions);
    section.data(&data);
    section.as_custom().data.into_owned()
}

struct Outlining {
    bodies: BTreeMap<u32, Function>,
}

impl Reencode for Outlining {
    type Error = Failure;
}

impl Rewrite for Outlining {
    fn keeps(&self, _: u32) -> bool {
        true
    }

    fn code(&mut self, function: u32, body: &FunctionBody<'_>) -> Result<Function> {
        if let Some(code) = self.bodies.remove(&function) {
            return Ok(code);
        }
        let mut code = self.new_function_with_parsed_locals(body)?;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            code.instruction(&self.parse_instruction(&mut reader)?);
        }
        Ok(code)
    }
}
