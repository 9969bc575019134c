//! What can be wrong with a plan, for whoever resolves it.

use super::fields::Field;
use super::kind::Kind;
use super::table::fields;
use super::{GpuChoice, Plan, Problem};

pub(crate) use super::batches::indivisible;
pub(crate) use super::modules::unknown_names;
pub(crate) use super::rules::contradictions;

/// What is wrong with single fields; nothing for a plan that was read from JSON or a link.
pub(crate) fn of_fields(plan: &Plan) -> Vec<Problem> {
    let mut copy = Plan::default();
    let check = |field: &'static Field| {
        let value = field.value(plan);
        let absent = value.is_null() && !matches!(field.kind, Kind::Number { .. });
        let described = field.name == "gpu.memory_gib" && matches!(plan.gpu, GpuChoice::Catalogue(_));
        if absent || described { None } else { field.set_value(&mut copy, &value).err() }
    };
    fields().iter().filter_map(check).collect()
}
