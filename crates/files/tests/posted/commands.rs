//! What launch commands and recipes say of the machine: counts, releases, GPUs.

use serde_json::json;

use super::{read, value};

/// A count of GPUs by a pipeline is that of its list; one that nothing computes is no trainer's default.
#[test]
fn gpus_counted_by_a_pipeline_are_those_of_the_list() {
    let launch = |count: &str| {
        format!(
            "export CUDA_VISIBLE_DEVICES=0,1,2,3\nN_GPUS=$({count})\npython3 -m verl.trainer.main_ppo \\\n    \
             algorithm.adv_estimator=grpo data.train_batch_size=64 \\\n    \
             actor_rollout_ref.model.path=Qwen/Qwen3-4B trainer.n_gpus_per_node=${{N_GPUS}}\n"
        )
    };
    for count in [
        "echo $CUDA_VISIBLE_DEVICES | awk -F',' '{print NF}'",
        "awk -F, '{print NF}' <<< \"$CUDA_VISIBLE_DEVICES\"",
        "echo ${CUDA_VISIBLE_DEVICES} | tr ',' '\\n' | wc -l",
        "nvidia-smi -L | wc -l",
    ] {
        let found = read(&[("run.sh", &launch(count))]);
        assert_eq!(value(&found, "num_gpus"), json!(4), "{count}");
    }
    let unseen = launch("nvidia-smi -L | wc -l").replace("export CUDA_VISIBLE_DEVICES=0,1,2,3\n", "");
    assert!(read(&[("run.sh", &unseen)]).missing.contains(&"num_gpus"));
}

/// A script that only old releases have says the release, whose defaults are others.
#[test]
fn a_script_of_old_releases_says_the_release() {
    let launch = "python src/train_bash.py --stage sft --do_train --model_name_or_path Qwen/Qwen1.5-1.8B --template qwen \
                  --finetuning_type lora --lora_target q_proj,v_proj --per_device_train_batch_size 8 --fp16\n";
    let found = read(&[("run.sh", launch)]);
    assert_eq!(value(&found, "trainer.version"), json!("0.7.0"));
    assert_eq!(value(&found, "max_length"), json!(1024));
}

#[test]
fn hardware_that_a_job_asks_for_is_told() {
    let job = "#!/bin/bash\n#SBATCH --partition=gpu_h100\n#SBATCH --gres=gpu:1\n\
               python -m trl sft --model_name_or_path Qwen/Qwen3-8B\n";
    let found = read(&[("job.slurm", job)]);
    let said = value(&found, "gpu").to_string();
    assert!(said.contains("h100") || found.missing.contains(&"gpu"), "{said}");
    let of_amd = job.replace("#SBATCH --partition=gpu_h100\n", "module load rocm/6.3.1\n");
    let found = read(&[("job.slurm", &of_amd)]);
    assert!(found.findings.iter().any(|found| found.kind.id() == "other_device"));
}

/// torchtune trains all weights by preference in one recipe alone, which shards them.
#[test]
fn a_recipe_that_only_runs_sharded_asks_for_its_gpus() {
    let file = "model:\n  _component_: torchtune.models.llama3_2.llama3_2_3b\ntokenizer:\n  max_seq_len: 8192\n\
                checkpointer:\n  _component_: torchtune.training.FullModelHFCheckpointer\nbatch_size: 1\n\
                loss:\n  _component_: torchtune.rlhf.loss.DPOLoss\n  beta: 0.1\n";
    let found = read(&[("dpo.yaml", file)]);
    assert_eq!(value(&found, "distributed.framework"), json!("fsdp2"));
    assert!(found.missing.contains(&"num_gpus"));
}

