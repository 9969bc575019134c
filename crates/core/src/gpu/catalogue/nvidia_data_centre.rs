//! Tesla and data-centre GPUs.

use super::table::{Row, Table, direct, driver, nvidia, pcie, runtime, sibling};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[Table {
    vendor: Vendor::Nvidia,
    segment: Segment::DataCentre,
    sheet: "NVIDIA data sheets and architecture white papers, sparse figures halved",
    rows: ROWS,
}];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Pascal: no matrix units, fp32 accumulation runs at the fp32 rate.
    nvidia("p4", "Tesla P4", driver(7_611), 192.0, 5.5, (6, 1, 20), pcie(3, 16)),
    nvidia("p40", "Tesla P40", driver(23_040), 346.0, 11.8, (6, 1, 30), pcie(3, 16)).note("memory with ECC on, as delivered"),
    nvidia("p100", "Tesla P100 16 GB", runtime(16_271), 732.0, 9.3, (6, 0, 56), pcie(3, 16)),
    // Volta and Turing.
    nvidia("v100-16gb-pcie", "Tesla V100 PCIe 16 GB", runtime(16_148), 900.0, 112.0, (7, 0, 80), pcie(3, 16)),
    nvidia("v100-16gb", "Tesla V100 SXM2 16 GB", runtime(16_148), 900.0, 125.0, (7, 0, 80), direct(150.0)),
    nvidia("v100-32gb-pcie", "Tesla V100 PCIe 32 GB", runtime(32_494), 900.0, 112.0, (7, 0, 80), pcie(3, 16)),
    nvidia("v100-32gb", "Tesla V100 SXM2 32 GB", runtime(32_494), 900.0, 125.0, (7, 0, 80), direct(150.0)),
    nvidia("t4", "Tesla T4", runtime(14_912), 320.0, 65.0, (7, 5, 40), pcie(3, 16)).note("memory measured with PyTorch 2.10"),
    // Ampere.
    nvidia("a2", "NVIDIA A2", sibling(14_905), 200.0, 18.0, (8, 6, 10), pcie(4, 8)),
    nvidia("a10", "NVIDIA A10", sibling(22_589), 600.0, 125.0, (8, 6, 72), pcie(4, 16)),
    nvidia("a10g", "NVIDIA A10G", runtime(22_589), 600.0, 70.0, (8, 6, 80), pcie(4, 16)),
    nvidia("a16", "NVIDIA A16 (one of four)", sibling(14_905), 200.0, 17.9, (8, 6, 10), pcie(4, 16)),
    nvidia("a30", "NVIDIA A30", sibling(24_062), 933.0, 165.0, (8, 0, 56), pcie(4, 16)).bridge(100.0),
    nvidia("a40", "NVIDIA A40", sibling(45_404), 696.0, 149.7, (8, 6, 84), pcie(4, 16)).bridge(56.25),
    nvidia("a100-40gb-pcie", "NVIDIA A100 PCIe 40 GB", sibling(40_335), 1555.0, 312.0, (8, 0, 108), pcie(4, 16)).bridge(300.0),
    nvidia("a100-40gb", "NVIDIA A100 SXM 40 GB", runtime(40_438), 1555.0, 312.0, (8, 0, 108), direct(300.0)),
    nvidia("a100-80gb-pcie", "NVIDIA A100 PCIe 80 GB", sibling(81_050), 1935.0, 312.0, (8, 0, 108), pcie(4, 16)).bridge(300.0),
    nvidia("a100-80gb", "NVIDIA A100 SXM 80 GB", runtime(81_151), 2039.0, 312.0, (8, 0, 108), direct(300.0)),
    nvidia("a800-80gb", "NVIDIA A800 SXM 80 GB", sibling(81_151), 2039.0, 312.0, (8, 0, 108), direct(200.0)),
    // Ada.
    nvidia("l4", "NVIDIA L4", runtime(22_558), 300.0, 121.0, (8, 9, 58), pcie(4, 16)),
    nvidia("l20", "NVIDIA L20", runtime(45_457), 864.0, 119.5, (8, 9, 92), pcie(4, 16)),
    nvidia("l40", "NVIDIA L40", sibling(45_455), 864.0, 181.0, (8, 9, 142), pcie(4, 16)),
    nvidia("l40s", "NVIDIA L40S", runtime(45_455), 864.0, 362.0, (8, 9, 142), pcie(4, 16)),
    // Hopper.
    nvidia("h20", "NVIDIA H20", runtime(97_285), 4000.0, 148.0, (9, 0, 78), direct(450.0)),
    nvidia("h100-80gb-pcie", "NVIDIA H100 PCIe 80 GB", runtime(81_090), 2039.0, 756.0, (9, 0, 114), pcie(5, 16)).bridge(300.0),
    nvidia("h100-80gb", "NVIDIA H100 SXM 80 GB", runtime(81_081), 3350.0, 989.4, (9, 0, 132), direct(450.0)),
    nvidia("h100-94gb-nvl", "NVIDIA H100 NVL 94 GB", runtime(95_324), 3938.0, 835.0, (9, 0, 132), pcie(5, 16)).bridge(300.0),
    nvidia("h800-80gb", "NVIDIA H800 SXM 80 GB", sibling(81_081), 3350.0, 989.4, (9, 0, 132), direct(200.0)),
    nvidia("h200", "NVIDIA H200 SXM 141 GB", runtime(143_155), 4800.0, 989.4, (9, 0, 132), direct(450.0)),
    nvidia("gh200-96gb", "NVIDIA GH200 96 GB", sibling(96_768), 4000.0, 989.4, (9, 0, 132), direct(450.0)),
    nvidia("gh200-144gb", "NVIDIA GH200 144 GB", runtime(145_920), 4900.0, 989.4, (9, 0, 132), direct(450.0)),
    // Blackwell.
    nvidia("b200", "NVIDIA B200 180 GB", runtime(182_630), 7700.0, 2250.0, (10, 0, 148), direct(900.0)),
    nvidia("gb200", "NVIDIA GB200 (one GPU)", runtime(188_733), 8000.0, 2500.0, (10, 0, 152), direct(900.0)),
    nvidia("b300", "NVIDIA B300 288 GB", runtime(274_115), 8000.0, 2250.0, (10, 3, 148), direct(900.0)),
];
