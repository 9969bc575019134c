use headroom_view::Node;

use super::details;
use crate::desk::Desk;
use crate::engine::{Found, Step, Work};
use crate::page::Page;

fn step(found: &mut Found, work: &mut Work) -> Step {
    found.ladder.step(work)
}

fn panel(page: &Page) -> Option<Node> {
    details(page).map(Node::Element)
}

#[test]
fn presets_are_found_while_they_are_looked_at() {
    let mut desk = Desk::opens("v=1&model=Qwen/Qwen1.5-1.8B&gpu=rtx-3060&torch_dtype=float16");
    assert_eq!(desk.step(step), Step::Done);
    let closed = desk.draws(panel).to_html();
    assert!(!closed.contains("<button") && closed.contains("data-toggle=\"open ladder\""), "{closed}");
    desk.state.set_open("ladder", true);
    assert_eq!(desk.step(step), Step::Changed);
    // At once by what other plans needed, then by their replays.
    assert_eq!(desk.draws(panel).to_html().matches("<button").count(), 4);
    assert_eq!(desk.found.ladder.missing.len(), 4);
    assert_eq!(desk.finish(step), 1);
    let html = desk.draws(panel).to_html();
    assert_eq!(html.matches("tier quickest").count(), 1, "{html}");
    assert!(desk.found.ladder.rungs.iter().all(|rung| desk.replays.of(&rung.plan).is_some()));
    assert!(html.contains("data-do=\"adopt "), "{html}");
}

#[test]
fn a_model_that_no_preset_fits_comes_to_an_end() {
    let mut desk = Desk::opens("v=1&model=Qwen/Qwen2.5-3B&memory_gib=6&compute_capability=8.6&method=full");
    desk.state.set_open("ladder", true);
    desk.finish(step);
    assert!((4..=5).contains(&desk.found.ladder.rungs.len()));
    assert!(desk.found.ladder.searched < 8);
    assert_eq!(desk.step(step), Step::Done);
}

#[test]
fn what_generates_its_sequences_has_no_presets() {
    let desk = Desk::opens("v=1&task=grpo");
    assert!(!desk.reads(crate::result::comparison::panel).contains("Four DeepSpeed presets"));
    assert!(Desk::opens("v=1").reads(crate::result::comparison::panel).contains("Four DeepSpeed presets"));
}
