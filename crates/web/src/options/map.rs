//! What batch size and length take together: a map to choose from by mouse, finger and keyboard.

use headroom_charts::{FitMap, FitMapLook, FitMapTexts, Hit, Palette, Picture, fit_map_svg};
use headroom_core::advise::Judgement;
use headroom_core::advise::map::{Map, axes, length, map_beside, tight_share};
use headroom_core::advise::solve::Unknown;
use headroom_core::job::Job;
use headroom_core::memory::Estimate;
use headroom_core::plan::Plan;
use leptos::html;
use leptos::prelude::*;

use super::{answer, tables};
use crate::figures;
use crate::result::{Drawing, width_of};
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Values on each axis: where there is room, and on a narrow screen, where a finger has to hit a cell.
const COUNTS: (usize, usize) = (24, 12);
/// Pixels from which there is room.
const WIDE: u32 = 560;

/// A map with what it is to be read by.
#[derive(Clone, PartialEq)]
struct Around {
    map: Map,
    /// Share of the GPU up to which plans surely fit.
    sure: f64,
    gpu_bytes: u64,
    plan: Plan,
}

impl Around {
    fn of(plan: &Plan, own: &Estimate, count: usize) -> Option<Self> {
        let job = Job::resolve(plan).ok()?;
        let (batches, lengths) = axes(&job, count);
        let map = map_beside(&job, own, batches, lengths);
        Some(Self { map, sure: tight_share(own).min(1.0), gpu_bytes: own.gpu_bytes, plan: plan.clone() })
    }

    /// Where the plan itself stands, by column and row.
    fn own_place(&self) -> Place {
        let at = |values: &[u64], own: u64| values.iter().position(|value| *value == own).unwrap_or_default();
        (at(&self.map.batches, Unknown::Batch.of(&self.plan)), at(&self.map.lengths, length(&self.plan).of(&self.plan)))
    }

    /// The plan at a place.
    fn plan_at(&self, (column, row): Place) -> Option<Plan> {
        let batch = Unknown::Batch.set(&self.plan, *self.map.batches.get(column)?);
        Some(length(&self.plan).set(&batch, *self.map.lengths.get(row)?))
    }

    /// What a place means, in words.
    fn said(&self, state: State, texts: &Texts, place: Place) -> Option<String> {
        let plan = self.plan_at(place)?;
        let (batch, length) = (Unknown::Batch.of(&plan).to_string(), length(&plan).of(&plan).to_string());
        let judged = Judgement::from(&answer(state, &plan)?);
        let [need, gpu] = figures::glance_apart([judged.need_bytes, judged.gpu_bytes]);
        let need = (texts.used_of)(&need, &gpu);
        Some((texts.options.map.place)(&batch, &length, &need, (texts.fit)(judged.fit)))
    }
}

/// Column and row of a map, from the smallest batch and length.
type Place = (usize, usize);

