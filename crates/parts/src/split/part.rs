//! A part: functions that are loaded the moment one of them is called. It shares memory, tables and globals with the first
//! module, takes from it only what it uses, and adds its functions to the shared table.

use std::collections::{BTreeMap, BTreeSet};

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{
    CodeSection, CustomSection, DataSection, ElementSection, EntityType, Function, FunctionSection, GlobalType,
    ImportSection, Instruction, Module, StartSection, TypeSection, ValType,
};
use wasmparser::{FunctionBody, Operator};

use super::layout::Layout;
use super::shared::Shared;
use super::{Split, first, stub};
use crate::assemble::{checked, fill, place as place_data};
use crate::failure::{Failure, Result};

/// Under this name a part finds the first module's exports.
const FIRST: &str = "first";

/// A global that a part takes from the first module.
#[derive(PartialEq)]
enum Taken {
    /// One that the module has itself.
    Own(u32),
    /// Whether a part is there.
    Loaded(u32),
}

/// The indices of a part, given out as its code asks for them.
struct Part<'p> {
    layout: &'p Layout,
    /// Functions of the part and its own stubs.
    here: BTreeMap<u32, u32>,
    signatures: &'p [u32],
    types: Vec<u32>,
    tables: Vec<u32>,
    memories: Vec<u32>,
    globals: Vec<Taken>,
    addressed: BTreeSet<u32>,
}

/// The place of `item` in `list`, where it is put if it is new.
fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> u32 {
    let at = list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    at as u32
}

impl Reencode for Part<'_> {
    type Error = Failure;

    fn type_index(&mut self, index: u32) -> std::result::Result<u32, Error<Failure>> {
        Ok(place(&mut self.types, index))
    }

    /// The shared table of slots comes first.
    fn table_index(&mut self, index: u32) -> std::result::Result<u32, Error<Failure>> {
        Ok(1 + place(&mut self.tables, index))
    }

    fn memory_index(&mut self, index: u32) -> std::result::Result<u32, Error<Failure>> {
        Ok(place(&mut self.memories, index))
    }

    fn global_index(&mut self, index: u32) -> std::result::Result<u32, Error<Failure>> {
        Ok(place(&mut self.globals, Taken::Own(index)))
    }
}

impl Part<'_> {
    fn slot(&self, function: u32) -> Result<Instruction<'static>> {
        let slot = self.layout.slots.get(&function);
        slot.map(|slot| Instruction::I32Const(slot.cast_signed())).ok_or_else(|| {
            Failure::new(format!("Function {function} is called from a part but has no slot: the split has an error."))
        })
    }

    fn code(&mut self, body: &FunctionBody<'_>) -> Result<Function> {
        let mut code = self.new_function_with_parsed_locals(body)?;
        for operator in body.get_operators_reader()? {
            match operator? {
                Operator::Call { function_index: function } => match self.here.get(&function) {
                    Some(index) => code.instruction(&Instruction::Call(*index)),
                    None => {
                        code.instruction(&self.slot(function)?);
                        let type_index = self.type_index(self.signatures[function as usize])?;
                        code.instruction(&Instruction::CallIndirect { type_index, table_index: 0 })
                    }
                },
                Operator::ReturnCall { function_index: function } => match self.here.get(&function) {
                    Some(index) => code.instruction(&Instruction::ReturnCall(*index)),
                    None => {
                        code.instruction(&self.slot(function)?);
                        let type_index = self.type_index(self.signatures[function as usize])?;
                        code.instruction(&Instruction::ReturnCallIndirect { type_index, table_index: 0 })
                    }
                },
                Operator::RefFunc { function_index: function } => match self.here.get(&function) {
                    Some(index) => {
                        self.addressed.insert(*index);
                        code.instruction(&Instruction::RefFunc(*index))
                    }
                    None => {
                        code.instruction(&self.slot(function)?);
                        code.instruction(&Instruction::TableGet(0))
                    }
                },
                other => code.instruction(&self.instruction(other)?),
            };
        }
        Ok(code)
    }
}

/// The code of a part as it is written, with the signature of each function.
#[derive(Default)]
struct Written {
    signatures: Vec<u32>,
    code: CodeSection,
}

impl Written {
    fn add(&mut self, signature: u32, code: &Function) {
        self.signatures.push(signature);
        self.code.function(code);
    }
}

