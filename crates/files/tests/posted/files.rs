//! Files of keys, and what releases and stages they are of.

use headroom_core::job::Job;
use headroom_core::plan::field;
use serde_json::json;

use super::{kinds, read, says, unknown};

#[test]
fn a_command_in_a_variable_is_read_though_some_of_it_is_unknown() {
    let job = "#!/bin/bash\n#SBATCH --nodes=3\nGPUS=8\nhost=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n\
        export LAUNCHER=\"accelerate launch --config_file f.yaml --num_processes $((SLURM_NNODES * GPUS)) \\\n --num_machines $SLURM_NNODES \\\n \
        --machine_rank \\$SLURM_PROCID --main_process_ip $host\"\nexport RUN=\"train_sft.py --config r.yaml\"\nsrun bash -c \"$LAUNCHER $RUN\"\n";
    let accelerate = "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\nnum_machines: 1\nnum_processes: 8\n";
    let recipe =
        "model_name_or_path: Qwen/Qwen2.5-0.5B\ndataset_name: d\nmax_length: 8192\npacking: true\noutput_dir: o\n";
    let fields = json!({"num_gpus": 24, "num_nodes": 3, "distributed.framework": "fsdp2", "max_length": 8192, "packing": true,
        "trainer.name": "trl"});
    says(&[("job.slurm", job), ("f.yaml", accelerate), ("r.yaml", recipe)], fields, &[]);
}

