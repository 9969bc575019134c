//! Constant data that only functions of parts use goes with them.
//!
//! Which function uses what is read off the relocations that the linker leaves with `--emit-relocs`: each says in which
//! function, or in which other datum, the address of a symbol stands, so nothing has to be guessed from constants in code.
//! Functions are found again by name, since wasm-bindgen numbers them anew; so the module that is split must be as the linker
//! and wasm-bindgen left it, with mangled names, and be optimised afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wasmparser::{BinaryReader, DataKind, KnownCustom, Linking, Operator, Parser, Payload, RelocationType, SymbolInfo};

use crate::failure::{Failure, Result};
use crate::module::Module;
use crate::names::whole;

/// The linker's name for data that nothing writes to. What else is in memory stays with the first module.
const CONSTANT: &str = ".rodata";

/// A gap of fewer bytes costs less than another segment.
const WORTH_A_SEGMENT: u32 = 12;

/// Address and content of each data segment of a module.
pub(crate) type Segments = Vec<(u32, Vec<u8>)>;

/// What uses which constants, as blocks of memory.
pub struct Uses {
    /// Addresses of the blocks, in order; none overlaps another.
    blocks: Vec<Range<u32>>,
    /// By a function's mangled name: the blocks, by the addresses that stand in its code.
    functions: BTreeMap<String, BTreeMap<u32, usize>>,
    /// By block.
    between: Vec<BTreeSet<usize>>,
    /// What data that stays refers to.
    pinned: BTreeSet<usize>,
    segments: Segments,
    /// Mangled names of all functions that were linked.
    linked: BTreeSet<String>,
}

/// Where a symbol, or a place in the file, is in memory.
struct Memory<'a> {
    /// Address, place in the file and whether it is constant, by segment.
    segments: Vec<(u32, Range<u64>, bool)>,
    module: &'a Module<'a>,
}

impl Uses {
    /// Reads a module that was linked with `--emit-relocs`.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let module = Module::read(bytes)?;
        let memory = Memory::of(&module)?;
        let symbols = symbols(&module)?;
        let address = |symbol: &Option<Placed>| {
            let (segment, range) = symbol.as_ref()?;
            let (start, _, constant) = memory.segments.get(*segment as usize)?;
            (*constant && !range.is_empty()).then(|| start + range.start..start + range.end)
        };
        let places: Vec<Option<Range<u32>>> = symbols.iter().map(address).collect();
        let blocks = merged(places.iter().flatten().cloned().collect());
        let mut uses = Self {
            between: vec![BTreeSet::new(); blocks.len()],
            blocks,
            functions: BTreeMap::new(),
            pinned: BTreeSet::new(),
            linked: module.defined().filter_map(|(f, _)| module.names.mangled(f)).map(str::to_owned).collect(),
            segments: module.data.iter().zip(&memory.segments).map(|(data, at)| (at.0, data.data.to_vec())).collect(),
        };
        let start =
            |wanted: &str| module.sections.iter().find(|(kind, _)| *kind == wanted).map_or(0, |(_, range)| range.start);
        let mut read = false;
        for (section, place, symbol) in relocations(bytes)? {
            read = true;
            let Some(used) = places.get(symbol as usize).cloned().flatten().and_then(|range| uses.block(range.start))
            else {
                continue;
            };
            if section == "reloc.CODE" {
                let at = start("code") + u64::from(place);
                let name = memory.function(at)?;
                let address = address_at(bytes, at).ok_or_else(missing)?;
                uses.functions.entry(name.to_owned()).or_default().insert(address, used);
            } else {
                let user = memory.address(start("data") + u64::from(place)).and_then(|address| uses.block(address));
                match user {
                    Some(user) => uses.between[user].insert(used),
                    None => uses.pinned.insert(used),
                };
            }
        }
        if read { Ok(uses) } else { Err(missing()) }
    }

    /// The block at an address.
    fn block(&self, address: u32) -> Option<usize> {
        let at = self.blocks.partition_point(|block| block.end <= address);
        self.blocks.get(at).filter(|block| block.contains(&address)).map(|_| at)
    }

    /// All that `blocks` refer to, themselves included.
    fn reached(&self, blocks: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = blocks.into_iter().collect();
        let mut reached = BTreeSet::new();
        while let Some(block) = open.pop() {
            if reached.insert(block) {
                open.extend(&self.between[block]);
            }
        }
        reached
    }

    /// What functions may use that were not linked under their names but written since: every number that could be an address
    /// counts as one.
    fn in_strangers(&self, module: &Module<'_>) -> Result<BTreeSet<usize>> {
        let mut used = BTreeSet::new();
        for (function, body) in module.defined() {
            if module.names.mangled(function).is_some_and(|name| self.linked.contains(whole(name))) {
                continue;
            }
            for operator in body.get_operators_reader()? {
                if let Operator::I32Const { value } = operator? {
                    used.extend(self.block(value.cast_unsigned()));
                }
            }
        }
        Ok(used)
    }

    /// Whether a function, by its mangled name, uses any constants.
    pub(super) fn has(&self, name: &str) -> bool {
        self.functions.contains_key(whole(name))
    }

    /// The constants that functions use. Where pieces were cut out of one, each uses those whose addresses stand in it.
    fn of(&self, module: &Module<'_>, functions: &[u32], cut: &BTreeSet<&str>) -> Result<BTreeSet<usize>> {
        let mut used = BTreeSet::new();
        for function in functions {
            let name = whole(module.names.mangled(*function).unwrap_or_default());
            let Some(known) = self.functions.get(name) else { continue };
            let (true, Some(body)) = (cut.contains(name), module.body(*function)) else {
                used.extend(known.values());
                continue;
            };
            for operator in body.get_operators_reader()? {
                let operator = operator?;
                let address = match operator {
                    Operator::I32Const { value } => Some(value.cast_unsigned()),
                    ref other => offset(other),
                };
                used.extend(address.and_then(|address| known.get(&address)));
            }
        }
        Ok(self.reached(used))
    }
}

