//! Reports: posts, logs, notebooks, and the GPUs that they name.

use headroom_core::plan::field;
use serde_json::{Value, json};

use super::{kinds, read, says, unknown};

#[test]
fn releases_are_read_off_what_people_add_to_a_report() {
    let script = "from trl import GRPOConfig, GRPOTrainer\nGRPOTrainer(model='Qwen/Qwen2.5-0.5B', reward_funcs=f, train_dataset=d,\n\
        args=GRPOConfig(output_dir='o', per_device_train_batch_size=8, max_prompt_length=256))\n";
    let fields = json!({"trainer.version": "0.15.2", "beta": 0.04, "software.torch": "2.6.0", "software.transformers": "4.49.0"});
    let list = "Package      Version\n------------ -------\naccelerate   1.4.0\ntorch        2.6.0+cu124\ntransformers 4.49.0\ntrl          0.15.2\n";
    let env = "- Platform: Linux-6.5.0\n- Python version: 3.10.12\n- TRL version: 0.15.2\n- PyTorch version (GPU?): 2.6.0 (True)\n\
        - `transformers` version: 4.49.0\n- DeepSpeed version: not installed\n";
    let report = format!("### System Info\n\n{env}\n### Reproduction\n\n```python\n{script}```\n");
    for (name, text) in [("pip.txt", list), ("env.txt", env)] {
        let imported = says(&[(name, text), ("t.py", script)], fields.clone(), &[]);
        assert!(!kinds(&imported).contains(&"unrecognised"), "{name}");
    }
    says(&[("report.md", &report)], fields, &[]);
    let factory = "- `llamafactory` version: 0.9.2.dev0\n- Transformers version: 4.46.1\n- PEFT version: 0.12.0\n";
    let yaml = "model_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\nfinetuning_type: full\ntemplate: qwen\ndataset: d\n";
    says(&[("env.txt", factory), ("f.yaml", yaml)], json!({"trainer.version": "0.9.2", "optim": "adamw_torch"}), &[]);
}

