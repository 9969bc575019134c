//! What no plan can say has a size where that follows from the plan.

#![allow(clippy::unwrap_used)]

use headroom_files::import::{File, import};

fn bytes(name: &str, text: &str, key: &str) -> Option<u64> {
    let imported = import(&[File { name: name.to_owned(), text: text.to_owned() }]);
    imported.not_expressible.iter().find(|listed| listed.key.trim_start_matches('-') == key).unwrap().bytes
}

#[test]
fn noise_is_two_tensors_as_large_as_the_embeddings_output() {
    let script = "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig(per_device_train_batch_size=2, max_length=512, \
                  neftune_noise_alpha=5)\nSFTTrainer('Qwen/Qwen3-4B', args=args)\n";
    // Hidden size 2560, fp32 as TRL loads by name.
    assert_eq!(bytes("train.py", script, "neftune_noise_alpha"), Some(2 * 2 * 512 * 2560 * 4));
}

#[test]
fn a_second_model_has_its_weights() {
    let command = "swift rlhf --rlhf_type gkd --model Qwen/Qwen2.5-7B --teacher_model Qwen/Qwen2.5-14B\n";
    let bytes = bytes("run.sh", command, "teacher_model").unwrap();
    assert_eq!(bytes, 14_770_033_664 * 2);
}

#[test]
fn what_has_no_size_says_none() {
    let script =
        "from trl import SFTConfig\nSFTConfig(use_liger_kernel=False, torch_compile=True, fp16_full_eval=True)\n";
    let imported = import(&[File { name: "train.py".to_owned(), text: script.to_owned() }]);
    assert!(imported.not_expressible.iter().all(|listed| listed.bytes.is_none()));
}
