//! Parts of scripts, as issues show them: what they say, and what they leave open.

use serde_json::json;

use super::{kinds, read, says, value};

#[test]
fn code_without_a_fence_is_read() {
    let post = "I've got this error, it's strange (see below):\nfrom unsloth import FastLanguageModel\n\n# Load\nmodel, tokenizer = FastLanguageModel.from_pretrained(\n\
        \x20   model_name=\"unsloth/Qwen3-4B-Base\",\n    max_seq_length=1024,\n    load_in_4bit=True,\n)\nmodel = FastLanguageModel.get_peft_model(model, r=64)\n\n\
        error message:\nNotImplementedError    Traceback (most recent call last)\n----> 4 model, tokenizer = FastLanguageModel.from_pretrained(\n      5     model_name=\"x\",\n";
    let fields = json!({"model": "Qwen/Qwen3-4B-Base", "max_length": 1024, "method": "qlora", "lora.r": 64});
    for name in ["post.md", "pasted text"] {
        let imported = says(&[(name, post)], fields.clone(), &["per_device_train_batch_size"]);
        assert_eq!(imported.trainer.0, "unsloth");
    }
    let alone = "Loading fails:\n```\n%%capture\n!pip install unsloth\nfrom unsloth import FastLanguageModel\nmodel, tokenizer = FastLanguageModel.from_pretrained(\n\
        \x20   model_name = \"unsloth/Qwen3-4B\", max_seq_length = 512, full_finetuning = True)\n```\n";
    says(&[("post.md", alone)], json!({"max_length": 512, "method": "full"}), &["per_device_train_batch_size"]);
}

#[test]
fn blocks_of_one_program_are_read_as_one() {
    let post = "I load:\n```python\nmodel_id = 'Qwen/Qwen2.5-0.5B'\nmodel = AutoModelForCausalLM.from_pretrained(model_id, torch_dtype=torch.bfloat16)\n```\n\
        and train:\n```python\nbatch = 3\nargs = SFTConfig(output_dir='o', per_device_train_batch_size=batch, max_length=512)\n```\nwith\n\
        ```python\ntrainer = SFTTrainer(model=model, args=args, train_dataset=data, peft_config=LoraConfig(r=4))\n```\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "torch_dtype": "bfloat16", "per_device_train_batch_size": 3, "max_length": 512,
        "method": "lora", "lora.r": 4});
    says(&[("post.md", post)], fields, &[]);
}

#[test]
fn of_a_part_without_its_model_nobody_knows_the_method() {
    let trainer = "```python\ntrainer = Trainer(model=peft_model, train_dataset=data, args=TrainingArguments(output_dir='o',\n\
        per_device_train_batch_size=2, fp16=True))\n```\n";
    says(&[("post.md", trainer)], json!({"mixed_precision": "fp16"}), &["model", "method", "max_length"]);
    let installed = "`pip install --upgrade unsloth unsloth_zoo`\n```python\nargs = GRPOConfig(per_device_train_batch_size=8, num_generations=4,\n\
        max_completion_length=512, use_vllm=True)\n```\n";
    let imported = says(&[("post.md", installed)], json!({"task": "grpo"}), &["model", "method"]);
    assert_eq!(imported.trainer.0, "unsloth");
}

#[test]
fn what_a_script_computes_is_asked_for() {
    let script = "import os\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nfrom peft import LoraConfig, get_peft_model\n\
        from .settings import chosen\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
        model = get_peft_model(model, LoraConfig(r=chosen('rank'), target_modules=chosen('modules')))\n\
        rows = data.map(lambda row: tokenizer(row['text'], truncation=True, max_length=chosen('length')))\n\
        Trainer(model=model, args=TrainingArguments(output_dir='o', per_device_train_batch_size=chosen('batch')))\n";
    let missing = ["per_device_train_batch_size", "lora.r", "max_length", "lora.target_modules"];
    says(&[("t.py", script)], json!({"method": "lora"}), &missing);
}

