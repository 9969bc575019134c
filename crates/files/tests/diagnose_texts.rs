//! Every text of `tests/files/diagnose` is read to the figure.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use headroom_files::diagnose::{diagnose, diagnose_beside, readings, readings_by_each};
use headroom_files::finding::Language;
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/diagnose")
}

fn cases() -> Vec<Value> {
    let index = fs::read_to_string(corpus().join("index.jsonl")).unwrap();
    index.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_stated_figure_is_read() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let file = case["file"].as_str().unwrap();
        assert!(!case["source"].as_str().unwrap().is_empty(), "{file} without its source");
        let bytes = fs::read(corpus().join(file)).unwrap();
        let read = diagnose(&bytes, None).unwrap().to_json(Language::English);
        for (name, expected) in case["reading"].as_object().unwrap() {
            let found = &read["reading"][name];
            if found != expected {
                wrong.push(format!("{file}: {name} is {found}, not {expected}"));
            }
        }
        // Nothing is invented: a figure of the contract that is read is one of the index.
        for name in ["tried_bytes", "total_bytes", "free_bytes", "process_bytes", "allocated_bytes", "reserved_bytes"] {
            if !read["reading"][name].is_null() && case["reading"][name].is_null() {
                wrong.push(format!("{file}: {name} is {} and not stated", read["reading"][name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn findings_speak_both_languages() {
    for case in cases() {
        let file = case["file"].as_str().unwrap();
        let found = diagnose(&fs::read(corpus().join(file)).unwrap(), None).unwrap();
        for finding in &found.findings {
            let (english, chinese) = (finding.said(Language::English), finding.said(Language::Chinese));
            assert!(english.what.is_ascii(), "{file}: {}", english.what);
            assert!(chinese.what.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{file}: {}", chinese.what);
            assert_eq!(english.fix.is_empty(), chinese.fix.is_empty(), "{file}");
        }
    }
}

#[test]
fn causes_are_found() {
    let ids = |file: &str| -> Vec<&'static str> {
        let found = diagnose(&fs::read(corpus().join(file)).unwrap(), None).unwrap();
        found.findings.iter().map(|finding| finding.kind.id()).collect()
    };
    for (file, id) in [
        ("torch-2.1-other-processes.txt", "other_processes"),
        ("torch-2.1-capacty.txt", "fragmentation"),
        ("torch-2.1-hidden-process.txt", "hidden_process"),
        ("torch-2.5-allowed.txt", "memory_fraction"),
        ("torch-2.9-alloc-conf.txt", "cuda_context"),
        ("refused-though-free.txt", "refused_though_free"),
        ("torch-2.3-exbibyte.txt", "impossible_size"),
        ("ray-pod.txt", "host_out_of_memory"),
        ("cublas.txt", "cublas_alloc_failed"),
        ("cuda-error.txt", "cuda_error"),
        ("nccl-calloc.txt", "nccl_out_of_memory"),
        ("bitsandbytes.txt", "bitsandbytes_out_of_memory"),
        ("no-executable-batch-size.txt", "no_executable_batch_size"),
        ("vllm-no-blocks.txt", "engine_cache"),
        ("killed.txt", "host_out_of_memory"),
        ("smi-470.txt", "other_processes"),
        ("monitor-s3.txt", "alloc_retries"),
        ("vllm-cumem.txt", "vllm_cumem"),
        ("vllm-own-count.txt", "engine_start"),
        ("vllm-no-blocks-start.txt", "engine_cache"),
        ("torch-2.5-zero-bytes.txt", "hidden_process"),
    ] {
        assert!(ids(file).contains(&id), "{file}: {:?}", ids(file));
    }
}

/// What all findings of a text say in a language.
fn said(text: &[u8], language: Language) -> String {
    let found = diagnose(text, None).unwrap();
    found.findings.iter().map(|one| one.said(language)).map(|said| format!("{} {}\n", said.what, said.fix)).collect()
}

#[test]
fn a_process_that_a_container_hides_is_taken_for_no_other() {
    let text = fs::read(corpus().join("torch-2.5-zero-bytes.txt")).unwrap();
    let found = diagnose(&text, None).unwrap();
    let ids: Vec<&str> = found.findings.iter().map(|finding| finding.kind.id()).collect();
    assert!(!ids.contains(&"unexplained_use") && !ids.contains(&"other_processes"), "{ids:?}");
}

#[test]
fn a_monitor_s_processes_are_asked_about_and_never_to_be_ended() {
    for case in cases() {
        let file = case["file"].as_str().unwrap();
        let bytes = fs::read(corpus().join(file)).unwrap();
        let found = diagnose(&bytes, None).unwrap();
        if found.readings.iter().all(|reading| reading.tried.is_some() || reading.processes.is_empty()) {
            continue;
        }
        for (language, order) in [(Language::English, "end them"), (Language::Chinese, "请结束")] {
            let said = said(&bytes, language);
            assert!(!said.to_lowercase().contains(order), "{file}: {said}");
        }
    }
    let table = fs::read(corpus().join("smi-470.txt")).unwrap();
    let (english, chinese) = (said(&table, Language::English), said(&table, Language::Chinese));
    assert!(english.contains("your run?") && chinese.contains("您的训练吗？"), "{english}{chinese}");
}

#[test]
fn what_fails_in_an_engine_is_not_sought_in_the_training_step() {
    let text = "  File \"/env/trl/trainer/grpo_trainer.py\", line 1310, in _generate\n    outputs = self.llm.generate(prompts)\n  \
                File \"/env/vllm/v1/worker/gpu_model_runner.py\", line 2874, in _dummy_sampler_run\n    logits.float()\n\
                torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 594.00 MiB. GPU 0 has a total capacity of \
                23.51 GiB of which 310.00 MiB is free.";
    let job = headroom_core::job::Job::resolve(&headroom_core::plan::Plan::default()).unwrap();
    for job in [None, Some(&job)] {
        let found = diagnose(text.as_bytes(), job).unwrap();
        let ids: Vec<&str> = found.findings.iter().map(|finding| finding.kind.id()).collect();
        assert!(ids.contains(&"engine_request"), "{ids:?}");
        assert!(!ids.iter().any(|id| id.starts_with("failed_request")), "{ids:?}");
    }
}

#[test]
fn what_a_text_leaves_open_is_asked_and_what_it_says_is_filled_in() {
    let asked = |file: &str| diagnose(&fs::read(corpus().join(file)).unwrap(), None).unwrap().asked.unwrap();
    let ids = |file: &str| -> Vec<String> { asked(file).gpus.iter().map(|gpu| gpu.id.to_string()).collect() };
    // By its name.
    assert_eq!(asked("torchtitan.txt").edits(), [("gpu", "a100-80gb".to_owned())]);
    assert!(!asked("torchtitan.txt").missing.contains(&"gpu") && asked("torchtitan.txt").missing.contains(&"num_gpus"));
    // By its size: 79.25 GiB.
    let of_size = ids("torch-2.5-zero-bytes.txt");
    assert!(of_size[0].starts_with("a100-80gb") && of_size.iter().any(|id| id == "h100-80gb"), "{of_size:?}");
    assert!(asked("torch-2.5-zero-bytes.txt").missing.contains(&"gpu"));
    assert!(!asked("torch-2.5-zero-bytes.txt").missing.contains(&"num_gpus"));
    // AMD's are no NVIDIA's of that size.
    assert!(ids("hip-mi250.txt").iter().all(|id| id.starts_with("mi")), "{:?}", ids("hip-mi250.txt"));
    // By the files of its stack.
    assert_eq!(asked("vllm-cumem.txt").edits(), [("trainer.name", "trl".to_owned()), ("task", "grpo".to_owned())]);
    assert!(!asked("vllm-cumem.txt").missing.contains(&"trainer"));
    // With a plan nothing is asked.
    let job = headroom_core::job::Job::resolve(&headroom_core::plan::Plan::default()).unwrap();
    let bytes = fs::read(corpus().join("torch-2.5-zero-bytes.txt")).unwrap();
    assert_eq!(diagnose(&bytes, Some(&job)).unwrap().asked, None);
    // All that is filled in, plans take.
    for case in cases() {
        let Some(asked) =
            diagnose(&fs::read(corpus().join(case["file"].as_str().unwrap())).unwrap(), None).unwrap().asked
        else {
            continue;
        };
        let mut plan = headroom_core::plan::Plan::default();
        for (name, value) in asked.edits() {
            headroom_core::plan::field(name).unwrap().set_text(&mut plan, &value).unwrap();
        }
        assert!(asked.missing.contains(&"model"));
    }
}

#[test]
fn the_process_that_failed_is_known_in_a_monitor_s_table() {
    let failure = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 23.64 \
                   GiB of which 412.81 MiB is free. Process 4711 has 23.22 GiB memory in use. Of the allocated memory 21.58 GiB \
                   is allocated by PyTorch, and 1.17 GiB is reserved by PyTorch but unallocated.\n";
    let table = "| 0  NVIDIA GeForce RTX 4090   Off | 00000000:01:00.0 Off |   N/A |\n|  30%  52C  P2  187W / 450W |  23800MiB / \
                 24564MiB |  38%  Default |\n| Processes: |\n|  0  N/A  N/A  4711  C  python  23776MiB |\n";
    let asks = |text: &str| said(text.as_bytes(), Language::English).contains("your run?");
    assert!(asks(table) && !asks(&format!("{failure}{table}")));
    assert!(asks(&format!("{}{table}", failure.replace("4711", "4712"))));
}

#[test]
fn a_traceback_and_a_monitor_are_joined_by_numbers_also_as_two_texts() {
    let failure = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which \
                   412.81 MiB is free. Including non-PyTorch memory, this process has 13.22 GiB memory in use. Process 8800 has 10.00 GiB \
                   memory in use. Of the allocated memory 11.58 GiB is allocated by PyTorch, and 117.00 MiB is reserved by PyTorch but \
                   unallocated.\n";
    let table = "| 0  NVIDIA GeForce RTX 4090   Off | 00000000:01:00.0 Off |   N/A |\n|  30%  52C  P2  187W / 450W |  23800MiB / \
                 24564MiB |  38%  Default |\n| Processes: |\n|  0  N/A  N/A  8800  C  ollama  10240MiB |\n|  0  N/A  N/A  4711  C  python  13536MiB |\n";
    let said = |text: &str, beside: &str| -> String {
        let found = diagnose_beside(text.as_bytes(), &readings(beside.as_bytes()), None).unwrap();
        found
            .findings
            .iter()
            .map(|one| one.said(Language::English))
            .map(|said| format!("{} {}\n", said.what, said.fix))
            .collect()
    };
    // The failure hears the names, the table which process is the run's.
    assert!(said(failure, table).contains("ollama 8800: 10.00 GiB") && said(failure, "").contains("process 8800"));
    let asked = said(table, failure);
    assert!(asked.contains("ollama 8800") && !asked.contains("python 4711"), "{asked}");
    assert!(said(table, "").contains("python 4711"));
    // As one text they say the same.
    let both = said(&[failure, table].concat(), "");
    assert!(both.contains("ollama 8800") && !both.contains("python 4711"), "{both}");
}

#[test]
fn a_monitor_of_a_card_of_another_size_is_of_another_run() {
    let failure = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which \
                   412.81 MiB is free. Process 41823 has 23.22 GiB memory in use. Of the allocated memory 21.58 GiB is allocated by PyTorch, \
                   and 1.17 GiB is reserved by PyTorch but unallocated.\n";
    let table = |name: &str, total: u64| {
        format!(
            "| 0  {name}   Off | 00000000:01:00.0 Off |   N/A |\n|  30%  52C  P2  187W / 450W |  2612MiB / {total}MiB |  38%  Default |\n\
             | Processes: |\n|  0  N/A  N/A  41823  C  python  2590MiB |\n"
        )
    };
    let (other, same) = (table("NVIDIA GeForce RTX 5090", 32607), table("NVIDIA GeForce RTX 4090", 24564));
    let found =
        |text: &str, beside: &str| diagnose_beside(text.as_bytes(), &readings(beside.as_bytes()), None).unwrap();
    let of_others = |found: &headroom_files::diagnose::Diagnosis| {
        found.findings.iter().any(|one| one.said(Language::English).what.contains("python 41823"))
    };
    // Whichever comes first, as one text or as two: the number is another's, and the card is not the run's.
    for text in [[failure, other.as_str()].concat(), [other.as_str(), failure].concat()] {
        let one = found(&text, "");
        assert!(of_others(&one), "{:?}", one.findings);
        let gpus: Vec<&str> = one.gpus().iter().map(|gpu| gpu.id.as_ref()).collect();
        assert!(gpus.contains(&"rtx-4090") && !gpus.contains(&"rtx-5090"), "{gpus:?}");
    }
    assert!(of_others(&found(&other, failure)));
    // A card of the same size is the run's, with its process.
    let one = found(&[failure, same.as_str()].concat(), "");
    assert!(!of_others(&one), "{:?}", one.findings);
    assert_eq!(one.gpus().iter().map(|gpu| gpu.id.as_ref()).collect::<Vec<_>>(), ["rtx-4090"]);
    // One of several cards is enough.
    let several = [other.replace("| 0  N", "| 1  N"), same].concat();
    assert!(!of_others(&found(&several, failure)));
}

#[test]
fn what_an_engine_lacks_is_said_as_it_is() {
    let said = |text: &str| said(text.as_bytes(), Language::English);
    let share = said(
        "ValueError: Free memory on device (11.07/23.55 GiB) on startup is less than desired GPU memory utilization (0.9, 21.19 GiB).\n",
    );
    assert!(share.contains("Lower gpu_memory_utilization to 0.47") && !share.contains("Raise"), "{share}");
    let tokens = said(
        "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (51632).\n",
    );
    assert!(tokens.contains("131,072 tokens") && tokens.contains("max_model_len to 51632"), "{tokens}");
    assert!(!tokens.contains("Nothing is left") && !tokens.contains("The engine's start"), "{tokens}");
    let spilled = said(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 12.00 GiB of which 0 bytes \
         is free. Of the allocated memory 25.89 GiB is allocated by PyTorch, and 84.00 MiB is reserved by PyTorch but unallocated.\n",
    );
    assert!(spilled.contains("more than the 12.00 GiB of the GPU") && !spilled.contains("is full"), "{spilled}");
}

#[test]
fn hostile_texts_are_read_or_passed_over() {
    for case in cases() {
        let bytes = fs::read(corpus().join(case["file"].as_str().unwrap())).unwrap();
        for end in (0..bytes.len()).step_by(97) {
            let _ = diagnose(&bytes[..end], None);
        }
        let mut junk = bytes.clone();
        for (i, byte) in junk.iter_mut().enumerate().filter(|(i, _)| i % 13 == 0) {
            *byte = (i % 251) as u8;
        }
        let _ = readings_by_each(&junk);
    }
    let all: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    let _ = diagnose(&all, None);
    for word in
        ["CUDA out of memory. Tried to allocate ", "| 0 ", "[rank1]: ", "Process 1 has ", "(", "allocated_bytes"]
    {
        let _ = readings_by_each(word.repeat(20_000).as_bytes());
    }
    let digits = "9".repeat(100_000);
    let _ = readings(format!("CUDA out of memory. Tried to allocate {digits} GiB. GPU {digits} has").as_bytes());
}

#[test]
fn what_stands_above_a_failure_is_filled_in() {
    let failure = |total: &str| {
        format!(
            "OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of {total} GiB of which 0.50 GiB is \
            free. Of the allocated memory 9.00 GiB is allocated by PyTorch, and 0.10 GiB is reserved by PyTorch but unallocated.\n"
        )
    };
    let asked = |text: &str| diagnose(text.as_bytes(), None).unwrap().asked.unwrap();
    let edit =
        |text: &str, key: &str| asked(text).edits().into_iter().find(|(name, _)| *name == key).map(|(_, value)| value);
    // A banner, and what the Trainer prints.
    let banner = "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs = 1\nO^O/ \\_/ \\    Batch size per device = 3 | Gradient \
        Accumulation steps = 5\n";
    let text = [banner, &failure("14.74")].concat();
    assert_eq!(edit(&text, "trainer.name").as_deref(), Some("unsloth"));
    assert_eq!(edit(&text, "per_device_train_batch_size").as_deref(), Some("3"));
    assert_eq!(edit(&text, "gradient_accumulation_steps").as_deref(), Some("5"));
    assert!(
        !asked(&text).missing.contains(&"per_device_train_batch_size") && !asked(&text).missing.contains(&"trainer")
    );
    let printed = ["  Instantaneous batch size per device = 7\n", &failure("14.74")].concat();
    assert_eq!(edit(&printed, "per_device_train_batch_size").as_deref(), Some("7"));
    // The command that a launcher prints.
    let command = "['/e/bin/python', '-u', 'train.py', '--model_name_or_path', 'Qwen/Qwen2.5-7B', '--per_device_train_batch_size', '2'] exits with \
        return code = 1\n";
    let text = [&failure("31.73"), command].concat();
    assert_eq!(edit(&text, "model").as_deref(), Some("Qwen/Qwen2.5-7B"));
    assert_eq!(asked(&text).missing, ["gpu", "trainer", "method", "max_length"]);
    // The trainer, by the stack of another rank or by what failed.
    for (line, trainer) in [
        ("[rank2]:   File \"/mnt/u/ms-swift/swift/cli/rlhf.py\", line 5, in <module>", "ms-swift"),
        ("/w/LLaMA-Factory/src/llamafactory/launcher.py FAILED", "llamafactory"),
    ] {
        let text = format!("[rank7]: torch.{}{line}\n", failure("79.10"));
        assert_eq!(edit(&text, "trainer.name").as_deref(), Some(trainer), "{line}");
    }
    let swift = ["[INFO:swift] rank: 0, local_rank: 0, world_size: 4, local_world_size: 4\n[INFO:swift] Loading the model using model_dir: \
        /m/Qwen2.5-7B-Instruct\n", &failure("47.43")].concat();
    assert_eq!(edit(&swift, "num_gpus").as_deref(), Some("4"));
    assert_eq!(edit(&swift, "model").as_deref(), Some("Qwen/Qwen2.5-7B-Instruct"));
    let ran = ["我在终端运行====》llamafactory-cli train examples/x.yaml\n\n", &failure("23.64")].concat();
    assert_eq!(edit(&ran, "trainer.name").as_deref(), Some("llamafactory"));
    let bannered = ["==((====))==  Unsloth 2025.2.12: Fast Qwen2 patching.\n   \\\\   /|    GPU: NVIDIA GeForce RTX 4090. Max memory: 23.6 GB.\n",
        &failure("23.64")].concat();
    assert_eq!(
        (edit(&bannered, "trainer.name").as_deref(), edit(&bannered, "gpu").as_deref()),
        (Some("unsloth"), Some("rtx-4090"))
    );
    let sentence = ["It fails on 8x V100 16GB\n", &failure("15.77")].concat();
    assert!(
        edit(&sentence, "gpu").is_some_and(|gpu| gpu.starts_with("v100-16gb")),
        "{:?}",
        asked(&sentence).gpus.len()
    );
    // A name that the driver shortens, and a size as Windows shows it.
    let table = "|   0  Tesla V100-SXM2...  On   | 00000000:00:08.0 Off |                    0 |\n\
        | N/A   54C    P0   246W / 300W |  15514MiB / 16130MiB |    100%      Default |\n";
    assert_eq!(edit(table, "gpu").as_deref(), Some("v100-16gb"));
    let ids: Vec<String> = asked(&failure("23.99")).gpus.iter().map(|gpu| gpu.id.to_string()).collect();
    assert!(ids.contains(&"rtx-3090".to_owned()) && ids.contains(&"rtx-4090".to_owned()), "{ids:?}");
}
