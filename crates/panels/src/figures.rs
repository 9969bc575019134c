//! Figures as people read them.

use headroom_core::memory::{Basis, Estimate};
use headroom_core::speed::Range;
use headroom_core::units::{GIB, MIB, bytes_text, count_text, gib_apart, gib_parts};

/// A count of parameters: `4.02 B`, `124 M`, `760 k`.
pub(crate) fn params(count: u64) -> String {
    let value = count as f64;
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.0} k", value / 1e3),
        1_000_000..10_000_000 => format!("{:.2} M", value / 1e6),
        10_000_000..100_000_000 => format!("{:.1} M", value / 1e6),
        100_000_000..1_000_000_000 => format!("{:.0} M", value / 1e6),
        1_000_000_000..10_000_000_000 => format!("{:.2} B", value / 1e9),
        10_000_000_000..100_000_000_000 => format!("{:.1} B", value / 1e9),
        _ => format!("{:.0} B", value / 1e9),
    }
}

/// Bytes at a glance: one decimal, as large figures carry no more.
pub(crate) fn glance(bytes: u64) -> String {
    match bytes {
        GIB.. if bytes < 1 << 40 => format!("{:.1} GiB", bytes as f64 / GIB as f64),
        MIB..GIB => format!("{:.0} MiB", bytes as f64 / MIB as f64),
        _ => bytes_text(bytes),
    }
}

/// Two amounts at a glance that are read against each other: with further decimals where one would make them look equal.
pub(crate) fn glance_apart(bytes: [u64; 2]) -> [String; 2] {
    let shown = bytes.map(glance);
    if shown[0] != shown[1] || bytes[0] == bytes[1] {
        return shown;
    }
    gib_apart(bytes, 2).map(|value| format!("{value} GiB"))
}

/// An amount that is not of the plan's own replay yet, marked as rough.
pub(crate) fn rough(amount: &str) -> String {
    ["≈ ", amount].concat()
}

/// `amount` of `estimate`, marked as rough where it does not stand on the plan's own replay, and where the estimate is a guess.
pub(crate) fn of_estimate(estimate: &Estimate, amount: String) -> String {
    let is_exact = estimate.peak.basis == Basis::Replayed && estimate.guess.is_none();
    if is_exact { amount } else { rough(&amount) }
}

/// Bytes in units of ten, as guides count them: `59.2 GB`, `420 MB`.
pub(crate) fn decimal(bytes: u64) -> String {
    let (value, unit) = scaled(bytes);
    format!("{value} {unit}")
}

/// A range of the same, or one figure where both ends are the same.
pub(crate) fn decimal_range(low: u64, high: u64) -> String {
    let ((low_value, low_unit), (high_value, high_unit)) = (scaled(low), scaled(high));
    match () {
        () if low == high => decimal(low),
        () if low_unit == high_unit => format!("{low_value}–{high_value} {high_unit}"),
        () => format!("{} – {}", decimal(low), decimal(high)),
    }
}

/// One decimal where it says something.
fn scaled(bytes: u64) -> (String, &'static str) {
    const GB: u64 = 1_000_000_000;
    const MB: u64 = 1_000_000;
    match bytes {
        GB.. if bytes.is_multiple_of(GB) => ((bytes / GB).to_string(), "GB"),
        GB.. => (format!("{:.1}", bytes as f64 / GB as f64), "GB"),
        _ => (format!("{:.0}", bytes as f64 / MB as f64), "MB"),
    }
}

/// A share of 1 in per cent, without the sign: `87`, `4.2`, `0.31`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        10.0.. => format!("{percent:.0}"),
        1.0..10.0 => format!("{percent:.1}"),
        _ => format!("{percent:.2}"),
    }
}

