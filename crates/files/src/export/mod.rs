//! A plan as files that the real tools run: configurations, scripts, launch commands, with the reasons as comments.
//!
//! What is written is read back by [`crate::import`]; fields that no file says are listed with it.

mod accelerate;
mod arguments;
mod axolotl;
mod callback;
mod deepspeed;
mod generation;
mod launch;
mod llamafactory;
mod loading;
mod ms_swift;
mod notation;
mod planned;
mod requirements;
mod setting;
mod summary;
mod transformers;
mod trl;
mod unsaid;
mod unsloth;
mod verl;
mod why;
mod zip;

use headroom_core::plan::{Method, ModelChoice, Plan, TrainerName};
use headroom_text::Language;

use planned::{ACCELERATE_FILE, DEEPSPEED_FILE, MODEL_FOLDER, Planned, Sharding};
pub use zip::zip;

use crate::import::File;

/// What a plan can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Everything that the plan's own trainer runs, with a README.
    All,
    /// DeepSpeed's JSON.
    Deepspeed,
    /// accelerate's YAML.
    Accelerate,
    /// A script around `transformers.Trainer`.
    Transformers,
    /// A script around TRL.
    Trl,
    /// The YAML of `trl sft` and its siblings.
    TrlYaml,
    /// LLaMA-Factory's YAML.
    LlamaFactory,
    /// axolotl's YAML.
    Axolotl,
    /// ms-swift's command.
    MsSwift,
    /// A script around Unsloth.
    Unsloth,
    /// verl's command.
    Verl,
    /// `LoraConfig`.
    Peft,
    /// `BitsAndBytesConfig`.
    Bitsandbytes,
    /// Lines of the environment, and the command that launches.
    Launch,
    /// A callback that prints what is allocated.
    Callback,
    /// Plan and estimate as Markdown.
    Markdown,
    /// The plan as JSON.
    Json,
    /// The estimate as CSV.
    Csv,
}

impl Format {
    /// Every format, in the order in which lists show them.
    pub const ALL: [Self; 18] = [
        Self::All,
        Self::Trl,
        Self::TrlYaml,
        Self::Transformers,
        Self::LlamaFactory,
        Self::Axolotl,
        Self::MsSwift,
        Self::Unsloth,
        Self::Verl,
        Self::Accelerate,
        Self::Deepspeed,
        Self::Peft,
        Self::Bitsandbytes,
        Self::Launch,
        Self::Callback,
        Self::Markdown,
        Self::Json,
        Self::Csv,
    ];

    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Deepspeed => "deepspeed",
            Self::Accelerate => "accelerate",
            Self::Transformers => "transformers",
            Self::Trl => "trl",
            Self::TrlYaml => "trl-yaml",
            Self::LlamaFactory => "llamafactory",
            Self::Axolotl => "axolotl",
            Self::MsSwift => "ms-swift",
            Self::Unsloth => "unsloth",
            Self::Verl => "verl",
            Self::Peft => "peft",
            Self::Bitsandbytes => "bitsandbytes",
            Self::Launch => "launch",
            Self::Callback => "callback",
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }

    /// The format called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The trainer whose files it is.
    const fn trainer(self) -> Option<TrainerName> {
        match self {
            Self::Transformers => Some(TrainerName::Transformers),
            Self::Trl | Self::TrlYaml => Some(TrainerName::Trl),
            Self::LlamaFactory => Some(TrainerName::LlamaFactory),
            Self::Axolotl => Some(TrainerName::Axolotl),
            Self::MsSwift => Some(TrainerName::MsSwift),
            Self::Unsloth => Some(TrainerName::Unsloth),
            Self::Verl => Some(TrainerName::Verl),
            _ => None,
        }
    }
}

/// Why a plan is not written as a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The trainer has no such task.
    NoSuchTask(TrainerName),
    /// The trainer refuses a quantised base under FSDP2 where it trains on preferences.
    QuantisedFsdp2(TrainerName),
    /// The plan has nothing of the kind: no adapters, no quantised base, no ZeRO.
    Nothing(Format),
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// The files, the most important first.
    pub files: Vec<File>,
    /// Fields of the plan that the files, read again, say otherwise or not at all.
    pub unsaid: Vec<&'static str>,
}

