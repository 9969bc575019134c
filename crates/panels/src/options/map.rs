//! The fit map, batch by length: what needs how much, to choose from by mouse, finger and keyboard.
//!
//! Besides what every page understands, its cells need three things of the page:
//!
//! | attribute | meaning |
//! | --- | --- |
//! | `data-cells` | where equal cells lie in the element, per cent of it: left, top, width, height; how many there are across and down |
//! | `data-point` | pointer over another of the cells: this action with `column,line` from the upper left; off the cells or gone: with nothing |
//! | `data-pick` | a click on a cell: this action with the same |
//! | `data-press` | one of the keys in `data-keys` is pressed, and does nothing else then: this action with the key's name |

use std::cell::RefCell;

use headroom_charts::{FitMap, FitMapLook, FitMapTexts, Hit, Palette, Picture, fit_map_csv, fit_map_svg};
use headroom_core::advise::map::{Map, axes, length, map_beside, tight_share, with_batch};
use headroom_core::advise::solve::Unknown;
use headroom_core::advise::{FitOracle, Judgement};
use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::{Plan, Task};
use headroom_text::{Language, Texts};
use headroom_view::{Element, Node, el};

use crate::engine::{Step, Work};
use crate::figures;
use crate::page::Page;
use crate::pieces;
use crate::replays::Known;
use crate::result::chart;
use crate::state::State;

/// Id of the heading.
pub(crate) const TITLE: &str = "map-title";

/// Values on each axis: where there is room, and on a narrow screen, where a finger has to hit a cell.
const COUNTS: (usize, usize) = (24, 12);
/// Pixels from which there is room.
const WIDE: u32 = 560;
/// Name of the place whose width the map has.
const PLACE: &str = "map";
/// Keys that lead somewhere on the map, or choose.
const KEYS: &str = "ArrowLeft ArrowRight ArrowDown ArrowUp Home End PageDown PageUp Enter Space";

/// Column and row of a map, from the smallest batch and length.
type At = (usize, usize);

/// What the reader chose on the map.
#[derive(Default)]
pub(crate) struct Chosen {
    /// The cell under the pointer or the keyboard, while the plan is this one: axes move with it.
    in_hand: Option<(At, Plan)>,
    /// Whether the map is to be that of the plan with its first advice.
    with_advice: bool,
}

impl Chosen {
    /// The cell in hand while the plan is `plan`.
    fn in_hand(&self, plan: &Plan) -> Option<At> {
        self.in_hand.as_ref().filter(|(_, of)| of == plan).map(|(at, _)| *at)
    }
}

/// A map with what it is to be read by.
struct Around {
    map: Map,
    /// Share of the GPU up to which plans surely fit.
    sure: f64,
    gpu_bytes: u64,
    /// The plan whose map it is: the reader's, or that with its first advice.
    plan: Plan,
    /// The reader's.
    of: Plan,
    /// Most values on each axis.
    count: usize,
}

impl Around {
    fn of(job: &Job, own: &Estimate, of: Plan, Axes { batches, lengths, count, .. }: Axes) -> Self {
        Self {
            map: map_beside(job, own, batches, lengths),
            sure: tight_share(own).min(1.0),
            gpu_bytes: own.gpu_bytes,
            plan: job.plan().clone(),
            of,
            count,
        }
    }

    /// Where the plan itself stands.
    fn own_place(&self) -> At {
        let at = |values: &[u64], own: u64| values.iter().position(|value| *value == own).unwrap_or_default();
        (at(&self.map.batches, Unknown::Batch.of(&self.plan)), at(&self.map.lengths, length(&self.plan).of(&self.plan)))
    }

    /// `plan` with the batch and the length of a place; `None` where the map has no such place, or lengths of another kind.
    fn set(&self, plan: &Plan, (column, row): At) -> Option<Plan> {
        let batch = with_batch(plan, *self.map.batches.get(column)?);
        let unknown = length(&self.plan);
        (unknown == length(plan)).then_some(unknown.set(&batch, *self.map.lengths.get(row)?))
    }

    /// The cell in hand, else the plan's own.
    fn at(&self, state: &State) -> At {
        let on_map = |(column, row): &At| *column < self.map.batches.len() && *row < self.map.lengths.len();
        state.options.map.in_hand(state.plan()).filter(on_map).unwrap_or_else(|| self.own_place())
    }

    /// The place in this column and line from the upper left.
    fn place_of(&self, pointed: &str) -> Option<At> {
        let (column, line) = pointed.split_once(',')?;
        let (column, line): (usize, usize) = (column.parse().ok()?, line.parse().ok()?);
        let row = self.map.lengths.len().checked_sub(line.checked_add(1)?)?;
        (column < self.map.batches.len()).then_some((column, row))
    }

