#![allow(clippy::unwrap_used)]

use super::*;
use crate::gpu::catalogue::table::pcie;
use crate::gpu::*;
use std::collections::HashSet;

#[test]
fn ids_are_unique_and_well_formed() {
    let mut seen = HashSet::new();
    for gpu in catalogue() {
        assert!(seen.insert(gpu.id.as_ref()), "{} twice", gpu.id);
        assert!(gpu.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", gpu.id);
        assert!(!gpu.id.starts_with('-') && !gpu.id.ends_with('-') && !gpu.id.contains("--"), "{}", gpu.id);
        assert_ne!(gpu.id, "custom");
    }
    let names: HashSet<_> = catalogue().iter().map(|gpu| gpu.name.as_ref()).collect();
    assert_eq!(names.len(), catalogue().len(), "two GPUs share a name");
}

#[test]
fn covers_4_to_288_gb() {
    assert!(catalogue().len() >= 75, "{} GPUs", catalogue().len());
    let least = catalogue().iter().map(|gpu| gpu.memory_mib).min().unwrap();
    let most = catalogue().iter().map(|gpu| gpu.memory_mib).max().unwrap();
    assert!((3_584..=4_096).contains(&least), "{least}");
    assert!((281_600..=294_912).contains(&most), "{most}");
}

#[test]
fn figures_are_plausible_and_consistent() {
    for gpu in catalogue() {
        let id = &gpu.id;
        let gib = gpu.memory_mib as f64 / 1024.0;
        assert!((3.5..=300.0).contains(&gib), "{id}: {gib} GiB");
        assert!((100.0..=10_000.0).contains(&gpu.memory_bandwidth_gb_s), "{id}");
        assert!((1.0..=3_000.0).contains(&gpu.half_tflops), "{id}");
        // The whole memory can be read 2 to 200 times a second on every GPU ever sold for this work.
        let reads = gpu.memory_bandwidth_gb_s * 1e9 / gpu.memory_bytes() as f64;
        assert!((2.0..=200.0).contains(&reads), "{id}: {reads} reads of its memory a second");
        assert!(!gpu.source.is_empty() && gpu.source.starts_with("memory: "), "{id}");
        assert_eq!(gpu.compute_capability.is_some(), gpu.vendor == Vendor::Nvidia, "{id}");
        if let Some((major, _)) = gpu.compute_capability {
            assert_eq!(gpu.bf16, major >= 8, "{id}");
            assert!((6..=200).contains(&gpu.multiprocessors.unwrap()), "{id}");
            // Without matrix units only before Ampere.
            assert!(major < 8 || gpu.half_tflops > 10.0, "{id}");
        }
        match gpu.interconnect {
            Interconnect::Pcie { gb_s } => assert!((7.0..=64.0).contains(&gb_s), "{id}: {gb_s}"),
            Interconnect::Direct { gb_s } => assert!((100.0..=900.0).contains(&gb_s), "{id}: {gb_s}"),
        }
    }
}

#[test]
fn a_program_never_sees_more_than_the_size_in_the_name() {
    for gpu in catalogue() {
        let mut words = gpu.name.split(' ').peekable();
        while let Some(word) = words.next() {
            if words.peek() == Some(&"GB") {
                let gb: u64 = word.parse().unwrap();
                assert!(gpu.memory_mib <= gb * 1024, "{}: {} MiB of {gb} GB", gpu.id, gpu.memory_mib);
                assert!(gpu.memory_mib * 100 >= gb * 1024 * 90, "{}: {} MiB of {gb} GB", gpu.id, gpu.memory_mib);
            }
        }
    }
}

#[test]
fn well_known_gpus_have_their_published_figures() {
    for (id, memory_mib, bandwidth, half, capability) in [
        // "total capacity" in PyTorch's messages: 14.56, 23.56, 23.52, 31.36, 39.49, 79.25, 79.18, 139.80, 178.35 and 3.94 GiB.
        ("t4", 14_912, 320.0, 65.0, (7, 5)),
        ("rtx-3090", 24_121, 936.2, 71.2, (8, 6)),
        ("rtx-4090", 24_080, 1008.0, 165.2, (8, 9)),
        ("rtx-5090", 32_112, 1792.0, 209.5, (12, 0)),
        ("a100-40gb", 40_438, 1555.0, 312.0, (8, 0)),
        ("a100-80gb", 81_151, 2039.0, 312.0, (8, 0)),
        ("h100-80gb", 81_081, 3350.0, 989.4, (9, 0)),
        ("h200", 143_155, 4800.0, 989.4, (9, 0)),
        ("b200", 182_630, 7700.0, 2250.0, (10, 0)),
        ("gtx-1050-ti", 4_038, 112.0, 2.1, (6, 1)),
    ] {
        let gpu = find(id).unwrap();
        assert_eq!(gpu.memory_mib, memory_mib, "{id}");
        assert_eq!(gpu.memory_bandwidth_gb_s, bandwidth, "{id}");
        assert_eq!(gpu.half_tflops, half, "{id}");
        assert_eq!(gpu.compute_capability, Some(capability), "{id}");
    }
}

#[test]
fn compute_follows_multiprocessors_at_a_plausible_clock() {
    // Compute of GeForce GPUs is twice the fp32 rate since Ampere, so follows multiprocessors x clock x 128 x 4.
    for gpu in catalogue().iter().filter(|gpu| gpu.name.starts_with("GeForce RTX") && gpu.bf16) {
        let clock_ghz = gpu.half_tflops * 1e3 / (f64::from(gpu.multiprocessors.unwrap()) * 128.0 * 4.0);
        assert!((1.4..=2.8).contains(&clock_ghz), "{}: {clock_ghz} GHz", gpu.id);
    }
    // Workstation GPUs run at twice the rate of GeForce GPUs.
    for gpu in catalogue().iter().filter(|gpu| gpu.segment == Segment::Workstation && gpu.bf16) {
        if let Some(multiprocessors) = gpu.multiprocessors {
            let clock_ghz = gpu.half_tflops * 1e3 / (f64::from(multiprocessors) * 128.0 * 8.0);
            assert!((1.1..=2.8).contains(&clock_ghz), "{}: {clock_ghz} GHz", gpu.id);
        }
    }
}

#[test]
fn finds_in_any_case_and_nothing_else() {
    assert_eq!(find("A100-80GB").unwrap().id, "a100-80gb");
    assert_eq!(find("ascend-910b").unwrap().vendor, Vendor::Huawei);
    assert!(find("").is_none() && find("custom").is_none() && find("rtx").is_none());
}

#[test]
fn links_have_the_textbook_rates() {
    for (link, expected) in [(pcie(3, 16), 15.75), (pcie(4, 16), 31.5), (pcie(5, 16), 63.0), (pcie(4, 8), 15.75)] {
        assert_eq!(link, Interconnect::Pcie { gb_s: expected });
    }
    assert_eq!(find("a100-80gb").unwrap().interconnect, Interconnect::Direct { gb_s: 300.0 });
    assert_eq!(find("rtx-3090").unwrap().bridge_gb_s, Some(56.25));
}

#[test]
fn a_custom_gpu_keeps_what_the_user_said() {
    let gpu = Gpu::custom(None, 65_536, (8, 0));
    assert_eq!((gpu.memory_mib, gpu.name.as_ref(), gpu.bf16), (65_536, "64 GiB", true));
    assert_eq!(gpu.memory_figure, MemoryFigure::User);
    let gpu = Gpu::custom(Some("Turing lab GPU"), 11_000, (7, 5));
    assert_eq!((gpu.name.as_ref(), gpu.bf16, gpu.compute_capability), ("Turing lab GPU", false, Some((7, 5))));
    assert_eq!(Gpu::custom(None, u64::MAX, (255, 255)).memory_bytes(), u64::MAX);
}