#[test]
fn logs_and_printed_settings_are_read() {
    let traced = "+ MODEL=Qwen/Qwen2.5-0.5B\n+ python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B \
        actor_rollout_ref.actor.ppo_micro_batch_size=64 actor_rollout_ref.actor.fsdp_config.grad_offload=True \
        actor_rollout_ref.rollout.log_prob_micro_batch_size=160 actor_rollout_ref.rollout.n=4 actor_rollout_ref.rollout.name=vllm \
        actor_rollout_ref.rollout.tensor_model_parallel_size=1 trainer.n_gpus_per_node=4\n2025-09-20 10:00:00,000 INFO Started Ray.\n";
    let fields = json!({"num_gpus": 4, "per_device_train_batch_size": 16, "logprob_batch_size": 40, "rollout.num_generations": 4});
    let imported = says(&[("log.txt", traced)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    let printed = "{'bf16': True,\n 'deepspeed': None,\n 'fsdp': [],\n 'gradient_checkpointing': True,\n 'max_seq_length': 2048,\n \
        'model_name_or_path': 'Qwen/Qwen2.5-0.5B',\n 'output_dir': 'o',\n 'packing': True,\n 'per_device_train_batch_size': 3}\n";
    let fields = json!({"per_device_train_batch_size": 3, "packing": true, "max_length": 2048, "distributed.framework": "deepspeed", "zero_stage": 0});
    says(&[("args.txt", printed)], fields, &[]);
    let installed =
        "Successfully installed accelerate-1.6.0 ms-swift-3.5.0 torch-2.6.0 transformers-4.51.3 trl-0.17.0\n";
    let script = "from trl import SFTConfig, SFTTrainer\nSFTTrainer(model='Qwen/Qwen2.5-0.5B', args=SFTConfig(output_dir='o'), train_dataset=d)\n";
    says(
        &[("pip.txt", installed), ("t.py", script)],
        json!({"trainer.version": "0.17.0", "software.torch": "2.6.0"}),
        &[],
    );
}

#[test]
fn the_gpu_is_the_one_that_a_file_states() {
    let train = "python t.py --model_name_or_path Qwen/Qwen2.5-0.5B --per_device_train_batch_size 2\n";
    let on = |before: &str| [before, train].concat();
    for (text, gpu) in [
        (on("#!/bin/bash\n#SBATCH --gres=gpu:l40s:1\n"), "l40s"),
        (on("#!/bin/bash\n#SBATCH --constraint=h200\n#SBATCH --gpus-per-node=1\n"), "h200"),
        (on("# 2*RTX3090\n"), "rtx-3090"),
        (on("# one H100, as most have it\n"), "h100-80gb"),
        (format!("GPU type: NVIDIA A800 80GB PCIe\n\n```\n{train}```\n"), "a800-80gb"),
        (format!("我用三张L40s训练\n\n```\n{train}```\n"), "l40s"),
        (format!("A100s, that is A100-SXM4-80GB\n\n```\n{train}```\n"), "a100-80gb"),
    ] {
        says(&[("job", &text)], json!({"gpu": gpu, "model": "Qwen/Qwen2.5-0.5B"}), &[]);
    }
    // There are two A100s, and what fits hangs on which it is.
    says(&[("j.sh", &on("#SBATCH --gpus-per-node=a100:1\n"))], json!({}), &["gpu"]);
    // SkyPilot calls the larger one A100-80GB.
    let sky = "resources:\n  accelerators: A100:1\nrun: |\n  python t.py --model_name_or_path Qwen/Qwen2.5-0.5B\n";
    says(&[("s.yaml", sky)], json!({"gpu": "a100-40gb"}), &[]);
    let modal = "@app.function(image=image, gpu=\"L40S\")\ndef train():\n    Trainer(model=AutoModelForCausalLM.from_pretrained('gpt2'),\n\
        \x20       args=TrainingArguments(per_device_train_batch_size=2))\n";
    says(&[("m.py", modal)], json!({"gpu": "l40s"}), &["max_length"]);
    let cells = json!({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": ["# Fine-tune on a single L4"]}, {"cell_type": "code",
        "source": ["UnslothTrainer(model='gpt2', args=UnslothTrainingArguments(per_device_train_batch_size=2, output_dir='o'))\n"]}]});
    says(
        &[("n.ipynb", &cells.to_string())],
        json!({"gpu": "l4", "per_device_train_batch_size": 2, "task": "sft"}),
        &[],
    );
    // What weighs several states none.
    let default = json!({"gpu": "a100-80gb"});
    for note in [
        "# Float16 for Tesla T4, V100, Bfloat16 for Ampere+\n",
        "# set to false if on a T4\n",
        "# RTX 3090, RTX 4090\n",
    ] {
        says(&[("t.sh", &on(note))], default.clone(), &[]);
    }
}

#[test]
fn a_report_is_read_whatever_stands_around_its_settings() {
    let yaml = "### model\nmodel_name_or_path: /data/qwen/Qwen2.5-0.5B\n\n### method\nstage: rm\nfinetuning_type: full\n\n### ddp\n\
        deepspeed: examples/deepspeed/ds_z3_config.json\ndataset: d\ntemplate: qwen\ncutoff_len: 8192\nbf16: true\n";
    let system = "### System Info\n\n- `llamafactory` version: 0.9.2.dev0\n- GPU type: NVIDIA L40\n- GPU number: 4\n\n### Reproduction\n\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "task": "reward", "zero_stage": 3, "max_length": 8192, "gpu": "l40", "num_gpus": 4});
    let fenced = format!("{system}```bash\n{yaml}```\n");
    let plain = format!("{system}{yaml}\nwhat do I do wrong?\n");
    says(&[("fenced.md", &fenced)], fields.clone(), &[]);
    says(&[("plain.md", &plain)], fields, &[]);
    let command = "CUDA_VISIBLE_DEVICES=0,1 \\\nNPROC_PER_NODE=2 \\\nswift sft \\\n--model Qwen/Qwen2.5-0.5B \\\n--train_type lora \\\n--dataset d\n\
        \nGPU：A800 * 8\n";
    says(&[("swift.md", command)], json!({"num_gpus": 2, "method": "lora", "gpu": "a800-80gb"}), &[]);
    let quoted = "I run ```CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train q.yaml``` where q.yaml is:\n\n```\nmodel_name_or_path: Qwen/Qwen2.5-0.5B\n\
        stage: sft\nfinetuning_type: full\ntemplate: qwen\ndataset: d\n```\n";
    says(&[("quoted.md", quoted)], json!({"num_gpus": 2, "method": "full", "trainer.name": "llamafactory"}), &[]);
}