/// Writes part `number`, and notes in `shared` what it takes.
pub(crate) fn write(split: &Split<'_, '_>, number: u32, shared: &mut Shared) -> Result<Vec<u8>> {
    let (module, layout) = (split.module, &split.layout);
    let functions = &split.assignment.functions[number as usize];
    // Functions of other parts for which nothing stands until those are loaded.
    let home = |function: &u32| split.assignment.home[*function as usize];
    let asked = functions.iter().filter_map(|f| split.references.of.get((*f - module.imported_functions) as usize));
    let away = |f: &u32| home(f) != number && home(f) != 0 && !layout.reachable.contains(f);
    let away: BTreeSet<u32> = asked.flatten().copied().filter(away).collect();
    let others: Vec<u32> = away.iter().map(home).collect::<BTreeSet<_>>().into_iter().collect();
    // Function 0 is the imported loader; behind the part's own functions come its stubs, what those call, and the start.
    let stubs = 1 + functions.len() as u32;
    let ensures = stubs + away.len() as u32;
    let start = ensures + others.len() as u32;
    let mut part = Part {
        layout,
        here: functions.iter().copied().zip(1..).chain(away.iter().copied().zip(stubs..)).collect(),
        signatures: &module.functions,
        types: Vec::new(),
        tables: Vec::new(),
        memories: Vec::new(),
        globals: Vec::new(),
        addressed: BTreeSet::new(),
    };
    let mut written = Written::default();
    for function in functions {
        let body = module.body(*function).ok_or_else(|| Failure::new("An imported function was put into a part."))?;
        let signature = part.type_index(module.functions[*function as usize])?;
        written.add(signature, &part.code(body)?);
    }
    for function in &away {
        let signature = part.type_index(module.functions[*function as usize])?;
        let ensure = others.iter().zip(ensures..).find(|(other, _)| **other == home(function)).map_or(0, |(_, at)| at);
        written.add(signature, &split.stub(*function, ensure, 0, signature)?.code());
    }
    let plain = part.type_index(split.plain())?;
    for other in &others {
        let flag = place(&mut part.globals, Taken::Loaded(*other));
        written.add(plain, &stub::ensure(flag, 0, *other));
    }
    let flag = place(&mut part.globals, Taken::Loaded(number));
    written.add(plain, &stub::arrived(flag));
    part.finish(split, written, start, number, shared)
}

impl Part<'_> {
    /// The part as a file: what it takes, its functions, and what it puts into the table.
    fn finish(
        mut self,
        split: &Split<'_, '_>,
        written: Written,
        start: u32,
        number: u32,
        shared: &mut Shared,
    ) -> Result<Vec<u8>> {
        let module = split.module;
        let data = split.data.as_ref().and_then(|data| data.get(number as usize)).map_or(&[][..], Vec::as_slice);
        if !data.is_empty() {
            self.memory_index(0)?;
        }
        let imports = self.imports(split, shared)?;
        let mut types = TypeSection::new();
        for index in self.types.clone() {
            let signature = module.types.get(index as usize).cloned();
            let signature = signature.unwrap_or_else(|| split.added_signature(index));
            types.ty().func_type(&self.func_type(signature)?);
        }
        let mut functions = FunctionSection::new();
        for signature in &written.signatures {
            functions.function(*signature);
        }
        let mut elements = ElementSection::new();
        for (offset, brought) in &split.layout.brought[number as usize] {
            let standing: Vec<u32> = brought.iter().filter_map(|function| self.here.get(function)).copied().collect();
            fill(&mut elements, 0, *offset, &standing);
        }
        if !self.addressed.is_empty() {
            let addressed: Vec<u32> = self.addressed.iter().copied().collect();
            elements.declared(wasm_encoder::Elements::Functions(addressed.into()));
        }
        let mut file = Module::new();
        file.section(&types).section(&imports).section(&functions).section(&StartSection { function_index: start });
        if !elements.is_empty() {
            file.section(&elements);
        }
        file.section(&written.code);
        if !data.is_empty() {
            let mut section = DataSection::new();
            place_data(&mut section, data);
            file.section(&section);
        }
        if split.names {
            let named = self.here.iter().map(|(function, index)| (*index, *function)).collect();
            let content = first::name_section(&module.names, named);
            file.section(&CustomSection { name: "name".into(), data: content.into() });
        }
        checked(file.finish())
    }

    /// What the part takes from the first module, which then has to export it.
    fn imports(&mut self, split: &Split<'_, '_>, shared: &mut Shared) -> Result<ImportSection> {
        let module = split.module;
        let load = self.type_index(split.loading())?;
        let mut imports = ImportSection::new();
        imports.import("parts", "load", EntityType::Function(load));
        imports.import(FIRST, &shared.slots, EntityType::Table(first::slots(&split.layout)));
        for table in self.tables.clone() {
            shared.tables.insert(table);
            imports.import(FIRST, &Shared::table(table), self.table_type(module.tables[table as usize])?);
        }
        for memory in self.memories.clone() {
            shared.memories.insert(memory);
            imports.import(FIRST, &Shared::memory(memory), self.memory_type(module.memories[memory as usize])?);
        }
        let flag = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        for global in std::mem::take(&mut self.globals) {
            match global {
                Taken::Own(global) => {
                    shared.globals.insert(global);
                    imports.import(FIRST, &Shared::global(global), self.global_type(module.globals[global as usize])?);
                }
                Taken::Loaded(part) => {
                    imports.import(FIRST, &Shared::loaded(part), flag);
                }
            }
        }
        Ok(imports)
    }
}
