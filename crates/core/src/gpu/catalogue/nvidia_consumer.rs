//! GeForce and TITAN cards, desktop and notebook.

use super::{Row, Table, driver, nvidia, pcie, runtime};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[
    Table {
        vendor: Vendor::Nvidia,
        segment: Segment::Consumer,
        sheet: "NVIDIA architecture white papers (Pascal to Blackwell) and product pages; half precision with fp32 accumulation, which GeForce cards run at half rate",
        rows: DESKTOP,
    },
    Table {
        vendor: Vendor::Nvidia,
        segment: Segment::Laptop,
        sheet: "NVIDIA product pages; compute at the highest boost clock a notebook maker may set, most notebooks stay below",
        rows: LAPTOP,
    },
];

const DESKTOP: &[Row] = &[
    // Pascal: no matrix units, half precision runs at the fp32 rate.
    nvidia("gtx-1050-ti", "GeForce GTX 1050 Ti", runtime(4_040), 112.0, 2.1, (6, 1), pcie(3, 16)),
    nvidia("gtx-1060", "GeForce GTX 1060 6 GB", runtime(6_072), 192.0, 4.4, (6, 1), pcie(3, 16)),
    nvidia("gtx-1070", "GeForce GTX 1070", runtime(8_113), 256.0, 6.5, (6, 1), pcie(3, 16)),
    nvidia("gtx-1070-ti", "GeForce GTX 1070 Ti", runtime(8_113), 256.0, 8.2, (6, 1), pcie(3, 16)),
    nvidia("gtx-1080", "GeForce GTX 1080", runtime(8_113), 320.0, 8.9, (6, 1), pcie(3, 16)),
    nvidia("gtx-1080-ti", "GeForce GTX 1080 Ti", runtime(11_172), 484.0, 11.3, (6, 1), pcie(3, 16)),
    // Turing without matrix units.
    nvidia("gtx-1650", "GeForce GTX 1650", runtime(3_908), 128.0, 3.0, (7, 5), pcie(3, 16)),
    nvidia("gtx-1660", "GeForce GTX 1660", runtime(5_934), 192.0, 5.0, (7, 5), pcie(3, 16)),
    nvidia("gtx-1660-super", "GeForce GTX 1660 SUPER", runtime(5_934), 336.0, 5.0, (7, 5), pcie(3, 16)),
    nvidia("gtx-1660-ti", "GeForce GTX 1660 Ti", runtime(5_934), 288.0, 5.4, (7, 5), pcie(3, 16)),
    // Turing.
    nvidia("rtx-2060", "GeForce RTX 2060", runtime(5_926), 336.0, 25.8, (7, 5), pcie(3, 16)),
    nvidia("rtx-2060-super", "GeForce RTX 2060 SUPER", runtime(7_974), 448.0, 28.7, (7, 5), pcie(3, 16)),
    nvidia("rtx-2070", "GeForce RTX 2070", runtime(7_974), 448.0, 29.9, (7, 5), pcie(3, 16)),
    nvidia("rtx-2070-super", "GeForce RTX 2070 SUPER", runtime(7_974), 448.0, 36.2, (7, 5), pcie(3, 16)).bridge(25.0),
    nvidia("rtx-2080", "GeForce RTX 2080", runtime(7_974), 448.0, 40.3, (7, 5), pcie(3, 16)).bridge(25.0),
    nvidia("rtx-2080-super", "GeForce RTX 2080 SUPER", runtime(7_974), 496.0, 44.6, (7, 5), pcie(3, 16)).bridge(25.0),
    nvidia("rtx-2080-ti", "GeForce RTX 2080 Ti", runtime(11_011), 616.0, 53.8, (7, 5), pcie(3, 16)).bridge(50.0),
    nvidia("titan-rtx", "TITAN RTX", runtime(24_212), 672.0, 130.5, (7, 5), pcie(3, 16)).bridge(50.0),
    // Ampere.
    nvidia("rtx-3050", "GeForce RTX 3050 8 GB", driver(8_192), 224.0, 18.2, (8, 6), pcie(4, 8)),
    nvidia("rtx-3060-8gb", "GeForce RTX 3060 8 GB", driver(8_192), 240.0, 25.5, (8, 6), pcie(4, 16)),
    nvidia("rtx-3060", "GeForce RTX 3060 12 GB", runtime(11_909), 360.0, 25.5, (8, 6), pcie(4, 16)),
    nvidia("rtx-3060-ti", "GeForce RTX 3060 Ti", driver(8_192), 448.0, 32.4, (8, 6), pcie(4, 16)),
    nvidia("rtx-3070", "GeForce RTX 3070", driver(8_192), 448.0, 40.6, (8, 6), pcie(4, 16)),
    nvidia("rtx-3070-ti", "GeForce RTX 3070 Ti", driver(8_192), 608.0, 43.5, (8, 6), pcie(4, 16)),
    nvidia("rtx-3080", "GeForce RTX 3080 10 GB", driver(10_240), 760.0, 59.5, (8, 6), pcie(4, 16)),
    nvidia("rtx-3080-12gb", "GeForce RTX 3080 12 GB", driver(12_288), 912.0, 61.3, (8, 6), pcie(4, 16)),
    nvidia("rtx-3080-ti", "GeForce RTX 3080 Ti", driver(12_288), 912.0, 68.2, (8, 6), pcie(4, 16)),
    nvidia("rtx-3090", "GeForce RTX 3090", runtime(24_125), 936.2, 71.2, (8, 6), pcie(4, 16)).bridge(56.25),
    nvidia("rtx-3090-ti", "GeForce RTX 3090 Ti", driver(24_564), 1008.0, 80.0, (8, 6), pcie(4, 16)).bridge(56.25),
    // Ada.
    nvidia("rtx-4060", "GeForce RTX 4060", driver(8_188), 272.0, 30.2, (8, 9), pcie(4, 8)),
    nvidia("rtx-4060-ti", "GeForce RTX 4060 Ti 8 GB", driver(8_188), 288.0, 44.1, (8, 9), pcie(4, 8)),
    nvidia("rtx-4060-ti-16gb", "GeForce RTX 4060 Ti 16 GB", driver(16_380), 288.0, 44.1, (8, 9), pcie(4, 8)),
    nvidia("rtx-4070", "GeForce RTX 4070", driver(12_282), 504.2, 58.3, (8, 9), pcie(4, 16)),
    nvidia("rtx-4070-super", "GeForce RTX 4070 SUPER", driver(12_282), 504.2, 71.0, (8, 9), pcie(4, 16)),
    nvidia("rtx-4070-ti", "GeForce RTX 4070 Ti", driver(12_282), 504.2, 80.2, (8, 9), pcie(4, 16)),
    nvidia("rtx-4070-ti-super", "GeForce RTX 4070 Ti SUPER", driver(16_376), 672.3, 88.2, (8, 9), pcie(4, 16)),
    nvidia("rtx-4080", "GeForce RTX 4080", driver(16_376), 716.8, 97.5, (8, 9), pcie(4, 16)),
    nvidia("rtx-4080-super", "GeForce RTX 4080 SUPER", driver(16_376), 736.3, 104.4, (8, 9), pcie(4, 16)),
    nvidia("rtx-4090-d", "GeForce RTX 4090 D", driver(24_564), 1008.0, 147.1, (8, 9), pcie(4, 16)),
    nvidia("rtx-4090", "GeForce RTX 4090", runtime(24_084), 1008.0, 165.2, (8, 9), pcie(4, 16)),
    // Blackwell.
    nvidia("rtx-5060", "GeForce RTX 5060", driver(8_151), 448.0, 38.4, (12, 0), pcie(5, 8)),
    nvidia("rtx-5060-ti", "GeForce RTX 5060 Ti 8 GB", driver(8_151), 448.0, 47.4, (12, 0), pcie(5, 8)),
    nvidia("rtx-5060-ti-16gb", "GeForce RTX 5060 Ti 16 GB", runtime(15_841), 448.0, 47.4, (12, 0), pcie(5, 8)),
    nvidia("rtx-5070", "GeForce RTX 5070", driver(12_227), 672.0, 61.7, (12, 0), pcie(5, 16)),
    nvidia("rtx-5070-ti", "GeForce RTX 5070 Ti", driver(16_303), 896.0, 87.9, (12, 0), pcie(5, 16)),
    nvidia("rtx-5080", "GeForce RTX 5080", driver(16_303), 960.0, 112.6, (12, 0), pcie(5, 16)),
    nvidia("rtx-5090", "GeForce RTX 5090", runtime(32_112), 1792.0, 209.5, (12, 0), pcie(5, 16)),
];

