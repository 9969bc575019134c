//! Defaults that changed from release to release, as rows: what a release takes from that one on, until a later row of the same
//! field. Read in the published packages of each minor release.

use crate::plan::Task::{self, Cpo, Dpo, Grpo, Kto, Orpo, Reward, Rloo, Sft};
use crate::plan::{Plan, TrainerName, field};
use crate::release::Release;

/// What a trainer takes for a field from a release on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultOf {
    /// The trainer.
    pub trainer: TrainerName,
    /// Tasks that it is for; none: all.
    pub tasks: &'static [Task],
    /// The first release that takes it, of those that were read.
    pub since: Release,
    /// The field of the plan.
    pub field: &'static str,
    /// Its value, as links write it.
    pub value: &'static str,
    /// The file of the package that sets it.
    pub source: &'static str,
}

const TRL: TrainerName = TrainerName::Trl;
const TRANSFORMERS: TrainerName = TrainerName::Transformers;
const FACTORY: TrainerName = TrainerName::LlamaFactory;
const SWIFT: TrainerName = TrainerName::MsSwift;
const AXOLOTL: TrainerName = TrainerName::Axolotl;
/// Before every release that was read.
const FIRST: Release = Release::new(0, 0, 0);

const fn row(
    (trainer, tasks): (TrainerName, &'static [Task]),
    since: Release,
    (field, value): (&'static str, &'static str),
    source: &'static str,
) -> DefaultOf {
    DefaultOf { trainer, tasks, since, field, value, source }
}

const POLICY: &[Task] = &[Grpo, Rloo];

/// Every row, of each field the older first.
pub(crate) static ROWS: &[DefaultOf] = &[
    row((TRANSFORMERS, &[]), FIRST, ("optim", "adamw_torch"), "training_args.py `default_optim`"),
    // With PyTorch 2.8 and newer.
    row(
        (TRANSFORMERS, &[]),
        Release::new(4, 54, 0),
        ("optim", "adamw_torch_fused"),
        "training_args.py `default_optim`",
    ),
    row((TRANSFORMERS, &[]), FIRST, ("torch_dtype", "float32"), "modeling_utils.py `from_pretrained`"),
    row((TRANSFORMERS, &[]), Release::new(5, 0, 0), ("torch_dtype", "bfloat16"), "modeling_utils.py `from_pretrained`"),
    // TRL takes the optimizer of the transformers that it came out with.
    row((TRL, &[]), FIRST, ("optim", "adamw_torch"), "transformers training_args.py `default_optim`"),
    row(
        (TRL, &[]),
        Release::new(0, 20, 0),
        ("optim", "adamw_torch_fused"),
        "transformers training_args.py `default_optim`",
    ),
    row((TRL, &[]), FIRST, ("mixed_precision", "no"), "transformers training_args.py `bf16`"),
    row((TRL, &[]), Release::new(0, 19, 0), ("mixed_precision", "bf16"), "trainer/*_config.py `bf16`"),
    row((TRL, &[]), FIRST, ("gradient_checkpointing", "false"), "transformers training_args.py"),
    row((TRL, &[]), Release::new(0, 22, 0), ("gradient_checkpointing", "true"), "trainer/*_config.py"),
    row(
        (TRL, &[]),
        FIRST,
        ("torch_dtype", "float32"),
        "trainer/utils.py `create_model_from_path`, `from_pretrained` before",
    ),
    // Without a dtype transformers 5 loads what config.json names, transformers 4 fp32.
    row(
        (TRL, &[Orpo, Cpo]),
        Release::new(1, 0, 0),
        ("torch_dtype", "bfloat16"),
        "experimental/{orpo,cpo}/*_trainer.py",
    ),
    row((TRL, &[]), FIRST, ("quantization.prepare_for_kbit_training", "true"), "models/utils.py `prepare_peft_model`"),
    row(
        (TRL, &[Sft, Dpo, Reward, Grpo, Rloo]),
        Release::new(1, 0, 0),
        ("quantization.prepare_for_kbit_training", "false"),
        "trainer/*_trainer.py",
    ),
    row(
        (TRL, &[Kto]),
        Release::new(1, 6, 0),
        ("quantization.prepare_for_kbit_training", "false"),
        "experimental/kto/kto_trainer.py",
    ),
    row((TRL, &[Grpo]), FIRST, ("beta", "0.04"), "trainer/grpo_config.py `beta`"),
    // What the plan has where it says nothing: no reference.
    row((TRL, &[Grpo]), Release::new(0, 19, 0), ("beta", ""), "trainer/grpo_config.py `beta`"),
    row((TRL, POLICY), Release::new(1, 10, 0), ("max_completion_length", "512"), "trainer/{grpo,rloo}_config.py"),
    row((TRL, POLICY), FIRST, ("vllm_mode", "server"), "trainer/{grpo,rloo}_config.py `vllm_mode`"),
    row((TRL, POLICY), Release::new(1, 0, 0), ("vllm_mode", ""), "trainer/{grpo,rloo}_config.py `vllm_mode`"),
    // LLaMA-Factory 0.9.3 wants a transformers below 4.53, 0.9.4 one up to 4.57.
    row((FACTORY, &[]), FIRST, ("optim", "adamw_torch"), "transformers training_args.py `default_optim`"),
    row(
        (FACTORY, &[]),
        Release::new(0, 9, 4),
        ("optim", "adamw_torch_fused"),
        "transformers training_args.py `default_optim`",
    ),
    row((FACTORY, &[]), FIRST, ("max_length", "1024"), "hparams/data_args.py `cutoff_len`"),
    row((FACTORY, &[]), Release::new(0, 9, 1), ("max_length", "2048"), "hparams/data_args.py `cutoff_len`"),
    // Up to 0.1 `max_source_length` and `max_target_length`, 512 each.
    row((FACTORY, &[]), FIRST, ("lora.lora_dropout", "0.1"), "hparams/finetuning_args.py `lora_dropout`"),
    row((FACTORY, &[]), Release::new(0, 5, 0), ("lora.lora_dropout", "0"), "hparams/finetuning_args.py `lora_dropout`"),
    // Up to 0.3 with a transformers below 4.35, which knows no sdpa; 0.4 asks for 4.36.
    row((FACTORY, &[]), FIRST, ("attn_implementation", "eager"), "requirements.txt"),
    row((FACTORY, &[]), Release::new(0, 4, 0), ("attn_implementation", "sdpa"), "requirements.txt"),
    // ms-swift takes the optimizer of the transformers that it came out with.
    row((SWIFT, &[]), FIRST, ("optim", "adamw_torch"), "transformers training_args.py `default_optim`"),
    row(
        (SWIFT, &[]),
        Release::new(3, 7, 0),
        ("optim", "adamw_torch_fused"),
        "transformers training_args.py `default_optim`",
    ),
    // One row in a hundred is kept back to evaluate with, as often as it saves.
    row(
        (SWIFT, &[]),
        FIRST,
        ("eval_strategy", "steps"),
        "arguments of data `dataset_test_ratio`, `split_dataset_ratio`",
    ),
    row((SWIFT, &[]), Release::new(3, 6, 0), ("eval_strategy", "no"), "arguments of data `split_dataset_ratio`"),
    // What the package asks for is installed beside it.
    row((AXOLOTL, &[]), FIRST, ("flash_linear_attention", ""), "METADATA"),
    row((AXOLOTL, &[]), Release::new(0, 17, 0), ("flash_linear_attention", "0.4.1"), "METADATA `Requires-Dist`"),
    row((AXOLOTL, &[]), Release::new(0, 19, 0), ("flash_linear_attention", "0.5.2"), "METADATA `Requires-Dist`"),
];

impl DefaultOf {
    /// Whether it is for this trainer and task.
    pub fn is_for(&self, trainer: TrainerName, task: Task) -> bool {
        self.trainer == trainer && (self.tasks.is_empty() || self.tasks.contains(&task))
    }

    /// The field's name in JSON.
    pub fn name(&self) -> &'static str {
        crate::plan::fields()
            .iter()
            .find(|one| one.name == self.field || one.link == self.field)
            .map_or("", |one| one.name)
    }

    fn put(&self, plan: &mut Plan) {
        if let Some(field) = field(self.name()) {
            // Each is a value of its field: a test asserts it.
            let _ = field.set_text(plan, self.value);
        }
    }
}

/// Puts into `plan` what its trainer's release takes.
pub(super) fn apply(plan: &mut Plan) {
    let (name, task, release) = (plan.trainer.name, plan.task, plan.trainer.stated());
    for row in ROWS.iter().filter(|row| row.is_for(name, task) && row.since <= release) {
        row.put(plan);
    }
}

/// Releases from which `trainer` takes another default for a field, in the order of the rows; some of them more than once.
pub fn changed_defaults(trainer: TrainerName) -> impl Iterator<Item = Release> {
    ROWS.iter().filter(move |row| row.trainer == trainer && row.since > FIRST).map(|row| row.since)
}

/// Rows of `trainer` and `task` that a release older than `release` lacks: what it took before them is another value.
pub fn changed_before(trainer: TrainerName, task: Task, release: Release) -> Vec<(DefaultOf, DefaultOf)> {
    let of = |row: &&DefaultOf| row.is_for(trainer, task);
    let newer = ROWS.iter().filter(of).filter(|row| row.since > FIRST && row.since <= release);
    let before =
        |row: &DefaultOf| ROWS.iter().filter(of).rfind(|old| old.field == row.field && old.since < row.since).copied();
    newer.filter_map(|row| Some((before(row)?, *row))).collect()
}
