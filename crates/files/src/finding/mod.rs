//! What is wrong, or worth knowing, about the files: data, said by a language.

mod chinese;
mod english;

use headroom_core::plan::{LaunchedBy, Problem, Task, TrainerName};
pub use headroom_text::Language;

use crate::syntax::{FaultKind, Span};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// It runs, but not as its author thinks.
    Warning,
    /// It does not run.
    Error,
}

impl Severity {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something found in the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// The file, by its place in the list; `None` for what no file says.
    pub file: Option<usize>,
    /// Where in it.
    pub span: Span,
    /// What corrects it, where that is clear.
    pub fix: Option<Fix>,
}

/// A change that corrects a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    /// Texts to replace, in one or several files.
    pub edits: Vec<Edit>,
    /// Fields of the plan and their new values, as links write them.
    pub fields: Vec<(&'static str, String)>,
}

/// A piece of a file and what to put in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file, by its place in the list.
    pub file: usize,
    /// Bytes to replace.
    pub span: Span,
    /// What takes their place.
    pub text: String,
}

/// Declares the findings: variant, id, severity, and what each says.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident $({ $($(#[$fdoc:meta])* $field:ident: $type:ty),+ $(,)? })? = $id:literal, $severity:ident;)+) => {
        /// What can be found.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Kind { $($(#[$doc])* $variant $({ $($(#[$fdoc])* $field: $type),+ })?),+ }
        impl Kind {
            /// Name in JSON.
            pub const fn id(&self) -> &'static str {
                match self { $(Self::$variant $({ $($field: _),+ })? => $id),+ }
            }
            /// How bad it is.
            pub const fn severity(&self) -> Severity {
                match self { $(Self::$variant $({ $($field: _),+ })? => Severity::$severity),+ }
            }
        }
    };
}

