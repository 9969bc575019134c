//! What a picture of bars shows, whichever way they run.

use headroom_core::advise::Level;

use crate::axis::value_text;
use crate::elements::{AreaDrawn, Root, SMALL_SIZE, bar_title, fit_mark, fits, parts_text};
use crate::key::{Mark, diamond, triangle};
use crate::look::{Bar, Look};
use crate::step::Step;
use crate::text;

/// What a picture shows.
pub(crate) struct Content<'a> {
    /// The bars.
    pub(crate) bars: &'a [Bar],
    /// The GPU's memory, bytes.
    pub(crate) gpu_bytes: u64,
    /// Whether each bar gets a check or a cross.
    pub(crate) fit_marks: bool,
    /// A word at the value of the selected bar.
    pub(crate) note: Option<&'a str>,
    /// Whether the bars are moments of one thing, drawn as one area.
    pub(crate) joined: bool,
    /// What each bar does, where they are steps of a waterfall instead of stacks.
    pub(crate) steps: &'a [Step],
    /// What marks mean, under the picture.
    pub(crate) key: Vec<(Mark, String)>,
}

impl Content<'_> {
    /// What is printed at the end of the bar in place `i`.
    pub(crate) fn value(&self, (i, bar): (usize, &Bar)) -> String {
        if let Some(step) = self.steps.get(i) {
            return step.value.clone();
        }
        let value = value_text(bar.total);
        match self.note {
            Some(note) if bar.selected => format!("{note} {value}"),
            _ => value,
        }
    }

    /// Tooltip of the bar in place `i`: with its parts where they are drawn as one area with their neighbours'.
    pub(crate) fn title(&self, (i, bar): (usize, &Bar), look: &Look) -> String {
        if let Some(step) = self.steps.get(i) {
            return step.title.clone();
        }
        let title = bar_title(bar, self.gpu_bytes, &look.texts);
        if self.joined { format!("{title}; {}", parts_text(bar, &look.texts)) } else { title }
    }

    /// `bar` as it is drawn over the area: without what the area shows already.
    pub(crate) fn over_area(&self, bar: &Bar) -> Bar {
        if self.joined { Bar { parts: Vec::new(), ..bar.clone() } } else { bar.clone() }
    }

    /// Draws the mark beside the label of the bar in place `i`.
    pub(crate) fn draw_mark(&self, root: &Root<'_>, (i, bar): (usize, &Bar), at: (i32, i32)) -> AreaDrawn {
        match self.steps.get(i).and_then(|step| step.level) {
            _ if !self.fit_marks => Ok(()),
            None => fit_mark(root, fits(bar, self.gpu_bytes), at),
            Some(Level::Same) => Ok(()),
            Some(Level::Coarser) => diamond(root, at),
            Some(Level::Different) => triangle(root, at),
        }
    }

    /// Neighbours of one group: heading and how many.
    pub(crate) fn groups(&self) -> Vec<(&str, usize)> {
        let mut groups: Vec<(&str, usize)> = Vec::new();
        for bar in self.bars {
            match groups.last_mut() {
                Some((group, count)) if *group == bar.group => *count += 1,
                _ => groups.push((&bar.group, 1)),
            }
        }
        groups
    }

    /// Room that columns need for each bar, pixels: its longest word or its value.
    pub(crate) fn widest_label(&self) -> f64 {
        let needs = |(i, bar): (usize, &Bar)| {
            let word = text::widest_word(&bar.label, SMALL_SIZE, bar.selected);
            word.max(text::width(&self.value((i, bar)), SMALL_SIZE, bar.selected))
        };
        self.bars.iter().enumerate().map(needs).fold(0.0, f64::max)
    }
}
