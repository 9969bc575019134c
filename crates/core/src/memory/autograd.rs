//! The names that the memory model uses of `headroom_torch`, and what it brings: the symbols of its formulas and what its
//! kinds, categories and phases are called there.

pub(super) use super::symbol::Sym;
use super::{Category, Phase, Term};
pub(super) use headroom_torch::*;

const _: () = assert!(Category::ALL.len() <= CATEGORIES);

/// What operators and engine allocate by themselves, as terms.
pub(super) static VOCABULARY: Vocabulary = Vocabulary {
    category: |kind| Term::from(kind).category() as headroom_torch::Category,
    gradient: Term::ActivationGradients.kind(),
    gradient_shard: Term::GradientShard.kind(),
    workspace: Term::CublasWorkspace.kind(),
    reduction: Term::ReductionBuffers.kind(),
    begin: Phase::Load.id(),
};

impl Term {
    /// Its number on a tape.
    pub(super) const fn kind(self) -> Kind {
        Kind(self as u8)
    }
}

impl From<Term> for Kind {
    fn from(term: Term) -> Self {
        term.kind()
    }
}

impl From<Kind> for Term {
    /// The term of a kind that a tape with [`VOCABULARY`] has.
    fn from(kind: Kind) -> Self {
        Self::ALL.get(usize::from(kind.0)).copied().unwrap_or(Self::ActivationGradients)
    }
}

impl Phase {
    /// Its number on a tape. A pass through a single layer goes forwards in the phases in which layers run first to last.
    pub(super) const fn id(self) -> PhaseId {
        PhaseId { number: self as u8, forwards: matches!(self, Self::Load | Self::Forward | Self::Loss) }
    }
}

impl From<Phase> for PhaseId {
    fn from(phase: Phase) -> Self {
        phase.id()
    }
}

impl From<PhaseId> for Phase {
    /// The phase of a tape with [`VOCABULARY`].
    fn from(id: PhaseId) -> Self {
        Self::ALL.get(usize::from(id.number)).copied().unwrap_or(Self::Load)
    }
}

impl From<Sym> for Symbol {
    fn from(sym: Sym) -> Self {
        match sym {
            Sym::One => Self::ONE,
            Sym::Tokens => Self::TOKENS,
            Sym::H => Self::HIDDEN,
            Sym::Segments => Self::SEGMENTS,
            Sym::Bytes => Self::BYTES,
            Sym::Workspace => Self::WORKSPACE,
            Sym::Share => Self::SHARE,
            other => Self::new(other as u8),
        }
    }
}
