//! Quadro, RTX and RTX PRO workstation GPUs.

use super::table::{Row, Table, nvidia, pcie, runtime, sibling};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[Table {
    vendor: Vendor::Nvidia,
    segment: Segment::Workstation,
    sheet: "NVIDIA architecture white papers and workstation data sheets, sparse figures halved",
    rows: ROWS,
}];

const FROM_FP4: &str = "compute an eighth of the sheet's sparse fp4 figure";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Turing; the T1000 has no matrix units.
    nvidia("t1000-8gb", "NVIDIA T1000 8 GB", sibling(7_784), 160.0, 2.5, (7, 5, 14), pcie(3, 16)),
    nvidia("quadro-rtx-5000", "Quadro RTX 5000", runtime(15_927), 448.0, 89.2, (7, 5, 48), pcie(3, 16)).bridge(25.0),
    nvidia("quadro-rtx-6000", "Quadro RTX 6000", sibling(24_080), 672.0, 130.5, (7, 5, 72), pcie(3, 16)).bridge(50.0),
    nvidia("quadro-rtx-8000", "Quadro RTX 8000", sibling(48_590), 672.0, 130.5, (7, 5, 72), pcie(3, 16)).bridge(50.0),
    // Ampere.
    nvidia("rtx-a2000-12gb", "RTX A2000 12 GB", sibling(11_900), 288.0, 31.9, (8, 6, 26), pcie(4, 16)),
    nvidia("rtx-a4000", "RTX A4000", sibling(15_962), 448.0, 76.7, (8, 6, 48), pcie(4, 16)),
    nvidia("rtx-a4500", "RTX A4500", sibling(20_043), 640.0, 94.6, (8, 6, 56), pcie(4, 16)).bridge(56.25),
    nvidia("rtx-a5000", "RTX A5000", sibling(24_054), 768.0, 111.1, (8, 6, 64), pcie(4, 16)).bridge(56.25),
    nvidia("rtx-a6000", "RTX A6000", runtime(48_671), 768.0, 154.8, (8, 6, 84), pcie(4, 16)).bridge(56.25),
    // Ada.
    nvidia("rtx-2000-ada", "RTX 2000 Ada", sibling(15_944), 224.0, 48.0, (8, 9, 22), pcie(4, 8)),
    nvidia("rtx-4000-ada", "RTX 4000 Ada", sibling(20_050), 360.0, 106.9, (8, 9, 48), pcie(4, 16)),
    nvidia("rtx-4500-ada", "RTX 4500 Ada", sibling(24_086), 432.0, 158.5, (8, 9, 60), pcie(4, 16)),
    nvidia("rtx-5000-ada", "RTX 5000 Ada", sibling(32_216), 576.0, 261.1, (8, 9, 100), pcie(4, 16)),
    nvidia("rtx-6000-ada", "RTX 6000 Ada", runtime(48_509), 960.0, 364.2, (8, 9, 142), pcie(4, 16)),
    // Blackwell.
    nvidia("rtx-pro-4000-blackwell", "RTX PRO 4000 Blackwell", sibling(23_987), 672.0, 147.0, (12, 0, 70), pcie(5, 16)).note(FROM_FP4),
    nvidia("rtx-pro-4500-blackwell", "RTX PRO 4500 Blackwell", sibling(32_128), 896.0, 211.0, (12, 0, 82), pcie(5, 16)).note(FROM_FP4),
    nvidia("rtx-pro-5000-blackwell", "RTX PRO 5000 Blackwell", sibling(48_405), 1344.0, 258.0, (12, 0, 110), pcie(5, 16)).note(FROM_FP4),
    nvidia("rtx-pro-6000-blackwell", "RTX PRO 6000 Blackwell", runtime(97_249), 1792.0, 503.8, (12, 0, 188), pcie(5, 16)),
];