/// Posts lose the backslashes that join a command's lines: its options are read all the same, and the reader hears of it.
#[test]
fn options_behind_a_line_without_its_backslash_are_the_command_s() {
    let script = "swift sft \\\n  --model Qwen/Qwen2.5-7B-Instruct \\\n  --dataset \n  --val_dataset \n  --deepspeed zero2 \\\n  \
                  --gradient_accumulation_steps 8 \\\n  --max_length 2048\n";
    let post = "I run\n\nNPROC_PER_NODE=7  \nswift sft  \n--model Qwen/Qwen2.5-7B-Instruct  \n--gradient_accumulation_steps 8  \n\
                --deepspeed zero2  \n--max_length 2048\n\nand it stops.\n";
    for (name, text) in [("run.sh", script), ("post.md", post)] {
        let found = read(&[(name, text)]);
        assert_eq!(value(&found, "gradient_accumulation_steps"), json!(8), "{name}");
        assert_eq!(value(&found, "max_length"), json!(2048), "{name}");
        assert_eq!(value(&found, "zero_stage"), json!(2), "{name}");
        assert!(found.findings.iter().any(|found| found.kind.id() == "lines_not_joined"), "{name}");
    }
    // A comment ends a command for the shell.
    let commented = "swift sft \\\n  --model Qwen/Qwen2.5-7B-Instruct \\\n# --packing true\n  --max_length 4096\n";
    let found = read(&[("run.sh", commented)]);
    assert!(found.findings.iter().any(|found| found.kind.id() == "command_cut"));
}

/// Options that only an old script of TRL had say its release.
#[test]
fn options_of_an_old_script_say_its_release() {
    let launch = "python examples/scripts/sft.py --model_name google/gemma-7b --batch_size 2 --use_peft --peft_lora_r 16 \
                  --peft_lora_alpha 32 --load_in_4bit\n";
    let found = read(&[("run.sh", launch)]);
    assert_eq!(value(&found, "trainer.version"), json!("0.7.0"));
    assert_eq!(value(&found, "gradient_checkpointing"), json!(false));
}

/// ms-swift trains GRPO against a reference unless it is told not to, and an engine that the script serves is another process's.
#[test]
fn what_stands_beside_a_policy_follows_its_trainer_and_its_script() {
    let swift =
        "swift rlhf --rlhf_type grpo --model Qwen/Qwen3-8B --train_type full --use_vllm true --num_generations 16\n";
    let found = read(&[("run.sh", swift)]);
    assert_eq!(value(&found, "beta"), json!(0.04));
    let served = "CUDA_VISIBLE_DEVICES=0 trl vllm-serve --model Qwen/Qwen3-8B &\n\
                  CUDA_VISIBLE_DEVICES=1,2 accelerate launch --num_processes 2 -m trl.scripts.grpo --model_name_or_path Qwen/Qwen3-8B \
                  --use_vllm True\n";
    let found = read(&[("run.sh", served)]);
    assert_eq!(value(&found, "rollout.vllm_mode"), json!("server"));
}

/// Sequences of a step, of a micro-batch and accumulation say how many GPUs there are.
#[test]
fn deepspeed_s_batches_say_how_many_gpus_there_are() {
    let file = "{\"zero_optimization\": {\"stage\": 3}, \"train_batch_size\": 2000, \"train_micro_batch_size_per_gpu\": 4, \
                \"gradient_accumulation_steps\": 100}";
    assert_eq!(value(&read(&[("ds_config.json", file)]), "num_gpus"), json!(5));
}

/// Marks that are pasted around a file of keys are none of it.
#[test]
fn marks_around_a_file_of_keys_are_none_of_it() {
    let keys = "base_model: Qwen/Qwen2.5-7B\nadapter: lora\nlora_r: 8\nsequence_len: 1024\nmicro_batch_size: 2\n";
    for (before, after) in [("'''\n", "'''\n"), ("```yaml\n", "```\n")] {
        let found = read(&[("train.yaml", &[before, keys, after].concat())]);
        assert_eq!(value(&found, "lora.r"), json!(8), "{before}");
    }
}

/// A script of Unsloth's that is only begun does not say its batch; one whose model stands elsewhere not what is trained.
#[test]
fn a_script_that_is_only_begun_asks_for_the_rest() {
    let model = "from unsloth import FastLanguageModel\nmodel, tokenizer = FastLanguageModel.from_pretrained(\n    \
                 model_name=\"unsloth/mistral-7b-bnb-4bit\", max_seq_length=1024, load_in_4bit=True)\n\
                 model = FastLanguageModel.get_peft_model(model, r=64)\n";
    assert!(read(&[("train.py", model)]).missing.contains(&"per_device_train_batch_size"));
    let trainer = "from unsloth import is_bfloat16_supported\nfrom trl import SFTTrainer\nfrom transformers import TrainingArguments\n\
                   trainer = SFTTrainer(model=model, args=TrainingArguments(per_device_train_batch_size=2, output_dir=\"o\"))\n";
    let found = read(&[("train.py", trainer)]);
    assert!(["model", "method"].iter().all(|field| found.missing.contains(field)), "{:?}", found.missing);
}

