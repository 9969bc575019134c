//! The program as its callers meet it: what it prints, where, and with which exit code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use program::{Ran, case_file, headroom, headroom_with_input};

/// Exit code 2, nothing on standard output, one line on standard error that contains every one of `words`.
#[track_caller]
fn assert_bad_input(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "");
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{word} is not in {}", ran.err);
    }
}

#[test]
fn help_and_version() {
    for args in [&["--help"][..], &["help"], &["-h"], &[]] {
        let ran = headroom(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        for word in
            ["Usage: headroom [OPTIONS] [COMMAND]", "estimate", "validate-speed", "PLAN is a JSON file", "Exit code: 0"]
        {
            assert!(ran.out.contains(word), "{word} is not in {}", ran.out);
        }
    }
    assert_eq!(headroom(&["--version"]).out.trim(), format!("headroom {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_command_has_help_with_its_options() {
    for (command, words) in [
        (
            "estimate",
            &["[PLAN]", "--json", "--markdown", "--full", "--all", "--check", "Exit with 1 when the plan does not fit"]
                [..],
        ),
        ("advise", &["--target <LOW-HIGH>", "[default: 75-90]", "--summary", "--markdown"]),
        (
            "solve",
            &["--max <WHAT>", "batch, length, rank, generations, completion_length, model", "--min", "gpus, gpu"],
        ),
        ("compare", &["[PLAN] [OTHER]", "--json"]),
        (
            "chart",
            &[
                "--svg",
                "--png",
                "--card",
                "--both",
                "--verdict",
                "--phases",
                "--waterfall",
                "--map",
                "--dark",
                "--width <PIXELS>",
                "[default: 420]",
            ],
        ),
        ("link", &["[PLAN] [OTHER]", "--page <ADDRESS>", "--view <VIEW>", "--lang", "--theme", "--title", "--json"]),
        ("models", &["[TEXT]", "--json"]),
        ("gpus", &["[TEXT]", "--json"]),
        ("validate", &["<CASES>...", "--terms", "--group", "--id", "--metric", "--worst <N>", "--summary", "--all"]),
        ("validate-speed", &["<ROWS>", "--group", "--summary", "--all", "--plans"]),
    ] {
        for args in [&[command, "--help"][..], &[command, "-h"], &["help", command]] {
            let ran = headroom(args);
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
            let usage = format!("Usage: headroom {command}");
            for word in words.iter().copied().chain([usage.as_str()]) {
                assert!(ran.out.contains(word), "{word} is not in {}", ran.out);
            }
        }
    }
}

#[test]
fn a_flag_given_twice_is_given_once_and_the_last_value_counts() {
    let plan = "model=openai-community/gpt2&gpu=t4";
    let once = headroom(&["estimate", plan, "--json"]);
    assert_eq!(headroom(&["estimate", "--json", plan, "--json"]).out, once.out);
    let picture = headroom(&["chart", plan, "--width", "340", "--width", "700"]).out;
    assert!(picture.contains("viewBox=\"0 0 700 "));
}

#[test]
fn mistakes_end_in_one_line() {
    assert_bad_input(&headroom(&["frobnicate"]), &["frobnicate", "--help"]);
    assert_bad_input(&headroom(&["estimate", "--frobnicate"]), &["--frobnicate", "see headroom estimate --help"]);
    assert_bad_input(&headroom(&["estimate", "--jsn"]), &["--jsn", "--json", "see headroom estimate --help"]);
    assert_bad_input(&headroom(&["estimate", "a", "b"]), &["'b'", "see headroom estimate --help"]);
    assert_bad_input(&headroom(&["estimate", "no/such/plan.json"]), &["no/such/plan.json"]);
    assert_bad_input(&headroom(&["estimate", "{\"model\": 3}"]), &["model"]);
    assert_bad_input(&headroom(&["estimate", "{\"modle\": \"Qwen/Qwen3-4B\"}"]), &["modle", "model"]);
    assert_bad_input(&headroom(&["estimate", "v=1&model=Qwen/Qwen3-4B&r=sixteen"]), &["lora.r"]);
    assert_bad_input(&headroom(&["validate"]), &["<CASES>", "see headroom validate --help"]);
    assert_bad_input(&headroom(&["validate-speed"]), &["<ROWS>", "see headroom validate-speed --help"]);
    assert_bad_input(&headroom(&["chart", "--width", "wide"]), &["wide", "--width"]);
    assert_bad_input(&headroom(&["chart", "--width"]), &["--width <PIXELS>"]);
    assert_bad_input(&headroom(&["chart", "--map", "--phases"]), &["--map", "--phases"]);
    for other in ["--png", "--svg", "--verdict", "--card"] {
        assert_bad_input(&headroom(&["chart", "--csv", other]), &["--csv", other]);
    }
    assert_bad_input(&headroom(&["solve", "--max", "model", "--min", "card"]), &["--max", "--min"]);
    assert_bad_input(&headroom(&["solve", "--min", "model"]), &["--min", "gpus, gpu"]);
    assert_bad_input(&headroom_with_input(&["estimate", "-"], "not json"), &["line 1"]);
    assert_bad_input(&headroom_with_input(&["estimate"], ""), &[]);
    assert_bad_input(&headroom_with_input(&["estimate", "-"], "{\"model\": \"\u{1b}[2J\n\"}"), &[]);
    assert!(!headroom_with_input(&["estimate", "-"], "{\"a\u{1b}[2J\": 1}").err.contains('\u{1b}'));
}

#[test]
fn catalogues_are_listed() {
    let models = headroom(&["models"]);
    assert_eq!(models.code, 0);
    assert!(models.out.lines().any(|line| line.starts_with("Qwen/Qwen3-4B ") && line.contains("4,022,468,096")));
    let gpus = headroom(&["gpus"]);
    assert!(
        gpus.out.lines().any(|line| line.starts_with("rtx-4090 ") && line.contains("GeForce RTX 4090")),
        "{}",
        gpus.out
    );
    for command in ["models", "gpus"] {
        let text_rows = headroom(&[command]).out.lines().count() - 1;
        let rows = headroom(&[command, "--json"]).json();
        assert_eq!(rows.as_array().unwrap().len(), text_rows);
    }
}

#[test]
fn catalogues_are_searched() {
    let first = |args: &[&str]| headroom(args).out.lines().nth(1).unwrap_or_default().to_owned();
    assert!(first(&["gpus", "4090"]).starts_with("rtx-4090 "));
    assert!(first(&["gpus", "rtx", "4090", "d"]).starts_with("rtx-4090-d "));
    assert!(first(&["models", "千问"]).starts_with("Qwen/Qwen3"));
    let rows = headroom(&["gpus", "24GB", "--json"]).json();
    assert!(rows.as_array().unwrap().iter().any(|row| row["id"] == "rtx-4090"));
    assert_bad_input(&headroom(&["models", "Qwen2.5-Audio"]), &["Qwen2.5-Audio", "Qwen/Qwen2.5-7B"]);
    assert_bad_input(&headroom(&["gpus", "abacus"]), &["abacus"]);
}

#[test]
fn a_link_written_by_hand_names_things_as_people_do() {
    let expected = "#v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090\n";
    for link in [
        "model=llama 3.1 8b&gpu=rtx4090",
        "model=llama%203.1%208b&gpu=RTX%204090",
        "v=1&model=unsloth/Llama-3.1-8B&gpu=4090",
        "#gpu=4090&model=Llama-3.1-8B",
        "gpu = 4090 & model = https://huggingface.co/meta-llama/Llama-3.1-8B",
        r#"{"model": "llama 3.1 8b", "gpu": "RTX4090 24G"}"#,
    ] {
        let ran = headroom(&["link", link]);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), (expected, ""), "{link}");
    }
    assert_eq!(headroom_with_input(&["link"], "model=llama 3.1 8b&gpu=rtx4090\n").out, expected);
    assert!(headroom(&["estimate", "model=qwen3 0.6b&gpu=t4"]).out.contains("Qwen/Qwen3-0.6B"));
    let ambiguous = headroom(&["estimate", "model=llama 3.1 8b&gpu=h100"]);
    assert_bad_input(&ambiguous, &["gpu: h100 can be h100-80gb, h100-80gb-pcie, h100-94gb-nvl; choose one"]);
    assert_bad_input(&headroom(&["estimate", "model=llama 3.1 8b&gpux=h100"]), &["gpux", "did you mean gpu?"]);
    assert_bad_input(&headroom(&["estimate", "modle=llama 3.1 8b"]), &["cannot read modle=llama 3.1 8b"]);
}

#[test]
fn a_link_leads_back_to_its_plan() {
    let plan = r#"{"model": "Qwen/Qwen3-8B", "method": "qlora", "lora": {"r": 64}, "gpu": "rtx-4090"}"#;
    let first = headroom(&["link", plan]);
    assert_eq!(first.code, 0, "{}", first.err);
    assert!(first.out.starts_with("#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&"), "{}", first.out);
    assert_eq!(headroom(&["link", first.out.trim()]).out, first.out);
    assert_eq!(headroom_with_input(&["link"], &first.out).out, first.out);
    let address = format!("https://example.org/headroom/?lang=zh{}", first.out.trim());
    assert_eq!(headroom(&["link", &address]).out, first.out);
}

#[test]
fn a_reader_that_leaves_is_no_fault() {
    let ran = program::headroom_without_reader(&["models", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn cases_that_cannot_be_read_are_failures_and_bad_files_are_bad_input() {
    let nothing_works = case_file(
        "unreadable.jsonl",
        "{\"id\": \"no-plan\", \"measured\": {\"allocated_bytes\": 1}}\n\n{\"id\": \"bad-plan\", \"group\": \"g\", \"plan\": {\"modle\": 1}}\n",
    );
    let ran = headroom(&["validate", &nothing_works]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.contains("FAILED no-plan none: it has no plan"), "{}", ran.out);
    assert!(ran.out.contains("FAILED bad-plan g: modle"), "{}", ran.out);
    assert_eq!(ran.err.lines().count(), 1);

    let not_json = case_file("not-json.jsonl", "{\"id\": \"a\"}\n{\"id\": \n");
    assert_bad_input(&headroom(&["validate", &not_json]), &["line 2"]);
    assert_bad_input(&headroom(&["validate", &case_file("empty.jsonl", "\n\n")]), &["no case"]);
}

#[test]
fn several_files_are_validated_together_and_hold_their_bars() {
    let case = |id: &str| {
        let plan = r#"{"model": "openai-community/gpt2", "method": "full", "gpu": "rtx-4090"}"#;
        format!("{{\"id\": \"{id}\", \"plan\": {plan}, \"measured\": {{\"allocated_bytes\": 1}}}}\n")
    };
    let (one, two) = (case_file("one.jsonl", &case("a")), case_file("two.jsonl", &case("b")));
    let ran = headroom(&["validate", &one, &two]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.lines().any(|line| line.starts_with("overall") && line.contains("  2  ")), "{}", ran.out);
    assert!(ran.out.contains("NOT MET"), "{}", ran.out);
    let json = headroom(&["validate", &one, &two, "--json"]).json();
    assert_eq!(json["cases"].as_array().unwrap().len(), 2);
    assert_eq!(json["bars"][0]["met"], false);
    assert_bad_input(&headroom(&["validate", &one, &case_file("none.jsonl", "")]), &["none.jsonl", "no case"]);
}

#[test]
fn a_link_is_made_of_whatever_names_a_plan() {
    for (args, printed) in [
        (
            &["model=llama 3.1 8b&gpu=4090&method=qlora"][..],
            "#v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090&method=qlora",
        ),
        (
            &["{\"model\": \"qwen3 8b\"}", "--page", "https://x.org/y/"],
            "https://x.org/y/#v=1&model=Qwen/Qwen3-8B&gpu=a100-80gb",
        ),
        (
            &["v=1&model=Qwen/Qwen3-8B&gpu=t4", "gpu=t4&model=qwen3 8b&r=8", "--view", "map", "--theme", "dark"],
            "#v=1&model=Qwen/Qwen3-8B&gpu=t4&vs.r=8&view=map&theme=dark",
        ),
        (&["v=1&gpu=t4&vs.r=8&lang=zh"], "#v=1&model=Qwen/Qwen3-4B&gpu=t4&vs.r=8&lang=zh"),
        (&["model=qwen3 8b&gpu=4090", "--title"], "Qwen3-8B · LoRA · RTX 4090"),
        (
            &["model=qwen3 8b&gpu=4090&vs.method=full", "--title", "--lang", "zh"],
            "Qwen3-8B · RTX 4090 · LoRA 对比 全参数微调",
        ),
    ] {
        let ran = headroom(&[&["link"], args].concat());
        assert_eq!((ran.code, ran.out.trim_end(), ran.err.as_str()), (0, printed, ""), "{args:?}");
    }
    let said = headroom(&["link", "gpu=4090&r=64&vs.r=8&view=map", "--json"]).json();
    assert_eq!(
        (&said["plan"]["lora"]["r"], &said["other"]["lora"]["r"], &said["view"]),
        (&64.into(), &8.into(), &"map".into())
    );
    assert_bad_input(&headroom(&["link", "gpu=h100"]), &["h100-80gb", "h100-80gb-pcie", "h100-94gb-nvl"]);
    assert_bad_input(&headroom(&["link", "gpu=t4", "model=llama"]), &["model", "choose one"]);
    assert_bad_input(&headroom(&["link", "gpu=t4", "--view", "all"]), &["--view", "verdict, comparison"]);
}

#[test]
fn a_link_that_compares_two_is_compared() {
    let plan = "v=1&model=openai-community/gpt2&gpu=t4";
    let pair = headroom(&["compare", &format!("{plan}&vs.method=full"), "--json"]);
    assert_eq!((pair.code, pair.out), (0, headroom(&["compare", plan, &format!("{plan}&method=full"), "--json"]).out));
}

const FAILURE: &str = "Traceback (most recent call last):
  File \"/env/lib/python3.12/site-packages/trl/trainer/dpo_trainer.py\", line 1102, in compute_loss
    outputs = model(**inputs)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 768.00 MiB. GPU 0 has a total capacity of 31.36 GiB of which \
500.00 MiB is free. Process 731 has 30.87 GiB memory in use. Of the allocated memory 29.80 GiB is allocated by PyTorch, and \
512.00 MiB is reserved by PyTorch but unallocated.
";

#[test]
fn a_failure_without_its_plan_is_explained_and_what_is_missing_is_named() {
    for command in ["diagnose", "import"] {
        let ran = headroom_with_input(&[command, "-", "--json"], FAILURE);
        assert_eq!((ran.code, ran.err.as_str()), (2, ""), "{command}: {}", ran.out);
        let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let missing = serde_json::json!(["model", "gpu", "method", "per_device_train_batch_size", "max_length"]);
        assert_eq!(answer["missing"], missing, "{command}");
        assert_eq!(answer["plan"], serde_json::json!({"trainer.name": "trl", "task": "dpo"}), "{command}");
        assert!(
            answer["gpus"].as_array().unwrap().iter().any(|gpu| gpu == "rtx-5090"),
            "{command}: {}",
            answer["gpus"]
        );
        assert_eq!(answer["reading"]["tried_bytes"], 768 << 20, "{command}");
    }
    let ran = headroom_with_input(&["diagnose", "-"], FAILURE);
    assert_eq!(ran.code, 2);
    for words in
        ["missing: ", "model, gpu, method", "rtx-5090", "trl/trainer/dpo_trainer.py", "The GPU of 31.36 GiB is full"]
    {
        assert!(ran.out.contains(words), "{words} is not in {}", ran.out);
    }
    // A monitor's table beside it names the process that the message numbers.
    let table = std::env::temp_dir().join("headroom-diagnose-table.txt");
    let rows = "| 0  NVIDIA GeForce RTX 5090  Off | 00000000:01:00.0 Off |  N/A |\n|  30%  52C  P2  187W / 450W |  31200MiB / 32607MiB |  38%  \
                Default |\n| Processes: |\n|  0  N/A  N/A  731  C  python  31000MiB |\n|  0  N/A  N/A  99  C  ollama  200MiB |\n";
    std::fs::write(&table, rows).unwrap();
    let path = table.to_str().unwrap();
    let alone = headroom_with_input(&["diagnose", path], "");
    let ran = headroom_with_input(&["diagnose", "-", path], FAILURE);
    assert_eq!((alone.code, ran.code), (2, 2), "{}{}", alone.err, ran.err);
    assert!(alone.out.contains("your run?") && !ran.out.contains("your run?"), "{}{}", alone.out, ran.out);
    assert!(ran.out.contains("The GPU is GeForce RTX 5090"), "{}", ran.out);
    std::fs::remove_file(table).unwrap();
    let ran = headroom_with_input(&["diagnose", "-", "model=gpt2&gpu=rtx-5090", "--json"], FAILURE);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&answer["missing"], &answer["plan"]), (&serde_json::json!([]), &serde_json::Value::Null));
}

#[test]
fn a_search_that_finds_nothing_exits_with_one() {
    // 8 B parameters in 4 GB: no batch fits, and no length.
    let hopeless = "v=1&model=meta-llama/Llama-3.1-8B&memory_gib=4&compute_capability=8.6&method=full";
    for options in [&["--max", "batch"][..], &["--max", "length"], &["--max", "batch", "--json"]] {
        let ran = headroom(&[&["solve", hopeless], options].concat());
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{options:?} {}", ran.out);
        assert!(ran.out.contains("nothing fits") || ran.out.contains("\"value\": null"), "{}", ran.out);
    }
    let fits = headroom(&["solve", "v=1&model=openai-community/gpt2&gpu=rtx-4090", "--max", "batch"]);
    assert_eq!(fits.code, 0, "{}{}", fits.out, fits.err);
}

#[test]
fn other_tools_names_of_keys_lead_to_ours() {
    for (key, name) in [
        ("batch", "per_device_train_batch_size"),
        ("batch_size", "per_device_train_batch_size"),
        ("seq_len", "max_length"),
        ("max_seq_length", "max_length"),
        ("gpus", "num_gpus"),
        ("optimizer", "optim"),
        ("dtype", "torch_dtype"),
    ] {
        let said = format!("did you mean {name}?");
        assert_bad_input(&headroom(&["estimate", &format!("v=1&model=Qwen/Qwen3-4B&{key}=4")]), &[key, &said]);
        assert_bad_input(
            &headroom(&["estimate", &format!("{{\"model\": \"Qwen/Qwen3-4B\", \"{key}\": 4}}")]),
            &[&said],
        );
    }
}

#[test]
fn what_holds_no_plan_is_imported_as_none() {
    let oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 23.64 GiB \
        of which 412.81 MiB is free. Including non-PyTorch memory, this process has 23.22 GiB memory in use. Of the allocated \
        memory 21.58 GiB is allocated by PyTorch, and 1.17 GiB is reserved by PyTorch but unallocated.";
    let missing = ["no plan: ", "missing: model, gpu, method, per_device_train_batch_size, max_length"];
    for options in [&["import", "-"][..], &["import", "-", "--json"]] {
        let ran = headroom_with_input(options, "Dear diary, today nothing was trained.");
        assert_bad_input(&ran, &[missing.as_slice(), &["sets no field"]].concat());
    }
    let yaml =
        headroom_with_input(&["import", "-"], "base_model: Qwen/Qwen3-4B\nmicro_batch_size: 2\nsequence_len: 2048\n");
    assert_eq!(yaml.code, 0, "{}", yaml.err);
    let config = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256}"#;
    let model = headroom_with_input(&["import", "-"], config);
    assert!(model.code == 0 && model.out.contains("\"model_type\":\"llama\""), "{}{}", model.out, model.err);
    // A failure's figures are said in units that people read.
    let said = headroom_with_input(&["diagnose", "-"], oom).out;
    assert!(said.contains("tried") && said.contains("896.0 MiB") && said.contains("23.64 GiB"), "{said}");
    assert!(!said.contains("939524096"), "{said}");
}
