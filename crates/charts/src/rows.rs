//! Bars that lie, their labels on the left.

use plotters::chart::ChartBuilder;
use plotters::prelude::IntoDrawingArea;
use plotters::style::text_anchor::{HPos, VPos};

use crate::area;
use crate::axis::{Axis, gib};
use crate::backend::SvgBackend;
use crate::content::Content;
use crate::elements::{AreaDrawn, Direct, LINE, Label, Plot, Root, SMALL_SIZE, StackedBar, TEXT_SIZE, fill, stroke};
use crate::floating::FloatingBar;
use crate::hits::{hit, part_hits};
use crate::ink::Ink;
use crate::key::Key;
use crate::look::{Bar, Hit, Look};
use crate::text;

/// Thickness of a bar.
const BAR: i32 = 16;
/// Room of a group's heading.
const HEADING: i32 = 24;
/// Room of the capacity's label over the plot.
const TOP: i32 = LINE + 8;
/// Room of ticks and unit under the plot.
const BOTTOM: i32 = LINE + 8;

/// Where things lie, pixels.
pub(crate) struct Layout {
    axis: Axis,
    left: i32,
    right: i32,
    /// Upper edge of each bar's row.
    rows: Vec<i32>,
    row_height: i32,
    /// Upper edge and text of each group's heading.
    headings: Vec<(i32, String)>,
    bottom: i32,
    labels: Vec<Vec<String>>,
    key: Key,
}

impl Layout {
    /// Finds room for everything.
    pub(crate) fn new(content: &Content<'_>, width: u32) -> Self {
        let width = width.cast_signed();
        let totals: Vec<u64> = content.bars.iter().map(|bar| bar.total).collect();
        let axis = Axis::new(&totals, content.gpu_bytes, (width / 90).clamp(2, 8).cast_unsigned() as usize);
        let widest = |of: &dyn Fn(&Bar) -> f64| content.bars.iter().map(of).fold(0.0, f64::max);
        let label_room = widest(&|bar| text::width(&bar.label, SMALL_SIZE, bar.selected)).min(f64::from(width) * 0.34);
        let value_width = |(i, bar): (usize, &Bar)| text::width(&content.value((i, bar)), SMALL_SIZE, bar.selected);
        let value_room = content.bars.iter().enumerate().map(value_width).fold(0.0, f64::max).ceil() as i32;
        let marks = if content.fit_marks { 18 } else { 4 };
        let left = label_room.ceil() as i32 + 6 + marks;
        let right = (width - value_room - 12).max(left + 20);
        let labels: Vec<Vec<String>> = content
            .bars
            .iter()
            .map(|bar| text::wrap(&bar.label, SMALL_SIZE, bar.selected, label_room + 0.5, 2))
            .collect();
        let row_height = if labels.iter().any(|lines| lines.len() > 1) { 2 * LINE + 4 } else { BAR + 8 };

        let (mut rows, mut headings) = (Vec::new(), Vec::new());
        let mut y = TOP;
        for (group, count) in content.groups() {
            if !group.is_empty() {
                headings.push((y, text::ellipsis(group, TEXT_SIZE, true, f64::from(width - 8))));
                y += HEADING;
            }
            for _ in 0..count {
                rows.push(y);
                y += row_height;
            }
            y += 6;
        }
        let key = Key::new(content.key.clone(), (4, width - 4));
        Self { axis, left, right, rows, row_height, headings, bottom: y.max(TOP + 10), labels, key }
    }

    /// Height of the whole picture.
    pub(crate) fn height(&self) -> u32 {
        (self.bottom + BOTTOM + self.key.height()).cast_unsigned()
    }

    fn x(&self, plot: &Plot<'_>, bytes: u64) -> i32 {
        plot.map_coordinate(&(gib(bytes).min(self.axis.end), 0.0)).0
    }
}