/// A sentence names the model where no setting does; two names are none.
#[test]
fn a_model_in_a_sentence_is_the_run_s() {
    let post = |sentence: &str| {
        let script = "```python\nfrom trl import GRPOConfig, GRPOTrainer\nargs = GRPOConfig(per_device_train_batch_size=8)\n\
                      trainer = GRPOTrainer(model=model_id, args=args)\n```\n";
        [sentence, "\n\n", script].concat()
    };
    let found = read(&[("post.md", &post("I train `DeepSeek-R1-Distill-Qwen-7B` on 2 x A100 (80GB)."))]);
    assert_eq!(value(&found, "model").to_string(), "\"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B\"");
    let found = read(&[("post.md", &post("Qwen2.5-7B runs, DeepSeek-R1-Distill-Qwen-7B does not."))]);
    assert!(found.missing.contains(&"model"));
}

/// verl's settings without its command are verl's, on the GPUs that the post names.
#[test]
fn settings_without_their_command_are_their_trainer_s() {
    let post = "On a 7b model with 4 GPUs it ends with oom.\n\ndata.train_batch_size=8 \\\ndata.max_prompt_length=400 \\\n\
                data.max_response_length=2048 \\\nactor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \\\n\
                actor_rollout_ref.actor.ppo_mini_batch_size=8 \\\nactor_rollout_ref.actor.fsdp_config.param_offload=True \\\n\
                actor_rollout_ref.rollout.name=vllm \\\nactor_rollout_ref.rollout.n=64 \\\n";
    let found = read(&[("post.md", post)]);
    assert_eq!(value(&found, "launched_by"), json!("verl"));
    assert_eq!(value(&found, "rollout.num_generations"), json!(64));
    assert_eq!(value(&found, "num_gpus"), json!(4));
}

/// What only one GPU contradicts is no fault of a sharded run whose number of GPUs is asked for.
#[test]
fn a_number_that_is_asked_for_contradicts_nothing() {
    let file = "base_model: Qwen/Qwen2-1.5B\nadapter: qlora\nload_in_4bit: true\nlora_r: 8\nlora_target_linear: true\n\
                sequence_len: 1024\nmicro_batch_size: 1\nbf16: true\nfsdp:\n  - full_shard\n  - auto_wrap\nfsdp_config:\n  \
                fsdp_state_dict_type: FULL_STATE_DICT\n  fsdp_transformer_layer_cls_to_wrap: Qwen2DecoderLayer\n";
    let found = read(&[("axolotl.yaml", file)]);
    assert!(found.missing.contains(&"num_gpus"));
    let errors: Vec<_> = found.findings.iter().filter(|found| found.kind.id() == "plan_problem").collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// A file that a script writes has the values of the script's variables; a line that a command would print is no key.
#[test]
fn a_file_that_a_script_writes_has_its_variables() {
    let script = "MAX_SEQ_LEN=4096\nRANK=256\nGLOBAL=16\nMICRO=1\nSTEPS=$((${GLOBAL}/${MICRO}))\nDATASETS=$(printf \"  - path: %s\\n\" a b)\n\
                  cat > axolotl.yaml << EOF\nbase_model: deepseek-ai/deepseek-coder-6.7b-instruct\ndatasets:\n${DATASETS}\n\
                  sequence_len: ${MAX_SEQ_LEN}\nadapter: lora\nlora_r: $RANK\nlora_target_linear: true\nmicro_batch_size: ${MICRO}\n\
                  gradient_accumulation_steps: ${STEPS}\nEOF\naccelerate launch --num_processes 1 -m axolotl.cli.train axolotl.yaml\n";
    let found = read(&[("run.sh", script)]);
    for (field, expected) in
        [("max_length", 4096), ("lora.r", 256), ("gradient_accumulation_steps", 16), ("per_device_train_batch_size", 1)]
    {
        assert_eq!(value(&found, field), json!(expected), "{field}");
    }
}

/// A paste may try to grow without an end: what variables put into a file is bounded.
#[test]
fn variables_grow_a_written_file_to_a_bound() {
    let script = ["X=", &"a".repeat(50_000), "\ncat > a.yaml << EOF\n", &"k: $X\n".repeat(20_000), "EOF\n"].concat();
    let found = read(&[("run.sh", &script)]);
    assert!(found.missing.contains(&"model") || !found.findings.is_empty());
}
