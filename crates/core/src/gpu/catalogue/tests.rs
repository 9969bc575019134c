#![allow(clippy::unwrap_used)]

use super::*;
use crate::gpu::catalogue::table::pcie;
use crate::gpu::*;
use std::collections::HashSet;

#[test]
fn ids_are_unique_and_well_formed() {
    let mut seen = HashSet::new();
    for card in catalogue() {
        assert!(seen.insert(card.id.as_ref()), "{} twice", card.id);
        assert!(card.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", card.id);
        assert!(!card.id.starts_with('-') && !card.id.ends_with('-') && !card.id.contains("--"), "{}", card.id);
        assert_ne!(card.id, "custom");
    }
    let names: HashSet<_> = catalogue().iter().map(|card| card.name.as_ref()).collect();
    assert_eq!(names.len(), catalogue().len(), "two cards share a name");
}

#[test]
fn covers_4_to_288_gb() {
    assert!(catalogue().len() >= 75, "{} cards", catalogue().len());
    let least = catalogue().iter().map(|card| card.memory_mib).min().unwrap();
    let most = catalogue().iter().map(|card| card.memory_mib).max().unwrap();
    assert!((3_584..=4_096).contains(&least), "{least}");
    assert!((281_600..=294_912).contains(&most), "{most}");
}

#[test]
fn figures_are_plausible_and_consistent() {
    for card in catalogue() {
        let id = &card.id;
        let gib = card.memory_mib as f64 / 1024.0;
        assert!((3.5..=300.0).contains(&gib), "{id}: {gib} GiB");
        assert!((100.0..=10_000.0).contains(&card.memory_bandwidth_gb_s), "{id}");
        assert!((1.0..=3_000.0).contains(&card.half_tflops), "{id}");
        // The whole memory can be read 2 to 200 times a second on every card ever sold for this work.
        let reads = card.memory_bandwidth_gb_s * 1e9 / card.memory_bytes() as f64;
        assert!((2.0..=200.0).contains(&reads), "{id}: {reads} reads of its memory a second");
        assert!(!card.source.is_empty() && card.source.starts_with("memory: "), "{id}");
        assert_eq!(card.compute_capability.is_some(), card.vendor == Vendor::Nvidia, "{id}");
        if let Some((major, _)) = card.compute_capability {
            assert_eq!(card.bf16, major >= 8, "{id}");
            assert!((6..=200).contains(&card.multiprocessors.unwrap()), "{id}");
            // Without matrix units only before Ampere.
            assert!(major < 8 || card.half_tflops > 10.0, "{id}");
        }
        match card.interconnect {
            Interconnect::Pcie { gb_s } => assert!((7.0..=64.0).contains(&gb_s), "{id}: {gb_s}"),
            Interconnect::Direct { gb_s } => assert!((100.0..=900.0).contains(&gb_s), "{id}: {gb_s}"),
        }
    }
}

#[test]
fn a_program_never_sees_more_than_the_size_in_the_name() {
    for card in catalogue() {
        let mut words = card.name.split(' ').peekable();
        while let Some(word) = words.next() {
            if words.peek() == Some(&"GB") {
                let gb: u64 = word.parse().unwrap();
                assert!(card.memory_mib <= gb * 1024, "{}: {} MiB of {gb} GB", card.id, card.memory_mib);
                assert!(card.memory_mib * 100 >= gb * 1024 * 90, "{}: {} MiB of {gb} GB", card.id, card.memory_mib);
            }
        }
    }
}

#[test]
fn well_known_cards_have_their_published_figures() {
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
        let card = find(id).unwrap();
        assert_eq!(card.memory_mib, memory_mib, "{id}");
        assert_eq!(card.memory_bandwidth_gb_s, bandwidth, "{id}");
        assert_eq!(card.half_tflops, half, "{id}");
        assert_eq!(card.compute_capability, Some(capability), "{id}");
    }
}

#[test]
fn compute_follows_multiprocessors_at_a_plausible_clock() {
    // Compute of GeForce cards is twice the fp32 rate since Ampere, so follows multiprocessors x clock x 128 x 4.
    for card in catalogue().iter().filter(|card| card.name.starts_with("GeForce RTX") && card.bf16) {
        let clock_ghz = card.half_tflops * 1e3 / (f64::from(card.multiprocessors.unwrap()) * 128.0 * 4.0);
        assert!((1.4..=2.8).contains(&clock_ghz), "{}: {clock_ghz} GHz", card.id);
    }
    // Workstation cards run at twice the rate of GeForce cards.
    for card in catalogue().iter().filter(|card| card.segment == Segment::Workstation && card.bf16) {
        if let Some(multiprocessors) = card.multiprocessors {
            let clock_ghz = card.half_tflops * 1e3 / (f64::from(multiprocessors) * 128.0 * 8.0);
            assert!((1.1..=2.8).contains(&clock_ghz), "{}: {clock_ghz} GHz", card.id);
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
fn a_custom_card_keeps_what_the_user_said() {
    let card = Card::custom(None, 65_536, (8, 0));
    assert_eq!((card.memory_mib, card.name.as_ref(), card.bf16), (65_536, "64 GiB", true));
    assert_eq!(card.memory_figure, MemoryFigure::User);
    let card = Card::custom(Some("Turing lab card"), 11_000, (7, 5));
    assert_eq!((card.name.as_ref(), card.bf16, card.compute_capability), ("Turing lab card", false, Some((7, 5))));
    assert_eq!(Card::custom(None, u64::MAX, (255, 255)).memory_bytes(), u64::MAX);
}