    /// The place of the largest batch and the greatest length.
    fn last_place(&self) -> Option<At> {
        Some((self.map.batches.len().checked_sub(1)?, self.map.lengths.len().checked_sub(1)?))
    }
}

/// Values of the axes that the next map is to have.
struct Axes {
    plan: Plan,
    count: usize,
    batches: Vec<u64>,
    lengths: Vec<u64>,
}

/// The map, as far as it is known.
#[derive(Default)]
pub(crate) struct Found {
    around: Option<Around>,
    coming: Option<Axes>,
    /// How the map was drawn last: it is read more often than it changes.
    drawn: RefCell<Option<Drawn>>,
}

struct Drawn {
    width: Option<u32>,
    language: Language,
    picture: Picture,
}

impl Found {
    /// Finds the axes, then the map: where the reader wants it, and there is advice, of the plan that is `advised`.
    pub(crate) fn step(&mut self, work: &mut Work, advised: Option<&Plan>) -> Step {
        let width = work.state.width(PLACE).unwrap_or_default();
        if width == 0 {
            return Step::Done;
        }
        let of = work.job.plan();
        let plan = advised.filter(|_| work.state.options.map.with_advice).unwrap_or(of);
        let count = if width < WIDE { COUNTS.1 } else { COUNTS.0 };
        let is_known = |around: &Around| around.count == count && around.plan == *plan && around.of == *of;
        if self.around.as_ref().is_some_and(is_known) {
            return Step::Done;
        }
        // What was advised has been estimated, so it makes a job.
        let Ok(job) = work.job.with(plan.clone()) else { return Step::Done };
        let Some(axes) = self.coming.take().filter(|axes| axes.count == count && axes.plan == *plan) else {
            let (batches, lengths) = axes(&job, count);
            self.coming = Some(Axes { plan: plan.clone(), count, batches, lengths });
            return Step::Working;
        };
        let outline = memory::outline(&job);
        let own = match work.replays.of(plan) {
            Some(replay) => outline.refined(replay),
            None => outline,
        };
        self.around = Some(Around::of(&job, &own, of.clone(), axes));
        self.drawn.replace(None);
        Step::Changed
    }

    /// Reads something off the picture of the map.
    fn read_picture<T>(&self, page: &Page, around: &Around, read: impl FnOnce(&Picture) -> T) -> T {
        let (width, language) = (chart::width_of(page, PLACE), page.state.language);
        let mut drawn = self.drawn.borrow_mut();
        let kept = drawn.take().filter(|drawn| drawn.width == width && drawn.language == language);
        let kept = kept.unwrap_or_else(|| Drawn { width, language, picture: draw(page.texts, around, width) });
        read(&drawn.insert(kept).picture)
    }
}

/// The map, where the plan makes a job and it has been found.
fn around<'a>(page: &Page<'a>) -> Option<&'a Around> {
    page.job.as_ref().ok()?;
    page.found.map.around.as_ref()
}

/// The sentence and the picture with its cells.
pub(crate) fn figure(page: &Page) -> Element {
    let around = around(page);
    let sentence = around.map(|around| sentence(page.texts, around)).unwrap_or_default();
    let picture = el("div").class("map-picture").with(drawing(page, around)).with(cells(page, around));
    let chart_place = el("div")
        .class("chart-place")
        .attr("data-width", PLACE)
        .with(picture)
        .with(el("p").class("map-said").place("map-said"));
    el("div").class("map-figure").with(el("p").class("map-sentence").text(&sentence)).with(chart_place)
}

/// The panel.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let words = &page.texts.options().map;
    let around = around(page);
    let scroll = el("div")
        .class("table-scroll")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", words.table)
        // Figures and words of the page alone.
        .markup(&around.map(|around| table(page.texts, around)).unwrap_or_default());
    let is_stale = around.is_some_and(|around| around.of != *page.plan());
    let csv = around.map(|around| csv(page.texts, around));
    let section = el("section")
        .class("panel")
        .attr("aria-labelledby", TITLE)
        .maybe("aria-busy", is_stale.then_some("true"))
        .with(el("h2").attr("id", TITLE).text(words.title))
        .with(el("p").class("panel-intro").text(words.intro).text(" ").text(words.keys))
        .with_some(advice_switch(page, around))
        .with(figure(page))
        .with_some(csv.map(|csv| chart::downloads(page.texts, PLACE, &csv)))
        .with(el("details").class("chart-table").with(el("summary").text(words.table)).with(scroll));
    Some(section.into())
}

