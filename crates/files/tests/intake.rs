//! What people post comes in as they mean it: trainers that are not modelled, keys that are not known, several machines.

#![allow(clippy::unwrap_used)]

use headroom_core::job::Job;
use headroom_core::memory::estimate;
use headroom_core::plan::{LaunchedBy, Offload, Plan, RolloutEngine, TrainerName};
use headroom_files::export::{Format, export};
use headroom_files::finding::Language;
use headroom_files::import::{File, Import, import};

fn read(files: &[(&str, &str)]) -> Import {
    let files: Vec<File> =
        files.iter().map(|(name, text)| File { name: (*name).to_owned(), text: (*text).to_owned() }).collect();
    import(&files)
}

/// The plan of a file that says all of it, which can be estimated.
fn estimated(name: &str, text: &str) -> Plan {
    let imported = read(&[(name, text)]);
    assert!(imported.missing.is_empty(), "{name}: {:?}", imported.missing);
    let job = Job::resolve(&imported.plan).unwrap();
    let guess = estimate(&job).guess.is_some();
    assert_eq!(guess, imported.plan.launched_by.is_some(), "{name}");
    // What is printed is the same plan.
    assert_eq!(Plan::from_json(&imported.plan_json()).unwrap(), imported.plan, "{name}");
    imported.plan
}

const VERL: &str = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=512 data.max_prompt_length=256 \
    data.max_response_length=512 actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B actor_rollout_ref.actor.ppo_mini_batch_size=128 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=24 actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=7 \
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 trainer.n_gpus_per_node=4 trainer.nnodes=2\n";
const OPENRLHF: &str = "python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1 --actor_num_gpus_per_node 2 --ref_num_nodes 1 \
    --ref_num_gpus_per_node 2 --vllm_num_engines 2 --advantage_estimator rloo --pretrain Qwen/Qwen2.5-0.5B \
    --micro_train_batch_size 2 --train_batch_size 32 --micro_rollout_batch_size 8 --rollout_batch_size 64 \
    --n_samples_per_prompt 3 --prompt_max_len 512 --generate_max_len 512 --zero_stage 2 --param_dtype bf16 --adam_offload\n";
const SWIFT: &str = "NPROC_PER_NODE=4 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-0.5B --train_type lora --lora_rank 16 \
    --dataset mine --num_generations 8 --max_completion_length 512 --per_device_train_batch_size 4 --use_vllm true \
    --vllm_mode colocate --vllm_gpu_memory_utilization 0.4 --sleep_level 2 --bf16 true\n";
const UNSLOTH: &str = "from unsloth import FastLanguageModel\nfrom trl import SFTConfig, SFTTrainer\n\
    model, tokenizer = FastLanguageModel.from_pretrained(model_name='unsloth/Qwen2.5-0.5B', max_seq_length=1024, load_in_4bit=True)\n\
    model = FastLanguageModel.get_peft_model(model, r=8, target_modules=['q_proj', 'v_proj'])\n\
    SFTTrainer(model=model, tokenizer=tokenizer, args=SFTConfig(per_device_train_batch_size=2, output_dir='o')).train()\n";
const TORCHTUNE: &str = "model:\n  _component_: torchtune.models.qwen2_5.lora_qwen2_5_0_5b\n  lora_attn_modules: [q_proj, v_proj]\n\
    \x20 lora_rank: 8\ntokenizer:\n  _component_: torchtune.models.qwen2_5.qwen2_5_tokenizer\n  max_seq_len: 1024\nbatch_size: 2\n\
    dtype: bf16\n";

#[test]
fn a_trainer_that_is_not_modelled_keeps_its_name_and_its_plan_is_estimated() {
    for (name, text, by, step) in [
        ("run.sh", VERL, LaunchedBy::Verl, TrainerName::Custom),
        ("run.sh", OPENRLHF, LaunchedBy::OpenRlhf, TrainerName::Custom),
        ("run.sh", SWIFT, LaunchedBy::MsSwift, TrainerName::Trl),
        ("run.py", UNSLOTH, LaunchedBy::Unsloth, TrainerName::Trl),
        ("run.yaml", TORCHTUNE, LaunchedBy::Torchtune, TrainerName::Custom),
    ] {
        let plan = estimated(name, text);
        assert_eq!((plan.launched_by, plan.trainer.name), (Some(by), step), "{text}");
        let imported = read(&[(name, text)]);
        assert_eq!(imported.trainer.0, by.name());
        assert!(imported.findings.iter().any(|found| found.kind.id() == "trainer_not_modelled"), "{text}");
    }
}

