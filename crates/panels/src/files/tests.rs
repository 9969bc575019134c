//! What the room for files does, at the page.

use crate::reader::Reader;

const OUT_OF_MEMORY: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of \
    39.39 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 38.19 GiB memory in use.";

/// Types `text` into the box and presses a button.
fn press(reader: &mut Reader, text: &str, button: &str) {
    reader.act("files-text", text);
    reader.press("files", button);
}

#[test]
fn texts_are_read_one_after_the_other_and_together() {
    let mut reader = Reader::open("v=1");
    assert_eq!(reader.text("files"), "");
    reader.act("files read", "");
    assert_eq!(reader.focus.as_deref(), Some("files-title"));
    press(&mut reader, "", "Read");
    assert!(reader.text("files").contains("Paste a text"), "{}", reader.text("files"));
    press(&mut reader, OUT_OF_MEMORY, "Add another text");
    assert!(reader.html("files").contains("data-taken=\"1\""), "the box is emptied");
    press(&mut reader, "{\"zero_optimization\": {\"stage\": 3}}", "Read");
    let said = reader.text("files");
    assert!(said.contains("2.32 GiB") && said.contains("zero_optimization.stage"), "{said}");
    reader.press("files", "Use this plan");
    assert!(
        reader.fragment.as_deref().is_some_and(|fragment| fragment.contains("zero_stage=3")),
        "{:?}",
        reader.fragment
    );
    reader.press("files", "Remove");
    assert!(!reader.text("files").contains("2.32 GiB"));
    reader.press("files", "Close");
    assert_eq!(reader.text("files"), "");
}

#[test]
fn files_are_brought_and_one_that_is_too_large_is_named() {
    let mut reader = Reader::open("v=1");
    reader.bring("huge.pickle", Vec::new(), 65 << 20, false);
    reader.bring("error.txt", OUT_OF_MEMORY.into(), OUT_OF_MEMORY.len() as u64, true);
    let said = reader.text("files");
    assert!(said.contains("2.32 GiB") && said.contains("huge.pickle is too large"), "{said}");
}

#[test]
fn what_is_read_never_becomes_markup() {
    let mut reader = Reader::open("v=1");
    let script = "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=\"<img src=x>\")\n";
    reader.bring("<b>.py", script.into(), script.len() as u64, true);
    let html = reader.html("files");
    assert!(html.contains("&lt;img src=x&gt;") && html.contains("&lt;b&gt;.py") && !html.contains("<img"), "{html}");
}

#[test]
fn the_plan_is_written_as_the_reader_chooses_and_follows_the_page() {
    let mut reader = Reader::open("v=1&model=Qwen/Qwen3-4B&num_gpus=4&zero_stage=2");
    reader.act("files write", "");
    assert!(reader.html("export").contains("download=\"headroom.zip\""), "{}", reader.text("export"));
    reader.act("files format", "deepspeed");
    assert!(reader.text("export").contains("\"stage\": 2"), "{}", reader.text("export"));
    reader.act("choose zero_stage", "3");
    assert!(reader.text("export").contains("\"stage\": 3"), "{}", reader.text("export"));
}

/// A failure on a GPU with 24 GB, somewhere in transformers' trainer.
const FAILURE: &str = "Traceback (most recent call last):\n  File \"/env/lib/python3.12/site-packages/trl/trainer/sft_trainer.py\", \
    line 1189, in training_step\n    return super().training_step(*args, **kwargs)\ntorch.OutOfMemoryError: CUDA out of memory. \
    Tried to allocate 640.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 300.81 MiB is free. Process 5120 has 23.33 \
    GiB memory in use. Of the allocated memory 21.70 GiB is allocated by PyTorch, and 1.16 GiB is reserved by PyTorch but \
    unallocated.\n";

/// What is said only of a plan, or names the plan that everyone begins with.
const OF_A_PLAN: [&str; 8] = [
    "request of the plan",
    "The plan needs",
    "By replay",
    "by the plan",
    "The plan counts",
    "the plan of one",
    "A100",
    "Qwen",
];

#[track_caller]
fn assert_compares_nothing(said: &str) {
    for words in OF_A_PLAN {
        assert!(!said.contains(words), "{words} is in {said}");
    }
    assert!(said.contains("No plan of this run is given"), "{said}");
}