/// Draws the picture.
pub(crate) fn draw(
    content: &Content<'_>,
    look: &Look,
    size: (u32, u32),
    backend: SvgBackend<'_>,
    (hits, parts): (&mut Vec<Hit>, &mut Vec<Hit>),
) -> AreaDrawn {
    let layout = Layout::new(content, size.0);
    let root = backend.into_drawing_area();
    let width = size.0.cast_signed();
    // Across the bars, a value is a pixel, counted downwards.
    let plot_height = f64::from(layout.bottom - TOP);
    let chart = ChartBuilder::on(&root)
        .margin_left(layout.left)
        .margin_right((width - layout.right).max(0))
        .margin_top(TOP)
        .margin_bottom(BOTTOM + layout.key.height())
        .build_cartesian_2d(0.0..layout.axis.end, plot_height..0.0)?;
    let plot = chart.plotting_area();

    draw_grid(&root, plot, &layout, look, width)?;
    for (y, heading) in &layout.headings {
        let at = (4, y + HEADING - 6);
        Label {
            text: heading,
            at,
            size: TEXT_SIZE,
            bold: true,
            ink: Ink::Text,
            horizontal: HPos::Left,
            vertical: VPos::Bottom,
        }
        .draw(&root)?;
    }
    for (y, _) in layout.rows.iter().zip(content.bars).filter(|(_, bar)| bar.selected) {
        fill(&root, Ink::Lane, (0, *y), (width, y + layout.row_height))?;
    }
    if content.joined {
        let spans: Vec<(f64, f64)> = layout.rows.iter().map(|y| across(y + layout.row_height / 2)).collect();
        area::draw(&root, plot, content.bars, &spans, &layout.axis, false)?;
    }
    for (i, bar) in content.bars.iter().enumerate() {
        let y = layout.rows.get(i).copied().unwrap_or(TOP);
        draw_bar(&root, plot, &layout, content, look, (i, y, bar), width)?;
        let below = y + layout.row_height;
        hits.push(hit(bar, (0, y), (width, below)));
        if content.joined {
            parts.extend(part_hits(bar, |low, high| [(layout.x(plot, low), y), (layout.x(plot, high), below)]));
        }
    }
    draw_connectors(&root, plot, &layout, content)?;
    layout.key.draw(&root, layout.bottom + BOTTOM)?;
    draw_capacity(&root, plot, &layout, content, look, width)?;
    for (i, bar) in content.bars.iter().enumerate() {
        let y = layout.rows.get(i).copied().unwrap_or(TOP) + layout.row_height / 2;
        draw_value(&root, plot, &layout, content, y, (i, bar))?;
    }
    root.present()
}

fn draw_grid(root: &Root<'_>, plot: &Plot<'_>, layout: &Layout, look: &Look, width: i32) -> AreaDrawn {
    let tick = |text: &str, x: i32, horizontal: HPos| {
        let at = (x, layout.bottom + 5);
        Label { text, at, size: SMALL_SIZE, bold: false, ink: Ink::Muted, horizontal, vertical: VPos::Top }.draw(root)
    };
    let mut last = layout.left;
    for (value, text) in &layout.axis.ticks {
        let x = plot.map_coordinate(&(*value, 0.0)).0;
        last = x + text::width(text, SMALL_SIZE, false) as i32 / 2;
        stroke(root, if *value > 0.0 { Ink::Grid } else { Ink::Axis }, (x, TOP), (x, layout.bottom), 1)?;
        tick(text, x, HPos::Center)?;
    }
    // After the last tick where there is room, before the first otherwise.
    let unit = text::width(&look.texts.unit, SMALL_SIZE, false) as i32;
    if last + 8 + unit <= width {
        tick(&look.texts.unit, last + 8, HPos::Left)
    } else {
        tick(&look.texts.unit, layout.left - 12, HPos::Right)
    }
}

/// Where a bar around `middle` lies on the axis across, which counts pixels from the top of the plot.
fn across(middle: i32) -> (f64, f64) {
    let (middle, half) = (f64::from(middle - TOP), f64::from(BAR / 2));
    (middle - half, middle + half)
}

