use headroom_core::plan::Plan;
use headroom_view::{Answer, Content, Element, Event, Node};

use super::panel;
use crate::desk::Desk;
use crate::engine::{Engine, Found, Step, Turn, Work};

fn step(found: &mut Found, work: &mut Work) -> Step {
    found.comparison.step(work)
}

fn sketch(found: &mut Found, work: &mut Work) -> Step {
    found.comparison.sketch(work.job.plan(), Some(work.job), work.replays)
}

fn sketched(fragment: &str) -> Desk {
    let mut desk = Desk::opens(fragment);
    desk.state.set_width("comparison", 900);
    desk.state.set_open("comparison-chart", true);
    assert_eq!(desk.finish(sketch), 1);
    desk
}

/// Buttons of a node whose text or label has `words`.
fn buttons(node: &Node, words: &str) -> Vec<Element> {
    let Node::Element(element) = node else { return Vec::new() };
    let mut found = Vec::new();
    let text = element.attribute("aria-label").map_or_else(|| node.to_text(), str::to_owned);
    if element.tag == "button" && element.attribute("data-do").is_some() && text.contains(words) {
        found.push(element.clone());
    }
    if let Content::Children(children) = &element.content {
        found.extend(children.iter().flat_map(|child| buttons(child, words)));
    }
    found
}

fn offered(desk: &Desk, button: &Element) -> Plan {
    desk.offered.plan(button.attribute("data-do").unwrap().strip_prefix("adopt ").unwrap()).unwrap()
}

#[test]
fn bars_stand_at_once_and_each_becomes_its_plan() {
    let desk = sketched("v=1&num_gpus=8");
    let drawn = desk.draws(panel);
    for name in ["Full, not sharded:", "LoRA, ZeRO-2:", "QLoRA 4-bit, ZeRO-2:"] {
        assert_eq!(buttons(&drawn, name).len(), 1, "{name}");
    }
    let [own] = &buttons(&drawn, "LoRA, not sharded:")[..1] else { panic!() };
    assert_eq!(own.attribute("aria-pressed"), Some("true"));
    let [full] = &buttons(&drawn, "Full, ZeRO-3:")[..] else { panic!() };
    assert_eq!(full.attribute("aria-pressed"), Some("false"));
    assert!(full.attribute("data-style").unwrap().starts_with("left:"));
    let plan = offered(&desk, full);
    assert_eq!((plan.method.name(), plan.zero_stage), ("full", 3));
}

#[test]
fn the_matrix_says_the_same_as_the_chart() {
    let desk = sketched("v=1&num_gpus=8");
    let drawn = desk.draws(panel);
    let html = drawn.to_html();
    assert!(html.contains("data-style=\"--rows:6\""), "{html}");
    for (bar, tier) in [("LoRA, ZeRO-3:", "LoRA, ZeRO-3 "), ("Full, ZeRO-2:", "Full, ZeRO-2 ")] {
        let bar =
            buttons(&drawn, bar).into_iter().find(|bar| bar.attribute("class") == Some("bar-button mark")).unwrap();
        let tiers = buttons(&drawn, tier);
        let tier =
            tiers.iter().find(|tier| Node::from((*tier).clone()).to_text().starts_with(bar_method(&bar))).unwrap();
        assert_eq!(offered(&desk, &bar), offered(&desk, tier));
        let need =
            bar.attribute("aria-label").unwrap().split("GiB").next().unwrap().rsplit(' ').nth(1).unwrap().to_owned();
        assert!(
            Node::from(tier.clone()).to_text().contains(&format!("GPU ≈ {need} GiB")),
            "{need}: nothing is replayed yet"
        );
    }
    assert!(!desk.reads(panel).contains("ZeRO shards nothing: only offload"));
    assert!(sketched("v=1&num_gpus=1").reads(panel).contains("ZeRO shards nothing: only offload"));
}

#[test]
fn the_chart_is_drawn_only_where_it_is_opened() {
    let mut desk = sketched("v=1&num_gpus=8");
    desk.state.set_open("comparison-chart", false);
    let drawn = desk.draws(panel).to_html();
    assert!(drawn.contains("tier-bar") && drawn.contains("<i class=\"swatch-weights\""), "{drawn}");
    assert!(!drawn.contains("class=\"drawing\"") && !drawn.contains("data-csv"), "{drawn}");
}

#[test]
fn times_stay_beside_the_pinned_plan() {
    let mut desk = sketched("v=1&num_gpus=8");
    let time = |desk: &Desk, plan: &str| {
        let drawn = desk.draws(panel);
        let tiers = buttons(&drawn, plan);
        let tier = tiers.iter().map(|tier| Node::from(tier.clone()).to_text()).find(|text| text.starts_with(plan));
        tier.unwrap().rsplit_once("time ").map(|(_, time)| time.to_owned())
    };
    assert_eq!(time(&desk, "LoRA, not sharded"), None, "the plan itself");
    let beside = time(&desk, "Full, ZeRO-3 ").unwrap();
    assert!(crate::options::act(&mut desk.state, "pin", "", ""));
    assert_eq!(desk.step(step), Step::Changed);
    let full = buttons(&desk.draws(panel), "Full, ZeRO-3:").remove(0);
    let full = offered(&desk, &full);
    desk.state.apply(full);
    desk.finish(step);
    assert_eq!(time(&desk, "Full, ZeRO-3 ").unwrap(), beside, "what is now the plan");
    let said = desk.reads(panel);
    assert!(said.contains("Times are beside the pinned plan") && said.contains("baseline"), "{said}");
    assert!(crate::options::act(&mut desk.state, "unpin", "", ""));
    assert_eq!(desk.step(step), Step::Changed);
    assert_eq!(time(&desk, "Full, ZeRO-3 "), None);
}