#[test]
fn a_trainer_without_a_length_asks_for_it() {
    let script = |more: &str| {
        format!(
            "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
             {more}Trainer(model=model, args=TrainingArguments(output_dir='o'))\n"
        )
    };
    says(&[("t.py", &script(""))], json!({"method": "full"}), &["max_length"]);
    let cut = "rows = data.map(lambda row: tokenizer(row['text'], truncation=True, max_length=256))\n";
    says(&[("t.py", &script(cut))], json!({"max_length": 256}), &[]);
    // TRL's classes have one.
    let trl = "from trl import SFTConfig, SFTTrainer\nSFTTrainer(model='Qwen/Qwen2.5-0.5B', args=SFTConfig(output_dir='o'))\n";
    says(&[("t.py", trl)], json!({"max_length": 1024}), &[]);
}

#[test]
fn a_configuration_above_where_a_post_ends_is_used() {
    let post = "```python\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', load_in_4bit=True)\npeft_config = LoraConfig(r=4)\n```\n";
    says(&[("post.md", post)], json!({"method": "qlora", "lora.r": 4}), &["per_device_train_batch_size", "max_length"]);
    let post = post.replace("peft_config", "args = TrainingArguments(output_dir='o')\npeft_config");
    let imported = read(&[("post.md", &post)]);
    // transformers 5 takes no `load_in_4bit` there.
    assert!(kinds(&imported).contains(&"release_implied"), "{:?}", imported.findings);
    let within = post.replace("load_in_4bit=True", "quantization_config=BitsAndBytesConfig(load_in_4bit=True)");
    assert!(!kinds(&read(&[("post.md", &within)])).contains(&"release_implied"));
}

#[test]
fn a_trainer_s_tokenizer_says_how_old_it_is() {
    let trl = "from trl import SFTConfig, SFTTrainer\nSFTTrainer(model='Qwen/Qwen2.5-0.5B', args=SFTConfig(output_dir='o'), tokenizer=tokenizer)\n";
    says(&[("t.py", trl)], json!({"trainer.version": "0.15.0", "gradient_checkpointing": false}), &[]);
    let plain = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
        Trainer(model=model, args=TrainingArguments(output_dir='o'), tokenizer=tokenizer)\n";
    says(&[("t.py", plain)], json!({"trainer.version": "4.57.0", "torch_dtype": "float32"}), &["max_length"]);
}

#[test]
fn trl_recomputed_for_quantised_models_up_to_0_7_1() {
    let script = |version: &str| {
        format!(
            "# pip install trl=={version}\nfrom trl import SFTTrainer\nfrom transformers import TrainingArguments\n\
             SFTTrainer(model=AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', quantization_config=BitsAndBytesConfig(load_in_4bit=True)),\n\
             args=TrainingArguments(output_dir='o'), peft_config=LoraConfig(r=4), max_seq_length=512, tokenizer=tokenizer)\n"
        )
    };
    says(&[("t.py", &script("0.7.1"))], json!({"gradient_checkpointing": true}), &[]);
    says(&[("t.py", &script("0.7.2"))], json!({"gradient_checkpointing": false}), &[]);
}

#[test]
fn unsloth_s_engine_beside_supervised_training_is_told() {
    let script = "from unsloth import FastLanguageModel\nfrom trl import SFTConfig, SFTTrainer\n\
        model, tokenizer = FastLanguageModel.from_pretrained('unsloth/Qwen3-4B', max_seq_length=512, fast_inference=True)\n\
        model = FastLanguageModel.get_peft_model(model, r=8)\nSFTTrainer(model=model, args=SFTConfig(output_dir='o'))\n";
    let imported = read(&[("t.py", script)]);
    assert!(imported.not_expressible.iter().any(|listed| listed.key == "fast_inference"));
}

#[test]
fn the_first_ppo_of_trl_has_keys_of_its_own() {
    let script = "# pip install trl==0.7.1\nfrom trl import PPOConfig, PPOTrainer, AutoModelForCausalLMWithValueHead\n\
        config = PPOConfig(model_name='gpt2', steps=100, batch_size=16, mini_batch_size=2, ppo_epochs=4, init_kl_coef=0.2)\n\
        model = AutoModelForCausalLMWithValueHead.from_pretrained('gpt2')\nPPOTrainer(config, model, None, tokenizer, dataset=rows, optimizer=optimizer)\n";
    let imported = read(&[("t.py", script)]);
    assert_eq!(value(&imported, "per_device_train_batch_size"), 2);
    assert!(!kinds(&imported).contains(&"unknown_key"), "{:?}", imported.findings);
}