/// Writes `plan` as `format`; comments in `language`.
///
/// # Errors
/// Why there is nothing to write.
pub fn export(plan: &Plan, format: Format, language: Language) -> Result<Export, Refused> {
    let mut planned = Planned::new(plan, language);
    let one = |name: &str, text: String| Ok(Export { files: vec![file(name, text)], unsaid: Vec::new() });
    let nothing = Err(Refused::Nothing(format));
    match format {
        Format::Deepspeed if planned.sharding() != Sharding::Zero => nothing,
        Format::Deepspeed => one(DEEPSPEED_FILE, notation::json(&deepspeed::config(&planned))),
        Format::Accelerate => {
            let mut files = vec![file(ACCELERATE_FILE, notation::yaml(&accelerate::config(&planned), language))];
            files.extend(deepspeed_file(&planned));
            Ok(Export { files, unsaid: Vec::new() })
        }
        Format::Peft if plan.method == Method::Full => nothing,
        Format::Peft => {
            one("lora_config.py", call(&planned, "from peft import LoraConfig", "peft_config", "LoraConfig"))
        }
        Format::Bitsandbytes if plan.method != Method::Qlora => nothing,
        Format::Bitsandbytes => {
            let import = "import torch\nfrom transformers import BitsAndBytesConfig";
            one("quantization_config.py", call(&planned, import, "quantization_config", "BitsAndBytesConfig"))
        }
        Format::Launch => {
            let mut files = trainer_files(&planned, own_trainer(plan))?;
            files.retain(|file| file.name == LAUNCH_FILE);
            Ok(Export { files, unsaid: Vec::new() })
        }
        Format::Callback => one(callback::FILE, callback::file(&planned)),
        Format::Markdown => one("README.md", summary::markdown(&planned, own_trainer(plan), &[])),
        Format::Json => one("plan.json", plan.to_json()),
        Format::Csv => one("estimate.csv", summary::csv(&planned)),
        Format::All => {
            planned.checks_memory = true;
            whole(&planned)
        }
        Format::TrlYaml => run(&planned, TrainerName::Trl, trl_command_files(&planned)?),
        Format::Transformers
        | Format::Trl
        | Format::LlamaFactory
        | Format::Axolotl
        | Format::MsSwift
        | Format::Unsloth
        | Format::Verl => {
            let trainer = format.trainer().unwrap_or(own_trainer(plan));
            run(&planned, trainer, trainer_files(&planned, trainer)?)
        }
    }
}

/// Name of the script that launches.
const LAUNCH_FILE: &str = "launch.sh";

/// The trainer that runs the plan; a loop of one's own is written around transformers' Trainer.
fn own_trainer(plan: &Plan) -> TrainerName {
    match plan.trainer.name {
        TrainerName::Custom if trl::classes(plan).is_some() && plan.task != headroom_core::plan::Task::Sft => {
            TrainerName::Trl
        }
        TrainerName::Custom | TrainerName::Torchtune => TrainerName::Transformers,
        named => named,
    }
}

fn file(name: &str, text: String) -> File {
    File { name: name.to_owned(), text }
}

/// `name = class(...)` with its import.
fn call(planned: &Planned<'_>, import: &str, name: &str, class: &str) -> String {
    let settings = if class == "LoraConfig" { loading::lora(planned) } else { loading::bitsandbytes(planned) };
    format!("{import}\n\n{name} = {class}(\n{})\n", notation::keywords(&settings, 1, planned.language))
}

fn deepspeed_file(planned: &Planned<'_>) -> Option<File> {
    (planned.sharding() == Sharding::Zero).then(|| file(DEEPSPEED_FILE, notation::json(&deepspeed::config(planned))))
}

/// What stands beside a trainer's own file: accelerate's, the model's config.
fn beside(planned: &Planned<'_>, uses_accelerate: bool) -> Vec<File> {
    let mut files = Vec::new();
    if uses_accelerate && planned.is_distributed() {
        files.push(file(ACCELERATE_FILE, notation::yaml(&accelerate::config(planned), planned.language)));
    }
    if let ModelChoice::Config { config, .. } = &planned.plan.model {
        let text = serde_json::to_string_pretty(config).unwrap_or_default();
        files.push(file(&format!("{MODEL_FOLDER}/config.json"), text + "\n"));
    }
    files
}

/// What `files` of `trainer` name, and what has to be installed for them.
fn completed(planned: &Planned<'_>, trainer: TrainerName, mut files: Vec<File>) -> Vec<File> {
    let is_named = |name: &str| files.iter().any(|file| file.text.contains(name));
    // A file that nothing reads would be taken for a setting of the run.
    let of_deepspeed = deepspeed_file(planned).filter(|_| is_named(DEEPSPEED_FILE));
    let check = is_named(callback::MODULE).then(|| file(callback::FILE, callback::file(planned)));
    files.extend(of_deepspeed);
    files.extend(check);
    files.push(file("requirements.txt", requirements::requirements(planned, trainer, &files)));
    files
}

