//! Files as people post them: each restated in its fewest lines, with what a person who knows the tool would enter.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::plan::field;
use headroom_files::import::{File, Import, import};
use serde_json::{Value, json};

fn read(files: &[(&str, &str)]) -> Import {
    let files: Vec<File> =
        files.iter().map(|(name, text)| File { name: (*name).to_owned(), text: (*text).to_owned() }).collect();
    import(&files)
}

/// The import of `files`, whose plan has these fields; what is missing is asked for, and else the plan can be estimated.
fn says(files: &[(&str, &str)], fields: Value, missing: &[&str]) -> Import {
    let imported = read(files);
    let name = files[0].0;
    for (key, expected) in fields.as_object().unwrap() {
        let found = field(key).unwrap_or_else(|| panic!("no field {key}")).value(&imported.plan);
        let is_same = match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
            _ => &found == expected,
        };
        assert!(is_same, "{name}: {key} is {found}, not {expected}: {:?}", imported.findings);
    }
    assert_eq!(imported.missing, missing, "{name}");
    if missing.is_empty() {
        assert!(Job::resolve(&imported.plan).is_ok(), "{name}: {:?}", imported.findings);
    }
    imported
}

fn unknown(imported: &Import) -> Vec<&str> {
    imported.unknown.iter().map(|unknown| unknown.key.as_str()).collect()
}

