use headroom_core::link;
use headroom_core::plan::Plan;
use headroom_view::{Element, Node};

use super::{act, area, cell, moved, panel, said};
use crate::desk::Desk;
use crate::engine::{Found, Step, Work};

const PLAN: &str = "v=1&per_device_train_batch_size=4&max_length=1024";

fn step(found: &mut Found, work: &mut Work) -> Step {
    found.map.step(work, None)
}

/// A page with the map of `PLAN`, measured.
fn desk() -> Desk {
    let mut desk = Desk::opens(PLAN);
    desk.state.set_width("map", 800);
    assert_eq!(desk.finish(step), 1);
    desk
}

fn does(desk: &mut Desk, what: &str, value: &str) {
    act(&mut desk.state, &desk.found.map, what, value);
}

fn with_class<'a>(node: &'a Node, class: &str) -> Option<&'a Element> {
    let Node::Element(element) = node else { return None };
    if element.attribute("class") == Some(class) {
        return Some(element);
    }
    let headroom_view::Content::Children(children) = &element.content else { return None };
    children.iter().find_map(|child| with_class(child, class))
}

fn size(plan: &Plan) -> (u64, u64) {
    (plan.per_device_train_batch_size, plan.max_length)
}

#[test]
fn keys_stay_on_the_map() {
    assert_eq!(moved((0, 0), (3, 3), "ArrowLeft"), Some((0, 0)));
    assert_eq!(moved((3, 3), (3, 3), "ArrowUp"), Some((3, 3)));
    assert_eq!(moved((1, 1), (3, 3), "ArrowUp"), Some((1, 2)));
    assert_eq!(moved((1, 1), (3, 3), "End"), Some((3, 1)));
    assert_eq!(moved((1, 1), (3, 3), "a"), None);
}

#[test]
fn nothing_is_looked_for_before_the_place_is_measured() {
    let mut desk = Desk::opens(PLAN);
    assert_eq!(desk.step(step), Step::Done);
    let html = desk.draws(panel).to_html();
    assert!(html.contains("aria-rowcount=\"0\"") && !html.contains("<svg") && !html.contains("data-cells"), "{html}");
    desk.state.set_width("map", 300);
    desk.finish(step);
    let narrow = desk.draws(panel).to_html();
    assert!(narrow.contains("aria-rowcount=\"12\"") && narrow.contains("<svg"), "{narrow}");
    desk.state.set_width("map", 800);
    assert_eq!(desk.finish(step), 1);
    assert_ne!(desk.draws(panel).to_html(), narrow);
    assert_eq!(desk.found.map.around.as_ref().unwrap().count, 24);
}

#[test]
fn the_map_says_what_its_own_plan_comes_to() {
    let desk = desk();
    let own = desk.reads(said);
    assert!(own.starts_with("Batch 4, length 1024: ") && own.contains("GiB"), "{own}");
    let html = desk.draws(cell).to_html();
    assert!(html.contains(&own) && html.contains("data-style=\"left:"), "{html}");
    assert!(desk.reads(panel).contains("length 1024"));
}

#[test]
fn a_plan_is_walked_to_and_chosen_by_keyboard() {
    let mut desk = desk();
    // Faster than the page can draw.
    for key in ["ArrowRight", "ArrowDown"] {
        does(&mut desk, "press", key);
    }
    let words = desk.reads(said);
    does(&mut desk, "press", "Tab");
    assert_eq!(size(desk.state.plan()), (4, 1024));
    does(&mut desk, "press", "Enter");
    let (batch, length) = size(desk.state.plan());
    assert!(batch > 4 && length < 1024);
    assert!(words.starts_with(&format!("Batch {batch}, length {length}: ")), "{words}");
    assert!(desk.state.applied.is_some() && desk.state.focus.is_none());
}

#[test]
fn the_pointer_takes_a_cell_in_hand_and_picks_it() {
    let mut desk = desk();
    does(&mut desk, "point", "0,0");
    let corner = desk.reads(said);
    let map = &desk.found.map.around.as_ref().unwrap().map;
    let (batch, length) = (map.batches[0], *map.lengths.last().unwrap());
    assert!(corner.starts_with(&format!("Batch {batch}, length {length}: ")), "{corner}");
    for nowhere in ["", "99,0", "0,99", "a,b"] {
        does(&mut desk, "point", nowhere);
        assert!(desk.reads(said).starts_with("Batch 4, length 1024: "));
        does(&mut desk, "pick", nowhere);
        assert_eq!(size(desk.state.plan()), (4, 1024));
    }
    does(&mut desk, "pick", "0,0");
    assert_eq!(size(desk.state.plan()), (batch, length));
}

