//! Who calls whom, and what is asked for from outside every function.

use std::collections::BTreeSet;

use wasmparser::{ConstExpr, ElementItems, ElementKind, ExternalKind, Operator, TableInit};

use crate::failure::Result;
use crate::module::Module;

/// The functions that functions, and everything else in a module, ask for.
pub(crate) struct References {
    /// Per function defined in the module, in order: what it calls or takes the address of.
    pub(crate) of: Vec<BTreeSet<u32>>,
    /// Per function defined in the module: whether it names a segment of data or elements, which only its own module has.
    pub(crate) tied: Vec<bool>,
    /// Whether any function ends in a tail call: stubs between two of those must not grow the stack.
    pub(crate) tail_calls: bool,
    /// What exports, tables, globals and the start ask for.
    pub(crate) outside: BTreeSet<u32>,
}

impl References {
    pub(crate) fn of(module: &Module<'_>) -> Result<Self> {
        let mut references = Self { of: Vec::new(), tied: Vec::new(), tail_calls: false, outside: outside(module)? };
        for body in &module.bodies {
            let mut asked = BTreeSet::new();
            let mut tied = false;
            for operator in body.get_operators_reader()? {
                let operator = operator?;
                references.tail_calls |=
                    matches!(operator, Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. });
                match operator {
                    Operator::Call { function_index }
                    | Operator::ReturnCall { function_index }
                    | Operator::RefFunc { function_index } => {
                        asked.insert(function_index);
                    }
                    Operator::MemoryInit { .. }
                    | Operator::DataDrop { .. }
                    | Operator::TableInit { .. }
                    | Operator::ElemDrop { .. } => tied = true,
                    _ => {}
                }
            }
            references.of.push(asked);
            references.tied.push(tied);
        }
        Ok(references)
    }
}

fn outside(module: &Module<'_>) -> Result<BTreeSet<u32>> {
    let mut asked: BTreeSet<u32> = module.start.into_iter().collect();
    asked.extend(module.exports.iter().filter(|export| export.kind == ExternalKind::Func).map(|export| export.index));
    for global in &module.own_globals {
        in_constant(&global.init_expr, &mut asked)?;
    }
    for table in &module.own_tables {
        if let TableInit::Expr(expression) = &table.init {
            in_constant(expression, &mut asked)?;
        }
    }
    for element in &module.elements {
        if let ElementKind::Active { offset_expr, .. } = &element.kind {
            in_constant(offset_expr, &mut asked)?;
        }
        match &element.items {
            ElementItems::Functions(functions) => {
                for function in functions.clone() {
                    asked.insert(function?);
                }
            }
            ElementItems::Expressions(_, expressions) => {
                for expression in expressions.clone() {
                    in_constant(&expression?, &mut asked)?;
                }
            }
        }
    }
    Ok(asked)
}

fn in_constant(expression: &ConstExpr<'_>, asked: &mut BTreeSet<u32>) -> Result<()> {
    for operator in expression.get_operators_reader() {
        if let Operator::RefFunc { function_index } = operator? {
            asked.insert(function_index);
        }
    }
    Ok(())
}
