//! Scripts that start scripts, loops over runs, commands as lists of words, and what sentences say of GPUs.

use serde_json::json;

use super::{kinds, read, says, unknown, value};

const COMMAND: &str = "torchrun --nproc_per_node $gpus train.py --model_name_or_path $model --max_seq_length 2048 \\\n  \
                       --per_device_train_batch_size ${bsz:-2} --bf16 --use_peft false\n";

/// What a caller gives goes through the loop in which the script reads it.
#[test]
fn options_go_through_the_script_that_reads_them() {
    let loops = [
        "while [[ $# -gt 0 ]]; do\n  case \"$1\" in\n    --gpus) gpus=\"$2\"; shift 2;;\n    -m|--model)\n      model=$2\n      \
         shift\n      shift\n      ;;\n    --bsz=*) bsz=\"${1#*=}\"; shift;;\n    *) echo unknown; exit 1;;\n  esac\ndone\n",
        "while (( \"$#\" )); do\n  case $1 in\n    --gpus) gpus=$2; shift ;;\n    -m) model=$2; shift ;;\n    \
         --bsz=*) bsz=${1##*=} ;;\n  esac\n  shift\ndone\n",
    ];
    for head in loops {
        let script = format!("#!/bin/bash\ngpus=8\n{head}{COMMAND}");
        let caller = "bash scripts/run.sh --gpus 4 -m Qwen/Qwen2.5-3B \\\n  --bsz=1\n";
        let found = read(&[("run.sh", &script), ("go.sh", caller)]);
        assert_eq!(value(&found, "num_gpus"), json!(4), "{head}");
        assert_eq!(value(&found, "model"), json!("Qwen/Qwen2.5-3B"), "{head}");
        assert_eq!(value(&found, "per_device_train_batch_size"), json!(1), "{head}");
        assert!(unknown(&found).iter().all(|key| !["gpus", "bsz"].contains(key)), "{head}");
        // Without a caller its defaults hold, and what has none is not known.
        let alone = read(&[("run.sh", &script)]);
        assert_eq!(value(&alone, "num_gpus"), json!(8), "{head}");
        assert!(alone.missing.contains(&"model"), "{head}");
    }
}

#[test]
fn words_variables_and_letters_go_through_too() {
    for (head, caller) in [
        ("gpus=$1\nmodel=${2:-none}\n", "./run.sh 2 Qwen/Qwen2.5-3B\n"),
        ("gpus=${GPUS:-8}\nmodel=$MODEL\n", "export MODEL=Qwen/Qwen2.5-3B\nGPUS=2 sbatch -p big run.sh\n"),
        (
            "while getopts \"g:m:v\" opt; do\n case $opt in\n  g) gpus=$OPTARG;;\n  m) model=\"$OPTARG\";;\n  v) set -x;;\n esac\n\
             done\n",
            "sh run.sh -v -g 2 -m Qwen/Qwen2.5-3B\n",
        ),
    ] {
        let found = read(&[("run.sh", &format!("{head}{COMMAND}")), ("go.sh", caller)]);
        assert_eq!(value(&found, "num_gpus"), json!(2), "{head}");
        assert_eq!(value(&found, "model"), json!("Qwen/Qwen2.5-3B"), "{head}");
    }
    // A script that was not given says what nobody knows.
    let found = read(&[("go.sh", "bash run.sh --gpus 2 --per_device_train_batch_size 4\n")]);
    assert!(kinds(&found).contains(&"missing_file"));
}

