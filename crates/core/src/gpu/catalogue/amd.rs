//! AMD Instinct accelerators, Radeon and Radeon PRO GPUs.

use super::table::{Row, Table, data_sheet, direct, other, pcie, runtime};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[
    Table {
        vendor: Vendor::Amd,
        segment: Segment::Consumer,
        sheet: "AMD product pages: peak half-precision figures without sparsity",
        rows: RADEON,
    },
    Table {
        vendor: Vendor::Amd,
        segment: Segment::Workstation,
        sheet: "AMD product pages: peak half-precision figures without sparsity",
        rows: RADEON_PRO,
    },
    Table {
        vendor: Vendor::Amd,
        segment: Segment::DataCentre,
        sheet: "AMD Instinct data sheets: peak bf16 matrix figures without sparsity, Infinity Fabric links of a GPU together",
        rows: INSTINCT,
    },
];

#[rustfmt::skip]
const RADEON: &[Row] = &[
    other("rx-6800-xt", "Radeon RX 6800 XT", runtime(16_368), 512.0, 41.5, pcie(4, 16)).without_bf16(),
    other("rx-6900-xt", "Radeon RX 6900 XT", runtime(16_368), 512.0, 46.1, pcie(4, 16)).without_bf16(),
    other("rx-7800-xt", "Radeon RX 7800 XT", runtime(16_368), 624.0, 74.6, pcie(4, 16)),
    other("rx-7900-xt", "Radeon RX 7900 XT", runtime(20_464), 800.0, 103.0, pcie(4, 16)),
    other("rx-7900-xtx", "Radeon RX 7900 XTX", runtime(24_560), 960.0, 122.8, pcie(4, 16)),
    other("rx-9060-xt-16gb", "Radeon RX 9060 XT 16 GB", runtime(16_304), 320.0, 103.0, pcie(5, 16)),
    other("rx-9070-xt", "Radeon RX 9070 XT", runtime(16_304), 640.0, 195.0, pcie(5, 16)),
];

#[rustfmt::skip]
const RADEON_PRO: &[Row] = &[
    other("radeon-pro-w6800", "Radeon PRO W6800", data_sheet(32), 512.0, 35.7, pcie(4, 16)).without_bf16(),
    other("radeon-pro-w7800", "Radeon PRO W7800", data_sheet(32), 576.0, 90.5, pcie(4, 16)),
    other("radeon-pro-w7900", "Radeon PRO W7900", data_sheet(48), 864.0, 122.6, pcie(4, 16)),
    other("radeon-ai-pro-r9700", "Radeon AI PRO R9700", runtime(32_624), 640.0, 191.0, pcie(5, 16)),
];

#[rustfmt::skip]
const INSTINCT: &[Row] = &[
    other("mi100", "Instinct MI100", runtime(32_752), 1228.8, 92.3, pcie(4, 16)),
    other("mi210", "Instinct MI210", runtime(65_520), 1638.4, 181.0, pcie(4, 16)),
    other("mi250x", "Instinct MI250X (one of two dies)", runtime(65_520), 1638.4, 191.5, direct(200.0)),
    other("mi300a", "Instinct MI300A", data_sheet(128), 5300.0, 980.6, direct(384.0)),
    other("mi300x", "Instinct MI300X", runtime(196_290), 5300.0, 1307.4, direct(448.0)),
    other("mi325x", "Instinct MI325X", runtime(261_826), 6000.0, 1307.4, direct(448.0)),
    other("mi350x", "Instinct MI350X", runtime(294_891), 8000.0, 2306.9, direct(537.6)),
    other("mi355x", "Instinct MI355X", runtime(294_891), 8000.0, 2516.6, direct(537.6)),
];
