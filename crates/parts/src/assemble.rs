//! Writes a module again, with other indices and with additions.

use wasm_encoder::reencode::Reencode;
use wasm_encoder::{
    CodeSection, CustomSection, DataCountSection, DataSection, ElementSection, EntityType, ExportKind, ExportSection,
    Function, FunctionSection, GlobalSection, GlobalType, ImportSection, MemorySection, Module as Written,
    StartSection, TableSection, TableType, TypeSection,
};
use wasmparser::{FuncType, FunctionBody};

use crate::failure::{Failure, Result};
use crate::module::Module;
use crate::split::Segments;

/// What is written behind what the module has itself, in every index space.
#[derive(Default)]
pub(crate) struct Additions {
    pub(crate) types: Vec<FuncType>,
    pub(crate) imports: Vec<(&'static str, &'static str, EntityType)>,
    pub(crate) tables: Vec<TableType>,
    /// Each an i32 that begins as 0.
    pub(crate) counters: u32,
    pub(crate) exports: Vec<(String, ExportKind, u32)>,
    /// Table, offset and functions, with the indices of the module that is written.
    pub(crate) elements: Vec<(u32, u32, Vec<u32>)>,
    /// Address and content of each data segment, in place of those that the module has.
    pub(crate) data: Option<Segments>,
    /// Signature and code.
    pub(crate) functions: Vec<(u32, Function)>,
}

/// How a module is written again: indices, and the code of each function.
pub(crate) trait Rewrite: Reencode<Error = Failure> {
    /// Whether a function stands in the module that is written.
    fn keeps(&self, function: u32) -> bool;

    /// A function's code in the module that is written.
    fn code(&mut self, function: u32, body: &FunctionBody<'_>) -> Result<Function>;
}

/// `module` as `rewrite` has it, with `additions`; `custom` are the sections that are no part of the program.
pub(crate) fn assemble(
    module: &Module<'_>,
    rewrite: &mut impl Rewrite,
    additions: Additions,
    custom: &[(&str, &[u8])],
) -> Result<Vec<u8>> {
    let mut written = Written::new();
    let mut types = TypeSection::new();
    for signature in module.types.iter().chain(&additions.types) {
        types.ty().func_type(&rewrite.func_type(signature.clone())?);
    }
    written.section(&types);
    let mut imports = ImportSection::new();
    for import in &module.imports {
        imports.import(import.module, import.name, rewrite.entity_type(import.ty)?);
    }
    for (from, name, ty) in &additions.imports {
        imports.import(from, name, *ty);
    }
    written.section(&imports);
    let kept: Vec<_> = module.defined().filter(|(function, _)| rewrite.keeps(*function)).collect();
    let mut functions = FunctionSection::new();
    for (function, _) in &kept {
        functions.function(rewrite.type_index(module.functions[*function as usize])?);
    }
    additions.functions.iter().for_each(|(signature, _)| {
        functions.function(*signature);
    });
    written.section(&functions);
    write_state(&mut written, module, rewrite, &additions)?;
    write_exports(&mut written, module, rewrite, &additions)?;
    if module.counts_data {
        let count = additions.data.as_ref().map_or(module.data.len(), Vec::len) as u32;
        written.section(&DataCountSection { count });
    }
    let mut code = CodeSection::new();
    for (function, body) in kept {
        code.function(&rewrite.code(function, body)?);
    }
    additions.functions.iter().for_each(|(_, function)| {
        code.function(function);
    });
    written.section(&code);
    let mut data = DataSection::new();
    match &additions.data {
        Some(segments) => place(&mut data, segments),
        None => {
            for segment in &module.data {
                rewrite.parse_data(&mut data, segment.clone())?;
            }
        }
    }
    written.section(&data);
    for (name, content) in custom {
        written.section(&CustomSection { name: (*name).into(), data: (*content).into() });
    }
    checked(written.finish())
}

/// Tables, memories and globals.
fn write_state(
    written: &mut Written,
    module: &Module<'_>,
    rewrite: &mut impl Rewrite,
    additions: &Additions,
) -> Result<()> {
    let mut tables = TableSection::new();
    for table in &module.own_tables {
        rewrite.parse_table(&mut tables, table.clone())?;
    }
    for table in &additions.tables {
        tables.table(*table);
    }
    if !tables.is_empty() {
        written.section(&tables);
    }
    let mut memories = MemorySection::new();
    for memory in &module.memories[module.imported_memories as usize..] {
        memories.memory(rewrite.memory_type(*memory)?);
    }
    if !memories.is_empty() {
        written.section(&memories);
    }
    let mut globals = GlobalSection::new();
    for global in &module.own_globals {
        rewrite.parse_global(&mut globals, global.clone())?;
    }
    let counter = GlobalType { val_type: wasm_encoder::ValType::I32, mutable: true, shared: false };
    for _ in 0..additions.counters {
        globals.global(counter, &wasm_encoder::ConstExpr::i32_const(0));
    }
    if !globals.is_empty() {
        written.section(&globals);
    }
    Ok(())
}

/// Exports, the start function and what tables are filled with.
fn write_exports(
    written: &mut Written,
    module: &Module<'_>,
    rewrite: &mut impl Rewrite,
    additions: &Additions,
) -> Result<()> {
    let mut exports = ExportSection::new();
    for export in &module.exports {
        rewrite.parse_export(&mut exports, *export)?;
    }
    for (name, kind, index) in &additions.exports {
        exports.export(name, *kind, *index);
    }
    written.section(&exports);
    if let Some(start) = module.start {
        written.section(&StartSection { function_index: rewrite.function_index(start)? });
    }
    let mut elements = ElementSection::new();
    for element in &module.elements {
        rewrite.parse_element(&mut elements, element.clone())?;
    }
    for (table, offset, functions) in &additions.elements {
        fill(&mut elements, *table, *offset, functions);
    }
    if !elements.is_empty() {
        written.section(&elements);
    }
    Ok(())
}

/// An active segment that puts `functions` into `table` from `offset` on.
pub(crate) fn fill(elements: &mut ElementSection, table: u32, offset: u32, functions: &[u32]) {
    let offset = wasm_encoder::ConstExpr::i32_const(offset.cast_signed());
    elements.active((table > 0).then_some(table), &offset, wasm_encoder::Elements::Functions(functions.into()));
}

/// Segments that put bytes to their addresses in memory 0.
pub(crate) fn place(data: &mut DataSection, segments: &[(u32, Vec<u8>)]) {
    for (address, content) in segments {
        let address = wasm_encoder::ConstExpr::i32_const(address.cast_signed());
        data.active(0, &address, content.iter().copied());
    }
}

/// `bytes`, if they are a valid module.
pub(crate) fn checked(bytes: Vec<u8>) -> Result<Vec<u8>> {
    match wasmparser::Validator::new().validate_all(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::new(format!(
            "A module that this tool wrote is not valid ({error}): it has an error, and nothing was written."
        ))),
    }
}