/// How many times as long, with its range: `1.32× (1.25–1.40)`.
pub(crate) fn times(range: Range) -> String {
    let digits = |value: f64| match value {
        100.0.. => format!("{value:.0}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    format!("{}× ({}–{})", digits(range.expected), digits(range.low), digits(range.high))
}

/// Seconds with their range, in the unit of the expected figure: `2.3 s (1.1–4.6)`, `350 ms (180–700)`.
pub(crate) fn seconds(range: Range) -> String {
    let (scale, unit) = match range.expected {
        600.0.. => (1.0 / 60.0, "min"),
        1.0..600.0 => (1.0, "s"),
        _ => (1e3, "ms"),
    };
    let digits = |seconds: f64| two_digits(seconds * scale);
    format!("{} {unit} ({}–{})", digits(range.expected), digits(range.low), digits(range.high))
}

/// A rate with its range: `7,100 (3,500–14,000)`.
pub(crate) fn rate(range: Range) -> String {
    format!("{} ({}–{})", two_digits(range.expected), two_digits(range.low), two_digits(range.high))
}

/// Two digits that count, as rough figures carry no more; thousands apart.
fn two_digits(value: f64) -> String {
    match value {
        100.0.. => {
            let unit = 10_f64.powi(value.log10().floor() as i32 - 1);
            count_text(((value / unit).round() * unit) as u64)
        }
        10.0..100.0 => format!("{value:.0}"),
        1.0..10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A row of bytes in columns headed GiB that adds up as it is written: two decimals, a dot for nothing, and never a zero
/// for something.
pub(crate) fn cells(parts: &[u64]) -> Vec<String> {
    let cell = |(bytes, written): (&u64, String)| match bytes {
        0 => "·".to_owned(),
        _ if written == "0.00" => "< 0.01".to_owned(),
        _ => written,
    };
    parts.iter().zip(gib_parts(parts)).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use headroom_core::speed::Range;

    use super::{cells, decimal, decimal_range, glance, glance_apart, params, percent, rate, seconds, times};

    #[test]
    fn parameters_keep_three_digits() {
        let cases = [(0, "0"), (760, "760"), (33_030, "33 k"), (40_200_000, "40.2 M"), (124_439_808, "124 M")];
        let large = [(4_022_468_096, "4.02 B"), (70_553_706_496, "70.6 B"), (671_026_419_200, "671 B")];
        for (count, text) in cases.into_iter().chain(large) {
            assert_eq!(params(count), text);
        }
    }

    #[test]
    fn bytes_at_a_glance_have_one_unit() {
        assert_eq!(glance(0), "0 B");
        assert_eq!(glance(300 << 20), "300 MiB");
        assert_eq!(glance(13 << 30), "13.0 GiB");
        assert_eq!(glance(3 << 40), "3.00 TiB");
    }

    #[test]
    fn guides_count_in_units_of_ten() {
        assert_eq!(decimal(60_210_000_000), "60.2 GB");
        assert_eq!(decimal_range(59_000_000_000, 61_000_000_000), "59–61 GB");
        assert_eq!(decimal_range(200_000_000, 200_000_000), "200 MB");
        assert_eq!(decimal_range(512_000_000, 1_500_000_000), "512 MB – 1.5 GB");
    }

    #[test]
    fn cells_tell_little_from_nothing_and_add_up() {
        assert_eq!(cells(&[0, 1, 3 << 29]), ["·", "< 0.01", "1.50"]);
        let third = (1 << 30) / 3;
        assert_eq!(cells(&[third, third, third]), ["0.34", "0.33", "0.33"]);
    }

    #[test]
    fn a_need_and_a_capacity_never_look_equal_when_they_are_not() {
        let gib = |value: f64| (value * f64::from(1 << 30)) as u64;
        assert_eq!(glance_apart([gib(14.6), gib(24.0)]), ["14.6 GiB", "24.0 GiB"]);
        assert_eq!(glance_apart([gib(14.61), gib(14.58)]), ["14.61 GiB", "14.58 GiB"]);
        assert_eq!(glance_apart([gib(14.5801), gib(14.58)]), ["14.5801 GiB", "14.5800 GiB"]);
    }

    #[test]
    fn times_and_rates_carry_no_more_digits_than_they_know() {
        let range = |low, expected, high| Range { low, expected, high };
        assert_eq!(times(range(1.25, 1.318, 1.4)), "1.32× (1.25–1.40)");
        assert_eq!(seconds(range(1.14, 2.31, 4.62)), "2.3 s (1.1–4.6)");
        assert_eq!(seconds(range(0.18, 0.351, 0.702)), "350 ms (180–700)");
        assert_eq!(seconds(range(1_200.0, 2_460.0, 4_920.0)), "41 min (20–82)");
        assert_eq!(rate(range(3_512.0, 7_096.0, 14_490.0)), "7,100 (3,500–14,000)");
    }

    #[test]
    fn percentages_have_as_many_digits_as_they_need() {
        assert_eq!([percent(0.873), percent(0.042), percent(0.0031)], ["87", "4.2", "0.31"]);
    }
}