#[test]
fn printed_arguments_are_those_of_the_run() {
    let printed = "TrainingArguments(\n_n_gpu=1,\nbf16=True,\nfsdp=[],\ngradient_checkpointing=True,\noptim=OptimizerNames.PAGED_ADAMW_8BIT,\n\
        eval_strategy=IntervalStrategy.NO,\noutput_dir=./out,\nper_device_train_batch_size=4,\n)\n";
    let fields = json!({"optim": "paged_adamw_8bit", "per_device_train_batch_size": 4, "gradient_checkpointing": true, "mixed_precision": "bf16"});
    let imported = says(&[("log.txt", printed)], fields, &["model", "method", "max_length"]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
}

#[test]
fn reports_fence_and_quote_as_they_like() {
    let keys = "model_name_or_path: /m/Qwen2.5-7B-Instruct\nstage: sft\nfinetuning_type: full\ntemplate: qwen\ncutoff_len: 640\n\
        deepspeed: examples/deepspeed/ds_z3_config.json\nper_device_train_batch_size: 3\n";
    let fields =
        || json!({"trainer.name": "llamafactory", "max_length": 640, "per_device_train_batch_size": 3, "num_gpus": 6});
    let cell = format!(
        "On 6x4090:\n```\n%%writefile /content/a.yaml\n\n{keys}```\n```\n!llamafactory-cli train /content/a.yaml\n```\n"
    );
    assert!(!kinds(&says(&[("p.md", &cell)], fields(), &[])).contains(&"missing_file"));
    let single = format!("6 * RTX 4090 are too small\n\n`{keys}`\n");
    says(&[("p.md", &single)], fields(), &[]);
    let quoted: String = keys.lines().map(|line| format!("> {line}\n")).collect();
    says(&[("p.md", &format!("我有六张4090\n{quoted}"))], fields(), &[]);
    says(&[("p.md", &format!("我有六张4090\n> {keys}"))], fields(), &[]);
    let bold = format!("六张4090\n{keys}packing:False\n\n**lora_alpha: 12\nlora_rank: 24**\n\n")
        .replace("type: full", "type: lora");
    says(&[("p.md", &bold)], json!({"lora.r": 24, "lora.lora_alpha": 12}), &[]);
    let titled =
        format!("6x4090\n```\nllamafactory-cli train examples/mine.yaml\n```\n**mine.yaml文件：**\n```\n{keys}```\n");
    assert!(!kinds(&says(&[("p.txt", &titled)], fields(), &[])).contains(&"missing_file"));
}

#[test]
fn a_log_shows_the_command_and_the_settings_that_were_read() {
    let log = "tune run --nproc_per_node 3 lora_finetune_distributed --config mine.yaml\nRunning with torchrun...\n\
        INFO:torchtune.utils._logging:Running LoRAFinetuneRecipeDistributed with resolved config:\n\nbatch_size: 5\ndtype: bf16\n\
        model:\n  _component_: torchtune.models.qwen2_5.lora_qwen2_5_7b_instruct\n  lora_attn_modules:\n  - q_proj\n  lora_rank: 24\n\
        tokenizer:\n  _component_: torchtune.models.qwen2_5.qwen2_5_tokenizer\n  max_seq_len: 2176\n\nINFO:torchtune:Set logging level\n";
    let fields = json!({"launched_by": "torchtune", "num_gpus": 3, "per_device_train_batch_size": 5, "lora.r": 24, "max_length": 2176});
    assert!(!kinds(&says(&[("log.txt", log)], fields, &[])).contains(&"missing_file"));
}

#[test]
fn commands_that_launchers_and_sentences_print_are_read() {
    let failed = "[2025-06-01 10:00:01,5] [ERROR] [launch.py:434:sigkill_handler] ['/e/bin/python', '-u', '-m', 'openrlhf.cli.train_sft', \
        '--local_rank=3', '--pretrain', 'Qwen/Qwen2.5-7B', '--max_len', '1792', '--micro_train_batch_size', '2', '--zero_stage', '2', \
        '--bf16'] exits with return code = 1\n";
    let fields = json!({"launched_by": "openrlhf", "model": "Qwen/Qwen2.5-7B", "max_length": 1792, "zero_stage": 2});
    says(&[("log.txt", failed)], fields, &["num_gpus"]);
    let called = "subprocess.CalledProcessError: Command '['/usr/bin/python3', 'run_clm.py', '--model_name_or_path', 'Qwen/Qwen2.5-0.5B', \
        '--per_device_train_batch_size', '7', '--block_size', '512', '--bf16']' returned non-zero exit status 1.\n";
    says(&[("text", called)], json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 7}), &[]);
    let sentence = "我用的命令是 gpus=0,1,2 deepspeed --include localhost:$gpus sft.py --model_name_or_path /m/Qwen2.5-7B-Instruct --use_peft True \
        --lora_rank 6 --fp16 --per_device_train_batch_size 2 报错如下\n";
    says(&[("p.md", sentence)], json!({"num_gpus": 3, "lora.r": 6, "mixed_precision": "fp16"}), &[]);
}

