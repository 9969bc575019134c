//! The first module: what a first view calls, with everything that is not code.

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{EntityType, ExportKind, Function, RefType, TableType};
use wasmparser::FunctionBody;

use super::assign::Assignment;
use super::layout::Layout;
use super::shared::Shared;
use super::{Split, stub};
use crate::assemble::{Additions, Rewrite, assemble};
use crate::failure::{Failure, Result};
use crate::names::Names;

/// Where the first module's functions stand in it.
struct First<'p> {
    assignment: &'p Assignment,
    index: Vec<Option<u32>>,
}

impl Reencode for First<'_> {
    type Error = Failure;

    fn function_index(&mut self, function: u32) -> std::result::Result<u32, Error<Failure>> {
        self.index.get(function as usize).copied().flatten().ok_or_else(|| {
            Error::UserError(Failure::new(format!(
                "Function {function} is asked for but has no stub: the split has an error."
            )))
        })
    }
}

impl Rewrite for First<'_> {
    fn keeps(&self, function: u32) -> bool {
        self.assignment.home[function as usize] == 0
    }

    fn code(&mut self, _: u32, body: &FunctionBody<'_>) -> Result<Function> {
        let mut code = self.new_function_with_parsed_locals(body)?;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            code.instruction(&self.parse_instruction(&mut reader)?);
        }
        Ok(code)
    }
}

/// Writes the first module; `shared` is what parts take from it.
pub(crate) fn write(split: &Split<'_, '_>, shared: &Shared) -> Result<Vec<u8>> {
    let Split { module, assignment, layout, names, .. } = split;
    let parts = assignment.functions.len() as u32 - 1;
    let load = module.imported_functions;
    let own = load + 1;
    let kept = &assignment.functions[0];
    let ensures = own + kept.len() as u32;
    let stubs = ensures + parts;
    let mut index: Vec<Option<u32>> = vec![None; module.functions.len()];
    index.iter_mut().zip(0..load).for_each(|(place, function)| *place = Some(function));
    for (function, at) in kept.iter().zip(own..).chain(layout.stubs.iter().zip(stubs..)) {
        index[*function as usize] = Some(at);
    }
    let (tables, globals) = (module.tables.len() as u32, module.globals.len() as u32);
    let mut additions = Additions {
        types: vec![split.added_signature(split.loading()), split.added_signature(split.plain())],
        imports: vec![("parts", "load", EntityType::Function(split.loading()))],
        tables: vec![slots(layout)],
        counters: parts,
        data: split.data.as_ref().and_then(|data| data.first().cloned()),
        ..Additions::default()
    };
    for part in 1..=parts {
        additions.functions.push((split.plain(), stub::ensure(globals + part - 1, load, part)));
    }
    for function in &layout.stubs {
        let ensure = ensures + assignment.home[*function as usize] - 1;
        let signature = module.functions[*function as usize];
        additions.functions.push((signature, split.stub(*function, ensure, tables, signature)?.code()));
    }
    let standing = |functions: &[u32]| functions.iter().filter_map(|f| index[*f as usize]).collect::<Vec<u32>>();
    additions.elements.extend(layout.filled.iter().map(|(offset, functions)| (tables, *offset, standing(functions))));
    additions.exports.push((shared.slots.clone(), ExportKind::Table, tables));
    for part in 1..=parts {
        additions.exports.push((Shared::loaded(part), ExportKind::Global, globals + part - 1));
    }
    additions.exports.extend(shared.exports());
    let section = names.then(|| {
        let named = index.iter().zip(0..).filter_map(|(place, function)| Some(((*place)?, function)));
        name_section(&module.names, named.collect())
    });
    let custom: Vec<(&str, &[u8])> = section.iter().map(|content| ("name", content.as_slice())).collect();
    assemble(module, &mut First { assignment, index }, additions, &custom)
}

/// The table through which modules call one another.
pub(crate) fn slots(layout: &Layout) -> TableType {
    let size = layout.slots.len() as u64;
    TableType { element_type: RefType::FUNCREF, table64: false, minimum: size, maximum: Some(size), shared: false }
}

/// The content of a name section for functions, given as index in the written module and in the whole one.
pub(crate) fn name_section(names: &Names, mut functions: Vec<(u32, u32)>) -> Vec<u8> {
    functions.sort_unstable();
    let mut map = wasm_encoder::NameMap::new();
    for (index, function) in functions {
        if let Some(name) = names.function(function) {
            map.append(index, name);
        }
    }
    let mut section = wasm_encoder::NameSection::new();
    section.functions(&map);
    section.as_custom().data.into_owned()
}
