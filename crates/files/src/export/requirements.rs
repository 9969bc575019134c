//! What pip installs before exported files run: the trainer's own package, what scripts import, and what settings ask for.

use headroom_core::plan::{AttnImplementation, LossImplementation, Method, Plan, RolloutEngine, TrainerName};

use super::planned::{DEEPSPEED_FILE, Planned};
use crate::import::File;

/// Packages of optimizers, by a part of the name under which transformers knows the optimizer (trainer_optimizer.py).
const OF_OPTIMIZERS: [(&str, &str); 13] = [
    ("bnb", "bitsandbytes"),
    ("paged_", "bitsandbytes"),
    ("lion_", "bitsandbytes"),
    ("ademamix", "bitsandbytes"),
    ("galore_adamw_8bit", "bitsandbytes"),
    ("galore_", "galore-torch"),
    ("apollo_", "apollo-torch"),
    ("lomo", "lomo-optim"),
    ("schedule_free", "schedulefree"),
    ("stable_adamw", "torch-optimi"),
    ("grokadamw", "grokadamw"),
    ("adamw_torch_8bit", "torchao"),
    ("adamw_torch_4bit", "torchao"),
];

/// The trainer's own package.
const fn package(trainer: TrainerName) -> &'static str {
    match trainer {
        TrainerName::Trl => "trl",
        TrainerName::LlamaFactory => "llamafactory",
        TrainerName::MsSwift => "ms-swift",
        TrainerName::Axolotl => "axolotl",
        TrainerName::Unsloth => "unsloth",
        TrainerName::Verl => "verl",
        TrainerName::Custom | TrainerName::Transformers | TrainerName::Torchtune => "transformers",
    }
}

/// What the trainer's own package installs in versions that it chooses: a second opinion would stop pip.
const fn brings(trainer: TrainerName) -> &'static [&'static str] {
    match trainer {
        TrainerName::Axolotl => {
            &["torch", "transformers", "trl", "peft", "accelerate", "datasets", "bitsandbytes", "liger-kernel"]
        }
        TrainerName::Unsloth => &["torch", "transformers", "trl", "peft", "accelerate", "datasets", "bitsandbytes"],
        TrainerName::LlamaFactory | TrainerName::MsSwift => {
            &["torch", "transformers", "trl", "peft", "accelerate", "datasets"]
        }
        TrainerName::Verl => &["torch", "transformers", "peft", "accelerate", "datasets"],
        TrainerName::Trl | TrainerName::Custom | TrainerName::Transformers | TrainerName::Torchtune => &[],
    }
}

/// `requirements.txt` of `files`, which `trainer` runs.
pub(super) fn requirements(planned: &Planned<'_>, trainer: TrainerName, files: &[File]) -> String {
    let plan = planned.plan;
    let own = package(trainer);
    let mut packages = vec![own.to_owned()];
    let mut add = |package: &str| {
        if !packages.iter().any(|other| other == package) {
            packages.push(package.to_owned());
        }
    };
    imported(files).iter().for_each(|module| add(module));
    let needed = asked_for(planned, files).into_iter().chain(stated(plan).map(|(name, _)| name));
    let is_plans_own = plan.trainer.name == trainer;
    for name in needed.filter(|name| is_plans_own && version(plan, name).is_some() || !brings(trainer).contains(name)) {
        add(name);
    }
    let line = |name: &String| {
        let stated = version(plan, name).filter(|_| is_plans_own || !brings(trainer).contains(&name.as_str()));
        let pin = stated.or_else(|| own_version(plan, trainer).filter(|_| name == own));
        pin.map_or_else(|| format!("{name}\n"), |version| format!("{name}=={version}\n"))
    };
    packages.iter().map(line).collect()
}

/// The version of the trainer's package: the plan's own, or the newest whose step was measured, which the files are written for.
fn own_version(plan: &Plan, trainer: TrainerName) -> Option<String> {
    let stated = plan.trainer.version.clone().filter(|_| plan.trainer.name == trainer);
    stated.or_else(|| trainer.measured().last().map(ToString::to_string))
}

/// The libraries whose versions the plan states.
fn stated(plan: &Plan) -> impl Iterator<Item = (&'static str, &String)> {
    let of = &plan.software;
    let all = [
        ("torch", &of.torch),
        ("transformers", &of.transformers),
        ("peft", &of.peft),
        ("bitsandbytes", &of.bitsandbytes),
        ("flash-linear-attention", &of.flash_linear_attention),
        ("causal-conv1d", &of.causal_conv1d),
        ("mamba-ssm", &of.mamba_ssm),
    ];
    all.into_iter().filter_map(|(name, version)| Some((name, version.as_ref()?)))
}

fn version(plan: &Plan, package: &str) -> Option<String> {
    stated(plan).find(|(name, _)| *name == package).map(|(_, version)| version.clone())
}

/// Packages that scripts among `files` import; their modules are named after them. Other files of the folder are none.
fn imported(files: &[File]) -> Vec<String> {
    let mut modules = Vec::new();
    for line in files.iter().filter(|file| file.name.ends_with(".py")).flat_map(|file| file.text.lines()) {
        let Some(rest) = line.strip_prefix("import ").or_else(|| line.strip_prefix("from ")) else { continue };
        let module = rest.split([' ', '.', ',']).next().unwrap_or_default();
        if !files.iter().any(|file| file.name.strip_suffix(".py") == Some(module)) {
            modules.push(module.to_owned());
        }
    }
    modules
}

/// Packages that the settings ask for, and that no line of a script names.
fn asked_for(planned: &Planned<'_>, files: &[File]) -> Vec<&'static str> {
    let plan = planned.plan;
    let optim = plan.optim.name();
    let is_sharded_by_deepspeed = files.iter().any(|file| file.text.contains(DEEPSPEED_FILE));
    let by_vllm = plan.is_reinforcement() && plan.rollout.engine == Some(RolloutEngine::Vllm);
    [
        // transformers' Trainer runs on it, and so does everything that is built on that.
        (true, "accelerate"),
        (plan.method != Method::Full, "peft"),
        (plan.method == Method::Qlora, "bitsandbytes"),
        (is_sharded_by_deepspeed, "deepspeed"),
        (plan.use_liger_kernel || plan.loss_implementation == LossImplementation::Liger, "liger-kernel"),
        (plan.loss_implementation == LossImplementation::CutCrossEntropy, "cut-cross-entropy"),
        (plan.attn_implementation == AttnImplementation::FlashAttention2, "flash-attn"),
        (by_vllm, "vllm"),
    ]
    .into_iter()
    .chain(OF_OPTIMIZERS.map(|(part, package)| (optim.contains(part), package)))
    .filter_map(|(is_needed, package)| is_needed.then_some(package))
    .collect()
}