#[test]
fn gpus_of_sentences_are_counted_and_sized() {
    let yaml = "base_model: Qwen/Qwen2.5-7B\nadapter: lora\nlora_r: 8\nsequence_len: 512\nmicro_batch_size: 1\ndeepspeed: zero3.json\n";
    for (said, gpu, gpus) in [
        ("两张2080TI 不够", "rtx-2080-ti", 2),
        ("在4张L20(45G)上", "l20", 4),
        ("H200（141G）*8 训练", "h200", 8),
        ("8张A100(40G)", "a100-40gb", 8),
        ("A100（40G*8卡）", "a100-40gb", 8),
        ("OOM with 4x A40 48G", "a40", 4),
        ("my six 80G A800s run out", "a800-80gb", 6),
        ("2*RTX3090 (24G per card)", "rtx-3090", 2),
        ("Platform: Kaggle 2xT4", "t4", 2),
        ("16 H100s", "h100-80gb", 16),
        ("4 Nvidia-A100 GPUs each with 40gb", "a100-40gb", 4),
        ("It requires A100 or H100. I have two RTX-3090s. It fails", "rtx-3090", 2),
        ("a cluster with 8x V100's 16GB's", "v100-16gb", 8),
        ("8*A800 CPU memory is 250GB, train it for REINFORCE++", "a800-80gb", 8),
    ] {
        let post = format!("# {said}\n```yaml\n{yaml}```\n");
        let imported = read(&[("p.md", &post), ("zero3.json", "{\"zero_optimization\": {\"stage\": 3}}")]);
        assert_eq!(field("gpu").unwrap().value(&imported.plan), gpu, "{said}");
        assert_eq!(imported.plan.num_gpus, gpus, "{said}: {:?}", imported.findings);
    }
    let bare = read(&[("p.md", &format!("# 5090+64g内存报错\n```yaml\n{yaml}```\n"))]);
    assert_eq!(field("gpu").unwrap().value(&bare.plan), "rtx-5090");
    // One that the catalogue does not have is asked for.
    let other =
        read(&[("p.md", &format!("- CUDA device(s): NVIDIA vGPU-32GB, NVIDIA vGPU-32GB\n```yaml\n{yaml}```\n"))]);
    assert!(other.missing.contains(&"gpu"), "{:?}", other.missing);
    // Sizes that no sentence says, and two GPUs against each other, are asked for.
    for said in ["2x A100s", "8x H800 went well, on 8x H20 we get OOM"] {
        let imported = read(&[("p.md", &format!("# {said}\n```yaml\n{yaml}```\n"))]);
        assert!(imported.missing.contains(&"gpu"), "{said}: {:?}", imported.missing);
    }
}

#[test]
fn machines_that_a_script_leaves_open_leave_the_gpus_open() {
    let command = |nodes: &str| {
        format!(
            "torchrun --nproc_per_node 8 --nnodes {nodes} train.py --model_name_or_path Qwen/Qwen2.5-0.5B --deepspeed z.json \
            --per_device_train_batch_size 1 --output_dir o\n"
        )
    };
    let zero = ("z.json", "{\"zero_optimization\": {\"stage\": 3}}");
    says(&[("r.sh", &command("$WORKERS")), zero], json!({"zero_stage": 3}), &["num_gpus"]);
    says(&[("r.sh", &command("2")), zero], json!({"num_gpus": 16, "num_nodes": 2}), &[]);
    // Without shards a GPU needs the same on any number of machines.
    says(&[("r.sh", &command("$WORKERS").replace("--deepspeed z.json ", ""))], json!({"num_gpus": 8}), &[]);
    let verl = "NODES=TO_BE_FILLED\npython3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B \
        trainer.n_gpus_per_node=4 trainer.nnodes=$NODES actor_rollout_ref.rollout.log_prob_micro_batch_size=64\n";
    let imported = says(&[("v.sh", verl)], json!({"task": "grpo"}), &["num_gpus"]);
    assert_eq!(kinds(&imported).iter().filter(|kind| **kind == "bad_value").count(), 1);
    assert!(imported.not_expressible.iter().any(|listed| listed.key.ends_with("log_prob_micro_batch_size")));
}

