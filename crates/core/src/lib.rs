//! Headroom's domain: a [`plan::Plan`] goes in, is resolved to a [`job::Job`], and a [`memory::Estimate`] comes out.
//!
//! Pure: no clock, no I/O, no globals, no randomness, no browser. Builds for any target.
//! Modules, each knowing only those before it: [`search`] <- [`model`], [`gpu`] <- [`plan`] <- [`job`] <- [`memory`] <- [`accuracy`], [`speed`], [`link`]
//! <- [`scenario`]. [`units`], [`order`] and [`release`] know none of them.

/// JSON writes these as their names.
macro_rules! serialize_by_name {
    ($($kind:ty),+) => {
        $(
            #[cfg(feature = "serialize")]
            impl serde::Serialize for $kind {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.name())
                }
            }
        )+
    };
}

pub mod accuracy;
pub mod advise;
pub mod gpu;
pub mod job;
pub mod link;
pub mod memory;
pub mod model;
pub mod order;
pub mod plan;
pub mod release;
pub mod scenario;
pub mod search;
pub mod speed;
pub mod units;
