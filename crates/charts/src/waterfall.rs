//! What each of several levers saves when they are pulled one after the other.

use headroom_core::advise::Level;

use crate::comparison::picture;
use crate::content::Content;
use crate::key::Mark;
use crate::look::{Bar, Look, Picture};
use crate::step::{LeverBar, Step};

/// The need of the plan as it is (`start_bytes`), then each lever's own saving as a bar from the level before to the level after, then
/// what remains; with the GPU's memory as a line. The first and the last bar have the ids `before` and `after`.
///
/// Levers that change the result of training are marked, and the marks explained. Columns where there is room for their labels, rows
/// otherwise.
pub fn waterfall_svg(levers: &[LeverBar], start_bytes: u64, gpu_bytes: u64, look: &Look) -> Picture {
    let texts = &look.texts;
    let end_bytes = levers.last().map_or(start_bytes, |lever| lever.need_bytes);
    let before = std::iter::once(start_bytes).chain(levers.iter().map(|lever| lever.need_bytes));
    let mut bars = vec![bar(&texts.before, "before", start_bytes)];
    let mut steps = vec![Step::whole(start_bytes, &texts.before, gpu_bytes, texts)];
    for (lever, from_bytes) in levers.iter().zip(before) {
        let step = Step::of(lever, from_bytes, gpu_bytes, texts);
        bars.push(bar(&lever.label, &lever.id, step.highest()));
        steps.push(step);
    }
    bars.push(bar(&texts.after, "after", end_bytes));
    steps.push(Step::whole(end_bytes, &texts.after, gpu_bytes, texts));

    let marks = [(Level::Coarser, Mark::Diamond, &texts.coarser), (Level::Different, Mark::Triangle, &texts.different)];
    let pulled = marks.into_iter().filter(|(level, ..)| levers.iter().any(|lever| lever.level == *level));
    let key = pulled.map(|(_, mark, words)| (mark, words.clone())).collect();
    picture(&Content { bars: &bars, gpu_bytes, fit_marks: true, note: None, joined: false, steps: &steps, key }, look)
}

/// The place of a bar: its label, and how far it reaches.
fn bar(label: &str, id: &str, total: u64) -> Bar {
    // `4 → 2` stays on one line.
    let (label, group) = (label.replace(" → ", "\u{a0}→\u{a0}"), String::new());
    Bar { label, group, parts: Vec::new(), total, selected: false, id: id.to_owned() }
}