fn kinds(imported: &Import) -> Vec<&'static str> {
    imported.findings.iter().map(|finding| finding.kind.id()).collect()
}

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
fn settings_that_a_notebook_writes_are_those_of_the_file() {
    let cell = "import json\nargs = dict(stage='sft', model_name_or_path='Qwen/Qwen2.5-0.5B', finetuning_type='lora', lora_target='all',\n\
        template='qwen', dataset='d', per_device_train_batch_size=3, fp16=True)\njson.dump(args, open('t.json', 'w'))\n!llamafactory-cli train t.json\n";
    let notebook = json!({"cells": [{"cell_type": "code", "source": cell}], "nbformat": 4}).to_string();
    let fields = json!({"trainer.name": "llamafactory", "method": "lora", "per_device_train_batch_size": 3, "mixed_precision": "fp16"});
    let imported = says(&[("n.ipynb", &notebook)], fields, &[]);
    assert!(!kinds(&imported).contains(&"missing_file"), "{:?}", imported.findings);
    let script = "from llamafactory.train.tuner import run_exp\nrun_exp({'stage': 'sft', 'model_name_or_path': 'Qwen/Qwen2.5-0.5B',\n\
        'finetuning_type': 'full', 'template': 'qwen', 'dataset': 'd', 'cutoff_len': 512})\n";
    says(&[("r.py", script)], json!({"method": "full", "max_length": 512, "trainer.name": "llamafactory"}), &[]);
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
fn rows_of_rerankers_and_loaders_of_embedding_models() {
    let reranker = "torchrun --nproc_per_node 2 -m FlagEmbedding.finetune.reranker.encoder_only.base --model_name_or_path BAAI/bge-reranker-v2-m3 \
        --train_data d --train_group_size 8 --query_max_len 128 --passage_max_len 384 --per_device_train_batch_size 2 --fp16 --output_dir o\n";
    let fields =
        json!({"task": "sequence_classification", "max_length": 512, "per_device_train_batch_size": 16, "num_gpus": 2});
    let imported = says(&[("r.sh", reranker)], fields, &[]);
    assert!(imported.not_expressible.is_empty(), "{:?}", imported.not_expressible);
    let fit = "from sentence_transformers import SentenceTransformer, losses\nfrom torch.utils.data import DataLoader\n\
        model = SentenceTransformer('BAAI/bge-base-en-v1.5')\nmodel.max_seq_length = 256\nloader = DataLoader(rows, shuffle=True, batch_size=32)\n\
        model.fit(train_objectives=[(loader, losses.MultipleNegativesRankingLoss(model))], epochs=1, use_amp=True)\n";
    let fields =
        json!({"task": "embedding", "per_device_train_batch_size": 32, "max_length": 256, "mixed_precision": "fp16"});
    says(&[("f.py", fit)], fields, &[]);
}

#[test]
fn branches_that_ask_for_bf16_are_taken() {
    let script = |condition: &str| {
        format!(
            "import torch\nfrom transformers import AutoModelForCausalLM, TrainingArguments, Trainer\nif {condition}:\n    dtype = torch.bfloat16\n    \
             attention = 'flash_attention_2'\nelse:\n    dtype = torch.float16\n    attention = 'eager'\n\
             model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', torch_dtype=dtype, attn_implementation=attention)\n\
             Trainer(model=model, args=TrainingArguments(output_dir='o', bf16=True))\n"
        )
    };
    let fields = json!({"torch_dtype": "bfloat16", "attn_implementation": "flash_attention_2"});
    for condition in ["torch.cuda.get_device_capability()[0] >= 8", "torch.cuda.is_bf16_supported()", "major >= 8"] {
        let imported = says(&[("t.py", &script(condition))], fields.clone(), &[]);
        assert!(kinds(&imported).contains(&"assumed_bf16"), "{condition}");
    }
    // Of any other question nothing says which branch runs.
    let imported = read(&[("t.py", &script("use_flash"))]);
    assert!(!kinds(&imported).contains(&"assumed_bf16"));
    assert!(imported.not_expressible.iter().any(|listed| listed.key == "attn_implementation"));
}

#[test]
fn scripts_that_make_deepspeed_s_settings_themselves() {
    let chat = "deepspeed main.py --model_name_or_path Qwen/Qwen2.5-0.5B --max_seq_len 512 --per_device_train_batch_size 4 --zero_stage 3 \
        --offload --deepspeed --gradient_checkpointing --output_dir o\n";
    let fields = json!({"zero_stage": 3, "offload_optimizer": "cpu", "offload_param": "cpu", "distributed.framework": "deepspeed"});
    says(&[("c.sh", chat)], fields, &["num_gpus"]);
    let intern = "torchrun --nproc_per_node=2 finetune.py --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct --freeze_llm True --freeze_mlp True \
        --freeze_backbone True --use_llm_lora 16 --grad_checkpoint True --max_seq_length 4096 --output_dir o --conv_style x\n";
    let fields = json!({"method": "lora", "lora.r": 16, "lora.lora_alpha": 32, "gradient_checkpointing": true,
        "freeze": ["vision_tower", "multi_modal_projector"]});
    says(&[("i.sh", intern)], fields, &[]);
    let stored = "accelerate launch --use_fsdp --num_processes 2 train.py --model_name_or_path Qwen/Qwen2.5-0.5B --max_seq_len 1024 \
        --use_peft_lora True --use_4bit_quantization True --bnb_4bit_quant_storage_dtype bfloat16 --packing True --add_special_tokens False --output_dir o\n";
    says(&[("p.sh", stored)], json!({"method": "qlora", "torch_dtype": "bfloat16", "num_gpus": 2}), &[]);
}

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
fn scripts_with_a_rank_of_their_own_adapt() {
    let command = |more: &str| {
        format!(
            "torchrun --nproc_per_node 2 run_sft_with_peft.py --model_name_or_path Qwen/Qwen2.5-0.5B --dataset_dir d --output_dir o \
             --max_seq_length 512 --load_in_kbits 16 {more}\n"
        )
    };
    let fields = json!({"method": "lora", "lora.r": 64, "lora.modules_to_save": ["embed_tokens", "lm_head"], "max_length": 512,
        "lora.target_modules": ["q_proj", "v_proj"]});
    let adapts = command("--lora_rank 64 --trainable 'q_proj,v_proj' --modules_to_save 'embed_tokens,lm_head'");
    let imported = says(&[("r.sh", &adapts)], fields, &[]);
    assert!(unknown(&imported).is_empty() && imported.not_expressible.is_empty(), "{imported:?}");
    // TRL's own rank waits for its switch.
    says(&[("r.sh", &command("--lora_r 64"))], json!({"method": "full"}), &[]);
}

#[test]
fn plugins_of_an_accelerator_shard() {
    let script = |plugin: &str| {
        format!(
            "import torch\nfrom accelerate import Accelerator\nfrom transformers import AutoModelForCausalLM\nfrom torch.utils.data import DataLoader\n\
             plugin = {plugin}\naccelerator = Accelerator(mixed_precision='bf16', deepspeed_plugin=plugin)\n\
             model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\nloader = DataLoader(d, batch_size=2)\n"
        )
    };
    let run = "accelerate launch --num_processes 4 t.py\n";
    let zero = script("DeepSpeedPlugin(zero_stage=2, gradient_accumulation_steps=4, offload_optimizer_device='cpu')");
    let fields = json!({"zero_stage": 2, "offload_optimizer": "cpu", "gradient_accumulation_steps": 4, "num_gpus": 4});
    let imported = says(&[("t.py", &zero), ("r.sh", run)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    let fsdp = script(
        "FullyShardedDataParallelPlugin(sharding_strategy=ShardingStrategy.SHARD_GRAD_OP, cpu_offload=CPUOffload(offload_params=True))",
    );
    let fields = json!({"distributed.framework": "fsdp1", "distributed.sharding_strategy": "shard_grad_op", "distributed.cpu_offload": true});
    says(&[("t.py", &fsdp), ("r.sh", run)], fields, &[]);
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
fn a_configuration_that_is_commented_out_where_it_was_used_does_not_count() {
    let script = |line: &str| {
        format!(
            "from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer, TrainingArguments\nfrom peft import LoraConfig, get_peft_model\n\
             bnb = BitsAndBytesConfig(load_in_4bit=True)\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B',\n    {line}\n)\n\
             model = get_peft_model(model, LoraConfig(r=8))\nTrainer(model=model, args=TrainingArguments(output_dir='o'))\n"
        )
    };
    says(&[("t.py", &script("quantization_config=bnb"))], json!({"method": "qlora"}), &[]);
    says(&[("t.py", &script("# quantization_config=bnb"))], json!({"method": "lora"}), &[]);
}

#[test]
fn keys_that_many_scripts_have_are_no_trainer_s() {
    let fire = "torchrun --nproc_per_node=2 finetune.py --base_model Qwen/Qwen2.5-0.5B --data_path d --output_dir o --micro_batch_size 4 --num_epochs 3 \
        --cutoff_len 512 --val_set_size 200 --lora_r 8 --lora_target_modules '[q_proj,v_proj]' --train_on_inputs\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "method": "lora", "per_device_train_batch_size": 4, "max_length": 512,
        "lora.target_modules": ["q_proj", "v_proj"], "trainer.name": "transformers"});
    let imported = says(&[("f.sh", fire)], fields, &[]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    let axolotl = "base_model: Qwen/Qwen2.5-0.5B\nsequence_len: 512\nmicro_batch_size: 1\nbnb_config_kwargs:\n  llm_int8_has_fp16_weight: false\n\
        datasets:\n  - path: x\n";
    assert!(!kinds(&read(&[("a.yml", axolotl)])).contains(&"unknown_key"));
}

#[test]
fn what_a_script_does_to_weights_is_not_dropped() {
    let script = |quantization: &str, then: &str| {
        format!(
            "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nfrom peft import LoraConfig, get_peft_model\n\
             model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', quantization_config={quantization})\n{then}\
             Trainer(model=model, args=TrainingArguments(output_dir='o'))\n"
        )
    };
    let listed = |text: &str| -> Vec<String> {
        read(&[("t.py", text)]).not_expressible.into_iter().map(|listed| listed.key).collect()
    };
    let adapters = "model = get_peft_model(model, LoraConfig(r=8))\n";
    assert_eq!(listed(&script("GPTQConfig(bits=4)", adapters)), ["GPTQConfig"]);
    assert_eq!(listed(&script("Mxfp4Config()", adapters)), ["Mxfp4Config"]);
    assert_eq!(listed(&script("Mxfp4Config(dequantize=True)", adapters)), [] as [&str; 0]);
    let freezes = "for param in model.model.embed_tokens.parameters():\n    param.requires_grad = False\n";
    assert_eq!(listed(&script("None", freezes)), ["param.requires_grad"]);
    assert_eq!(listed(&script("None", "model.model.embed_tokens.requires_grad_(False)\n")).len(), 1);
    // Beside adapters it changes nothing.
    assert_eq!(listed(&script("None", &[freezes, adapters].concat())), [] as [&str; 0]);
}

#[test]
fn small_things_of_scripts() {
    let loop_of_own = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)\n";
    says(&[("l.py", loop_of_own)], json!({"optim": "adamw_torch_fused"}), &[]);
    let int8 = "from peft import LoraConfig, get_peft_model, prepare_model_for_int8_training\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', load_in_8bit=True)\nmodel = prepare_model_for_int8_training(model)\n\
        model = get_peft_model(model, LoraConfig(r=8))\nTrainer(model=model, args=TrainingArguments(output_dir='o'))\n";
    let fields =
        json!({"gradient_checkpointing": true, "quantization.prepare_for_kbit_training": true, "quantization.bits": 8});
    says(&[("i.py", int8)], fields, &[]);
    let answers = "from transformers import AutoModelForSeq2SeqLM, Seq2SeqTrainer, Seq2SeqTrainingArguments\n\
        model = AutoModelForSeq2SeqLM.from_pretrained('google-t5/t5-base')\ndef f(x):\n    a = tok(x['q'], max_length=512, truncation=True)\n    \
        a['labels'] = tok(text_target=x['a'], max_length=64, truncation=True)\n    return a\n\
        Seq2SeqTrainer(model=model, args=Seq2SeqTrainingArguments(output_dir='o', predict_with_generate=True))\n";
    let imported = read(&[("s.py", answers)]);
    let plan = &imported.plan;
    assert_eq!((plan.max_length, plan.max_target_length), (512, Some(64)));
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    let tokenizer = "from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments\n\
        model = AutoModelForSequenceClassification.from_pretrained('answerdotai/ModernBERT-base', num_labels=3)\n\
        tokenizer = AutoTokenizer.from_pretrained('answerdotai/ModernBERT-base', model_max_length=512)\n\
        Trainer(model=model, args=TrainingArguments(output_dir='o'))\n";
    says(&[("c.py", tokenizer)], json!({"max_length": 512, "num_labels": 3}), &[]);
    let ray = "from ray.train import ScalingConfig\nfrom ray.train.torch import TorchTrainer\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        def train():\n    model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n    \
        Trainer(model=model, args=TrainingArguments(output_dir='o', deepspeed={'zero_optimization': {'stage': 3}})).train()\n\
        TorchTrainer(train, scaling_config=ScalingConfig(num_workers=8, use_gpu=True)).fit()\n";
    says(&[("r.py", ray)], json!({"num_gpus": 8, "zero_stage": 3}), &[]);
    let handbook = "model_name_or_path: Qwen/Qwen2.5-0.5B\nuse_flash_attention_2: true\ndataset_mixer:\n  a: 1.0\nbeta: 0.01\noutput_dir: o\n";
    says(&[("dpo.yaml", handbook)], json!({"attn_implementation": "flash_attention_2", "task": "dpo"}), &[]);
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
    says(&[("m.py", modal)], json!({"gpu": "l40s"}), &[]);
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
fn printed_arguments_are_those_of_the_run() {
    let printed = "TrainingArguments(\n_n_gpu=1,\nbf16=True,\nfsdp=[],\ngradient_checkpointing=True,\noptim=OptimizerNames.PAGED_ADAMW_8BIT,\n\
        eval_strategy=IntervalStrategy.NO,\noutput_dir=./out,\nper_device_train_batch_size=4,\n)\n";
    let fields = json!({"optim": "paged_adamw_8bit", "per_device_train_batch_size": 4, "gradient_checkpointing": true, "mixed_precision": "bf16"});
    let imported = says(&[("log.txt", printed)], fields, &["model"]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
}

/// A script as people write them for TRL's parser: branches and values hang on what it parses.
const PARSED: &str = "from trl import DPOConfig, DPOTrainer, ModelConfig, TrlParser, get_peft_config\n\
    def main(model_args, training_args):\n    kwargs = dict(attn_implementation=model_args.attn_implementation,\n        \
    torch_dtype=model_args.torch_dtype if model_args.torch_dtype in ['auto', None] else getattr(torch, model_args.torch_dtype))\n    \
    if model_args.load_in_4bit:\n        kwargs['quantization_config'] = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type='nf4')\n    \
    if model_args.use_peft:\n        peft_config = get_peft_config(model_args)\n    else:\n        peft_config = None\n    \
    model = AutoModelForCausalLM.from_pretrained(model_args.model_name_or_path, **kwargs)\n    \
    if peft_config is None:\n        model_ref = AutoModelForCausalLM.from_pretrained(model_args.model_name_or_path, **kwargs)\n    \
    else:\n        model_ref = None\n    \
    trainer = DPOTrainer(model, ref_model=model_ref, args=training_args, peft_config=peft_config)\n\
    if __name__ == '__main__':\n    main(*TrlParser((ModelConfig, DPOConfig)).parse_args_and_config())\n";

#[test]
fn a_script_s_branches_are_those_of_the_file_that_it_parses() {
    let yaml = "model_name_or_path: Qwen/Qwen2.5-1.5B-Instruct\ntorch_dtype: bfloat16\nattn_implementation: flash_attention_2\n\
        max_length: 768\nper_device_train_batch_size: 3\nbf16: true\n";
    let full = json!({"model": "Qwen/Qwen2.5-1.5B-Instruct", "task": "dpo", "method": "full", "torch_dtype": "bfloat16",
        "attn_implementation": "flash_attention_2", "reference.kind": "copy"});
    says(&[("dpo.py", PARSED), ("dpo.yaml", yaml)], full, &[]);
    let adapts = [yaml, "use_peft: true\nload_in_4bit: true\nlora_r: 12\n"].concat();
    let fields = json!({"method": "qlora", "lora.r": 12, "quantization.quant_type": "nf4", "reference.kind": "auto"});
    says(&[("dpo.py", PARSED), ("dpo.yaml", &adapts)], fields, &[]);
    // The same in one report.
    let report = format!("my file:\n```yaml\n{yaml}```\nand the script\n```python\n{PARSED}```\n");
    says(&[("post.md", &report)], json!({"method": "full", "model": "Qwen/Qwen2.5-1.5B-Instruct"}), &[]);
    let grpo = "from trl import GRPOConfig, GRPOTrainer, ModelConfig, TrlParser, get_peft_config\nparser = TrlParser((ModelConfig, GRPOConfig))\n\
        model_args, training_args = parser.parse_args_and_config()\ntrainer = GRPOTrainer(model=model_args.model_name_or_path, args=training_args, \
        reward_funcs=[f], peft_config=get_peft_config(model_args))\n";
    let yaml = "model_name_or_path: Qwen/Qwen2.5-0.5B\nnum_generations: 6\nper_device_train_batch_size: 6\n";
    let fields = json!({"task": "grpo", "method": "full", "model": "Qwen/Qwen2.5-0.5B"});
    says(&[("grpo.py", grpo), ("grpo.yaml", yaml)], fields, &[]);
    says(&[("grpo.py", grpo), ("grpo.yaml", &[yaml, "use_peft: true\n"].concat())], json!({"method": "lora"}), &[]);
}

#[test]
fn adapters_that_nobody_asks_for_are_none() {
    let dpo = "from trl import DPOConfig, DPOTrainer, ModelConfig, TrlParser, get_peft_config\nparser = TrlParser((ModelConfig, DPOConfig))\n\
        model_args, training_args = parser.parse_args_and_config()\npeft_config = get_peft_config(model_args)\n\
        trainer = DPOTrainer(model=model_args.model_name_or_path, args=training_args, peft_config=peft_config)\n";
    let of = |command: &str, method: &str| {
        let fields = json!({"task": "dpo", "method": method, "model": "Qwen/Qwen2.5-0.5B"});
        says(&[("run.sh", command), ("tune_dpo.py", dpo)], fields, &[]);
    };
    for start in ["accelerate launch -m tune_dpo", "python -m code.tune_dpo", "torchrun --nproc_per_node 1 -m tune_dpo"]
    {
        let command = format!("{start} --model_name_or_path Qwen/Qwen2.5-0.5B --max_length 700");
        of(&command, "full");
        of(&[&command, " --use_peft"].concat(), "lora");
    }
    // trl's own default, where no command is there.
    says(&[("tune_dpo.py", dpo)], json!({"task": "dpo", "method": "full"}), &["model"]);
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
fn the_environment_s_defaults_are_values() {
    let script = "import os\nfrom trl import SFTConfig, SFTTrainer\nBASE = os.environ.get('BASE', 'Qwen/Qwen2.5-0.5B')\n\
        BATCH = int(os.getenv('BATCH', '3'))\nargs = SFTConfig(per_device_train_batch_size=BATCH, max_length=int(os.environ.get('LEN', 700)), \
        learning_rate=float(os.getenv('LR', '2e-5')))\ntrainer = SFTTrainer(model=BASE, args=args)\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 3, "max_length": 700});
    says(&[("t.py", script)], fields, &[]);
}

#[test]
fn what_a_script_does_not_use_trains_nothing() {
    let script = "from transformers import Trainer, TrainingArguments, AutoModelForCausalLM\nfrom peft import LoraConfig\n\
        peft_settings = LoraConfig(r=9)\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
        # model = get_peft_model(model, peft_settings)\ntrainer = Trainer(model=model, args=TrainingArguments(output_dir='o'))\n";
    says(&[("t.py", script)], json!({"method": "full"}), &[]);
    says(&[("t.py", &script.replace("# model", "model"))], json!({"method": "lora", "lora.r": 9}), &[]);
    // Adapters that are loaded to try them are quantised as nobody trained them.
    let tried = [
        &script.replace("# model", "model"),
        "from peft import AutoPeftModelForCausalLM\nmodel = AutoPeftModelForCausalLM.from_pretrained('o', \
        quantization_config={'load_in_4bit': True})\n",
    ]
    .concat();
    says(&[("t.py", &tried)], json!({"method": "lora"}), &[]);
}

#[test]
fn of_two_trainings_of_a_script_the_last_is_read() {
    let script = "from trl import SFTConfig, SFTTrainer, GRPOConfig, GRPOTrainer\n\
        SFTTrainer(model='Qwen/Qwen2.5-0.5B', args=SFTConfig(packing=True, max_length=333, per_device_train_batch_size=2)).train()\n\
        GRPOTrainer(model='Qwen/Qwen2.5-0.5B', reward_funcs=[f], args=GRPOConfig(num_generations=4, per_device_train_batch_size=4, \
        max_completion_length=96)).train()\n";
    let fields = json!({"task": "grpo", "packing": false, "per_device_train_batch_size": 4, "rollout.max_completion_length": 96});
    assert!(kinds(&says(&[("t.py", script)], fields, &[])).contains(&"trains_again"));
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
fn a_reference_that_is_loaded_and_set_to_evaluate_is_a_copy() {
    let script = "from trl import DPOTrainer, DPOConfig\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
        ref_model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B').eval()\n\
        DPOTrainer(model, ref_model, args=DPOConfig(output_dir='o'))\n";
    says(&[("d.py", script)], json!({"task": "dpo", "reference.kind": "copy"}), &[]);
}

/// A script that fills a class of its own and TRL's from what it is started with.
fn parses(class: &str) -> String {
    format!(
        "from dataclasses import dataclass, field\nfrom trl import {class}Config, {class}Trainer, ModelConfig, TrlParser\n\
        @dataclass\nclass Own:\n    dataset_id_or_path: str\n    max_seq_length: int = field(default=512)\n    gsm_ratio: float = 0.3\n\
        parser = TrlParser((ModelConfig, Own, {class}Config))\nmodel_args, own_args, training_args = parser.parse_args_and_config()\n\
        trainer = {class}Trainer(model=model_args.model_name_or_path, args=training_args, train_dataset=d)\n"
    )
}

#[test]
fn a_file_that_a_script_of_trl_parses_is_trl_s() {
    let yaml = "model_name_or_path: Qwen/Qwen2.5-0.5B\nper_device_train_batch_size: 4\nmax_completion_length: 96\nnum_generations: 4\n\
        max_prompt_length: 128\nvllm_device: auto\nuse_vllm: true\noutput_dir: o\ndataset_id_or_path: d\ngsm_ratio: 0.5\n";
    let script = parses("GRPO");
    let fields = || json!({"trainer.name": "trl", "trainer.version": "0.17.0", "task": "grpo", "rollout.max_prompt_length": 128});
    // As an option, alone on the line, as a module, or with no command at all; the script's name says nothing.
    for run in [
        "accelerate launch --num_processes 2 train.py --config g.yaml\n",
        "python train.py g.yaml\n",
        "nohup torchrun --nproc_per_node 2 src/train.py --config=conf/g.yaml > log 2>&1 &\n",
        "python -m src.train --config g.yaml\n",
    ] {
        let imported = says(&[("run.sh", run), ("g.yaml", yaml), ("train.py", &script)], fields(), &[]);
        let found = kinds(&imported);
        assert!(found.contains(&"release_implied") && !found.contains(&"unknown_key"), "{run}: {found:?}");
        assert_eq!(unknown(&imported), ["gsm_ratio"], "{run}");
    }
    says(&[("g.yaml", yaml), ("train.py", &script)], fields(), &[]);
    // Of a script that was not given, keys that TRL alone has say whose it is.
    let open = says(&[("run.sh", "python train.py --config g.yaml\n"), ("g.yaml", yaml)], fields(), &[]);
    assert!(!kinds(&open).contains(&"unknown_key"));
    assert!(kinds(&open).contains(&"missing_file"));
    let preferences = "model_name_or_path: Qwen/Qwen2.5-0.5B\nmax_length: 640\nmax_prompt_length: 320\noutput_dir: o\n";
    let dpo = parses("DPO");
    let run = "torchrun --nproc_per_node 2 train.py d.yaml\n";
    let fields = json!({"task": "dpo", "trainer.version": "0.28.0", "max_length": 640});
    says(&[("run.sh", run), ("d.yaml", preferences), ("train.py", &dpo)], fields, &[]);
    // The same parser reads the command itself.
    let run = "python train.py --model_name_or_path Qwen/Qwen2.5-0.5B --max_prompt_length 320 --max_length 640\n";
    says(&[("run.sh", run), ("train.py", &dpo)], json!({"trainer.version": "0.28.0"}), &[]);
}

#[test]
fn a_field_of_a_script_s_own_is_no_key_of_a_release() {
    let yaml = "model_name_or_path: Qwen/Qwen2.5-0.5B\nmax_seq_length: 640\ndataset_id_or_path: d\noutput_dir: o\n";
    let script = parses("SFT");
    let imported = read(&[("run.sh", "python train.py --config s.yaml\n"), ("s.yaml", yaml), ("train.py", &script)]);
    assert!(kinds(&imported).contains(&"release_assumed"), "{:?}", imported.findings);
    let theirs = script.replace("    max_seq_length: int = field(default=512)\n", "");
    let imported = read(&[("run.sh", "python train.py --config s.yaml\n"), ("s.yaml", yaml), ("train.py", &theirs)]);
    assert!(kinds(&imported).contains(&"release_implied"), "{:?}", imported.findings);
    // TRL's own command takes no others.
    let strict = read(&[("run.sh", "trl sft --config s.yaml\n"), ("s.yaml", yaml)]);
    assert!(kinds(&strict).contains(&"unknown_key"), "{:?}", strict.findings);
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
fn the_branch_of_a_script_s_mode_runs() {
    let run = |mode: &str, rest: &str| {
        format!(
            "#!/bin/bash\nMODE=\"{mode}\"\nEXTRA=\"--bf16\"\ncase \"$MODE\" in\n  dryrun|smoke)\n    BATCH=2\n    LEN=256\n    ;;\n  full*)\n    BATCH=8\n    LEN=4096\n    \
            EXTRA=\"$EXTRA --gradient_checkpointing\"\n    ;;\n  *) echo \"usage\" >&2; exit 1 ;;\nesac\n{rest}python run_clm.py --model_name_or_path \
            Qwen/Qwen2.5-0.5B --per_device_train_batch_size $BATCH --block_size $LEN $EXTRA --output_dir o\n"
        )
    };
    for (mode, batch, length, checkpointing) in
        [("${1:-dryrun}", 2, 256, false), ("full-node", 8, 4096, true), ("smoke", 2, 256, false)]
    {
        let fields = json!({"per_device_train_batch_size": batch, "max_length": length, "gradient_checkpointing": checkpointing});
        let imported = says(&[("run.sh", &run(mode, ""))], fields, &[]);
        assert!(imported.not_expressible.is_empty(), "{mode}: {:?}", imported.not_expressible);
    }
    // Of a mode that nobody knows what the branches share is taken; what differs is listed.
    let imported = read(&[("run.sh", &run("$1", ""))]);
    let listed: Vec<&str> = imported.not_expressible.iter().map(|listed| listed.key.as_str()).collect();
    assert_eq!(listed, ["$EXTRA", "per_device_train_batch_size", "block_size"], "{:?}", imported.not_expressible);
    let test = "if [ \"$MODE\" == full-node ]; then\n  BATCH=16\nelse\n  BATCH=1\nfi\n";
    says(&[("run.sh", &run("full-node", test))], json!({"per_device_train_batch_size": 16}), &[]);
}

#[test]
fn a_script_s_own_function_cuts_rows() {
    let script = |function: &str| {
        format!(
            "from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments\nMAX_LENGTH = 384\n\
            tokenizer = AutoTokenizer.from_pretrained('Qwen/Qwen2.5-0.5B')\n{function}\
            model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
            Trainer(model=model, args=TrainingArguments(output_dir='o', per_device_train_batch_size=2), train_dataset=d).train()\n"
        )
    };
    for function in [
        "def f(row):\n    return tokenizer(row['text'], max_length=MAX_LENGTH, truncation=True)\n",
        "def f(row):\n    input_ids = tokenizer(row['text'])['input_ids']\n    if len(input_ids) > MAX_LENGTH:\n        input_ids = input_ids[:MAX_LENGTH]\n    \
        return {'input_ids': input_ids}\n",
        "def f(row):\n    max_len = 384\n    input_ids = []\n    out = tokenizer(row['text'])\n    out['input_ids'] = out['input_ids'][:max_len]\n    return out\n",
        "def f(row):\n    ids = tokenizer.encode(row['text'])\n    return {'input_ids': ids[-MAX_LENGTH:]}\n",
        "block_size = 384\ndef group(rows):\n    return {k: [t[i : i + block_size] for i in range(0, n, block_size)] for k, t in rows.items()}\n",
    ] {
        says(&[("train.py", &script(function))], json!({"max_length": 384}), &[]);
    }
    // A slice of something else, or of no known length, cuts nothing.
    let other = "def f(row):\n    words = row['text'][:384]\n    input_ids = input_ids[:n]\n";
    let imported = says(&[("train.py", &script(other))], json!({}), &[]);
    assert!(!imported.understood.iter().any(|told| told.field == "max_length"), "{:?}", imported.understood);
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

#[test]
fn a_length_of_a_script_that_nobody_knows_is_of_no_release() {
    let yaml = "model_name_or_path: Qwen/Qwen2.5-0.5B\nmax_seq_length: 640\nuse_peft: true\noutput_dir: o\n";
    let run = |script: &str| format!("torchrun --nproc_per_node 2 {script} --config s.yaml\n");
    let imported = read(&[("run.sh", &run("mine.py")), ("s.yaml", yaml)]);
    assert!(!kinds(&imported).contains(&"release_implied"), "{:?}", imported.findings);
    assert_eq!(imported.plan.max_length, 640);
    // A script that is called after a method of TRL's is TRL's.
    let named = read(&[("run.sh", &run("run_sft.py")), ("s.yaml", yaml)]);
    assert!(kinds(&named).contains(&"release_implied"), "{:?}", named.findings);
}

#[test]
fn a_script_s_own_file_of_keys_is_read_as_the_script_reads_it() {
    let yaml = "model:\n  name: Qwen/Qwen2.5-0.5B\ntraining:\n  batch_size: 3\n  max_len: 640\n  args:\n    gradient_accumulation_steps: 5\n    output_dir: o\nlora:\n  r: 24\n";
    let script = |read: &str| {
        format!(
            "import yaml\nfrom peft import LoraConfig\nfrom trl import SFTConfig, SFTTrainer\n{read}\
            args = SFTConfig(per_device_train_batch_size=config['training']['batch_size'], max_length=config['training'].get('max_len', 100), \
            **config['training']['args'])\ntrainer = SFTTrainer(model=config['model']['name'], args=args, \
            peft_config=LoraConfig(r=config['lora']['r'], lora_alpha=config['lora'].get('alpha', 48)))\ntrainer.train()\n"
        )
    };
    let fields = || {
        json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 3, "max_length": 640, "gradient_accumulation_steps": 5,
        "lora.r": 24, "lora.lora_alpha": 48})
    };
    for read in [
        "config = yaml.safe_load(open('config.yaml'))\n",
        "with open('config.yaml') as file:\n    config = yaml.safe_load(file)\n",
        "def load_config(path):\n    with open(path) as file:\n        return yaml.safe_load(file)\nconfig = load_config('config.yaml')\n",
    ] {
        let script = script(read);
        let imported = says(&[("train.py", &script), ("config.yaml", yaml)], fields(), &[]);
        assert!(!kinds(&imported).contains(&"unrecognised"), "{read}: {:?}", imported.findings);
    }
    // A function takes it by its name, and attributes are keys.
    let inside = "from omegaconf import OmegaConf\nfrom trl import SFTConfig, SFTTrainer\ndef main(cfg):\n    args = SFTConfig(per_device_train_batch_size=cfg.training.batch_size, \
        max_length=cfg.training.max_len)\n    SFTTrainer(model=cfg.model.name, args=args).train()\nmain(OmegaConf.load('config.yaml'))\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 3, "max_length": 640});
    says(&[("train.py", inside), ("config.yaml", yaml)], fields, &[]);
    // The script's own dictionary likewise; flat keys of such a file are the script's, whatever TRL has by the name.
    let own = "from trl import SFTConfig, SFTTrainer\nCONFIG = {'model': 'Qwen/Qwen2.5-0.5B', 'batch': 7}\n\
        SFTTrainer(model=CONFIG['model'], args=SFTConfig(per_device_train_batch_size=CONFIG['batch'])).train()\n";
    says(&[("train.py", own)], json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 7}), &[]);
    let flat = "model_name: Qwen/Qwen2.5-0.5B\nmax_prompt_length: 512\nnum_generations: 4\n";
    let groups = "import yaml\nfrom trl import GRPOConfig, GRPOTrainer\ncfg = yaml.safe_load(open('config.yaml'))\n\
        args = GRPOConfig(num_generations=cfg['num_generations'], output_dir='o')\n\
        GRPOTrainer(model=cfg['model_name'], reward_funcs=[f], args=args).train()\n";
    let imported = says(
        &[("train.py", groups), ("config.yaml", flat)],
        json!({"model": "Qwen/Qwen2.5-0.5B", "rollout.num_generations": 4}),
        &[],
    );
    assert!(!kinds(&imported).contains(&"release_implied"), "{:?}", imported.findings);
}

#[test]
fn attributes_of_objects_are_the_run_s_options_and_keys() {
    // A function's parameter, an object's own object, a text that is split: by the class's default, the file, the command.
    let script = "from dataclasses import dataclass, field\nfrom peft import LoraConfig\nfrom transformers import AutoModelForCausalLM, BitsAndBytesConfig, HfArgumentParser\n\
        from trl import SFTTrainer, SFTConfig as Base\n@dataclass\nclass RunConfig(Base):\n    base_name: str = field(default='gpt2')\n    rank: int = field(default=4)\n    \
        four_bits: bool = field(default=False)\n    names: str = field(default='q_proj,v_proj')\n    bs: int = 2\n\n\
        def adapters(config: RunConfig):\n    names = config.names.split(',')\n    return LoraConfig(r=config.rank, target_modules=names)\n\n\
        class Run:\n    def load(self):\n        bits = BitsAndBytesConfig(load_in_4bit=self.config.four_bits)\n        \
        return AutoModelForCausalLM.from_pretrained(self.config.base_name, quantization_config=bits)\n\n\
        parser = HfArgumentParser(RunConfig)\nconfig = parser.parse_yaml_file('keys.yaml')[0]\n\
        SFTTrainer(model=Run(config).load(), args=config, peft_config=adapters(config)).train()\n";
    let yaml =
        "base_name: Qwen/Qwen2.5-0.5B\nrank: 24\nfour_bits: true\nper_device_train_batch_size: 3\noutput_dir: o\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "method": "qlora", "lora.r": 24, "lora.target_modules": ["q_proj", "v_proj"],
        "per_device_train_batch_size": 3});
    let imported = says(&[("train.py", script), ("keys.yaml", yaml)], fields, &[]);
    assert!(!kinds(&imported).contains(&"overridden"), "{:?}", imported.findings);
    // The defaults of a class that stands in another script; a value that differs between two stays unknown.
    let settings = "class Settings:\n    name: str = 'Qwen/Qwen2.5-0.5B'\n    bs: int = 5\n    steps: int = 2\n";
    let other = "class Others:\n    steps: int = 4\n";
    let uses = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nfrom settings import settings\n\
        model = AutoModelForCausalLM.from_pretrained(settings.name)\n\
        Trainer(model=model, args=TrainingArguments(per_device_train_batch_size=settings.bs, gradient_accumulation_steps=settings.steps)).train()\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 5});
    let imported = says(&[("train.py", uses), ("settings.py", settings), ("others.py", other)], fields, &[]);
    assert_eq!(imported.not_expressible.len(), 1, "{:?}", imported.not_expressible);
}

