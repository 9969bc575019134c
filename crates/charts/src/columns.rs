//! Bars that stand, their labels underneath.

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

/// Lines of a label at most.
const LABEL_LINES: usize = 3;
/// Room between groups, in slots.
const GROUP_GAP: f64 = 0.6;
/// Narrowest slot with a label and a value, pixels.
const NARROWEST_LABELLED: f64 = 24.0;
/// Half of a plateau of an area, in slots.
const PLATEAU: f64 = 0.32;
/// Widest bar, pixels.
const WIDEST_BAR: f64 = 56.0;

/// Where things stand, pixels.
pub(crate) struct Layout {
    axis: Axis,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    /// Left edge of each bar's slot, in slots.
    slots: Vec<f64>,
    /// All slots and gaps.
    slot_count: f64,
    capacity: Vec<String>,
    labels: Vec<Vec<String>>,
    key: Key,
}

impl Layout {
    /// Finds room for everything.
    pub(crate) fn new(content: &Content<'_>, look: &Look, (width, height): (u32, u32)) -> Self {
        let (width, height) = (width.cast_signed(), height.cast_signed());
        let totals: Vec<u64> = content.bars.iter().map(|bar| bar.total).collect();
        let axis = Axis::new(&totals, content.gpu_bytes, (height / 60).max(2).cast_unsigned() as usize);
        let widest_tick = axis.ticks.iter().map(|(_, text)| text::width(text, SMALL_SIZE, false)).fold(0.0, f64::max);
        let unit = text::width(&look.texts.unit, SMALL_SIZE, false);
        let left = (widest_tick.max(unit).ceil() as i32 + 10).min(width / 3);
        let strip = f64::from(width) * 0.12;
        let capacity = text::wrap(&look.texts.capacity, TEXT_SIZE, true, strip.clamp(40.0, 112.0), 4);
        let widest_line = capacity.iter().map(|line| text::width(line, TEXT_SIZE, true)).fold(0.0, f64::max);
        let right = width - (widest_line.ceil() as i32 + 10).min(width / 3);

        let mut slots = Vec::new();
        let mut at = GROUP_GAP / 2.0;
        for (_, count) in content.groups() {
            for _ in 0..count {
                slots.push(at);
                at += 1.0;
            }
            at += GROUP_GAP;
        }
        let slot_count = (at - GROUP_GAP / 2.0).max(1.0);
        let slot = f64::from(right - left) / slot_count;
        let labels: Vec<Vec<String>> = content
            .bars
            .iter()
            .map(|bar| text::wrap(&bar.label, SMALL_SIZE, bar.selected, slot, LABEL_LINES))
            .collect();
        let lines = labels.iter().map(Vec::len).max().unwrap_or(0) as i32;
        let marks = if content.fit_marks { LINE } else { 0 };
        let grouped = content.bars.iter().any(|bar| !bar.group.is_empty());
        let groups = if grouped { LINE + 10 } else { 0 };
        let top = 2 * LINE + 2;
        let key = Key::new(content.key.clone(), (left, width - 4));
        let bottom = (height - groups - lines * LINE - marks - 8 - key.height()).max(top + 10);
        Self { axis, left, right, top, bottom, slots, slot_count, capacity, labels, key }
    }

    /// Width of a slot, pixels.
    pub(crate) fn slot(&self) -> f64 {
        f64::from(self.right - self.left) / self.slot_count
    }

    fn x(&self, slot: f64) -> i32 {
        self.left + (slot * self.slot()).round() as i32
    }

    /// Half of a bar, in slots.
    fn half(&self, content: &Content<'_>) -> f64 {
        if content.joined { PLATEAU } else { (WIDEST_BAR / self.slot() / 2.0).min(0.34) }
    }

    /// Where a bar and its label can be touched.
    fn lane(&self, i: usize, content: &Content<'_>) -> ((i32, i32), (i32, i32)) {
        let slot = self.slots.get(i).copied().unwrap_or(0.0);
        ((self.x(slot), 2), (self.x(slot + 1.0), self.bottom + 6 + self.label_height(content)))
    }

    /// Height of the fit marks and the labels of single bars.
    fn label_height(&self, content: &Content<'_>) -> i32 {
        let lines = self.labels.iter().map(Vec::len).max().unwrap_or(0) as i32;
        lines * LINE + if content.fit_marks { LINE } else { 0 }
    }

