//! LLaMA-Factory and ms-swift as people post them, at the releases of their time.

use serde_json::json;

use super::{kinds, read, says, unknown, value};

const BULLETS: &str = "- `llamafactory` version: 0.9.1.dev0\n- Platform: Linux-6.8.0-x86_64\n- Python version: 3.10.15\n- Transformers version: 4.46.1\n";
const YAML: &str = "### model\nmodel_name_or_path: Qwen/Qwen2.5-0.5B\n\n### method\nstage: sft\nfinetuning_type: full\n\
    dataset: a,b\ntemplate: qwen\n\n### train\nper_device_train_batch_size: 3\nbf16: true\n";

#[test]
fn bullets_beside_keys_do_not_hide_them() {
    for text in [
        format!("### System Info\n\n{BULLETS}\n### Reproduction\n\n{YAML}\n### Expected behavior\n\nNo OOM.\n"),
        format!("### Reproduction\n\n{YAML}\n### System Info\n\n{BULLETS}"),
    ] {
        let fields = json!({"trainer.name": "llamafactory", "trainer.version": "0.9.1", "method": "full", "per_device_train_batch_size": 3});
        says(&[("post.md", &text)], fields, &[]);
    }
    // Lists that keys open are read as before, and keys that a sentence parts from them are of the same trainer.
    let parted = "model_name_or_path: Qwen/Qwen2.5-0.5B\nfinetuning_type: lora\nlora_target:\n- q_proj\n- v_proj\n\n\
        下面是训练参数，其余默认\n\nper_device_train_batch_size: 3\ncutoff_len: 700\nflash_attn: fa2\n";
    let fields =
        json!({"max_length": 700, "per_device_train_batch_size": 3, "attn_implementation": "flash_attention_2"});
    says(&[("post.md", parted)], fields, &[]);
}

#[test]
fn an_object_between_sentences_is_read() {
    let deepspeed = "{\n  \"zero_optimization\": {\n    \"stage\": 2,\n    \"offload_optimizer\": {\"device\": \"cpu\"}\n  },\n  \"bf16\": {\"enabled\": \"auto\"}\n}\n";
    let command = "deepspeed --num_gpus=4 src/train.py --stage sft --finetuning_type full --model_name_or_path Qwen/Qwen2.5-0.5B --deepspeed my.json\n";
    let fields = json!({"zero_stage": 2, "offload_optimizer": "cpu", "num_gpus": 4});
    says(&[("post.md", &format!("命令如下：\n{command}\n配置：\n{deepspeed}\n求助\n"))], fields.clone(), &[]);
    says(&[("post.md", &format!("Run:\n\n```bash\n{command}```\n\nmy.json is\n{deepspeed}\nHelp!\n"))], fields, &[]);
    // Braces that never close are bounded.
    read(&[("post.md", &"{\n".repeat(50_000))]);
}

#[test]
fn shipped_files_are_those_of_the_release() {
    let factory = |version: &str| {
        let text = format!(
            "- `llamafactory` version: {version}\n\n{YAML}deepspeed: examples/deepspeed/ds_z3_config.json\n\nCUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train a.yaml\n"
        );
        value(&read(&[("post.md", &text)]), "distributed.overlap_comm")
    };
    assert_eq!(["0.9.1", "0.9.2.dev0", "0.9.2"].map(factory), [json!(true), json!(true), json!(false)]);
    let swift = |version: &str, options: &str| {
        let text = format!(
            "pip install ms-swift=={version}\nNPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-0.5B {options}\n"
        );
        read(&[("r.sh", &text)])
    };
    let old = swift("3.2.1", "--train_type full --deepspeed zero2");
    assert_eq!(value(&old, "distributed.overlap_comm"), json!(true));
    let old = swift("2.6.1", "--sft_type full --deepspeed zero3-offload");
    assert_eq!(value(&old, "offload_optimizer"), json!("none"));
    assert_eq!(value(&old, "offload_param"), json!("cpu"));
    let new = swift("3.4.0", "--train_type full --deepspeed zero2");
    assert_eq!(value(&new, "distributed.overlap_comm"), json!(false));
}