#[test]
fn names_come_from_modules_beside_and_from_settings_of_the_environment() {
    let script = "import config\nfrom config import MODEL\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained(MODEL)\nTrainer(model=model, args=TrainingArguments(output_dir='o', per_device_train_batch_size=config.BATCH))\n";
    let constants = "MODEL = 'Qwen/Qwen2.5-0.5B'\nBATCH = 3\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 3});
    says(&[("t.py", script), ("config.py", constants)], fields, &["max_length"]);
    let imported = read(&[("t.py", script)]);
    assert!(imported.missing.contains(&"model"));
    assert!(imported.findings.iter().any(|found| format!("{:?}", found.kind).contains("config.py")));
    let settings = "from pydantic_settings import BaseSettings, SettingsConfigDict\nclass Settings(BaseSettings):\n    model_config = SettingsConfigDict(env_file='.env', env_prefix='SFT_')\n\
        \x20   model_name: str\n    batch_size: int\n    max_length: int\nsettings = Settings()\n";
    let script = "from settings import settings\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained(settings.model_name)\nrows = data.map(lambda row: tokenizer(row, truncation=True, max_length=settings.max_length))\n\
        Trainer(model=model, args=TrainingArguments(output_dir='o', per_device_train_batch_size=settings.batch_size))\n";
    let environment = "# Model\nSFT_MODEL_NAME=Qwen/Qwen2.5-0.5B # small\nSFT_BATCH_SIZE=2\nSFT_MAX_LENGTH=640\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "per_device_train_batch_size": 2, "max_length": 640});
    says(&[("t.py", script), ("settings.py", settings), (".env", environment)], fields, &[]);
}

#[test]
fn downloads_name_the_model_and_a_first_load_need_not_be_the_policy() {
    let script = "from modelscope import snapshot_download\nfrom trl import DPOConfig, DPOTrainer\n\
        ref_model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-1.5B')\npath = snapshot_download('Qwen/Qwen2.5-0.5B', cache_dir='c')\n\
        model = AutoModelForCausalLM.from_pretrained(path, _attn_implementation='flash_attention_2')\n\
        DPOTrainer(model=model, ref_model=ref_model, args=DPOConfig(output_dir='o'))\n";
    let fields =
        json!({"model": "Qwen/Qwen2.5-0.5B", "attn_implementation": "flash_attention_2", "reference.kind": "copy"});
    says(&[("t.py", script)], fields, &[]);
}

#[test]
fn a_loop_beside_its_command_is_read() {
    let post = "OOM with 2xA6000.\n\n    from accelerate import Accelerator\n    accelerator = Accelerator(mixed_precision=\"bf16\", gradient_accumulation_steps=8)\n\
        \x20   model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-0.5B\", torch_dtype=torch.bfloat16)\n    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)\n\
        \x20   loader = DataLoader(ds, batch_size=4)\n    for batch in loader:\n        loss = model(**batch).loss\n        accelerator.backward(loss)\n        optimizer.step()\n\n\
        Launched by `accelerate launch --num_processes 2 train.py`.\n";
    let fields = json!({"trainer.name": "custom", "num_gpus": 2, "per_device_train_batch_size": 4, "gradient_accumulation_steps": 8, "optim": "adamw_torch"});
    says(&[("post.md", post)], fields, &["max_length"]);
}

