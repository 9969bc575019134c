//! The planning tools as the page shows them.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::advise::largest::OFFERED;

use crate::reader::{Reader, program};

const SMALL: &str = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&method=lora&max_length=512";

/// A reader with `plan` in this tab.
fn open(plan: &str, tab: &str) -> Reader {
    Reader::open(&format!("{plan}&tab={tab}"))
}

#[test]
fn a_question_is_answered_until_the_plan_is_another() {
    let mut reader = open(SMALL, "limits");
    reader.press("solve", ">Batch per GPU");
    assert!(reader.html("solve").contains("<dd class=\"computing\">"));
    assert!(reader.html("solve").contains("data-do=\"ask batch\" aria-pressed=\"true\""));
    let html = reader.wait("solve", "<span class=\"fit fits\">");
    assert!(html.contains("aria-label=\"Use Batch per GPU "), "{html}");
    // What it is about may change, nothing else.
    reader.press("solve", "aria-label=\"Use Batch per GPU ");
    assert!(reader.html("solve").contains("<strong>"), "{}", reader.html("solve"));
    assert_eq!(reader.focus.as_deref(), Some("applied-title"));
    reader.follow(&format!("{}&tab=limits", SMALL.replace("max_length=512", "max_length=640")));
    assert!(reader.html("solve").contains("<dl class=\"solved\"></dl>"));
    assert!(reader.html("solve").contains("data-do=\"ask batch\" aria-pressed=\"false\""));
}

#[test]
fn a_question_can_be_taken_back() {
    let mut reader = open(SMALL, "limits");
    reader.press("solve", ">LoRA rank");
    reader.press("solve", ">LoRA rank");
    assert!(reader.html("solve").contains("<dl class=\"solved\"></dl>"));
    // Of a whole model there is no rank to ask about.
    reader.follow(&format!("{}&tab=limits", SMALL.replace("lora", "full")));
    assert!(reader.html("solve").contains("data-do=\"ask rank\" hidden aria-pressed=\"false\""));
}

#[test]
fn the_largest_models_stay_while_only_the_model_changes() {
    let mut reader = open("v=1&model=Qwen/Qwen2.5-0.5B&memory_gib=6&compute_capability=8.6&method=qlora", "limits");
    reader.act("ask-largest", "");
    assert!(reader.html("solve").contains("<div class=\"largest\" aria-busy=\"true\">"));
    let fetched = bring_programs(&mut reader);
    assert!(!fetched.is_empty());
    let html = reader.html("solve");
    assert!((1..=OFFERED).contains(&html.matches("<li><div><strong>").count()), "{html}");
    reader.press("solve", "aria-label=\"Use ");
    assert!(reader.html("solve").contains("<div class=\"largest\" aria-busy=\"false\">"));
    reader.follow(&format!("{SMALL}&tab=limits"));
    assert!(!reader.html("solve").contains("<div class=\"largest\""));
}

/// Answers what the search for the largest models asks the page to fetch, until it is done; gives back which classes.
fn bring_programs(reader: &mut Reader) -> Vec<String> {
    let mut fetched: Vec<String> = Vec::new();
    for _ in 0..100_000 {
        let html = reader.html("solve");
        if html.contains("<div class=\"largest\" aria-busy=\"false\">") {
            return fetched;
        }
        let wanted = html.split("data-fetch-now=\"programs/").nth(1).and_then(|rest| rest.split(".json").next());
        match wanted.filter(|name| !fetched.iter().any(|known| known == name)) {
            Some(name) => {
                fetched.push(name.to_owned());
                reader.act(&format!("fetched programs/{name}.json"), &program(name));
            }
            None => {
                reader.turn();
            }
        }
    }
    panic!("the search does not end: {fetched:?}");
}