#[test]
fn what_is_computed_replaces_nothing() {
    let script = "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig(max_length=longest(rows), per_device_train_batch_size=sizes[0])\n\
        SFTTrainer(model='Qwen/Qwen2.5-0.5B', args=args).train()\n";
    let run = "python train.py --max_length 750\n";
    let imported = says(&[("run.sh", run), ("train.py", script)], json!({"max_length": 750}), &[]);
    assert!(!kinds(&imported).contains(&"overridden"), "{:?}", imported.findings);
    let weaker = "per_device_train_batch_size: 3\noutput_dir: o\nlearning_rate: 0.1\n";
    let files = [("train.py", script), ("keys.yaml", weaker)];
    let imported = says(&files, json!({"per_device_train_batch_size": 3}), &[]);
    assert!(!kinds(&imported).contains(&"overridden"), "{:?}", imported.findings);
    assert!(imported.not_expressible.iter().any(|listed| listed.key == "per_device_train_batch_size"));
}

#[test]
fn the_only_call_of_a_function_says_its_parameters() {
    let step = "from trl import SFTConfig, SFTTrainer\ndef tune(\n    data,\n    name: str,\n    batch: int = 2,\n    length: int = 640,\n    ) -> None:\n\n    \
        args = SFTConfig(per_device_train_batch_size=batch, max_length=length)\n\n    SFTTrainer(model=name, args=args).train()\n";
    let outer = "from step import tune\nfor turn in range(3):\n    model, other = tune(rows, name='Qwen/Qwen2.5-0.5B', batch=7)\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 7, "max_length": 640});
    says(&[("outer.py", outer), ("step.py", step)], fields, &[]);
}