/// The panel.
#[component]
pub(crate) fn FitMapPanel() -> impl IntoView {
    let state = State::of_page();
    let plan = state.settled_plan();
    let texts = texts();
    let place = NodeRef::<html::Div>::new();
    let width = width_of(place);
    let count = Memo::new(move |_| if width.get() < WIDE { COUNTS.1 } else { COUNTS.0 });
    // Changes once, when the plan's own replay arrives; the map need not be drawn anew for everybody else's.
    let own = Memo::new(move |_| answer(state, &plan.read()));
    let around = Memo::new(move |_| match width.get() {
        0 => None,
        _ => Around::of(&plan.read(), own.read().as_ref()?, count.get()),
    });
    let picture = Memo::new(move |_| {
        let around = around.read();
        around.as_ref().map_or_else(nothing, |around| draw(texts.get(), around, width.get()))
    });
    // Under the pointer or the keyboard; nowhere: at the plan itself.
    let in_hand = RwSignal::new(None::<Place>);
    // Axes move with the plan.
    Effect::new(move |_| {
        plan.track();
        in_hand.set(None);
    });
    let at = Memo::new(move |_| {
        let around = around.read();
        let around = around.as_ref()?;
        Some(in_hand.get().filter(|place| around.plan_at(*place).is_some()).unwrap_or_else(|| around.own_place()))
    });
    let said = Memo::new(move |_| around.read().as_ref()?.said(state, texts.get(), at.get()?));
    let sentence = move || {
        let around = around.read();
        let Around { map, sure, plan, .. } = around.as_ref()?;
        let (batch, length) = (Unknown::Batch.of(plan), length(plan).of(plan));
        let [largest, longest] =
            [map.largest_batch(length, *sure), map.longest(batch, *sure)].map(|most| most.map(|most| most.to_string()));
        let said = texts.get().options.map.sentence;
        Some(said(&length.to_string(), largest.as_deref(), &batch.to_string(), longest.as_deref()))
    };
    let table = move || around.read().as_ref().map(|around| table(texts.get(), around));
    view! {
        <section class="panel" aria-labelledby="map-title">
            <h2 id="map-title">{text(|t| t.options.map.title)}</h2>
            <p class="panel-intro">{text(|t| t.options.map.intro)}" "{text(|t| t.options.map.keys)}</p>
            <p class="map-sentence">{sentence}</p>
            <div class="chart-place" node_ref=place>
                <div class="map-picture"><Drawing picture/><Cells around picture at said in_hand/></div>
                <p class="map-said">{move || said.get()}</p>
            </div>
            <details class="chart-table">
                <summary>{text(|t| t.options.map.table)}</summary>
                // Figures and words of the page alone.
                <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.options.map.table) inner_html=table></div>
            </details>
        </section>
    }
}

fn nothing() -> Picture {
    Picture { svg: String::new(), width: 1, height: 1, hits: Vec::new() }
}

fn draw(texts: &Texts, around: &Around, width: u32) -> Picture {
    let Around { map, sure, gpu_bytes, plan } = around;
    let capacity = (texts.gpu_capacity)(&figures::glance(*gpu_bytes));
    let texts = FitMapTexts::of(texts, capacity, plan.is_reinforcement());
    let look = FitMapLook { width, palette: Palette::Classes, texts };
    let current = (Unknown::Batch.of(plan), length(plan).of(plan));
    fit_map_svg(&FitMap { map, tight_share: *sure, current }, &look)
}

/// Largest batch at each length.
fn table(texts: &Texts, around: &Around) -> String {
    let words = &texts.options.map;
    let row = |length: &u64| {
        let batch = around.map.largest_batch(*length, around.sure);
        vec![length.to_string(), batch.map_or_else(|| words.none_fits.to_owned(), |batch| batch.to_string())]
    };
    let rows: Vec<_> = around.map.lengths.iter().map(row).collect();
    tables::table(words.title, &[words.column_length, words.column_batch], &rows)
}