/// The fixed part of the address that an instruction reads from or writes to.
fn offset(operator: &Operator<'_>) -> Option<u32> {
    macro_rules! offset_of {
        ($($name:ident)*) => {
            match operator {
                $(Operator::$name { memarg } => Some(memarg.offset as u32),)*
                _ => None,
            }
        };
    }
    offset_of! {
        I32Load I64Load F32Load F64Load I32Load8S I32Load8U I32Load16S I32Load16U I64Load8S I64Load8U I64Load16S I64Load16U
        I64Load32S I64Load32U I32Store I64Store F32Store F64Store I32Store8 I32Store16 I64Store8 I64Store16 I64Store32
    }
}

/// The address that the linker wrote at a place in the file: five bytes, whatever the number.
fn address_at(bytes: &[u8], at: u64) -> Option<u32> {
    let five = bytes.get(usize::try_from(at).ok()?..)?.get(..5)?;
    Some(five.iter().rev().fold(0_u64, |address, byte| address << 7 | u64::from(byte & 0x7f)) as u32)
}

/// The data of each module of a split: address and content of each segment. The first module's come first.
pub(crate) fn divide(module: &Module<'_>, uses: &Uses, parts: &[Vec<u32>]) -> Result<Vec<Segments>> {
    let memory = Memory::of(module)?;
    let same = memory.segments.len() == uses.segments.len()
        && module
            .data
            .iter()
            .zip(&memory.segments)
            .zip(&uses.segments)
            .all(|((data, at), (address, content))| at.0 == *address && data.data == content.as_slice());
    if !same {
        return Err(Failure::new(
            "The relocations are of a module with other data: give those of the very module, before wasm-opt changed it.",
        ));
    }
    let name = |function: &u32| module.names.mangled(*function).unwrap_or_default();
    let known = parts.iter().flatten().filter(|function| uses.functions.contains_key(name(function))).count();
    if known < uses.functions.len() / 2 {
        return Err(Failure::new(
            "Most functions of the relocations are not in the module by name: have wasm-bindgen keep the names with --no-demangle.",
        ));
    }
    let cut: BTreeSet<&str> = parts.iter().flatten().map(name).filter(|name| whole(name) != *name).map(whole).collect();
    let wanted: Vec<BTreeSet<usize>> =
        parts.iter().map(|functions| uses.of(module, functions, &cut)).collect::<Result<_>>()?;
    let pinned = uses.reached(uses.pinned.iter().copied().chain(uses.in_strangers(module)?));
    let first: BTreeSet<usize> = wanted[0].union(&pinned).copied().collect();
    // What no function uses by name stays where it was.
    let anywhere: BTreeSet<usize> = wanted.iter().skip(1).flatten().copied().collect();
    let moved: BTreeSet<usize> = anywhere.difference(&first).copied().collect();
    let mut divided = vec![remaining(uses, &moved)];
    for blocks in &wanted[1..] {
        let ranges = blocks.intersection(&moved).map(|block| uses.blocks[*block].clone()).collect();
        divided.push(contents(uses, joined(ranges)));
    }
    Ok(divided)
}

/// All data but the blocks that are moved.
fn remaining(uses: &Uses, moved: &BTreeSet<usize>) -> Segments {
    let mut kept = Vec::new();
    for (address, content) in &uses.segments {
        let end = address + content.len() as u32;
        let mut from = *address;
        for block in
            moved.iter().map(|block| &uses.blocks[*block]).filter(|block| (*address..end).contains(&block.start))
        {
            kept.push(from..block.start);
            from = block.end;
        }
        kept.push(from..end);
    }
    kept.retain(|range| !range.is_empty());
    contents(uses, joined(kept))
}

