//! GeForce and TITAN GPUs, desktop and notebook.

use super::table::{Row, Table, nvidia, pcie, runtime, sibling};
use crate::gpu::{Segment, Vendor};

pub(super) const TABLES: &[Table] = &[
    Table {
        vendor: Vendor::Nvidia,
        segment: Segment::Consumer,
        sheet: "NVIDIA architecture white papers and product pages; GeForce GPUs run fp32 accumulation at half rate",
        rows: DESKTOP,
    },
    Table {
        vendor: Vendor::Nvidia,
        segment: Segment::Laptop,
        sheet: "NVIDIA product pages; compute at the highest boost clock a notebook maker may set, most notebooks stay below",
        rows: LAPTOP,
    },
];

#[rustfmt::skip]
const DESKTOP: &[Row] = &[
    // Pascal: no matrix units, half precision runs at the fp32 rate.
    nvidia("gtx-1050-ti", "GeForce GTX 1050 Ti", runtime(4_038), 112.0, 2.1, (6, 1, 6), pcie(3, 16)),
    nvidia("gtx-1060", "GeForce GTX 1060 6 GB", runtime(6_063), 192.0, 4.4, (6, 1, 10), pcie(3, 16)),
    nvidia("gtx-1070", "GeForce GTX 1070", sibling(8_107), 256.0, 6.5, (6, 1, 15), pcie(3, 16)),
    nvidia("gtx-1070-ti", "GeForce GTX 1070 Ti", sibling(8_107), 256.0, 8.2, (6, 1, 19), pcie(3, 16)),
    nvidia("gtx-1080", "GeForce GTX 1080", runtime(8_107), 320.0, 8.9, (6, 1, 20), pcie(3, 16)),
    nvidia("gtx-1080-ti", "GeForce GTX 1080 Ti", sibling(11_165), 484.0, 11.3, (6, 1, 28), pcie(3, 16)),
    // Turing without matrix units.
    nvidia("gtx-1650", "GeForce GTX 1650", runtime(3_712), 128.0, 3.0, (7, 5, 14), pcie(3, 16)),
    nvidia("gtx-1660", "GeForce GTX 1660", sibling(5_747), 192.0, 5.0, (7, 5, 22), pcie(3, 16)),
    nvidia("gtx-1660-super", "GeForce GTX 1660 SUPER", sibling(5_747), 336.0, 5.0, (7, 5, 22), pcie(3, 16)),
    nvidia("gtx-1660-ti", "GeForce GTX 1660 Ti", runtime(5_747), 288.0, 5.4, (7, 5, 24), pcie(3, 16)),
    // Turing.
    nvidia("rtx-2060", "GeForce RTX 2060", sibling(5_747), 336.0, 25.8, (7, 5, 30), pcie(3, 16)),
    nvidia("rtx-2060-12gb", "GeForce RTX 2060 12 GB", runtime(11_833), 336.0, 28.7, (7, 5, 34), pcie(3, 16)),
    nvidia("rtx-2060-super", "GeForce RTX 2060 SUPER", sibling(7_784), 448.0, 28.7, (7, 5, 34), pcie(3, 16)),
    nvidia("rtx-2070", "GeForce RTX 2070", sibling(7_784), 448.0, 29.9, (7, 5, 36), pcie(3, 16)),
    nvidia("rtx-2070-super", "GeForce RTX 2070 SUPER", sibling(7_784), 448.0, 36.2, (7, 5, 40), pcie(3, 16)).bridge(25.0),
    nvidia("rtx-2080", "GeForce RTX 2080", sibling(7_784), 448.0, 40.3, (7, 5, 46), pcie(3, 16)).bridge(25.0),
    nvidia("rtx-2080-super", "GeForce RTX 2080 SUPER", runtime(7_784), 496.0, 44.6, (7, 5, 48), pcie(3, 16)).bridge(25.0),
    nvidia("rtx-2080-ti", "GeForce RTX 2080 Ti", runtime(10_823), 616.0, 53.8, (7, 5, 68), pcie(3, 16)).bridge(50.0),
    nvidia("titan-rtx", "TITAN RTX", sibling(24_080), 672.0, 130.5, (7, 5, 72), pcie(3, 16)).bridge(50.0),
    // Ampere.
    nvidia("rtx-3050", "GeForce RTX 3050 8 GB", sibling(7_819), 224.0, 18.2, (8, 6, 20), pcie(4, 8)),
    nvidia("rtx-3060-8gb", "GeForce RTX 3060 8 GB", sibling(7_819), 240.0, 25.5, (8, 6, 28), pcie(4, 16)),
    nvidia("rtx-3060", "GeForce RTX 3060 12 GB", runtime(11_906), 360.0, 25.5, (8, 6, 28), pcie(4, 16)),
    nvidia("rtx-3060-ti", "GeForce RTX 3060 Ti", sibling(7_819), 448.0, 32.4, (8, 6, 38), pcie(4, 16)),
    nvidia("rtx-3070", "GeForce RTX 3070", runtime(7_819), 448.0, 40.6, (8, 6, 46), pcie(4, 16)),
    nvidia("rtx-3070-ti", "GeForce RTX 3070 Ti", sibling(7_819), 608.0, 43.5, (8, 6, 48), pcie(4, 16)),
    nvidia("rtx-3080", "GeForce RTX 3080 10 GB", runtime(9_871), 760.0, 59.5, (8, 6, 68), pcie(4, 16)),
    nvidia("rtx-3080-12gb", "GeForce RTX 3080 12 GB", sibling(11_906), 912.0, 61.3, (8, 6, 70), pcie(4, 16)),
    nvidia("rtx-3080-ti", "GeForce RTX 3080 Ti", sibling(11_906), 912.0, 68.2, (8, 6, 80), pcie(4, 16)),
    nvidia("rtx-3090", "GeForce RTX 3090", runtime(24_121), 936.2, 71.2, (8, 6, 82), pcie(4, 16)).bridge(56.25),
    nvidia("rtx-3090-ti", "GeForce RTX 3090 Ti", sibling(24_109), 1008.0, 80.0, (8, 6, 84), pcie(4, 16)).bridge(56.25),
    // Ada.
    nvidia("rtx-4060", "GeForce RTX 4060", sibling(7_813), 272.0, 30.2, (8, 9, 24), pcie(4, 8)),
    nvidia("rtx-4060-ti", "GeForce RTX 4060 Ti 8 GB", sibling(7_813), 288.0, 44.1, (8, 9, 34), pcie(4, 8)),
    nvidia("rtx-4060-ti-16gb", "GeForce RTX 4060 Ti 16 GB", runtime(15_944), 288.0, 44.1, (8, 9, 34), pcie(4, 8)),
    nvidia("rtx-4070", "GeForce RTX 4070", runtime(11_866), 504.2, 58.3, (8, 9, 46), pcie(4, 16)),
    nvidia("rtx-4070-super", "GeForce RTX 4070 SUPER", sibling(11_866), 504.2, 71.0, (8, 9, 56), pcie(4, 16)),
    nvidia("rtx-4070-ti", "GeForce RTX 4070 Ti", sibling(11_866), 504.2, 80.2, (8, 9, 60), pcie(4, 16)),
    nvidia("rtx-4070-ti-super", "GeForce RTX 4070 Ti SUPER", sibling(15_942), 672.3, 88.2, (8, 9, 66), pcie(4, 16)),
    nvidia("rtx-4080", "GeForce RTX 4080", sibling(15_942), 716.8, 97.5, (8, 9, 76), pcie(4, 16)),
    nvidia("rtx-4080-super", "GeForce RTX 4080 SUPER", runtime(15_942), 736.3, 104.4, (8, 9, 80), pcie(4, 16)),
    nvidia("rtx-4090-d", "GeForce RTX 4090 D", sibling(24_080), 1008.0, 147.1, (8, 9, 114), pcie(4, 16)),
    nvidia("rtx-4090", "GeForce RTX 4090", runtime(24_080), 1008.0, 165.2, (8, 9, 128), pcie(4, 16)),
    // Blackwell.
    nvidia("rtx-5060", "GeForce RTX 5060", sibling(7_700), 448.0, 38.4, (12, 0, 30), pcie(5, 8)),
    nvidia("rtx-5060-ti", "GeForce RTX 5060 Ti 8 GB", sibling(7_700), 448.0, 47.4, (12, 0, 36), pcie(5, 8)),
    nvidia("rtx-5060-ti-16gb", "GeForce RTX 5060 Ti 16 GB", runtime(15_825), 448.0, 47.4, (12, 0, 36), pcie(5, 8)),
    nvidia("rtx-5070", "GeForce RTX 5070", sibling(11_766), 672.0, 61.7, (12, 0, 48), pcie(5, 16)),
    nvidia("rtx-5070-ti", "GeForce RTX 5070 Ti", runtime(15_842), 896.0, 87.9, (12, 0, 70), pcie(5, 16)),
    nvidia("rtx-5080", "GeForce RTX 5080", runtime(15_880), 960.0, 112.6, (12, 0, 84), pcie(5, 16)),
    nvidia("rtx-5090", "GeForce RTX 5090", runtime(32_112), 1792.0, 209.5, (12, 0, 170), pcie(5, 16)),
];

