//! Which function goes where.

use std::collections::{BTreeMap, BTreeSet};

use super::data::Uses;
use super::references::References;
use crate::failure::Result;
use crate::module::Module;
use crate::names;

/// Up to this size, in bytes, a function that calls no other is smaller than the stub that stood for it.
const NO_LARGER_THAN_A_STUB: usize = 24;

/// What a split is asked to do.
#[derive(Default)]
pub struct Wanted {
    /// Which constants functions use, where those that only parts use shall go with them.
    pub uses: Option<Uses>,
    /// The functions that a first view calls: they make up the first module, with what has to be beside them.
    pub called: BTreeSet<u32>,
    /// The functions that are called at each later stage: what no earlier stage calls forms parts of its own.
    pub stages: Vec<BTreeSet<u32>>,
    /// Crates or rooms whose functions form parts behind all others, with what they alone call: such parts are fetched when
    /// one of them is called, not before.
    pub apart: Vec<String>,
    /// About how many bytes of code a part may have.
    pub largest: usize,
    /// Whether the modules say what their functions are called.
    pub names: bool,
}

/// Where each function of a module stands; imported ones count to the first module.
pub(crate) struct Assignment {
    /// By function: 0 is the first module, others are parts.
    pub(crate) home: Vec<u32>,
    /// The functions of each part, in the order they stand there. The first module's come first.
    pub(crate) functions: Vec<Vec<u32>>,
    /// How many parts come before those that stand apart.
    pub(crate) early: usize,
    /// How many parts there are up to each stage, its own included: they come before all others, in the order of the stages.
    pub(crate) staged: Vec<usize>,
}

pub(crate) fn assign(module: &Module<'_>, references: &References, wanted: &Wanted) -> Result<Assignment> {
    let rooms = rooms(module, references);
    let mut first = wanted.called.clone();
    let tied = module.defined().map(|(function, _)| function).zip(&references.tied);
    first.extend(tied.filter(|(_, tied)| **tied).map(|(function, _)| function));
    keep_small(module, references, wanted.uses.as_ref(), &mut first);
    let mut home = vec![0; module.functions.len()];
    let mut functions = vec![module.defined().map(|(function, _)| function).filter(|f| first.contains(f)).collect()];
    let mut placed = first.clone();
    let all: BTreeSet<u32> = module.defined().map(|(function, _)| function).collect();
    for stage in &wanted.stages {
        placed.extend(stage);
    }
    let apart = apart(module, references, &rooms, &placed, &wanted.apart);
    let rest: BTreeSet<u32> = all.difference(&apart).copied().collect();
    let (mut early, mut staged) = (0, Vec::new());
    placed = first;
    for stage in wanted.stages.iter().chain([&rest, &all]) {
        early = functions.len() - 1;
        let mut group: Vec<u32> = stage.difference(&placed).copied().filter(|f| all.contains(f)).collect();
        placed.extend(&group);
        group.sort_by_key(|function| (rooms.get(function), *function));
        for part in cut(module, &group, wanted.largest) {
            for function in &part {
                home[*function as usize] = functions.len() as u32;
            }
            functions.push(part);
        }
        staged.push(functions.len() - 1);
    }
    staged.truncate(wanted.stages.len());
    Ok(Assignment { home, functions, early, staged })
}

/// Of what is not in `placed` the functions of these crates and rooms, with those that nothing else calls.
fn apart(
    module: &Module<'_>,
    references: &References,
    rooms: &BTreeMap<u32, String>,
    placed: &BTreeSet<u32>,
    wanted: &[String],
) -> BTreeSet<u32> {
    let is_of = |room: &str| {
        wanted
            .iter()
            .any(|one| room.strip_prefix(one.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")))
    };
    let own = |function: &u32| !placed.contains(function) && rooms.get(function).is_some_and(|room| is_of(room));
    let asked: BTreeMap<u32, &BTreeSet<u32>> =
        module.defined().map(|(function, _)| function).zip(&references.of).collect();
    let mut others: BTreeSet<u32> = BTreeSet::new();
    let mut next: Vec<u32> = placed.iter().chain(&references.outside).copied().filter(|f| !own(f)).collect();
    while let Some(function) = next.pop() {
        if others.insert(function)
            && let Some(asked) = asked.get(&function)
        {
            next.extend(asked.iter().filter(|function| !own(function)));
        }
    }
    if wanted.is_empty() {
        return BTreeSet::new();
    }
    module.defined().map(|(function, _)| function).filter(|f| !others.contains(f) && !placed.contains(f)).collect()
}

/// `group` in pieces of about the same size, as few as there can be; none is larger than `largest` by more than a function.
fn cut(module: &Module<'_>, group: &[u32], largest: usize) -> Vec<Vec<u32>> {
    let size = |function: &u32| module.body(*function).map_or(0, |body| body.as_bytes().len());
    let total: usize = group.iter().map(size).sum();
    let each = total.div_ceil(total.div_ceil(largest.max(1)).max(1));
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let mut bytes = 0;
    for function in group {
        let more = size(function);
        if bytes >= each {
            pieces.push(std::mem::take(&mut piece));
            bytes = 0;
        }
        piece.push(*function);
        bytes += more;
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// Keeps functions in the first module that are smaller than what would stand there in their place, and name no constants, which
/// would stay with them.
fn keep_small(module: &Module<'_>, references: &References, uses: Option<&Uses>, first: &mut BTreeSet<u32>) {
    let needed: BTreeSet<u32> = module
        .defined()
        .zip(&references.of)
        .filter(|((function, _), _)| first.contains(function))
        .flat_map(|(_, asked)| asked)
        .chain(&references.outside)
        .copied()
        .collect();
    for ((function, body), asked) in module.defined().zip(&references.of) {
        let names_constants = || uses.is_some_and(|uses| uses.has(module.names.mangled(function).unwrap_or_default()));
        let small = body.as_bytes().len() <= NO_LARGER_THAN_A_STUB && asked.is_empty() && !names_constants();
        if small && needed.contains(&function) {
            first.insert(function);
        }
    }
}

/// The room by which a function is put into a part: its own, or that of all who call it where they are in one. So what is
/// instantiated for a room stands with it.
fn rooms(module: &Module<'_>, references: &References) -> BTreeMap<u32, String> {
    let own = |function: u32| names::room(module.names.function(function).unwrap_or_default());
    let mut rooms: BTreeMap<u32, String> = module.defined().map(|(function, _)| (function, own(function))).collect();
    // None where callers are of several rooms, or the function is asked for from outside.
    let mut callers: BTreeMap<u32, Option<String>> =
        references.outside.iter().map(|function| (*function, None)).collect();
    for ((caller, _), asked) in module.defined().zip(&references.of) {
        let room = rooms.get(&caller);
        for function in asked.iter().filter(|function| **function != caller) {
            callers
                .entry(*function)
                .and_modify(|known| {
                    if known.as_ref() != room {
                        *known = None;
                    }
                })
                .or_insert_with(|| room.cloned());
        }
    }
    for (function, room) in callers {
        if let (Some(known), Some(room)) = (rooms.get_mut(&function), room) {
            *known = room;
        }
    }
    rooms
}