/// Every file that `trainer` needs to run the plan, its own first.
fn trainer_files(planned: &Planned<'_>, trainer: TrainerName) -> Result<Vec<File>, Refused> {
    let language = planned.language;
    let refused = || Refused::NoSuchTask(trainer);
    let mut reasons = String::new();
    let mut command = |command: launch::Command| {
        reasons = command.reasons;
        command.text
    };
    let (own, program, uses_accelerate) = match trainer {
        TrainerName::Trl => {
            let script = trl::script(planned).ok_or_else(refused)?;
            (Some(file("train.py", script)), "train.py".to_owned(), true)
        }
        TrainerName::LlamaFactory => {
            let config = llamafactory::config(planned).ok_or_else(refused)?;
            let yaml = notation::yaml(&config, language);
            (Some(file("train.yaml", yaml)), "train.yaml".to_owned(), planned.sharding() == Sharding::Fsdp)
        }
        TrainerName::Axolotl if axolotl::refuses(planned) => return Err(Refused::QuantisedFsdp2(trainer)),
        TrainerName::Axolotl => {
            let config = axolotl::config(planned).ok_or_else(refused)?;
            (Some(file("config.yml", notation::yaml(&config, language))), "config.yml".to_owned(), false)
        }
        TrainerName::MsSwift => (None, command(ms_swift::command(planned).ok_or_else(refused)?), false),
        TrainerName::Verl => (None, command(verl::command(planned).ok_or_else(refused)?), false),
        TrainerName::Unsloth => {
            let script = unsloth::script(planned).ok_or_else(refused)?;
            (Some(file("train.py", script)), "train.py".to_owned(), true)
        }
        _ => {
            let script = transformers::script(planned).ok_or_else(refused)?;
            (Some(file("train.py", script)), "train.py".to_owned(), true)
        }
    };
    let mut files: Vec<File> = own.into_iter().collect();
    files.push(file(LAUNCH_FILE, launch::script(planned, trainer, &reasons, &program)));
    files.extend(beside(planned, uses_accelerate));
    if trainer == TrainerName::MsSwift && planned.sharding() == Sharding::Fsdp {
        files.push(file(ms_swift::FSDP_FILE, notation::json(&ms_swift::fsdp(planned))));
    }
    Ok(completed(planned, trainer, files))
}

/// The same for `trl sft --config` and its siblings.
fn trl_command_files(planned: &Planned<'_>) -> Result<Vec<File>, Refused> {
    let command = trl::subcommand(planned.plan.task).ok_or(Refused::NoSuchTask(TrainerName::Trl))?;
    let config = notation::yaml(&trl::command_config(planned), planned.language);
    let mut start = format!("trl {command} --config config.yaml");
    if planned.is_distributed() {
        start += &format!(" --accelerate_config {ACCELERATE_FILE}{}", launch::rank(planned.plan));
    }
    let machines = launch::machines(planned);
    let script = format!("#!/bin/sh\nset -e\n{}{machines}{start}\n", launch::environment(planned));
    let mut files = vec![file("config.yaml", config), file(LAUNCH_FILE, script)];
    files.extend(beside(planned, true));
    Ok(completed(planned, TrainerName::Trl, files))
}

/// `files` with what they do not say.
fn run(planned: &Planned<'_>, trainer: TrainerName, mut files: Vec<File>) -> Result<Export, Refused> {
    let unsaid = unsaid::unsaid(planned, trainer, &files);
    unsaid::note(planned, &mut files, &unsaid);
    Ok(Export { files, unsaid })
}

/// The files of the plan's own trainer with a README; scripts print what each step allocates.
fn whole(planned: &Planned<'_>) -> Result<Export, Refused> {
    let trainer = own_trainer(planned.plan);
    let Export { mut files, unsaid } = run(planned, trainer, trainer_files(planned, trainer)?)?;
    let names: Vec<String> = unsaid.iter().map(|field| (*field).to_owned()).collect();
    files.push(file("README.md", summary::markdown(planned, trainer, &names)));
    files.push(file("plan.json", planned.plan.to_json()));
    Ok(Export { files, unsaid })
}
