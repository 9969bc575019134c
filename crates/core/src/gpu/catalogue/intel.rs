//! Intel Arc GPUs, Data Center GPU Max and Gaudi accelerators.

use super::table::{Row, Table, data_sheet, direct, other, pcie, runtime};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[
    Table { vendor: Vendor::Intel, segment: Segment::Consumer, sheet: ARC_SHEET, rows: ARC },
    Table { vendor: Vendor::Intel, segment: Segment::Workstation, sheet: ARC_SHEET, rows: ARC_PRO },
    Table {
        vendor: Vendor::Intel,
        segment: Segment::DataCentre,
        sheet: "Intel Data Center GPU Max and Gaudi data sheets and white papers",
        rows: DATA_CENTRE,
    },
];

const ARC_SHEET: &str = "Intel product pages; compute is half the int8 figure";

#[rustfmt::skip]
const ARC: &[Row] = &[
    other("arc-a770", "Arc A770 16 GB", runtime(15_473), 560.0, 131.0, pcie(4, 16)),
    other("arc-b580", "Arc B580", runtime(12_216), 456.0, 116.5, pcie(4, 8)),
];

#[rustfmt::skip]
const ARC_PRO: &[Row] = &[
    other("arc-pro-b50", "Arc Pro B50", runtime(16_304), 224.0, 85.0, pcie(5, 8)),
    other("arc-pro-b60", "Arc Pro B60", runtime(23_256), 456.0, 98.5, pcie(5, 8)),
];

#[rustfmt::skip]
const DATA_CENTRE: &[Row] = &[
    other("max-1100", "Data Center GPU Max 1100", data_sheet(48), 1228.8, 352.0, pcie(5, 16)).note("Xe Link not counted"),
    other("max-1550", "Data Center GPU Max 1550 (one of two stacks)", runtime(65_536), 1638.4, 416.0, pcie(5, 16)).note("Xe Link not counted"),
    other("gaudi-2", "Gaudi 2", data_sheet(96), 2450.0, 432.0, direct(262.5)),
    other("gaudi-3", "Gaudi 3", data_sheet(128), 3700.0, 1678.0, direct(525.0)),
];
