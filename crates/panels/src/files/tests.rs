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
