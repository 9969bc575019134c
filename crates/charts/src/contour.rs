//! The line between what is at most a level and what is more, through values on a grid.
//!
//! Marching squares with linear interpolation along the grid's edges. The values stand at the middles of cells; half a cell
//! around them repeats the outermost values, so that the line runs to the edge of the picture.

use std::collections::{BTreeMap, BTreeSet};

/// An edge between two neighbours of the widened grid: column and row of the lower one, and whether the other is above it.
type Edge = (usize, usize, bool);

/// Lines through `values` (rows of columns) at `level`, each through its points as (column, row) in cells: the middle of the
/// first cell is (0.5, 0.5).
///
/// What is exactly at the level lies below the line; what is not finite, above it.
pub(crate) fn contour(values: &[Vec<f64>], level: f64) -> Vec<Vec<(f64, f64)>> {
    let rows = values.len();
    let columns = values.iter().map(Vec::len).min().unwrap_or(0);
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    let grid = Grid { values, level, columns, rows };
    let mut links: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
    for y in 0..=rows {
        for x in 0..=columns {
            for (a, b) in grid.crossings(x, y) {
                links.entry(a).or_default().push(b);
                links.entry(b).or_default().push(a);
            }
        }
    }
    // Open lines first, from their ends; what remains are rings.
    let ends = links.iter().filter(|(_, next)| next.len() == 1).map(|(edge, _)| *edge);
    let starts: Vec<Edge> = ends.chain(links.keys().copied()).collect();
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    for start in starts {
        let mut line = Vec::new();
        let mut at = Some(start);
        while let Some(edge) = at.filter(|edge| seen.insert(*edge)) {
            line.push(grid.point(edge));
            at = links.get(&edge).and_then(|next| next.iter().copied().find(|next| !seen.contains(next)));
        }
        let closes = line.len() > 2 && links.get(&start).is_some_and(|next| next.len() == 2);
        if let Some(first) = line.first().copied().filter(|_| closes) {
            line.push(first);
        }
        if line.len() > 1 {
            lines.push(line);
        }
    }
    lines
}

/// The values, widened by one on every side.
struct Grid<'a> {
    values: &'a [Vec<f64>],
    level: f64,
    columns: usize,
    rows: usize,
}

