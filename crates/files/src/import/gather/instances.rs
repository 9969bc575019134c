//! Machines that clouds rent, by name: which GPU they have, and how many.

/// A family of machines: how their names begin, their GPU, and how the names go on for how many of it.
type Family = (&'static str, &'static str, &'static [(&'static str, i64)]);

/// Sizes of Amazon's machines with one, four or eight small GPUs.
const BY_SIZE: &[(&str, i64)] = &[
    ("xlarge", 1),
    ("2xlarge", 1),
    ("4xlarge", 1),
    ("8xlarge", 1),
    ("16xlarge", 1),
    ("12xlarge", 4),
    ("24xlarge", 4),
    ("48xlarge", 8),
];

/// Amazon EC2's accelerated instances, Google's accelerator-optimized machine types, Azure's ND, NC and NV sizes, as their
/// documentation lists them (November 2026).
const FAMILIES: &[Family] = &[
    ("p3.", "v100-16gb", &[("2xlarge", 1), ("8xlarge", 4), ("16xlarge", 8)]),
    ("p3dn.", "v100-32gb", &[("24xlarge", 8)]),
    ("p4d.", "a100-40gb", &[("24xlarge", 8)]),
    ("p4de.", "a100-80gb", &[("24xlarge", 8)]),
    ("p5.", "h100-80gb", &[("4xlarge", 1), ("48xlarge", 8)]),
    ("p5e.", "h200", &[("48xlarge", 8)]),
    ("p5en.", "h200", &[("48xlarge", 8)]),
    ("p6-b200.", "b200", &[("48xlarge", 8)]),
    ("p6-b300.", "b300", &[("48xlarge", 8)]),
    (
        "g4dn.",
        "t4",
        &[
            ("xlarge", 1),
            ("2xlarge", 1),
            ("4xlarge", 1),
            ("8xlarge", 1),
            ("16xlarge", 1),
            ("12xlarge", 4),
            ("metal", 8),
        ],
    ),
    ("g5.", "a10g", BY_SIZE),
    ("g6.", "l4", BY_SIZE),
    ("g6e.", "l40s", BY_SIZE),
    ("a2-highgpu-", "a100-40gb", &[("1g", 1), ("2g", 2), ("4g", 4), ("8g", 8)]),
    ("a2-megagpu-", "a100-40gb", &[("16g", 16)]),
    ("a2-ultragpu-", "a100-80gb", &[("1g", 1), ("2g", 2), ("4g", 4), ("8g", 8)]),
    ("a3-highgpu-", "h100-80gb", &[("1g", 1), ("2g", 2), ("4g", 4), ("8g", 8)]),
    ("a3-megagpu-", "h100-80gb", &[("8g", 8)]),
    ("a3-edgegpu-", "h100-80gb", &[("8g", 8)]),
    ("a3-ultragpu-", "h200", &[("8g", 8)]),
    ("a4-highgpu-", "b200", &[("8g", 8)]),
    ("g2-standard-", "l4", &[("4", 1), ("8", 1), ("12", 1), ("16", 1), ("32", 1), ("24", 2), ("48", 4), ("96", 8)]),
    ("nd96", "a100-40gb", &[("asr_v4", 8)]),
    ("nd96", "a100-80gb", &[("amsr_a100_v4", 8)]),
    ("nd96", "h100-80gb", &[("isr_h100_v5", 8)]),
    ("nd96", "h200", &[("isr_h200_v5", 8)]),
    ("nc", "a100-80gb", &[("24ads_a100_v4", 1), ("48ads_a100_v4", 2), ("96ads_a100_v4", 4)]),
    ("nc", "h100-94gb-nvl", &[("40ads_h100_v5", 1), ("80adis_h100_v5", 2)]),
    ("nc", "t4", &[("4as_t4_v3", 1), ("8as_t4_v3", 1), ("16as_t4_v3", 1), ("64as_t4_v3", 4)]),
    ("nc", "v100-16gb", &[("6s_v3", 1), ("12s_v3", 2), ("24s_v3", 4), ("24rs_v3", 4)]),
    ("nd40", "v100-32gb", &[("rs_v2", 8)]),
    ("nv", "a10", &[("36ads_a10_v5", 1), ("72ads_a10_v5", 2)]),
];

/// A machine that a text names: its GPU, how many of it, and from where to where the name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) gpu: &'static str,
    pub(super) count: i64,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The machines that `line` names.
pub(super) fn instances(line: &str) -> Vec<Instance> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let mut found = Vec::new();
    for word in line.split(|letter| !is_part(letter)).filter(|word| word.len() > 4) {
        let plain = word.trim_end_matches(['.', '-', '_']);
        let from = (word.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
        if let Some((gpu, count)) = machine(plain) {
            found.push(Instance { gpu, count, from, to: from + plain.len() });
        }
    }
    found
}

/// The GPU of a machine by its whole name, and how many it has.
fn machine(name: &str) -> Option<(&'static str, i64)> {
    let lower = name.to_ascii_lowercase();
    // SageMaker writes `ml.` before Amazon's names, Azure `Standard_` before its own.
    let name = lower.strip_prefix("ml.").or_else(|| lower.strip_prefix("standard_")).unwrap_or(&lower);
    FAMILIES.iter().find_map(|(begins, gpu, sizes)| {
        let size = name.strip_prefix(begins)?;
        sizes.iter().find(|(known, _)| *known == size).map(|(_, count)| (*gpu, *count))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_those_of_the_catalogue() {
        for (_, gpu, _) in FAMILIES {
            assert!(headroom_core::gpu::find(gpu).is_some(), "{gpu}");
        }
        for (name, gpu, count) in [
            ("p4d.24xlarge", "a100-40gb", 8),
            ("ml.g5.12xlarge", "a10g", 4),
            ("a2-ultragpu-4g", "a100-80gb", 4),
            ("g2-standard-24", "l4", 2),
            ("Standard_ND96asr_v4", "a100-40gb", 8),
            ("Standard_NC24ads_A100_v4", "a100-80gb", 1),
        ] {
            assert_eq!(machine(name), Some((gpu, count)), "{name}");
        }
        assert_eq!(instances("on two p5.48xlarge.")[0].to, "on two p5.48xlarge".len());
        assert!(instances("m5.24xlarge, c6i.32xlarge and nc of g5 by v1.2").is_empty());
    }
}