#[test]
fn options_of_a_configuration_behind_it_are_no_files() {
    let tune = "tune run --nproc_per_node 4 full_finetune_distributed --config q.yaml batch_size=3 epochs=1\n";
    let yaml = "model:\n  _component_: torchtune.models.qwen2_5.qwen2_5_7b_instruct\ntokenizer:\n  _component_: torchtune.models.qwen2_5.qwen2_5_tokenizer\n\
        \x20 max_seq_len: 4096\noptimizer:\n  _component_: torch.optim.AdamW\n  fused: true\nbatch_size: 2\ndtype: bf16\ncompile: true\n\
        enable_activation_checkpointing: true\nlog_peak_memory_stats: true\nprofiler:\n  enabled: false\n";
    let fields = json!({"num_gpus": 4, "distributed.framework": "fsdp2", "per_device_train_batch_size": 3, "max_length": 4096,
        "launched_by": "torchtune", "optim": "adamw_torch_fused"});
    let imported = says(&[("t.sh", tune), ("q.yaml", yaml)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    // What the loop that stands for torchtune is not modelled with does not refuse the plan: it is told.
    assert!(imported.not_expressible.iter().any(|listed| listed.key == "compile"));
    let nowhere = tune.replace("--nproc_per_node 4 ", "");
    says(&[("t.sh", &nowhere), ("q.yaml", yaml)], json!({"distributed.framework": "fsdp2"}), &["num_gpus"]);
}

#[test]
fn a_file_of_one_trainer_s_keys_is_its_own_whatever_script_reads_it() {
    let yaml = "model_name_or_path: Qwen/Qwen2.5-0.5B\nquantization_bit: 4\nstage: sft\nfinetuning_type: lora\nlora_target: all\ntemplate: qwen\n\
        dataset: d\ncutoff_len: 1024\nbf16: true\n";
    let accelerate = "distributed_type: FSDP\nfsdp_config:\n  fsdp_offload_params: true\n  fsdp_sharding_strategy: FULL_SHARD\nnum_processes: 2\n";
    let run = "accelerate launch --config_file f.yaml src/train.py s.yaml\n";
    let fields = json!({"trainer.name": "llamafactory", "method": "qlora", "num_gpus": 2, "distributed.framework": "fsdp1",
        "distributed.cpu_offload": true, "quantization.bnb_4bit_quant_storage": "bfloat16"});
    says(&[("r.sh", run), ("f.yaml", accelerate), ("s.yaml", yaml)], fields, &[]);
}

#[test]
fn ms_swift_of_every_version() {
    let two = "swift sft --model_type qwen2_5-7b-instruct --sft_type lora --dtype AUTO --dataset d --max_length 2048 --lora_dropout_p 0.1 \
        --lora_target_modules ALL --batch_size 3 --use_flash_attn true --check_dataset_strategy warning\n";
    let fields = json!({"model": "Qwen/Qwen2.5-7B-Instruct", "method": "lora", "lora.lora_dropout": 0.1, "per_device_train_batch_size": 3,
        "lora.target_modules": "all-linear", "attn_implementation": "flash_attention_2", "torch_dtype": "bfloat16"});
    let imported = says(&[("two.sh", two)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    let python = "from swift.llm import TrainArguments, sft_main\nsft_main(TrainArguments(model='Qwen/Qwen2.5-0.5B', train_type='lora',\n\
        dataset=['d'], lora_rank=16, max_length=4096, torch_dtype='bfloat16'))\n";
    let fields = json!({"trainer.name": "ms-swift", "method": "lora", "lora.r": 16, "max_length": 4096});
    says(&[("three.py", python)], fields, &[]);
    let megatron = "NPROC_PER_NODE=2 megatron sft --load Qwen2.5-7B-Instruct-mcore --dataset d --tensor_model_parallel_size 2 \
        --micro_batch_size 4 --recompute_granularity full --max_length 2048 --save out --save_interval 9 --num_workers 4\n";
    let fields = json!({"model": "Qwen/Qwen2.5-7B-Instruct", "method": "full", "launched_by": "megatron", "num_gpus": 2,
        "per_device_train_batch_size": 4, "gradient_checkpointing": true});
    let imported = says(&[("megatron.sh", megatron)], fields, &[]);
    assert!(kinds(&imported).contains(&"trainer_not_modelled") && unknown(&imported).is_empty());
    let factory = "model_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\nfinetuning_type: full\ntemplate: qwen\ndataset: d\nuse_mca: true\n";
    says(&[("mca.yaml", factory)], json!({"launched_by": "megatron"}), &[]);
}

#[test]
fn unsloth_s_command_and_its_groups() {
    let command = "python unsloth-cli.py --model_name unsloth/llama-3-8b --max_seq_length 4096 --r 32 --lora_alpha 64 --bias none \
        --per_device_train_batch_size 4 --optim adamw_8bit --random_state 1 --save_model\n";
    let fields = json!({"launched_by": "unsloth", "method": "lora", "lora.r": 32, "lora.lora_alpha": 64, "max_length": 4096,
        "optim": "adamw_bnb_8bit"});
    let imported = says(&[("u.sh", command)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    let four = command.replace("--r 32", "--load_in_4bit --r 32");
    says(&[("u.sh", &four)], json!({"method": "qlora"}), &[]);
    let grpo = "from unsloth import FastLanguageModel\nfrom trl import GRPOConfig, GRPOTrainer\n\
        model, tok = FastLanguageModel.from_pretrained('Qwen/Qwen2.5-0.5B', max_seq_length=1024, fast_inference=True, gpu_memory_utilization=0.6)\n\
        model = FastLanguageModel.get_peft_model(model, r=8)\n\
        GRPOTrainer(model=model, reward_funcs=[f], args=GRPOConfig(per_device_train_batch_size=1, num_generations=6, max_prompt_length=256))\n";
    let fields = json!({"per_device_train_batch_size": 6, "rollout.vllm_mode": "colocate", "rollout.engine": "vllm"});
    says(&[("g.py", grpo)], fields, &[]);
    // Whole groups stay as they are.
    let whole =
        grpo.replace("per_device_train_batch_size=1", "per_device_train_batch_size=3, gradient_accumulation_steps=2");
    says(&[("g.py", &whole)], json!({"per_device_train_batch_size": 3}), &[]);
}

#[test]
fn openrlhf_s_harmless_arguments_are_known() {
    let command = "deepspeed --num_gpus 4 --module openrlhf.cli.train_sft --max_len 2048 --dataset d --input_key q --output_key a \
        --train_batch_size 64 --micro_train_batch_size 2 --max_samples 9 --pretrain Qwen/Qwen2.5-0.5B --save_path o --save_steps -1 \
        --max_epochs 1 --bf16 --learning_rate 5e-6 --load_checkpoint --packing_samples --gradient_checkpointing\n";
    let fields = json!({"launched_by": "openrlhf", "num_gpus": 4, "zero_stage": 2, "gradient_accumulation_steps": 8, "packing": true});
    let imported = says(&[("s.sh", command)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
}

#[test]
fn nemo_automodel_rows_that_are_not_packed_are_not() {
    let yaml = "step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 8\nmodel:\n  _target_: x.from_pretrained\n\
        \x20 pretrained_model_name_or_path: meta-llama/Llama-3.2-1B\npeft:\n  _target_: x.PeftConfig\n  dim: 8\n  match_all_linear: true\n  use_triton: true\n\
        packed_sequence:\n  packed_sequence_size: 0\nloss_fn:\n  _target_: x.loss.masked_ce.MaskedCrossEntropy\ncompile:\n  enabled: false\n";
    let launch = "uv run torchrun --nproc-per-node=8 nemo_automodel/recipes/llm/train_ft.py -c n.yaml\n";
    let fields = json!({"packing": false, "num_gpus": 8, "gradient_accumulation_steps": 1, "lora.r": 8, "launched_by": "nemo_automodel"});
    let imported = says(&[("n.yaml", yaml), ("r.sh", launch)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    assert!(imported.not_expressible.is_empty(), "{:?}", imported.not_expressible);
}

#[test]
fn a_file_of_deepspeed_that_is_called_after_its_stage_is_taken_for_it() {
    let stage = |name: &str| {
        let yaml = format!(
            "model_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\nfinetuning_type: full\ntemplate: qwen\ndataset: d\ndeepspeed: c/{name}\n"
        );
        let imported = read(&[("f.yaml", &yaml)]);
        (imported.plan.zero_stage, imported.plan.offload_param.name(), kinds(&imported).contains(&"shipped_file"))
    };
    assert_eq!(stage("ds_z3_offload.json"), (3, "cpu", true));
    assert_eq!(stage("ds_config_zero3.json"), (3, "none", true));
    assert_eq!(stage("ds_zero2_no_offload.json"), (2, "none", true));
    assert_eq!(stage("zero_stage1_config.json"), (1, "none", true));
    assert_eq!(stage("ds_config.json"), (0, "none", false));
    assert_eq!(stage("run_z30.json"), (0, "none", false));
}

#[test]
fn a_comment_within_a_command_cuts_it_and_is_told() {
    let command = "swift sft \\\n  --model Qwen/Qwen2.5-0.5B --train_type lora \\\n  # --target_modules all-linear \\\n  --max_length 512 --deepspeed zero3\n";
    let imported = read(&[("r.sh", command)]);
    let found = imported.findings.iter().find(|found| found.kind.id() == "command_cut").unwrap();
    assert_eq!((found.span.line, imported.plan.zero_stage), (4, 0));
    let whole = command.replace("  # --target_modules all-linear \\\n", "");
    let imported = read(&[("r.sh", &whole)]);
    assert!(!kinds(&imported).contains(&"command_cut") && imported.plan.zero_stage == 3);
}

#[test]
fn why_a_plan_cannot_be_estimated_stands_in_the_import() {
    let grpo = "from trl import GRPOConfig, GRPOTrainer\nargs = GRPOConfig(output_dir='o', per_device_train_batch_size=4)\n\
        GRPOTrainer(model='Qwen/Qwen3-0.6B', reward_funcs=f, args=args, train_dataset=d)\n";
    let compiled = "base_model: Qwen/Qwen2.5-0.5B\nsequence_len: 512\nmicro_batch_size: 1\ntorch_compile: true\ndatasets:\n  - path: x\n";
    let alone = "model_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\nfinetuning_type: lora\nlora_target: no_such\ntemplate: q\ndataset: d\n";
    for (name, text, line) in [("g.py", grpo, 2), ("a.yml", compiled, 4), ("l.yaml", alone, 4)] {
        let imported = read(&[(name, text)]);
        assert!(Job::resolve(&imported.plan).is_err());
        let reason = imported.findings.iter().find(|found| matches!(found.kind.id(), "plan_problem" | "not_modelled"));
        assert_eq!(
            reason.map(|found| (found.file, found.span.line)),
            Some((Some(0), line)),
            "{name}: {:?}",
            imported.findings
        );
    }
}

#[test]
fn what_a_folder_is_called_names_the_model() {
    for (name, model) in [
        ("/root/autodl-tmp/Qwen/Qwen2___5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct"),
        ("/root/data/Qwen.Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("out/qwen2.5-7b-instruct/v0-20241213-173805/checkpoint-1281", "Qwen/Qwen2.5-7B-Instruct"),
        (r"C:\hub\models--google--gemma-3-270m-it\snapshots\ac82b4e8", "google/gemma-3-270m-it"),
        ("LLM-Research/Llama-3.2-3B-Instruct", "meta-llama/Llama-3.2-3B-Instruct"),
    ] {
        let script = format!("SFTTrainer(model=r\"{name}\", args=SFTConfig(output_dir='o'))\n");
        says(&[("t.py", &script)], json!({"model": model}), &[]);
    }
    let two =
        "swift sft --model_type qwen2_5-7b-instruct --model_id_or_path /mnt/o/run-7 --sft_type lora --dataset d\n";
    says(&[("two.sh", two)], json!({"model": "Qwen/Qwen2.5-7B-Instruct"}), &[]);
}

#[test]
fn a_stage_that_no_file_says_is_asked_for() {
    let run = |settings: &str| {
        format!(
            "deepspeed --num_gpus 4 t.py --deepspeed {settings} --model_name_or_path Qwen/Qwen2.5-0.5B --bf16 True\n"
        )
    };
    says(
        &[("r.sh", &run("ds_config.json"))],
        json!({"num_gpus": 4, "distributed.framework": "deepspeed"}),
        &["zero_stage"],
    );
    says(&[("r.sh", &run("ds_zero2_no_offload.json"))], json!({"zero_stage": 2}), &[]);
    let given = ("ds_config.json", "{\"train_micro_batch_size_per_gpu\": 1, \"bf16\": {\"enabled\": true}}");
    says(&[("r.sh", &run("ds_config.json")), given], json!({"num_gpus": 4}), &[]);
    // accelerate's files are called after them, too.
    let launch = |file: &str| {
        format!(
            "accelerate launch --config_file c/{file}.yaml --num_processes 8 t.py --model_name_or_path Qwen/Qwen2.5-0.5B\n"
        )
    };
    let offloaded = json!({"zero_stage": 3, "offload_optimizer": "cpu", "offload_param": "cpu", "num_gpus": 8});
    says(&[("r.sh", &launch("zero3_offload"))], offloaded, &[]);
    says(&[("r.sh", &launch("my_fsdp2"))], json!({"distributed.framework": "fsdp2"}), &[]);
    let variables = "ACCELERATE_USE_FSDP=1 torchrun --nproc_per_node=4 t.py --model_name_or_path Qwen/Qwen2.5-0.5B\n";
    says(&[("r.sh", variables)], json!({"distributed.framework": "fsdp1"}), &[]);
}

#[test]
fn keys_of_earlier_releases_keep_their_meaning() {
    let trl = "accelerate launch --num_processes 1 examples/scripts/sft.py --model_name Qwen/Qwen2.5-0.5B --dataset_name d --batch_size 1 \
        --use_peft --peft_lora_r 24 --peft_lora_alpha 32 --target_modules q_proj k_proj --seq_length 777 --output o --use_auth_token false\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 1, "lora.r": 24, "max_length": 777,
        "lora.target_modules": ["q_proj", "k_proj"]});
    assert_eq!(unknown(&says(&[("t.sh", trl)], fields, &[])), [] as [&str; 0]);
    let factory = "python src/train_bash.py --stage dpo --model_name_or_path Qwen/Qwen2.5-0.5B --dataset d --template qwen --finetuning_type full \
        --dpo_beta 0.2 --dpo_ftx 1.0 --cutoff_len 512 --bf16 --flash_attn\n";
    let fields = json!({"task": "dpo", "beta": 0.2, "attn_implementation": "flash_attention_2"});
    assert_eq!(unknown(&says(&[("f.sh", factory)], fields, &[])), [] as [&str; 0]);
    let swift = "{\"model_id_or_path\": \"LLM-Research/Meta-Llama-3-8B-Instruct\", \"sft_type\": \"lora\", \"template_type\": \"llama3\", \"tp\": 1,\n\
        \"quantization_bit\": 0, \"additional_trainable_parameters\": [], \"batch_size\": 3, \"lora_rank\": 8, \"max_length\": 2048, \"dataset\": [\"d\"]}\n";
    let fields =
        json!({"trainer.name": "ms-swift", "method": "lora", "per_device_train_batch_size": 3, "max_length": 2048});
    assert_eq!(unknown(&says(&[("sft_args.json", swift)], fields, &[])), [] as [&str; 0]);
}

#[test]
fn a_deepspeed_file_that_is_only_named_is_its_trainers_own() {
    let axolotl = |file: &str| {
        format!(
            "base_model: Qwen/Qwen2.5-0.5B\ndatasets:\n  - path: d\n    type: alpaca\nsequence_len: 700\nmicro_batch_size: 1\ndeepspeed: deepspeed_configs/{file}\n"
        )
    };
    let moved = json!({"zero_stage": 2, "offload_optimizer": "cpu", "distributed.overlap_comm": true});
    says(&[("a.yaml", &axolotl("zero2.json"))], moved, &["num_gpus"]);
    let groups = json!({"zero_stage": 3, "offload_param": "none", "distributed.sub_group_size": 0,
        "distributed.stage3_max_live_parameters": 0, "distributed.stage3_max_reuse_distance": 0});
    says(&[("a.yaml", &axolotl("zero3_bf16.json"))], groups, &["num_gpus"]);
    let swift = "NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-0.5B --deepspeed zero2 --max_length 700\n";
    let buckets = json!({"zero_stage": 2, "offload_optimizer": "none", "distributed.reduce_bucket_size": 200_000_000});
    says(&[("s.sh", swift)], buckets, &[]);
    let factory = "model_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\ndo_train: true\nfinetuning_type: full\ntemplate: qwen\ncutoff_len: 700\n\
        deepspeed: examples/deepspeed/ds_z2_config.json\n";
    let rounds = json!({"zero_stage": 2, "distributed.round_robin_gradients": true, "distributed.overlap_comm": false});
    says(&[("f.yaml", factory)], rounds, &["num_gpus"]);
}

#[test]
fn a_script_that_nobody_knows_and_a_base_of_another_format_are_said() {
    let own = "accelerate launch --num_processes 2 mine.py --model Qwen/Qwen2.5-0.5B --scaling-factor 8 --max-train-steps 9\n";
    let imported = says(&[("r.sh", own)], json!({"num_gpus": 2}), &["per_device_train_batch_size", "max_length"]);
    assert!(kinds(&imported).contains(&"missing_file"));
    let gptq = "llamafactory-cli train --stage sft --model_name_or_path /m/Qwen1.5-72B-Chat-GPTQ-Int4 --finetuning_type lora --quantization_bit 4 \
        --template qwen --dataset d --cutoff_len 512\n";
    let imported = read(&[("r.sh", gptq)]);
    assert!(
        imported.not_expressible.iter().any(|listed| listed.key == "model_name_or_path"),
        "{:?}",
        imported.not_expressible
    );
    assert_eq!(imported.plan.method, headroom_core::plan::Method::Lora);
}

#[test]
fn a_bound_on_a_release_states_the_newest_below_it() {
    let run = |pin: &str| {
        format!(
            "pip install \"{pin}\" peft==0.11.1\ntrl sft --model_name_or_path Qwen/Qwen2.5-0.5B --dataset_name d --output_dir o\n"
        )
    };
    for (pin, version) in [
        ("trl<0.9", "0.8"),
        ("trl>=0.15,<0.19.1", "0.19.0"),
        ("trl<=0.17.0", "0.17.0"),
        ("trl<1.0", "0.29"),
        ("trl>=0.9,<1", "0.29"),
        ("trl[peft]<1.0.0", "0.29"),
        ("trl >= 0.9, < 0.12", "0.11"),
        ("trl!=0.19.0,<0.20.0", "0.19"),
    ] {
        says(&[("r.sh", &run(pin))], json!({"trainer.version": version}), &[]);
    }
    let free = read(&[("r.sh", &run("trl>=0.15"))]);
    assert!(kinds(&free).contains(&"release_assumed"));
}

#[test]
fn the_length_of_ms_swift_s_reinforcement_is_the_prompt_s() {
    let run = |rest: &str| {
        format!("swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-0.5B --dataset d --num_generations 4 {rest}\n")
    };
    let fields = json!({"rollout.max_prompt_length": 2048, "rollout.max_completion_length": 320});
    says(&[("r.sh", &run("--max_length 2048 --max_completion_length 320"))], fields.clone(), &[]);
    says(&[("r.sh", &run("--max_length 2048 --max_new_tokens 320"))], fields, &[]);
    let sft = "swift sft --model Qwen/Qwen2.5-0.5B --dataset d --max_length 2048\n";
    says(&[("r.sh", sft)], json!({"max_length": 2048}), &[]);
}

#[test]
fn bounds_of_images_in_tokens_are_pixels() {
    let run = |exports: &str, model: &str, rest: &str| {
        format!("{exports} \\\nswift sft --model {model} --dataset d --max_length 4096 {rest}\n")
    };
    let later = "Qwen/Qwen3-VL-4B-Instruct";
    for (exports, model, rest, pixels) in [
        ("IMAGE_MAX_TOKEN_NUM=1024", later, "", 1024 * 32 * 32),
        ("IMAGE_MAX_TOKEN_NUM=1024", "Qwen/Qwen2.5-VL-7B-Instruct", "", 1024 * 28 * 28),
        ("MAX_PIXELS=99999 IMAGE_MAX_TOKEN_NUM=256", later, "", 256 * 32 * 32),
        ("IMAGE_MAX_TOKEN_NUM=256", later, "--max_pixels 100352", 100_352),
        ("IMAGE_MAX_TOKEN_NUM=64", later, "--max_pixels 100352", 64 * 32 * 32),
    ] {
        let imported = read(&[("r.sh", &run(exports, model, rest))]);
        assert_eq!(
            field("images.max_pixels").unwrap().value(&imported.plan),
            json!(pixels),
            "{exports} {model} {rest}"
        );
    }
    let listed = |exports: &str, model: &str| -> Vec<String> {
        let imported = read(&[("r.sh", &run(exports, model, ""))]);
        imported.not_expressible.iter().map(|listed| listed.key.clone()).collect()
    };
    let others = "IMAGE_MIN_TOKEN_NUM=4 VIDEO_MAX_TOKEN_NUM=128 VIDEO_MIN_PIXELS=3136 FPS_MIN_FRAMES=4 MAX_SLICE_NUMS=4 NAME_OF_MINE=1";
    assert_eq!(
        listed(others, later),
        ["IMAGE_MIN_TOKEN_NUM", "VIDEO_MAX_TOKEN_NUM", "VIDEO_MIN_PIXELS", "FPS_MIN_FRAMES", "MAX_SLICE_NUMS"]
    );
    assert_eq!(listed("IMAGE_MAX_TOKEN_NUM=1024", "/m/own-vl"), ["IMAGE_MAX_TOKEN_NUM"]);
    // A model of text reads none of them.
    assert!(listed(others, "Qwen/Qwen2.5-0.5B").is_empty());
}

#[test]
fn keys_of_an_older_ms_swift_say_its_release() {
    let fields = |version: &str| json!({"trainer.name": "ms-swift", "trainer.version": version});
    for (run, version) in [
        (
            "swift sft --model_id_or_path Qwen/Qwen2.5-7B-Instruct --sft_type lora --lora_target_modules q_proj --dataset d",
            "2.6.0",
        ),
        ("swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset d --max_length 999", "4.0.0"),
        (
            "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --tools_prompt x --dataset d --max_length 999",
            "3.2.0",
        ),
    ] {
        let imported = says(&[("run.sh", run)], fields(version), &[]);
        let found = kinds(&imported);
        assert!(found.contains(&"release_not_modelled") && !found.contains(&"release_assumed"), "{run}: {found:?}");
        assert!(!found.contains(&"step_of_release"), "{run}: {found:?}");
    }
    // Of 2 the length is known, which since is the model's own.
    let earlier = "swift sft --model_type qwen2_5-7b-instruct --sft_type full --dataset d";
    says(&[("run.sh", earlier)], json!({"max_length": 2048, "trainer.version": "2.6.0"}), &[]);
    let newest = read(&[("run.sh", "swift sft --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora --dataset d")]);
    assert!(kinds(&newest).contains(&"release_assumed"), "{:?}", newest.findings);
    // A stated release that is older is said to be none that is modelled; one that has lost the key stops the run.
    let pinned = read(&[(
        "run.sh",
        "pip install ms-swift==3.5.0\nswift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset d",
    )]);
    assert!(kinds(&pinned).contains(&"release_not_modelled"), "{:?}", pinned.findings);
    let stops = read(&[(
        "run.sh",
        "pip install ms-swift==4.6.0\nswift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset d",
    )]);
    assert!(kinds(&stops).contains(&"removed_key"), "{:?}", stops.findings);
}
