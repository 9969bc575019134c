//! What the caller brings: names of kinds, categories and phases. To this crate they are numbers.

/// What an allocation is, as the caller numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(pub u8);

/// Where a kind is counted, as the caller numbers it from 0; less than [`CATEGORIES`].
pub type Category = u8;

/// Most categories that are told apart.
pub const CATEGORIES: usize = 10;

/// Part of a step, as the caller numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PhaseId {
    /// The caller's number.
    pub number: u8,
    /// Whether layers run first to last in it.
    pub forwards: bool,
}

/// Index of an interned name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameId(pub(crate) u16);

/// What an allocation is called: its kind, and the module or operand that tells it from others of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label {
    /// What it is.
    pub kind: Kind,
    /// Whose it is.
    pub name: NameId,
}

/// What the caller calls the things that operators and the engine allocate by themselves, and how it counts kinds.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    /// Where a kind is counted.
    pub category: fn(Kind) -> Category,
    /// Gradients of activations while backward runs.
    pub gradient: Kind,
    /// A rank's share of a weight's gradient.
    pub gradient_shard: Kind,
    /// cuBLAS's workspace.
    pub workspace: Kind,
    /// Buffers of partial sums.
    pub reduction: Kind,
    /// The phase in which a tape begins.
    pub begin: PhaseId,
}
