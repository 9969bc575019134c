//! What batch size and length take together, a cell for each pair.

use headroom_core::advise::map::Map;
use headroom_core::memory::Fit;
use headroom_core::order;
use plotters::prelude::IntoDrawingArea;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::BackendCoord;

use crate::backend::SvgBackend;
use crate::elements::{AreaDrawn, Direct, LINE, Label, Root, SMALL_SIZE, hatched, stroke};
use crate::ink::{Ink, Palette};
use crate::key::{Key, Mark, hatch, ring};
use crate::look::{Hit, Picture};
use crate::text;

/// What the map shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitMap<'a> {
    /// Use of the GPU for each pair.
    pub map: &'a Map,
    /// Share of the GPU from which a plan fits in the expected case only; 1 where no cell is to be tight.
    pub tight_share: f64,
    /// Batch size and length of the current plan, ringed where both are on the axes.
    pub current: (u64, u64),
}

/// How it looks.
#[derive(Debug, Clone, PartialEq)]
pub struct FitMapLook {
    /// Width, pixels; held between 240 and 4096. The height follows.
    pub width: u32,
    /// Classes for a page, literal colours for a file.
    pub palette: Palette,
    /// Every word in it.
    pub texts: FitMapTexts,
}

/// Every word in a fit map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FitMapTexts {
    /// Name of the picture for assistive technology.
    pub title: String,
    /// Under the axis across: batch sizes.
    pub batch: String,
    /// Over the axis upwards: lengths, tokens.
    pub length: String,
    /// What the scale of colours means, from nothing to the whole GPU.
    pub used: String,
    /// What the line parts: `RTX 4090, 24.0 GiB`.
    pub capacity: String,
    /// A cell that surely fits.
    pub fits: String,
    /// A cell beyond [`FitMap::tight_share`].
    pub tight: String,
    /// A cell that needs more than the GPU.
    pub does_not_fit: String,
    /// The ring.
    pub current: String,
}

impl FitMapTexts {
    /// What a map says in the language of `words`; whether the lengths are those of answers that are generated.
    pub fn of(words: &headroom_text::Texts, capacity: String, answers: bool) -> Self {
        let map = &words.options().map;
        Self {
            title: map.title.to_owned(),
            batch: map.batch.to_owned(),
            length: if answers { map.answer_length } else { map.length }.to_owned(),
            used: map.used.to_owned(),
            capacity,
            fits: (words.fit)(Fit::Fits).to_owned(),
            tight: (words.fit)(Fit::Tight).to_owned(),
            does_not_fit: (words.fit)(Fit::DoesNotFit).to_owned(),
            current: words.current_plan.to_owned(),
        }
    }
}

/// Cells coloured by use of the GPU, batch size across and length upwards, a line between those that fit and those that do not, and the
/// current plan ringed. Cells that do not fit are hatched, so that nothing is told by colour alone.
///
/// The id of a cell is its column and row in the map: `3,7`. Columns that have no pixel are left out.
pub fn fit_map_svg(map: &FitMap<'_>, look: &FitMapLook) -> Picture {
    let width = look.width.clamp(240, 4096);
    let layout = Layout::new(map, look, width.cast_signed());
    let height = (layout.key_top + layout.key.height() + 4).cast_unsigned();
    let mut svg = String::new();
    let backend = SvgBackend::new(&mut svg, (width, height), look.palette, &look.texts.title);
    let drawn = draw(map, look, &layout, backend);
    let mut hits = layout.cells(map).map(|cell| cell.hit()).collect();
    // As for the other pictures: half of one must not pass for a whole.
    if drawn.is_err() {
        svg.clear();
        hits = Vec::new();
    }
    Picture { svg, width, height, hits, parts: Vec::new() }
}

/// The scale's colours, an eighth of the GPU each.
const SCALE: [Ink; 8] =
    [Ink::Use(0), Ink::Use(1), Ink::Use(2), Ink::Use(3), Ink::Use(4), Ink::Use(5), Ink::Use(6), Ink::Use(7)];

/// Distance of the lines over what does not fit, pixels.
const HATCH_SPACING: i32 = 8;
/// Widest cell, pixels: few batch sizes fill the width of a page all the same.
const WIDEST_CELL: i32 = 96;
/// Room between ticks' texts, pixels.
const TICK_GAP: f64 = 7.0;