#[test]
fn sentences_say_releases_and_a_failure_the_size_of_its_gpu() {
    let post = |sentence: &str| {
        format!(
            "{sentence}\n```python\nargs = SFTConfig(output_dir='o', max_length=64)\nSFTTrainer(model='Qwen/Qwen2.5-0.5B', args=args)\n```\n"
        )
    };
    let version = |sentence: &str| value(&read(&[("post.md", &post(sentence))]), "trainer.version");
    assert_eq!(version("I use trl 0.17.0, transformers version 4.51.3."), "0.17.0");
    assert_eq!(version("Fails since trl 0.17.0 on my machine."), version("Fails."));
    assert_eq!(version("trl 0.17.0 works but trl 0.18.0 fails"), version("Fails."));
    let failed = post(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB (GPU 0; 23.69 GiB total capacity; 20.81 GiB already allocated)",
    );
    says(&[("post.md", &failed)], json!({"max_length": 64}), &["gpu"]);
}

#[test]
fn gpus_of_sentences_count_where_no_command_is_shown() {
    let post = |more: &str| {
        format!(
            "I train on 4 A100 40GB.\n```python\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B'{more})\n\
             Trainer(model=model, args=TrainingArguments(output_dir='o'))\n```\n"
        )
    };
    says(&[("post.md", &post(""))], json!({"gpu": "a100-40gb", "num_gpus": 4}), &["max_length"]);
    says(&[("post.md", &post(", device_map='auto'"))], json!({"num_gpus": 1}), &["max_length"]);
}

#[test]
fn what_stands_for_a_configuration_that_is_not_shown() {
    let post = "```\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n...\nconfig = {\n    'lora_config': lora_config,\n    'gradient_accumulation_steps': 4,\n\
        \x20   'per_device_train_batch_size': 1,# from 2\n}\n...\nmodel = get_peft_model(model, peft_config)\n```\n";
    let fields = json!({"method": "lora", "per_device_train_batch_size": 1, "gradient_accumulation_steps": 4});
    says(&[("post.md", post)], fields, &["lora.r", "lora.target_modules", "max_length"]);
    let unknown = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
        Trainer(model=model, args=TrainingArguments(output_dir='o', max_seq_length=64))\n";
    assert!(kinds(&read(&[("t.py", unknown)])).contains(&"unknown_key"));
}

#[test]
fn a_script_that_asks_for_apple_s_device_asks_for_cuda_first() {
    let script = |ask: &str| {
        format!(
            "import torch\nfrom trl import SFTConfig, SFTTrainer\ndevice = {ask}\nSFTTrainer(model='Qwen/Qwen2.5-0.5B', args=SFTConfig(output_dir='o'))\n"
        )
    };
    let either =
        script("'cuda' if torch.cuda.is_available() else 'mps' if torch.backends.mps.is_available() else 'cpu'");
    assert!(!kinds(&read(&[("t.py", &either)])).contains(&"other_device"));
    assert!(kinds(&read(&[("t.py", &script("torch.backends.mps.is_available()"))])).contains(&"other_device"));
}

#[test]
fn names_of_options_choose_branches() {
    let script = "import argparse\nfrom trl import SFTConfig, SFTTrainer\nparser = argparse.ArgumentParser()\nparser.add_argument('--four', type=bool, default=False)\n\
        args = parser.parse_args()\nfour = args.four\nbnb = None\nif four:\n    bnb = BitsAndBytesConfig(load_in_4bit=True)\n\
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', quantization_config=bnb)\n\
        SFTTrainer(model=model, args=SFTConfig(output_dir='o'), peft_config=LoraConfig(r=4))\n";
    says(&[("t.py", script)], json!({"method": "lora"}), &[]);
    says(&[("t.py", script), ("r.sh", "python t.py --four True\n")], json!({"method": "qlora"}), &[]);
}

#[test]
fn a_notation_behind_a_fence_is_no_command() {
    let post = "```bash\ntorchrun --nproc_per_node=2 train.py\n```\n\n```python\n# train.py\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\nTrainer(model=model, args=TrainingArguments(output_dir='o', per_device_train_batch_size=3))\n```\n";
    let imported =
        says(&[("post.md", post)], json!({"num_gpus": 2, "per_device_train_batch_size": 3}), &["max_length"]);
    assert!(!kinds(&imported).contains(&"missing_file"), "{:?}", imported.findings);
}

