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
    for sentence in ["Is there a script for 1xH100?", "My K80 card is too small", "I have 4x RTX 9999 cards"] {
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