#[test]
fn comments_in_backticks_are_none_and_options_alone_start_nothing() {
    let run = "torchrun --nproc_per_node 2 sft.py --model_name_or_path Qwen/Qwen2.5-0.5B --use_peft True --lora_dropout 0.1 \\\n  \\\n  \
        `# 显存` \\\n  --per_device_train_batch_size 5\n";
    says(&[("r.sh", run)], json!({"lora.lora_dropout": 0.1, "per_device_train_batch_size": 5}), &[]);
    let cut = "n=2\nNPROC_PER_NODE=$n \\\nswift sft \\\n  --model Qwen/Qwen2.5-7B-Instruct \\\n  # --lora_rank 4 \\\n  --max_length 100 \\\n  \
        --model_author swift \\\n  --model_name x\n我用两张A6000\n";
    let imported = says(&[("p.md", cut)], json!({"num_gpus": 2, "gpu": "rtx-a6000"}), &[]);
    assert!(kinds(&imported).contains(&"command_cut"));
}

#[test]
fn a_gpu_without_bf16_answers_the_script_s_question() {
    let script = "from unsloth import FastLanguageModel, is_bfloat16_supported\nfrom trl import SFTConfig, SFTTrainer\n\
        model, tokenizer = FastLanguageModel.from_pretrained(model_name='unsloth/Qwen2.5-0.5B', max_seq_length=512, dtype=None)\n\
        model = FastLanguageModel.get_peft_model(model, r=4)\n\
        SFTTrainer(model=model, args=SFTConfig(fp16=not is_bfloat16_supported(), bf16=is_bfloat16_supported()))\n";
    for (gpu, autocast) in [("Tesla T4", "fp16"), ("NVIDIA L4", "bf16")] {
        let post = format!("GPU: {gpu}\n```python\n{script}```\n");
        says(&[("p.md", &post)], json!({"mixed_precision": autocast}), &[]);
    }
}

/// A notebook of one cell of code, with what it printed and what its host was asked for.
fn notebook(code: &str, printed: &[&str], metadata: Value) -> String {
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let outputs: Vec<_> =
        printed.iter().map(|text| json!({"name": "stdout", "output_type": "stream", "text": lines(text)})).collect();
    let cells = json!([{"cell_type": "markdown", "metadata": {}, "source": ["Runs on a **free** Tesla T4 Colab instance\n"]},
        {"cell_type": "code", "metadata": {}, "source": lines(code), "outputs": outputs}]);
    json!({"cells": cells, "metadata": metadata, "nbformat": 4}).to_string()
}

const BY_UNSLOTH: &str = "from unsloth import FastLanguageModel\nfrom trl import SFTConfig, SFTTrainer\n\
    model, tokenizer = FastLanguageModel.from_pretrained(model_name='unsloth/Qwen2.5-0.5B', max_seq_length=512, dtype=None)\n\
    model = FastLanguageModel.get_peft_model(model, r=4)\nSFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=3)).train()\n";

