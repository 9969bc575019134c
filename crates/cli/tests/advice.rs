//! Advice as the terminal gives it: what it promises holds when the advised plan is estimated again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use program::headroom;
use serde_json::Value;

/// A run that was cut down: rank, batch against accumulation, length of answers.
const GRPO: [&str; 2] = [
    "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&per_device_train_batch_size=16&num_generations=4\
     &max_prompt_length=256&max_completion_length=128&beta=0.04&steps_per_generation=1",
    "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&r=8&lora_alpha=16&per_device_train_batch_size=8\
     &gradient_accumulation_steps=2&num_generations=4&max_prompt_length=256&max_completion_length=96&beta=0.04\
     &steps_per_generation=1",
];

fn estimate(link: &Value) -> Value {
    headroom(&["estimate", link.as_str().unwrap(), "--json"]).json()
}

#[test]
fn an_advised_plan_fits_and_the_waterfall_ends_there() {
    for plan in [
        "v=1&model=meta-llama/Llama-3.1-8B&method=full&gpu=a100-80gb&max_length=2048",
        "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090&per_device_train_batch_size=8&max_length=2048",
        "v=1&model=mistralai/Mistral-7B-v0.1&method=lora&gpu=t4&torch_dtype=float16",
    ] {
        assert_ne!(headroom(&["estimate", plan, "--json"]).json()["verdict"], "fits", "{plan}");
        let advice = headroom(&["advise", plan, "--json"]).json();
        assert_eq!(advice["fits"], false, "{plan}");
        let levels = advice["levels"].as_array().unwrap();
        let fitting: Vec<&Value> = levels.iter().filter(|level| level["found"] == "fits").collect();
        assert!(!fitting.is_empty(), "{plan}: {levels:?}");
        for level in fitting {
            let stages = level["stages"].as_array().unwrap();
            let advised = estimate(&level["link"]);
            assert_eq!(advised["verdict"], "fits", "{plan}: {level}");
            assert_eq!(stages.last().unwrap()["needed_bytes"], advised["peak"]["band"]["expected"], "{plan}: {level}");
            let number = |value: &Value| i128::from(value.as_i64().unwrap());
            let mut before = number(&stages[0]["needed_bytes"]) + number(&stages[0]["saved_bytes"]);
            for stage in stages {
                before -= number(&stage["saved_bytes"]);
                assert_eq!(before, number(&stage["needed_bytes"]), "{plan}: {stage}");
            }
        }
    }
}