/// Loops make several runs: the first is read, and the reader hears that there are others.
#[test]
fn of_the_runs_of_a_loop_the_first_is_read() {
    for head in [
        "MODELS=(\"Qwen/Qwen2.5-3B\" \"Qwen/Qwen2.5-7B\")\nfor i in \"${!MODELS[@]}\"; do\nmodel=\"${MODELS[$i]}\"\n",
        "MODELS=(Qwen/Qwen2.5-3B Qwen/Qwen2.5-7B)\nfor model in ${MODELS[@]}; do\n",
        "for model in Qwen/Qwen2.5-3B \\\n  Qwen/Qwen2.5-7B\ndo\n",
        "M=(Qwen/Qwen2.5-3B Qwen/Qwen2.5-7B)\nfor ((i=0; i<2; i++)); do\nmodel=${M[i]}\n",
    ] {
        let found = read(&[("run.sh", &format!("gpus=2\n{head}{COMMAND}done\n"))]);
        assert_eq!(value(&found, "model"), json!("Qwen/Qwen2.5-3B"), "{head}");
        assert!(kinds(&found).contains(&"several_commands"), "{head}");
    }
    // What a pattern finds on a disk nobody knows.
    let found = read(&[("run.sh", &format!("gpus=2\nfor model in out/checkpoint-*; do\n{COMMAND}done\n"))]);
    assert!(found.missing.contains(&"model"));
}

#[test]
fn a_command_as_a_list_of_words_is_read() {
    let post = "Who has a setting that works?\n\n```\n[\n    \"accelerate\",\n    \"launch\",\n    \"--num_processes=2\",\n    \
                # two cards\n    \"sft.py\",\n    # \"--packing\",\n    \"--model_name_or_path=Qwen/Qwen2.5-3B\",\n    \
                '--max_length', '2048',\n    \"--bf16\",\n]\n```\n";
    let fields = json!({"model": "Qwen/Qwen2.5-3B", "num_gpus": 2, "max_length": 2048, "packing": false});
    says(&[("post.md", post)], fields.clone(), &[]);
    says(&[("pasted text", &post.replace("```\n", ""))], fields, &[]);
}

/// A script's own comment says how it is started.
#[test]
fn a_comment_that_starts_this_very_script_is_its_command() {
    let script = "# accelerate launch --config_file my_cluster.yaml \\\n#   train.py\nfrom trl import SFTTrainer, SFTConfig\n\
                  SFTTrainer(model=\"Qwen/Qwen2.5-3B\", args=SFTConfig(max_length=512)).train()\n";
    let found = read(&[("train.py", script)]);
    assert!(kinds(&found).contains(&"missing_file"));
    let other = script.replace("#   train.py", "#   other.py");
    assert!(!kinds(&read(&[("train.py", &other)])).contains(&"missing_file"));
}

/// Settings in a here-document that cannot be read are named.
#[test]
fn a_written_file_that_cannot_be_read_is_said() {
    let script = |body: &str| format!("cat > run.yaml <<EOF\n{body}EOF\naxolotl train run.yaml\n");
    let found = read(&[("go.sh", &script("base_model: Qwen/Qwen2.5-3B\nsequence_len: [1\nadapter: lora\n"))]);
    assert!(kinds(&found).contains(&"unreadable"), "{:?}", found.findings);
    let found = read(&[("go.sh", &script("a: 1\nb: 2\n"))]);
    assert!(kinds(&found).contains(&"unrecognised"));
    let filled = "LEN=4096\ncat > run.yaml <<EOF\nbase_model: Qwen/Qwen2.5-3B\ndatasets:\n${DATASETS}\nsequence_len: ${LEN}\nEOF\n";
    assert_eq!(value(&read(&[("go.sh", filled)]), "max_length"), json!(4096));
}