#[test]
fn a_failure_is_set_against_no_plan_that_no_one_has_entered() {
    let mut reader = Reader::open("");
    reader.act("files read", "");
    press(&mut reader, FAILURE, "Read");
    let said = reader.text("files");
    assert_compares_nothing(&said);
    for words in ["fragmentation", "model, gpu, method", "trl/trainer/sft_trainer.py", "The GPU has 23.64 GiB"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    assert!(!said.contains("Calibrate"), "the plan is not to be changed: {said}");
    // What the text says is taken over by a button each, and is no plan yet.
    reader.press("files", "gpu:rtx-4090\"");
    assert!(reader.fragment.as_deref().unwrap().contains("gpu=rtx-4090"), "{:?}", reader.fragment);
    assert!(reader.html("files").contains("aria-pressed=\"true\">GeForce RTX 4090<"));
    reader.press("files", "Fill in what the text says");
    assert_compares_nothing(&reader.text("files"));
    let link = reader.fragment.clone().unwrap();
    assert!(link.contains("trainer=trl&trainer_version=1.16.0"), "{link}");
    // It is none as long as one field is open that the text asks for.
    for (field, value, open) in [
        ("model", "openai-community/gpt2", "method, per_device_train_batch_size, max_length"),
        ("method", "full", "per_device_train_batch_size, max_length"),
        ("per_device_train_batch_size", "2", "max_length"),
    ] {
        reader.act(&format!("choose {field}"), value);
        let said = reader.text("files");
        assert_compares_nothing(&said);
        assert!(said.contains(&format!("what the text does not: {open}")), "{said}");
    }
    // The last makes it one, and what was read follows.
    reader.act("choose max_length", "512");
    let said = reader.text("files");
    assert!(said.contains("the plan") && !said.contains("No plan of this run"), "{said}");
    assert!(!said.contains("the plan of one"), "the plan's GPU is the text's: {said}");
}

#[test]
fn what_a_text_says_of_the_trainer_brings_a_release_of_that_trainer() {
    let mut reader = Reader::open("");
    reader.act("files read", "");
    press(&mut reader, &FAILURE.replace("trl/trainer/sft_trainer.py", "transformers/trainer.py"), "Read");
    reader.press("files", "Fill in what the text says");
    let link = reader.fragment.clone().unwrap();
    assert!(link.contains("trainer=transformers&trainer_version=5."), "{link}");
    assert!(!link.contains("torch_dtype=float32"), "TRL loads so, and transformers 5 does not: {link}");
}

#[test]
fn the_plan_everyone_begins_with_can_be_meant() {
    let mut reader = Reader::open("");
    reader.act("files read", "");
    press(&mut reader, FAILURE, "Read");
    reader.press("files", "Compare with the plan on the page");
    let said = reader.text("files");
    assert!(said.contains("the plan of one with 79.25 GiB") && said.contains("request of the plan"), "{said}");
    // It follows the plan: the GPU of the text comes by a button.
    reader.press("files", "gpu:rtx-3090\"");
    assert!(!reader.text("files").contains("the plan of one"), "{}", reader.text("files"));
}

#[test]
fn a_monitor_is_read_by_itself_and_asks_whose_a_process_is() {
    let table = "| NVIDIA-SMI 570.1   Driver Version: 570.1   CUDA Version: 12.8 |\n\
                 |   0  NVIDIA GeForce RTX 5090        Off |   00000000:01:00.0 Off |                  N/A |\n\
                 | 30%   52C    P2            187W /  575W |    4612MiB /  32607MiB |     38%      Default |\n\
                 | Processes: |\n|    0   N/A  N/A           5120      C   python                                 4590MiB |\n";
    for (languages, asks, orders) in
        [("en", "Is python 5120 your run?", "End them"), ("zh", "python 5120 是您的训练吗", "结束这些进程")]
    {
        let mut reader = Reader::open(&format!("v=1&lang={languages}"));
        reader.act("files read", "");
        reader.act("files-text", table);
        reader.act("files take", "");
        let said = reader.text("files");
        assert!(said.contains(asks) && !said.contains(orders), "{said}");
        assert!(said.contains("GeForce RTX 5090") && !said.contains("A100"), "{said}");
    }
}

#[test]
fn a_traceback_and_a_monitor_are_joined_by_the_number_of_a_process() {
    let failure = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which \
                   412.81 MiB is free. Process 4711 has 23.22 GiB memory in use. Of the allocated memory 22.58 GiB is allocated by PyTorch, and \
                   117.00 MiB is reserved by PyTorch but unallocated.";
    let table = "| 0  NVIDIA GeForce RTX 4090   Off | 00000000:01:00.0 Off |   N/A |\n|  30%  52C  P2  187W / 450W |  23800MiB / \
                 24564MiB |  38%  Default |\n| Processes: |\n|  0  N/A  N/A  4711  C  python  23776MiB |\n";
    let asks = |first: &str| {
        let mut reader = Reader::open("v=1");
        reader.act("files read", "");
        if !first.is_empty() {
            press(&mut reader, first, "Add another text");
        }
        press(&mut reader, table, "Read");
        reader.text("files").contains("python 4711 your run")
    };
    assert!(asks("") && !asks(failure));
}

#[test]
fn the_plan_of_a_script_beside_a_failure_is_of_the_failure_s_gpu() {
    let script = "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig(per_device_train_batch_size=2, max_length=2048)\n\
                  SFTTrainer('Qwen/Qwen2.5-1.5B', args=args)\n";
    let mut reader = Reader::open("");
    reader.bring("train.py", script.into(), script.len() as u64, false);
    reader.bring("error.txt", FAILURE.into(), FAILURE.len() as u64, true);
    let said = reader.text("files");
    assert!(!said.contains("No plan of this run") && !said.contains("the plan of one"), "{said}");
    assert!(reader.html("files").contains("aria-pressed=\"true\">GeForce RTX 3090<"), "{}", reader.html("files"));
    reader.press("files", "gpu:rtx-4090\"");
    assert!(reader.html("files").contains("aria-pressed=\"true\">GeForce RTX 4090<"));
    reader.press("files", "Use this plan");
    let fragment = reader.fragment.clone().unwrap();
    assert!(fragment.contains("gpu=rtx-4090") && fragment.contains("Qwen2.5-1.5B"), "{fragment}");
}

#[test]
fn files_that_name_no_model_make_no_plan_to_compare_with() {
    let mut reader = Reader::open("");
    let launcher = "{\"zero_optimization\": {\"stage\": 3}, \"train_micro_batch_size_per_gpu\": 2}";
    reader.bring("ds.json", launcher.into(), launcher.len() as u64, false);
    reader.bring("error.txt", FAILURE.into(), FAILURE.len() as u64, true);
    let said = reader.text("files");
    assert!(said.contains("No plan of this run is given") && !said.contains("request of the plan"), "{said}");
    assert!(said.contains("say what the text does not: model, gpu, method, max_length"), "{said}");
}

#[test]
fn a_snapshot_is_drawn_beside_a_plan_that_someone_has_entered() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/diagnose");
    let bytes = std::fs::read(file.join("qwen2.5-0.5b-lora-2-layers.pickle")).unwrap();
    let size = bytes.len() as u64;
    let mut reader = Reader::open("");
    reader.bring("snapshot.pickle", bytes, size, true);
    assert!(!reader.html("files").contains("<svg"), "{}", reader.text("files"));
    reader.press("files", "Compare with the plan on the page");
    assert!(reader.html("files").contains("<svg"), "{}", reader.text("files"));
}

