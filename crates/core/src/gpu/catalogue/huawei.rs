//! Huawei Ascend accelerators.

use super::table::{Row, Table, direct, other, runtime};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[Table {
    vendor: Vendor::Huawei,
    segment: Segment::DataCentre,
    sheet: "figures of third parties, which disagree, for the common 910B3; Huawei prints no data sheet",
    rows: ROWS,
}];

#[rustfmt::skip]
const ROWS: &[Row] = &[other("ascend-910b", "Ascend 910B 64 GB", runtime(62_423), 1600.0, 313.0, direct(196.0))];