#[test]
fn a_script_s_own_class_is_what_it_derives_from() {
    let loop_of = |class: &str| {
        format!(
            "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n{class}\
            model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
            args = TrainingArguments(per_device_train_batch_size=3)\n"
        )
    };
    let trainer = |files: &[(&str, &str)]| read(files).plan.trainer.name.name();
    // One that makes a Trainer, and one that is one.
    let makes = loop_of("class SFTTrainer:\n    def run(self):\n        Trainer(model=model, args=args).train()\n");
    let makes = format!("{makes}SFTTrainer().run()\n");
    assert_eq!(trainer(&[("train_sft.py", &makes)]), "transformers");
    let is =
        format!("{}DPOTrainer(model=model, args=args).train()\n", loop_of("class DPOTrainer(Trainer):\n    pass\n"));
    assert_eq!(trainer(&[("train.py", &is)]), "transformers");
    // One of a module beside the script; the command's name says nothing of a script that is given.
    let beside = format!("{}SFTTrainer(model).run()\n", loop_of("from .sft_trainer import SFTTrainer\n"));
    let run = "accelerate launch -m my_sft.train\n";
    assert_eq!(trainer(&[("run.sh", run), ("train.py", &beside)]), "transformers");
    // TRL's own by another name, and one that derives from it.
    let own = "from trl import SFTConfig, SFTTrainer as Base\nclass MyTrainer(Base):\n    pass\n\
        MyTrainer(model='Qwen/Qwen2.5-0.5B', args=SFTConfig(max_length=640)).train()\n";
    assert_eq!(trainer(&[("train.py", own)]), "trl");
}