/// One cell.
struct Cell {
    column: usize,
    row: usize,
    from: BackendCoord,
    to: BackendCoord,
    share: f64,
}

impl Cell {
    fn id(&self) -> String {
        format!("{},{}", self.column, self.row)
    }

    fn hit(&self) -> Hit {
        let (x, y) = self.from;
        Hit { id: self.id(), x, y, width: self.to.0.abs_diff(x), height: self.to.1.abs_diff(y) }
    }

    /// What its share of the GPU means.
    fn ink(&self, tight_share: f64) -> Ink {
        match self.share {
            share if !does_fit(share) => Ink::Beyond,
            share if share > tight_share => Ink::Tight,
            share => SCALE.get((share.max(0.0) * 8.0) as usize).copied().unwrap_or(Ink::Use(7)),
        }
    }

    fn title(&self, map: &FitMap<'_>, texts: &FitMapTexts) -> String {
        let name = |values: &[u64], at: usize| values.get(at).map(u64::to_string).unwrap_or_default();
        let (batch, length) = (name(&map.map.batches, self.column), name(&map.map.lengths, self.row));
        let fit = match self.ink(map.tight_share) {
            Ink::Beyond => &texts.does_not_fit,
            Ink::Tight => &texts.tight,
            _ => &texts.fits,
        };
        format!("{batch} × {length}: {}, {fit}", percent(self.share))
    }
}

/// Whether a share of the GPU is at most the GPU; one that is unknown is not.
fn does_fit(share: f64) -> bool {
    share <= 1.0
}

/// A share in per cent, near the capacity with a decimal and rounded away from it.
fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if !percent.is_finite() => "∞".to_owned(),
        percent if (99.0..=100.0).contains(&percent) => format!("{:.1} %", (percent * 10.0).floor() / 10.0),
        percent if (100.0..101.0).contains(&percent) => format!("{:.1} %", (percent * 10.0).ceil() / 10.0),
        percent => format!("{percent:.0} %"),
    }
}

/// Where things stand, pixels.
struct Layout {
    left: i32,
    top: i32,
    bottom: i32,
    cell: (i32, i32),
    columns: usize,
    rows: usize,
    /// Column and row of the current plan.
    current: (Option<usize>, Option<usize>),
    /// Columns and rows whose values are written.
    ticks: (Vec<usize>, Vec<usize>),
    key: Key,
    key_top: i32,
}

impl Layout {
    fn new(map: &FitMap<'_>, look: &FitMapLook, width: i32) -> Self {
        let Map { batches, lengths, .. } = map.map;
        let rows = lengths.len();
        let width_of = |value: &u64| text::width(&value.to_string(), SMALL_SIZE, true);
        let left = (lengths.iter().map(width_of).fold(20.0, f64::max).ceil() as i32 + 10).min(width / 3);
        let right = width - 10;
        let columns = batches.len().min((right - left).cast_unsigned() as usize);
        let across = ((right - left) / columns.max(1) as i32).clamp(1, WIDEST_CELL);
        let up = (across * 3 / 5).clamp(10, 20);
        let top = LINE + 10;
        let bottom = top + up * rows as i32;

        let (batch, length) = map.current;
        let current = (
            batches.iter().take(columns).position(|value| *value == batch),
            lengths.iter().position(|value| *value == length),
        );
        let widths: Vec<f64> = batches.iter().take(columns).map(width_of).collect();
        let heights = vec![f64::from(LINE) - TICK_GAP; rows];
        let ticks = (ticks(&widths, f64::from(across), current.0), ticks(&heights, f64::from(up), current.1));

        let texts = &look.texts;
        let mut items = vec![(Mark::Scale(&SCALE), texts.used.clone())];
        if map.tight_share < 1.0 {
            items.push((Mark::Field(Ink::Tight), texts.tight.clone()));
        }
        items.push((Mark::Hatched(Ink::Beyond), texts.does_not_fit.clone()));
        items.push((Mark::Line(Ink::Capacity), texts.capacity.clone()));
        items.push((Mark::Ring, texts.current.clone()));
        let key = Key::new(items, (4, width - 4));
        let key_top = bottom + 2 * LINE + 14;
        Self { left, top, bottom, cell: (across, up), columns, rows, current, ticks, key, key_top }
    }

    /// Right edge of the cells.
    fn right(&self) -> i32 {
        self.left + self.cell.0 * self.columns as i32
    }

