//! What is wrong with a plan.

/// One thing wrong with a plan: the field, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Name of the field as in JSON: `lora.r`.
    pub field: String,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What can be wrong. Data, not sentences: `headroom-text` says it in the reader's language.
#[derive(Debug, Clone, PartialEq)]
pub enum ProblemKind {
    /// A number outside its range.
    OutOfRange {
        /// As given.
        value: String,
        /// Smallest allowed.
        min: String,
        /// Largest allowed.
        max: String,
    },
    /// Not one of the values the field takes.
    NotOneOf {
        /// As given.
        value: String,
        /// What it takes.
        allowed: Vec<&'static str>,
        /// The nearest of them, if one is near.
        nearest: Option<String>,
    },
    /// A value of the wrong kind.
    WrongType {
        /// What is expected: `number`, `whole number`, `true or false`, `text`, `object`, `JSON`, `module names`,
        /// `list of models`, `version`, `language tag`.
        expected: &'static str,
    },
    /// A key Headroom does not know.
    UnknownKey {
        /// The nearest known key, if one is near.
        nearest: Option<String>,
    },
    /// A text that means no model of the catalogue, or several.
    UnknownModel {
        /// As given.
        id: String,
        /// How many models it can mean.
        matches: usize,
        /// A few of them; where it means none, the nearest.
        candidates: Vec<String>,
    },
    /// A text that means no GPU of the catalogue, or several.
    UnknownGpu {
        /// As given.
        id: String,
        /// How many GPUs it can mean.
        matches: usize,
        /// A few of them; where it means none, the nearest.
        candidates: Vec<String>,
    },
    /// A config.json that cannot be read.
    BadConfig {
        /// The key of the config.
        key: String,
        /// What is wrong with it, in English; technical.
        why: String,
    },
    /// A config.json of a class that no reader is written for and that was not recorded, which is not like Llama's either.
    NotRecorded {
        /// Its `model_type`.
        model_type: String,
        /// The key of the config that a reader of Llama-like decoders stumbles over.
        key: String,
        /// What is wrong with it, in English; technical.
        why: String,
    },
    /// A config.json of a class whose recorded program is known of, but not here: a page fetches it when it is first wanted.
    ProgramNotFetched {
        /// Its `model_type`.
        model_type: String,
    },
    /// A config.json of a class that reads sound or writes it.
    AudioNotModelled {
        /// Its `model_type`.
        model_type: String,
    },
    /// No module of the model has such a name.
    NoSuchModule {
        /// As given.
        name: String,
        /// Names it could be.
        known: Vec<String>,
    },
    /// Two numbers of which one has to divide the other.
    NotDivisible {
        /// As given.
        value: u64,
        /// What it has to go into, or be made of.
        other: String,
        /// The value of that.
        other_value: u64,
        /// The nearest values that would do, smaller first.
        nearest: Vec<u64>,
    },
    /// Two fields contradict each other.
    Contradiction {
        /// The other field.
        other: String,
        /// The value of this field that would go together with the other.
        fix: String,
    },
    /// A value that Headroom knows by name and does not model.
    NotModelled {
        /// As given.
        value: String,
        /// Values that are.
        modelled: Vec<&'static str>,
    },
    /// A share of the GPU with which vLLM does not start: too little, or more than is free.
    EngineShare {
        /// What it needs, and what there is.
        need: Box<EngineNeed>,
        /// The least share with which it starts, where one does.
        least: Option<String>,
        /// `max_model_len` of prompt and answer, tokens, where that is less than vLLM takes, and the least share with it.
        shorter: Option<(u64, String)>,
        /// The least share beside weights that load in bfloat16, where frozen ones in float32 leave too little for any.
        in_16_bits: Option<String>,
    },
    /// Not JSON at all.
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// Too long to be a plan.
    TooLong {
        /// Longest allowed, bytes.
        max_bytes: usize,
    },
    /// Required and missing.
    Missing,
    /// Given more than once.
    Duplicate,
    /// A percent escape or a compressed part of a link that is cut off or damaged.
    BadEscape,
    /// A link of a version this Headroom does not know; it is read as the newest version it knows.
    UnknownVersion {
        /// As given.
        value: String,
        /// The newest known version.
        newest: &'static str,
    },
}

/// What vLLM needs of a GPU to start, and what there is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineNeed {
    /// The share as given, or the trainer's.
    pub share: f64,
    /// That share of the GPU, bytes.
    pub requested: u64,
    /// The fewest bytes with which it starts.
    pub needed: u64,
    /// Of these its weights, bytes.
    pub weights: u64,
    /// Of these keys and values of the longest sequence, bytes.
    pub cache: u64,
    /// Tokens of the longest sequence, `max_model_len`.
    pub longest: u64,
    /// What is free of the GPU when it starts, bytes.
    pub free: u64,
}

impl Problem {
    /// A problem of `field`.
    pub fn new(field: impl Into<String>, kind: ProblemKind) -> Self {
        Self { field: field.into(), kind }
    }
}
