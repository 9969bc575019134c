//! Each contradiction is found where it stands, its correction removes it, and files without it say nothing of it.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_files::finding::{Finding, Fix, Language, Severity};
use headroom_files::import::{File, import};
use headroom_files::lint::{fixed, lint};

fn files(given: &[(&str, &str)]) -> Vec<File> {
    given.iter().map(|(name, text)| File { name: (*name).to_owned(), text: (*text).to_owned() }).collect()
}

/// The finding `id` stands at `line` of the file `file`; where it has edits, they make it go.
fn found(given: &[(&str, &str)], gpu: Option<&str>, id: &str, (file, line): (usize, usize)) {
    let files = files(given);
    let findings = lint(&import(&files), gpu);
    let ids: Vec<_> = findings.iter().map(|finding| finding.kind.id()).collect();
    let finding =
        findings.iter().find(|finding| finding.kind.id() == id).unwrap_or_else(|| panic!("no {id} in {ids:?}"));
    assert_eq!((finding.file, finding.span.line), (Some(file), line), "{id}");
    for language in [Language::English, Language::Chinese] {
        let said = finding.said(language);
        assert!(!said.what.is_empty() && !said.fix.is_empty());
    }
    let Some(fix) = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty()) else { return };
    let corrected: Vec<File> = files
        .iter()
        .enumerate()
        .map(|(place, file)| File { name: file.name.clone(), text: fixed(&file.text, place, &[fix] as &[&Fix]) })
        .collect();
    assert_ne!(corrected, files, "{id} changes no file");
    let after = lint(&import(&corrected), gpu);
    let still = after.iter().any(|finding| finding.kind.id() == id);
    assert!(!still, "{id} stays after its fix: {corrected:?}");
}

const ACCELERATE: &str =
    "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 1\nmixed_precision: bf16\n";

#[test]
fn the_launch_of_scenario_6() {
    let script = "from transformers import AutoModelForCausalLM\nfrom trl import GRPOConfig, GRPOTrainer\nagent = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-4B\", device_map=\"auto\")\nuser = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-4B\")\nGRPOTrainer(agent, args=GRPOConfig(per_device_train_batch_size=8))\n";
    let command = "accelerate launch --config_file a.yaml train.py\n";
    let given = [("run.sh", command), ("a.yaml", ACCELERATE), ("train.py", script)];
    found(&given, None, "multi_gpu_one_process", (1, 2));
    found(&given, None, "device_map_spreads", (2, 3));
    found(&given, None, "model_twice", (2, 4));
}

#[test]
fn processes() {
    let ids = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\ngpu_ids: 0,1\nnum_processes: 4\n";
    found(&[("a.yaml", ids)], None, "gpu_ids_processes", (0, 4));
    let script = "from transformers import AutoModelForCausalLM, Trainer\nm = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B',\n    device_map='auto')\nTrainer(model=m)\n";
    found(&[("t.py", script), ("r.sh", "torchrun --nproc_per_node 4 t.py\n")], None, "device_map_distributed", (0, 3));
}

#[test]
fn stages() {
    let run =
        ("r.sh", "deepspeed --num_gpus 1 run_clm.py --deepspeed ds.json --model_name_or_path Qwen/Qwen3-4B --bf16\n");
    found(&[run, ("ds.json", "{\"zero_optimization\": {\n \"stage\": 2}}")], None, "zero_on_one_gpu", (1, 2));
    let two = (
        "r.sh",
        "deepspeed --num_gpus 2 run_clm.py --deepspeed ds.json --model_name_or_path Qwen/Qwen3-4B --bf16 --per_device_train_batch_size 4\n",
    );
    let offload = "{\"zero_optimization\": {\"stage\": 0,\n \"offload_optimizer\": {\"device\": \"cpu\"}}}";
    found(&[two, ("ds.json", offload)], None, "offload_without_stage", (1, 1));
    let param = "{\"zero_optimization\": {\"stage\": 2,\n \"offload_param\": {\"device\": \"cpu\"}}}";
    found(&[two, ("ds.json", param)], None, "param_offload_stage", (1, 1));
    let batch = "{\"zero_optimization\": {\"stage\": 2},\n \"train_batch_size\": 30}";
    found(&[two, ("ds.json", batch)], None, "batch_product", (1, 2));
    let micro = "{\"zero_optimization\": {\"stage\": 2},\n\n \"train_micro_batch_size_per_gpu\": 2}";
    found(&[two, ("ds.json", micro)], None, "deepspeed_mismatch", (1, 3));
}