#[test]
fn sentences_name_gpus_as_people_write_them() {
    let post = |sentence: &str| {
        format!(
            "# It fails\n\n{sentence}\n\n```\npython train.py --model_name_or_path Qwen/Qwen2.5-3B --bf16 --max_length 64\n```\n"
        )
    };
    for (sentence, gpu, count) in [
        ("OOM when i use 32GB V100s", "v100-32gb", 1),
        ("Tesla V100S-PCIE-32GB x 2", "v100-32gb-pcie", 2),
        ("on 4 * A800", "a800-80gb", 4),
        ("It runs on two 3090s.", "rtx-3090", 2),
        (
            "|   3  Tesla V100S-PCI...  Off  | 00000000:00:06.0 Off |      0 |\n| N/A   30C    P0    25W / 250W |      4MiB / 32768MiB |",
            "v100-32gb",
            1,
        ),
    ] {
        let found = read(&[("post.md", &post(sentence))]);
        assert_eq!(value(&found, "gpu"), json!(gpu), "{sentence}");
        assert_eq!(value(&found, "num_gpus"), json!(count), "{sentence}");
    }
    // A name that is seen and cannot be told is asked for.
    for sentence in ["If you have an H100, is there a script?", "My K80 card is too small", "I have 4x RTX 9999 cards"]
    {
        assert!(read(&[("post.md", &post(sentence))]).missing.contains(&"gpu"), "{sentence}");
    }
    let counted = "When rollout.n is larger, on a 7b model with 4 GPUs, how do I set it?";
    assert_eq!(value(&read(&[("post.md", &post(counted))]), "num_gpus"), json!(4));
}

#[test]
fn what_deepspeed_and_axolotl_take_by_themselves_is_told() {
    let found = read(&[("acc.yaml", "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\n")]);
    assert_eq!(value(&found, "zero_stage"), json!(2));
    assert!(found.understood.iter().any(|told| told.field == "zero_stage"));
    let file = |copies: bool| {
        format!(
            "base_model: Qwen/Qwen2.5-3B\nrl: dpo\ndpo_beta: 0.2\nadapter: lora\nlora_r: 8\nlora_target_linear: true\n\
             rl_adapter_ref_model: {copies}\nsequence_len: 1024\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n"
        )
    };
    let own = says(&[("run.yaml", &file(false))], json!({"beta": 0.2, "reference.kind": "auto"}), &[]);
    assert_eq!(unknown(&own), Vec::<&str>::new());
    says(&[("run.yaml", &file(true))], json!({"reference.kind": "copy"}), &[]);
}

/// A script of one's own that nobody gave is named whatever it is called, and what its own options may say is asked for.
#[test]
fn an_own_script_that_was_not_given_is_said() {
    let launch = "accelerate launch --num_processes 2 train_sft.py --model_name Qwen/Qwen2.5-3B --max_length 512 \\\n  \
                  --train_batch_size 2 --use_lora\n";
    let found = read(&[("run.sh", launch)]);
    assert!(kinds(&found).contains(&"missing_file"));
    assert_eq!(found.missing, ["per_device_train_batch_size"]);
    let module =
        read(&[("run.sh", "torchrun --nproc_per_node 2 -m src.npo.npo --model_name_or_path Qwen/Qwen2.5-3B\n")]);
    assert!(kinds(&module).contains(&"missing_file"));
    // A rank without the switch of its trainer: the script's own says whether it adapts.
    let keys = "model_name_or_path: Qwen/Qwen2.5-3B\nper_device_train_batch_size: 1\nmax_length: 512\nbeta: 0.1\n\
                peft_enabled: true\nlora_r: 16\n";
    let found = read(&[("run.sh", "accelerate launch run_dpo.py --config dpo.yaml\n"), ("dpo.yaml", keys)]);
    assert!(found.missing.contains(&"method"), "{:?}", found.missing);
}

/// Of the commands of a script the one that trains is read, not what serves or judges; copies of OpenRLHF are OpenRLHF's.
#[test]
fn what_serves_a_model_is_no_training() {
    let script = "python -m src.cli.serve_rm --mode rule --max_gen_len 64 --port 5000 &\n\
                  ray job submit -- python3 -m src.cli.train_ppo_ray --pretrain Qwen/Qwen2.5-3B --actor_num_nodes 1 \\\n  \
                  --actor_num_gpus_per_node 2 --micro_train_batch_size 4 --zero_stage 2\n\
                  python evaluate_model.py --model_name_or_path out --per_device_eval_batch_size 4\n";
    let found = read(&[("run.sh", script)]);
    assert_eq!(value(&found, "model"), json!("Qwen/Qwen2.5-3B"));
    assert_eq!(value(&found, "num_gpus"), json!(2));
    assert_eq!(value(&found, "per_device_train_batch_size"), json!(4));
    assert!(!kinds(&found).contains(&"several_commands"));
}