#[test]
fn the_text_says_what_each_level_costs_or_lacks() {
    let text = headroom(&["advise", "v=1&model=mistralai/Mistral-7B-v0.1&method=lora&gpu=t4&torch_dtype=float16"]).out;
    for part in [
        "Mistral-7B-v0.1 on Tesla T4: needs ",
        "does not fit\n\n1 · The same result: nothing is held or computed in fewer bits\nnot enough: reaches ",
        " more than it has\n\n2 · Lower precision: weights, gradients or optimizer state in fewer bits\nfits with ",
        "  Then needs, GiB  Time per token",
        "\nlink     #v=1&model=mistralai/Mistral-7B-v0.1&gpu=t4",
        "\nEvery change by itself\n",
        "quickest that fits",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn what_no_change_makes_fit_needs_other_gpus() {
    let plan = "v=1&model=meta-llama/Llama-3.1-405B&method=full&gpu=t4&max_length=4096";
    let advice = headroom(&["advise", plan, "--json"]).json();
    let hardware = advice["hardware"].as_array().unwrap();
    assert!(!hardware.is_empty(), "{advice}");
    for one in hardware {
        assert_eq!(estimate(&one["link"])["verdict"], "fits", "{one}");
    }
    let text = headroom(&["advise", plan]).out;
    assert!(text.contains("\nNo change is enough on these GPUs: nothing short of "), "{text}");
    assert_eq!(text.matches(" each: ").count(), hardware.len(), "{text}");
}

#[test]
fn a_waterfall_has_a_bar_for_each_lever_of_the_mildest_advice() {
    let plan = "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090&per_device_train_batch_size=8&max_length=2048";
    let advice = headroom(&["advise", plan, "--json"]).json();
    let mildest = advice["levels"].as_array().unwrap().iter().find(|level| level["found"] == "fits").unwrap();
    let picture = headroom(&["chart", plan, "--svg", "--waterfall"]).out;
    let bars = picture.matches("<g class=\"bar\"").count();
    assert_eq!(bars, mildest["stages"].as_array().unwrap().len() + 2, "{picture}");
    let link = mildest["link"].as_str().unwrap().replace('&', "&amp;");
    assert!(picture.contains(&format!("data-id=\"{link}\"")), "the last lever leads to the advised plan");
    let fitting = headroom(&["chart", "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=a100-80gb", "--waterfall"]).out;
    assert_eq!(fitting.matches("<g class=\"bar\"").count(), 2, "nothing to change");
}

#[test]
fn a_map_rings_the_plan_and_shows_the_capacity() {
    for (plan, axis) in [
        ("v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090", ">sequence length, tokens<"),
        (
            "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&task=grpo&per_device_train_batch_size=8&num_generations=4",
            ">answer length, tokens<",
        ),
    ] {
        let picture = headroom(&["chart", plan, "--svg", "--map", "--width", "700"]).out;
        assert!(picture.contains("viewBox=\"0 0 700 ") && picture.contains(axis), "{plan}");
        assert_eq!(picture.matches("<circle").count(), 4, "the ring and its sample in the key, with rims: {plan}");
        assert!(picture.contains(", Fits</title>") && picture.contains(", Does not fit</title>"), "{plan}");
    }
}

#[test]
fn an_idle_gpu_is_filled() {
    let plan =
        "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=a100-80gb&gradient_accumulation_steps=16&gradient_checkpointing=true";
    let advice = headroom(&["advise", plan, "--json"]).json();
    assert_eq!(advice["fits"], true);
    let filled = &advice["fill"]["recommended"];
    assert_eq!(filled["keeps_effective_batch"], true, "{filled}");
    assert!(filled["tokens_per_second_ratio"]["expected"].as_f64().unwrap() >= 1.05, "{filled}");
    let advised = estimate(&filled["link"]);
    assert_eq!(advised["verdict"], "fits", "{filled}");
    assert_eq!(advised["peak"]["band"]["expected"], filled["needed_bytes"]);
}

#[test]
fn a_target_of_ones_own_is_kept() {
    let plan = "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=a100-80gb";
    let advice = headroom(&["advise", plan, "--target", "31-62", "--json"]).json();
    let used = advice["fill"]["aggressive"]["used_share"].as_f64().unwrap();
    assert!((0.31..=0.62).contains(&used), "{used}");
    let text = headroom(&["advise", plan, "--target", "31-62"]).out;
    assert!(text.contains("change   per_device_train_batch_size 1 -> "), "{text}");
    assert!(text.contains("  1. per_device_train_batch_size "), "{text}");
    let ran = headroom(&["advise", plan, "--target", "90-75"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("'--target <LOW-HIGH>': give two percentages"), "{}", ran.err);
}

#[test]
fn what_is_solved_fits_and_the_next_does_not() {
    let plan = "v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090";
    let solved = headroom(&["solve", plan, "--max", "length", "--json"]).json();
    assert_eq!(estimate(&solved["link"])["verdict"], "fits");
    let next = format!("{plan}&max_length={}", solved["next_does_not_fit"]);
    assert_ne!(headroom(&["estimate", &next, "--json"]).json()["verdict"], "fits");
    let text = headroom(&["solve", plan, "--max", "length"]).out;
    assert!(text.contains(&format!("{} fits", solved["value"].as_str().unwrap())), "{text}");
}

#[test]
fn without_a_question_all_are_answered() {
    let plan = "v=1&model=openai-community/gpt2&method=lora&gpu=rtx-4090";
    let answers = headroom(&["solve", plan, "--json"]).json();
    let answers = answers.as_array().unwrap();
    let names: Vec<&str> = answers.iter().map(|answer| answer["unknown"].as_str().unwrap()).collect();
    assert_eq!(names, ["batch", "length", "rank", "model", "num_gpus", "gpu"]);
    for answer in answers {
        assert_eq!(estimate(&answer["link"])["verdict"], "fits", "{answer}");
    }
    let alone = headroom(&["solve", plan, "--max", "batch", "--json"]).json();
    assert_eq!(alone, answers[0]);
    let text = headroom(&["solve", plan]).out;
    assert_eq!(text.lines().count(), answers.len() + 1, "{text}");
}

#[test]
fn two_plans_stand_side_by_side() {
    let (first, second) = ("v=1&model=Qwen/Qwen3-4B", "v=1&model=Qwen/Qwen3-4B&method=full");
    let both = headroom(&["compare", first, second, "--json"]).json();
    assert_eq!(both["changed"][0]["field"], "method");
    for (link, estimated) in [first, second].iter().zip(both["estimates"].as_array().unwrap()) {
        let alone = headroom(&["estimate", link, "--json"]).json();
        assert_eq!(alone["peak"]["band"]["expected"], estimated["needed_bytes"]);
    }
}

#[test]
fn the_way_from_one_plan_to_another_is_walked_in_steps_that_sum() {
    let [before, after] = GRPO;
    let both = headroom(&["compare", before, after, "--json"]).json();
    let steps = both["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3, "rank and alpha, batch and accumulation, length: {steps:?}");
    let need = |i: usize| both["estimates"][i]["needed_bytes"].as_i64().unwrap();
    let saved: Vec<i64> = steps.iter().map(|step| step["saved_bytes"].as_i64().unwrap()).collect();
    assert_eq!(need(0) - saved.iter().sum::<i64>(), need(1));
    assert!(saved[0] > 0 && saved[0] < 1 << 30, "the rank saves megabytes: {}", saved[0]);
    let text = headroom(&["compare", before, after]).out;
    for part in ["effective batch                   16      16", "time of a step, rough", "one change after the other"]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let picture = headroom(&["chart", before, after, "--waterfall"]).out;
    assert!(picture.contains(">lora.r 16\u{a0}→\u{a0}8<") && picture.matches("<g class=\"bar\"").count() == 5);
    let ran = headroom(&["chart", before, after]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("only with --waterfall"), "{}", ran.err);
}

#[test]
fn a_run_says_what_it_is_before_it_starts() {
    let [_, plan] = GRPO;
    let text = headroom(&["advise", plan, "--summary"]).out;
    for part in ["\nEffective batch                   16\n", "\nLoRA rank                          8\n", "\n  [ ] KL "]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let markdown = headroom(&["advise", plan, "--summary", "--markdown"]).out;
    for part in ["## Qwen/Qwen2.5-7B, grpo lora on 1 x ", "\n| New tokens | 96 |\n", "\n- [ ] KL to the reference"] {
        assert!(markdown.contains(part), "{part:?} in {markdown}");
    }
    let json = headroom(&["advise", plan, "--summary", "--json"]).json();
    let items = json["summary"].as_array().unwrap();
    assert_eq!(items.len(), markdown.matches("\n| ").count() - 2, "all but the table's head");
    assert_eq!(json["checklist"].as_array().unwrap().len(), markdown.matches("\n- [ ] ").count());
    let need = items.iter().find(|line| line["item"] == "needed_bytes").unwrap();
    assert_eq!(need["value"], estimate(&json["link"])["peak"]["band"]["expected"]);
}

#[test]
fn presets_and_tiers_come_with_reasons() {
    let plan = "v=1&model=Qwen/Qwen1.5-1.8B&memory_gib=10&compute_capability=7.5&lora_alpha=8\
                &target_modules=q_proj,k_proj,v_proj,o_proj&torch_dtype=float16&gradient_checkpointing=true";
    let advice = headroom(&["advise", plan, "--json"]).json();
    let ladder = advice["ladder"].as_array().unwrap();
    let names: Vec<&str> = ladder.iter().map(|rung| rung["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["deepspeed", "stage2_offload", "stage3", "minimal"]);
    for answers in [ladder, advice["tiers"].as_array().unwrap()] {
        for answer in answers {
            assert_eq!(answer["reason"] == "does_not_fit", answer["verdict"] != "fits", "{answer}");
        }
    }
    assert_eq!(ladder.iter().filter(|rung| rung["reason"] == "quickest").count(), 1, "{ladder:?}");
    assert_eq!(ladder[2]["shards_nothing"], true, "ZeRO-3 on one GPU");
    assert!(ladder[3]["host_bytes"].as_u64().unwrap() > 1 << 30, "{}", ladder[3]);
    let text = headroom(&["advise", plan]).out;
    assert!(text.contains("shards nothing on one GPU") && text.contains("quickest that fits"), "{text}");
}

#[test]
fn the_largest_models_come_by_family_with_their_changes() {
    let plan = "v=1&gpu=t4&method=qlora&torch_dtype=float16";
    let answer = headroom(&["solve", plan, "--max", "model", "--json"]).json();
    let models = answer["models"].as_array().unwrap();
    assert_eq!(models.len(), 6, "{answer}");
    let text = headroom(&["solve", plan, "--max", "model"]).out;
    for model in models {
        assert_eq!(estimate(&model["link"])["verdict"], "fits", "{model}");
        let name = model["model"].as_str().unwrap();
        assert!(text.contains(&format!("model    {name} ({}) fits: ", model["released"].as_str().unwrap())), "{text}");
        for change in model["changed"].as_array().unwrap() {
            let field = change["field"].as_str().unwrap();
            let line =
                format!("{field} {} -> {}", change["before"].as_str().unwrap(), change["after"].as_str().unwrap());
            assert!(text.contains(&line), "{line} in {text}");
        }
    }
    let size = |model: &Value| model["param_count"].as_u64().unwrap();
    let largest = models.iter().max_by_key(|model| size(model)).unwrap();
    assert_eq!(answer["value"], largest["model"]);
}

#[test]
fn advice_keeps_to_hosts_that_there_are() {
    let plan = "v=1&model=meta-llama/Llama-3.1-405B&memory_gib=4&compute_capability=8.6&method=full";
    let advice = headroom(&["advise", plan, "--json"]).json();
    let hardware = advice["hardware"].as_array().unwrap();
    assert!(!hardware.is_empty());
    for one in hardware {
        let host = estimate(&one["link"])["host_bytes"].as_u64().unwrap();
        assert!(host <= one["num_gpus"].as_u64().unwrap() * (256 << 30), "{one}: {host}");
    }
    let asked = format!("{plan}&zero_stage=3&offload_optimizer=cpu&offload_param=cpu");
    let text = headroom(&["estimate", &asked]).out;
    assert!(text.contains("machines with such GPUs usually have 256.00 GiB at most (NVIDIA DGX"), "{text}");
}

#[test]
fn unknown_questions_are_named() {
    let ran = headroom(&["solve", "v=1&model=Qwen/Qwen3-4B", "--max", "speed"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("'speed' for '--max <WHAT>'") && ran.err.contains("batch, length"), "{}", ran.err);
}