#[test]
fn a_cell_says_what_becomes_of_the_global_batch_and_keeps_it_where_it_can() {
    let mut desk = desk();
    let map = &desk.found.map.around.as_ref().unwrap().map;
    assert_eq!(map.batches[..4], [1, 2, 3, 4]);
    let lowest = map.lengths.len() - 1;
    assert!(!desk.reads(said).contains("accumulation"), "the plan's own batch stays");
    does(&mut desk, "point", &format!("0,{lowest}"));
    assert!(desk.reads(said).ends_with("Gradient accumulation 4 keeps the global batch"), "{}", desk.reads(said));
    does(&mut desk, "point", &format!("2,{lowest}"));
    assert!(desk.reads(said).ends_with("stays 1: the global batch changes"), "{}", desk.reads(said));
    does(&mut desk, "pick", &format!("0,{lowest}"));
    let plan = desk.state.plan();
    assert_eq!((plan.per_device_train_batch_size, plan.gradient_accumulation_steps), (1, 4));
}

#[test]
fn the_map_with_advice_is_that_of_the_advised_plan() {
    let mut desk = desk();
    assert!(!desk.draws(panel).to_html().contains("map advice"), "no advice is known");
    let advised = Plan { gradient_checkpointing: true, ..desk.state.plan().clone() };
    does(&mut desk, "advice", "true");
    let job = desk.job().unwrap();
    let steps = |desk: &mut Desk, advised: Option<&Plan>| {
        let mut work = Work { state: &desk.state, job: &job, replays: &mut desk.replays };
        while desk.found.map.step(&mut work, advised) != Step::Done {}
    };
    let plain = desk.found.map.around.as_ref().unwrap().map.clone();
    steps(&mut desk, Some(&advised));
    let around = desk.found.map.around.as_ref().unwrap();
    assert_eq!((&around.plan, &around.of), (&advised, desk.state.plan()));
    assert_ne!(around.map, plain);
    assert!(!desk.draws(panel).to_html().contains("aria-busy"));
    does(&mut desk, "pick", "0,0");
    assert!(desk.state.plan().gradient_checkpointing, "a cell of that map has the advice, too");
    does(&mut desk, "advice", "false");
}

#[test]
fn the_area_of_the_cells_is_that_of_the_picture() {
    let desk = desk();
    let panel = desk.draws(panel);
    let cells = with_class(&panel, "map-cells").unwrap().attribute("data-cells").unwrap();
    let [left, top, width, height, columns, lines] =
        cells.split(' ').map(|part| part.parse::<f64>().unwrap()).collect::<Vec<_>>()[..]
    else {
        panic!("{cells}");
    };
    let drawn = desk.found.map.drawn.borrow();
    let picture = &drawn.as_ref().unwrap().picture;
    assert_eq!(area(picture).as_deref(), Some(cells));
    assert_eq!(picture.hits.len() as f64, columns * lines);
    // The page finds each cell by arithmetic alone.
    let around = desk.found.map.around.as_ref().unwrap();
    for hit in &picture.hits {
        let x = 100.0 * (f64::from(hit.x) + 0.5) / f64::from(picture.width);
        let y = 100.0 * (f64::from(hit.y) + 0.5) / f64::from(picture.height);
        let (column, line) = ((x - left) / width * columns, (y - top) / height * lines);
        let (column, row) = around.place_of(&format!("{},{}", column.floor(), line.floor())).unwrap();
        assert_eq!(format!("{column},{row}"), hit.id);
    }
}

#[test]
fn a_map_of_an_older_plan_is_busy_and_chooses_for_the_plan_as_it_is() {
    let mut desk = desk();
    does(&mut desk, "point", "0,0");
    desk.state.choose_value("method", "full");
    assert!(desk.draws(panel).to_html().contains("aria-busy=\"true\""));
    // What was in hand was another plan's.
    assert!(desk.reads(said).starts_with("Batch 4, length 1024: "));
    does(&mut desk, "pick", "0,0");
    assert!(link::encode(desk.state.plan()).contains("method=full"));
    assert_ne!(size(desk.state.plan()), (4, 1024));
    assert_eq!(desk.finish(step), 1);
    assert!(!desk.draws(panel).to_html().contains("aria-busy"));
}

#[test]
fn a_plan_that_is_none_has_no_map() {
    let mut desk = desk();
    let edited = Plan { per_device_train_batch_size: 0, ..desk.state.plan().clone() };
    desk.state.edit(headroom_view::History::Step, edited);
    assert!(desk.job().is_err());
    let html = desk.draws(panel).to_html();
    assert!(html.contains("aria-colcount=\"0\"") && !html.contains("<svg"), "{html}");
}