#[test]
fn what_serves_or_is_loaded_afterwards_is_not_what_trains() {
    let cells = |code: &str| json!({"cells": [{"cell_type": "code", "source": code}], "nbformat": 4}).to_string();
    let served = cells(
        "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\nSFTTrainer(model=model, args=SFTConfig(output_dir='o', max_length=64))\n\
        !python -O -m vllm.entrypoints.openai.api_server --host 127.0.0.1 --model merged-sft --tensor-parallel-size 2\n",
    );
    let imported = says(&[("n.ipynb", &served)], json!({"model": "Qwen/Qwen2.5-0.5B", "num_gpus": 1}), &[]);
    assert!(imported.unknown.is_empty(), "{:?}", imported.unknown);
    let loaded = cells(
        "name = 'Qwen/Qwen2.5-0.5B'\nSFTTrainer(model=name, args=SFTConfig(output_dir='o', max_length=64))\n\
        model = AutoModelForCausalLM.from_pretrained('out/sft', load_in_4bit=True)\n",
    );
    says(&[("n.ipynb", &loaded)], json!({"model": "Qwen/Qwen2.5-0.5B", "method": "full"}), &[]);
}

#[test]
fn a_loop_without_a_loader_asks_for_its_batch_and_pasted_sentences_name_the_gpu() {
    let post = "```py\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', torch_dtype=torch.bfloat16)\nids = torch.randint(0, 10000, (2, 8192))\n\
        optimizer = AdamW(model.parameters(), lr=1e-4)\nmodel(input_ids=ids, labels=ids).loss.backward()\noptimizer.step()\n```\n";
    says(&[("post.md", post)], json!({"torch_dtype": "bfloat16"}), &["per_device_train_batch_size", "max_length"]);
    let pasted = "I am using ORPO on 1x L40S\n\norpo_args = ORPOConfig(\n    beta=0.1,\n    max_length=1024,\n    per_device_train_batch_size=2,\n)\n\n\
        trainer = ORPOTrainer(model='Qwen/Qwen2.5-0.5B', args=orpo_args)\n\nThe loss of this run is nan\n";
    let fields = json!({"gpu": "l40s", "task": "orpo", "max_length": 1024, "per_device_train_batch_size": 2});
    says(&[("pasted.txt", pasted)], fields, &[]);
}

#[test]
fn models_that_reward_are_told() {
    let script = "from reward_model import load_reward_model\nfrom trl import GRPOConfig, GRPOTrainer\nrm = load_reward_model('out/rm', device='cuda:1')\n\
        mood = pipeline('sentiment-analysis', model='lvwerra/distilbert-imdb')\nwriter = pipeline('text-generation', model='gpt2')\n\
        GRPOTrainer(model='Qwen/Qwen2.5-0.5B', reward_funcs=score, args=GRPOConfig(output_dir='o'))\n";
    let imported = read(&[("t.py", script)]);
    let listed: Vec<&str> = imported.not_expressible.iter().map(|listed| listed.key.as_str()).collect();
    assert_eq!(listed, ["load_reward_model", "pipeline"]);
}

#[test]
fn a_model_configuration_that_a_script_fills_is_read() {
    let script = |module: &str| {
        format!(
            "from trl import GRPOConfig, GRPOTrainer, get_peft_config\nfrom {module} import ModelConfig\n\
             model_config = ModelConfig(model_name_or_path='Qwen/Qwen2.5-0.5B', torch_dtype='bfloat16', use_peft=True, lora_r=4)\n\
             GRPOTrainer(model=model_config.model_name_or_path, args=GRPOConfig(output_dir='o'), peft_config=get_peft_config(model_config))\n"
        )
    };
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "torch_dtype": "bfloat16", "method": "lora", "lora.r": 4});
    says(&[("t.py", &script("trl"))], fields, &[]);
    assert!(read(&[("t.py", &script("mine"))]).missing.contains(&"model"));
}