#[test]
fn classes_whose_programs_cannot_be_fetched_are_not_among_the_largest() {
    let mut reader = open("v=1&model=Qwen/Qwen2.5-0.5B&memory_gib=6&compute_capability=8.6&method=qlora", "limits");
    reader.act("ask-largest", "");
    let mut refused: Vec<String> = Vec::new();
    while !reader.html("solve").contains("<div class=\"largest\" aria-busy=\"false\">") {
        let html = reader.html("solve");
        let wanted = html.split("data-fetch-now=\"").nth(1).and_then(|rest| rest.split('"').next());
        match wanted.filter(|file| !refused.iter().any(|known| known == file)) {
            Some(file) => {
                refused.push(file.to_owned());
                reader.act(&format!("not-fetched {file}"), "404");
            }
            None => {
                reader.turn();
            }
        }
    }
    assert!(!refused.is_empty() && reader.html("solve").contains("<li><div><strong>"));
}

#[test]
fn two_plans_stand_side_by_side() {
    let mut reader = open("v=1&method=full", "compare");
    assert!(!reader.html("pair").contains("<table>"));
    reader.press("pair", "keep-before");
    assert!(!reader.html("pair").contains("<table>"));
    reader.follow("v=1&method=lora&max_length=2048&tab=compare");
    let text = reader.text("pair");
    assert!(text.contains("Method methodfulllora") && text.contains("max_length10242048"), "{text}");
    reader.press("pair", "swap-pair");
    assert!(reader.text("pair").contains("Method methodlorafull"), "{}", reader.text("pair"));
    reader.press("pair", "close-pair");
    assert!(!reader.html("pair").contains("<table>"));
}

#[test]
fn the_plan_beside_is_replayed() {
    let mut reader = open(SMALL, "compare");
    reader.act("pasted", &SMALL.replace("512", "1024"));
    reader.act("compare-pasted", "");
    let estimated = headroom_text::ENGLISH.options().pair.estimated;
    assert!(reader.text("pair").contains(estimated));
    for _ in 0..10_000 {
        if !reader.text("pair").contains(estimated) {
            return;
        }
        reader.turn();
    }
    panic!("never replayed");
}

#[test]
fn a_broken_link_is_kept_and_explained() {
    let mut reader = open(SMALL, "compare");
    let broken = "https://example.org/nothing <script>alert(1)</script>";
    reader.act("pasted", broken);
    reader.act("compare-pasted", "");
    let html = reader.html("pair");
    assert!(
        html.contains("role=\"alert\"") && html.contains("value=\"https://example.org/nothing &lt;script&gt;"),
        "{html}"
    );
    assert!(reader.text("pair").contains("This is no link to a plan") && !html.contains("<table>"));
    reader.act("pasted", "v=1&model=Qwen/Qwen3-4B&r=banana&method=qlora");
    reader.act("compare-pasted", "");
    let html = reader.html("pair");
    assert!(html.contains("<code>lora.r</code>") && html.contains("<table>"), "{html}");
    // Readers' own words are no markup.
    let name = "%3Cimg%20src=x%20onerror=alert(1)%3E";
    let config = "%7B%22model_type%22:%22llama%22,%22hidden_size%22:64,%22intermediate_size%22:128,\
                  %22num_hidden_layers%22:2,%22num_attention_heads%22:4,%22vocab_size%22:100%7D";
    reader.act("pasted", &format!("v=1&config={config}&name={name}"));
    reader.act("compare-pasted", "");
    let html = reader.html("pair");
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;") && !html.contains("<img"), "{html}");
}

#[test]
fn the_summary_stays_while_a_field_is_being_fixed() {
    let mut reader = open("v=1&per_device_train_batch_size=4&gradient_accumulation_steps=8&method=lora", "run");
    let before = reader.html("summary");
    assert!(before.contains("data-copy=\"### [") && before.contains("https://example.org/#v=1&amp;"), "{before}");
    assert!(reader.text("summary").contains("Effective batch32"));
    // Parameters are offloaded only where they are sharded: a plan that contradicts itself.
    reader.follow("v=1&method=lora&zero_stage=1&offload_param=cpu&tab=run");
    assert_eq!(reader.html("summary"), before);
}
