//! A trainer by name and version, and the versions that were measured.

use super::super::names::TrainerName;
use crate::release::Release;

/// The trainer and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trainer {
    /// Who runs the step.
    pub name: TrainerName,
    /// Its version, `major.minor.patch`; `None`: the newest that was measured.
    pub version: Option<String>,
}

impl TrainerName {
    /// Versions whose steps were run under PyTorch's allocator, oldest first; empty for a loop of one's own and for
    /// trainers that are not modelled.
    pub const fn measured(self) -> &'static [Release] {
        match self {
            Self::Transformers => const { &[Release::new(4, 57, 6), Release::new(5, 23, 0)] },
            Self::Trl => {
                const {
                    &[
                        Release::new(0, 24, 0),
                        Release::new(1, 0, 0),
                        Release::new(1, 6, 0),
                        Release::new(1, 9, 0),
                        Release::new(1, 12, 0),
                        Release::new(1, 16, 0),
                    ]
                }
            }
            Self::LlamaFactory => const { &[Release::new(0, 9, 5)] },
            Self::MsSwift => const { &[Release::new(4, 6, 0)] },
            Self::Axolotl => const { &[Release::new(0, 19, 0)] },
            Self::Custom | Self::Unsloth | Self::Verl | Self::Torchtune => &[],
        }
    }

    /// Whether its steps can be estimated.
    pub fn is_modelled(self) -> bool {
        self == Self::Custom || !self.measured().is_empty()
    }
}

impl Trainer {
    /// The trainer called `name` at the newest measured version.
    pub fn newest(name: TrainerName) -> Self {
        Self { name, version: name.measured().last().map(Release::to_string) }
    }

    /// The release whose defaults are taken: the plan's own, or the newest measured.
    pub fn stated(&self) -> Release {
        let given = self.version.as_deref().and_then(Release::parse);
        given.or_else(|| self.name.measured().last().copied()).unwrap_or_default()
    }

    /// The version that is estimated: the newest measured one that is not newer than the plan's, or the oldest measured.
    pub fn release(&self) -> Release {
        let measured = self.name.measured();
        let given = self.version.as_deref().and_then(Release::parse);
        let not_newer = |release: &&Release| given.is_none_or(|given| **release <= given);
        measured.iter().rev().find(not_newer).or(measured.first()).copied().unwrap_or_default()
    }
}
