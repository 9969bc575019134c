//! Units of measure and how they are written.
//!
//! Bytes are integers until the last moment. GiB = 2^30 bytes in memory figures; GB = 10^9 bytes only where a vendor says so.

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