#[test]
fn a_script_s_own_arguments_set_their_defaults_and_are_changed_once_parsed() {
    let script = "from dataclasses import dataclass, field\nfrom transformers import HfArgumentParser, TrainingArguments\nfrom trl import SFTTrainer\n\
        @dataclass\nclass Own(TrainingArguments):\n    max_length: int = field(default=640)\n    per_device_train_batch_size: int = 6\n    optim: str = 'sgd'\n    mine: int = 3\n\
        parser = HfArgumentParser(Own)\ntraining_args, = parser.parse_args_into_dataclasses()\n\
        training_args.optim = 'adamw_8bit'\ntraining_args.gradient_checkpointing = True\n\
        SFTTrainer(model='Qwen/Qwen2.5-0.5B', args=training_args).train()\n";
    let run = "python train.py --output_dir o --per_device_train_batch_size 3 --optim adafactor\n";
    let fields = json!({"max_length": 640, "per_device_train_batch_size": 3, "optim": "adamw_bnb_8bit", "gradient_checkpointing": true});
    let imported = says(&[("run.sh", run), ("train.py", script)], fields, &[]);
    // A default that the command replaces is no contradiction; what the script replaces is one.
    assert_eq!(kinds(&imported).iter().filter(|kind| **kind == "overridden").count(), 1, "{:?}", imported.findings);
}