#[test]
fn what_a_trainer_says_of_reinforcement_is_not_lost() {
    let plan = estimated("run.sh", VERL);
    assert_eq!((plan.num_gpus, plan.num_nodes), (8, Some(2)));
    assert_eq!((plan.rollout.num_generations, plan.per_device_train_batch_size), (Some(7), 24));
    let plan = estimated("run.sh", OPENRLHF);
    assert_eq!(plan.offload_optimizer, Offload::Cpu);
    assert_eq!((plan.rollout.engine(), plan.rollout.prompts), (RolloutEngine::Vllm, Some(64)));
    assert_eq!(plan.reference.kind.name(), "none", "the reference has GPUs of its own");
    let plan = estimated("run.sh", SWIFT);
    // What the command does not say is what ms-swift takes.
    assert!(plan.gradient_checkpointing && plan.rollout.vllm_enable_sleep_mode);
    assert_eq!((plan.lora.lora_dropout, plan.lora.lora_alpha), (0.05, 32.0));
}

#[test]
fn keys_that_are_not_known_are_named_and_not_counted_as_harmless() {
    let unknown = |name: &str, text: &str| -> Vec<String> {
        read(&[(name, text)]).unknown.into_iter().map(|unknown| unknown.key).collect()
    };
    let axolotl = "base_model: allenai/OLMoE-1B-7B-0924\nadapter: qlora\nload_in_4bit: true\ndatasets:\n  - path: x\n\
        embeddings_skip_upcast: true\nfp32_norms: true\nuse_scattermoe: false\nsequence_len: 512\nwandb_project: p\n";
    assert_eq!(unknown("a.yml", axolotl), ["embeddings_skip_upcast", "fp32_norms"]);
    let swift =
        "swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --dataset d --target_regex 'x.*' --max_length 2048 --seed 1\n";
    assert_eq!(unknown("s.sh", swift), ["target_regex"]);
    let script = "torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2.5-0.5B --output_dir o --data_path d.json \
        --max_steps 5 --compress_ratio 4 --use_moba True\n";
    assert_eq!(unknown("t.sh", script), ["compress_ratio", "use_moba"]);
    let (imported, files) = (read(&[("t.sh", script)]), [File { name: "t.sh".to_owned(), text: script.to_owned() }]);
    assert_eq!(imported.to_value(&files, Language::English)["unknown"][0]["key"], "compress_ratio");
    // With what is unknown taken out as many keys are harmless as before.
    let without = script.replace(" --compress_ratio 4 --use_moba True", "");
    assert_eq!(read(&[("t.sh", &without)]).ignored, imported.ignored);
}

#[test]
fn a_script_for_images_says_what_trains() {
    let text = "torchrun --nproc_per_node=2 qwenvl/train/train_qwen.py --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct \
        --tune_mm_vision False --tune_mm_mlp True --tune_mm_llm True --max_pixels 50176 --bf16 --model_max_length 4096\n";
    let plan = read(&[("t.sh", text)]).plan;
    assert_eq!(plan.freeze, ["vision_tower"]);
    assert_eq!(plan.images.max_pixels, Some(50_176));
}

#[test]
fn modules_that_a_command_freezes_keep_the_names_of_their_class() {
    let of = |more: &str| {
        let text = format!("swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --dataset d --max_length 2048 {more}\n");
        read(&[("s.sh", text.as_str())]).plan
    };
    let plan = of("--tuner_type full --freeze_vit false --freeze_aligner false --freeze_parameters model.visual");
    assert_eq!(plan.freeze, ["model.visual"]);
    let whole = estimate(&Job::resolve(&plan).unwrap()).trainable_count;
    let parts = Plan { freeze: vec!["vision_tower".to_owned(), "multi_modal_projector".to_owned()], ..plan };
    assert_eq!(whole, estimate(&Job::resolve(&parts).unwrap()).trainable_count);
    // With adapters ms-swift does not read the list.
    assert_eq!(of("--tuner_type lora --freeze_parameters lm_head").freeze, ["vision_tower", "multi_modal_projector"]);
}