/// The cells over the picture, as one grid that takes the focus once: only the cell in hand is there for assistive
/// technology, with its place among all.
#[component]
fn Cells(
    around: Memo<Option<Around>>,
    picture: Memo<Picture>,
    /// Which cell is in hand.
    at: Memo<Option<Place>>,
    /// What it means.
    said: Memo<Option<String>>,
    in_hand: RwSignal<Option<Place>>,
) -> impl IntoView {
    let state = State::of_page();
    let hit = move || {
        let (column, row) = at.get()?;
        let id = format!("{column},{row}");
        picture.read().hits.iter().find(|hit| hit.id == id).cloned()
    };
    let under = move |event: &web_sys::MouseEvent| {
        let width = event_target::<web_sys::HtmlElement>(event).client_width();
        let picture = picture.read_untracked();
        let scale = f64::from(picture.width) / f64::from(width.max(1));
        let point = (f64::from(event.offset_x()) * scale, f64::from(event.offset_y()) * scale);
        picture.hits.iter().find(|hit| covers(hit, point)).and_then(|hit| place_of(&hit.id))
    };
    let choose = move |place: Place| {
        let chosen = around.read_untracked().as_ref().and_then(|around| around.plan_at(place));
        if let Some(chosen) = chosen {
            state.apply(chosen);
        }
    };
    let press = move |event: web_sys::KeyboardEvent| {
        let (Some(at), Some(last)) = (at.get_untracked(), last_place(around)) else { return };
        match event.key().as_str() {
            "Enter" | " " => choose(at),
            key => match moved(at, last, key) {
                Some(place) => in_hand.set(Some(place)),
                None => return,
            },
        }
        event.prevent_default();
    };
    let count = move |of: fn(&Map) -> usize| around.read().as_ref().map_or(0, |around| of(&around.map)).to_string();
    let percent = |part: u32, whole: u32| format!("{:.3}%", 100.0 * f64::from(part) / f64::from(whole.max(1)));
    view! {
        <div
            class="map-cells"
            role="grid"
            tabindex="0"
            aria-labelledby="map-title"
            aria-rowcount=move || count(|map| map.lengths.len())
            aria-colcount=move || count(|map| map.batches.len())
            aria-activedescendant="map-cell"
            on:keydown=press
            on:pointermove=move |event| in_hand.set(under(&event))
            on:pointerleave=move |_| in_hand.set(None)
            on:click=move |event| if let Some(place) = under(&event) { choose(place) }
        >
            <div role="row" aria-rowindex=move || at.get().map(|(_, row)| (row + 1).to_string())>
                <div
                    id="map-cell"
                    class="map-cell"
                    role="gridcell"
                    aria-colindex=move || at.get().map(|(column, _)| (column + 1).to_string())
                    aria-label=move || said.get()
                    style:left=move || hit().map(|hit| percent(hit.x.max(0).cast_unsigned(), picture.read().width))
                    style:top=move || hit().map(|hit| percent(hit.y.max(0).cast_unsigned(), picture.read().height))
                    style:width=move || hit().map(|hit| percent(hit.width, picture.read().width))
                    style:height=move || hit().map(|hit| percent(hit.height, picture.read().height))
                ></div>
            </div>
        </div>
    }
}

fn covers(hit: &Hit, (x, y): (f64, f64)) -> bool {
    let within = |at: f64, from: i32, size: u32| at >= f64::from(from) && at < f64::from(from) + f64::from(size);
    within(x, hit.x, hit.width) && within(y, hit.y, hit.height)
}

fn place_of(id: &str) -> Option<Place> {
    let (column, row) = id.split_once(',')?;
    Some((column.parse().ok()?, row.parse().ok()?))
}

/// The place of the largest batch and the greatest length.
fn last_place(around: Memo<Option<Around>>) -> Option<Place> {
    let around = around.read_untracked();
    let map = &around.as_ref()?.map;
    Some((map.batches.len().checked_sub(1)?, map.lengths.len().checked_sub(1)?))
}

/// Where a key leads; `None` for one that leads nowhere.
fn moved((column, row): Place, last: Place, key: &str) -> Option<Place> {
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
mod tests {
    use super::{moved, place_of};

    #[test]
    fn keys_stay_on_the_map() {
        assert_eq!(moved((0, 0), (3, 3), "ArrowLeft"), Some((0, 0)));
        assert_eq!(moved((3, 3), (3, 3), "ArrowUp"), Some((3, 3)));
        assert_eq!(moved((1, 1), (3, 3), "ArrowUp"), Some((1, 2)));
        assert_eq!(moved((1, 1), (3, 3), "End"), Some((3, 1)));
        assert_eq!(moved((1, 1), (3, 3), "a"), None);
    }

    #[test]
    fn cells_are_named_by_their_place() {
        assert_eq!(place_of("3,17"), Some((3, 17)));
        assert_eq!(place_of("3"), None);
    }
}