/// Chooses between the map of the plan and that of the plan with its first advice, where there is any; says what that is.
fn advice_switch(page: &Page, around: Option<&Around>) -> Option<Element> {
    let words = &page.texts.options().map;
    let advice = page.found.advice.mildest(page.plan())?;
    let levers: Vec<String> = advice.levers.iter().map(|lever| (page.texts.advice.lever_short)(*lever)).collect();
    let is_shown = around.is_some_and(|around| around.plan == advice.plan);
    let input = el("input")
        .attr("type", "checkbox")
        .attr("data-set", "map advice")
        .flag("checked", page.state.options.map.with_advice);
    let said = el("span").text(words.with_advice).text(" ").with(el("small").text(&levers.join(" · ")));
    Some(el("label").class(if is_shown { "map-advice shown" } else { "map-advice" }).with(input).with(said))
}

fn csv(texts: &Texts, Around { map, sure, gpu_bytes, plan, .. }: &Around) -> String {
    let current = (Unknown::Batch.of(plan), length(plan).of(plan));
    fit_map_csv(&FitMap { map, tight_share: *sure, current }, *gpu_bytes, plan.is_reinforcement(), texts)
}

fn sentence(texts: &Texts, Around { map, sure, plan, .. }: &Around) -> String {
    let (batch, length) = (Unknown::Batch.of(plan), length(plan).of(plan));
    let [largest, longest] =
        [map.largest_batch(length, *sure), map.longest(batch, *sure)].map(|most| most.map(|most| most.to_string()));
    (texts.options().map.sentence)(&length.to_string(), largest.as_deref(), &batch.to_string(), longest.as_deref())
}

fn draw(texts: &Texts, around: &Around, width: Option<u32>) -> Picture {
    let Some(width) = width else { return chart::nothing() };
    let Around { map, sure, gpu_bytes, plan, .. } = around;
    let capacity = (texts.gpu_capacity)(&figures::glance(*gpu_bytes));
    let texts = FitMapTexts::of(texts, capacity, plan.is_reinforcement());
    let look = FitMapLook { width, palette: Palette::Classes, texts };
    let current = (Unknown::Batch.of(plan), length(plan).of(plan));
    fit_map_svg(&FitMap { map, tight_share: *sure, current }, &look)
}

fn drawing(page: &Page, around: Option<&Around>) -> Element {
    match around {
        Some(around) => page.found.map.read_picture(page, around, |picture| chart::drawing(picture.svg.clone())),
        None => chart::drawing(String::new()),
    }
}

/// Largest batch at each length.
fn table(texts: &Texts, around: &Around) -> String {
    let words = &texts.options().map;
    let row = |length: &u64| {
        let batch = around.map.largest_batch(*length, around.sure);
        vec![length.to_string(), batch.map_or_else(|| words.none_fits.to_owned(), |batch| batch.to_string())]
    };
    let rows: Vec<_> = around.map.lengths.iter().map(row).collect();
    pieces::table(words.title, &[words.column_length, words.column_batch], &rows)
}

/// The cells over the picture, as one grid that takes the focus once: only the cell in hand is there for assistive
/// technology, with its place among all.
fn cells(page: &Page, around: Option<&Around>) -> Element {
    let count = |of: fn(&Map) -> usize| around.map_or(0, |around| of(&around.map)).to_string();
    let area = around.and_then(|around| page.found.map.read_picture(page, around, area));
    el("div")
        .class("map-cells")
        .attr("role", "grid")
        .attr("tabindex", "0")
        .attr("aria-label", page.texts.options().map.title)
        .attr("aria-rowcount", &count(|map| map.lengths.len()))
        .attr("aria-colcount", &count(|map| map.batches.len()))
        .attr("aria-activedescendant", "map-cell")
        .maybe("data-cells", area.as_deref())
        .attr("data-point", "map point")
        .attr("data-pick", "map pick")
        .attr("data-press", "map press")
        .attr("data-keys", KEYS)
        .place("map-cell")
}

/// Where the cells lie in the picture, as `data-cells` has it: they are all equal, and stand side by side.
fn area(picture: &Picture) -> Option<String> {
    let (first, last) = (picture.hits.first()?, picture.hits.last()?);
    let columns = picture.hits.iter().filter(|hit| hit.y == first.y).count();
    let lines = picture.hits.len() / columns.max(1);
    let percent = |part: i64, whole: u32| 100.0 * part as f64 / f64::from(whole.max(1));
    let across = i64::from(last.x) + i64::from(last.width) - i64::from(first.x);
    let down = i64::from(last.y) + i64::from(last.height) - i64::from(first.y);
    Some(format!(
        "{:.3} {:.3} {:.3} {:.3} {columns} {lines}",
        percent(first.x.into(), picture.width),
        percent(first.y.into(), picture.height),
        percent(across, picture.width),
        percent(down, picture.height)
    ))
}

