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
    let given = old.replace("--batch_size 4", "--val_dataset v.json --dataset_test_ratio 0");
    let imported = says(&[("r.sh", &given)], json!({"eval_strategy": "steps"}), &[]);
    assert!(!kinds(&imported).contains(&"overridden"));
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
    let port = format!("torchrun --master_port $PORT src/train.py {options}\n");
    let imported = says(&[("r.sh", &port)], json!({"num_gpus": 1}), &[]);
    assert!(!imported.not_expressible.iter().any(|listed| listed.key.contains("PORT")));
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

#[test]
fn releases_in_sentences_and_scripts_of_a_trainer_count() {
    let run = "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 src/train.py a.yaml";
    let post = format!(
        "LLaMA Factory, version 0.7.1.dev0\n\n**Run:**\n{run}\n\n**a.yaml:**\n{YAML}deepspeed: ds_z2_config.json\n"
    );
    let imported = says(
        &[("post.md", &post)],
        json!({"trainer.version": "0.7.1", "distributed.overlap_comm": true, "num_gpus": 2}),
        &[],
    );
    assert!(!kinds(&imported).contains(&"missing_file"));
    let command = "swift sft --model Qwen/Qwen2.5-0.5B --train_type full --max_length 900";
    for (said, version) in [
        ("ms-swift 3.8.3版本训练溢出", "3.8.3"),
        ("swift版本：3.5.2.post1", "3.5.2"),
        ("swift 3.5.3 was used", "3.5.3"),
    ] {
        says(&[("post.md", &format!("{said}\n\n```\n{command}\n```\n"))], json!({"trainer.version": version}), &[]);
    }
    // Two that differ say nothing.
    let both = format!("swift 3.4.0 works, here it is\nwith swift 3.5.0 it does not\n\n```\n{command}\n```\n");
    assert_ne!(value(&read(&[("post.md", &both)]), "trainer.version"), json!("3.4.0"));
}

#[test]
fn settings_that_marks_and_line_ends_hide_are_read() {
    let marked = format!("配置：\n`{YAML}cutoff_len: 700`\n\n训练：\n`llamafactory-cli train a.yaml`\n");
    let imported = says(&[("post.md", &marked)], json!({"max_length": 700, "method": "full"}), &[]);
    assert!(kinds(&imported).contains(&"gpus_unknown"));
    let titled = "## run.sh\naccelerate launch --config_file ac.yaml src/train.py --stage sft --finetuning_type full --model_name_or_path Qwen/Qwen2.5-0.5B\n\n\
        ## ac.yaml\ncompute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 4\n";
    let imported = says(&[("post.md", titled)], json!({"num_gpus": 4, "distributed.framework": "ddp"}), &[]);
    assert!(!kinds(&imported).contains(&"missing_file"));
    let lines = "/usr/bin/python -m torch.distributed.run \n--nproc_per_node 4 \n--nnodes 1 \n/opt/swift/cli/sft.py \n\
        --model Qwen/Qwen2.5-0.5B \n--train_type full \n--max_length 900 \n";
    says(&[("post.md", lines)], json!({"num_gpus": 4, "max_length": 900}), &[]);
    let runs_on = "NPROC_PER_NODE=8 swift sft \\\n  --model_type qwen2-vl-7b-instruct \\\n  --sft_type lora \\\n  --deepspeed default-zero3 \\\n  训练数据为：\n";
    says(&[("post.md", runs_on)], json!({"zero_stage": 3, "num_gpus": 8}), &[]);
}

#[test]
fn what_ms_swift_2_takes_and_prints_is_read() {
    let printed = "SftArguments(\nmodel_type='qwen1half-7b-chat', \nsft_type='lora', quantization_bit=4, lora_target_modules=['DEFAULT'], \
        max_length=3072, batch_size=1, eval_batch_size=2, bnb_4bit_comp_dtype='bf16', deepspeed=None)\n";
    let fields = json!({"model": "Qwen/Qwen1.5-7B-Chat", "method": "qlora", "lora.target_modules": ["q_proj", "k_proj", "v_proj"],
        "max_length": 3072, "eval_strategy": "steps", "per_device_eval_batch_size": 2});
    let imported = says(&[("post.md", &format!("参数：\n```\n{printed}```\n"))], fields, &[]);
    assert!(!kinds(&imported).contains(&"unknown_key"));
    let spread = "NPROC_PER_NODE=1 CUDA_VISIBLE_DEVICES=0,1 swift sft --model_type qwen2-7b --sft_type lora --batch_size 3 --dataset_test_ratio 0.05\n";
    let imported = says(&[("r.sh", spread)], json!({"per_device_eval_batch_size": 3, "num_gpus": 1}), &[]);
    assert!(imported.not_expressible.iter().any(|listed| listed.key == "CUDA_VISIBLE_DEVICES"));
    let engine = |more: &str| {
        let run = format!(
            "NPROC_PER_NODE=7 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-0.5B --train_type lora --use_vllm true --num_generations 7 {more}\n"
        );
        value(&read(&[("r.sh", &run)]), "rollout.vllm_mode")
    };
    assert_eq!(
        [engine("--vllm_device auto"), engine("--vllm_device auto --num_infer_workers 7")],
        [json!("server"), json!("colocate")]
    );
}

