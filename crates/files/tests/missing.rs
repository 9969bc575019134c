//! What no file says and no default may stand for is asked for.

#![allow(clippy::unwrap_used)]

use headroom_core::plan::Plan;
use headroom_files::finding::Language;
use headroom_files::import::{File, Import, import};

fn read(files: &[(&str, &str)]) -> (Import, Vec<File>) {
    let files: Vec<File> =
        files.iter().map(|(name, text)| File { name: (*name).to_owned(), text: (*text).to_owned() }).collect();
    (import(&files), files)
}

const FACTORY: &str = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nfinetuning_type: lora\nlora_target: all\ntemplate: qwen3\n\
    cutoff_len: 4096\nbf16: true\n";
const AXOLOTL: &str =
    "base_model: Qwen/Qwen3-8B\nadapter: lora\nsequence_len: 4096\nmicro_batch_size: 1\ndatasets:\n  - path: mine\n";

#[test]
fn a_sharded_run_without_a_number_of_gpus_asks_for_it() {
    let sharded = [
        ("a.yaml", [FACTORY, "deepspeed: examples/deepspeed/ds_z3_config.json\n"].concat()),
        ("b.yaml", [FACTORY, "deepspeed: examples/deepspeed/ds_z2_config.json\n"].concat()),
        ("c.yml", [AXOLOTL, "fsdp_config:\n  reshard_after_forward: true\nfsdp_version: 2\n"].concat()),
        ("d.yml", [AXOLOTL, "deepspeed: deepspeed_configs/zero3_bf16.json\n"].concat()),
        ("e.sh", "accelerate launch --use_fsdp train.py --model_name_or_path Qwen/Qwen3-8B --output_dir out".to_owned()),
        ("f.sh", "torchrun --nproc_per_node=$GPUS train.py --model_name_or_path Qwen/Qwen3-8B --fsdp full_shard --output_dir o".to_owned()),
        ("g.sh", "deepspeed train.py --model_name_or_path Qwen/Qwen3-8B --deepspeed ds_z3_config.json --zero_stage 3 --output_dir o".to_owned()),
        (
            "h.py",
            "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig(output_dir='o', deepspeed={'zero_optimization': {'stage': 3}})\n\
             SFTTrainer(model='Qwen/Qwen3-8B', args=args)\n"
                .to_owned(),
        ),
    ];
    for (name, text) in sharded {
        let (imported, files) = read(&[(name, &text)]);
        assert_eq!(imported.missing, ["num_gpus"], "{name}");
        let value = imported.to_value(&files, Language::English);
        assert_eq!(value["missing"][0], "num_gpus", "{name}");
        assert!(value["plan"]["num_gpus"].is_null() && value["plan"]["model"] == "Qwen/Qwen3-8B", "{name}");
        // Whoever estimates it as it is hears what is missing.
        let problems = Plan::from_json(&imported.plan_json()).unwrap_err();
        assert_eq!(problems[0].field, "num_gpus", "{name}");
    }
}

#[test]
fn a_number_that_a_file_or_a_launch_says_is_no_question() {
    let z3 = [FACTORY, "deepspeed: examples/deepspeed/ds_z3_config.json\n"].concat();
    let accelerate = "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\nnum_processes: 4\n";
    let said: [(&[(&str, &str)], u64); 4] = [
        (
            &[("a.yaml", &z3), ("run.sh", "FORCE_TORCHRUN=1 CUDA_VISIBLE_DEVICES=0,1,2 llamafactory-cli train a.yaml")],
            3,
        ),
        (&[("t.yaml", FACTORY)], 1),
        (&[("t.yml", AXOLOTL), ("accelerate.yaml", accelerate)], 4),
        (
            &[(
                "t.sh",
                "torchrun --nnodes 2 --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen3-8B --fsdp full_shard --output_dir o",
            )],
            16,
        ),
    ];
    for (files, gpus) in said {
        let (imported, _) = read(files);
        assert!(imported.missing.is_empty(), "{files:?}: {:?}", imported.missing);
        assert_eq!(imported.plan.num_gpus, gpus, "{files:?}");
    }
}

#[test]
fn a_model_that_no_file_names_is_asked_for() {
    let (imported, _) = read(&[("ds.json", "{\"zero_optimization\": {\"stage\": 3}}")]);
    assert_eq!(imported.missing, ["model", "num_gpus"]);
    let problems = Plan::from_json(&imported.plan_json()).unwrap_err();
    assert!(problems.iter().any(|problem| problem.field.starts_with("model")), "{problems:?}");
}