const LAPTOP: &[Row] = &[
    nvidia("rtx-3050-laptop", "GeForce RTX 3050 Laptop 4 GB", driver(4_096), 192.0, 14.2, (8, 6), pcie(4, 8)),
    nvidia("rtx-3060-laptop", "GeForce RTX 3060 Laptop", driver(6_144), 336.0, 26.2, (8, 6), pcie(4, 16)),
    nvidia("rtx-3070-laptop", "GeForce RTX 3070 Laptop", driver(8_192), 448.0, 33.2, (8, 6), pcie(4, 16)),
    nvidia("rtx-3080-laptop-16gb", "GeForce RTX 3080 Laptop 16 GB", driver(16_384), 448.0, 42.0, (8, 6), pcie(4, 16)),
    nvidia("rtx-3080-ti-laptop", "GeForce RTX 3080 Ti Laptop", driver(16_384), 512.0, 47.2, (8, 6), pcie(4, 16)),
    nvidia("rtx-4050-laptop", "GeForce RTX 4050 Laptop", driver(6_141), 192.0, 24.3, (8, 9), pcie(4, 8)),
    nvidia("rtx-4060-laptop", "GeForce RTX 4060 Laptop", driver(8_188), 256.0, 29.1, (8, 9), pcie(4, 8)),
    nvidia("rtx-4070-laptop", "GeForce RTX 4070 Laptop", driver(8_188), 256.0, 40.1, (8, 9), pcie(4, 8)),
    nvidia("rtx-4080-laptop", "GeForce RTX 4080 Laptop", driver(12_282), 432.0, 67.7, (8, 9), pcie(4, 16)),
    nvidia("rtx-4090-laptop", "GeForce RTX 4090 Laptop", driver(16_376), 576.0, 79.4, (8, 9), pcie(4, 16)),
    nvidia("rtx-5070-ti-laptop", "GeForce RTX 5070 Ti Laptop", driver(12_227), 672.0, 52.0, (12, 0), pcie(5, 16)),
    nvidia("rtx-5080-laptop", "GeForce RTX 5080 Laptop", driver(16_303), 896.0, 70.1, (12, 0), pcie(5, 16)),
    nvidia("rtx-5090-laptop", "GeForce RTX 5090 Laptop", driver(24_463), 896.0, 90.7, (12, 0), pcie(5, 16)),
];