    /// Upper left corner of a cell; row 0 is the lowest.
    fn corner(&self, column: usize, row: usize) -> BackendCoord {
        (self.left + self.cell.0 * column as i32, self.bottom - self.cell.1 * (row as i32 + 1))
    }

    fn middle(&self, column: usize, row: usize) -> BackendCoord {
        let (x, y) = self.corner(column, row);
        (x + self.cell.0 / 2, y + self.cell.1 / 2)
    }

    /// Every cell, the uppermost row first.
    fn cells<'a>(&'a self, map: &'a FitMap<'_>) -> impl Iterator<Item = Cell> + 'a {
        let places = (0..self.rows).rev().flat_map(|row| (0..self.columns).map(move |column| (column, row)));
        places.map(|(column, row)| {
            let from = self.corner(column, row);
            let to = (from.0 + self.cell.0, from.1 + self.cell.1);
            Cell { column, row, from, to, share: share(map.map, column, row) }
        })
    }
}

/// Share of the GPU of a pair; one that the map lacks does not fit.
fn share(map: &Map, column: usize, row: usize) -> f64 {
    map.used_share.get(row).and_then(|row| row.get(column)).copied().unwrap_or(f64::INFINITY)
}

/// Which of values with texts of these widths, `pitch` pixels apart, are written: every n-th, and the current one.
fn ticks(widths: &[f64], pitch: f64, current: Option<usize>) -> Vec<usize> {
    let apart = |a: usize, b: usize| {
        let half = |at: usize| widths.get(at).copied().unwrap_or(0.0) / 2.0;
        a.abs_diff(b) as f64 * pitch >= half(a) + half(b) + TICK_GAP
    };
    let every = |stride: usize| (0..widths.len()).filter(move |at| (at + 1) % stride == 0);
    let stride = (1..=widths.len()).find(|stride| every(*stride).zip(every(*stride).skip(1)).all(|(a, b)| apart(a, b)));
    let mut ticks: Vec<usize> = every(stride.unwrap_or(1)).collect();
    if let Some(current) = current {
        ticks.retain(|at| apart(*at, current));
        ticks.push(current);
        order::sort(&mut ticks, Ord::cmp);
    }
    ticks
}

fn draw(map: &FitMap<'_>, look: &FitMapLook, layout: &Layout, backend: SvgBackend<'_>) -> AreaDrawn {
    let root = backend.into_drawing_area();
    draw_cells(&root, map, layout, &look.texts)?;
    draw_axes(&root, map, layout, &look.texts)?;
    // A line must not take a cell's click and tooltip.
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| backend.open_overlay()))?;
    draw_hatching(&root, map, layout)?;
    draw_capacity(&root, map, layout)?;
    if let (Some(column), Some(row)) = layout.current {
        ring(&root, layout.middle(column, row), layout.cell.0.min(layout.cell.1) / 2 + 1)?;
    }
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| backend.close_group()))?;
    layout.key.draw(&root, layout.key_top)?;
    root.present()
}

fn draw_cells(root: &Root<'_>, map: &FitMap<'_>, layout: &Layout, texts: &FitMapTexts) -> AreaDrawn {
    // A pixel of ground parts cells that can spare it.
    let gap = i32::from(layout.cell.0.min(layout.cell.1) >= 10);
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        for cell in layout.cells(map) {
            let to = (cell.to.0 - gap, cell.to.1 - gap);
            backend.cell(cell.ink(map.tight_share), cell.from, to, &cell.id(), &cell.title(map, texts));
        }
    }))
}

/// Lines over the cells that do not fit, through whole runs of them.
fn draw_hatching(root: &Root<'_>, map: &FitMap<'_>, layout: &Layout) -> AreaDrawn {
    let beyond = layout.cells(map).filter(|cell| !does_fit(cell.share)).map(|cell| (cell.from, cell.to));
    let mut runs: Vec<(BackendCoord, BackendCoord)> = Vec::new();
    for (from, to) in beyond {
        match runs.last_mut() {
            Some((first, last)) if first.1 == from.1 && last.0 == from.0 => *last = to,
            _ => runs.push((from, to)),
        }
    }
    let mut lines = hatched(&runs, HATCH_SPACING);
    // The corners of a line's ends would bite into the neighbours.
    for line in &mut lines {
        if let [from, to] = line.as_mut_slice() {
            (*from, *to) = ((from.0 - 1, from.1 + 1), (to.0 + 1, to.1 - 1));
        }
    }
    lines.retain(|line| matches!(line.as_slice(), [from, to] if from.0 > to.0));
    hatch(root, &lines)
}