kinds! {
    /// A file that cannot be read.
    Unreadable {
        /// What is wrong with it.
        fault: FaultKind,
    } = "unreadable", Error;
    /// A file of which nothing was recognised.
    Unrecognised = "unrecognised", Warning;
    /// A key that the tool does not have.
    UnknownKey {
        /// The tool.
        tool: &'static str,
        /// As written.
        key: String,
        /// The nearest key it has.
        nearest: Option<&'static str>,
    } = "unknown_key", Warning;
    /// A value that its key does not take.
    BadValue {
        /// As written.
        key: String,
        /// As written.
        value: String,
        /// What the key takes.
        expected: String,
    } = "bad_value", Error;
    /// The former name of a key.
    Renamed {
        /// As written.
        key: String,
        /// Its name now.
        now: &'static str,
        /// Since when.
        since: &'static str,
    } = "renamed_key", Warning;
    /// What launches the run is known, and its step is not modelled for the task.
    TrainerNotModelled {
        /// What launches it.
        by: LaunchedBy,
        /// The task.
        task: Task,
        /// Whose step is estimated in its place.
        nearest: TrainerName,
    } = "trainer_not_modelled", Warning;
    /// A key that the release in force does not take any more.
    RemovedKey {
        /// The tool.
        tool: &'static str,
        /// Its release.
        release: String,
        /// As written.
        key: String,
        /// The last minor release that took it.
        last: String,
        /// What stands in its place; nothing where that is nothing.
        now: &'static str,
    } = "removed_key", Error;
    /// The stated release was not measured: its defaults are its own, the step is that of another.
    StepOfRelease {
        /// The trainer.
        trainer: TrainerName,
        /// As stated.
        stated: String,
        /// Whose step is estimated.
        measured: String,
    } = "step_of_release", Note;
    /// No file states the trainer's release.
    ReleaseAssumed {
        /// The trainer.
        trainer: TrainerName,
        /// The release that is taken.
        taken: String,
        /// What older ones take otherwise: `field = value` before a release.
        changes: Vec<String>,
    } = "release_assumed", Note;
    /// No file states a release, and a key is of an older one.
    ReleaseImplied {
        /// The tool.
        tool: &'static str,
        /// As written.
        key: String,
        /// The last minor release that took it, which is taken.
        last: String,
        /// What stands in its place since; nothing where that is nothing.
        now: &'static str,
    } = "release_implied", Warning;
    /// The release has no defaults of its own here: another's stand for what the files leave open.
    ReleaseNotModelled {
        /// The trainer.
        trainer: TrainerName,
        /// The release: stated, or the last minor one that took `key`.
        release: String,
        /// The key that says the release, where no file states it.
        key: Option<String>,
        /// The release whose defaults are taken.
        measured: String,
    } = "release_not_modelled", Warning;
    /// How weights are quantised is said, and not in how many bits: nothing is.
    QuantizesNothing {
        /// As written.
        key: String,
        /// The key that quantises.
        bits: &'static str,
    } = "quantizes_nothing", Warning;
    /// The files are of a device that is not NVIDIA's.
    OtherDevice {
        /// What says so.
        key: String,
    } = "other_device", Warning;
    /// The trainer is modelled, and this task of it is not.
    TaskNotModelled {
        /// The trainer.
        trainer: &'static str,
        /// The task as the files say it.
        task: String,
        /// The task of the plan.
        nearest: &'static str,
    } = "task_not_modelled", Warning;
    /// No file names a model.
    NoModel = "no_model", Note;
    /// The model is not in the catalogue.
    UnknownModel {
        /// As written.
        name: String,
    } = "unknown_model", Warning;
    /// A value that another replaces.
    Overridden {
        /// As written.
        key: String,
        /// The value that does not count.
        value: String,
        /// The value that does.
        by: String,
    } = "overridden", Note;
    /// A file that others name and that was not given.
    MissingFile {
        /// As written.
        path: String,
    } = "missing_file", Warning;
    /// A configuration that the trainer ships stands for the file.
    ShippedFile {
        /// As written.
        path: String,
    } = "shipped_file", Note;
    /// The script asks whether the GPU has bf16.
    AssumedBf16 = "assumed_bf16", Note;
    /// Several commands of a script train.
    SeveralCommands {
        /// How many.
        commands: usize,
    } = "several_commands", Note;
    /// A script trains in one way and then in another.
    TrainsAgain {
        /// What it trains first.
        before: &'static str,
        /// What it trains last.
        last: &'static str,
    } = "trains_again", Note;
    /// A comment within a command ends it, and options follow.
    CommandCut {
        /// How many.
        options: usize,
    } = "command_cut", Warning;
    /// Lines of a command lack the backslash that joins them.
    LinesNotJoined {
        /// How many options stand behind the first.
        options: usize,
    } = "lines_not_joined", Warning;
    /// Nothing says how many GPUs.
    GpusUnknown = "gpus_unknown", Note;
    /// Nothing says how many GPUs, and the plan is shared out among them.
    GpusMissing = "gpus_missing", Warning;
    /// Nothing says on how many machines a stated number of processes runs.
    MachinesMissing {
        /// Processes on each.
        each: u64,
    } = "machines_missing", Warning;
    /// Words behind a launcher that may say how many processes there are, and that nobody knows.
    LauncherOpen = "launcher_open", Warning;
    /// More processes than the GPUs that they can see.
    ProcessesBeyondGpus {
        /// What says how many processes, as written.
        key: String,
        /// Processes on a machine.
        processes: u64,
        /// What says how many GPUs, as written.
        by: String,
        /// GPUs.
        seen: u64,
    } = "processes_beyond_gpus", Warning;
    /// Several GPUs and one process: `torch.nn.DataParallel`.
    DataParallel {
        /// GPUs that are visible.
        gpus: u64,
    } = "data_parallel", Warning;
    /// The length is the model's own.
    LengthOfModel = "length_of_model", Note;
    /// `MULTI_GPU` with one process.
    MultiGpuOneProcess = "multi_gpu_one_process", Warning;
    /// GPUs are listed that are not as many as the processes.
    GpuIdsProcesses {
        /// GPUs listed.
        listed: u64,
        /// Processes.
        processes: u64,
    } = "gpu_ids_processes", Error;
    /// Parameters are offloaded by a stage that does not shard them.
    ParamOffloadStage {
        /// The stage.
        stage: u64,
    } = "param_offload_stage", Error;
    /// The optimizer is offloaded without a stage.
    OffloadWithoutStage = "offload_without_stage", Error;
    /// ZeRO on one GPU.
    ZeroOnOneGpu {
        /// The stage.
        stage: u64,
        /// Whether something is offloaded, which helps there.
        offloads: bool,
    } = "zero_on_one_gpu", Warning;
    /// A value of DeepSpeed's file that is not the Trainer's.
    DeepspeedMismatch {
        /// What both set.
        field: &'static str,
        /// DeepSpeed's value.
        value: String,
        /// The Trainer's.
        trainer: String,
    } = "deepspeed_mismatch", Error;
    /// `train_batch_size` is no product of its parts.
    BatchProduct {
        /// As written.
        value: u64,
        /// Sequences in one forward on one GPU.
        micro: u64,
        /// Accumulation.
        steps: u64,
        /// GPUs.
        world: u64,
    } = "batch_product", Error;
    /// Both autocasts.
    Fp16AndBf16 = "fp16_and_bf16", Error;
    /// bf16 on a GPU without it.
    Bf16Unsupported {
        /// The GPU.
        gpu: String,
    } = "bf16_unsupported", Error;
    /// flash-attn on a GPU that it does not run on.
    FlashUnsupported {
        /// The GPU.
        gpu: String,
    } = "flash_unsupported", Error;
    /// `device_map="auto"` under several processes.
    DeviceMapDistributed {
        /// Processes.
        processes: u64,
    } = "device_map_distributed", Error;
    /// `device_map="auto"` in one process.
    DeviceMapSpreads = "device_map_spreads", Warning;
    /// One model is loaded twice.
    ModelTwice {
        /// The model.
        name: String,
        /// The line of the first load.
        line: usize,
        /// Weights of one instance in their published dtype, where the model is known, bytes.
        bytes: Option<u64>,
    } = "model_twice", Warning;
    /// All weights train, and they are quantised.
    FullOfQuantized = "full_of_quantized", Error;
    /// Checkpointing with `use_cache`.
    CheckpointingUseCache = "checkpointing_use_cache", Warning;
    /// A quantised base in bytes under FSDP.
    QuantizedNotSharded {
        /// The dtype that would be sharded.
        dtype: &'static str,
    } = "quantized_not_sharded", Warning;
    /// Longer than the model's positions.
    LongerThanModel {
        /// The plan's length.
        length: u64,
        /// The model's.
        longest: u64,
    } = "longer_than_model", Warning;
    /// A generation round that is no whole number of groups.
    PartialGroup {
        /// Sequences of a round.
        sequences: u64,
        /// Sequences of a group.
        group: u64,
    } = "partial_group", Error;
    /// Something that no plan can be.
    Planned {
        /// What.
        problem: Problem,
    } = "plan_problem", Error;
    /// Something that no plan can be, and that the tool does: the estimate waits, the run does not.
    NotModelled {
        /// What.
        problem: Problem,
    } = "not_modelled", Warning;
    /// LoRA targets that match no module beside others that do: peft passes over them.
    UnmatchedTargets {
        /// The names, separated by commas.
        names: String,
    } = "unmatched_targets", Warning;
    /// A key that has no effect in this trainer.
    NoEffect {
        /// As written.
        key: String,
        /// The key that has one.
        instead: &'static str,
    } = "no_effect", Warning;
}

/// What a language says about a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What it is and what happens.
    pub what: String,
    /// What to do.
    pub fix: String,
}

impl Finding {
    /// A finding of `kind` at `span` of `file`.
    pub fn at(kind: Kind, file: usize, span: Span) -> Self {
        Self { kind, file: Some(file), span, fix: None }
    }

    /// A finding that no line shows.
    pub fn nowhere(kind: Kind) -> Self {
        Self { kind, file: None, span: Span::default(), fix: None }
    }

    /// The same with a fix.
    #[must_use]
    pub fn with_fix(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }

    /// The finding in words.
    pub fn said(&self, language: Language) -> Said {
        match language {
            Language::English => english::said(&self.kind),
            Language::Chinese => chinese::said(&self.kind),
        }
    }
}