/// Ranges with those put together between which a segment of its own would cost more than the gap.
fn joined(ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start - last.end < WORTH_A_SEGMENT => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// The bytes at `ranges`, each cut where a segment ends.
fn contents(uses: &Uses, ranges: Vec<Range<u32>>) -> Segments {
    let mut pieces = Vec::new();
    for range in ranges {
        for (address, content) in &uses.segments {
            let (from, to) = (range.start.max(*address), range.end.min(address + content.len() as u32));
            if from < to {
                pieces.push((from, content[(from - address) as usize..(to - address) as usize].to_vec()));
            }
        }
    }
    pieces
}

/// Overlapping ranges as one.
fn merged(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut blocks: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match blocks.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => blocks.push(range),
        }
    }
    blocks
}

impl<'a> Memory<'a> {
    fn of(module: &'a Module<'a>) -> Result<Self> {
        let mut segments = Vec::new();
        for (index, data) in (0..).zip(&module.data) {
            let DataKind::Active { memory_index: 0, offset_expr } = &data.kind else { return Err(immovable()) };
            let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
                return Err(immovable());
            };
            let end = data.range.end;
            let constant = module.names.data(index).is_some_and(|name| name.starts_with(CONSTANT));
            segments.push((value.cast_unsigned(), end - data.data.len() as u64..end, constant));
        }
        Ok(Self { segments, module })
    }

    /// The address of a place in the file.
    fn address(&self, place: u64) -> Option<u32> {
        let (address, range, _) = self.segments.iter().find(|(_, range, _)| range.contains(&place))?;
        Some(address + (place - range.start) as u32)
    }

    /// The name of the function at a place in the file.
    fn function(&self, place: u64) -> Result<&'a str> {
        let at = self.module.bodies.partition_point(|body| body.range().end <= place);
        let name = self.module.names.mangled(self.module.imported_functions + at as u32);
        name.ok_or_else(|| Failure::new("A function that uses data has no name: link the module without stripping it."))
    }
}

fn missing() -> Failure {
    Failure::new("The module has no relocations: link it with `-C link-arg=--emit-relocs`.")
}

fn immovable() -> Failure {
    Failure::new("The module has data whose address is not fixed: split it without moving data.")
}

/// Where a symbol is: the number of a segment, and a range of bytes in it.
type Placed = (u32, Range<u32>);

/// The place of each symbol, where it is defined data.
fn symbols(module: &Module<'_>) -> Result<Vec<Option<Placed>>> {
    let (_, content) = module.custom.iter().find(|(name, _)| *name == "linking").ok_or_else(missing)?;
    let mut symbols = Vec::new();
    for subsection in wasmparser::LinkingSectionReader::new(BinaryReader::new(content, 0))?.subsections() {
        if let Linking::SymbolTable(table) = subsection? {
            for symbol in table {
                let SymbolInfo::Data { symbol: Some(at), .. } = symbol? else {
                    symbols.push(None);
                    continue;
                };
                symbols.push(Some((at.index, at.offset..at.offset + at.size)));
            }
        }
    }
    Ok(symbols)
}

/// Section, place in it and symbol of each address that stands in code or data.
fn relocations(bytes: &[u8]) -> Result<Vec<(String, u32, u32)>> {
    let mut relocations = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let Payload::CustomSection(section) = payload? else { continue };
        let name = section.name().to_owned();
        if !["reloc.CODE", "reloc.DATA"].contains(&name.as_str()) {
            continue;
        }
        let KnownCustom::Reloc(reader) = section.as_known() else { return Err(missing()) };
        for entry in reader.entries() {
            let entry = entry?;
            match entry.ty {
                RelocationType::MemoryAddrLeb | RelocationType::MemoryAddrSleb | RelocationType::MemoryAddrI32 => {
                    relocations.push((name.clone(), entry.offset, entry.index));
                }
                RelocationType::FunctionIndexLeb
                | RelocationType::FunctionIndexI32
                | RelocationType::TableIndexSleb
                | RelocationType::TableIndexI32
                | RelocationType::TypeIndexLeb
                | RelocationType::GlobalIndexLeb
                | RelocationType::GlobalIndexI32
                | RelocationType::TableNumberLeb
                | RelocationType::EventIndexLeb => {}
                other => {
                    return Err(Failure::new(format!(
                        "The module has relocations of a kind that this tool does not know ({other:?}): split it without moving data."
                    )));
                }
            }
        }
    }
    Ok(relocations)
}