#[test]
fn makefiles_and_assigned_dictionaries_are_read() {
    let makefile = "MODEL ?= Qwen/Qwen2.5-3B\nNPROC := 4\n.PHONY: train\n\n# Training\ntrain: data\n\t@accelerate launch \
                    --num_processes $(NPROC) trl/scripts/sft.py \\\n\t\t--model_name_or_path $(MODEL) \\\n\t\t\
                    --per_device_train_batch_size 4\n\nclean:\n\trm -rf out\n";
    let fields = json!({"model": "Qwen/Qwen2.5-3B", "num_gpus": 4, "per_device_train_batch_size": 4});
    says(&[("Makefile", makefile)], fields, &[]);
    let post = "It stops:\n```\nds_config = {\n    \"train_micro_batch_size_per_gpu\": batch_size,\n    \"fp16\": {\"enabled\": True},\n    \
                \"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"cpu\"}}\n}\n```\n";
    let found = read(&[("post.md", post)]);
    assert_eq!(value(&found, "zero_stage"), json!(3));
    assert_eq!(value(&found, "offload_param"), json!("cpu"));
}

#[test]
fn what_a_configuration_that_is_not_given_leaves_open_is_asked_for() {
    let launch = |before: &str, config: &str, behind: &str| {
        format!(
            "{before}accelerate launch --config_file {config} trl/scripts/sft.py --model_name_or_path Qwen/Qwen2.5-3B{behind}\n"
        )
    };
    let found = read(&[("run.sh", &launch("", "my/deepspeed_config.yaml", ""))]);
    assert!(found.missing.contains(&"zero_stage"));
    let found =
        read(&[("run.sh", "torchrun --nproc_per_node 2 sft.py --model_name_or_path Qwen/Qwen2.5-3B --deepspeed\n")]);
    assert!(found.missing.contains(&"zero_stage"));
    // A shipped file counts more GPUs than the run sees.
    let found = read(&[("run.sh", &launch("CUDA_VISIBLE_DEVICES=\"4,7\" ", "x/fsdp2.yaml", ""))]);
    assert_eq!(value(&found, "num_gpus"), json!(2));
}

#[test]
fn slips_of_posts_lose_no_command() {
    let fields = json!({"model": "Qwen/Qwen2.5-3B", "num_gpus": 2, "distributed.framework": "fsdp1"});
    let command =
        "torchrun --nproc_per_node=2 trl/scripts/sft.py --model_name_or_path Qwen/Qwen2.5-3B --fsdp \"full_shard\"";
    let version = "\n\n- transformers version: 4.57.1\n";
    for post in [
        format!("# It fails\n\n`{command} --fsdp_transformer_layer_cls_to_wrap 'LlamaDecoderLayer`{version}"),
        format!("# It fails\n\n!NCCL_DEBUG=INFO {command}{version}"),
        format!("# It fails\n\n```\nsrun -p big --gres=gpu:2 -n 1 \\\n {command}\n```{version}"),
    ] {
        says(&[("post.md", &post)], fields.clone(), &[]);
    }
    let axolotl = "I have 1x 3090 and 1x 4060\n```\naccelerate launch -m axolotl.cli.train --deepspeed deepspeed/zero3.json my/lora.yml\n\
                   \t`--num_processes` was set to a value of `2`\n```\n";
    let found = read(&[("post.md", axolotl)]);
    assert_eq!((value(&found, "zero_stage"), value(&found, "num_gpus")), (json!(3), json!(2)));
    assert!(kinds(&found).contains(&"missing_file"));
    let old = "I used an A6000 (48GiB) * 8 device for DPO.\n```yaml\nbase_model: Qwen/Qwen2.5-3B\nrl: true\nadapter: lora\nlora_r: 8\n\
               lora_target_linear: true\nsequence_len: 512\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n```\n\
               `accelerate launch scripts/finetune.py run.yml`\n";
    let found = read(&[("post.md", old)]);
    assert_eq!((value(&found, "task"), value(&found, "num_gpus")), (json!("dpo"), json!(8)));
    assert!(!kinds(&found).contains(&"missing_file"), "{:?}", found.findings);
}