#[test]
fn keys_of_the_first_releases_are_read() {
    let run = "python src/train_bash.py --stage sft --model_name_or_path Qwen/Qwen2.5-0.5B --finetuning_type lora --lora_target q_proj,v_proj \
        --max_source_length 1500 --max_target_length 300 --dev_ratio 0.01 --padding_side right --fp16\n";
    let fields = json!({"max_length": 1800, "trainer.version": "0.1.0", "attn_implementation": "eager", "lora.lora_dropout": 0.1});
    let imported = says(&[("r.sh", run)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    assert!(!kinds(&imported).contains(&"unknown_key"));
    let pretrains = run.replace("sft", "pt");
    says(&[("r.sh", &pretrains)], json!({"max_length": 1500}), &[]);
}

#[test]
fn ms_swift_evaluates_and_trains_towers_as_its_release_does() {
    let old = "swift sft --model_type qwen2-vl-2b-instruct --sft_type full --batch_size 4 --max_length 4096\n";
    let fields =
        json!({"eval_strategy": "steps", "per_device_eval_batch_size": 4, "freeze": [], "trainer.version": "2.6.0"});
    says(&[("r.sh", old)], fields, &[]);
    let none = old.replace("--batch_size 4", "--batch_size 4 --dataset_test_ratio 0");
    says(&[("r.sh", &none)], json!({"eval_strategy": "no"}), &[]);
    let newer = "pip install ms-swift==3.5.0\nswift sft --model Qwen/Qwen2-VL-2B-Instruct --train_type full --max_length 4096\n";
    let fields =
        json!({"eval_strategy": "steps", "freeze": ["vision_tower", "multi_modal_projector"], "optim": "adamw_torch"});
    says(&[("r.sh", newer)], fields, &[]);
    says(
        &[("r.sh", &newer.replace("3.5.0", "3.8.0"))],
        json!({"eval_strategy": "no", "optim": "adamw_torch_fused"}),
        &[],
    );
}

#[test]
fn counts_of_processes_are_asked_for_or_told() {
    let options =
        "--stage sft --finetuning_type full --model_name_or_path Qwen/Qwen2.5-0.5B --template qwen --dataset d";
    let open = format!("torchrun $DISTRIBUTED_ARGS src/train.py {options}\n");
    let imported = read(&[("r.sh", &open)]);
    assert_eq!(imported.missing, ["num_gpus"]);
    assert!(kinds(&imported).contains(&"launcher_open"));
    says(
        &[("post.md", &format!("On a single node with 8 H100 GPUs:\n\n```\n{open}```\n"))],
        json!({"num_gpus": 8}),
        &[],
    );
    let beyond = format!("CUDA_VISIBLE_DEVICES=5,7 torchrun --nproc_per_node 4 src/train.py {options}\n");
    assert!(kinds(&read(&[("r.sh", &beyond)])).contains(&"processes_beyond_gpus"));
    let asked = format!("#!/bin/bash\n#SBATCH --gres=gpu:2\ntorchrun --nproc_per_node 4 src/train.py {options}\n");
    assert!(kinds(&read(&[("r.sh", &asked)])).contains(&"processes_beyond_gpus"));
    let fewer = format!("CUDA_VISIBLE_DEVICES=0,1,2,3 torchrun --nproc_per_node 4 src/train.py {options}\n");
    assert!(!kinds(&read(&[("r.sh", &fewer)])).contains(&"processes_beyond_gpus"));
    let machines =
        format!("torchrun --nnodes $NNODES --nproc_per_node 8 src/train.py {options} --deepspeed zero3.json\n");
    let imported = read(&[("r.sh", &machines)]);
    assert_eq!(imported.missing, ["num_gpus"]);
    assert!(kinds(&imported).contains(&"machines_missing"));
}