#[test]
fn a_run_outside_of_fences_counts_before_snippets_about_it() {
    let run = "accelerate launch --multi_gpu --num_processes 4 examples/scripts/sft.py \\\n    --model_name_or_path Qwen/Qwen2.5-0.5B \\\n\
        \x20   --dataset_name d \\\n    --packing \\\n    --max_length 8192 \\\n    --per_device_train_batch_size 16 \\\n    --gradient_checkpointing \\\n    --bf16\n";
    let later = "\nIt runs with\n```\nper_device_eval_batch_size: 2\nper_device_train_batch_size: 2\n```\n";
    let fields = json!({"per_device_train_batch_size": 16, "max_length": 8192, "packing": true, "num_gpus": 4});
    says(&[("post.md", &[run, later].concat())], fields, &[]);
    let settings = "My settings:\nmodel_name_or_path: Qwen/Qwen2.5-0.5B\nnum_processes: 7\nbf16: true\nuse_vllm: true\nvllm_gpu_memory_utilization: 0.7\n\
        gradient_accumulation_steps: 16\ngradient_checkpointing: true\nmax_completion_length: 1024\nper_device_train_batch_size: 1\n\n\
        Try this:\n```python\nGRPOConfig(..., num_generations=7)\n```\n";
    let imported = read(&[("post.md", settings)]);
    assert_eq!(value(&imported, "gradient_accumulation_steps"), json!(16));
    assert_eq!(value(&imported, "rollout.max_completion_length"), json!(1024));
    // A program in a fence stays the run, whatever lines stand around it.
    let program = "seed: 1\nlr: 2\nwarmup: 3\n\n```python\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', torch_dtype='bfloat16')\n\
        args = SFTConfig(output_dir='o', per_device_train_batch_size=3, max_length=512)\ntrainer = SFTTrainer(model=model, args=args)\n```\n";
    says(&[("post.md", program)], json!({"per_device_train_batch_size": 3}), &[]);
}

#[test]
fn a_loaders_length_is_that_of_supervised_runs() {
    let script = |trainer: &str| {
        [
            "from unsloth import FastLanguageModel\nmodel, tokenizer = FastLanguageModel.from_pretrained('Qwen/Qwen3-4B', max_seq_length=2048, load_in_4bit=True)\n\
            model = FastLanguageModel.get_peft_model(model, r=8)\n",
            trainer,
            "\n",
        ]
        .concat()
    };
    let supervised = script("trainer = SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=2))");
    says(&[("t.py", &supervised)], json!({"max_length": 2048}), &[]);
    let preference = script("trainer = DPOTrainer(model=model, args=DPOConfig(per_device_train_batch_size=2))");
    says(&[("t.py", &preference)], json!({"task": "dpo", "max_length": 1024}), &[]);
}

#[test]
fn a_fallback_for_older_releases_says_no_release() {
    let script = "from trl import DPOConfig, DPOTrainer\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\nargs = DPOConfig(output_dir='o')\ntry:\n\
        \x20   trainer = DPOTrainer(model=model, args=args, processing_class=tokenizer)\nexcept TypeError:\n    trainer = DPOTrainer(model=model, args=args, tokenizer=tokenizer)\n";
    let imported = says(&[("t.py", script)], json!({"task": "dpo"}), &[]);
    assert!(!kinds(&imported).contains(&"release_implied"));
}

#[test]
fn releases_that_files_state_count() {
    let script = "trl sft --model_name_or_path Qwen/Qwen2.5-0.5B --dataset_name d\n";
    let project = "[project]\nname = \"p\"\ndependencies = [\n    \"trl (==0.15.0)\",\n]\n";
    says(&[("run.sh", script), ("pyproject.toml", project)], json!({"trainer.version": "0.15.0"}), &[]);
    let card = "axolotl version: `0.11.0.dev0`\n```yaml\nbase_model: Qwen/Qwen2.5-0.5B\nmicro_batch_size: 2\nsequence_len: 512\ndatasets:\n- path: d\n  type: alpaca\n```\n";
    assert_eq!(value(&read(&[("README.md", card)]), "trainer.version"), json!("0.11.0"));
    // transformers has no sdpa below torch 2.1.1.
    let old = "python 3.10, torch 2.0.1, transformers 4.40.0\n\n```\nswift sft --model Qwen/Qwen2.5-0.5B --train_type full --max_length 700\n```\n";
    says(&[("post.md", old)], json!({"attn_implementation": "eager", "software.torch": "2.0.1"}), &[]);
}
