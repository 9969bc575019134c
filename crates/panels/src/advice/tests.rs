//! Advice as the page shows it.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::reader::Reader;

/// A plan that needs far more than its GPU has, yet fits with changes.
const TOO_LARGE: &str = "v=1&model=Qwen/Qwen2.5-1.5B&memory_gib=12&compute_capability=8.6&method=full\
                         &per_device_train_batch_size=4&gradient_accumulation_steps=4&max_length=1024";

/// A plan that leaves most of its GPU idle.
const IDLE: &str = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&gradient_accumulation_steps=16&max_length=512";

/// What the panel is once all that it shows has been replayed.
const FINAL: &str = "aria-labelledby=\"advice-title\" aria-busy=\"false\"";

#[test]
fn nothing_is_shown_before_it_has_been_replayed() {
    let mut reader = Reader::open(TOO_LARGE);
    let html = reader.html("advice");
    assert!(html.contains("aria-labelledby=\"advice-title\" aria-busy=\"true\""), "{html}");
    assert!(html.contains("<div class=\"advised stale\" inert></div>"), "{html}");
    assert!(reader.text("advice").contains("Computing:"));
    let html = reader.wait("advice", FINAL);
    assert!(html.contains("<div class=\"advised\">") && html.contains("use_liger_kernel=True"), "{html}");
    assert_eq!(html.matches("type=\"radio\"").count(), 3);
    assert_eq!(html.matches(" checked").count(), 1);
    let text = reader.text("advice");
    assert!(text.contains("Make it fit") && !text.contains("Computing:"), "{text}");
}

#[test]
fn advice_on_another_plan_is_stale() {
    let mut reader = Reader::open(TOO_LARGE);
    reader.wait("advice", FINAL);
    reader.follow(IDLE);
    let html = reader.html("advice");
    assert!(html.contains("<div class=\"advised stale\" inert>") && html.contains("use_liger_kernel=True"), "{html}");
    assert!(!reader.text("advice").contains("Make it fit"));
    reader.wait("advice", FINAL);
    assert!(reader.text("advice").contains("Use the GPU"));
    // A plan that contradicts itself gets none.
    reader.follow(&format!("{TOO_LARGE}&zero_stage=1&offload_param=cpu"));
    assert!(reader.html("advice").contains("aria-busy=\"true\" hidden>"));
}

#[test]
fn what_is_applied_is_said_and_can_be_undone() {
    let mut reader = Reader::open(TOO_LARGE);
    assert_eq!(reader.html("applied").matches("<aside class=\"applied\"").count(), 1);
    reader.wait("advice", FINAL);
    reader.press("advice", "aria-label=\"Only this: Liger kernels");
    assert!(reader.fragment.as_ref().unwrap().contains("use_liger_kernel=true"));
    assert_eq!(reader.focus.as_deref(), Some("applied-title"));
    let text = reader.text("applied");
    assert!(text.contains("Applied: 1 field changed") && text.contains("use_liger_kernel false → true"), "{text}");
    assert!(reader.html("applied").contains("data-copy=\"# TrainingArguments"));
    reader.press("applied", "Undo");
    assert!(!reader.fragment.as_ref().unwrap().contains("use_liger_kernel"));
    assert_eq!(reader.focus.as_deref(), Some("advice-title"));
    assert_eq!(reader.text("applied"), "");
    // The browser's way back ends it as well.
    reader.wait("advice", FINAL);
    reader.press("advice", "aria-label=\"Only this: Liger kernels");
    assert!(reader.html("applied").contains("class=\"applied shown\""));
    reader.follow(TOO_LARGE);
    assert_eq!(reader.text("applied"), "");
}

#[test]
fn a_chosen_level_holds_for_its_plan() {
    let mut reader = Reader::open(TOO_LARGE);
    reader.wait("advice", FINAL);
    let checked = |name: &str| format!("data-set=\"level {name}\" checked");
    assert!(reader.html("advice").contains(&checked("same")));
    reader.act("level different", "on");
    assert!(reader.html("advice").contains(&checked("different")));
    assert!(reader.text("advice").contains("This changes what is trained"));
    reader.follow(&TOO_LARGE.replace("max_length=1024", "max_length=1088"));
    assert!(reader.wait("advice", FINAL).contains(&checked("same")));
}

