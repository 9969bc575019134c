//! What differs between two plans, in words.

use headroom_core::advise::difference::Changed;
use headroom_core::speed::Range;
use headroom_core::units::bytes_text;

/// Changed fields in one line: `per_device_train_batch_size 4 -> 8, max_length 512 -> 1024`.
pub(crate) fn changed_text(fields: &[Changed]) -> String {
    let one = |Changed { field, before, after }: &Changed| {
        let or_nothing = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        format!("{field} {} -> {}", or_nothing(before), or_nothing(after))
    };
    fields.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// One changed field's short name, for under a bar: `lora.r 16 → 8`, or the field and what it becomes where that is long.
pub(crate) fn changed_label(changed: &Changed) -> String {
    let Changed { field, before, after } = changed;
    if before.len() + after.len() <= 12 { format!("{field} {before} → {after}") } else { format!("{field} {after}") }
}

/// A saving as what happens to the need: `-1.30 GiB`.
pub(crate) fn need_text(saved_bytes: i64) -> String {
    let sign = match saved_bytes {
        0 => "",
        ..0 => "+",
        _ => "-",
    };
    format!("{sign}{}", bytes_text(saved_bytes.unsigned_abs()))
}

/// A ratio with its range.
pub(crate) fn range_text(range: Range) -> String {
    format!("{:.2} ({:.2} to {:.2})", range.expected, range.low, range.high)
}