    fn y(&self, plot: &Plot<'_>, bytes: u64) -> i32 {
        plot.map_coordinate(&(0.0, gib(bytes).min(self.axis.end))).1
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
    let layout = Layout::new(content, look, size);
    let root = backend.into_drawing_area();
    let (width, height) = (size.0.cast_signed(), size.1.cast_signed());
    let chart = ChartBuilder::on(&root)
        .margin_left(layout.left)
        .margin_right(width - layout.right)
        .margin_top(layout.top)
        .margin_bottom(height - layout.bottom)
        .build_cartesian_2d(0.0..layout.slot_count, 0.0..layout.axis.end)?;
    let plot = chart.plotting_area();

    draw_grid(&root, plot, &layout, look)?;
    draw_lane(&root, &layout, content)?;
    if content.joined {
        let spans: Vec<(f64, f64)> = layout.slots.iter().map(|slot| across(*slot, PLATEAU)).collect();
        area::draw(&root, plot, content.bars, &spans, &layout.axis, true)?;
    }
    for (i, bar) in content.bars.iter().enumerate() {
        draw_bar(&root, plot, &layout, content, look, (i, bar))?;
        let (from, to) = layout.lane(i, content);
        hits.push(hit(bar, from, to));
        if content.joined {
            parts.extend(part_hits(bar, |low, high| [(from.0, layout.y(plot, high)), (to.0, layout.y(plot, low))]));
        }
    }
    draw_connectors(&root, plot, &layout, content)?;
    layout.key.draw(&root, size.1.cast_signed() - layout.key.height() - 2)?;
    draw_groups(&root, &layout, content)?;
    draw_capacity(&root, plot, &layout, content)?;
    for (i, bar) in content.bars.iter().enumerate() {
        draw_value(&root, plot, &layout, content, (i, bar))?;
    }
    root.present()
}

fn draw_grid(root: &Root<'_>, plot: &Plot<'_>, layout: &Layout, look: &Look) -> AreaDrawn {
    for (value, text) in &layout.axis.ticks {
        let y = plot.map_coordinate(&(0.0, *value)).1;
        stroke(root, if *value > 0.0 { Ink::Grid } else { Ink::Axis }, (layout.left, y), (layout.right, y), 1)?;
        tick_label(text, (layout.left - 6, y), VPos::Center).draw(root)?;
    }
    tick_label(&look.texts.unit, (layout.left - 6, layout.top - LINE), VPos::Bottom).draw(root)
}

fn tick_label(text: &str, at: (i32, i32), vertical: VPos) -> Label<'_> {
    Label { text, at, size: SMALL_SIZE, bold: false, ink: Ink::Muted, horizontal: HPos::Right, vertical }
}

/// The middle of a slot, `half` to either side.
fn across(slot: f64, half: f64) -> (f64, f64) {
    (slot + 0.5 - half, slot + 0.5 + half)
}

/// The ground under the selected bar.
fn draw_lane(root: &Root<'_>, layout: &Layout, content: &Content<'_>) -> AreaDrawn {
    for (i, _) in content.bars.iter().enumerate().filter(|(_, bar)| bar.selected) {
        let (from, to) = layout.lane(i, content);
        fill(root, Ink::Lane, from, to)?;
    }
    Ok(())
}

/// Draws a bar with its label.
fn draw_bar(
    root: &Root<'_>,
    plot: &Plot<'_>,
    layout: &Layout,
    content: &Content<'_>,
    look: &Look,
    (i, bar): (usize, &Bar),
) -> AreaDrawn {
    let slot = layout.slots.get(i).copied().unwrap_or(0.0);
    let labels = layout.labels.get(i).map(Vec::as_slice).unwrap_or_default();
    let lane = layout.lane(i, content);
    let title = content.title((i, bar), look);
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        backend.open_group(if bar.selected { "bar selected" } else { "bar" }, &bar.id, &title);
        backend.touch(lane.0, lane.1);
    }))?;
    let across = across(slot, layout.half(content));
    if let Some(step) = content.steps.get(i) {
        plot.draw(&FloatingBar::new(step, across, &layout.axis, content.gpu_bytes, true))?;
    } else {
        let drawn = content.over_area(bar);
        plot.draw(&StackedBar::new(&drawn, across, &layout.axis, content.gpu_bytes, true, &look.texts))?;
    }
    let middle = layout.x(slot + 0.5);
    let mut y = layout.bottom + 6;
    if content.fit_marks {
        content.draw_mark(root, (i, bar), (middle, y + LINE / 2 - 1))?;
        y += LINE;
    }
    // Narrower slots would only show ellipses; the tooltip has the name.
    if layout.slot() >= NARROWEST_LABELLED {
        for line in labels {
            let (at, ink) = ((middle, y), Ink::Text);
            let label = Label {
                text: line,
                at,
                size: SMALL_SIZE,
                bold: bar.selected,
                ink,
                horizontal: HPos::Center,
                vertical: VPos::Top,
            };
            label.draw(root)?;
            y += LINE;
        }
    }
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| backend.close_group()))
}