#[test]
fn another_target_is_another_search() {
    let mut reader = Reader::open(IDLE);
    let before = reader.wait("advice", FINAL);
    reader.act("target cautious", "on");
    let html = reader.html("advice");
    // It is about the reader's plan all the same.
    assert!(html.contains("<div class=\"advised stale\">") && html.contains("data-set=\"target cautious\" checked"));
    // What was found for the other target is not to be used for this one; the choice of targets stays open.
    let plans_are_inert = |html: &str| {
        html.split("<fieldset").next().is_some_and(|before| !before.contains("inert"))
            && html.split("</fieldset>").nth(1).is_some_and(|after| after.split('>').next().unwrap().contains(" inert"))
    };
    assert!(!plans_are_inert(&before) && plans_are_inert(&html), "{html}");
    let after = reader.wait("advice", FINAL);
    assert!(!plans_are_inert(&after));
    assert!(before.contains("aria-label=\"Use: Same training, faster\""));
    assert!(after.contains("aria-label=\"Use: Same training, faster\""));
    let recommended = |html: &str| html.split("class=\"fill\"").nth(1).unwrap().to_owned();
    assert_ne!(recommended(&before), recommended(&after));
}

#[test]
fn the_picture_waits_for_its_width() {
    let mut reader = Reader::open(TOO_LARGE);
    let html = reader.wait("waterfall", "data-width=\"waterfall\"");
    assert!(!html.contains("<svg"), "{html}");
    reader.act("width waterfall", "640");
    assert_eq!(reader.html("waterfall").matches("<svg").count(), 1);
}

#[test]
fn every_change_is_found_once_it_is_opened() {
    let rows =
        |html: &str| html.split("<details class=\"levers\"").nth(1).unwrap().matches("<tr><th scope=\"row\">").count();
    let levers = |busy: bool| format!("data-toggle=\"open levers\" aria-busy=\"{busy}\"");
    let mut reader = Reader::open(TOO_LARGE);
    assert_eq!(rows(&reader.wait("advice", FINAL)), 0);
    reader.act("open levers", "true");
    assert!(reader.html("advice").contains(&levers(true)));
    // At a quick look first, then by replays.
    let html = reader.wait("advice", "<span class=\"lever\">Gradient checkpointing");
    assert!(rows(&html) > 8 && html.contains(&levers(true)), "{html}");
    reader.follow(&TOO_LARGE.replace("max_length=1024", "max_length=512"));
    assert!(
        reader.html("advice").contains("tabindex=\"0\" role=\"region\" aria-label=\"Every change by itself\" inert")
    );
    let html = reader.wait("advice", &levers(false));
    assert!(rows(&html) > 8);
    reader.press("advice", "aria-label=\"Use: Gradient checkpointing");
    assert!(reader.fragment.as_ref().unwrap().contains("gradient_checkpointing=true"));
}

#[test]
fn evaluation_that_does_not_fit_is_said_before_all_else_and_set_right() {
    let own = "v=1&model=meta-llama/Llama-3.2-1B&memory_gib=8&compute_capability=8.9&trainer=transformers&method=lora\
               &gradient_checkpointing=true&per_device_train_batch_size=1&eval_strategy=epoch";
    let mut reader = Reader::open(own);
    let html = reader.wait("advice", FINAL);
    assert!(html.contains("First: evaluate fewer sequences at once"), "{html}");
    assert!(html.contains("per_device_eval_batch_size="), "{html}");
    assert!(reader.text("verdict").contains("Step fits, evaluation does not"), "{}", reader.text("verdict"));
    assert!(reader.text("notes").contains("Evaluation runs out of memory"), "{}", reader.text("notes"));
    assert!(!html.contains("fit fits"), "{html}");
    reader.press("advice", "aria-label=\"First: evaluate");
    assert!(reader.fragment.as_ref().unwrap().contains("per_device_eval_batch_size="));
    reader.wait("advice", FINAL);
    assert!(!reader.html("advice").contains("First: evaluate"));
    assert!(!reader.text("verdict").contains("does not"), "{}", reader.text("verdict"));
}

#[test]
fn nothing_that_is_advised_of_a_guess_is_green() {
    let guessed = |plan: &str| {
        let mut reader = Reader::open(&format!("{plan}&trainer=trl&launched_by=unsloth"));
        reader.wait("advice", FINAL)
    };
    for plan in [TOO_LARGE, IDLE] {
        let html = guessed(plan);
        assert!(html.contains("Guess: likely fits") && !html.contains("fit fits"), "{html}");
    }
}
