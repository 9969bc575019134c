//! What a field of a plan holds: its kind, range and unit.

/// Units of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// GPUs.
    Gpus,
    /// Sequences in one forward on one GPU.
    Sequences,
    /// Prompts of a generation round.
    Prompts,
    /// Forwards before the optimizer steps.
    Forwards,
    /// Tokens.
    Tokens,
    /// Elements of a tensor.
    Elements,
    /// Labels of a classifier.
    Labels,
    /// 2^30 bytes.
    Gib,
    /// 2^20 bytes.
    Mib,
    /// Bits a weight.
    Bits,
    /// Pixels of an image's side.
    Pixels,
}

impl Unit {
    /// Symbol or English word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gpus => "GPUs",
            Self::Sequences => "sequences",
            Self::Prompts => "prompts",
            Self::Forwards => "forwards",
            Self::Tokens => "tokens",
            Self::Elements => "elements",
            Self::Labels => "labels",
            Self::Gib => "GiB",
            Self::Mib => "MiB",
            Self::Bits => "bits",
            Self::Pixels => "pixels",
        }
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A number.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A whole number, or nothing.
    OptionalInteger {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A number, or nothing.
    OptionalNumber {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A whole number, or the word `default` or `auto`.
    Bucket {
        /// Largest; the smallest is 0.
        max: u64,
    },
    /// `true` or `false`.
    Flag,
    /// `true`, `false`, or nothing.
    OptionalFlag,
    /// `true`, `false` or the word `auto`.
    AutoFlag,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// One of these names, or nothing.
    OptionalChoice(&'static [&'static str]),
    /// A library's version, or nothing.
    Version,
    /// Free text, or nothing.
    Text,
    /// `major.minor`.
    ComputeCapability,
    /// Names of modules.
    Names,
    /// Names of modules, or `all-linear`.
    TargetModules,
    /// Id of a model in the catalogue; nothing when the plan brings its own.
    ModelId,
    /// Id of a GPU in the catalogue; nothing when the plan describes its own.
    GpuId,
    /// JSON kept as given, or nothing.
    Json,
    /// A model beside the policy as JSON, or nothing.
    Companion,
    /// A list of them, or nothing.
    Companions,
}

impl Kind {
    /// Whether links and forms write its value as JSON.
    pub(super) const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Companion | Self::Companions)
    }
}