#[test]
fn four_bits_that_need_more_are_asked_about() {
    let mut desk = sketched("v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&num_gpus=1");
    let said = desk.reads(panel);
    assert!(said.contains("Why does QLoRA 4-bit, not sharded need"), "{said}");
    desk.state.set_open("why:tier-qlora-0", true);
    let said = desk.reads(panel);
    assert!(said.contains("prepare_model_for_kbit_training") && said.contains("mlp.gate_proj"), "{said}");
    assert!(
        !sketched("v=1&model=meta-llama/Llama-3.1-8B&num_gpus=1")
            .reads(panel)
            .contains("Why does QLoRA 4-bit, not sharded")
    );
}

fn bar_method(bar: &Element) -> &str {
    bar.attribute("aria-label").unwrap().split(',').next().unwrap()
}

#[test]
fn every_candidate_gets_its_own_replay() {
    let mut desk = sketched("v=1&model=Qwen/Qwen2.5-0.5B&num_gpus=1");
    let answered = desk.found.comparison.candidates.iter().filter(|candidate| candidate.outcome.is_ok()).count();
    assert!(answered > 3);
    assert_eq!(desk.finish(step), answered);
    for candidate in &desk.found.comparison.candidates {
        let Some(estimate) = candidate.estimate() else { continue };
        assert_eq!(estimate.peak.basis.name(), "replayed");
    }
    let before = desk.found.comparison.candidates.clone();
    // A bar that is chosen changes which is the plan, not what it is beside.
    let chosen = before.iter().find(|one| one.outcome.is_ok() && one.alternative.plan != *desk.state.plan()).unwrap();
    desk.state.apply(chosen.alternative.plan.clone());
    desk.finish(sketch);
    let after = &desk.found.comparison.candidates;
    assert!(after.iter().filter(|one| before.contains(one)).count() >= answered / 2);
    assert_eq!(
        buttons(&desk.draws(panel), "")
            .iter()
            .filter(|one| one.attribute("class") == Some("bar-button mark")
                && one.attribute("aria-pressed") == Some("true"))
            .count(),
        1
    );
}

#[test]
fn an_edit_while_it_is_sketched_begins_anew() {
    let mut desk = Desk::opens("v=1&num_gpus=8");
    assert_eq!(desk.step(sketch), Step::Working);
    desk.state.choose_value("num_gpus", "1");
    assert_eq!(desk.finish(sketch), 1);
    assert!(desk.found.comparison.candidates.iter().all(|one| one.alternative.plan.num_gpus == 1));
    assert_eq!(desk.step(sketch), Step::Done);
}

#[test]
fn generation_keeps_the_simple_table() {
    let desk = sketched("v=1&task=inference&method=full");
    let html = desk.draws(panel).to_html();
    assert!(!html.contains("class=\"tiers\"") && html.contains("<tbody><tr><th scope=\"row\">"), "{html}");
    let [row] = &buttons(&desk.draws(panel), "QLoRA 4-bit")
        .into_iter()
        .filter(|one| one.attribute("class").is_none())
        .collect::<Vec<_>>()[..]
    else {
        panic!();
    };
    assert_eq!(offered(&desk, row).method.name(), "qlora");
}

#[test]
fn a_plan_that_is_none_is_still_compared() {
    let mut desk = sketched("v=1&num_gpus=8&method=full");
    let edited = Plan { per_device_train_batch_size: 0, ..desk.state.plan().clone() };
    desk.state.edit(headroom_view::History::Step, edited.clone());
    for _ in 0..1_000 {
        if desk.found.comparison.replay(&edited, None, &mut desk.replays) == Step::Done {
            assert!(desk.found.comparison.candidates.iter().all(|one| one.outcome.is_err()));
            return assert_eq!(buttons(&desk.draws(panel), "").len(), 0);
        }
    }
    panic!("never done");
}

/// Works until the comparison has been told of, and returns it with all answers up to that.
fn told(engine: &mut Engine) -> (Vec<Answer>, Node) {
    let mut answers = Vec::new();
    for _ in 0..10_000 {
        let turn = engine.work();
        assert_ne!(turn, Turn::Idle);
        if turn != Turn::Show {
            continue;
        }
        answers.push(Answer::decode(&engine.answer(true)).unwrap());
        let last = answers.iter().flat_map(|answer| &answer.panels).rfind(|panel| panel.place == "comparison");
        let node = last.and_then(|panel| panel.node.clone()).filter(|node| !buttons(node, "Full, ZeRO-3:").is_empty());
        if let Some(node) = node {
            return (answers, node);
        }
    }
    panic!("no comparison came");
}

#[test]
fn a_bar_becomes_the_plan_and_keeps_the_focus() {
    let mut engine = crate::reader::opened("https://here.example/", "v=1&num_gpus=8&tab=compare", "en");
    engine.go_on();
    let does = |engine: &mut Engine, action: &str, value: &str| {
        engine.take(&[Event { action: action.to_owned(), value: value.to_owned() }]);
    };
    does(&mut engine, "width comparison", "900");
    does(&mut engine, "open comparison-chart", "true");
    let (_, drawn) = told(&mut engine);
    let bar = buttons(&drawn, "Full, ZeRO-3:").remove(0);
    does(&mut engine, bar.attribute("data-do").unwrap(), "");
    let (answers, drawn) = told(&mut engine);
    let bar = buttons(&drawn, "Full, ZeRO-3:").remove(0);
    assert_eq!(bar.attribute("aria-pressed"), Some("true"));
    assert!(answers.iter().all(|answer| answer.focus.is_none()));
    let address = answers.iter().find_map(|answer| answer.address.as_ref()).unwrap();
    assert!(address.fragment.contains("method=full"));
}
