//! What marks and colours mean, under a picture: items in lines as wide as the picture.

use plotters::element::Circle;
use plotters::prelude::Color;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::BackendCoord;

use crate::backend::SvgBackend;
use crate::elements::{AreaDrawn, Direct, LINE, Label, Root, SMALL_SIZE, fill, hatched};
use crate::ink::Ink;
use crate::text;

/// What stands before an item's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A diamond's outline: coarser arithmetic or state.
    Diamond,
    /// A triangle: something else is trained.
    Triangle,
    /// A field of one colour.
    Field(Ink),
    /// A hatched field of one colour.
    Hatched(Ink),
    /// A line.
    Line(Ink),
    /// The ring around the current plan.
    Ring,
    /// The fields of a scale in a row, with what its lower end means.
    Scale(&'static [Ink]),
}

/// Width of one field of a scale, pixels.
const SCALE_FIELD: i32 = 15;
/// Width of a single field or of a line's sample.
const FIELD: i32 = 18;
/// Height of fields.
const FIELD_HEIGHT: i32 = 12;
/// Room of one line of items.
pub(crate) const KEY_LINE: i32 = LINE + 5;
/// Room between mark and words.
const GAP: i32 = 6;
/// Room between items.
const BETWEEN: i32 = 18;

impl Mark {
    fn width(self) -> i32 {
        match self {
            Self::Diamond | Self::Triangle | Self::Ring => 12,
            Self::Field(_) | Self::Hatched(_) | Self::Line(_) => FIELD,
            Self::Scale(inks) => SCALE_FIELD * inks.len() as i32,
        }
    }

    /// Draws it with its left edge at `x`, centred at `y`.
    fn draw(self, root: &Root<'_>, (x, y): BackendCoord) -> AreaDrawn {
        let half = FIELD_HEIGHT / 2;
        match self {
            Self::Diamond => diamond(root, (x + 6, y)),
            Self::Triangle => triangle(root, (x + 6, y)),
            Self::Ring => ring(root, (x + 6, y), 5),
            Self::Field(ink) => fill(root, ink, (x, y - half), (x + FIELD, y + half)),
            Self::Hatched(ink) => {
                let (from, to) = ((x, y - half), (x + FIELD, y + half));
                fill(root, ink, from, to)?;
                hatch(root, &hatched(&[(from, to)], 6))
            }
            Self::Line(ink) => root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
                backend.strokes(ink, &[vec![(x, y), (x + FIELD, y)]], 3, None);
            })),
            Self::Scale(inks) => {
                for (i, ink) in (0i32..).zip(inks) {
                    let left = x + i * SCALE_FIELD;
                    fill(root, *ink, (left, y - half), (left + SCALE_FIELD, y + half))?;
                }
                Ok(())
            }
        }
    }
}

/// Lines through what is too much, in the colour of the ground.
pub(crate) fn hatch(root: &Root<'_>, lines: &[Vec<BackendCoord>]) -> AreaDrawn {
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| backend.strokes(Ink::Surface, lines, 2, None)))
}

/// The mark of coarser arithmetic or state.
pub(crate) fn diamond(root: &Root<'_>, (x, y): BackendCoord) -> AreaDrawn {
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        let outline = vec![(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y), (x, y - 5), (x + 5, y)];
        backend.strokes(Ink::Text, &[outline], 2, None);
    }))
}

/// The mark of something else being trained.
pub(crate) fn triangle(root: &Root<'_>, (x, y): BackendCoord) -> AreaDrawn {
    let corners = vec![(x - 6, y + 5), (x + 6, y + 5), (x, y - 5)];
    root.draw(&plotters::element::Polygon::new(corners, Ink::Text.token().filled()))
}

/// The ring around the current plan, parted from what lies under it by a rim of the ground's colour.
pub(crate) fn ring(root: &Root<'_>, at: BackendCoord, radius: i32) -> AreaDrawn {
    root.draw(&Circle::new(at, radius, Ink::Surface.token().stroke_width(6)))?;
    root.draw(&Circle::new(at, radius, Ink::Text.token().stroke_width(3)))
}

/// Items in lines.
pub(crate) struct Key {
    /// Left edge, line, mark and words of each.
    items: Vec<(i32, i32, Mark, String)>,
    lines: i32,
}

impl Key {
    /// Breaks `items` into lines between two edges.
    pub(crate) fn new(items: Vec<(Mark, String)>, (left, right): (i32, i32)) -> Self {
        let (mut x, mut lines) = (left, 0);
        let mut placed = Vec::with_capacity(items.len());
        for (mark, words) in items {
            let room = mark.width() + GAP;
            let words = text::ellipsis(&words, SMALL_SIZE, false, f64::from((right - left - room).max(0)));
            let width = room + text::width(&words, SMALL_SIZE, false).ceil() as i32;
            if lines == 0 || x + width > right {
                x = left;
                lines += 1;
            }
            placed.push((x, lines - 1, mark, words));
            x += width + BETWEEN;
        }
        Self { items: placed, lines }
    }

    /// Room it takes, pixels.
    pub(crate) fn height(&self) -> i32 {
        self.lines * KEY_LINE
    }

    /// Draws it under `top`.
    pub(crate) fn draw(&self, root: &Root<'_>, top: i32) -> AreaDrawn {
        for (x, line, mark, words) in &self.items {
            let y = top + line * KEY_LINE + KEY_LINE / 2;
            mark.draw(root, (*x, y))?;
            let at = (x + mark.width() + GAP, y);
            Label {
                text: words,
                at,
                size: SMALL_SIZE,
                bold: false,
                ink: Ink::Text,
                horizontal: HPos::Left,
                vertical: VPos::Center,
            }
            .draw(root)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_do_not_fit_beside_each_other_stand_in_lines() {
        let items = || vec![(Mark::Diamond, "coarser".to_owned()), (Mark::Triangle, "something else".to_owned())];
        assert_eq!(Key::new(items(), (0, 400)).height(), KEY_LINE);
        let narrow = Key::new(items(), (0, 100));
        assert_eq!(narrow.height(), 2 * KEY_LINE);
        for (x, _, mark, words) in &narrow.items {
            assert!(f64::from(x + mark.width() + GAP) + text::width(words, SMALL_SIZE, false) <= 100.0);
        }
        assert_eq!(Key::new(Vec::new(), (0, 400)).height(), 0);
    }
}