#[test]
fn settings_that_are_no_file_and_no_command_are_read() {
    let dict = "args = dict(\n  stage=\"sft\",  # supervised\n  model_name_or_path=\"Qwen/Qwen2.5-0.5B\",\n  finetuning_type=\"full\",\n  \
        per_device_train_batch_size=3,\n)\njson.dump(args, open(\"a.json\", \"w\"))\n";
    for text in [
        format!("So:\n\n{dict}\nllamafactory-cli train a.json\n"),
        format!("So:\n\n```python\n{dict}```\n\nllamafactory-cli train a.json\n"),
    ] {
        let imported = says(&[("post.md", &text)], json!({"per_device_train_batch_size": 3, "method": "full"}), &[]);
        assert!(!kinds(&imported).contains(&"missing_file"), "{text}");
    }
    let options = "主要参数：\nNPROC_PER_NODE=4\n--deepspeed zero2 \\\n--train_type full \\\n--max_length 700 \\\n--per_device_train_batch_size 3 \\\n模型 7B\n";
    says(
        &[("post.md", options)],
        json!({"max_length": 700, "zero_stage": 2, "method": "full", "num_gpus": 4}),
        &["model"],
    );
    let prose = "```\nswift sft --model Qwen/Qwen2.5-0.5B --train_type full --max_length 700\n```\ndeepspeed 尝试过0.14.0 0.14.4\npython 3.12.9\n";
    let imported = says(&[("post.md", prose)], json!({"max_length": 700}), &[]);
    assert!(!kinds(&imported).contains(&"several_commands"));
}

#[test]
fn a_model_that_is_not_known_leaves_what_is_said_of_it() {
    let run = "swift sft --model $MODEL --model_type qwen2_5 --train_type full --freeze_vit true --max_length 700\n";
    says(&[("r.sh", run)], json!({"freeze": ["vision_tower", "multi_modal_projector"]}), &["model"]);
    let unsloth = "swift sft --model Qwen/Qwen2.5-0.5B --train_type lora --tuner_backend unsloth --max_length 700\n";
    assert_eq!(read(&[("r.sh", unsloth)]).trainer.0, "unsloth");
}

#[test]
fn texts_that_follow_each_other_and_counts_in_chinese_are_read() {
    let two = "## cat ac.yaml\ncompute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 4\n\
        ## cat a.yaml\n# model\nmodel_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\nfinetuning_type: full\nper_device_train_batch_size: 3\n";
    let run = "accelerate launch --config_file ac.yaml src/train.py a.yaml\n";
    let imported = says(
        &[("post.md", &[run, two].concat())],
        json!({"num_gpus": 4, "method": "full", "per_device_train_batch_size": 3}),
        &[],
    );
    assert!(!kinds(&imported).iter().any(|kind| ["unknown_key", "missing_file"].contains(kind)));
    let script = "swift/cli/sft.py --model Qwen/Qwen2.5-0.5B --train_type full --max_length 700 --deepspeed zero2";
    for (said, count, gpu) in [
        ("在7卡上运行", 7, None),
        ("训练资源：32H800", 32, Some("h800-80gb")),
        ("4张3090lora微调", 4, Some("rtx-3090")),
        ("我有七张A800 80g", 7, Some("a800-80gb")),
        ("A800 7*80g 爆显存", 7, Some("a800-80gb")),
    ] {
        let imported =
            says(&[("post.md", &format!("{said}\n\n{script}\n"))], json!({"num_gpus": count, "max_length": 700}), &[]);
        if let Some(gpu) = gpu {
            assert_eq!(value(&imported, "gpu"), json!(gpu), "{said}");
        }
    }
    // The command says how many machines there are; a total in brackets is not counted for each.
    let machines = "使用2台4卡机器(8卡)\n\nFORCE_TORCHRUN=1 NNODES=2 NODE_RANK=0 llamafactory-cli train --stage sft --do_train \
        --model_name_or_path Qwen/Qwen2.5-0.5B --finetuning_type full\n";
    says(&[("post.md", machines)], json!({"num_gpus": 8}), &[]);
    let switch = "python src/train_bash.py --stage sft --finetuning_type full --model_name_or_path Qwen/Qwen2.5-0.5B --flash_attn y --bf16\n";
    says(&[("r.sh", switch)], json!({"attn_implementation": "flash_attention_2"}), &[]);
}
