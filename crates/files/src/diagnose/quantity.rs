//! Amounts of memory as tools print them.
//!
//! The tools here divide by 1024 whatever they call the unit: `MB` of npu-smi, rocm-smi and PyTorch's tables before 2.0 are MiB.

/// More than this is no memory but a counter that went below zero: PyTorch 2.1 and 2.2 print `17179869184.00 GiB` where a
/// container hides its own process.
const MOST: u64 = 1 << 60;

/// An amount, and how finely it was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// The figure, rounded to whole bytes.
    pub bytes: u64,
    /// One unit of the last digit printed, bytes; 1 where bytes are printed.
    pub step: u64,
}

impl Amount {
    /// An amount that is exact.
    pub const fn exact(bytes: u64) -> Self {
        Self { bytes, step: 1 }
    }

    /// Whether `bytes` would have been printed as this figure.
    pub const fn is_print_of(self, bytes: u64) -> bool {
        // A figure is off by at most half a digit; a byte more for the rounding of both to whole bytes.
        bytes.abs_diff(self.bytes) <= self.step / 2 + (self.step > 1) as u64
    }
}

/// Power of two of a unit, in lower case without spaces.
fn shift(unit: &str) -> Option<u32> {
    Some(match unit {
        "b" | "byte" | "bytes" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        "p" | "pb" | "pib" => 50,
        _ => return None,
    })
}

/// `number` (digits, one dot, groups of three parted by commas) in units of `2^shift` bytes; `None` beyond any memory.
pub(super) fn scaled(number: &str, shift: u32) -> Option<Amount> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = || whole.bytes().filter(|byte| *byte != b',').chain(fraction.bytes());
    if whole.is_empty() && fraction.is_empty() || digits().any(|byte| !byte.is_ascii_digit()) || fraction.len() > 9 {
        return None;
    }
    let mut value: u128 = 0;
    for byte in digits() {
        value = value.checked_mul(10)?.checked_add(u128::from(byte - b'0'))?;
        if value > u128::from(u64::MAX) {
            return None;
        }
    }
    let parts = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let unit = 1_u128 << shift.min(60);
    let bytes = u64::try_from((value * unit + parts / 2) / parts).ok()?;
    let step = u64::try_from(unit / parts).ok()?.max(1);
    (bytes <= MOST).then_some(Amount { bytes, step })
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'.' || byte == b','
}

/// The amount at the very beginning of `text`, spaces before it and before its unit allowed, and what follows.
pub(super) fn leading(text: &str) -> Option<(Amount, &str)> {
    let (number, rest) = number(text)?;
    let rest = rest.trim_start_matches(' ');
    let unit = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    // Where spaces are gone a word may follow the unit: the longest unit that fits is meant.
    let longest = (1..=unit.len().min(5)).rev().find_map(|length| {
        let unit = rest.get(..length)?.to_ascii_lowercase();
        Some((shift(&unit)?, length))
    });
    let (shift, length) = longest?;
    Some((scaled(number, shift)?, rest.get(length..)?))
}

/// The number without a unit at the beginning of `text`, and what follows.
pub(super) fn number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let length = text.bytes().take_while(|byte| is_digit(*byte)).count();
    let number = text.get(..length)?.trim_end_matches(['.', ',']);
    (!number.is_empty()).then(|| (number, text.get(number.len()..).unwrap_or("")))
}

/// The amount at the very end of `text`.
pub(super) fn trailing(text: &str) -> Option<Amount> {
    let text = text.trim_end_matches(' ');
    let letters = text.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
    let (before, unit) = text.split_at_checked(text.len() - letters)?;
    let before = before.trim_end_matches(' ');
    let digits = before.bytes().rev().take_while(|byte| is_digit(*byte)).count();
    let number = before.get(before.len() - digits..)?.trim_start_matches(['.', ',']);
    scaled(number, shift(&unit.to_ascii_lowercase())?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn amounts_of_every_unit() {
        for (text, bytes) in [
            ("20.00 MiB", 20 << 20),
            ("512 bytes free", 512),
            ("1.50GiBofwhich", 3 << 29),
            ("81920MiB", 81_920 << 20),
            ("2 KB", 2048),
            ("1,234 MiB", 1234 << 20),
        ] {
            assert_eq!(leading(text).unwrap().0.bytes, bytes, "{text}");
        }
        assert_eq!(trailing("ofwhich5.12MiB").unwrap().bytes, 5_368_709);
        assert_eq!(leading("17179869184.00 GiB"), None);
        assert_eq!(leading("GiB"), None);
        assert_eq!(leading("..GiB"), None);
    }

    #[test]
    fn a_figure_is_the_print_of_what_rounds_to_it() {
        let figure = leading("1.16 GiB").unwrap().0;
        assert!(figure.is_print_of((116 << 30) / 100 + 5_000_000));
        assert!(!figure.is_print_of((116 << 30) / 100 + 6_000_000));
        assert!(Amount::exact(512).is_print_of(512) && !Amount::exact(512).is_print_of(513));
    }
}
