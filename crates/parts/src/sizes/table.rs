//! Sizes as a table to read, beside what was recorded.

use std::collections::BTreeMap;

use super::Sizes;
use crate::names;

/// Rooms below this size, in bytes, that did not change stand together in one row.
const WORTH_A_ROW: u64 = 2_000;

/// By kind, by crate and by room, the largest first, with the change since `before` where there is one.
pub fn table(sizes: &Sizes, before: &Sizes) -> String {
    let kinds = summed(sizes, before, |place| Some(place.kind.clone()));
    let of_code = |name: fn(&str) -> &str| {
        move |place: &super::Place| (place.kind == "code").then(|| name(&place.room).to_owned())
    };
    let crates = summed(sizes, before, of_code(names::crate_of));
    let rooms = summed(sizes, before, of_code(|room| room));
    let rest = summed(sizes, before, |place| (place.kind != "code").then(|| format!("{} {}", place.kind, place.room)));
    let whole = summed(sizes, before, |_| Some("the whole module".to_owned()));
    let recorded = !before.is_empty();
    [
        ("kind", &kinds),
        ("code by crate", &crates),
        ("code by room", &rooms),
        ("what is not code", &rest),
        ("together", &whole),
    ]
    .map(|(heading, rows)| section(heading, rows, recorded))
    .join("\n")
}

/// Bytes now and before, by what `key` says of a place.
type Rows = BTreeMap<String, (u64, u64)>;

fn summed(sizes: &Sizes, before: &Sizes, key: impl Fn(&super::Place) -> Option<String>) -> Rows {
    let mut rows = Rows::new();
    for (place, bytes) in sizes {
        if let Some(key) = key(place) {
            rows.entry(key).or_default().0 += bytes;
        }
    }
    for (place, bytes) in before {
        if let Some(key) = key(place) {
            rows.entry(key).or_default().1 += bytes;
        }
    }
    rows
}

fn section(heading: &str, rows: &Rows, recorded: bool) -> String {
    let mut text = format!("{:>10} {:>9}  {heading}\n", "bytes", if recorded { "change" } else { "" });
    let mut ordered: Vec<_> = rows.iter().collect();
    ordered.sort_by_key(|(name, (now, before))| (u64::MAX - now.max(before), *name));
    let (shown, small): (Vec<_>, Vec<_>) =
        ordered.into_iter().partition(|(_, (now, before))| *now >= WORTH_A_ROW || (recorded && now != before));
    for (name, (now, before)) in shown {
        text += &row(*now, *before, name, recorded);
    }
    if !small.is_empty() {
        let sum = small.iter().fold((0, 0), |(now, before), (_, (n, b))| (now + n, before + b));
        text += &row(sum.0, sum.1, &format!("({} smaller, none changed)", small.len()), recorded);
    }
    text
}

fn row(now: u64, before: u64, name: &str, recorded: bool) -> String {
    let change = now.cast_signed() - before.cast_signed();
    let change = if recorded && change != 0 { format!("{change:+}") } else { String::new() };
    format!("{now:>10} {change:>9}  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::Place;

    #[test]
    fn what_changed_is_shown_however_small() {
        let of =
            |first, second| Sizes::from([(Place::new("code", "a::b"), first), (Place::new("code", "a::c"), second)]);
        let said = table(&of(3_000, 10), &of(3_000, 15));
        assert!(said.contains("        10        -5  a::c\n"), "{said}");
        assert!(said.contains("      3010        -5  a\n"), "{said}");
        assert!(said.contains("      3000            a::b\n"), "{said}");
        let alone = table(&of(3_000, 10), &Sizes::new());
        assert!(alone.contains("(1 smaller, none changed)"), "{alone}");
        assert!(!alone.contains('+'), "{alone}");
    }
}