impl Grid<'_> {
    /// The value at a place of the widened grid, whose first column and row repeat the values' own first.
    fn value(&self, x: usize, y: usize) -> f64 {
        let (x, y) = (x.saturating_sub(1).min(self.columns - 1), y.saturating_sub(1).min(self.rows - 1));
        self.values.get(y).and_then(|row| row.get(x)).copied().unwrap_or(f64::INFINITY)
    }

    fn below(&self, x: usize, y: usize) -> bool {
        self.value(x, y) <= self.level
    }

    /// Pairs of edges that the line joins inside the square whose lower left corner is given.
    fn crossings(&self, x: usize, y: usize) -> Vec<(Edge, Edge)> {
        let (bottom, top, left, right) = ((x, y, false), (x, y + 1, false), (x, y, true), (x + 1, y, true));
        let corners = [self.below(x, y), self.below(x + 1, y), self.below(x + 1, y + 1), self.below(x, y + 1)];
        match corners {
            [a, b, c, d] if a == b && b == c && c == d => Vec::new(),
            [a, b, c, d] if a == b && c == d => vec![(left, right)],
            [a, b, c, d] if a == d && b == c => vec![(bottom, top)],
            [a, b, c, d] if a == c && b == d => {
                // Of two opposite corners, those that agree with the middle are joined.
                let sum: f64 =
                    [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].map(|(x, y)| self.value(x, y)).iter().sum();
                if (sum / 4.0 <= self.level) == a {
                    vec![(bottom, right), (left, top)]
                } else {
                    vec![(left, bottom), (right, top)]
                }
            }
            [a, b, c, _] if b == c && a != b => vec![(left, bottom)],
            [a, b, c, _] if a == c && a != b => vec![(bottom, right)],
            [a, b, c, _] if a == b && b != c => vec![(right, top)],
            _ => vec![(left, top)],
        }
    }

    /// Where the line crosses an edge, in cells.
    fn point(&self, (x, y, upwards): Edge) -> (f64, f64) {
        let (a, b) = (self.value(x, y), if upwards { self.value(x, y + 1) } else { self.value(x + 1, y) });
        let along = (self.level - a) / (b - a);
        // Beside a value without end, the line passes in the middle.
        let along = if a.is_finite() && b.is_finite() { along.clamp(0.0, 1.0) } else { 0.5 };
        // The outermost values stand on the edge of the picture, half a cell from the next.
        let place = |at: usize, most: usize| (at as f64 - 0.5).clamp(0.0, most as f64);
        let (from_x, from_y) = (place(x, self.columns), place(y, self.rows));
        if upwards {
            (from_x, from_y + along * (place(y + 1, self.rows) - from_y))
        } else {
            (from_x + along * (place(x + 1, self.columns) - from_x), from_y)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_cut_by_a_straight_line() {
        // value = column + row at the middles 0.5, 1.5, ...: the line x + y = 3.25 in cells.
        let values: Vec<Vec<f64>> = (0..4u32).map(|y| (0..4u32).map(|x| f64::from(x + y) + 1.0).collect()).collect();
        let lines = contour(&values, 3.25);
        assert_eq!(lines.len(), 1);
        let inside: Vec<&(f64, f64)> =
            lines.iter().flatten().filter(|(x, y)| (0.5..=3.5).contains(x) && (0.5..=3.5).contains(y)).collect();
        assert!(inside.len() >= 4, "{lines:?}");
        assert!(inside.iter().all(|(x, y)| (x + y - 3.25).abs() < 1e-9), "{lines:?}");
    }

    #[test]
    fn the_line_runs_to_the_edges() {
        let values = vec![vec![0.5, 1.5]; 3];
        assert_eq!(contour(&values, 1.0).concat().len(), 4 + 1);
        let lines = contour(&values, 1.0);
        let ends = (lines[0].first().copied(), lines[0].last().copied());
        assert_eq!(ends, (Some((1.0, 0.0)), Some((1.0, 3.0))));
    }

    #[test]
    fn an_island_has_a_closed_shore() {
        let mut values = vec![vec![2.0; 5]; 5];
        values[2][2] = 0.0;
        let lines = contour(&values, 1.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        assert_eq!(lines[0].len(), 5);
    }

    #[test]
    fn the_line_passes_between_exactly_the_neighbours_that_it_parts() {
        // Numbers without order (Knuth's 64-bit congruential generator); none is exactly at the level.
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1u32 << 24) + 0.500_000_01
        };
        for (columns, rows) in [(1, 1), (1, 5), (4, 1), (6, 7), (24, 24)] {
            for _ in 0..20 {
                let values: Vec<Vec<f64>> = (0..rows).map(|_| (0..columns).map(|_| random()).collect()).collect();
                let lines = contour(&values, 1.0);
                let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
                let between = |from: (f64, f64), to: (f64, f64)| {
                    // The last point of a ring is its first again.
                    let points = lines.iter().flat_map(|line| {
                        let ring = line.first() == line.last();
                        &line[usize::from(ring)..]
                    });
                    let on = |p: &&(f64, f64)| {
                        (near(p.0, from.0) && near(p.0, to.0) && (from.1..=to.1).contains(&p.1))
                            || (near(p.1, from.1) && near(p.1, to.1) && (from.0..=to.0).contains(&p.0))
                    };
                    points.filter(on).count()
                };
                let middle = |x: usize, y: usize| (x as f64 + 0.5, y as f64 + 0.5);
                for y in 0..rows {
                    for x in 0..columns {
                        for (next_x, next_y) in [(x + 1, y), (x, y + 1)] {
                            let Some(other) = values.get(next_y).and_then(|row| row.get(next_x)) else { continue };
                            let parted = (values[y][x] <= 1.0) != (*other <= 1.0);
                            let crossed = between(middle(x, y), middle(next_x, next_y));
                            assert_eq!(crossed, usize::from(parted), "{x},{y} to {next_x},{next_y}: {values:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_crosses_where_all_agree() {
        assert!(contour(&[vec![0.5; 4], vec![1.0; 4]], 1.0).is_empty());
        assert!(contour(&[vec![f64::INFINITY; 4], vec![f64::NAN; 4]], 1.0).is_empty());
        assert!(contour(&[], 1.0).is_empty());
    }
}
