//! Units of measure and how they are written.
//!
//! Bytes are integers until the last moment. GiB = 2^30 bytes in memory figures; GB = 10^9 bytes only where a vendor says so.

use crate::order;

/// Bytes in a kibibyte.
pub const KIB: u64 = 1 << 10;
/// Bytes in a mebibyte.
pub const MIB: u64 = 1 << 20;
/// Bytes in a gibibyte.
pub const GIB: u64 = 1 << 30;

/// Writes `bytes` with the largest binary unit that leaves at least one whole unit: `512 B`, `3.5 MiB`, `14.25 GiB`, `1.50 TiB`.
///
/// ```
/// use headroom_core::units::bytes_text;
/// assert_eq!(bytes_text(512), "512 B");
/// assert_eq!(bytes_text(15_301_000_000), "14.25 GiB");
/// ```
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [(&str, u32); 6] = [("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, shift) in UNITS {
        if bytes >= 1 << shift {
            let value = bytes as f64 / (1u64 << shift) as f64;
            return if shift >= 30 { format!("{value:.2} {unit}") } else { format!("{value:.1} {unit}") };
        }
    }
    format!("{bytes} B")
}

/// Writes `bytes` in GiB with two decimals and without the unit, for tables whose heading names it.
pub fn gib_text(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / GIB as f64)
}

/// Writes two amounts in GiB, without the unit, with as many decimals as it takes to tell them apart, `decimals` at least.
///
/// ```
/// use headroom_core::units::gib_apart;
/// assert_eq!(gib_apart([14 << 30, 24 << 30], 1), ["14.0", "24.0"]);
/// assert_eq!(gib_apart([15_680_000_000, 15_660_000_000], 1), ["14.60", "14.58"]);
/// ```
pub fn gib_apart(bytes: [u64; 2], decimals: usize) -> [String; 2] {
    /// A millionth of a GiB is a kilobyte: closer figures differ in nothing that a reader could use.
    const MOST_DECIMALS: usize = 6;
    let written = |decimals: usize| bytes.map(|bytes| format!("{:.decimals$}", bytes as f64 / GIB as f64));
    let apart = |pair: &[String; 2]| pair[0] != pair[1] || bytes[0] == bytes[1];
    (decimals..MOST_DECIMALS).map(written).find(apart).unwrap_or_else(|| written(MOST_DECIMALS))
}

/// Writes the parts of a sum as [`gib_text`] does, but so that they add up, as written, to the sum as written.
///
/// What rounding down leaves over goes to the parts that lost most by it, so no figure is off by a hundredth of a GiB.
///
/// ```
/// use headroom_core::units::{MIB, gib_parts};
/// // A third of a GiB each: 0.333 rounds to 0.33, and three of those are not 1.00.
/// assert_eq!(gib_parts(&[1_024 * MIB / 3, 1_024 * MIB / 3, 1_024 * MIB / 3]), ["0.34", "0.33", "0.33"]);
/// ```
pub fn gib_parts(parts: &[u64]) -> Vec<String> {
    let hundredths = |bytes: u128| bytes * 100 / u128::from(GIB);
    let sum: u128 = parts.iter().copied().map(u128::from).sum();
    let rounded_sum = hundredths(sum + u128::from(GIB) / 200);
    let mut written: Vec<u128> = parts.iter().map(|bytes| hundredths(u128::from(*bytes))).collect();
    let mut by_loss: Vec<usize> = (0..parts.len()).collect();
    let loss = |i: &usize| u128::from(parts[*i]) * 100 % u128::from(GIB);
    order::sort(&mut by_loss, |one, other| loss(other).cmp(&loss(one)));
    let left = rounded_sum.saturating_sub(written.iter().sum());
    for i in by_loss.into_iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        written[i] += 1;
    }
    written.into_iter().map(|part| format!("{}.{:02}", part / 100, part % 100)).collect()
}

/// Writes a count with thin groups of three: `7,241,732,096`.
pub fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