/// What stands in a function is read where it is called, with the words of the call.
#[test]
fn functions_are_read_where_they_are_called() {
    let body = "  local model=$1\n  local gpus=\"${2:-8}\"\n  shift 2\n  torchrun --nproc_per_node=$gpus trl/scripts/sft.py \\\n    \
                --model_name_or_path $model --max_length 1024 \"$@\"\n}\n";
    for head in ["run_one() {\n", "function run_one {\n", "function run_one() {\n"] {
        let script = format!("{head}{body}echo go\nrun_one Qwen/Qwen2.5-3B 2 --bf16 --per_device_train_batch_size 1\n");
        let fields = json!({"model": "Qwen/Qwen2.5-3B", "num_gpus": 2, "per_device_train_batch_size": 1});
        let found = says(&[("run.sh", &script)], fields, &[]);
        assert!(!kinds(&found).contains(&"several_commands"), "{head}");
        let twice = [script.as_str(), "run_one Qwen/Qwen2.5-7B 4\n"].concat();
        assert!(kinds(&read(&[("run.sh", &twice)])).contains(&"several_commands"), "{head}");
        // Called from elsewhere nothing says its words.
        let uncalled = read(&[("run.sh", &[head, body].concat())]);
        assert_eq!(value(&uncalled, "max_length"), json!(1024), "{head}");
    }
    // One that calls itself ends.
    read(&[("run.sh", "f() {\n f a\n f b\n}\nf c\n")]);
}

/// Posts fence with any word.
#[test]
fn blocks_with_any_word_behind_their_fence_are_read() {
    for word in ["make", "cmd", "slurm", "Config"] {
        let post = format!(
            "It stops.\n\n```{word}\ntorchrun --nproc_per_node 2 trl/scripts/sft.py --model_name_or_path Qwen/Qwen2.5-3B\n```\n"
        );
        says(&[("post.md", &post)], json!({"model": "Qwen/Qwen2.5-3B", "num_gpus": 2}), &[]);
    }
}

#[test]
fn a_file_of_trls_keys_says_whose_an_unknown_script_is() {
    let recipe = "model_name_or_path: Qwen/Qwen2.5-0.5B\ndataset_mixer:\n  d: 1.0\nmax_seq_length: 700\nuse_peft: true\nlora_r: 8\n\
        per_device_train_batch_size: 3\ngradient_checkpointing: true\nbf16: true\n";
    let run = "accelerate launch --num_processes=2 train_raw.py recipes/lora.yaml --torch_dtype=bfloat16\n";
    let imported = read(&[("ft.sh", run), ("recipes/lora.yaml", recipe), ("requirements.txt", "trl==0.9.6\n")]);
    assert_eq!(imported.trainer, ("trl".to_owned(), Some("0.9.6".to_owned())));
}

#[test]
fn a_command_that_a_here_document_puts_in_a_variable_runs() {
    let script = "N=4\nread -r -d '' cmd <<EOF\naccelerate launch --multi_gpu --num_processes $N \\\nsft.py \\\n    --model_name_or_path Qwen/Qwen2.5-0.5B \\\n\
        \x20   --dataset_name d \\\n    --packing \\\n    --max_length 700 --eos_token '<|im_end|>' \\\n    --per_device_train_batch_size 3\nEOF\n\
        if [ -n \"$SLURM_JOB_ID\" ]; then\n    srun bash -c \"${cmd}\"\nelse\n    bash -c \"${cmd}\"\nfi\n";
    let imported = read(&[("run.sh", script)]);
    for (field, expected) in
        [("num_gpus", json!(4)), ("max_length", json!(700)), ("per_device_train_batch_size", json!(3))]
    {
        assert_eq!(value(&imported, field), expected, "{field}");
    }
    assert_ne!(value(&imported, "method"), json!("lora"));
}