#[test]
fn machines_are_read_wherever_they_are_said() {
    let train = "train.py --model_name_or_path Qwen/Qwen2.5-0.5B --output_dir o";
    for (name, text, gpus, nodes) in [
        ("a.sh", format!("torchrun --nnodes=2 --nproc_per_node=4 {train}"), 8, 2),
        ("b.sh", format!("accelerate launch --num_machines 4 --num_processes 16 {train}"), 16, 4),
        ("c.sh", format!("deepspeed --num_nodes 2 --num_gpus 8 {train}"), 16, 2),
        (
            "d.sh",
            format!(
                "#!/bin/bash\n#SBATCH --nodes=3\n#SBATCH --ntasks-per-node=4\nsrun python {train} --fsdp full_shard"
            ),
            12,
            3,
        ),
        (
            "e.sh",
            format!(
                "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:8\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 {train}"
            ),
            16,
            2,
        ),
        (
            "f.sh",
            "NNODES=2 NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-0.5B --dataset d --max_length 512".to_owned(),
            16,
            2,
        ),
    ] {
        let plan = read(&[(name, &text)]).plan;
        assert_eq!((plan.num_gpus, plan.num_nodes), (gpus, Some(nodes)), "{text}");
    }
    let accelerate = "distributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: 8\nmixed_precision: bf16\n";
    let plan = read(&[("accelerate.yaml", accelerate)]).plan;
    assert_eq!((plan.num_gpus, plan.num_nodes), (8, Some(2)));
}

const GRPO: &str = "from trl import GRPOConfig, GRPOTrainer\nargs = GRPOConfig(output_dir='o', per_device_train_batch_size=8)\n\
    GRPOTrainer(model='Qwen/Qwen2.5-0.5B', reward_funcs=f, args=args, train_dataset=d).train()\n";
const SFT: &str = "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig(output_dir='o', KEY)\n\
    SFTTrainer(model='Qwen/Qwen2.5-0.5B', args=args, train_dataset=d).train()\n";

fn kinds(imported: &Import) -> Vec<&'static str> {
    imported.findings.iter().map(|finding| finding.kind.id()).collect()
}

#[test]
fn a_stated_release_chooses_its_own_defaults() {
    let of = |version: &str| {
        let imported = read(&[("requirements.txt", &format!("trl=={version}\ntorch==2.7.0\n")), ("train.py", GRPO)]);
        let plan = &imported.plan;
        let values = (
            plan.policy.beta,
            plan.mixed_precision.name(),
            plan.gradient_checkpointing,
            plan.rollout.max_completion_length,
            plan.optim.name(),
        );
        assert_eq!(plan.trainer.version.as_deref(), Some(version));
        (values, kinds(&imported))
    };
    for (version, beta, precision, checkpointing, answer, optim) in [
        ("0.17.0", Some(0.04), "no", false, None, "adamw_torch"),
        ("0.18.2", Some(0.04), "no", false, None, "adamw_torch"),
        ("0.19.1", None, "bf16", false, None, "adamw_torch"),
        ("0.21.0", None, "bf16", false, None, "adamw_torch_fused"),
        ("0.22.2", None, "bf16", true, None, "adamw_torch_fused"),
        ("1.9.2", None, "bf16", true, None, "adamw_torch_fused"),
        ("1.10.0", None, "bf16", true, Some(512), "adamw_torch_fused"),
        ("1.16.0", None, "bf16", true, Some(512), "adamw_torch_fused"),
    ] {
        let (values, kinds) = of(version);
        assert_eq!(values, (beta, precision, checkpointing, answer, optim), "{version}");
        // Which measured step stands for it is said, and that nothing was assumed.
        assert_eq!(kinds.contains(&"step_of_release"), version != "1.16.0" && version != "1.9.0", "{version}");
        assert!(!kinds.contains(&"release_assumed"), "{version}");
    }
}