#[test]
fn number_formats() {
    let both =
        "from transformers import TrainingArguments\nTrainingArguments(output_dir='x', bf16=True,\n    fp16=True)\n";
    found(&[("t.py", both)], None, "fp16_and_bf16", (0, 3));
    let lora = "base_model: Qwen/Qwen3-4B\nadapter: lora\nlora_r: 8\nlora_target_linear: true\nsequence_len: 512\ndatasets: []\nbf16: true\nflash_attention: true\n";
    found(&[("a.yml", lora)], Some("v100-32gb"), "bf16_unsupported", (0, 7));
    found(&[("a.yml", lora)], Some("v100-32gb"), "flash_unsupported", (0, 8));
}

#[test]
fn quantised_weights() {
    let full = "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: full\nquantization_bit: 4\ntemplate: q\ndataset: d\n";
    found(&[("t.yaml", full)], None, "full_of_quantized", (0, 4));
    let shards = "model_name_or_path: Qwen/Qwen3-4B\ndataset_name: d\nuse_peft: true\nload_in_4bit: true\nfsdp: full_shard auto_wrap\noutput_dir: o\n";
    found(&[("t.yaml", shards)], None, "quantized_not_sharded", (0, 4));
    // LLaMA-Factory stores them in the dtype that it computes in.
    let factory = "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: lora\nquantization_bit: 4\nbf16: true\nfsdp: full_shard auto_wrap\ntemplate: q\ndataset: d\n";
    let findings = lint(&import(&files(&[("t.yaml", factory)])), None);
    assert!(findings.iter().all(|finding| finding.kind.id() != "quantized_not_sharded"), "{findings:?}");
}

#[test]
fn lengths_groups_and_names() {
    let long = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\nfinetuning_type: lora\ncutoff_len: 1000000\ntemplate: q\ndataset: d\n";
    found(&[("t.yaml", long)], None, "longer_than_model", (0, 4));
    let group = "from trl import GRPOConfig, GRPOTrainer\nGRPOTrainer('Qwen/Qwen3-4B', args=GRPOConfig(per_device_train_batch_size=2,\n  num_generations=3))\n";
    found(&[("t.py", group)], None, "partial_group", (0, 3));
    let module = "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: lora\nlora_target: query_key_value\ntemplate: q\ndataset: d\n";
    found(&[("t.yaml", module)], None, "plan_problem", (0, 4));
    let passed_over = "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: lora\nlora_target: q_proj,c_attn\ntemplate: q\ndataset: d\n";
    found(&[("t.yaml", passed_over)], None, "unmatched_targets", (0, 4));
    let typo = "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: lora\ncutof_len: 512\ntemplate: q\ndataset: d\n";
    found(&[("t.yaml", typo)], None, "unknown_key", (0, 4));
    let renamed =
        "from transformers import TrainingArguments\nTrainingArguments(output_dir='x',\n  evaluation_strategy='no')\n";
    found(&[("t.py", renamed), ("requirements.txt", "transformers==5.20.0")], None, "removed_key", (0, 3));
    found(&[("t.py", renamed)], None, "release_implied", (0, 3));
    // Of a release that takes both names it is the former one.
    found(&[("t.py", renamed), ("requirements.txt", "transformers==4.48.0")], None, "renamed_key", (0, 3));
    let cache = "from transformers import AutoModelForCausalLM, TrainingArguments\nm = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\nm.config.use_cache = True\nTrainingArguments('x', gradient_checkpointing=True)\n";
    found(&[("t.py", cache)], None, "checkpointing_use_cache", (0, 3));
}

#[test]
fn a_sound_configuration_has_no_errors() {
    let sound = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\ndo_train: true\nfinetuning_type: lora\nlora_rank: 8\nlora_target: all\ndataset: identity\ntemplate: qwen\ncutoff_len: 2048\noutput_dir: o\nper_device_train_batch_size: 1\nbf16: true\n";
    let findings = lint(&import(&files(&[("t.yaml", sound)])), None);
    let is_note = |finding: &Finding| finding.kind.severity() == Severity::Note;
    assert!(findings.iter().all(is_note), "{findings:?}");
}