#[test]
fn a_number_of_gpus_that_no_file_says_is_asked_for() {
    let mut reader = Reader::open("v=1");
    let yaml = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nfinetuning_type: full\ntemplate: qwen3\ndeepspeed: examples/deepspeed/ds_z3_config.json\n";
    reader.bring("train.yaml", yaml.into(), yaml.len() as u64, true);
    let html = reader.html("files");
    assert!(html.contains("data-set=\"files answer:num_gpus\"") && !html.contains("files use"), "{html}");
    reader.act("files answer:num_gpus", "0");
    assert!(!reader.html("files").contains("files use"), "no GPUs are no answer");
    reader.act("files answer:num_gpus", "6");
    assert!(!reader.html("files").contains("files answer"));
    reader.press("files", "Use this plan");
    let fragment = reader.fragment.clone().unwrap_or_default();
    assert!(fragment.contains("num_gpus=6") && fragment.contains("zero_stage=3"), "{fragment}");
}

#[test]
fn a_gpu_of_two_sizes_and_a_stage_that_no_file_says_can_be_answered() {
    let mut reader = Reader::open("");
    let script = "#!/bin/bash\n#SBATCH --gres=gpu:a100:4\ntorchrun --nproc_per_node 4 train.py --model_name_or_path Qwen/Qwen2.5-7B \
        --output_dir o --bf16 --deepspeed my.json\n";
    reader.bring("a.sh", script.as_bytes().to_vec(), script.len() as u64, true);
    let html = reader.html("files");
    assert!(html.contains("<option value=\"a100-40gb\">") && html.contains("min=\"0\" max=\"3\""), "{html}");
    reader.act("files answer:gpu", "a100-40gb");
    reader.act("files answer:zero_stage", "2");
    reader.press("files", "Use this plan");
    let fragment = reader.fragment.clone().unwrap();
    assert!(fragment.contains("gpu=a100-40gb") && fragment.contains("zero_stage=2"), "{fragment}");
}