#[test]
fn a_release_is_read_wherever_people_state_it() {
    for (name, text) in [
        ("requirements.txt", "trl==0.17.0"),
        ("pyproject.toml", "[project]\ndependencies = [\"trl==0.17.0\", \"peft>=0.15\"]"),
        ("pyproject.toml", "[tool.poetry.dependencies]\ntrl = \"^0.17.0\""),
        ("environment.yml", "dependencies:\n  - python=3.11\n  - pip:\n    - trl==0.17.0"),
        ("install.sh", "pip install -U 'trl==0.17.0' transformers==4.51.3"),
        ("train.py", "# tested with trl==0.17.0, transformers==4.51.3\nimport torch"),
    ] {
        let imported = read(&[(name, text), ("grpo.py", GRPO)]);
        assert_eq!(imported.plan.trainer.version.as_deref(), Some("0.17.0"), "{name}: {text}");
    }
}

#[test]
fn where_no_release_is_stated_that_is_said_with_what_an_older_one_changes() {
    let imported = read(&[("grpo.py", GRPO)]);
    let said: Vec<String> = imported
        .findings
        .iter()
        .filter(|finding| finding.kind.id() == "release_assumed")
        .map(|finding| finding.said(Language::English).what)
        .collect();
    assert!(
        said.len() == 1 && said[0].contains("1.16.0") && said[0].contains("`gradient_checkpointing = false`"),
        "{said:?}"
    );
    let stated = GRPO.replace("output_dir='o'", "output_dir='o', gradient_checkpointing=False");
    let imported = read(&[("grpo.py", &stated)]);
    let said: String = imported.findings.iter().map(|finding| finding.said(Language::English).what).collect();
    assert!(!said.contains("gradient_checkpointing"), "what a file states no release changes: {said}");
}

#[test]
fn a_key_that_the_release_has_no_more_is_an_error_that_names_the_last_that_had_it() {
    for (requirements, key, last) in [
        ("trl==1.16.0", "max_seq_length=2048", Some("0.19")),
        ("trl==0.20.0", "max_seq_length=2048", Some("0.19")),
        ("trl==0.19.1", "max_seq_length=2048", None),
        ("trl==0.16.1", "max_seq_length=2048", None),
        ("", "max_length=2048", None),
        ("trl==0.18.0", "use_liger=True", Some("0.17")),
        ("transformers==4.53.0", "evaluation_strategy='no'", Some("4.50")),
    ] {
        let imported = read(&[("requirements.txt", requirements), ("sft.py", &SFT.replace("KEY", key))]);
        let found = imported.findings.iter().find(|finding| finding.kind.id() == "removed_key");
        assert_eq!(found.is_some(), last.is_some(), "{requirements} {key}: {:?}", kinds(&imported));
        if let (Some(found), Some(last)) = (found, last) {
            assert!(found.said(Language::English).what.contains(last) && found.file.is_some());
            // The setting still counts: what is meant is plain.
            assert!(!key.starts_with("max_seq") || imported.plan.max_length == 2048);
        }
    }
}

