//! Scripts: what they hand to their trainers, and what they only mention.

use serde_json::json;

use super::{kinds, read, says, unknown};

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
        let imported = says(&[("t.py", &script(condition))], fields.clone(), &["max_length"]);
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
    let imported = says(&[("t.py", &zero), ("r.sh", run)], fields, &["max_length"]);
    assert_eq!(unknown(&imported), [] as [&str; 0]);
    let fsdp = script(
        "FullyShardedDataParallelPlugin(sharding_strategy=ShardingStrategy.SHARD_GRAD_OP, cpu_offload=CPUOffload(offload_params=True))",
    );
    let fields = json!({"distributed.framework": "fsdp1", "distributed.sharding_strategy": "shard_grad_op", "distributed.cpu_offload": true});
    says(&[("t.py", &fsdp), ("r.sh", run)], fields, &["max_length"]);
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
    says(&[("t.py", &script("quantization_config=bnb"))], json!({"method": "qlora"}), &["max_length"]);
    says(&[("t.py", &script("# quantization_config=bnb"))], json!({"method": "lora"}), &["max_length"]);
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
    says(
        &[("l.py", loop_of_own)],
        json!({"optim": "adamw_torch_fused"}),
        &["per_device_train_batch_size", "max_length"],
    );
    let int8 = "from peft import LoraConfig, get_peft_model, prepare_model_for_int8_training\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', load_in_8bit=True)\nmodel = prepare_model_for_int8_training(model)\n\
        model = get_peft_model(model, LoraConfig(r=8))\nTrainer(model=model, args=TrainingArguments(output_dir='o'))\n";
    let fields =
        json!({"gradient_checkpointing": true, "quantization.prepare_for_kbit_training": true, "quantization.bits": 8});
    says(&[("i.py", int8)], fields, &["max_length"]);
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
    says(&[("r.py", ray)], json!({"num_gpus": 8, "zero_stage": 3}), &["max_length"]);
    let handbook = "model_name_or_path: Qwen/Qwen2.5-0.5B\nuse_flash_attention_2: true\ndataset_mixer:\n  a: 1.0\nbeta: 0.01\noutput_dir: o\n";
    says(&[("dpo.yaml", handbook)], json!({"attn_implementation": "flash_attention_2", "task": "dpo"}), &[]);
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
    says(&[("t.py", script)], json!({"method": "full"}), &["max_length"]);
    says(&[("t.py", &script.replace("# model", "model"))], json!({"method": "lora", "lora.r": 9}), &["max_length"]);
    // Adapters that are loaded to try them are quantised as nobody trained them.
    let tried = [
        &script.replace("# model", "model"),
        "from peft import AutoPeftModelForCausalLM\nmodel = AutoPeftModelForCausalLM.from_pretrained('o', \
        quantization_config={'load_in_4bit': True})\n",
    ]
    .concat();
    says(&[("t.py", &tried)], json!({"method": "lora"}), &["max_length"]);
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
    let imported = says(&[("train.py", &script(other))], json!({}), &["max_length"]);
    assert!(!imported.understood.iter().any(|told| told.field == "max_length"), "{:?}", imported.understood);
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
    let files = [("train.py", uses), ("settings.py", settings), ("others.py", other)];
    let imported = says(&files, fields, &["max_length"]);
    assert_eq!(imported.not_expressible.len(), 1, "{:?}", imported.not_expressible);
}

#[test]
fn what_is_computed_replaces_nothing() {
    let script = "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig(max_length=longest(rows), per_device_train_batch_size=sizes[0])\n\
        SFTTrainer(model='Qwen/Qwen2.5-0.5B', args=args).train()\n";
    let run = "python train.py --max_length 750\n";
    let batch = ["per_device_train_batch_size"];
    let imported = says(&[("run.sh", run), ("train.py", script)], json!({"max_length": 750}), &batch);
    assert!(!kinds(&imported).contains(&"overridden"), "{:?}", imported.findings);
    let weaker = "per_device_train_batch_size: 3\noutput_dir: o\nlearning_rate: 0.1\n";
    let files = [("train.py", script), ("keys.yaml", weaker)];
    let imported = says(&files, json!({"per_device_train_batch_size": 3}), &["max_length"]);
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
    says(&[("config.py", config), ("train.py", script), ("keys.yaml", yaml)], fields, &["max_length"]);
}

#[test]
fn of_several_scripts_the_one_that_trains_loads_the_model() {
    let asks = "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('gpt2', torch_dtype='float16')\n";
    let trains = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B', torch_dtype='bfloat16')\n\
        trainer = Trainer(model=model, args=TrainingArguments(output_dir='o'))\ntrainer.train()\n";
    let fields = json!({"model": "Qwen/Qwen2.5-0.5B", "torch_dtype": "bfloat16"});
    says(&[("asks.py", asks), ("trains.py", trains)], fields, &["max_length"]);
}
