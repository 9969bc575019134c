//! Where bars and their parts can be touched.

use headroom_core::memory::Category;

use crate::look::{Bar, Hit};

/// A hit between two corners.
pub(crate) fn hit(bar: &Bar, from: (i32, i32), to: (i32, i32)) -> Hit {
    Hit { id: bar.id.clone(), x: from.0, y: from.1, width: from.0.abs_diff(to.0), height: from.1.abs_diff(to.1) }
}

/// The hits of a bar's categories: `corners` are those of what lies between two values, bytes.
pub(crate) fn part_hits(bar: &Bar, corners: impl Fn(u64, u64) -> [(i32, i32); 2]) -> Vec<Hit> {
    let mut base = 0u64;
    let mut hits = Vec::new();
    for category in Category::ALL {
        let of_category = bar.parts.iter().filter(|(of, _)| of == category).map(|(_, bytes)| *bytes);
        let bytes = of_category.fold(0u64, u64::saturating_add);
        if bytes > 0 {
            let [a, b] = corners(base, base.saturating_add(bytes));
            let from = (a.0.min(b.0), a.1.min(b.1));
            let id = [&bar.id, " ", category.name()].concat();
            hits.push(Hit { id, x: from.0, y: from.1, width: a.0.abs_diff(b.0), height: a.1.abs_diff(b.1) });
            base = base.saturating_add(bytes);
        }
    }
    hits
}