#[test]
fn where_no_release_is_stated_a_removed_key_says_which_it_is() {
    let of = |text: &str| {
        let imported = read(&[("t.py", text)]);
        let kinds = kinds(&imported);
        assert!(!kinds.contains(&"removed_key") && !kinds.contains(&"release_assumed"), "{text}: {kinds:?}");
        let said: String = imported
            .findings
            .iter()
            .filter(|found| found.kind.id() == "release_implied")
            .map(|found| found.said(Language::English).what)
            .collect();
        (imported.plan, said)
    };
    // The oldest of several counts, and its defaults are taken.
    let grpo =
        GRPO.replace("output_dir='o'", "output_dir='o', max_prompt_length=256, vllm_device='cuda:1', use_vllm=True");
    let (plan, said) = of(&grpo);
    assert!(said.contains("0.17") && said.contains("`vllm_device`"), "{said}");
    assert_eq!((plan.trainer.version.as_deref(), plan.policy.beta), (Some("0.17.0"), Some(0.04)));
    assert_eq!((plan.rollout.max_prompt_length, plan.gradient_checkpointing), (Some(256), false));
    // What the Trainer's own arguments say of transformers says it of TRL beside them.
    let (plan, said) = of(&SFT.replace("KEY", "evaluation_strategy='no'"));
    assert!(said.contains("trl. 0.18") && said.contains("transformers. 4.50"), "{said}");
    assert_eq!((plan.trainer.version.as_deref(), plan.mixed_precision.name()), (Some("0.18.0"), "no"));
    let trainer = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
        model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
        Trainer(model=model, args=TrainingArguments(output_dir='o', evaluation_strategy='no'))\n";
    let (plan, _) = of(trainer);
    assert_eq!((plan.trainer.version.as_deref(), plan.torch_dtype.name()), (Some("4.50.0"), "float32"));
    // In a command of anyone's script only what is the Trainer's alone counts.
    let command = "torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2.5-0.5B --output_dir o \
        --fsdp 'full_shard auto_wrap' --fsdp_transformer_layer_cls_to_wrap Qwen2DecoderLayer\n";
    let plan = read(&[("t.sh", command)]).plan;
    assert_eq!((plan.trainer.version.as_deref(), plan.distributed.framework.name()), (Some("4.57.0"), "fsdp1"));
    let own = command.replace("--fsdp_transformer_layer_cls_to_wrap Qwen2DecoderLayer", "--no_cuda False");
    assert!(!kinds(&read(&[("t.sh", &own)])).contains(&"release_implied"));
    let dpo = "from trl import DPOConfig, DPOTrainer\nDPOTrainer(model='Qwen/Qwen2.5-0.5B', args=DPOConfig(output_dir='o', max_prompt_length=256))\n";
    assert!(kinds(&read(&[("dpo.py", dpo)])).contains(&"release_implied"));
    assert!(kinds(&read(&[("requirements.txt", "trl==1.9.0"), ("dpo.py", dpo)])).contains(&"removed_key"));
    assert!(!kinds(&read(&[("requirements.txt", "trl==0.28.0"), ("dpo.py", dpo)])).contains(&"removed_key"));
}

#[test]
fn files_of_other_trainers_are_read() {
    let studio = "model: unsloth/Qwen2.5-0.5B\ndata:\n  dataset: d\ntraining:\n  training_type: lora\n  max_seq_length: 3072\n  load_in_4bit: true\n\
        \x20 batch_size: 3\n  gradient_accumulation_steps: 2\n  packing: true\n  learning_rate: 0.0002\n  gradient_checkpointing: unsloth\n\
        lora:\n  lora_r: 24\n  lora_alpha: 16\n  target_modules: 'q_proj,v_proj'\nlogging:\n  enable_wandb: false\n";
    let plan = estimated("studio.yaml", studio);
    assert_eq!((plan.launched_by, plan.method.name()), (Some(LaunchedBy::Unsloth), "qlora"));
    assert_eq!((plan.per_device_train_batch_size, plan.max_length, plan.lora.r, plan.packing), (3, 3072, 24, true));
    assert_eq!(read(&[("studio.yaml", studio)]).unknown, []);

    let nemo = "recipe: TrainFinetuneRecipeForNextTokenPrediction\nstep_scheduler:\n  global_batch_size: 32\n  local_batch_size: 2\n  num_epochs: 1\n\
        model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  pretrained_model_name_or_path: Qwen/Qwen2.5-0.5B\n\
        distributed:\n  strategy: fsdp2\n  tp_size: 1\n  dp_replicate_size: 1\npacked_sequence:\n  packed_sequence_size: 4096\n\
        optimizer:\n  _target_: torch.optim.AdamW\n  lr: 1.0e-5\npeft:\n  _target_: nemo_automodel.components._peft.lora.PeftConfig\n  dim: 12\n  match_all_linear: true\n";
    let imported = read(&[("nemo.yaml", nemo)]);
    assert_eq!(imported.missing, ["num_gpus"]);
    let launch = "torchrun --nproc_per_node=8 recipes/finetune.py -c nemo.yaml\n";
    let imported = read(&[("nemo.yaml", nemo), ("run.sh", launch)]);
    let plan = &imported.plan;
    assert_eq!((plan.launched_by, plan.num_gpus), (Some(LaunchedBy::NemoAutomodel), 8), "{:?}", imported.findings);
    assert_eq!((plan.distributed.framework.name(), plan.method.name(), plan.lora.r), ("fsdp2", "lora", 12));
    assert_eq!((plan.max_length, plan.packing, plan.gradient_accumulation_steps), (4096, true, 2));
    assert_eq!(plan.optim.name(), "adamw_torch");

    let flag = "torchrun --nproc_per_node 1 -m FlagEmbedding.finetune.embedder.encoder_only.base --model_name_or_path BAAI/bge-base-en-v1.5 \
        --train_data d.jsonl --train_group_size 4 --query_max_len 64 --passage_max_len 256 --per_device_train_batch_size 16 --fp16 \
        --sentence_pooling_method mean --gradient_checkpointing --output_dir o\n";
    let plan = estimated("run.sh", flag);
    assert_eq!((plan.launched_by, plan.task.name()), (Some(LaunchedBy::FlagEmbedding), "embedding"));
    assert_eq!((plan.max_length, plan.embedding.num_negatives, plan.pooling.name()), (256, 3, "mean"));
    assert_eq!((plan.torch_dtype.name(), plan.mixed_precision.name()), ("float32", "fp16"));
}