#[test]
fn a_banner_says_the_gpu_and_what_it_cannot() {
    let older = "==((====))==  Unsloth: Fast Qwen2 patching release 2024.5\n   \\\\   /|    GPU: Tesla T4. Max memory: 14.748 GB. Platform = Linux.\n\
        O^O/ \\_/ \\    Pytorch: 2.3.0+cu121. CUDA = 7.5. CUDA Toolkit = 12.1.\n\\        /    Bfloat16 = FALSE. Xformers = 0.0.26. FA = False.\n";
    let newer = "==((====))==  Unsloth 2025.6.2: Fast Qwen2 patching. Transformers: 4.52.4.\n   \\\\   /|    NVIDIA L4. Num GPUs = 2. Max memory: 22.168 GB. Platform: Linux.\n\
        O^O/ \\_/ \\    Torch: 2.7.0+cu126. CUDA: 8.9. CUDA Toolkit: 12.6. Triton: 3.3.0\n\\        /    Bfloat16 = TRUE. FA [Xformers = 0.0.30. FA2 = False]\n";
    let stats = "GPU = NVIDIA A100-SXM4-40GB. Max memory = 39.557 GB.\n0.7 GB of memory reserved.\n";
    let table = "|   0  Tesla V100-SXM2-16GB           Off |   00000000:00:04.0 Off |                    0 |\n";
    for (printed, gpu, gpus, autocast) in [
        (older, "t4", 1, "fp16"),
        (newer, "l4", 2, "bf16"),
        (stats, "a100-40gb", 1, "bf16"),
        (table, "v100-16gb", 1, "fp16"),
    ] {
        let fields =
            || json!({"gpu": gpu, "num_gpus": gpus, "mixed_precision": autocast, "per_device_train_batch_size": 3});
        says(&[("u.ipynb", &notebook(BY_UNSLOTH, &[printed], json!({})))], fields(), &[]);
        // In a log beside the script.
        says(&[("log.txt", printed), ("u.py", BY_UNSLOTH)], fields(), &[]);
    }
    // A card that no catalogue has still has no bf16.
    let unknown = older.replace("Tesla T4", "NVIDIA CMP 90HX");
    let fields = json!({"mixed_precision": "fp16"});
    says(&[("u.ipynb", &notebook(BY_UNSLOTH, &[&unknown], json!({})))], fields, &["gpu"]);
}

#[test]
fn a_notebook_s_host_is_its_gpu_where_nothing_was_printed() {
    let colab = |kind: &str| json!({"accelerator": "GPU", "colab": {"gpuType": kind}});
    for (metadata, gpu) in [
        (colab("T4"), "t4"),
        (colab("A100"), "a100-40gb"),
        (colab("L4"), "l4"),
        (json!({"kaggle": {"accelerator": "nvidiaTeslaP100"}}), "p100"),
    ] {
        says(&[("n.ipynb", &notebook(BY_UNSLOTH, &[], metadata))], json!({"gpu": gpu}), &[]);
    }
    let printed = "GPU = NVIDIA L4. Max memory = 22.168 GB.\n";
    says(&[("n.ipynb", &notebook(BY_UNSLOTH, &[printed], colab("T4")))], json!({"gpu": "l4"}), &[]);
    // A stated format stays, whatever the GPU.
    let stated = BY_UNSLOTH.replace("=3)", "=3, bf16=True)");
    says(&[("n.ipynb", &notebook(&stated, &[], colab("T4")))], json!({"mixed_precision": "bf16"}), &[]);
}

#[test]
fn rented_machines_have_their_gpus() {
    let yaml = "base_model: Qwen/Qwen2.5-7B\nadapter: lora\nlora_r: 8\nsequence_len: 512\nmicro_batch_size: 1\ndeepspeed: zero3.json\n";
    let zero = ("zero3.json", "{\"zero_optimization\": {\"stage\": 3}}");
    for (said, gpu, gpus) in [
        ("We train on a p4d.24xlarge", "a100-40gb", 8),
        ("OOM on `ml.p5.48xlarge` (SageMaker)", "h100-80gb", 8),
        ("machine: a2-highgpu-4g on GCP", "a100-40gb", 4),
        ("Azure Standard_ND96amsr_A100_v4", "a100-80gb", 8),
        ("我用的是 g5.12xlarge", "a10g", 4),
    ] {
        let post = format!("# {said}\n```yaml\n{yaml}```\n");
        let imported = read(&[("p.md", &post), zero]);
        assert_eq!(field("gpu").unwrap().value(&imported.plan), gpu, "{said}");
        assert_eq!(imported.plan.num_gpus, gpus, "{said}: {:?}", imported.findings);
    }
    let sky = "resources:\n  cloud: aws\n  instance_type: g6e.12xlarge\nsetup: pip install axolotl\nrun: |\n  axolotl train a.yaml\n";
    let imported = read(&[("task.yaml", sky), ("a.yaml", yaml), zero]);
    assert_eq!(field("gpu").unwrap().value(&imported.plan), "l40s", "{:?}", imported.findings);
    assert_eq!(imported.plan.num_gpus, 4, "{:?}", imported.findings);
    // Two that are weighed against each other are none.
    let both = format!("# p4d.24xlarge is too small, p5.48xlarge works\n```yaml\n{yaml}```\n");
    assert!(read(&[("p.md", &both), zero]).missing.contains(&"gpu"));
}