/// The cell in hand.
pub(crate) fn cell(page: &Page) -> Option<Node> {
    let around = around(page);
    let at = around.map(|around| around.at(page.state));
    let one_based = |value: usize| (value + 1).to_string();
    let style = around.zip(at).and_then(|(around, (column, row))| {
        let id = format!("{column},{row}");
        page.found.map.read_picture(page, around, |picture| {
            let hit: Option<&Hit> = picture.hits.iter().find(|hit| hit.id == id);
            hit.map(|hit| chart::place_of(hit, picture))
        })
    });
    let cell = el("div")
        .attr("id", "map-cell")
        .class("map-cell")
        .attr("role", "gridcell")
        .maybe("aria-colindex", at.map(|(column, _)| one_based(column)).as_deref())
        .maybe("aria-label", words_of(page).as_deref())
        .maybe("data-style", style.as_deref());
    let row =
        el("div").attr("role", "row").maybe("aria-rowindex", at.map(|(_, row)| one_based(row)).as_deref()).with(cell);
    Some(row.into())
}

/// What the cell in hand means, for the eye.
pub(crate) fn said(page: &Page) -> Option<Node> {
    words_of(page).map(Node::Text)
}

/// What the cell in hand means.
fn words_of(page: &Page) -> Option<String> {
    let texts = page.texts;
    let (job, around) = (page.job.as_ref().ok()?, around(page)?);
    let plan = around.set(&around.plan, around.at(page.state))?;
    let (batch, length) = (Unknown::Batch.of(&plan).to_string(), length(&plan).of(&plan).to_string());
    let judged: Judgement = Known(page.replays).judge(&job.with(plan.clone()).ok()?)?;
    let [need, gpu] = figures::glance_apart([judged.need_bytes, judged.gpu_bytes]);
    let need = (texts.used_of)(&need, &gpu);
    let mut said = (texts.options().map.place)(&batch, &length, &need, pieces::as_shown(texts, &judged).1);
    let before = &around.plan;
    if plan.task != Task::Inference && Unknown::Batch.of(&plan) != Unknown::Batch.of(before) {
        let (steps, kept) = (plan.gradient_accumulation_steps, before.gradient_accumulation_steps);
        said += &(texts.options().map.accumulates)(steps, steps != kept);
    }
    Some(said)
}

/// What the reader does on the map: `point` takes a cell in hand, `pick` makes one the plan, `press` does either by key.
pub(crate) fn act(state: &mut State, found: &Found, what: &str, value: &str) {
    let Some(around) = &found.around else { return };
    match what {
        "advice" => {
            state.options.map.with_advice = value == "true";
            state.options.map.in_hand = None;
        }
        "point" => take_in_hand(state, around.place_of(value)),
        "pick" => {
            if let Some(at) = around.place_of(value) {
                choose(state, around, at);
            }
        }
        "press" => {
            let (at, Some(last)) = (around.at(state), around.last_place()) else { return };
            match moved(at, last, value) {
                Some(place) => take_in_hand(state, Some(place)),
                None if matches!(value, "Enter" | " " | "Space") => choose(state, around, at),
                None => {}
            }
        }
        _ => {}
    }
}

fn take_in_hand(state: &mut State, at: Option<At>) {
    state.options.map.in_hand = at.map(|at| (at, state.plan().clone()));
}

/// Gives the plan, as it is by now, the batch and the length of a place.
fn choose(state: &mut State, around: &Around, at: At) {
    let is_advised = around.plan != around.of && around.of == *state.plan();
    if let Some(plan) = around.set(if is_advised { &around.plan } else { state.plan() }, at) {
        state.apply(plan);
    }
}

/// Where a key leads; `None` for one that leads nowhere.
fn moved((column, row): At, last: At, key: &str) -> Option<At> {
    Some(match key {
        "ArrowLeft" => (column.saturating_sub(1), row),
        "ArrowRight" => ((column + 1).min(last.0), row),
        "ArrowDown" => (column, row.saturating_sub(1)),
        "ArrowUp" => (column, (row + 1).min(last.1)),
        "Home" => (0, row),
        "End" => (last.0, row),
        "PageDown" => (column, 0),
        "PageUp" => (column, last.1),
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