fn draw_bar(
    root: &Root<'_>,
    plot: &Plot<'_>,
    layout: &Layout,
    content: &Content<'_>,
    look: &Look,
    (i, y, bar): (usize, i32, &Bar),
    width: i32,
) -> AreaDrawn {
    let lane = ((0, y), (width, y + layout.row_height));
    let title = content.title((i, bar), look);
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        backend.open_group(if bar.selected { "bar selected" } else { "bar" }, &bar.id, &title);
        backend.touch(lane.0, lane.1);
    }))?;
    let middle = y + layout.row_height / 2;
    let (across, axis) = (across(middle), &layout.axis);
    if let Some(step) = content.steps.get(i) {
        plot.draw(&FloatingBar::new(step, across, axis, content.gpu_bytes, false))?;
    } else {
        let drawn = content.over_area(bar);
        plot.draw(&StackedBar::new(&drawn, across, axis, content.gpu_bytes, false, &look.texts))?;
    }
    content.draw_mark(root, (i, bar), (layout.left - 10, middle))?;
    let lines = layout.labels.get(i).map(Vec::as_slice).unwrap_or_default();
    let first = middle - (lines.len() as i32 - 1) * LINE / 2;
    for (line, text) in (0i32..).zip(lines) {
        let at = (4, first + line * LINE);
        Label {
            text,
            at,
            size: SMALL_SIZE,
            bold: bar.selected,
            ink: Ink::Text,
            horizontal: HPos::Left,
            vertical: VPos::Center,
        }
        .draw(root)?;
    }
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| backend.close_group()))
}

/// From where each step of a waterfall ends to where the next begins.
fn draw_connectors(root: &Root<'_>, plot: &Plot<'_>, layout: &Layout, content: &Content<'_>) -> AreaDrawn {
    for (step, rows) in content.steps.iter().zip(layout.rows.windows(2)) {
        let [here, next] = rows else { continue };
        let x = layout.x(plot, step.to_bytes);
        let middle = |row: &i32| row + layout.row_height / 2;
        stroke(root, Ink::Axis, (x, middle(here) + BAR / 2), (x, middle(next) - BAR / 2), 1)?;
    }
    Ok(())
}

fn draw_capacity(
    root: &Root<'_>,
    plot: &Plot<'_>,
    layout: &Layout,
    content: &Content<'_>,
    look: &Look,
    width: i32,
) -> AreaDrawn {
    let x = layout.x(plot, content.gpu_bytes);
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        backend.strokes(Ink::Capacity, &[vec![(x, TOP - 2), (x, layout.bottom)]], 2, Some("7 4"));
    }))?;
    let text = text::ellipsis(&look.texts.capacity, TEXT_SIZE, true, f64::from(width));
    let text_width = text::width(&text, TEXT_SIZE, true).ceil() as i32;
    let at = ((x - text_width / 2).min(width - text_width).max(0), TOP - 6);
    Label {
        text: &text,
        at,
        size: TEXT_SIZE,
        bold: true,
        ink: Ink::Capacity,
        horizontal: HPos::Left,
        vertical: VPos::Bottom,
    }
    .draw(root)
}

/// The value after a bar, out of the way of the capacity line.
fn draw_value(
    root: &Root<'_>,
    plot: &Plot<'_>,
    layout: &Layout,
    content: &Content<'_>,
    y: i32,
    (i, bar): (usize, &Bar),
) -> AreaDrawn {
    let value = content.value((i, bar));
    let room = text::width(&value, SMALL_SIZE, bar.selected).ceil() as i32;
    let capacity = layout.x(plot, content.gpu_bytes);
    let mut x = layout.x(plot, bar.total) + 5;
    if (x - 4..=x + room + 2).contains(&capacity) {
        x = capacity + 5;
    }
    let (text, at) = (value.as_str(), (x, y));
    Label {
        text,
        at,
        size: SMALL_SIZE,
        bold: bar.selected,
        ink: Ink::Text,
        horizontal: HPos::Left,
        vertical: VPos::Center,
    }
    .draw(root)
}