#[test]
fn variables_of_the_environment_are_what_the_launch_exports() {
    let script = |condition: &str| {
        format!(
            "import os\nif \"CUDA_VISIBLE_DEVICES\" not in os.environ:\n    os.environ[\"CUDA_VISIBLE_DEVICES\"] = \"0\"\n\
            os.environ.setdefault(\"PYTORCH_CUDA_ALLOC_CONF\", \"expandable_segments:True\")\nfrom trl import SFTConfig, SFTTrainer\n\
            packs = {condition}\nargs = SFTConfig(packing=packs, max_length=int(os.environ.get('LENGTH', '100')), bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported())\n\
            SFTTrainer(model='Qwen/Qwen2.5-0.5B', args=args).train()\n"
        )
    };
    let run = |packs: &str| {
        format!(
            "export PACKS={packs} LENGTH=640\nexport CUDA_VISIBLE_DEVICES=1\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False\npython train.py\n"
        )
    };
    for (condition, packs, expected) in [
        ("os.environ.get('PACKS', '0') == '1'", "1", true),
        ("os.environ.get('PACKS', 'x').lower() in ('1', 'true')", "True", true),
        ("os.getenv('PACKS', '1') != '0'", "0", false),
        ("bool(int(os.environ.get('PACKS', '0')))", "1", true),
    ] {
        let fields =
            json!({"packing": expected, "max_length": 640, "mixed_precision": "bf16", "expandable_segments": false});
        let (run, script) = (run(packs), script(condition));
        let imported = says(&[("run.sh", &run), ("train.py", &script)], fields, &[]);
        assert!(!kinds(&imported).contains(&"overridden"), "{condition}: {:?}", imported.findings);
    }
    let alone = script("os.environ.get('PACKS', '1') == '1'");
    says(&[("train.py", &alone)], json!({"packing": true, "max_length": 100, "expandable_segments": true}), &[]);
}