#[test]
fn a_file_that_is_unknown_gives_no_default_plan() {
    for (name, text) in [
        ("oom.txt", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"),
        ("notes.md", "# Shopping\n- milk\n"),
        ("other.yaml", "spec:\n  replicas: 2\n  image: nginx\n"),
        ("requirements.txt", "numpy==2.0.0\n"),
        ("data.json", "{\"rows\": [1, 2, 3]}"),
    ] {
        let imported = read(&[(name, text)]);
        assert!(!imported.has_plan(), "{name}: {:?}", imported.understood);
        let files = [File { name: name.to_owned(), text: text.to_owned() }];
        assert!(imported.to_value(&files, Language::English)["plan"].is_null(), "{name}");
    }
}

#[test]
fn a_method_of_quantisation_without_bits_is_found() {
    let yaml = |more: &str| {
        let text = format!(
            "model_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\nfinetuning_type: lora\ntemplate: qwen\nquantization_method: bnb\n{more}"
        );
        let imported = read(&[("a.yaml", &text)]);
        (kinds(&imported).contains(&"quantizes_nothing"), imported.plan.method.name())
    };
    assert_eq!(yaml("quantization_type: nf4\n"), (true, "lora"));
    assert_eq!(yaml("quantization_bit: 4\n"), (false, "qlora"));
}

#[test]
fn a_device_that_is_not_nvidias_is_said() {
    let train = "train.py --model_name_or_path Qwen/Qwen2.5-0.5B --output_dir o\n";
    let of = |text: String| kinds(&read(&[("t.sh", &text)])).contains(&"other_device");
    assert!(of(format!("ASCEND_RT_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 {train}")));
    assert!(!of(format!("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 {train}")));
    let script =
        "import torch_npu\nfrom transformers import TrainingArguments\nTrainingArguments(output_dir='o', bf16=True)\n";
    assert!(kinds(&read(&[("t.py", script)])).contains(&"other_device"));
}

#[test]
fn files_that_evaluate_say_the_evaluation_batch() {
    let plan = |name: &str, text: &str| read(&[(name, text)]).plan;
    let said = |plan: &Plan| (plan.evaluation.eval_strategy.name(), plan.eval_batch_size());
    let script = "torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2.5-0.5B --output_dir o";
    assert_eq!(said(&plan("t.sh", &format!("{script} --eval_strategy steps --eval_steps 50\n"))), ("steps", 8));
    assert_eq!(said(&plan("t.sh", &format!("{script} --eval_strategy no\n"))).0, "no");
    assert_eq!(said(&plan("t.sh", &format!("{script} --eval_steps 50\n"))).0, "no");
    let old = format!("{script} --evaluation_strategy epoch --per_device_eval_batch_size 2\n");
    assert_eq!(said(&plan("t.sh", &old)), ("epoch", 2));
    let axolotl = |more: &str| {
        plan("a.yml", &format!("base_model: Qwen/Qwen2.5-0.5B\nmicro_batch_size: 3\ndatasets:\n  - path: x\n{more}"))
    };
    // A batch of evaluation is as large as one that trains, and nothing is evaluated without data or a time for it.
    assert_eq!(said(&axolotl("val_set_size: 0.05\nevals_per_epoch: 4\n")), ("steps", 3));
    assert_eq!(said(&axolotl("val_set_size: 0.05\neval_strategy: epoch\neval_batch_size: 1\n")), ("epoch", 1));
    assert_eq!(said(&axolotl("val_set_size: 0.05\n")).0, "no");
    assert_eq!(said(&axolotl("val_set_size: 0\nevals_per_epoch: 4\n")).0, "no");
    assert_eq!(said(&axolotl("test_datasets:\n  - path: y\neval_steps: 10\n")).0, "steps");
    assert_eq!(said(&axolotl("val_set_size: 0.1\neval_strategy: no\n")).0, "no");
    let swift = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset d --max_length 2048";
    assert_eq!(said(&plan("s.sh", &format!("{swift} --split_dataset_ratio 0.01\n"))), ("steps", 1));
    assert_eq!(said(&plan("s.sh", &format!("{swift} --val_dataset v --eval_strategy no\n"))).0, "no");
    assert_eq!(said(&plan("s.sh", &format!("{swift} --eval_steps 100\n"))).0, "no");
    let factory =
        "model_name_or_path: Qwen/Qwen2.5-0.5B\nstage: sft\nfinetuning_type: lora\ndataset: d\ntemplate: qwen\n";
    let factory =
        plan("f.yaml", &format!("{factory}val_size: 0.1\nper_device_eval_batch_size: 1\neval_strategy: steps\n"));
    assert_eq!(said(&factory), ("steps", 1));
}

#[test]
fn metrics_of_whole_logits_are_read_from_the_trainers_arguments() {
    let text = |more: &str| {
        format!(
            "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\
             model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\n\
             args = TrainingArguments(output_dir='o', eval_strategy='epoch', per_device_train_batch_size=2)\n\
             trainer = Trainer(model=model, args=args, train_dataset=a, eval_dataset=b{more})\ntrainer.train()\n"
        )
    };
    let computes = |more: &str| {
        let plan = read(&[("train.py", &text(more))]).plan;
        assert_eq!(plan.evaluation.eval_strategy.name(), "epoch", "{more}");
        plan.evaluation.compute_metrics
    };
    assert!(computes(", compute_metrics=metrics"));
    assert!(!computes(""));
    assert!(!computes(", compute_metrics=None"));
    assert!(!computes(", compute_metrics=metrics, preprocess_logits_for_metrics=argmax"));
}

#[test]
fn experts_that_axolotl_quantises_are_quantised_in_the_plan() {
    let text = "base_model: allenai/OLMoE-1B-7B-0924\nload_in_4bit: true\nquantize_moe_experts: true\nadapter: qlora\nlora_r: 16\n\
        lora_target_modules: [q_proj, k_proj, v_proj, o_proj]\nsequence_len: 2048\nmicro_batch_size: 1\nbf16: true\n";
    let plan = estimated("olmoe.yaml", text);
    assert!(plan.quantization.quantize_moe_experts);
    // And back.
    let exported = export(&plan, Format::Axolotl, Language::English).unwrap();
    assert!(import(&exported.files).plan.quantization.quantize_moe_experts);
}

#[test]
fn a_trainer_that_needs_flash_linear_attention_has_it() {
    let axolotl = "base_model: Qwen/Qwen3.5-4B\nsequence_len: 2048\nmicro_batch_size: 1\nbf16: true\nadapter: lora\nlora_r: 8\n\
        lora_target_linear: true\n";
    assert_eq!(estimated("axolotl.yaml", axolotl).software.flash_linear_attention.as_deref(), Some("0.5.2"));
}
