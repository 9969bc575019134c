//! The Plan: everything the user chose.
//!
//! One table, [`fields`], drives the JSON reader, links, the form's attributes and the generator of property tests.

mod choice;
mod fields;
mod json;
mod keep;
mod leaf;
mod nearest;
mod problem;

pub use choice::*;
pub use fields::{Field, Kind, Unit, field, fields};
pub use json::MAX_JSON_BYTES;
pub use problem::*;

/// The name among `candidates` that `name` was most likely meant to be, if one is near.
pub fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest::nearest(name, candidates, nearest::Closeness::Value)
}
