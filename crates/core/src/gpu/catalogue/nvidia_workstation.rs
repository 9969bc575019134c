//! Quadro, RTX and RTX PRO workstation cards.

use super::{Row, Table, driver, nvidia, pcie, runtime};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[Table {
    vendor: Vendor::Nvidia,
    segment: Segment::Workstation,
    sheet: "NVIDIA architecture white papers and workstation data sheets, sparse figures halved",
    rows: ROWS,
}];

const ROWS: &[Row] = &[
    // Turing; the T1000 has no matrix units.
    nvidia("t1000-8gb", "NVIDIA T1000 8 GB", driver(8_192), 160.0, 2.5, (7, 5), pcie(3, 16)),
    nvidia("quadro-rtx-5000", "Quadro RTX 5000", driver(16_384), 448.0, 89.2, (7, 5), pcie(3, 16)).bridge(25.0),
    nvidia("quadro-rtx-6000", "Quadro RTX 6000", driver(24_576), 672.0, 130.5, (7, 5), pcie(3, 16)).bridge(50.0),
    nvidia("quadro-rtx-8000", "Quadro RTX 8000", driver(49_152), 672.0, 130.5, (7, 5), pcie(3, 16)).bridge(50.0),
    // Ampere.
    nvidia("rtx-a2000-12gb", "RTX A2000 12 GB", driver(12_282), 288.0, 31.9, (8, 6), pcie(4, 16)),
    nvidia("rtx-a4000", "RTX A4000", driver(16_376), 448.0, 76.7, (8, 6), pcie(4, 16)),
    nvidia("rtx-a4500", "RTX A4500", driver(20_470), 640.0, 94.6, (8, 6), pcie(4, 16)).bridge(56.25),
    nvidia("rtx-a5000", "RTX A5000", driver(24_564), 768.0, 111.1, (8, 6), pcie(4, 16)).bridge(56.25),
    nvidia("rtx-a6000", "RTX A6000", runtime(48_537), 768.0, 154.8, (8, 6), pcie(4, 16)).bridge(56.25),
    // Ada.
    nvidia("rtx-2000-ada", "RTX 2000 Ada", driver(16_380), 224.0, 48.0, (8, 9), pcie(4, 8)),
    nvidia("rtx-4000-ada", "RTX 4000 Ada", driver(20_475), 360.0, 106.9, (8, 9), pcie(4, 16)),
    nvidia("rtx-4500-ada", "RTX 4500 Ada", driver(24_570), 432.0, 158.5, (8, 9), pcie(4, 16)),
    nvidia("rtx-5000-ada", "RTX 5000 Ada", driver(32_760), 576.0, 261.1, (8, 9), pcie(4, 16)),
    nvidia("rtx-6000-ada", "RTX 6000 Ada", runtime(48_537), 960.0, 364.2, (8, 9), pcie(4, 16)),
    // Blackwell.
    nvidia("rtx-pro-4000-blackwell", "RTX PRO 4000 Blackwell", driver(24_467), 672.0, 187.0, (12, 0), pcie(5, 16)),
    nvidia("rtx-pro-5000-blackwell", "RTX PRO 5000 Blackwell", driver(48_935), 1344.0, 294.0, (12, 0), pcie(5, 16)),
    nvidia("rtx-pro-6000-blackwell", "RTX PRO 6000 Blackwell", runtime(97_249), 1792.0, 503.8, (12, 0), pcie(5, 16)),
];
