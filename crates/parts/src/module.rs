//! A wasm module, read once: what each section holds, with imports counted into every index space.

use std::ops::Range;

use wasmparser::{
    CompositeInnerType, Data, Element, Export, FuncType, FunctionBody, Global, GlobalType, Import, KnownCustom,
    MemoryType, Parser, Payload, Table, TableType, TypeRef,
};

use crate::failure::{Failure, Result};
use crate::names::Names;

/// A module's sections. Indices count imports first, as the module itself does.
#[derive(Default)]
pub struct Module<'a> {
    /// The signatures.
    pub types: Vec<FuncType>,
    /// Everything imported, in order.
    pub imports: Vec<Import<'a>>,
    /// The signature of each function.
    pub functions: Vec<u32>,
    /// How many of the functions are imported.
    pub imported_functions: u32,
    /// The type of each table.
    pub tables: Vec<TableType>,
    /// The tables defined here.
    pub own_tables: Vec<Table<'a>>,
    /// The type of each memory.
    pub memories: Vec<MemoryType>,
    /// How many of the memories are imported.
    pub imported_memories: u32,
    /// The type of each global.
    pub globals: Vec<GlobalType>,
    /// The globals defined here.
    pub own_globals: Vec<Global<'a>>,
    /// What the module offers.
    pub exports: Vec<Export<'a>>,
    /// The function that runs when the module is instantiated.
    pub start: Option<u32>,
    /// What tables are filled with.
    pub elements: Vec<Element<'a>>,
    /// The code of each function defined here.
    pub bodies: Vec<FunctionBody<'a>>,
    /// What memory is filled with.
    pub data: Vec<Data<'a>>,
    /// Whether the module says before its code how many data segments there are.
    pub counts_data: bool,
    /// What functions and data segments are called.
    pub names: Names,
    /// Name and content of each custom section.
    pub custom: Vec<(&'a str, &'a [u8])>,
    /// What each section that is not custom is called, and where it lies in the file, in bytes.
    pub sections: Vec<(&'static str, Range<u64>)>,
}

impl<'a> Module<'a> {
    /// Reads a module of WebAssembly as compilers write it today, without garbage collection and components.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload?;
            module.note_section(&payload);
            module.take(payload)?;
        }
        Ok(module)
    }

    /// The signature of `function`.
    pub fn signature(&self, function: u32) -> Result<&FuncType> {
        let signature = self.functions.get(function as usize).and_then(|index| self.types.get(*index as usize));
        signature.ok_or_else(|| Failure::new(format!("The module has no function {function}: build it anew.")))
    }

    /// The functions defined here, with their code.
    pub fn defined(&self) -> impl Iterator<Item = (u32, &FunctionBody<'a>)> {
        (self.imported_functions..).zip(&self.bodies)
    }

    /// The code of `function`, if it is defined here.
    pub fn body(&self, function: u32) -> Option<&FunctionBody<'a>> {
        self.bodies.get(function.checked_sub(self.imported_functions)? as usize)
    }

    fn note_section(&mut self, payload: &Payload) {
        let kind = match payload {
            Payload::TypeSection(_) => "types",
            Payload::ImportSection(_) => "imports",
            Payload::FunctionSection(_) => "functions",
            Payload::TableSection(_) => "tables",
            Payload::MemorySection(_) => "memories",
            Payload::GlobalSection(_) => "globals",
            Payload::ExportSection(_) => "exports",
            Payload::ElementSection(_) => "elements",
            Payload::CodeSectionStart { .. } => "code",
            Payload::DataSection(_) => "data",
            _ => return,
        };
        if let Some((_, range)) = payload.as_section() {
            self.sections.push((kind, range));
        }
    }

    fn take(&mut self, payload: Payload<'a>) -> Result<()> {
        match payload {
            Payload::TypeSection(reader) => {
                for group in reader {
                    let group = group?;
                    if group.is_explicit_rec_group() {
                        return Err(beyond("recursive types"));
                    }
                    for ty in group.into_types() {
                        let CompositeInnerType::Func(signature) = ty.composite_type.inner else {
                            return Err(beyond("types other than functions"));
                        };
                        self.types.push(signature);
                    }
                }
            }
            Payload::ImportSection(reader) => {
                for import in reader.into_imports() {
                    self.take_import(import?)?;
                }
            }
            Payload::FunctionSection(reader) => {
                self.functions.extend(reader.into_iter().collect::<wasmparser::Result<Vec<_>>>()?);
            }
            Payload::TableSection(reader) => {
                self.own_tables = reader.into_iter().collect::<wasmparser::Result<_>>()?;
                self.tables.extend(self.own_tables.iter().map(|table| table.ty));
            }
            Payload::MemorySection(reader) => {
                self.memories.extend(reader.into_iter().collect::<wasmparser::Result<Vec<_>>>()?);
            }
            Payload::TagSection(_) => return Err(beyond("exception tags")),
            Payload::GlobalSection(reader) => {
                self.own_globals = reader.into_iter().collect::<wasmparser::Result<_>>()?;
                self.globals.extend(self.own_globals.iter().map(|global| global.ty));
            }
            Payload::ExportSection(reader) => self.exports = reader.into_iter().collect::<wasmparser::Result<_>>()?,
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(reader) => {
                self.elements = reader.into_iter().collect::<wasmparser::Result<_>>()?;
            }
            Payload::DataCountSection { .. } => self.counts_data = true,
            Payload::DataSection(reader) => self.data = reader.into_iter().collect::<wasmparser::Result<_>>()?,
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(reader) = section.as_known() {
                    self.names = Names::read(reader);
                }
                self.custom.push((section.name(), section.data()));
            }
            Payload::Version { .. } | Payload::CodeSectionStart { .. } | Payload::End(_) => {}
            _ => return Err(beyond("sections that are not of core WebAssembly")),
        }
        Ok(())
    }

    fn take_import(&mut self, import: Import<'a>) -> Result<()> {
        match import.ty {
            TypeRef::Func(signature) => {
                self.functions.push(signature);
                self.imported_functions += 1;
            }
            TypeRef::Table(table) => self.tables.push(table),
            TypeRef::Memory(memory) => {
                self.memories.push(memory);
                self.imported_memories += 1;
            }
            TypeRef::Global(global) => self.globals.push(global),
            _ => return Err(beyond("imported exception tags")),
        }
        self.imports.push(import);
        Ok(())
    }
}

fn beyond(what: &str) -> Failure {
    Failure::new(format!("The module has {what}, which this tool does not handle: build it without."))
}