/// From where each step of a waterfall ends to where the next begins.
fn draw_connectors(root: &Root<'_>, plot: &Plot<'_>, layout: &Layout, content: &Content<'_>) -> AreaDrawn {
    let half = layout.half(content);
    for (step, slots) in content.steps.iter().zip(layout.slots.windows(2)) {
        let [here, next] = slots else { continue };
        let y = layout.y(plot, step.to_bytes);
        let (from, to) = (layout.x(here + 0.5 + half), layout.x(next + 0.5 - half));
        stroke(root, Ink::Axis, (from, y), (to, y), 1)?;
    }
    Ok(())
}

fn draw_groups(root: &Root<'_>, layout: &Layout, content: &Content<'_>) -> AreaDrawn {
    let y = layout.bottom + 8 + layout.label_height(content);
    let mut first = 0;
    for (group, count) in content.groups() {
        let from = layout.slots.get(first).copied().unwrap_or(0.0);
        first += count;
        if group.is_empty() {
            continue;
        }
        let (left, right) = (layout.x(from) + 2, layout.x(from + count as f64) - 2);
        stroke(root, Ink::Axis, (left, y), (right, y), 1)?;
        let heading = text::ellipsis(group, TEXT_SIZE, true, f64::from(right - left) + 12.0);
        let at = ((left + right) / 2, y + 5);
        Label {
            text: &heading,
            at,
            size: TEXT_SIZE,
            bold: true,
            ink: Ink::Text,
            horizontal: HPos::Center,
            vertical: VPos::Top,
        }
        .draw(root)?;
    }
    Ok(())
}

fn draw_capacity(root: &Root<'_>, plot: &Plot<'_>, layout: &Layout, content: &Content<'_>) -> AreaDrawn {
    let y = layout.y(plot, content.gpu_bytes);
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        backend.strokes(Ink::Capacity, &[vec![(layout.left, y), (layout.right, y)]], 2, Some("7 4"));
    }))?;
    let lines = layout.capacity.len() as i32;
    for (i, line) in (0i32..).zip(&layout.capacity) {
        let at = (layout.right + 6, (y - lines * LINE / 2 + i * LINE).max(0));
        Label {
            text: line,
            at,
            size: TEXT_SIZE,
            bold: true,
            ink: Ink::Capacity,
            horizontal: HPos::Left,
            vertical: VPos::Top,
        }
        .draw(root)?;
    }
    Ok(())
}

/// The value over a bar, out of the way of the capacity line.
fn draw_value(
    root: &Root<'_>,
    plot: &Plot<'_>,
    layout: &Layout,
    content: &Content<'_>,
    (i, bar): (usize, &Bar),
) -> AreaDrawn {
    let value = content.value((i, bar));
    if text::width(&value, SMALL_SIZE, bar.selected) > layout.slot() * 1.1 {
        return Ok(());
    }
    let capacity = layout.y(plot, content.gpu_bytes);
    let mut y = layout.y(plot, bar.total) - 4;
    if (y - LINE..=y + 3).contains(&capacity) {
        y = capacity - 4;
    }
    let at = (layout.x(layout.slots.get(i).copied().unwrap_or(0.0) + 0.5), y);
    Label {
        text: &value,
        at,
        size: SMALL_SIZE,
        bold: bar.selected,
        ink: Ink::Text,
        horizontal: HPos::Center,
        vertical: VPos::Bottom,
    }
    .draw(root)
}