#[test]
fn saved_adapters_are_what_their_own_file_says() {
    let script = "from peft import AutoPeftModelForCausalLM\nfrom trl import DPOConfig, DPOTrainer\n\
        model = AutoPeftModelForCausalLM.from_pretrained('me/adapter', is_trainable=True)\n\
        DPOTrainer(model=model, args=DPOConfig(max_length=640)).train()\n";
    let imported =
        says(&[("train.py", script)], json!({"method": "lora"}), &["model", "lora.r", "lora.target_modules"]);
    assert!(kinds(&imported).contains(&"missing_file"), "{:?}", imported.findings);
    let adapter = "{\"peft_type\": \"LORA\", \"r\": 24, \"target_modules\": [\"q_proj\"], \"base_model_name_or_path\": \"Qwen/Qwen2.5-0.5B\"}";
    let files = [("train.py", script), ("adapter_config.json", adapter)];
    says(&files, json!({"lora.r": 24, "lora.target_modules": ["q_proj"], "model": "Qwen/Qwen2.5-0.5B"}), &[]);
}

#[test]
fn of_several_classes_with_a_field_the_parameter_s_own_counts() {
    let config = "import yaml\nfrom dataclasses import dataclass\n@dataclass\nclass First:\n    steps: int = 2\n    rows: int = 3\n@dataclass\nclass Second:\n    steps: int = 4\n    rows: int = 5\n\n\
        def load_config(path):\n    with open(path) as file:\n        keys = yaml.safe_load(file)\n    return First(**keys.get('first', {})), Second(**keys.get('second', {}))\n";
    let yaml = "model: Qwen/Qwen2.5-0.5B\nfirst:\n  steps: 7\nsecond:\n  steps: 9\n";
    let script = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nfrom config import First\n\
        class Runner:\n    def __init__(self, config: First):\n        self.config = config\n\n    def run(self):\n        \
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n        \
        args = TrainingArguments(gradient_accumulation_steps=self.config.steps, per_device_train_batch_size=self.config.rows)\n        \
        Trainer(model=model, args=args).train()\n";
    let fields = json!({"gradient_accumulation_steps": 7, "per_device_train_batch_size": 3});
    says(&[("config.py", config), ("train.py", script), ("keys.yaml", yaml)], fields, &[]);
}

#[test]
fn of_several_scripts_the_one_that_trains_loads_the_model() {
    let asks = "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('gpt2', torch_dtype='float16')\n";
    let trains = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', torch_dtype='bfloat16')\n\
        trainer = Trainer(model=model, args=TrainingArguments(output_dir='o'))\ntrainer.train()\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "torch_dtype": "bfloat16"});
    says(&[("asks.py", asks), ("trains.py", trains)], fields, &[]);
}