#[rustfmt::skip]
const LAPTOP: &[Row] = &[
    nvidia("rtx-3050-laptop", "GeForce RTX 3050 Laptop 4 GB", sibling(3_768), 192.0, 14.2, (8, 6, 16), pcie(4, 8)),
    nvidia("rtx-3060-laptop", "GeForce RTX 3060 Laptop", sibling(5_785), 336.0, 26.2, (8, 6, 30), pcie(4, 16)),
    nvidia("rtx-3070-laptop", "GeForce RTX 3070 Laptop", sibling(7_819), 448.0, 33.2, (8, 6, 40), pcie(4, 16)),
    nvidia("rtx-3080-laptop-16gb", "GeForce RTX 3080 Laptop 16 GB", sibling(15_970), 448.0, 42.0, (8, 6, 48), pcie(4, 16)),
    nvidia("rtx-3080-ti-laptop", "GeForce RTX 3080 Ti Laptop", sibling(15_970), 512.0, 47.2, (8, 6, 58), pcie(4, 16)),
    nvidia("rtx-4050-laptop", "GeForce RTX 4050 Laptop", sibling(5_734), 192.0, 24.3, (8, 9, 20), pcie(4, 8)),
    nvidia("rtx-4060-laptop", "GeForce RTX 4060 Laptop", runtime(7_815), 256.0, 29.1, (8, 9, 24), pcie(4, 8)),
    nvidia("rtx-4070-laptop", "GeForce RTX 4070 Laptop", runtime(7_813), 256.0, 40.1, (8, 9, 36), pcie(4, 8)),
    nvidia("rtx-4080-laptop", "GeForce RTX 4080 Laptop", sibling(11_866), 432.0, 67.7, (8, 9, 58), pcie(4, 16)),
    nvidia("rtx-4090-laptop", "GeForce RTX 4090 Laptop", sibling(15_942), 576.0, 79.4, (8, 9, 76), pcie(4, 16)),
    nvidia("rtx-5070-ti-laptop", "GeForce RTX 5070 Ti Laptop", sibling(11_766), 672.0, 52.0, (12, 0, 46), pcie(5, 16)),
    nvidia("rtx-5080-laptop", "GeForce RTX 5080 Laptop", sibling(15_842), 896.0, 70.1, (12, 0, 60), pcie(5, 16)),
    nvidia("rtx-5090-laptop", "GeForce RTX 5090 Laptop", sibling(23_990), 896.0, 90.7, (12, 0, 82), pcie(5, 16)),
];
