//! What launch commands and recipes say of the machine: counts, releases, GPUs.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::plan::field;
use headroom_files::import::{File, Import, import};
use serde_json::{Value, json};

fn read(files: &[(&str, &str)]) -> Import {
    let files: Vec<File> =
        files.iter().map(|(name, text)| File { name: (*name).to_owned(), text: (*text).to_owned() }).collect();
    import(&files)
}

fn value(imported: &Import, key: &str) -> Value {
    field(key).unwrap_or_else(|| panic!("no field {key}")).value(&imported.plan)
}

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