fn draw_axes(root: &Root<'_>, map: &FitMap<'_>, layout: &Layout, texts: &FitMapTexts) -> AreaDrawn {
    let Layout { left, top, bottom, .. } = *layout;
    stroke(root, Ink::Axis, (left - 1, top), (left - 1, bottom), 1)?;
    stroke(root, Ink::Axis, (left - 1, bottom), (layout.right(), bottom), 1)?;
    let tick = |value: u64, at: BackendCoord, own: bool, horizontal: HPos, vertical: VPos| {
        let ink = if own { Ink::Text } else { Ink::Muted };
        Label { text: &value.to_string(), at, size: SMALL_SIZE, bold: own, ink, horizontal, vertical }.draw(root)
    };
    for column in &layout.ticks.0 {
        let value = map.map.batches.get(*column).copied().unwrap_or(0);
        let (x, own) = (layout.middle(*column, 0).0, layout.current.0 == Some(*column));
        stroke(root, Ink::Axis, (x, bottom), (x, bottom + 4), 1)?;
        tick(value, (x, bottom + 6), own, HPos::Center, VPos::Top)?;
    }
    for row in &layout.ticks.1 {
        let value = map.map.lengths.get(*row).copied().unwrap_or(0);
        let (y, own) = (layout.middle(0, *row).1, layout.current.1 == Some(*row));
        stroke(root, Ink::Axis, (left - 5, y), (left - 1, y), 1)?;
        tick(value, (left - 8, y), own, HPos::Right, VPos::Center)?;
    }
    let name = |text: &str, at: BackendCoord, vertical: VPos, room: i32| {
        let text = text::ellipsis(text, SMALL_SIZE, false, f64::from(room));
        Label { text: &text, at, size: SMALL_SIZE, bold: false, ink: Ink::Muted, horizontal: HPos::Left, vertical }
            .draw(root)
    };
    name(&texts.length, (4, top - 6), VPos::Bottom, layout.right().max(60) - 4)?;
    let batch_room = text::width(&texts.batch, SMALL_SIZE, false).ceil() as i32;
    let x = (left + (layout.right() - left - batch_room) / 2).max(4);
    name(&texts.batch, (x, bottom + LINE + 8), VPos::Top, layout.right().max(60) - x)
}

/// The line between cells that fit and cells that do not, along their edges, parted from them by a rim of the ground's colour.
fn draw_capacity(root: &Root<'_>, map: &FitMap<'_>, layout: &Layout) -> AreaDrawn {
    let fits = |column: usize, row: usize| does_fit(share(map.map, column, row));
    let mut paths = Vec::new();
    // Each edge reaches half the line's width further, so that corners are whole.
    for row in 0..layout.rows {
        for column in 0..layout.columns {
            let (x, y) = layout.corner(column, row);
            let (right, below) = (x + layout.cell.0, y + layout.cell.1);
            if column + 1 < layout.columns && fits(column, row) != fits(column + 1, row) {
                paths.push(vec![(right, y - 1), (right, below + 1)]);
            }
            if row + 1 < layout.rows && fits(column, row) != fits(column, row + 1) {
                paths.push(vec![(x - 1, y), (right + 1, y)]);
            }
        }
    }
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        backend.strokes(Ink::Surface, &paths, 6, None);
        backend.strokes(Ink::Capacity, &paths, 3, None);
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_where_they_have_room() {
        let widths = [8.0; 24];
        assert_eq!(ticks(&widths, 30.0, None).len(), 24);
        assert_eq!(ticks(&widths, 8.0, None), (0..12).map(|i| 2 * i + 1).collect::<Vec<_>>());
        let with_current = ticks(&widths, 8.0, Some(4));
        assert!(with_current.contains(&4) && !with_current.contains(&3) && !with_current.contains(&5));
        assert!(ticks(&[], 8.0, None).is_empty());
    }

    #[test]
    fn rounding_never_hides_the_side_of_the_capacity() {
        assert_eq!(percent(0.62), "62 %");
        assert_eq!(percent(0.998), "99.8 %");
        assert_eq!(percent(1.0), "100.0 %");
        assert_eq!(percent(1.00004), "100.1 %");
        assert_eq!(percent(2.5), "250 %");
        assert_eq!(percent(f64::INFINITY), "∞");
    }
}
